//! Checks of the family `dev`: the PCI bus and `/dev`.

mod access;
mod nodes;
mod pci;

use super::{Check, Family};
use data::findings::{dev_access, dev_count, dev_group, dev_manager, dev_mode, dev_pci, dev_type};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Device, dev_pci::ID, pci::bus),
    Check::new(Family::Device, dev_count::ID, pci::count),
    Check::new(Family::Device, dev_manager::ID, nodes::manager),
    Check::new(Family::Device, dev_type::ID, nodes::kind),
    Check::new(Family::Device, dev_mode::ID, access::mode),
    Check::new(Family::Device, dev_access::ID, access::access),
    Check::new(Family::Device, dev_group::ID, access::group),
];
