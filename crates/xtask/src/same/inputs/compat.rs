//! `compat` for every version of the matrix, and `manifest`.

use anyhow::Result;
use rayon::prelude::*;

use super::{Inputs, OTHER_FORMATS, strings};
use crate::fixtures::Machine;
use crate::same::case::{Case, Plan, arg_array, args};

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let empty = inputs.subdir("empty-root")?;
    let empty = empty.display().to_string();
    let report = inputs.ask(&arg_array!["compat", "--sysroot", empty, "--json"])?;
    let question = |name: String| {
        Case::new(format!("compat-question/{name}")).step(args!["compat", "--sysroot", empty])
    };
    let mut versions = Vec::new();
    for (option, keys) in [
        ("--torch-npu", ["matrix", "torch_npu", "version"]),
        ("--torch", ["matrix", "torch_npu", "torch"]),
        ("--cann", ["matrix", "cann", "version"]),
        ("--vllm-ascend", ["matrix", "vllm_ascend", "version"]),
    ] {
        let mut found = strings(&report, &keys);
        found.sort();
        found.dedup();
        versions.extend(found.into_iter().map(|version| (option, version)));
    }
    if versions.is_empty() {
        plan.skip("compat: the old program lists no versions");
    }
    for (index, (option, version)) in versions.iter().enumerate() {
        let name = |suffix: &str| format!("{}-{version}{suffix}", option.trim_start_matches('-'));
        plan.add(question(name("/text")).flags(&format!("{option} {version}")));
        if index % 8 == 0 {
            for arch in ["aarch64", "x86_64"] {
                let flags = format!("{option} {version} --python 3.11 --arch {arch} --lang zh");
                plan.add(question(name(&format!("/{arch}"))).flags(&flags));
            }
            plan.add(question(name("/json")).flags(&format!("{option} {version} --json")));
        }
    }
    for (name, flags) in [
        ("all", ""),
        ("all-zh", "--lang zh"),
        ("all-json", "--json"),
        ("pair", "--torch 2.7.1 --cann 8.3.RC1"),
        ("contradiction", "--torch 2.7.1 --torch-npu 2.1.0"),
        ("python", "--torch 2.7.1 --python 3.6"),
        ("unknown-torch", "--torch 99.9.9"),
    ] {
        plan.add(question(name.to_owned()).flags(flags));
    }
    for format in OTHER_FORMATS {
        plan.add(question(format!("format-{format}")).flags("--format").flags(format));
        let case = question(format!("format-{format}-zh")).flags("--torch 2.7.1 --lang zh");
        plan.add(case.flags("--format").flags(format));
    }
    plan.add(question("unknown-cann".to_owned()).flags("--cann 99.9").refused());
    let matrix = "schema = \"ascend-doctor/matrix/1\"\nas_of = \"2030-01-01\"\n";
    plan.add(question("matrix".to_owned()).flags("--matrix m.toml").file("m.toml", matrix));
    add_manifests(plan, inputs)
}

/// Adds `manifest create` and `manifest wheel-check` on the torch_npu installations.
fn add_manifests(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let installed: Vec<(&Machine, String)> = inputs
        .machines
        .iter()
        .filter_map(|machine| {
            Some((machine, machine.root.join(machine.site.as_ref()?).display().to_string()))
        })
        .collect();
    let refused: Vec<bool> = installed
        .par_iter()
        .map(|(_, site)| inputs.refuses(&arg_array!["manifest", "create", site]))
        .collect::<Result<_>>()?;
    for ((machine, site), refused) in installed.into_iter().zip(refused) {
        let case = |name: &str| Case::new(format!("manifest/{}/{name}", machine.name));
        let create = case("create").step(args!["manifest", "create", site]);
        if refused {
            plan.add(create.refused());
            continue;
        }
        plan.add(create);
        let both = case("create-and-check").step(args!["manifest", "create", site, "-o", "m.json"]);
        let root = machine.root.display();
        plan.add(both.step(args!["check", "--sysroot", root, "--manifest", "m.json", "-v"]));
    }
    let wheel = "torch_npu-2.7.1-cp311-cp311-manylinux_2_28_aarch64.whl";
    for (name, flags) in [("text", ""), ("json", "--json"), ("zh", "--lang zh")] {
        let case = Case::new(format!("manifest/wheel-check/{name}"));
        let case = case.step(args!["manifest", "wheel-check", "wheels"]).flags(flags);
        plan.add(case.file(&format!("wheels/{wheel}"), "not a wheel"));
    }
    let missing = Case::new("manifest/missing").step(args!["manifest", "create", "nothing.whl"]);
    plan.add(missing.refused());
    Ok(())
}
