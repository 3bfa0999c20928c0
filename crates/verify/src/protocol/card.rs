//! The identity and the state of a card according to the driver.

use serde::{Deserialize, Serialize};

/// An NPU of this machine, described by the device management of the driver (DCMI).
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Card {
    /// The number of the card in `npu-smi`.
    pub card: i32,
    /// The chip on the card.
    pub chip: i32,
    /// Its logical ID in the driver, before `ASCEND_RT_VISIBLE_DEVICES`.
    pub logic: Option<i32>,
    /// Its physical ID: that of the device node.
    pub physical: Option<i32>,
    /// Its PCI address.
    pub pci: Option<String>,
    /// The serial number on its label.
    pub serial: Option<String>,
    /// The product on its label.
    pub product: Option<String>,
    /// The name of the chip.
    pub chip_name: Option<String>,
    /// The number of its board.
    pub board: Option<u32>,
    /// The version of the driver.
    pub driver: Option<String>,
}

/// The state of a card at one time.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Health {
    /// The number of the card.
    pub card: i32,
    /// The chip on the card.
    pub chip: i32,
    /// The health state in the driver: 0 is normal, 1 minor, 2 major, 3 critical.
    pub health: Option<u32>,
    /// Temperature of the chip in degrees Celsius.
    pub temperature_c: Option<i32>,
    /// Temperature of its memory in degrees Celsius.
    pub memory_temperature_c: Option<i32>,
    /// Power in watts.
    pub power_w: Option<f64>,
    /// Frequency of the AI Cores in MHz.
    pub frequency_mhz: Option<u32>,
    /// Corrected errors of its memory.
    pub ecc_single: Option<u32>,
    /// Uncorrectable errors of its memory.
    pub ecc_double: Option<u32>,
    /// Isolated memory pages.
    pub isolated_pages: Option<u32>,
    /// The state of its network port: 0 is normal.
    pub network: Option<i32>,
    /// The PCI link, such as `16.0 GT/s PCIe x16`.
    pub pci_link: Option<String>,
}
