//! The settings file, and variables that select language and color.

use super::Inputs;
use crate::same::case::{Case, Plan, args};

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) {
    let root = inputs.machine("f19-mixed-cann").root.display().to_string();
    let check = |name: String| Case::new(name).step(args!["check", "--sysroot", root]);
    let skip = "[[skip]]\nid = \"CANN\"\nreason = \"known, OPS-112\"\nuntil = 2099-12-31\n";
    let past = "[[skip]]\nid = \"CANN-MIX\"\nreason = \"known\"\nuntil = 2020-01-31\n";
    for (name, settings) in [
        ("lang", "lang = \"zh\"\n"),
        ("fail-on", "fail-on = \"warning\"\n"),
        ("skip", skip),
        ("skip-past", past),
    ] {
        let case = |variant: &str| {
            let case = check(format!("settings/{name}/{variant}"));
            case.file("ascend-doctor.toml", settings)
        };
        let past = name == "skip-past";
        let mark = |case: Case| if past { case.refused() } else { case };
        plan.add(mark(case("text")));
        plan.add(mark(case("json").flags("--json")));
        plan.add(mark(case("verbose").flags("-v --lang en")));
        plan.add(case("no-config").flags("--no-config"));
        let elsewhere = check(format!("settings/{name}/config")).file("site.toml", settings);
        plan.add(mark(elsewhere.flags("--config site.toml")));
    }
    for (name, settings) in [
        ("unknown-key", "zebra = 1\n"),
        ("unknown-value", "lang = \"de\"\n"),
        ("no-reason", "[[skip]]\nid = \"CANN\"\nuntil = 2099-12-31\n"),
        ("unknown-id", "[[skip]]\nid = \"ZEBRA\"\nreason = \"x\"\nuntil = 2099-12-31\n"),
        ("no-toml", "lang = \n"),
        ("missing-matrix", "[data]\nmatrix = \"nothing.toml\"\n"),
    ] {
        let case = check(format!("settings/refused/{name}")).file("ascend-doctor.toml", settings);
        plan.add(case.refused());
    }
    let case = check("settings/refused/missing".to_owned()).flags("--config nothing.toml");
    plan.add(case.refused());
    for (name, variable, value) in [
        ("lang", "ASCEND_DOCTOR_LANG", "zh"),
        ("locale", "LC_ALL", "zh_CN.UTF-8"),
        ("locale-hong-kong", "LANG", "zh_HK.UTF-8"),
        ("invalid-lang", "ASCEND_DOCTOR_LANG", "de"),
        ("host", "ASCEND_DOCTOR_HOST", "node-17"),
        ("no-color", "NO_COLOR", "1"),
        ("force-color", "CLICOLOR_FORCE", "1"),
        ("columns", "COLUMNS", "120"),
    ] {
        let case = check(format!("settings/variable/{name}")).env(variable, value);
        plan.add(if name == "invalid-lang" { case.refused() } else { case });
    }
}
