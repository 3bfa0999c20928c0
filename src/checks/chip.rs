//! The generation of a machine's Ascend chips, used by all checks that need it.

use base::chip::ChipFamily;
use base::report::Evidence;
use data::Reason;
use facts::{Facts, PciFunction};

use super::npu;

/// A detected family, and its evidence.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Chip {
    /// The family.
    pub family: ChipFamily,
    /// The evidence.
    pub evidence: Evidence,
}

/// The family of this machine's chips. `None` if no evidence identifies one, or if there are
/// several (a machine with inference and training cards), because a check could then only guess.
pub fn chip(facts: &Facts) -> Option<Chip> {
    let mut seen = chips(facts);
    if seen.len() == 1 { seen.pop() } else { None }
}

/// The reason for an unknown chip: there is no NPU, or no evidence identifies its generation.
pub(super) fn unknown(facts: &Facts) -> Reason {
    if npu::visible(facts) { Reason::ChipUnknown } else { Reason::NoNpu }
}

/// All families that the workload can see, each once, with the first evidence of it.
///
/// The list of npu-smi overrides that of the PCI bus: a container sees every card of its host in
/// `/sys`, but only its own in npu-smi. For a listed card, the PCI ID overrides the printed name.
pub fn chips(facts: &Facts) -> Vec<Chip> {
    let pci = facts.devices.pci.as_deref().unwrap_or_default();
    let mut seen = Vec::new();
    if let Some(smi) = &facts.driver.npu_smi {
        for row in &smi.chips {
            let function = row.bus_id.as_ref().and_then(|bus| {
                pci.iter().find(|function| function.address.eq_ignore_ascii_case(bus))
            });
            let by_name = || {
                let family = row.family()?;
                let evidence = Evidence::command(&smi.source)
                    .value(format!("NPU {} Chip {}: {}", row.npu, row.chip, row.name));
                Some(Chip { family, evidence })
            };
            add(&mut seen, function.and_then(by_pci).or_else(by_name));
        }
    }
    if seen.is_empty() {
        for function in pci {
            add(&mut seen, by_pci(function));
        }
    }
    seen
}

fn by_pci(function: &PciFunction) -> Option<Chip> {
    let family = ChipFamily::from_pci(&function.device)?;
    let path = format!("/sys/bus/pci/devices/{}/device", function.address);
    Some(Chip { family, evidence: Evidence::file(path).value(&function.device) })
}

fn add(seen: &mut Vec<Chip>, chip: Option<Chip>) {
    if let Some(chip) = chip
        && seen.iter().all(|known| known.family != chip.family)
    {
        seen.push(chip);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::{NpuChip, NpuSmi};

    fn function(address: &str, device: &str) -> PciFunction {
        PciFunction {
            address: address.to_owned(),
            device: device.to_owned(),
            subsystem_device: None,
            class: None,
            driver: None,
        }
    }

    fn row(name: &str, bus: &str, device: Option<u32>) -> NpuChip {
        NpuChip {
            name: name.to_owned(),
            bus_id: Some(bus.to_owned()),
            device,
            ..NpuChip::default()
        }
    }

    fn machine(pci: &[PciFunction], rows: Vec<NpuChip>) -> Facts {
        let mut facts = Facts::default();
        facts.devices.pci = Some(pci.to_vec());
        facts.driver.npu_smi =
            (!rows.is_empty()).then(|| NpuSmi { chips: rows, ..NpuSmi::default() });
        facts
    }

    #[test]
    fn the_bus_says_it_without_npu_smi() {
        let facts = machine(&[function("0000:c1:00.0", "0xd802")], vec![]);
        let found = chip(&facts).unwrap();
        assert_eq!(found.family, ChipFamily::A910B);
        assert_eq!(found.evidence.source, "/sys/bus/pci/devices/0000:c1:00.0/device");
        assert_eq!(chip(&Facts::default()), None);
    }

    #[test]
    fn a_container_sees_its_own_card_only() {
        let pci = [function("0000:01:00.0", "0xd500"), function("0000:c1:00.0", "0xd802")];
        assert_eq!(chip(&machine(&pci, vec![])), None, "two families: no guess");
        let facts = machine(&pci, vec![row("310P3", "0000:01:00.0", Some(0))]);
        assert_eq!(chip(&facts).unwrap().family, ChipFamily::A310P);
    }

    #[test]
    fn the_name_ascend910_needs_the_physical_id() {
        let a3 = machine(&[], vec![row("Ascend910", "0000:9D:00.0", Some(0))]);
        assert_eq!(chip(&a3).unwrap().family, ChipFamily::A3);
        let unknown = machine(&[], vec![row("Ascend910", "0000:9D:00.0", None)]);
        assert_eq!(chip(&unknown), None);
        let by_id = machine(
            &[function("0000:9d:00.0", "0xd801")],
            vec![row("Ascend910", "0000:9D:00.0", None)],
        );
        assert_eq!(chip(&by_id).unwrap().family, ChipFamily::A910);
    }
}
