//! Checks of the family `drv`: driver, firmware, npu-smi.

mod firmware;
mod mounts;
mod npu_smi;
mod present;

use super::{Check, Family};
use data::findings::{drv_firmware, drv_mounts, drv_npusmi, drv_present};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Driver, drv_present::ID, present::present),
    Check::new(Family::Driver, drv_mounts::ID, mounts::mounts),
    Check::new(Family::Driver, drv_firmware::ID, firmware::firmware),
    Check::new(Family::Driver, drv_npusmi::ID, npu_smi::npu_smi),
];
