//! `PY-INTERP`: the interpreter exists, runs on this machine, and is one for which the stack has
//! wheels.

use crate::{Context, pep};
use base::report::{Evidence, Severity};
use data::{
    Outcome, RawFinding, Reason,
    findings::{host_arch, py_interp},
};
use facts::{Interpreter, Python, Unusable};

pub(super) fn check(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let mut found = Vec::new();
    if let Some((by, path)) = &python.missing_interpreter {
        found.push(missing(python, by, path));
    }
    if let Some(path) = &python.not_python {
        found.push(
            py_interp::NotPython { path }
                .error()
                .evidence(Evidence::option("--python").value(path)),
        );
    }
    let Some(interpreter) = &python.interpreter else {
        return if found.is_empty() {
            Outcome::NotApplicable(Reason::NoPython)
        } else {
            found.into()
        };
    };
    found.extend(unusable(ctx, interpreter));
    found.extend(foreign(ctx, interpreter));
    found.extend(no_wheel(ctx, interpreter));
    let unexamined = if left_out_of_copy(ctx, interpreter) {
        Some(Reason::NotInCopy { what: unexamined(ctx, interpreter) })
    } else if interpreter.version.is_none() && found.is_empty() {
        return Outcome::NotChecked(Reason::VersionUnknown { what: interpreter.path.clone() });
    } else {
        None
    };
    Outcome::from_partial(found, unexamined)
}

/// Returns whether the interpreter may be missing only in the copy: a copied tree may not contain
/// the interpreter of the machine.
fn left_out_of_copy(ctx: &Context<'_>, interpreter: &Interpreter) -> bool {
    matches!(interpreter.unusable, Some(Unusable::Absent | Unusable::NoHome))
        && ctx.facts.source != "live"
}

/// The path that a copy would need for an answer.
fn unexamined(ctx: &Context<'_>, interpreter: &Interpreter) -> String {
    match interpreter.unusable {
        Some(Unusable::NoHome) => {
            let minor = pep::minor(interpreter).map(|(major, minor)| format!("{major}.{minor}"));
            format!("{}/lib/python{}", home(ctx), minor.unwrap_or_default())
        }
        _ => interpreter.path.clone(),
    }
}

/// The value of `PYTHONHOME`.
fn home<'a>(ctx: &Context<'a>) -> &'a str {
    ctx.facts.env.vars.get("PYTHONHOME").map_or("", String::as_str)
}

/// The finding if the workload cannot start, because the program that its shell would run does not
/// exist or is not a program.
fn unusable(ctx: &Context<'_>, interpreter: &Interpreter) -> Option<RawFinding> {
    let (path, prefix) = (&interpreter.path, &interpreter.prefix);
    let one = match (interpreter.unusable?, &interpreter.dangling) {
        (Unusable::NotAProgram, _) => py_interp::NotAProgram { path, prefix }.error(),
        _ if left_out_of_copy(ctx, interpreter) => return None,
        (Unusable::NoHome, _) => {
            let (home, version) = (home(ctx), interpreter.version.as_deref().unwrap_or_default());
            let one = py_interp::Home { home, version }.error();
            return Some(one.evidence(Evidence::env("PYTHONHOME").value(home)));
        }
        (Unusable::Absent, Some(target)) => py_interp::Dangling { path, target, prefix }.error(),
        (Unusable::Absent, None) => py_interp::Gone { path, prefix }.error(),
    };
    let evidence = Evidence::file(path);
    Some(one.evidence(match &interpreter.dangling {
        Some(target) => evidence.value(target),
        None => evidence,
    }))
}

fn missing(python: &Python, by: &str, path: &str) -> RawFinding {
    let (evidence, instead) = match by {
        "--python" => (Evidence::option("--python"), None),
        "process" => (Evidence::option("process"), python.interpreter.as_ref()),
        variable => (Evidence::env(variable), python.interpreter.as_ref()),
    };
    let one = match instead {
        None => py_interp::Missing { by, path }.error(),
        Some(instead) => py_interp::Replaced { path, by, instead: &instead.path }.warning(),
    };
    one.evidence(evidence.value(path))
}

fn foreign(ctx: &Context<'_>, interpreter: &Interpreter) -> Option<RawFinding> {
    let (arch, host) = (interpreter.arch.as_ref()?, ctx.facts.host.arch.as_ref()?);
    (arch != host).then(|| {
        py_interp::Arch { arch, host, path: &interpreter.path }
            .error()
            .evidence(Evidence::file(&interpreter.real).value(arch))
            .because(&[host_arch::ID])
    })
}

/// The finding if no wheel of the installed torch_npu, or of any, is for this Python.
fn no_wheel(ctx: &Context<'_>, interpreter: &Interpreter) -> Option<RawFinding> {
    let (major, minor) = pep::minor(interpreter)?;
    let wanted = format!("{major}.{minor}");
    let evidence = Evidence::file(&interpreter.path).value(&wanted);
    let Some(npu) = ctx.facts.python.dist("torch-npu") else {
        let mut known = ctx.matrix.torch_npu.iter().filter(|row| !row.wheels.is_empty());
        let any = ctx.matrix.torch_npu.iter().any(|row| row.pythons().contains(&wanted.as_str()));
        let newest = known.next_back().or(known.next()).map(|row| row.pythons().join(", "));
        // Without torch_npu, it may not be needed in this environment.
        return (!any && ctx.facts.cann.active().is_some()).then(|| {
            let severity =
                if ctx.profile.needs_framework() { Severity::Warning } else { Severity::Info };
            py_interp::NoWheelAtAll { python: &wanted, pythons: newest.unwrap_or_default() }
                .at(severity)
                .evidence(evidence.clone())
        });
    };
    let row = ctx.matrix.torch_npu(&pep::version(&npu.version)?)?;
    let pythons = row.pythons();
    // A local build for this Python is as good as a published one.
    let own_build = npu.tags.iter().any(|tag| crate::wheel::fits_python(tag, major, minor));
    (!pythons.is_empty() && !pythons.contains(&wanted.as_str()) && !own_build).then(|| {
        py_interp::NoWheel {
            python: &wanted,
            torch_npu: &npu.version,
            pythons: pythons.join(", "),
            newest: pythons.last().copied().unwrap_or_default(),
        }
        .error()
        .evidence(evidence.clone())
        .evidence(Evidence::data(format!("torch_npu {}", row.version.0)).value(pythons.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};
    use facts::{Dist, Facts};

    fn run(facts: &Facts) -> Vec<String> {
        ids(check(&Context::of(facts, Profile::General)))
    }

    fn npu(version: &str, tag: &str) -> Dist {
        let mut npu = dist("torch-npu", version);
        npu.tags = vec![tag.to_owned()];
        npu
    }

    #[test]
    fn wheels_decide_which_python_is_supported() {
        let fits = npu("2.7.1", "cp311-cp311-manylinux_2_28_aarch64");
        assert_eq!(run(&facts_with(python("3.11.13"), vec![fits])), [""; 0]);
        let forced = npu("2.7.1", "cp311-cp311-manylinux_2_28_aarch64");
        assert_eq!(run(&facts_with(python("3.13.1"), vec![forced])), ["error PY-INTERP no_wheel"]);
        let own = npu("2.7.1", "cp313-cp313-linux_aarch64");
        assert_eq!(run(&facts_with(python("3.13.1"), vec![own])), [""; 0]);
        let unknown = npu("9.9.9", "cp311-cp311-linux_aarch64");
        assert_eq!(run(&facts_with(python("3.13.1"), vec![unknown])), [""; 0]);
    }

    #[test]
    fn an_interpreter_of_another_machine() {
        let mut facts = facts_with(python("3.11"), vec![]);
        facts.host.arch = Some("x86_64".to_owned());
        assert_eq!(run(&facts), ["error PY-INTERP arch"]);
    }

    #[test]
    fn what_was_named_has_to_be_there() {
        let mut facts = Facts::default();
        assert_eq!(run(&facts), ["not applicable: no_python"]);
        facts.python.missing_interpreter = Some(("--python".to_owned(), "/x".to_owned()));
        assert_eq!(run(&facts), ["error PY-INTERP missing"]);
        let other = Python { not_python: Some("/bin/ls".to_owned()), ..Python::default() };
        let other = Facts { python: other, ..Facts::default() };
        assert_eq!(run(&other), ["error PY-INTERP not_python"]);
        facts.python.missing_interpreter = Some(("VIRTUAL_ENV".to_owned(), "/v".to_owned()));
        facts.python.interpreter = Some(python("3.11"));
        assert_eq!(run(&facts), ["warning PY-INTERP replaced"]);
    }

    #[test]
    fn a_dangling_link_is_grave_on_the_machine_itself() {
        let mut facts = facts_with(python("3.11"), vec![]);
        let interpreter = facts.python.interpreter.as_mut().unwrap();
        interpreter.dangling = Some("/usr/bin/python3.9".to_owned());
        interpreter.unusable = Some(Unusable::Absent);
        assert_eq!(run(&facts), ["blocked: not_in_copy"]);
        facts.source = "live".to_owned();
        assert_eq!(run(&facts), ["error PY-INTERP dangling"]);
        facts.python.interpreter.as_mut().unwrap().dangling = None;
        assert_eq!(run(&facts), ["error PY-INTERP gone"]);
    }

    #[test]
    fn a_home_without_standard_library_stops_python() {
        let mut facts = facts_with(python("3.11"), vec![]);
        facts.env.vars.insert("PYTHONHOME".to_owned(), "/opt/none".to_owned());
        facts.python.interpreter.as_mut().unwrap().unusable = Some(Unusable::NoHome);
        assert_eq!(run(&facts), ["blocked: not_in_copy"]);
        facts.source = "live".to_owned();
        assert_eq!(run(&facts), ["error PY-INTERP home"]);
    }

    #[test]
    fn an_empty_file_is_no_interpreter_even_in_a_copy() {
        let mut facts = facts_with(python("3.11"), vec![]);
        facts.python.interpreter.as_mut().unwrap().unusable = Some(Unusable::NotAProgram);
        assert_eq!(run(&facts), ["error PY-INTERP not_a_program"]);
    }
}
