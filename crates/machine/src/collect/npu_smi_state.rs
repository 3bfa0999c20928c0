//! The state of cards in the output of npu-smi: the table of `npu-smi info`, and the page of `-t
//! ecc`.
//!
//! The fields of the page are those of the npu-smi reference (`npu-smi info -t ecc -i dev_id`).
//! Cards with two kinds of memory print `DDR` and `HBM` rows, as in the Atlas 300I/300T guides.

use super::npu_smi::parse_with_power;

/// The state of a chip in the table of `npu-smi info`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ChipState {
    /// NPU ID.
    pub npu: u32,
    /// Chip ID.
    pub chip: u32,
    /// PCI address.
    pub bus_id: Option<String>,
    /// The health code of DCMI: 0 is `OK`, 1 `Warning`, 2 `Alarm`, 3 `Critical`.
    pub health: Option<u32>,
    /// Power in watts.
    pub power_w: Option<f64>,
    /// Temperature in degrees Celsius.
    pub temperature_c: Option<i32>,
}

/// Error counters of the memory of a card.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct EccCounters {
    /// Corrected errors.
    pub single: Option<u32>,
    /// Errors that could not be corrected.
    pub double: Option<u32>,
    /// Isolated pages.
    pub isolated: Option<u32>,
}

/// Parses the table of `npu-smi info`. A value that is not a number is unknown.
pub fn parse_states(text: &str) -> Vec<ChipState> {
    let (smi, power) = parse_with_power(text);
    smi.chips
        .into_iter()
        .zip(power)
        .map(|(chip, power)| {
            let mut words = power.split_whitespace();
            let power_w = words.next().and_then(|word| word.parse::<f64>().ok());
            ChipState {
                npu: chip.npu,
                chip: chip.chip,
                bus_id: chip.bus_id,
                health: match chip.health.as_str() {
                    "OK" => Some(0),
                    "Warning" => Some(1),
                    "Alarm" => Some(2),
                    "Critical" => Some(3),
                    _ => None,
                },
                power_w: power_w.filter(|power| power.is_finite()),
                temperature_c: words.next().and_then(|word| word.parse().ok()),
            }
        })
        .collect()
}

/// Parses the page of `npu-smi info -t ecc`. Counters of HBM take precedence over those of DDR, and
/// a counter of several chips is their sum.
pub fn parse_ecc(text: &str) -> EccCounters {
    let sum = |memory: &str, keys: &[&str]| {
        let rows = text.lines().filter_map(|line| {
            let (key, value) = line.split_once(':')?;
            let key = key.trim().strip_prefix(memory)?.trim_start();
            keys.contains(&key).then(|| value.trim().parse::<u32>().ok()).flatten()
        });
        rows.reduce(u32::saturating_add)
    };
    let of = |keys: &[&str]| sum("HBM", keys).or_else(|| sum("DDR", keys));
    EccCounters {
        single: of(&["Single Bit Error Count"]),
        double: of(&["Double Bit Error Count"]),
        isolated: of(&["Single Bit Isolated Pages Count", "Double Bit Isolated Pages Count"]),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_of_two_cards_are_read() {
        let states = parse_states(include_str!("../../../../tests/support/npu_smi_910b.txt"));
        assert_eq!(states.len(), 2);
        assert_eq!((states[0].npu, states[0].health), (0, Some(0)));
        assert_eq!((states[1].npu, states[1].health), (1, Some(2)));
        assert!(states.iter().all(|state| state.power_w.is_some_and(|power| power > 1.0)));
        assert!(states.iter().all(|state| state.temperature_c.is_some()), "{states:?}");
        for text in ["", "|", "| 0 x | OK |", "| 0 910B3 | ? | - - |\n| 0 | 0000:c1:00.0 | 0 |"] {
            assert!(parse_states(text).iter().all(|state| state.power_w.is_none()), "{text}");
        }
    }

    #[test]
    fn counters_of_the_memory_that_there_is_are_read() {
        let page = "\
        NPU ID                                   : 1
        Chip Count                               : 1

        DDR Single Bit Error Count               : 7
        HBM Single Bit Error Count               : 3
        HBM Double Bit Error Count               : 1
        HBM Single Bit Aggregate Total Err Cnt   : 40
        HBM Single Bit Isolated Pages Count      : 2
        HBM Double Bit Isolated Pages Count      : 1
        HBM Single Bit Next-Isolated Pages Count : 9
        Chip ID                                  : 0
";
        let counters = EccCounters { single: Some(3), double: Some(1), isolated: Some(3) };
        assert_eq!(parse_ecc(page), counters);
        let ddr = parse_ecc("DDR Single Bit Error Count : 7\nDDR Double Bit Error Count : NA\n");
        assert_eq!(ddr, EccCounters { single: Some(7), double: None, isolated: None });
        assert_eq!(parse_ecc("This device does not support querying ecc."), EccCounters::default());
    }
}
