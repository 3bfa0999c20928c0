//! `PY-FRAMEWORK`: the framework that the goal needs is installed for the interpreter that starts.

use crate::{Context, goal};
use base::report::{Evidence, Outcome, RawFinding};
use data::sentence;

/// Distributions that make a framework use an NPU.
const BACKENDS: [&str; 2] = ["torch-npu", "mindspore"];

pub(super) fn check(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    if BACKENDS.iter().any(|name| python.dist(name).is_some()) {
        return Outcome::Passed;
    }
    if !goal::needs_framework(ctx) {
        return match &python.interpreter {
            None => Outcome::not_applicable("no_python"),
            Some(_) => Outcome::not_applicable("no_torch_npu"),
        };
    }
    let Some(interpreter) = &python.interpreter else {
        let found = RawFinding::error("PY-FRAMEWORK", "no_python");
        let evidence = Evidence::env("PATH").says(sentence("seen_no_python", &[]));
        return vec![found.evidence(evidence).because(&["PY-INTERP"])].into();
    };
    let found = if let Some(other) = python.others.first() {
        RawFinding::error("PY-FRAMEWORK", "other")
            .arg("other", &other.path)
            .evidence(Evidence::file(&other.path))
    } else if let Some(torch) = python.dist("torch") {
        RawFinding::error("PY-FRAMEWORK", "torch_only")
            .arg("torch", &torch.version)
            .evidence(Evidence::file(&torch.path).value(&torch.version))
    } else {
        RawFinding::error("PY-FRAMEWORK", "absent")
    };
    let searched = python.site_dirs.iter().take(4);
    let evidence = searched.map(|dir| Evidence::file(dir).says(sentence("seen_no_framework", &[])));
    let found = evidence.fold(found.arg("path", &interpreter.path), RawFinding::evidence);
    vec![found.because(&["PY-INTERP"])].into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
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
}
