//! `PY-FRAMEWORK`: the framework of the goal is installed for the interpreter that runs it.

use crate::{Context, Profile, goal};
use base::report::Evidence;
use data::{
    Outcome, RawFinding, Reason,
    findings::{py_framework, py_interp},
    ui,
};

/// Distributions that enable a framework to use an NPU.
const BACKENDS: [&str; 2] = ["torch-npu", "mindspore"];

/// The backend and the framework that a profile names.
const fn named(profile: Profile) -> Option<(&'static str, &'static str)> {
    match profile {
        Profile::Import | Profile::Torch => Some(("torch-npu", "torch-npu")),
        Profile::Vllm => Some(("torch-npu", "vllm")),
        Profile::Sglang => Some(("torch-npu", "sglang")),
        Profile::Mindspore => Some(("mindspore", "mindspore")),
        _ => None,
    }
}

pub(super) fn check(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let named = named(ctx.profile);
    let has_backend = match named {
        Some((backend, _)) => python.dist(backend).is_some(),
        None => BACKENDS.iter().any(|name| python.dist(name).is_some()),
    };
    if has_backend {
        return match named {
            // VLLM-PLUGIN reports vllm-ascend without vLLM.
            Some((_, package))
                if python.dist(package).is_none() && python.dist("vllm-ascend").is_none() =>
            {
                vec![absent(ctx, package)].into()
            }
            _ => Outcome::Passed,
        };
    }
    if let Some((backend @ "mindspore", _)) = named
        && python.interpreter.is_some()
    {
        return vec![absent(ctx, backend)].into();
    }
    if !goal::needs_framework(ctx) {
        return match &python.interpreter {
            None => Outcome::NotApplicable(Reason::NoPython),
            Some(_) => Outcome::NotApplicable(Reason::NoTorchNpu),
        };
    }
    let Some(interpreter) = &python.interpreter else {
        let found = py_framework::NoPython.error();
        let evidence = Evidence::env("PATH").says(ui::SEEN_NO_PYTHON.text());
        return vec![found.evidence(evidence).because(&[py_interp::ID])].into();
    };
    let path = &interpreter.path;
    let found = if let Some(other) = python.others.first() {
        py_framework::Other { path, other: &other.path }
            .error()
            .evidence(Evidence::file(&other.path))
    } else if let Some(torch) = python.dist("torch") {
        py_framework::TorchOnly { torch: &torch.version }
            .error()
            .evidence(Evidence::file(&torch.path).value(&torch.version))
    } else {
        py_framework::Absent { path }.error()
    };
    let searched = python.site_dirs.iter().take(4);
    let evidence = searched.map(|dir| Evidence::file(dir).says(ui::SEEN_NO_FRAMEWORK.text()));
    let found = evidence.fold(found, RawFinding::evidence);
    vec![found.because(&[py_interp::ID])].into()
}

/// The profile requires a package that is missing in the interpreter.
fn absent(ctx: &Context<'_>, package: &str) -> RawFinding {
    let python = &ctx.facts.python;
    let path = python.command();
    let found = match package {
        "vllm" => py_framework::Vllm { path }.error(),
        "mindspore" => py_framework::Mindspore { path }.error(),
        _ => py_framework::Package { package: display(package), path }.error(),
    };
    let searched = python.site_dirs.iter().take(4);
    let evidence = searched.map(|dir| Evidence::file(dir).says(ui::SEEN_NO_FRAMEWORK.text()));
    evidence.fold(found, RawFinding::evidence).because(&[py_interp::ID])
}

/// The official name of a framework.
fn display(package: &str) -> &str {
    match package {
        "torch-npu" => "torch_npu",
        "sglang" => "SGLang",
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{dist, facts_with, python};
    use facts::{Facts, Interpreter};

    fn run(facts: &Facts, profile: Profile) -> Vec<String> {
        match check(&Context::of(facts, profile)) {
            Outcome::Found(found) => {
                found.iter().map(|one| format!("{}.{}", one.id, one.message)).collect()
            }
            Outcome::Passed => vec!["passed".to_owned()],
            other => vec![format!("{other:?}").split('(').next().unwrap_or_default().to_owned()],
        }
    }

    #[test]
    fn a_goal_with_a_framework_needs_python_and_a_backend() {
        let nothing = Facts::default();
        assert_eq!(run(&nothing, Profile::Inference), ["PY-FRAMEWORK.no_python"]);
        assert_eq!(run(&nothing, Profile::General), ["NotApplicable"]);
        let mut facts = facts_with(python("3.11"), Vec::new());
        assert_eq!(run(&facts, Profile::Train), ["PY-FRAMEWORK.absent"]);
        assert_eq!(run(&facts, Profile::Build), ["NotApplicable"]);
        facts.python.dists.push(dist("torch", "2.7.1"));
        assert_eq!(run(&facts, Profile::Train), ["PY-FRAMEWORK.torch_only"]);
        facts.python.others.push(Interpreter::default());
        assert_eq!(run(&facts, Profile::Train), ["PY-FRAMEWORK.other"]);
        facts.python.dists.push(dist("torch-npu", "2.7.1"));
        assert_eq!(run(&facts, Profile::Train), ["passed"]);
    }

    #[test]
    fn a_profile_names_its_framework() {
        let mut facts = facts_with(python("3.11"), vec![dist("torch-npu", "2.7.1")]);
        for profile in [Profile::Import, Profile::Torch, Profile::Inference] {
            assert_eq!(run(&facts, profile), ["passed"]);
        }
        for (profile, package, message) in [
            (Profile::Vllm, "vllm", "vllm"),
            (Profile::Sglang, "sglang", "package"),
            (Profile::Mindspore, "mindspore", "mindspore"),
        ] {
            assert_eq!(run(&facts, profile), [format!("PY-FRAMEWORK.{message}")], "{package}");
            facts.python.dists.push(dist(package, "1.0"));
            assert_eq!(run(&facts, profile), ["passed"], "{package}");
        }
        facts.python.dists.retain(|dist| dist.name == "mindspore");
        assert_eq!(run(&facts, Profile::Torch), ["PY-FRAMEWORK.absent"]);
    }
}
