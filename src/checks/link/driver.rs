//! DRV-LIBS, DRV-STUB: the driver's user-space libraries as a process would load them.

use super::{
    Context, NOT_SOURCED, cann_not_sourced, library_path, misses, names, npu, sound, with_evidence,
};
use base::report::{Evidence, Severity};
use data::{
    FindingId, Outcome, Reason,
    findings::{dev_pci, drv_libs, drv_mounts, drv_present, drv_stub},
};

/// Findings that explain missing libraries of an installed driver, and of a missing one.
const MOUNTED: &[FindingId] = &[drv_mounts::ID, drv_present::ID];
const NOT_MOUNTED: &[FindingId] = &[drv_mounts::ID, drv_present::ID, dev_pci::ID];

/// DRV-LIBS: the driver libraries that the Ascend libraries need.
pub(super) fn libraries(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let objects = sound(ctx, &["torch-npu", "vllm-ascend", "mindspore", "mooncake"]);
    if objects.is_empty() {
        return bare(ctx);
    }
    let all = misses(ctx, &objects);
    let group: Vec<_> = all.into_iter().filter(|(_, missing)| missing.class == "driver").collect();
    let Some((_, first)) = group.first() else {
        return if facts.link.probe(npu::HAL).is_some() {
            Outcome::Passed
        } else if npu::has_driver(facts) {
            // No object that could be examined needs it.
            Outcome::NotChecked(Reason::LibrariesMissing)
        } else {
            Outcome::NotApplicable(Reason::NoDriver)
        };
    };
    let place =
        group.iter().flat_map(|(_, missing)| &missing.elsewhere).find(|path| !is_stub(path));
    let libraries = npu::listed(names(&group));
    let found = if let Some(path) = place {
        let dir = path.rsplit_once('/').map_or("/", |(dir, _)| dir);
        let found = drv_libs::NotOnPath { dir, libraries, path }.error();
        if cann_not_sourced(ctx) { found.because(NOT_SOURCED) } else { found }
    } else {
        // An image is built and examined without a driver; the host provides it later.
        let needed = npu::visible(facts) || npu::wanted(ctx);
        let severity = if needed { Severity::Error } else { Severity::Info };
        drv_libs::Missing {
            dir: format!("{}/lib64", facts.driver.home()),
            libraries,
            needed_by: &first.needed_by,
        }
        .at(severity)
        .because(if npu::has_driver(facts) { MOUNTED } else { NOT_MOUNTED })
    };
    vec![with_evidence(found, &group).evidence(library_path(ctx))].into()
}

/// Checks a container without Ascend packages. On a host, the driver's installer registers its
/// libraries with the loader. In a container they are not registered, and npu-smi does not start
/// without them.
fn bare(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let real = facts.driver.libraries.get(npu::HAL).filter(|path| !is_stub(path));
    let Some(path) = real.filter(|_| npu::in_container(facts) && npu::visible(facts)) else {
        return Outcome::NotApplicable(Reason::NoLibraries);
    };
    if !facts.link.env_known {
        return Outcome::NotChecked(Reason::EnvUnknown);
    }
    if facts.link.probe(npu::HAL).is_some() {
        return Outcome::Passed;
    }
    let dir = path.rsplit_once('/').map_or("/", |(dir, _)| dir);
    let found = drv_libs::NotOnPath { dir, libraries: npu::HAL, path }.error();
    vec![found.evidence(Evidence::file(path)).evidence(library_path(ctx))].into()
}

/// Returns whether a path is among the stubs in CANN for builds without a driver.
fn is_stub(path: &str) -> bool {
    path.split('/').any(|part| part == "devlib" || part == "stub")
}

/// DRV-STUB: the stub is found before the driver's own library.
pub(super) fn stub(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    if !facts.link.env_known {
        return Outcome::NotChecked(Reason::EnvUnknown);
    }
    let Some(found) = facts.link.probe(npu::HAL) else {
        return Outcome::NotApplicable(Reason::NoDriver);
    };
    if !is_stub(&found.path) && !is_stub(&found.real) {
        return Outcome::Passed;
    }
    let Some(real) = facts.driver.libraries.get(npu::HAL).filter(|path| !is_stub(path)) else {
        // Without a driver, `set_env.sh` adds the stub on purpose. DRV-PRESENT and DRV-MOUNTS
        // report whether a driver is needed.
        return Outcome::NotApplicable(Reason::NoDriver);
    };
    let dir = real.rsplit_once('/').map_or("/", |(dir, _)| dir);
    vec![
        drv_stub::First { dir, real, stub: &found.path }
            .error()
            .evidence(Evidence::file(&found.path).value(&found.via))
            .evidence(Evidence::file(real))
            .evidence(library_path(ctx)),
    ]
    .into()
}
