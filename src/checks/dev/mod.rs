//! Checks of the family `dev`: what the PCI bus and `/dev` show.

mod access;
mod nodes;
mod pci;

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check { id: "DEV-PCI", run: pci::bus },
    Check { id: "DEV-COUNT", run: pci::count },
    Check { id: "DEV-MANAGER", run: nodes::manager },
    Check { id: "DEV-TYPE", run: nodes::kind },
    Check { id: "DEV-MODE", run: access::mode },
    Check { id: "DEV-ACCESS", run: access::access },
    Check { id: "DEV-GROUP", run: access::group },
];
