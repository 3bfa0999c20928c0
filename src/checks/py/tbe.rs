//! `PY-TBEDEPS`: the modules of CANN's operator compiler and their imports. The compiler runs
//! inside the user's interpreter, which must find its modules.

use crate::Context;
use base::report::{Evidence, Severity};
use data::{
    Outcome, Reason,
    findings::{cann_env, cann_home, py_tbedeps},
    ui,
};

/// A package that the compiler needs: distribution, module, and the severity if it is missing.
///
/// The list is that of the installation guides of CANN and vllm-ascend. Packages that bug reports
/// name in `No module named …` at the first operator are errors; `pathlib2` and `cython` are
/// omitted, because current releases do not fail without them.
const PACKAGES: &[(&str, &str, Severity)] = &[
    ("absl-py", "absl", Severity::Warning),
    ("attrs", "attr", Severity::Error),
    ("cffi", "cffi", Severity::Warning),
    ("decorator", "decorator", Severity::Error),
    ("numpy", "numpy", Severity::Error),
    ("protobuf", "google/protobuf", Severity::Warning),
    ("psutil", "psutil", Severity::Error),
    ("pyyaml", "yaml", Severity::Warning),
    ("requests", "requests", Severity::Warning),
    ("scipy", "scipy", Severity::Error),
    ("sympy", "sympy", Severity::Warning),
];

/// The directory of the compiler's own modules, below a CANN installation.
const OWN_MODULES: &str = "/python/site-packages";

pub(super) fn check(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let python = &facts.python;
    let Some(interpreter) = &python.interpreter else {
        return Outcome::NotApplicable(Reason::NoPython);
    };
    let Some(cann) = facts.cann.active() else { return Outcome::NotApplicable(Reason::NoCann) };
    if python.dist("torch-npu").is_none() && python.dist("mindspore").is_none() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let mut found = Vec::new();
    let missing: Vec<&(&str, &str, Severity)> = PACKAGES
        .iter()
        .filter(|(name, module, _)| {
            python.dist(name).is_none() && !python.modules.contains_key(*module)
        })
        .collect();
    if let Some(severity) = missing.iter().map(|(_, _, severity)| *severity).max() {
        let names: Vec<&str> = missing.iter().map(|(name, ..)| *name).collect();
        let mut one = py_tbedeps::Packages {
            install_words: install(&names),
            interpreter: &interpreter.path,
            packages: names.join(", "),
        }
        .at(severity);
        for dir in python.site_dirs.iter().take(5) {
            one = one
                .evidence(Evidence::file(dir).says(ui::SeenNone { name: names.join(", ") }.text()));
        }
        found.push(one);
    }
    let on_path = facts.env.list("PYTHONPATH").iter().any(|entry| {
        // ENV-PATHSEC and CANN-HOME check whether that directory exists.
        entry.trim_end_matches('/').ends_with(OWN_MODULES)
    });
    let absent = |module: &&str| {
        !python.modules.contains_key(*module)
            && python.dist(module).is_none()
            && cann.python.get(*module).is_some_and(Option::is_some)
    };
    let absent: Vec<&str> = ["te", "tbe"].into_iter().filter(absent).collect();
    if facts.env.known && !on_path && !absent.is_empty() {
        let dir = format!("{}{OWN_MODULES}", cann.path);
        found.push(
            py_tbedeps::Modules {
                dir: &dir,
                modules: absent.join(", "),
                set_env: cann.set_env.clone().unwrap_or(format!("{}/set_env.sh", cann.path)),
            }
            .error()
            .evidence(Evidence::env("PYTHONPATH").value_if(facts.env.get("PYTHONPATH")))
            .evidence(Evidence::file(dir))
            .because(&[cann_env::ID, cann_home::ID]),
        );
    }
    found.into()
}

/// The arguments for pip: CANN up to 8.5 needs numpy 1, and later versions accept it.
fn install(names: &[&str]) -> String {
    let wanted = names.iter().map(|&name| if name == "numpy" { "numpy<2" } else { name });
    wanted.collect::<Vec<_>>().join("\n")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};
    use facts::{CannInstall, Facts};

    fn machine() -> Facts {
        let mut dists: Vec<_> = PACKAGES.iter().map(|(name, ..)| dist(name, "1")).collect();
        dists.push(dist("torch-npu", "2.7.1"));
        let mut facts = facts_with(python("3.11"), dists);
        let mut cann = CannInstall { path: "/c".to_owned(), ..CannInstall::default() };
        for module in ["te", "tbe"] {
            let path = format!("/c/python/site-packages/{module}");
            cann.python.insert(module.to_owned(), Some(path));
        }
        facts.cann.installs.push(cann);
        facts.env.known = true;
        let value = "/latest/python/site-packages/:/other".to_owned();
        facts.env.vars.insert("PYTHONPATH".to_owned(), value);
        facts
    }

    fn run(facts: &Facts) -> Vec<String> {
        ids(check(&Context::of(facts, Profile::General)))
    }

    #[test]
    fn a_whole_environment_passes() {
        assert_eq!(run(&machine()), [""; 0]);
    }

    #[test]
    fn the_gravest_package_decides() {
        let mut facts = machine();
        facts.python.dists.retain(|dist| dist.name != "absl-py");
        assert_eq!(run(&facts), ["warning PY-TBEDEPS packages"]);
        facts.python.dists.retain(|dist| dist.name != "decorator");
        assert_eq!(run(&facts), ["error PY-TBEDEPS packages"]);
        facts.python.modules.insert("decorator".to_owned(), "/s/decorator.py".to_owned());
        assert_eq!(run(&facts), ["warning PY-TBEDEPS packages"], "a module without metadata");
    }

    #[test]
    fn the_fix_installs_what_is_missing_alone() {
        let mut facts = machine();
        facts.python.dists.retain(|dist| !["numpy", "attrs"].contains(&dist.name.as_str()));
        let Outcome::Found(found) = check(&Context::of(&facts, Profile::General)) else { panic!() };
        let finding = data::Catalog::builtin().resolve(found[0].clone());
        let run = finding.fix[0].run.as_deref().unwrap();
        assert!(run.ends_with(" -m pip install attrs 'numpy<2'"), "{run}");
    }

    #[test]
    fn the_compilers_own_modules_come_by_pythonpath() {
        let mut facts = machine();
        facts.env.vars.clear();
        assert_eq!(run(&facts), ["error PY-TBEDEPS modules"]);
        facts.env.known = false;
        assert_eq!(run(&facts), [""; 0], "an unknown environment proves nothing");
        facts.env.known = true;
        for module in ["te", "tbe"] {
            facts.python.modules.insert(module.to_owned(), format!("/s/{module}"));
        }
        assert_eq!(run(&facts), [""; 0], "installed by pip, as old releases do");
    }

    #[test]
    fn without_a_framework_nobody_compiles() {
        let mut facts = machine();
        facts.python.dists.clear();
        assert_eq!(run(&facts), ["not applicable: no_torch_npu"]);
    }
}
