//! `check` and `compat` on every test machine.

use anyhow::Result;
use rayon::prelude::*;

use super::{Inputs, rotate, strings};
use crate::fixtures::Machine;
use crate::same::case::{Case, Plan, arg_array, args};

/// Variants of `check` for every machine.
const VARIANTS: [(&str, &str); 4] = [
    ("text-en", "--lang en"),
    ("verbose-zh", "-v --lang zh"),
    ("json", "--json"),
    ("html", "--format html"),
];

/// Variants for every sixth machine.
const ROTATED: [(&str, &str); 31] = [
    ("text-zh", "--lang zh"),
    ("verbose-en", "-v --lang en"),
    ("facts-only", "--facts-only"),
    ("profile-multi-node", "--profile multi-node -v"),
    ("json-zh", "--json --lang zh"),
    ("quiet-en", "-q --lang en"),
    ("quiet-zh", "-q --lang zh"),
    ("junit", "--format junit"),
    ("junit-zh", "--format junit --lang zh"),
    ("sarif", "--format sarif"),
    ("markdown-en", "--format markdown"),
    ("markdown-zh", "--format markdown --lang zh"),
    ("html-zh", "--format html --lang zh"),
    ("openmetrics", "--format openmetrics"),
    ("line-en", "--format line"),
    ("line-zh", "--format line --lang zh"),
    ("color", "--color always"),
    ("no-hash", "--no-hash --json"),
    ("require-npu", "--require-npu"),
    ("fail-on-warning", "--fail-on warning"),
    ("fail-on-never", "--fail-on never"),
    ("list-compat", "--list-compat"),
    ("profile-inference", "--profile inference -v"),
    ("profile-train", "--profile train -v"),
    ("profile-container", "--profile container -v"),
    ("profile-build", "--profile build -v"),
    ("profile-node", "--profile node -v"),
    ("profile-multi-node-zh", "--profile multi-node --lang zh"),
    ("output-html", "--format html --output report.html"),
    ("metrics-file", "--metrics-file metrics.prom"),
    ("host", "--json --host node-17"),
];

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let facts = inputs.subdir("facts")?;
    inputs.machines.par_iter().try_for_each(|machine| -> Result<()> {
        let args = args!["check", "--sysroot", machine.root.display(), "--facts-only"];
        let output = inputs.old.prepare(&args, &inputs.dir)?;
        Ok(std::fs::write(facts.join(format!("{}.json", machine.name)), output)?)
    })?;
    for (number, machine) in inputs.machines.iter().enumerate() {
        for (variant, flags) in VARIANTS.into_iter().chain(rotate(&ROTATED, number, 6)) {
            plan.add(check(machine, variant).flags(flags));
        }
        if !machine.args.is_empty() {
            plan.add(check(machine, "specified").flags(&machine.args.join(" ")));
        }
        let path = facts.join(format!("{}.json", machine.name));
        for (variant, flags) in [("text-zh", "--lang zh"), ("json", "--json")] {
            let case = Case::new(format!("check-facts/{}/{variant}", machine.name));
            plan.add(case.step(args!["check", "--facts", path.display()]).flags(flags));
        }
        if number % 8 == 0 {
            let record = check(machine, "record").flags("--record recorded --json");
            plan.add(record.step(args!["check", "--sysroot", "recorded", "--json"]));
        }
        for (variant, flags) in [("text-en", ""), ("json", "--json")] {
            let case = Case::new(format!("compat/{}/{variant}", machine.name));
            plan.add(case.step(args!["compat", "--sysroot", machine.root.display()]).flags(flags));
        }
    }
    add_options(plan, inputs)
}

fn check(machine: &Machine, variant: &str) -> Case {
    Case::new(format!("check/{}/{variant}", machine.name)).step(args![
        "check",
        "--sysroot",
        machine.root.display()
    ])
}

/// Adds options that are tried on a few machines.
fn add_options(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let listed = inputs.ask(&arg_array!["explain", "--list", "--json"])?;
    let families = strings(&listed, &["items", "family"]);
    let variables = "# shell\nexport ASCEND_HOME_PATH=/usr/local/Ascend/nowhere\n\
                     LD_LIBRARY_PATH='/opt/lib:/usr/lib'\nASCEND_LAUNCH_BLOCKING=1\n";
    let manifest = "{\"schema\": \"ascend-doctor/manifest/1\", \"files\": {}}";
    for name in ["ok-vllm-container", "f02-env-not-sourced", "f19-mixed-cann"] {
        let machine = inputs.machine(name);
        for family in &families {
            // Finding families without checks in `check` are rejected.
            let only = check(machine, &format!("only-{family}")).flags("-v --only").flags(family);
            plan.add(only.refused());
        }
        let only = |variant, ids| check(machine, variant).flags("--json --only").flags(ids);
        plan.add(only("only-ids", "CANN-HOME,DEV-ACCESS,TNPU-MANIFEST"));
        plan.add(only("only-unknown", "CANN-HOMES").refused());
        for (variant, flags) in [
            ("env-file", "--env-file vars.sh"),
            ("python", "--python /usr/bin/python3"),
            ("python-missing", "--python /nowhere/python3"),
            ("timeout", "--timeout 600"),
            ("output", "--json --output report.json"),
            ("skip", "--skip cann,env,DEV-ACCESS"),
            ("log", "--log info"),
            ("list-compat-torch", "--list-compat --torch 2.7.1"),
        ] {
            plan.add(check(machine, variant).flags(flags).file("vars.sh", variables));
        }
        for (variant, flags) in [
            ("manifest-invalid", "--manifest manifest.json"),
            ("matrix-invalid", "--matrix vars.sh"),
            ("env-file-missing", "--env-file nothing.sh"),
            ("output-missing-directory", "--output nowhere/report.txt"),
            ("facts-and-root", "--facts report.json"),
        ] {
            let case = check(machine, variant).flags(flags).refused();
            plan.add(case.file("vars.sh", variables).file("manifest.json", manifest));
        }
        let vars = "{\"ASCEND_HOME_PATH\": \"/usr/local/Ascend/cann\"}";
        plan.add(check(machine, "env-json").flags("--env-file vars.json").file("vars.json", vars));
        // The cases cover a small width, but not a closed standard output.
        plan.add(check(machine, "narrow").env("COLUMNS", "40"));
    }
    // The machine of the run itself, whose text report has no measured sizes.
    for (variant, flags) in [("text", "--no-npu-smi"), ("line", "--format line --no-npu-smi")] {
        plan.add(Case::new(format!("check/live/{variant}")).step(args!["check"]).flags(flags));
    }
    plan.add(Case::new("check/empty-root").file("root/etc/hostname", "vm\n").step(args![
        "check",
        "--sysroot",
        "root",
        "-v"
    ]));
    Ok(())
}
