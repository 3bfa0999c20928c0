//! The simulated `libdcmi.so`: one chip on each card. Temperatures, powers and frequencies follow
//! from the physical ID; corrected errors of memory are counted in the directory ASCSIM_STATE.
//! `ASCSIM_DCMI="temperature,label"` names the queries that this driver refuses.

use std::ffi::c_char;

use acl_abi::values::{DCMI_DEVICE_TYPE_HBM, DCMI_FREQ_AICORE_CURRENT_, NPU_TYPE};
use acl_abi::{BoardInfo, ChipInfo, EccInfo, ElabelInfo, HbmInfo, PcieInfo, Status};
use sim_core::state::{ecc, physical};

sim_core::identify!();

const INVALID_PARAMETER: i32 = -8001;
const NOT_SUPPORTED: i32 = -8255;

/// The physical ID of the chip on a card: cards are numbered like the driver's devices.
fn chip(card: i32, device: i32) -> Result<i32, Status> {
    let at = usize::try_from(card).map_err(|_| INVALID_PARAMETER)?;
    if device != 0 {
        return Err(INVALID_PARAMETER);
    }
    physical().get(at).copied().ok_or(INVALID_PARAMETER)
}

/// Whether the driver supports this query.
fn allows(what: &str) -> Result<(), Status> {
    let refused = std::env::var("ASCSIM_DCMI").unwrap_or_default();
    if refused.split(',').any(|name| name == what) { Err(NOT_SUPPORTED) } else { Ok(()) }
}

fn status(result: Result<(), Status>) -> Status {
    result.err().unwrap_or(0)
}

fn text<const N: usize>(text: &str) -> [u8; N] {
    let mut bytes = [0; N];
    bytes[..text.len()].copy_from_slice(text.as_bytes());
    bytes
}

/// Writes a result about a chip.
///
/// # Safety
/// The pointer for the result is valid for writing.
unsafe fn answer<T>(
    card: i32,
    device: i32,
    what: &str,
    place: *mut T,
    value: impl FnOnce(i32) -> T,
) -> Status {
    status(allows(what).and_then(|()| chip(card, device)).map(|physical| {
        // SAFETY: by contract.
        unsafe { place.write(value(physical)) };
    }))
}

sim_core::export! {
    fn dcmi_init() -> Status |_| { 0 }

    fn dcmi_get_driver_version(version: *mut c_char, size: u32) -> Status |_| {
        let text = b"25.2.0\0";
        if (size as usize) < text.len() {
            return INVALID_PARAMETER;
        }
        // SAFETY: the caller passes a buffer of the declared size.
        unsafe { version.cast::<u8>().copy_from(text.as_ptr(), text.len()) };
        0
    }

    fn dcmi_get_card_list(count: *mut i32, cards: *mut i32, room: i32) -> Status |_| {
        let all = physical().len() as i32;
        // SAFETY: the caller passes a buffer for the declared number of results.
        unsafe {
            count.write(all);
            (0..all.min(room)).for_each(|card| cards.add(card as usize).write(card));
        }
        0
    }

    fn dcmi_get_device_num_in_card(card: i32, count: *mut i32) -> Status |_| {
        status(chip(card, 0).map(|_| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { count.write(1) };
        }))
    }

    fn dcmi_get_device_type(card: i32, device: i32, kind: *mut i32) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { answer(card, device, "type", kind, |_| NPU_TYPE) }
    }

    fn dcmi_get_device_chip_info(card: i32, device: i32, info: *mut ChipInfo) -> Status |_| {
        let name = sim_core::soc();
        let name = name.trim_start_matches("Ascend");
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe {
            answer(card, device, "chip", info, |_| ChipInfo {
                kind: text("Ascend"), name: text(name), version: text("V1"), cores: 20 })
        }
    }

    fn dcmi_get_device_pcie_info_v2(card: i32, device: i32, info: *mut PcieInfo) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe {
            answer(card, device, "pci", info, |physical| PcieInfo {
                vendor: 0x19e5, device: 0xd802, bus: (0xc1 + physical) as u32,
                ..PcieInfo::default() })
        }
    }

    fn dcmi_get_device_board_info(card: i32, device: i32, info: *mut BoardInfo) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe {
            answer(card, device, "board", info, |_| BoardInfo { board: 0x34, ..BoardInfo::default() })
        }
    }

    fn dcmi_get_device_elabel_info(_card: i32, _device: i32, _info: *mut ElabelInfo) -> Status |_| {
        // As on most boards, the label belongs to the card.
        NOT_SUPPORTED
    }

    fn dcmi_get_card_elabel_v2(card: i32, info: *mut ElabelInfo) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe {
            answer(card, 0, "label", info, |physical| ElabelInfo {
                product: text("SIM"), model: text("SIM"), manufacturer: text("ascsim"),
                date: text(""), serial: text(&format!("SIM{physical:06}")) })
        }
    }

    fn dcmi_get_device_power_info(card: i32, device: i32, power: *mut i32) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { answer(card, device, "power", power, |physical| 900 + physical) }
    }

    fn dcmi_get_device_temperature(card: i32, device: i32, temperature: *mut i32) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { answer(card, device, "temperature", temperature, |physical| 40 + physical) }
    }

    fn dcmi_get_device_health(card: i32, device: i32, health: *mut u32) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { answer(card, device, "health", health, |_| 0) }
    }

    fn dcmi_get_device_ecc_info(card: i32, device: i32, kind: i32, info: *mut EccInfo) -> Status |_| {
        if kind != DCMI_DEVICE_TYPE_HBM {
            return NOT_SUPPORTED;
        }
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe {
            answer(card, device, "ecc", info, |physical| EccInfo {
                enabled: 1, single: ecc(physical) as u32, ..EccInfo::default() })
        }
    }

    fn dcmi_get_device_frequency(card: i32, device: i32, kind: i32, frequency: *mut u32) -> Status |_| {
        if kind != DCMI_FREQ_AICORE_CURRENT_ {
            return NOT_SUPPORTED;
        }
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { answer(card, device, "frequency", frequency, |_| 1800) }
    }

    fn dcmi_get_device_hbm_info(card: i32, device: i32, info: *mut HbmInfo) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe {
            answer(card, device, "memory", info, |physical| HbmInfo {
                size: 65536, frequency: 1600, temperature: 45 + physical, ..HbmInfo::default() })
        }
    }

    fn dcmi_get_device_network_health(card: i32, device: i32, result: *mut i32) -> Status |_| {
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { answer(card, device, "network", result, |_| 0) }
    }

    fn dcmi_get_device_logic_id(logic: *mut i32, card: i32, device: i32) -> Status |_| {
        status(chip(card, device).map(|_| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { logic.write(card) };
        }))
    }

    fn dcmi_get_device_phyid_from_logicid(logic: u32, place: *mut u32) -> Status |_| {
        status(chip(logic as i32, 0).map(|physical| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { place.write(physical as u32) };
        }))
    }
}
