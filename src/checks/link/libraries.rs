//! TNPU-LINK, MOONCAKE-LIB: dependencies that are in no directory of the search path.

use super::{
    Context, Miss, NOT_SOURCED, cann_not_sourced, display, extensions, in_cann, library_path,
    misses, names, npu, sound, with_evidence,
};
use base::report::Severity;
use data::{
    FindingId, Outcome, RawFinding, Reason,
    findings::{
        cann_components, cann_found, cann_partial, drv_libs, drv_mounts, drv_present, host_arch,
        mooncake_lib, py_dup, py_framework, tnpu_link, tnpu_record, torch_version,
    },
};

/// Classes that other checks report.
const OTHERS: &[&str] = &["driver", "atb"];

/// Libraries of CANN's support code that the driver package contains, too (`driver/lib64/common`).
const WITH_DRIVER: &[&str] = &["libc_sec.so", "libmmpa.so", "libslog.so"];

/// TNPU-LINK: one finding per kind of library. Libraries that are loaded only on demand give a
/// warning.
pub(super) fn torch_npu(ctx: &Context<'_>) -> Outcome {
    let objects = extensions(ctx);
    if objects.is_empty() {
        return if ctx.facts.python.torch.dirs.contains_key("torch_npu") {
            Outcome::NotChecked(Reason::NoLibraries)
        } else {
            Outcome::NotApplicable(Reason::NoTorchNpu)
        };
    }
    let all = misses(ctx, &objects);
    let relevant = all.into_iter().filter(|(_, missing)| !OTHERS.contains(&missing.class.as_str()));
    let (lazy, eager): (Vec<_>, Vec<_>) = relevant.partition(|(object, _)| object.lazy);
    let told = names(&eager);
    let lazy: Vec<_> =
        lazy.into_iter().filter(|(_, missing)| !told.contains(&missing.name.as_str())).collect();
    let mut found = by_class(ctx, &eager, Severity::Error);
    found.extend(by_class(ctx, &lazy, Severity::Warning));
    // An unreadable CANN is not a missing one.
    let before = found.len();
    let denied = npu::hidden_cann(ctx.facts);
    found.retain(|one| denied.is_none() || !one.because.contains(&cann_found::ID));
    match denied {
        Some(problem) if found.is_empty() && before > 0 => {
            Outcome::Blocked(Reason::Unreadable { what: problem.place().into() })
        }
        _ => found.into(),
    }
}

fn by_class(ctx: &Context<'_>, all: &[Miss<'_>], severity: Severity) -> Vec<RawFinding> {
    let mut out = Vec::new();
    for class in ["cann", "torch", "torch_npu", "cuda", "python", "system", "other"] {
        let (own, rest): (Vec<Miss<'_>>, Vec<Miss<'_>>) = all
            .iter()
            .filter(|(_, missing)| missing.class == class)
            .partition(|(_, missing)| class != "cann" || in_cann(ctx, missing));
        for (group, on_disk) in [(own, true), (rest, false)] {
            let Some((object, _)) = group.first() else { continue };
            let because: &[FindingId] = match class {
                "cann" if on_disk => NOT_SOURCED,
                "cann" if ctx.facts.cann.installs.is_empty() => &[cann_found::ID],
                "cann" => {
                    if group.iter().all(|(_, missing)| WITH_DRIVER.contains(&missing.name.as_str()))
                    {
                        &[drv_mounts::ID, drv_present::ID, drv_libs::ID, cann_partial::ID]
                    } else {
                        &[cann_partial::ID, cann_components::ID]
                    }
                }
                "torch" => &[torch_version::ID],
                "torch_npu" => &[tnpu_record::ID, py_framework::ID],
                _ if cann_not_sourced(ctx) => NOT_SOURCED,
                _ => &[],
            };
            let libraries = names(&group);
            let set_env = ctx.facts.cann.active().and_then(|install| install.set_env.as_deref());
            let set_env = set_env.unwrap_or("/usr/local/Ascend/ascend-toolkit/set_env.sh");
            let (owner, count) = (display(&object.owner), libraries.len());
            let libraries = npu::listed(libraries);
            let interpreter = ctx.facts.python.command();
            let found = match class {
                "cann" if on_disk => {
                    tnpu_link::Cann { count, libraries, owner, set_env }.at(severity)
                }
                "cann" if ctx.facts.cann.installs.is_empty() => {
                    tnpu_link::NoCann { count, libraries, owner }.at(severity)
                }
                "cann" if let Some(lib64) = hidden_driver(ctx, &group) => {
                    let mount = format!("{lib64}:{lib64}");
                    tnpu_link::Driver { count, lib64, libraries, mount, owner }.at(severity)
                }
                "cann" => tnpu_link::CannLacks { count, libraries, owner }.at(severity),
                "torch" => tnpu_link::Torch { count, libraries, owner }.at(severity),
                "torch_npu" => tnpu_link::Own { count, interpreter, libraries }.at(severity),
                _ => tnpu_link::Other { count, libraries, owner }.at(severity),
            };
            let found = found.because(because);
            // Libraries that are on the path but were skipped are for another machine.
            let foreign = group.iter().all(|(_, missing)| !missing.skipped.is_empty());
            let found = if foreign { found.because(&[host_arch::ID]) } else { found };
            // A file that is missing from its own package.
            let lost = group.iter().all(|(_, missing)| is_lost(ctx, &missing.name));
            let found = if lost { found.because(&[py_dup::ID]) } else { found };
            let found = with_evidence(found, &group);
            out.push(if ctx.facts.link.env_known {
                found.evidence(library_path(ctx))
            } else {
                found
            });
        }
    }
    out
}

/// The library directory of the driver, if all missing libraries belong to the driver package and
/// its `common` directory is not visible. CANN is then complete.
fn hidden_driver(ctx: &Context<'_>, group: &[Miss<'_>]) -> Option<String> {
    let driver = &ctx.facts.driver;
    let lib64 = format!("{}/lib64", driver.dir.as_ref()?);
    let is_hidden = driver.paths.get(&format!("{lib64}/common")) == Some(&false);
    let brings = |(_, missing): &Miss<'_>| WITH_DRIVER.contains(&missing.name.as_str());
    (is_hidden && group.iter().all(brings)).then_some(lib64)
}

/// MOONCAKE-LIB: the transfer engine is loaded by name, usually from `/usr/local/lib`.
pub(super) fn mooncake(ctx: &Context<'_>) -> Outcome {
    let objects = sound(ctx, &["mooncake"]);
    if objects.is_empty() {
        return Outcome::NotApplicable(Reason::NoPackage { what: "mooncake".to_owned() });
    }
    let all = misses(ctx, &objects);
    let group: Vec<_> = all.into_iter().filter(|(_, missing)| missing.class != "driver").collect();
    if group.is_empty() {
        return Outcome::Passed;
    }
    let elsewhere = group.iter().flat_map(|(_, missing)| &missing.elsewhere).next();
    let dir = elsewhere.and_then(|path| path.rsplit_once('/')).map(|(dir, _)| dir);
    let libraries = npu::listed(names(&group));
    let found = match dir {
        Some(dir) => mooncake_lib::NotOnPath { dir, libraries }.warning(),
        None => mooncake_lib::Missing { libraries, dir: "/usr/local/lib" }.warning(),
    };
    let only_cann = group.iter().all(|(_, missing)| in_cann(ctx, missing));
    let found = if only_cann { found.because(NOT_SOURCED) } else { found };
    vec![with_evidence(found, &group).evidence(library_path(ctx))].into()
}

/// Returns whether the RECORD of a package lists a missing library of this name.
fn is_lost(ctx: &Context<'_>, name: &str) -> bool {
    let mut missing = ctx.facts.python.dists.iter().flat_map(|dist| &dist.missing_sample);
    missing.any(|path| path.rsplit('/').next() == Some(name))
}
