//! Checks of the family `drv`: driver, firmware, npu-smi.

mod firmware;
mod mounts;
mod npu_smi;
mod present;

use super::{Check, Family};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Driver, "DRV-PRESENT", present::present),
    Check::new(Family::Driver, "DRV-MOUNTS", mounts::mounts),
    Check::new(Family::Driver, "DRV-FIRMWARE", firmware::firmware),
    Check::new(Family::Driver, "DRV-NPUSMI", npu_smi::npu_smi),
];
