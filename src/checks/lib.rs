//! The checks of `ascend-doctor check`: pure functions from facts to outcomes.
//!
//! Must not touch: the machine, files, output formats. A check depends only on facts, tables and
//! report types. The crate that reads machines is not among its dependencies.
//!
//! To add a check, write the function in the file of its family, add a line to `CHECKS` of that
//! family, its texts to `data/findings/<family>.toml`, and a fixture to `tests/fixtures/hosts/`.

pub mod baseline;
mod cann;
mod check;
pub mod chip;
mod compat;
pub mod compat_advice;
mod dev;
mod drv;
mod env;
mod goal;
#[cfg(test)]
mod hardware_tests;
mod host;
mod integrity;
mod link;
mod masked;
pub mod members;
mod ms;
mod net;
mod npu;
pub mod overview;
mod pep;
pub mod plan;
mod plugin;
mod proc;
mod profile;
pub mod published_wheel;
mod py;
mod scan;
pub mod site;
#[cfg(test)]
mod testing;
mod torch;
mod user;
pub mod verdict;
mod wheel;

pub use check::{Check, Context, Family};
pub use profile::Profile;

/// The families, in the order of the report.
const FAMILIES: &[&[Check]] = &[
    scan::CHECKS,
    host::CHECKS,
    user::CHECKS,
    dev::CHECKS,
    drv::CHECKS,
    cann::CHECKS,
    env::CHECKS,
    py::CHECKS,
    torch::CHECKS,
    wheel::CHECKS,
    integrity::CHECKS,
    link::CHECKS,
    plugin::CHECKS,
    ms::CHECKS,
    compat::CHECKS,
    net::CHECKS,
    proc::CHECKS,
    site::CHECKS,
];

/// All checks, in the order of the report.
pub fn all() -> impl Iterator<Item = &'static Check> {
    FAMILIES.iter().copied().flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use data::Catalog;

    #[test]
    fn ids_are_unique_and_in_the_catalogue() {
        let mut seen = BTreeSet::new();
        for check in all() {
            assert!(seen.insert(check.id.as_str()), "{} is registered twice", check.id);
            assert!(
                Catalog::builtin().entry(check.id.as_str()).is_some(),
                "{} has no words",
                check.id
            );
            let prefix = check.id.as_str().split('-').next();
            assert_eq!(prefix, Some(check.family.prefix()), "{}", check.id);
        }
        // Findings of other subcommands do not come from a check of a machine.
        let others = ["CONVERT-", "VERIFY-", "OPS-", "FLEET-", "LINT-"];
        let of_checks = |id: &str| !others.iter().any(|family| id.starts_with(family));
        for entry in Catalog::builtin().entries().filter(|entry| of_checks(&entry.id)) {
            assert!(seen.contains(entry.id.as_str()), "{} has words but no check", entry.id);
        }
    }
}
