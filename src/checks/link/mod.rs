//! Checks that use the static dynamic linker. They need no version table, so they work for versions
//! that are in no table.

mod driver;
mod files;
mod libraries;
mod nnal;
mod symbols;
mod system;
#[cfg(test)]
mod tests;

use data::{
    FindingId, RawFinding,
    findings::{
        cann_env, cann_home, cann_mixed, drv_libs, drv_stub, host_arch, host_glibc, host_libgomp,
        host_stdcxx, mooncake_lib, nnal_abi, nnal_present, nnal_version, tnpu_abi, tnpu_elf,
        tnpu_link, tnpu_symbols,
    },
    ui,
};
use std::collections::BTreeSet;

use super::check::Area;
use super::{Check, Context, Family, npu};
use base::report::{Evidence, UNKNOWN_VERSION};
use facts::{LinkedObject, MissingLibrary};

/// The checks of this group, of several families.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Host, host_arch::ID, files::arch),
    Check::new(Family::Host, host_glibc::ID, system::glibc),
    Check::new(Family::Host, host_stdcxx::ID, system::stdcxx),
    Check::new(Family::Host, host_libgomp::ID, system::libgomp),
    Check::new(Family::Driver, drv_libs::ID, driver::libraries),
    Check::new(Family::Driver, drv_stub::ID, driver::stub),
    Check::new(Family::Nnal, nnal_present::ID, nnal::present),
    Check::new(Family::Nnal, nnal_version::ID, nnal::version),
    Check::new(Family::Nnal, nnal_abi::ID, nnal::abi),
    Check::new(Family::TorchNpu, tnpu_elf::ID, files::elf),
    Check::new(Family::TorchNpu, tnpu_link::ID, libraries::torch_npu)
        .concludes_from(&[Area::Libraries]),
    Check::new(Family::TorchNpu, tnpu_symbols::ID, symbols::symbols),
    Check::new(Family::TorchNpu, tnpu_abi::ID, symbols::abi),
    Check::new(Family::Mooncake, mooncake_lib::ID, libraries::mooncake),
];

/// Maximum number of pieces of evidence of one kind.
const SHOWN: usize = 8;

/// The objects of `owners` that could be examined.
fn sound<'a>(ctx: &Context<'a>, owners: &[&str]) -> Vec<&'a LinkedObject> {
    let objects = ctx.facts.link.objects.iter();
    objects
        .filter(|object| owners.contains(&object.owner.as_str()) && object.defect.is_none())
        .collect()
}

/// The Python extensions of the stack that could be examined.
fn extensions<'a>(ctx: &Context<'a>) -> Vec<&'a LinkedObject> {
    let objects = ctx.facts.link.objects.iter();
    objects.filter(|object| object.is_extension() && object.defect.is_none()).collect()
}

/// The packages of these objects, each once.
fn owners<'a>(objects: &[&'a LinkedObject]) -> Vec<&'a str> {
    let owners: BTreeSet<&str> = objects.iter().map(|object| object.owner.as_str()).collect();
    owners.into_iter().collect()
}

/// A missing library and the examined object.
type Miss<'a> = (&'a LinkedObject, &'a MissingLibrary);

/// Missing libraries that are a fault. In an unknown environment, a library elsewhere on the
/// machine is not, because a `set_env.sh` may add its directory.
fn misses<'a>(ctx: &Context<'a>, objects: &[&'a LinkedObject]) -> Vec<Miss<'a>> {
    let known = ctx.facts.link.env_known;
    objects
        .iter()
        .flat_map(|object| object.missing.iter().map(move |missing| (*object, missing)))
        .filter(|(_, missing)| known || missing.elsewhere.is_empty())
        .collect()
}

/// Names of the libraries, each once.
fn names<'a>(misses: &[Miss<'a>]) -> Vec<&'a str> {
    let names: BTreeSet<&str> = misses.iter().map(|(_, missing)| missing.name.as_str()).collect();
    names.into_iter().collect()
}

/// Adds the object that needs each library, copies elsewhere, and skipped copies.
fn with_evidence(mut found: RawFinding, misses: &[Miss<'_>]) -> RawFinding {
    let mut seen = BTreeSet::new();
    for (_, missing) in misses {
        if seen.len() >= SHOWN || !seen.insert(&missing.name) {
            continue;
        }
        found = found
            .evidence(Evidence::file(&missing.needed_by).value(format!("NEEDED {}", missing.name)));
        for path in missing.elsewhere.iter().take(2) {
            found = found.evidence(Evidence::file(path));
        }
        for path in missing.skipped.iter().take(2) {
            found = found.evidence(Evidence::file(path).says(ui::SEEN_PASSED_OVER.text()));
        }
    }
    found
}

/// Returns whether a CANN installation on the disk contains the library.
fn in_cann(ctx: &Context<'_>, missing: &MissingLibrary) -> bool {
    let installs = &ctx.facts.cann.installs;
    missing.elsewhere.iter().any(|path| installs.iter().any(|install| install.contains(path)))
}

/// Returns whether a CANN library is missing on the path although an installation contains it:
/// CANN's `set_env.sh` was then not sourced, which is a separate finding.
fn cann_not_sourced(ctx: &Context<'_>) -> bool {
    let objects = ctx.facts.link.objects.iter().flat_map(|object| &object.missing);
    objects.into_iter().any(|missing| missing.class == "cann" && in_cann(ctx, missing))
}

/// The checks that report an environment in which CANN's `set_env.sh` was not sourced.
const NOT_SOURCED: &[FindingId] = &[cann_env::ID, cann_home::ID, cann_mixed::ID];

/// The value of a variable as evidence.
fn library_path(ctx: &Context<'_>) -> Evidence {
    Evidence::env("LD_LIBRARY_PATH").value_if(ctx.facts.env.get("LD_LIBRARY_PATH"))
}

fn version_of(ctx: &Context<'_>, dist: &str) -> String {
    ctx.facts
        .python
        .dist(dist)
        .map_or_else(|| UNKNOWN_VERSION.to_owned(), |dist| dist.version.clone())
}

/// The name of an owner in sentences.
fn display(owner: &str) -> &str {
    match owner {
        "torch-npu" => "torch_npu",
        "vllm-ascend" => "vllm_ascend",
        "cann" => "CANN",
        "atb" => "NNAL",
        "mindspore" => "MindSpore",
        other => other,
    }
}
