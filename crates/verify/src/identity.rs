//! Maps devices of the runtime to cards.
//!
//! A process counts the devices that it may use from 0. The driver counts those of the machine or
//! of the container (the logical ID), and each device has a physical ID, that of its device node,
//! and a PCI address. Replacing a card requires the latter two.

use serde::{Deserialize, Serialize};

use super::protocol::{Card, Event};
use super::run::RunResult;

/// Facts about the machine, apart from the run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MachineIdentity {
    /// `ASCEND_RT_VISIBLE_DEVICES` of the processes.
    pub visible: Option<String>,
    /// The numbers of the device nodes, in order.
    pub nodes: Vec<i32>,
    /// The rows of the table of npu-smi, in order.
    pub smi: Vec<SmiChip>,
    /// The version of the driver, from its files.
    pub driver: Option<String>,
}

/// A chip in the table of npu-smi.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SmiChip {
    /// The number of the card.
    pub npu: i32,
    /// The chip on the card.
    pub chip: i32,
    /// The physical ID, if the table has it.
    pub physical: Option<i32>,
    /// The name of the chip.
    pub name: String,
    /// The PCI address.
    pub pci: Option<String>,
}

/// A device of the runtime, and its card.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DeviceIdentity {
    /// The device ID in the processes of the test.
    pub device: i32,
    /// Its entry in `ASCEND_RT_VISIBLE_DEVICES`, if that is set.
    pub visible: Option<String>,
    /// Its logical ID in the driver.
    pub logic: Option<i32>,
    /// Its physical ID.
    pub physical: Option<i32>,
    /// Its PCI address.
    pub pci: Option<String>,
    /// The number of its card in npu-smi.
    pub card: Option<i32>,
    /// The chip on the card.
    pub chip: Option<i32>,
    /// The serial number of the card.
    pub serial: Option<String>,
    /// The name of the chip.
    pub chip_name: Option<String>,
    /// The number of the board.
    pub board: Option<u32>,
    /// The version of the driver.
    pub driver: Option<String>,
    /// The sources of these values, in the order of the queries.
    pub sources: Vec<String>,
    /// Values that were not found.
    pub unmatched: Vec<String>,
}

/// The identities of all devices that were opened.
pub fn identify(done: &RunResult, machine: &MachineIdentity) -> Vec<DeviceIdentity> {
    let devices = done.devices.iter().filter_map(|ran| ran.device);
    devices.map(|device| identify_one(device, done, machine)).collect()
}

fn identify_one(device: i32, done: &RunResult, machine: &MachineIdentity) -> DeviceIdentity {
    let mut found = DeviceIdentity { device, ..DeviceIdentity::default() };
    let at = usize::try_from(device).unwrap_or(usize::MAX);
    found.visible = machine
        .visible
        .as_ref()
        .and_then(|list| list.split(',').nth(at))
        .map(|entry| entry.trim().to_owned());
    let told = done.devices.iter().filter(|ran| ran.device == Some(device));
    let told = told.flat_map(|ran| &ran.events).find_map(|event| match event {
        Event::Identity { logic, physical, pci } => Some((*logic, *physical, pci.clone())),
        _ => None,
    });
    if let Some((logic, physical, pci)) = told {
        (found.logic, found.physical, found.pci) = (logic, physical, pci);
        if (found.logic, found.physical, &found.pci) != (None, None, &None) {
            found.sources.push("ACL".to_owned());
        }
    }
    if found.logic.is_none() {
        // The list uses the driver's numbers; without a list, so does the runtime.
        found.logic = match &machine.visible {
            None => Some(device),
            Some(_) => found.visible.as_ref().and_then(|entry| entry.parse().ok()),
        };
    }
    let history = &done.history;
    if let Some(card) = history.cards.iter().find(|card| is_same(card, &found)) {
        found.sources.push("DCMI".to_owned());
        found.physical = found.physical.or(card.physical);
        found.logic = found.logic.or(card.logic);
        found.pci = found.pci.take().or_else(|| card.pci.clone());
        (found.card, found.chip) = (Some(card.card), Some(card.chip));
        found.serial.clone_from(&card.serial);
        found.chip_name.clone_from(&card.chip_name);
        found.board = card.board;
        found.driver.clone_from(&card.driver);
    }
    match_nodes(&mut found, machine);
    match_table(&mut found, machine);
    if found.driver.is_none() && machine.driver.is_some() {
        found.driver.clone_from(&machine.driver);
    }
    let gaps = [
        ("physical number", found.physical.is_none()),
        ("PCI address", found.pci.is_none()),
        ("serial number", found.serial.is_none()),
        ("board", found.board.is_none()),
        ("driver", found.driver.is_none()),
    ];
    found.unmatched =
        gaps.into_iter().filter(|(_, gap)| *gap).map(|(name, _)| name.to_owned()).collect();
    found
}

/// Whether a card is this device, by the most certain ID.
fn is_same(card: &Card, found: &DeviceIdentity) -> bool {
    if let (Some(own), Some(other)) = (found.physical, card.physical) {
        return own == other;
    }
    if let (Some(own), Some(other)) = (&found.pci, &card.pci) {
        return own.eq_ignore_ascii_case(other);
    }
    found.logic.is_some() && found.logic == card.logic
}

/// The driver counts the existing device nodes, in order.
fn match_nodes(found: &mut DeviceIdentity, machine: &MachineIdentity) {
    if found.physical.is_some() {
        return;
    }
    let at = found.logic.and_then(|logic| usize::try_from(logic).ok());
    if let Some(node) = at.and_then(|at| machine.nodes.get(at)) {
        found.physical = Some(*node);
        found.sources.push("/dev/davinci*".to_owned());
    }
}

fn match_table(found: &mut DeviceIdentity, machine: &MachineIdentity) {
    let same = |chip: &&SmiChip| match (found.pci.as_ref(), chip.pci.as_ref()) {
        (Some(own), Some(other)) => own.eq_ignore_ascii_case(other),
        _ => found.physical.is_some() && found.physical == chip.physical,
    };
    // Without a column for physical IDs and with one chip per card, the number of a card is its
    // physical ID.
    let single = machine.smi.iter().all(|chip| chip.chip == 0 && chip.physical.is_none());
    let by_card =
        |chip: &&SmiChip| single && found.physical == Some(chip.npu) && found.pci.is_none();
    let row = machine.smi.iter().find(same).or_else(|| machine.smi.iter().find(by_card));
    if let Some(row) = row {
        found.pci = found.pci.take().or_else(|| row.pci.as_ref().map(|pci| pci.to_lowercase()));
        found.card = found.card.or(Some(row.npu));
        found.chip = found.chip.or(Some(row.chip));
        found.chip_name = found.chip_name.take().or_else(|| Some(row.name.clone()));
        found.sources.push("npu-smi".to_owned());
    }
}

impl DeviceIdentity {
    /// Its name in a sentence: `NPU 5 (0000:c1:00.0, device 0 here)`.
    pub fn name(&self) -> String {
        let Some(physical) = self.physical else {
            return self.short_name();
        };
        let mut details: Vec<String> = self.pci.iter().cloned().collect();
        details.extend(self.serial.as_ref().map(|serial| format!("SN {serial}")));
        if physical != self.device {
            details.push(format!("device {}", self.device));
        }
        if details.is_empty() {
            self.short_name()
        } else {
            format!("{} ({})", self.short_name(), details.join(", "))
        }
    }

    /// Its name in a table with those of the cards: `NPU 5`, or `device 0` if its card is unknown.
    pub fn short_name(&self) -> String {
        self.physical
            .map_or_else(|| format!("device {}", self.device), |physical| format!("NPU {physical}"))
    }
}

/// Names devices in findings and tables.
#[derive(Debug, Default)]
pub struct DeviceNames(pub Vec<DeviceIdentity>);

/// The location of findings before any device was opened.
const NOWHERE: &str = "CANN";

impl DeviceNames {
    /// The identity of a device.
    pub fn get(&self, device: i32) -> Option<&DeviceIdentity> {
        self.0.iter().find(|known| known.device == device)
    }

    /// Names devices: a single one with its details, several by their physical IDs. Devices with an
    /// unknown card are named by their device ID in this process.
    pub fn join(&self, devices: &[Option<i32>]) -> String {
        let numbers: Vec<i32> = devices.iter().flatten().copied().collect();
        match numbers[..] {
            [] => return NOWHERE.to_owned(),
            [device] => {
                return self
                    .get(device)
                    .map_or_else(|| format!("device {device}"), DeviceIdentity::name);
            }
            _ => {}
        }
        let physical = |device: &i32| self.get(*device).and_then(|known| known.physical);
        let (known, unknown): (Vec<i32>, Vec<i32>) =
            numbers.into_iter().partition(|device| physical(device).is_some());
        let join = |numbers: Vec<i32>| {
            numbers.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
        };
        let mut parts = Vec::new();
        if !known.is_empty() {
            parts.push(format!("NPU {}", join(known.iter().filter_map(physical).collect())));
        }
        if !unknown.is_empty() {
            parts.push(format!("device {}", join(unknown)));
        }
        parts.join("; ")
    }

    /// Its name in a table.
    pub fn short(&self, device: Option<i32>) -> String {
        let known = device.and_then(|device| self.get(device));
        known.map_or_else(|| self.join(&[device]), DeviceIdentity::short_name)
    }

    /// The number of the card of a device, for commands of npu-smi.
    pub fn card_number(&self, device: Option<i32>) -> Option<i32> {
        let known = self.get(device?)?;
        known.card.or(known.physical)
    }
}
