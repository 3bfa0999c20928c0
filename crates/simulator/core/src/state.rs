//! State of the simulated cards that processes share: their number, their visibility to a process,
//! their counters.

use std::path::PathBuf;

use crate::setting;

/// Physical IDs of the devices of the driver: `ASCSIM_PHYSICAL="5,6"`, or 0 and up for
/// `ASCSIM_DEVICES` devices. In a container the driver has those that were passed in.
pub fn physical() -> Vec<i32> {
    match std::env::var("ASCSIM_PHYSICAL") {
        Ok(list) => list.split(',').filter_map(|number| number.trim().parse().ok()).collect(),
        Err(_) => (0..setting("ASCSIM_DEVICES", 1) as i32).collect(),
    }
}

/// The logical IDs of the devices visible to a process, following the interpretation of
/// `ASCEND_RT_VISIBLE_DEVICES` by the runtime (hicann/runtime, `GetVisibleDevices`): up to the
/// first entry that is not a device, and empty if they are not ascending. Users report an empty
/// list as the result of an invalid one (gpustack/gpustack#3352).
pub fn visible() -> Vec<u64> {
    let count = physical().len() as u64;
    let Ok(list) = std::env::var("ASCEND_RT_VISIBLE_DEVICES") else {
        return (0..count).collect();
    };
    let entries = list.split(',').map_while(|entry| entry.parse().ok());
    let seen: Vec<u64> = entries.take_while(|device| *device < count).collect();
    if seen.is_sorted_by(|one, next| one < next) { seen } else { Vec::new() }
}

/// The PCI address of a card.
pub fn pci(physical: i32) -> String {
    format!("0000:{:02x}:00.0", 0xc1 + physical)
}

fn counter(physical: i32) -> Option<PathBuf> {
    let dir = std::env::var_os("ASCSIM_STATE")?;
    Some(PathBuf::from(dir).join(format!("ecc-{physical}")))
}

/// Corrected errors of the memory of a card.
pub fn ecc(physical: i32) -> u64 {
    let text = counter(physical).and_then(|path| std::fs::read_to_string(path).ok());
    text.and_then(|text| text.parse().ok()).unwrap_or_default()
}

/// Adds errors to the memory of the card that this process opened last.
pub fn add_ecc(count: u64) {
    let device = std::env::var("ASCSIM_CURRENT").ok().and_then(|text| text.parse::<usize>().ok());
    let logic = device.and_then(|device| visible().get(device).copied());
    let card = logic.and_then(|logic| physical().get(logic as usize).copied());
    if let Some((card, path)) = card.and_then(|card| Some((card, counter(card)?))) {
        std::fs::write(path, (ecc(card) + count).to_string()).expect("the state can be written");
    }
}
