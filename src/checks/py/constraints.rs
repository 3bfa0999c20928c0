//! `PY-CONSTRAINTS`: compares the requirements of the stack's packages with the installed versions,
//! like `pip check`, but with a list of harmless conflicts.

use data::{
    FindingId, Outcome, RawFinding, Reason,
    findings::{
        py_constraints, py_numpy, torch_version, triton_conflict, vllm_empty, vllm_pair,
        vllm_plugin, vllm_stack,
    },
};
use pep440_rs::{Version, VersionSpecifiers};
use pep508_rs::MarkerEnvironment;

use super::imports::{self, Imported};
use super::requirements;
use crate::{Context, compat::lacks_triton, goal, pep};
use base::report::{Evidence, Severity};
use facts::{Dist, Python};

/// Packages whose requirements are checked.
const REQUIRERS: &[&str] = &[
    "accelerate",
    "compressed-tensors",
    "deepspeed",
    "mindformers",
    "mindspore",
    "peft",
    "sglang",
    "torch",
    "torch-npu",
    "torchaudio",
    "torchvision",
    "transformers",
    "triton-ascend",
    "vllm",
    "vllm-ascend",
    "xgrammar",
];

/// Needed only to build a package, not to run it.
const BUILD_TOOLS: &[&str] =
    &["cmake", "ninja", "packaging", "pip", "pybind11", "setuptools", "setuptools-scm", "wheel"];

/// Packages that vllm's metadata pins for its GPU builds. vllm-ascend runs with the versions that
/// torch_npu needs, and its maintainers recommend to ignore the error of pip (vllm 0.18 requires
/// torch 2.10, vllm-ascend 0.18 requires 2.9).
const PINNED_FOR_GPU: &[&str] = &["torch", "torchaudio", "torchvision", "triton"];

/// A requirement that is not met.
struct Conflict<'a> {
    by: &'a Dist,
    name: &'a str,
    spec: &'a VersionSpecifiers,
    text: &'a str,
    source: Evidence,
    installed: &'a Dist,
    /// Whether the conflict prevents the workload from starting.
    breaks: bool,
}

/// Returns whether the goal depends on this package, and the requirement is violated by a release
/// of another series, whose interfaces may differ. No release of torchvision supports two torch
/// releases.
fn stops(goal: &str, by: &Dist, requirement: &pep::Requirement, installed: &Dist) -> bool {
    let Some(version) = pep::version(&installed.version) else { return false };
    let of_goal: &[&str] = match goal {
        "vllm" => &["vllm", "vllm-ascend"],
        "sglang" => &["sglang"],
        "mindspore" => &["mindspore"],
        _ => &[],
    };
    let serves = matches!(goal, "vllm" | "sglang");
    let vision = serves && by.name == "torchvision" && requirement.name == "torch";
    vision && !pep::same_release(&requirement.spec, &version)
        || of_goal.contains(&by.name.as_str()) && pep::is_other_series(&requirement.spec, &version)
}

/// Returns whether torchvision was built for another torch than the installed one.
fn is_for_other_torch(python: &Python, env: &MarkerEnvironment) -> bool {
    let version = python.dist("torch").and_then(|torch| pep::version(&torch.version));
    let Some((vision, version)) = python.dist("torchvision").zip(version) else { return false };
    let lines = vision.requires.iter().filter_map(|line| pep::requirement(line, env));
    let mut of_torch = lines.filter(|requirement| requirement.name == "torch");
    of_torch.any(|requirement| !pep::same_release(&requirement.spec, &version))
}

pub(super) fn check(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    if python.interpreter.is_none() {
        return Outcome::NotApplicable(Reason::NoPython);
    }
    let stack: Vec<&Dist> = REQUIRERS.iter().filter_map(|name| python.dist(name)).collect();
    if stack.is_empty() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let Some(env) = pep::environment(ctx.facts) else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "Python".to_owned() });
    };
    let (mut found, imported) = imports::find(ctx);
    let goal = goal::select(ctx);
    // The imports of torch are known. It is unknown whether the other packages start without
    // theirs.
    let served = |dist: &&Dist| goal::starts(ctx, &dist.name) && !is_torch(&dist.name);
    let served: Vec<&Dist> = stack.iter().copied().filter(served).collect();
    let (mut missing, is_whole) = requirements::missing_below(ctx, &env, &served);
    missing.retain(|(by, name)| is_untold(ctx, &imported, by, name));
    let mut unproven = imported.likely.clone();
    // Separate checks report a missing torch or torch_npu.
    let names = missing.iter().map(|(_, name)| name.clone());
    unproven.extend(names.filter(|name| !is_torch(name)));
    for dist in stack {
        let declared = requirements::declared(ctx, &env, dist);
        found.extend(of_one(ctx, &env, dist, &declared, goal, &imported));
        let is_new = |(by, name): &(&Dist, String)| {
            is_untold(ctx, &imported, by, name) && missing.iter().all(|(_, told)| told != name)
        };
        let absent = requirements::missing(ctx, declared).into_iter();
        let more: Vec<_> = absent.filter(is_new).collect();
        missing.extend(more);
    }
    for listing in missing.chunk_by(|a, b| a.0.name == b.0.name) {
        found.push(not_there(python, listing));
    }
    let what = unproven.into_iter().collect::<Vec<_>>().join(", ");
    let reason = if is_whole {
        (!what.is_empty()).then_some(Reason::ImportUnknown { what })
    } else {
        Some(Reason::Unreadable { what: "Requires-Dist".to_owned() })
    };
    Outcome::from_partial(found, reason)
}

/// Returns whether no other finding reports that this package is missing.
fn is_untold(ctx: &Context<'_>, imported: &Imported<'_>, by: &Dist, name: &str) -> bool {
    let has_check = by.name == "vllm-ascend" && name == "triton-ascend" && lacks_triton(ctx);
    !imported.told.contains(name) && !has_check && is_needed(by, name)
}

fn of_one(
    ctx: &Context<'_>,
    env: &MarkerEnvironment,
    by: &Dist,
    declared: &[(&Dist, pep::Requirement)],
    goal: &str,
    imported: &Imported<'_>,
) -> Vec<RawFinding> {
    let python = &ctx.facts.python;
    let mut found = Vec::new();
    for (by, requirement) in declared {
        let by = *by;
        let Some(installed) = python.dist(&requirement.name) else { continue };
        let conflict = Conflict {
            by,
            name: &requirement.name,
            spec: &requirement.spec,
            text: &requirement.text,
            source: by.requirement(&requirement.declared).value(&requirement.text),
            installed,
            breaks: by.name == "torch" && imported.names.contains(requirement.name.as_str())
                || stops(goal, by, requirement, installed),
        };
        // The requirement of torchvision itself reports this mismatch with torch.
        let is_other_vision = requirement.name == "torchvision" && by.name == "vllm-ascend";
        if !is_other_vision || !is_for_other_torch(python, env) {
            found.extend(judge(python, &conflict));
        }
    }
    if by.name == "vllm-ascend"
        && let Some(version) = pep::version(&by.version)
    {
        // The versions that its release was tested with, if its metadata has none.
        for (name, spec) in ctx.matrix.vllm_ascend_pins(&version) {
            if let Some(installed) = python.dist(name)
                && declared.iter().all(|(_, requirement)| requirement.name != name)
                && !(name == "torchvision" && is_for_other_torch(python, env))
            {
                let text = format!("{name}{spec}");
                let source = Evidence::data(format!("vllm_ascend {version}")).value(&text);
                let breaks = goal == "vllm"
                    && pep::version(&installed.version)
                        .is_some_and(|version| pep::is_other_series(spec, &version));
                let conflict = Conflict { by, name, spec, text: &text, source, installed, breaks };
                found.extend(judge(python, &conflict));
            }
        }
    }
    found
}

/// Returns whether a missing package is needed to run, and not only to build or on a GPU.
fn is_needed(by: &Dist, name: &str) -> bool {
    let is_build_tool = BUILD_TOOLS.contains(&name) || name.starts_with("nvidia-");
    // A separate check covers the requirement of torch_npu for torch.
    let has_check = by.name == "torch-npu" && name == "torch";
    !is_build_tool && !is_pinned_for_gpu(by, name) && !has_check
}

/// Creates the finding for required packages that are not installed. It is only a remark: a package
/// may be needed for an unused part of the other, and names in metadata are not always those of the
/// builds for Ascend.
fn not_there(python: &Python, missing: &[(&Dist, String)]) -> RawFinding {
    let by = missing[0].0;
    let mut names: Vec<&str> = missing.iter().map(|(_, name)| name.as_str()).collect();
    names.sort_unstable();
    names.dedup();
    py_constraints::Missing {
        by: &by.name,
        by_version: &by.version,
        count: names.len(),
        packages: names.join(", "),
        interpreter: python.command(),
    }
    .info()
    .evidence(by.place("Requires-Dist").value(names.join(", ")))
    .because(&[vllm_empty::ID])
}

fn judge(python: &Python, conflict: &Conflict<'_>) -> Option<RawFinding> {
    let Conflict { by, name, spec, text, source, installed, breaks } = conflict;
    let version = pep::version(&installed.version)?;
    if spec.contains(&version) || by.name == *name {
        return None;
    }
    let with_evidence =
        |found: RawFinding| found.evidence(source.clone()).evidence(installed.version_place());
    let (wanted, package) = (text, name);
    let (by, by_version, installed) = (&by.name, &by.version, &installed.version);
    let interpreter = python.command();
    if by == "torch-npu" && *name == "torch" {
        // TORCH-VERSION checks the version itself; this is only about the error of pip.
        return pep::satisfies_without_local(spec, &version)
            .then_some(py_constraints::Local {
                by,
                by_version,
                installed,
                interpreter,
                package,
                wanted,
            })
            .map(|local| with_evidence(local.info()));
    }
    let benign = py_constraints::Benign { by, by_version, installed, package, wanted };
    // torch requires the Triton of its build for GPUs, which cannot be installed next to torch_npu.
    if is_build_of(spec, &version) || by == "torch" && is_pinned_for_gpu(conflict.by, name) {
        return None;
    }
    if by == "vllm" && PINNED_FOR_GPU.contains(name) && python.dist("vllm-ascend").is_some() {
        return Some(with_evidence(benign.info()));
    }
    let because: &[FindingId] = match *name {
        // Without its plug-in, the torch of its GPU build does not matter.
        name if by == "vllm" && PINNED_FOR_GPU.contains(&name) => {
            &[torch_version::ID, vllm_plugin::ID]
        }
        // A vllm-ascend installed with the torch_npu of another torch is one mistake.
        "torch" | "torchvision" | "torchaudio" if by == "vllm-ascend" => {
            &[torch_version::ID, vllm_stack::ID]
        }
        "torch" | "torchvision" | "torchaudio" => &[torch_version::ID],
        "torch-npu" => &[vllm_stack::ID, torch_version::ID],
        "vllm" => &[vllm_pair::ID],
        "numpy" => &[py_numpy::ID],
        name if name.contains("triton") => &[triton_conflict::ID, vllm_stack::ID],
        _ => &[],
    };
    // They are built for other releases of torch_npu than those that vllm-ascend combines them
    // with. Only that combination counts (VLLM-STACK).
    if by == "triton-ascend" && name.starts_with("torch") {
        return Some(with_evidence(benign.info()));
    }
    let found =
        py_constraints::Conflict { by, by_version, installed, interpreter, package, wanted };
    let severity = if *breaks { Severity::Error } else { Severity::Warning };
    Some(with_evidence(found.at(severity)).because(because))
}

/// Returns whether this is torch, its back end for NPUs or its Triton, whose imports were measured.
pub(super) fn is_torch(name: &str) -> bool {
    matches!(name, "torch" | "torch-npu" | "triton-ascend")
}

/// Returns whether the metadata of `by` names this package only for its GPU build.
fn is_pinned_for_gpu(by: &Dist, name: &str) -> bool {
    matches!(by.name.as_str(), "torch" | "vllm") && PINNED_FOR_GPU.contains(&name)
}

/// Returns whether `version` is a build of the release that `spec` pins: a patch release of
/// torch_npu (`2.9.0.post1` for `2.9.0`), a nightly, or a local build with changes.
fn is_build_of(spec: &VersionSpecifiers, version: &Version) -> bool {
    // A release candidate is not the release.
    version.pre().is_none()
        && (version.is_post() || version.is_dev() || version.is_local())
        && pep::same_release(spec, version)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};

    fn requiring(name: &str, version: &str, requires: &[&str]) -> Dist {
        let mut dist = dist(name, version);
        dist.requires = requires.iter().map(|&line| line.to_owned()).collect();
        dist
    }

    fn outcome(dists: Vec<Dist>) -> Outcome {
        let facts = facts_with(python("3.11.13"), dists);
        check(&Context::of(&facts, Profile::General))
    }

    /// Omits findings about imports of torch, because these minimal environments do not have them.
    fn run(dists: Vec<Dist>) -> Vec<String> {
        let mut found = ids(outcome(dists));
        found.retain(|one| !one.ends_with(" imports"));
        found
    }

    #[test]
    fn a_pin_of_a_release_is_a_conflict() {
        let transformers = dist("transformers", "4.58.0");
        assert_eq!(
            run(vec![dist("vllm-ascend", "0.11.0"), transformers.clone()]),
            ["warning PY-CONSTRAINTS conflict"],
            "by the matrix"
        );
        let declared = requiring("vllm-ascend", "0.0.9", &["transformers<=4.57.1"]);
        assert_eq!(run(vec![declared, transformers]), ["warning PY-CONSTRAINTS conflict"]);
    }

    #[test]
    fn the_gpu_pins_of_vllm_are_harmless_beside_vllm_ascend() {
        let vllm = || requiring("vllm", "0.18.0", &["torch==2.10.0", "torchvision==0.25.0"]);
        let torch = || dist("torch", "2.9.0");
        let all = vec![vllm(), dist("vllm-ascend", "0.0.9"), torch()];
        assert_eq!(run(all), ["info PY-CONSTRAINTS benign"]);
        assert_eq!(
            run(vec![vllm(), torch(), dist("torchvision", "0.25.0")]),
            ["warning PY-CONSTRAINTS conflict"]
        );
    }

    #[test]
    fn a_missing_local_part_is_told_and_no_more() {
        let npu = || requiring("torch-npu", "2.9.0", &["torch==2.9.0+cpu"]);
        assert_eq!(run(vec![npu(), dist("torch", "2.9.0")]), ["info PY-CONSTRAINTS local"]);
        assert_eq!(run(vec![npu(), dist("torch", "2.9.0+cpu")]), [""; 0]);
        assert_eq!(run(vec![npu(), dist("torch", "2.8.0")]), [""; 0], "TORCH-VERSION's");
    }

    #[test]
    fn what_torch_imports_has_to_be_new_enough() {
        let torch = || requiring("torch", "2.8.0", &["sympy>=1.13.3", "jinja2", "triton==3.4.0"]);
        let old = dist("sympy", "1.9");
        let found = run(vec![torch(), old.clone()]);
        assert!(found.contains(&"warning PY-CONSTRAINTS conflict".to_owned()), "{found:?}");
        // torch_npu imports the parts of torch that import sympy.
        let npu = dist("torch-npu", "2.8.0.post2");
        let found = run(vec![torch(), npu.clone(), old]);
        assert!(found.contains(&"error PY-CONSTRAINTS conflict".to_owned()), "{found:?}");
        let found = outcome(vec![torch(), npu]);
        let Outcome::Found(found) = &found else { panic!("{found:?}") };
        let missing: Vec<&str> = found.iter().map(|one| one.args["packages"].as_str()).collect();
        assert!(missing[0].contains("sympy") && !missing[0].contains("jinja2"), "{missing:?}");
        assert_eq!(missing[1], "jinja2");
    }

    #[test]
    fn builds_of_a_pinned_release_are_no_conflict() {
        let plugin = || requiring("vllm-ascend", "0.0.9", &["torch-npu==2.9.0"]);
        for version in ["2.9.0.post1", "2.9.0+gitabc", "2.9.0.dev20260101"] {
            assert_eq!(run(vec![plugin(), dist("torch-npu", version)]), [""; 0], "{version}");
        }
        assert_eq!(
            run(vec![plugin(), dist("torch-npu", "2.8.0")]),
            ["warning PY-CONSTRAINTS conflict"]
        );
    }

    #[test]
    fn what_is_missing_is_told_once_for_a_package() {
        let plugin = requiring("vllm-ascend", "0.0.9", &["einops", "quart", "cmake>=3.26"]);
        let outcome = outcome(vec![plugin.clone()]);
        // The goal starts it, and it is unknown whether it works without them.
        let Outcome::FoundInPart(found, reason) = &outcome else { panic!("{outcome:?}") };
        assert_eq!(found[0].args["packages"], "einops, quart");
        assert_eq!(reason.what(), Some("einops, quart"));
        let facts = facts_with(python("3.11.13"), vec![plugin]);
        let outcome = check(&Context::of(&facts, Profile::Torch));
        assert_eq!(ids(outcome), ["info PY-CONSTRAINTS missing"]);
    }

    #[test]
    fn extras_that_are_asked_for_are_required() {
        let vllm = || requiring("vllm", "0.0.9", &["fastapi[standard]"]);
        let fastapi = requiring(
            "fastapi",
            "0.115.0",
            &["uvicorn[standard]>=0.12; extra == 'standard'", "ujson; extra == 'all'"],
        );
        let uvicorn = requiring("uvicorn", "0.9", &["uvloop>=0.14; extra == 'standard'"]);
        let all = vec![vllm(), fastapi.clone(), uvicorn];
        let found = outcome(all);
        let Outcome::FoundInPart(found, reason) = &found else { panic!("{found:?}") };
        let by: Vec<&str> = found.iter().map(|one| one.args["by"].as_str()).collect();
        assert_eq!(by, ["fastapi", "uvicorn"], "an old one, and what its extra needs");
        assert_eq!(reason.what(), Some("uvloop"));
        let new = requiring("uvicorn", "0.30", &["uvloop>=0.14; extra == 'standard'"]);
        assert_eq!(run(vec![vllm(), fastapi, new, dist("uvloop", "0.21")]), [""; 0]);
    }

    #[test]
    fn what_a_requirement_requires_is_followed() {
        let vllm = requiring("vllm", "0.0.9", &["transformers", "torch==2.8.0"]);
        let transformers = requiring("transformers", "4.57.1", &["tokenizers>=0.22", "numpy"]);
        let tokenizers = requiring("tokenizers", "0.22.1", &["huggingface-hub", "transformers"]);
        let torch = requiring("torch", "2.8.0", &["fsspec", "typing-extensions"]);
        let all = [vllm, transformers, tokenizers, torch, dist("numpy", "1.26.4")];
        let all = [&all[..], &[dist("typing-extensions", "4.12.2")]].concat();
        let outcome = outcome(all);
        let Outcome::FoundInPart(found, reason) = &outcome else { panic!("{outcome:?}") };
        assert_eq!(reason.what(), Some("huggingface-hub"), "fsspec is not imported by torch");
        let by: Vec<&str> = found.iter().map(|one| one.args["by"].as_str()).collect();
        assert_eq!(by, ["tokenizers", "torch"]);
    }

    #[test]
    fn more_requirements_than_any_machine_has_leave_the_result_open() {
        let name = |number: usize| format!("p{number}");
        let lines: Vec<String> = (0..300).map(name).collect();
        let mut all = vec![requiring("vllm", "0.0.9", &["p0"])];
        all.extend((0..300).map(|number| {
            let mut dist = dist(&name(number), "1");
            dist.requires.clone_from(&lines);
            dist
        }));
        let outcome = outcome(all);
        let Outcome::Blocked(reason) = &outcome else { panic!("{outcome:?}") };
        assert_eq!(reason.what(), Some("Requires-Dist"));
    }

    #[test]
    fn what_the_goal_starts_does_not_start_without_what_it_imports() {
        let facts = facts_with(python("3.11.13"), vec![dist("sglang", "0.5.6")]);
        let outcome = check(&Context::of(&facts, Profile::Sglang));
        let found = ids(outcome);
        assert_eq!(found, ["error PY-CONSTRAINTS imports", "error PY-CONSTRAINTS elsewhere"]);
        let outcome = check(&Context::of(&facts, Profile::Torch));
        assert!(ids(outcome).iter().all(|one| one.starts_with("warning")));
        let later = facts_with(python("3.11.13"), vec![dist("sglang", "0.9.1")]);
        let outcome = check(&Context::of(&later, Profile::Sglang));
        let Outcome::Blocked(reason) = &outcome else { panic!("{outcome:?}") };
        assert!(reason.what().expect("names").contains("sgl-kernel-npu"));
    }

    #[test]
    fn markers_of_other_machines_do_not_count() {
        let gram = requiring("xgrammar", "0.1.30", &["triton; platform_machine == 'x86_64'"]);
        assert_eq!(run(vec![gram]), [""; 0]);
    }
}
