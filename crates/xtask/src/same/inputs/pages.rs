//! `report` over JSON output of the old program, and `bundle`.

use anyhow::Result;

use super::{Inputs, rotate};
use crate::same::case::{Case, Plan, args};

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let dir = inputs.subdir("pages")?;
    let file = |name: &str| dir.join(name).display().to_string();
    std::fs::write(dir.join("ops.txt"), "aten::add.Tensor\naten::nonsense_op\naten::nonzero\n")?;
    std::fs::write(dir.join("a.py"), "import torch\ntorch.cuda.cudart()\nx.cuda()\n")?;
    let machine = inputs.machine("f09-not-in-group").root.display().to_string();
    let healthy = inputs.machine("ok-host-910b").root.display().to_string();
    let mut names = Vec::new();
    for (name, args) in [
        ("check", args!["check", "--sysroot", machine]),
        ("healthy", args!["check", "--sysroot", healthy]),
        ("compat", args!["compat", "--sysroot", machine]),
        ("audit", args!["audit-ops", file("ops.txt"), "--torch-npu", "2.7.1"]),
        ("code", args!["translate-error", "507035", "EI0006"]),
        ("log", args!["translate-error", "error code is 507035 in x"]),
        ("convert", args!["convert", "--root", file("a.py"), "--dry-run"]),
        ("verify", args!["verify", "--format", "json"]),
        ("fleet", args!["fleet", "merge", file("check.json"), file("healthy.json")]),
        ("explain", args!["explain", "DEV-ACCESS"]),
    ] {
        let mut args = args;
        if name != "verify" {
            args.push("--json".to_owned());
        }
        std::fs::write(dir.join(format!("{name}.json")), inputs.old.prepare(&args, &dir)?)?;
        names.push(name);
    }
    for name in &names {
        let json = file(&format!("{name}.json"));
        for lang in ["en", "zh"] {
            let case = Case::new(format!("report/{name}/{lang}"));
            let case = case.step(args!["report", json, "--lang", lang]);
            plan.add(if *name == "explain" { case.refused() } else { case });
        }
    }
    let several: Vec<String> = ["check", "audit", "code", "log", "verify"]
        .iter()
        .map(|name| file(&format!("{name}.json")))
        .collect();
    let case = Case::new("report/several").step([args!["report"], several].concat());
    plan.add(case.flags("--output page.html"));
    let json = std::fs::read(dir.join("check.json"))?;
    plan.add(Case::new("report/stdin").step(args!["report", "-"]).stdin(json.clone()));
    for (name, content) in
        [("empty", ""), ("other", "{\"a\": 1}"), ("text", "[ERROR] x"), ("cut", "{")]
    {
        let case = Case::new(format!("report/refused-{name}")).file("x.json", content);
        plan.add(case.step(args!["report", "x.json"]).refused());
    }
    for (name, flags) in [("missing", "nothing.json"), ("format", "x.json --format text")] {
        let case = Case::new(format!("report/refused-{name}")).file("x.json", json.clone());
        plan.add(case.step(args!["report"]).flags(flags).refused());
    }
    add_bundles(plan, inputs);
    Ok(())
}

/// Adds bundles of copied machines. A bundle of a live machine would contain changing sizes.
fn add_bundles(plan: &mut Plan, inputs: &Inputs<'_>) {
    for machine in inputs.machines.iter().step_by(6) {
        let root = machine.root.display();
        let case = Case::new(format!("bundle/{}", machine.name));
        plan.add(case.step(args!["bundle", "--sysroot", root, "-o", "b.tar.gz"]));
    }
    let log = "[ERROR] RUNTIME(1,python):2026-01-01-10:00:00 error code is 507035\n\
               password=hunter2 HF_TOKEN=hf_abcdefghijklmnopqrstuvwx\n";
    let variants = [
        ("zh", "--lang zh"),
        ("json", "--json"),
        ("hosts", "--redact hosts"),
        ("add", "--add train.log --json"),
        ("no-logs", "--add train.log --limit 0"),
        ("no-hash", "--no-hash --no-npu-smi"),
    ];
    for (number, name) in ["ok-vllm-container", "f09-not-in-group"].iter().enumerate() {
        let root = inputs.machine(name).root.display().to_string();
        let bundle = || args!["bundle", "--sysroot", root, "-o", "b.tar.gz"];
        let case = |variant: &str| {
            Case::new(format!("bundle-option/{name}/{variant}")).file("train.log", log)
        };
        for (variant, flags) in rotate(&variants, number, 2) {
            plan.add(case(variant).step(bundle()).flags(flags));
        }
        let with_log = || [bundle(), args!["--add", "train.log"]].concat();
        plan.add(case("facts").step(with_log()).step(args!["check", "--facts", "b.tar.gz", "-v"]));
        plan.add(case("page").step(with_log()).step(args![
            "report",
            "b.tar.gz",
            "-o",
            "page.html"
        ]));
        plan.add(case("logs").step(with_log()).step(args!["translate-error", "b.tar.gz"]));
        plan.add(case("missing-log").step(bundle()).flags("--add nothing.log").refused());
        let default = || args!["bundle", "--sysroot", root];
        plan.add(case("existing").step(default()).step(default()).refused());
    }
}
