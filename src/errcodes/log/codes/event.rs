//! Chip events in the formats of the driver, of `npu-smi` and of cluster management, and the codes
//! of the service that starts processes on a device.

use data::causes;
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::capture::read_group;
use super::registered_codes::find_code;
use super::stated_code::StatedCode;
use crate::decode::parse_chip_event;
use crate::log::prefix::{Keys, keys};
use crate::log::role::Role;
use crate::{cause_of, family, rows, table};

/// An event: complete, single or as the first of a list, or as its three parts. Cluster management
/// writes the key as several words, as one word, and as a JSON key.
const EVENT: &str = r#"(?-u)\b(?:[Ee]vent(?:[ _][Ii]d|id| ID)|[Ff]ault[ _]?[Cc]odes?|Error Code)"?(?: {0,40}[:=]| \[) {0,4}[\[" ]{0,3}(?:0x)?([0-9A-Fa-f]{8})\b|Node Type=0x([0-9a-fA-F]{1,3}); ?Sensor Type=0x([0-9a-fA-F]{1,2});[^\n]{0,160}event_state=(\d{1,3})\b"#;

static EVENTS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(EVENT).expect("the expression is proved by a test"));

/// Keys; every such line contains one of them.
static KEYS: Keys = keys![
    b"vent id",
    b"vent_id",
    b"vent Id",
    b"vent_Id",
    b"ventid",
    b"vent ID",
    b"ault code",
    b"ault Code",
    b"ault_code",
    b"ault_Code",
    b"aultCode",
    b"aultcode",
    b"Error Code",
    b"Node Type=0x"
];

/// Texts that mark the end of an event.
static OVER: Keys = keys![b"assertion:Recover", b"assertion: Recover", b"assertion=Recover"];

/// The events of a line.
pub(super) fn find(line: &[u8]) -> Vec<StatedCode> {
    if !KEYS.is_in(line) || OVER.is_in(line) {
        return Vec::new();
    }
    let hex = |text: &str| u32::from_str_radix(text, 16).ok();
    EVENTS
        .captures_iter(line)
        .filter_map(|found| {
            if found.get(1).is_some() {
                let (at, id) = read_group(&found, 1);
                return state_event(hex(id)?, at);
            }
            let ((at, node), (_, sensor), (_, state)) =
                (read_group(&found, 2), read_group(&found, 3), read_group(&found, 4));
            // The environment is the device: host events have other texts.
            let bits = |value: Option<u32>, width: u32| value.filter(|value| value >> width == 0);
            let (node, sensor) = (bits(hex(node), 11)?, bits(hex(sensor), 8)?);
            let state = bits(state.parse().ok(), 9)?;
            state_event(2 << 30 | node << 17 | sensor << 9 | state, at)
        })
        .collect()
}

/// An event that is listed, or has a listed node or sensor; if cluster management does not act on
/// it, it is not a failure.
fn state_event(id: u32, at: usize) -> Option<StatedCode> {
    let code = format!("0x{id:08X}");
    let row = table::find_rows(family("chip")?, &code).into_iter().next();
    if row.is_none() && !parse_chip_event(id).is_plausible() {
        return None;
    }
    let harmless = row.as_ref().is_some_and(|row| row.level.starts_with("NotHandle"));
    let known = find_code("chip", &code.to_ascii_lowercase(), at);
    let link = cause_of("chip", &code)?;
    let (role, weight) = match link.weight {
        _ if harmless => (Role::Symptom, 8),
        15.. => (Role::Root, 60),
        _ => (Role::Root, 46),
    };
    let cause = Some(link.cause.id.as_str());
    let base =
        known.unwrap_or(StatedCode { family: "chip", spelled: code, cause, role, weight, at });
    Some(StatedCode { cause, role, weight, ..base })
}

/// `tdt error=31` of the service on the host that starts processes on a device.
pub(super) fn state_tsd_error(number: u64, at: usize) -> Option<StatedCode> {
    let code = number.to_string();
    let row = rows(family("misc")?)
        .iter()
        .find(|row| row.code == code && row.component == "tsd" && number != 0)?;
    let cause = match row.symbol.as_str() {
        "TSD_DEVICEID_ERROR" => causes::runtime::DEVICE_ID_INVALID,
        "TSD_MEMORY_EXHAUSTED" => causes::memory::HOST_OOM,
        "TSD_SUBPROCESS_NUM_EXCEED_THE_LIMIT" => causes::runtime::RESOURCE_EXHAUSTED,
        _ => causes::driver::DEVICE_UNREACHABLE,
    };
    Some(StatedCode {
        family: "misc",
        spelled: row.symbol.clone(),
        cause: Some(cause),
        role: Role::Root,
        weight: 46,
        at,
    })
}

#[cfg(test)]
mod tests {
    fn found(line: &str) -> Vec<(String, &'static str)> {
        super::super::find(line.as_bytes())
            .into_iter()
            .map(|code| (code.spelled, code.cause.unwrap_or_default()))
            .collect()
    }

    #[test]
    fn events_are_read_in_the_words_of_all_who_print_them() {
        for line in [
            "kernel: [ascend] [event] Event id=0x80e01801, name=x",
            "dms_event event_id:  [0x80e01801] raised",
            "event_id=0x80e01801",
            "        Error Code                     : 80E01801",
            "fault code: 80E01801, card 3",
            "fault code [80E01801] of card 3",
            "device fault, assertion:Occur, cardID:2, faultCodes:80E01801, faultLevelName:x",
            "faultCodes:[80E01801,8C084E00]",
            r#"{"fault_code":"80E01801","fault_level":"x"}"#,
            r#"{"faultCode": "0x80e01801"}"#,
            "(Node Type=0x70; Sensor Type=0xc; event_state=1)",
        ] {
            assert_eq!(found(line), [("0x80E01801".to_owned(), "hw.hbm_uce")], "{line}");
        }
        // Not listed, but with a listed node.
        assert_eq!(found("event_id=0x80E01955")[0].1, "hw.device_event");
    }

    #[test]
    fn other_numbers_are_no_events() {
        for line in [
            "event_id=12345678",
            "event id: 0xdeadbeef",
            "event_id=0x12c0c001",
            "Event id=00000000",
            "prevent_id=0x80e01801x",
            "0x80e01801",
            "device fault, assertion:Recovery, cardID:2, faultCodes:80E01801, faultLevelName:x",
            "faultCodes:, faultLevelName:x",
            "default_code: 80E01801x",
        ] {
            assert_eq!(found(line), [], "{line}");
        }
    }

    #[test]
    fn the_service_of_the_device_says_why_it_did_not_start() {
        let line = "Set AI CPU attribute failed, tdt error=31.";
        assert_eq!(found(line), [("TSD_CLT_OPEN_FAILED".to_owned(), "driver.device_unreachable")]);
        assert_eq!(
            found("TsdOpen failed. devId=9, tdt error=34")[0].1,
            "runtime.device_id_invalid"
        );
        assert_eq!(found("tdt error=0"), []);
        assert_eq!(found("tdt error=7777"), []);
    }
}
