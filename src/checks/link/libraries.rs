//! TNPU-LINK, MOONCAKE-LIB: dependencies that no directory of the search holds.

use super::{
    Context, Miss, NOT_SOURCED, cann_not_sourced, display, extensions, in_cann, library_path,
    misses, names, npu, sound, with_evidence,
};
use base::report::{Outcome, RawFinding, Severity};

/// Classes that other checks speak about.
const OTHERS: &[&str] = &["driver", "atb"];

/// Libraries of CANN's support code that the driver package brings too (`driver/lib64/common`).
const WITH_DRIVER: &[&str] = &["libc_sec.so", "libmmpa.so", "libslog.so"];

/// TNPU-LINK: one finding per kind of library; what only loads on demand is a warning.
pub(super) fn torch_npu(ctx: &Context<'_>) -> Outcome {
    let objects = extensions(ctx);
    if objects.is_empty() {
        return if ctx.facts.python.torch.dirs.contains_key("torch_npu") {
            Outcome::not_checked("no_libraries", "torch_npu")
        } else {
            Outcome::not_applicable("no_torch_npu")
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
    // A CANN that may not be read is not one that is missing.
    let before = found.len();
    let denied = npu::hidden_cann(ctx.facts);
    found.retain(|one| denied.is_none() || one.message != "no_cann");
    match denied {
        Some(problem) if found.is_empty() && before > 0 => {
            Outcome::blocked("unreadable", problem.place())
        }
        _ => found.into(),
    }
}

fn by_class(ctx: &Context<'_>, all: &[Miss<'_>], severity: Severity) -> Vec<RawFinding> {
    let mut out = Vec::new();
    for (class, message) in [
        ("cann", "cann"),
        ("torch", "torch"),
        ("torch_npu", "own"),
        ("cuda", "other"),
        ("python", "other"),
        ("system", "other"),
        ("other", "other"),
    ] {
        let (own, rest): (Vec<Miss<'_>>, Vec<Miss<'_>>) = all
            .iter()
            .filter(|(_, missing)| missing.class == class)
            .partition(|(_, missing)| class != "cann" || in_cann(ctx, missing));
        for (group, on_disk) in [(own, true), (rest, false)] {
            let Some((object, _)) = group.first() else { continue };
            let mut message = message;
            let because: &[&str] = match class {
                "cann" if on_disk => NOT_SOURCED,
                "cann" if ctx.facts.cann.installs.is_empty() => {
                    message = "no_cann";
                    &["CANN-FOUND"]
                }
                "cann" => {
                    message = "cann_lacks";
                    if group.iter().all(|(_, missing)| WITH_DRIVER.contains(&missing.name.as_str()))
                    {
                        &["DRV-MOUNTS", "DRV-PRESENT", "DRV-LIBS", "CANN-PARTIAL"]
                    } else {
                        &["CANN-PARTIAL", "CANN-COMPONENTS"]
                    }
                }
                "torch" => &["TORCH-VERSION"],
                "torch_npu" => &["TNPU-RECORD"],
                _ if cann_not_sourced(ctx) => NOT_SOURCED,
                _ => &[],
            };
            let libraries = names(&group);
            let set_env = ctx.facts.cann.active().and_then(|install| install.set_env.as_deref());
            let found = RawFinding::new("TNPU-LINK", message, severity)
                .arg("owner", display(&object.owner))
                .arg("count", libraries.len().to_string())
                .arg("libraries", npu::listed(libraries))
                .arg("set_env", set_env.unwrap_or("/usr/local/Ascend/ascend-toolkit/set_env.sh"))
                .because(because);
            // What is on the path and was passed over is of another machine.
            let foreign = group.iter().all(|(_, missing)| !missing.skipped.is_empty());
            let found = if foreign { found.because(&["HOST-ARCH"]) } else { found };
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

/// MOONCAKE-LIB: the transfer engine is loaded by name, from `/usr/local/lib` as a rule.
pub(super) fn mooncake(ctx: &Context<'_>) -> Outcome {
    let objects = sound(ctx, &["mooncake"]);
    if objects.is_empty() {
        return Outcome::NotApplicable(base::report::Reason {
            key: "no_package",
            what: "mooncake".to_owned(),
        });
    }
    let all = misses(ctx, &objects);
    let group: Vec<_> = all.into_iter().filter(|(_, missing)| missing.class != "driver").collect();
    if group.is_empty() {
        return Outcome::Passed;
    }
    let elsewhere = group.iter().flat_map(|(_, missing)| &missing.elsewhere).next();
    let dir = elsewhere.and_then(|path| path.rsplit_once('/')).map(|(dir, _)| dir);
    let message = if dir.is_some() { "not_on_path" } else { "missing" };
    let found = RawFinding::warning("MOONCAKE-LIB", message)
        .arg("libraries", npu::listed(names(&group)))
        .arg("dir", dir.unwrap_or("/usr/local/lib"));
    let only_cann = group.iter().all(|(_, missing)| in_cann(ctx, missing));
    let found = if only_cann { found.because(NOT_SOURCED) } else { found };
    vec![with_evidence(found, &group).evidence(library_path(ctx))].into()
}
