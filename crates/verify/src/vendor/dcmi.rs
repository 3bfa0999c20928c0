//! Device management of the driver: the list of cards, and their states.
//!
//! Every function is optional, and a failing one leaves a gap: a container or an unprivileged user
//! may not call all of them. No function here changes a device.

use std::ffi::c_char;

use acl_abi::values::{ACL_SUCCESS, DCMI_DEVICE_TYPE_HBM, DCMI_FREQ_AICORE_CURRENT_, NPU_TYPE};
use acl_abi::{BoardInfo, ChipInfo, EccInfo, ElabelInfo, HbmInfo, PcieInfo};

use super::{Fault, Vendor};
use crate::protocol::{Card, Health};

/// The maximum number of cards of a machine (`MAX_CARD_NUM` of the header).
const MAX_CARDS: usize = 64;
/// The maximum number of chips of a card that are queried.
const MAX_CHIPS: i32 = 16;
/// Bytes for a version.
const VERSION: usize = 256;

/// Calls a function that may be absent or fail, and returns whether it succeeded.
macro_rules! answers {
    ($vendor:expr, $name:ident($($arg:expr),* $(,)?)) => {
        $vendor.table.$name.is_some() && call!($vendor, $name($($arg),*)) == ACL_SUCCESS
    };
}

/// A text up to its terminating zero.
fn text(bytes: &[u8]) -> Option<String> {
    let text = bytes.split(|byte| *byte == 0).next().unwrap_or_default();
    let text = String::from_utf8_lossy(text);
    let text: String = text.trim().chars().filter(|character| !character.is_control()).collect();
    (!text.is_empty() && text != "NA").then_some(text)
}

impl Vendor {
    /// Starts DCMI.
    pub fn start_dcmi(&self) -> Result<(), Fault> {
        try_call!(self, dcmi_init());
        Ok(())
    }

    /// The NPUs: numbers of the cards, and of the chips on them.
    pub fn list_cards(&self) -> Result<Vec<(i32, i32)>, Fault> {
        let (mut count, mut cards) = (0, [0i32; MAX_CARDS]);
        try_call!(self, dcmi_get_card_list(&raw mut count, cards.as_mut_ptr(), 64));
        let count = usize::try_from(count).unwrap_or_default().min(MAX_CARDS);
        let mut found = Vec::new();
        for card in &cards[..count] {
            let mut chips = 0;
            try_call!(self, dcmi_get_device_num_in_card(*card, &raw mut chips));
            for chip in 0..chips.clamp(0, MAX_CHIPS) {
                let mut kind = NPU_TYPE;
                // If the call fails, assume the most common type.
                let _ = answers!(self, dcmi_get_device_type(*card, chip, &raw mut kind));
                if kind == NPU_TYPE {
                    found.push((*card, chip));
                }
            }
        }
        Ok(found)
    }

    /// Describes an NPU.
    pub fn describe_card(&self, card: i32, chip: i32) -> Result<Card, Fault> {
        let mut found = Card { card, chip, ..Card::default() };
        let mut logic = -1;
        if answers!(self, dcmi_get_device_logic_id(&raw mut logic, card, chip)) {
            found.logic = Some(logic);
            let mut physical = 0;
            let logic = logic.cast_unsigned();
            if answers!(self, dcmi_get_device_phyid_from_logicid(logic, &raw mut physical)) {
                found.physical = i32::try_from(physical).ok();
            }
        }
        let mut place = PcieInfo::default();
        if answers!(self, dcmi_get_device_pcie_info_v2(card, chip, &raw mut place)) {
            let PcieInfo { domain, bus, slot, function, .. } = place;
            found.pci = Some(format!("{domain:04x}:{bus:02x}:{slot:02x}.{function:x}"));
        }
        let mut kind = ChipInfo::default();
        if answers!(self, dcmi_get_device_chip_info(card, chip, &raw mut kind)) {
            found.chip_name = text(&kind.name);
        }
        let mut board = BoardInfo::default();
        if answers!(self, dcmi_get_device_board_info(card, chip, &raw mut board)) {
            found.board = Some(board.board);
        }
        let mut label = Box::new(ElabelInfo {
            product: [0; 256],
            model: [0; 256],
            manufacturer: [0; 256],
            date: [0; 256],
            serial: [0; 256],
        });
        if answers!(self, dcmi_get_device_elabel_info(card, chip, &raw mut *label))
            || answers!(self, dcmi_get_card_elabel_v2(card, &raw mut *label))
        {
            found.serial = text(&label.serial);
            found.product = text(&label.product);
        }
        let mut version = [0u8; VERSION];
        let place = version.as_mut_ptr().cast::<c_char>();
        // One byte less, so that the text is terminated.
        if answers!(self, dcmi_get_driver_version(place, 255)) {
            found.driver = text(&version);
        }
        Ok(found)
    }

    /// Reads the state of an NPU.
    pub fn read_health(&self, card: i32, chip: i32) -> Result<Health, Fault> {
        let mut found = Health { card, chip, ..Health::default() };
        let mut health = 0;
        if answers!(self, dcmi_get_device_health(card, chip, &raw mut health)) {
            found.health = Some(health);
        }
        let mut temperature = 0;
        if answers!(self, dcmi_get_device_temperature(card, chip, &raw mut temperature)) {
            found.temperature_c = Some(temperature);
        }
        let mut power = 0;
        if answers!(self, dcmi_get_device_power_info(card, chip, &raw mut power)) {
            found.power_w = Some(f64::from(power) / 10.0);
        }
        let mut frequency = 0;
        let kind = DCMI_FREQ_AICORE_CURRENT_;
        if answers!(self, dcmi_get_device_frequency(card, chip, kind, &raw mut frequency)) {
            found.frequency_mhz = Some(frequency);
        }
        let mut memory = HbmInfo::default();
        if answers!(self, dcmi_get_device_hbm_info(card, chip, &raw mut memory)) {
            found.memory_temperature_c = Some(memory.temperature);
        }
        let mut ecc = Box::new(EccInfo::default());
        let kind = DCMI_DEVICE_TYPE_HBM;
        if answers!(self, dcmi_get_device_ecc_info(card, chip, kind, &raw mut *ecc)) {
            found.ecc_single = Some(ecc.single);
            found.ecc_double = Some(ecc.double);
            found.isolated_pages = Some(ecc.isolated_single.saturating_add(ecc.isolated_double));
        }
        let mut network = 0;
        if answers!(self, dcmi_get_device_network_health(card, chip, &raw mut network)) {
            found.network = Some(network);
        }
        Ok(found)
    }
}
