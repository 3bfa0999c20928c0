//! CANN installations, and the environment variables that refer to them.
//!
//! Up to 8.3 a toolkit is in `ascend-toolkit/<version>`, and `ascend-toolkit/latest` is a directory
//! whose entries are links into it. From 8.5 on it is in `cann-<version>`, and `cann` and
//! `ascend-toolkit/latest` are links. Sources: the file tree of CANN 8.1.RC1,
//! `scripts/package/runtime` of cann/runtime.

mod discover;
mod environment;
mod install;
mod listing;

use crate::sysroot::Sysroot;
use discover::Discovery;
use facts::{Cann, Facts};
pub(super) use listing::names;

/// Fills [`Facts::cann`], except for NNAL. Needs the driver's `install_info`.
pub(super) fn collect(sysroot: &Sysroot, facts: &mut Facts) {
    facts.env.entries = environment::entries(sysroot);
    let mut found = Discovery::new(sysroot);
    for base in discover::bases(sysroot, facts) {
        found.search_base(&base);
    }
    for place in environment::places(sysroot.env()) {
        found.search_upwards(&place);
    }
    let installs = found.roots().map(|root| install::read(sysroot, root)).collect();
    facts.cann = Cann {
        installs,
        env_paths: environment::paths(sysroot, &found),
        nnal: Vec::new(),
        bases: found.bases().to_vec(),
        links: found.into_links(),
    };
}

#[cfg(any(test, feature = "fixtures"))]
pub mod fixture;
#[cfg(test)]
mod tests;
