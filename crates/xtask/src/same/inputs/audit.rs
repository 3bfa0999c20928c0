//! `audit-ops` on model samples, Python sources, operator lists and repositories.

use std::path::Path;

use anyhow::Result;
use rayon::prelude::*;

use super::{Inputs, OTHER_FORMATS, entries, file_name, rotate};
use crate::same::case::{Case, Plan, arg_array, args};
use crate::workspace;

/// Variants for every input.
const VARIANTS: [(&str, &str); 3] = [
    ("text-en", "--torch-npu 2.9.0"),
    ("text-zh", "--torch-npu 2.9.0 --lang zh -v"),
    ("json", "--torch-npu 2.9.0 --json"),
];

/// Variants for some inputs.
const MORE: [(&str, &str); 13] = [
    ("json-2.1", "--torch-npu 2.1.0 --json --all"),
    ("default-version", ""),
    ("version-2.6", "--torch-npu 2.6.0 --all"),
    ("version-2.7.1", "--torch-npu 2.7.1 --all"),
    ("version-release", "--torch-npu 2.9.0-26.0.0"),
    ("all-versions", "--torch-npu 2.7.1 --all-versions"),
    ("soc-910b", "--torch-npu 2.9.0 --soc Ascend910B3 --all"),
    ("soc-310p", "--torch-npu 2.9.0 --soc Ascend310P3 --all"),
    ("cann", "--torch-npu 2.9.0 --cann 8.3.RC1 --soc Ascend910B3"),
    ("dtype", "--torch-npu 2.9.0 --assume-dtype float64 --soc Ascend910B3"),
    ("fail-on-warning", "--torch-npu 2.9.0 --fail-on warning"),
    ("quiet", "--torch-npu 2.9.0 -q"),
    ("color", "--torch-npu 2.9.0 --color always"),
];

/// Variants for Python sources.
const SOURCES: [(&str, &str); 6] = [
    ("backward", "--torch-npu 2.9.0 --backward --json"),
    ("suggest", "--torch-npu 2.9.0 --suggest"),
    ("suggest-json", "--torch-npu 2.9.0 --suggest --soc Ascend910B3 --json"),
    ("follow", "--torch-npu 2.9.0 --follow-imports --json"),
    ("follow-text", "--torch-npu 2.9.0 --follow-imports --backward --suggest --lang zh"),
    ("backward-2.1", "--torch-npu 2.1.0 --backward --all"),
];

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    add_samples(plan, inputs)?;
    let examples = workspace::find_files(&inputs.root, "fixtures/convert/run/cases.toml");
    if let Some(dir) = examples.first().and_then(|path| path.parent()) {
        for path in entries(dir)?.into_iter().filter(|path| path.is_dir()) {
            let name = format!("audit-source/{}", file_name(&path));
            let args = args!["audit-ops", path.display()];
            if inputs.refuses(&args)? {
                plan.add(Case::new(name).step(args).refused());
            } else {
                add_sources(plan, &name, &path, false);
            }
        }
    } else {
        plan.skip("audit-ops: no directory `fixtures/convert/run`");
    }
    if inputs.repos.is_empty() {
        plan.skip("audit-ops: no --repo");
    }
    for repo in &inputs.repos {
        add_sources(plan, &format!("audit-repo/{}", file_name(repo)), repo, true);
        for path in workspace::find_files_in(repo, &file_name(repo), "py") {
            let name = format!("audit-repo/{}/file-{}", file_name(repo), file_name(&path));
            let case = Case::new(name).step(args!["audit-ops", path.display(), "--json"]);
            plan.add(case.flags("--torch-npu 2.7.1"));
        }
    }
    add_lists(plan, inputs)?;
    add_others(plan, inputs);
    Ok(())
}

/// Adds model files with known operators.
fn add_samples(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let Some(dir) = inputs.shared(plan, "samples/ops", "models") else { return Ok(()) };
    let paths = entries(&dir)?;
    let refused: Vec<bool> = paths
        .par_iter()
        .map(|path| inputs.refuses(&arg_array!["audit-ops", path.display()]))
        .collect::<Result<_>>()?;
    for (number, (path, refused)) in paths.iter().zip(refused).enumerate() {
        let case = |variant: &str| {
            let case = Case::new(format!("audit-model/{}/{variant}", file_name(path)));
            case.step(args!["audit-ops", path.display()])
        };
        if refused {
            plan.add(case("refused-en").refused());
            plan.add(case("refused-zh").flags("--lang zh").refused());
            continue;
        }
        for (variant, flags) in VARIANTS.into_iter().chain(rotate(&MORE, number, 8)) {
            plan.add(case(variant).flags(flags));
        }
        for format in rotate(&OTHER_FORMATS, number, 6) {
            plan.add(case(format).flags("--torch-npu 2.9.0 --format").flags(format));
        }
    }
    let case = |name: &str| {
        let case = Case::new(format!("audit-model/directory/{name}"));
        case.step(args!["audit-ops", dir.display(), "--torch-npu", "2.9.0"])
    };
    plan.add(case("text"));
    plan.add(case("json").flags("--json"));
    plan.add(case("html").flags("--format html"));
    Ok(())
}

/// Adds Python sources.
fn add_sources(plan: &mut Plan, name: &str, path: &Path, thorough: bool) {
    let case = |variant: &str| {
        Case::new(format!("{name}/{variant}")).step(args!["audit-ops", path.display()])
    };
    for (variant, flags) in VARIANTS.into_iter().chain(SOURCES) {
        plan.add(case(variant).flags(flags));
    }
    if thorough {
        for (variant, flags) in MORE {
            plan.add(case(variant).flags(flags));
        }
        for format in OTHER_FORMATS {
            plan.add(case(format).flags("--torch-npu 2.9.0 --format").flags(format));
        }
    }
}

/// Adds operator lists: every overload of the table, in parts.
fn add_lists(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let tables = workspace::find_files(&inputs.root, "data/ops/aten.tsv");
    let Some(table) = tables.first() else {
        plan.skip("audit-ops: no table `data/ops/aten.tsv` to take operators from");
        return Ok(());
    };
    let text = std::fs::read_to_string(table)?;
    let names: Vec<String> = text
        .lines()
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.split('\t').next())
        .map(|name| format!("aten::{}", name.trim_start_matches("aten::")))
        .collect();
    for (number, part) in names.chunks(500).enumerate() {
        for version in ["2.1.0", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.0", "2.14.0"] {
            let case = Case::new(format!("audit-list/part-{number}/{version}"));
            let case = case.file("ops.txt", part.join("\n") + "\n");
            let case = case.step(args!["audit-ops", "ops.txt", "--torch-npu", version, "--json"]);
            plan.add(case.step(args![
                "audit-ops",
                "ops.txt",
                "--torch-npu",
                version,
                "--soc",
                "Ascend910B3",
                "--all"
            ]));
        }
    }
    Ok(())
}

/// Adds installations, configurations, damaged inputs and rejected command lines.
fn add_others(plan: &mut Plan, inputs: &Inputs<'_>) {
    let model = "import torch\nimport torch.nn.functional as F\n\n\ndef f(gate, up, q, cos, sin):\n    \
                 y = F.silu(gate) * up\n    return y, (q * cos) + (rotate_half(q) * sin)\n\n\n\
                 optimizer = torch.optim.AdamW(parameters, lr=1e-4)\n";
    let config = "{\"architectures\": [\"LlamaForCausalLM\"], \"model_type\": \"llama\", \
                  \"hidden_act\": \"silu\", \"quantization_config\": {\"quant_method\": \"awq\"}}";
    let log = "UserWarning: CAUTION: The operator 'aten::nonzero' is not currently supported on the \
               NPU backend and will fall back to run on the CPU. (function npu_cpu_fallback)\n";
    for (name, file, content, refused) in [
        ("source", "model.py", model, false),
        ("config", "config.json", config, false),
        ("log", "train.log", log, false),
        ("broken-source", "model.py", "import torch\ntorch.add(\n", true),
        ("empty", "ops.txt", "", true),
        ("no-operators", "notes.txt", "hello world\n", true),
        ("broken-onnx", "model.onnx", "\u{8}\u{7}broken", true),
        ("broken-archive", "model.pt", "PK\u{3}\u{4}broken", true),
    ] {
        let suggest = ("suggest", "--torch-npu 2.9.0 --suggest");
        for (variant, flags) in VARIANTS.into_iter().chain([suggest]) {
            let case = Case::new(format!("audit-form/{name}/{variant}")).file(file, content);
            let case = case.step(args!["audit-ops", file]).flags(flags);
            plan.add(if refused { case.refused() } else { case });
        }
    }
    for (name, flags) in [
        ("unknown-version", "model.py --torch-npu 9.9.9"),
        ("unknown-soc", "model.py --soc Ascend999"),
        ("missing-input", "nothing.py"),
        ("no-input", ""),
        ("site-without-follow", "model.py --site ."),
    ] {
        let case = Case::new(format!("audit-refused/{name}")).file("model.py", model);
        plan.add(case.step(args!["audit-ops"]).flags(flags).refused());
    }
    let machine = inputs.machine("ok-vllm-container");
    if let Some(site) = &machine.site {
        let site = machine.root.join(site).display().to_string();
        let case = |name: &str| {
            let case = Case::new(format!("audit-installed/{name}")).file("model.py", model);
            case.step(args!["audit-ops", "model.py", format!("--installed={site}")])
        };
        plan.add(case("text"));
        plan.add(case("json").flags("--json"));
        let follow = Case::new("audit-installed/follow-site").file("model.py", model);
        plan.add(follow.step(args!["audit-ops", "model.py", "--follow-imports", "--site", site]));
    }
}
