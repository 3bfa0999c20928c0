//! `translate-error` for logs: those of the repository, those of `--shared`, and one from the
//! examples of all signatures.

use std::path::Path;

use anyhow::{Context as _, Result};

use super::{Inputs, OTHER_FORMATS, entries, file_name, rotate, strings};
use crate::same::case::{Case, Plan, args};
use crate::workspace;

/// Variants for every log.
const VARIANTS: [(&str, &str); 2] =
    [("json", "--json"), ("all-zh", "--all --why-not -v --lang zh")];

/// Variants for every fourth log.
const ROTATED: [(&str, &str); 4] = [
    ("text-en", "--lang en"),
    ("text-zh", "--lang zh"),
    ("all-en", "--all --why-not -v"),
    ("explain", "--explain"),
];

/// Variants for some logs.
const MORE: [(&str, &str); 7] = [
    ("redact", "--anonymize"),
    ("top", "--top 1"),
    ("rank", "--rank 0"),
    ("device", "--device 0"),
    ("since", "--since 2026-01-01"),
    ("until", "--until 2026-01-01"),
    ("fail-on-never", "--fail-on never -q"),
];

/// One of this number of examples is read as a separate log.
const ALONE: usize = 8;

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let healthy = workspace::find_files_in(&inputs.root, "fixtures/logs/healthy", "log");
    if healthy.is_empty() {
        plan.skip("logs of the repository: no file `fixtures/logs/healthy/*.log`");
    }
    for path in &healthy {
        add_log(plan, "healthy", path, 0);
    }
    add_signatures(plan, inputs)?;
    for (dir, extension) in [("logs", "txt"), ("logs/more", "txt"), ("triage/dev", "md")] {
        let Some(path) = inputs.shared(plan, dir, &format!("logs of {dir}")) else { continue };
        let group = dir.replace('/', "-");
        let mut number = 0;
        for entry in entries(&path)? {
            let is_log = entry.extension().is_some_and(|found| found == extension);
            if is_log || (entry.is_dir() && file_name(&entry) != "more") {
                add_log(plan, &group, &entry, number);
                number += 1;
            }
        }
        let case = Case::new(format!("log/{group}/as-directory"));
        plan.add(case.step(args!["translate-error", "--as", "file", path.display(), "--json"]));
    }
    Ok(())
}

/// Adds a log; `number` selects the variants in addition to those of all logs.
fn add_log(plan: &mut Plan, group: &str, path: &Path, number: usize) {
    let name = file_name(path);
    let case = |variant: &str| {
        Case::new(format!("log/{group}/{name}/{variant}")).step(args![
            "translate-error",
            "--as",
            "file",
            path.display()
        ])
    };
    for (variant, flags) in VARIANTS.into_iter().chain(rotate(&ROTATED, number, 4)) {
        plan.add(case(variant).flags(flags));
    }
    if !number.is_multiple_of(10) {
        return;
    }
    for (variant, flags) in MORE {
        plan.add(case(variant).flags(flags));
    }
    for format in OTHER_FORMATS {
        plan.add(case(format).flags("--format").flags(format));
    }
    if let Ok(text) = std::fs::read(path) {
        let stdin = |variant: &str, flags: &str| {
            let case = Case::new(format!("log/{group}/{name}/{variant}"));
            case.step(args!["translate-error"]).flags(flags).stdin(text.clone())
        };
        plan.add(stdin("stdin", "-"));
        plan.add(stdin("follow", "--follow -"));
        plan.add(stdin("follow-zh", "--follow - --lang zh"));
        let baseline = case("baseline").flags("--good-log").flags(&path.display().to_string());
        plan.add(baseline);
    }
}

/// Adds one log per signature file, with all its examples and counterexamples.
fn add_signatures(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let files = workspace::find_files_in(&inputs.root, "errors/signatures", "toml");
    if files.is_empty() {
        plan.skip("signatures of logs: no file `errors/signatures/*.toml` in the work tree");
    }
    for path in files {
        let text = std::fs::read_to_string(&path)?;
        let table: toml::Value =
            toml::from_str(&text).with_context(|| format!("cannot read `{}`", path.display()))?;
        let value = serde_json::to_value(table)?;
        let name = file_name(&path);
        for (kind, key) in [("examples", "example"), ("counters", "counter")] {
            let lines = strings(&value, &["signature", key]);
            let case = |variant: &str| {
                let case = Case::new(format!("signature/{name}/{kind}-{variant}"));
                case.step(args!["translate-error"]).stdin(lines.join("\n") + "\n")
            };
            plan.add(case("json").flags("--json --all -"));
            plan.add(case("text").flags("--all --why-not -v -"));
        }
        for (index, line) in strings(&value, &["signature", "example"]).iter().enumerate() {
            if index % ALONE != 0 {
                continue;
            }
            let case = Case::new(format!("signature/{name}/example-{index:03}"));
            plan.add(case.step(args!["translate-error", "-"]).stdin(format!("{line}\n")));
        }
    }
    Ok(())
}
