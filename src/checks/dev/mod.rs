//! Checks of the family `dev`: what the PCI bus and `/dev` show.

mod access;
mod nodes;
mod pci;

use super::{Check, Family};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Device, "DEV-PCI", pci::bus),
    Check::new(Family::Device, "DEV-COUNT", pci::count),
    Check::new(Family::Device, "DEV-MANAGER", nodes::manager),
    Check::new(Family::Device, "DEV-TYPE", nodes::kind),
    Check::new(Family::Device, "DEV-MODE", access::mode),
    Check::new(Family::Device, "DEV-ACCESS", access::access),
    Check::new(Family::Device, "DEV-GROUP", access::group),
];
