//! Checks of the family `drv`: driver, firmware, npu-smi.

mod firmware;
mod mounts;
mod npu_smi;
mod present;

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check { id: "DRV-PRESENT", run: present::present },
    Check { id: "DRV-MOUNTS", run: mounts::mounts },
    Check { id: "DRV-FIRMWARE", run: firmware::firmware },
    Check { id: "DRV-NPUSMI", run: npu_smi::npu_smi },
];
