//! `explain` for every finding, family, cause and rule.

use std::collections::BTreeSet;

use anyhow::Result;
use regex::Regex;

use super::{Inputs, OTHER_FORMATS, strings};
use crate::same::case::{Case, Plan, arg_array, args};
use crate::workspace;

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan, inputs: &Inputs<'_>) -> Result<()> {
    let findings = inputs.ask(&arg_array!["explain", "--list", "--json"])?;
    let causes = inputs.ask(&arg_array!["translate-error", "--list-codes", "causes", "--json"])?;
    let families = inputs.ask(&arg_array!["translate-error", "--list-codes", "--json"])?;
    let rules = rule_ids(inputs);
    if rules.is_empty() {
        plan.skip("rules of convert: no file `convert/*.toml` with rules in the work tree");
    }
    for (kind, ids) in [
        ("finding", strings(&findings, &["items", "findings", "id"])),
        ("family", strings(&findings, &["items", "family"])),
        ("cause", strings(&causes, &["items", "cause", "id"])),
        ("code-family", strings(&families, &["items", "family", "id"])),
        ("rule", rules),
    ] {
        if ids.is_empty() {
            plan.skip(format!("explain: the old program lists no {kind}"));
        }
        for id in &ids {
            plan.add(Case::new(format!("explain-{kind}/{id}")).step(args!["explain", id]));
        }
        for (number, batch) in ids.chunks(40).enumerate() {
            let case = |name: &str| {
                let case = Case::new(format!("explain-{kind}/batch-{number}/{name}"));
                case.step(args!["explain"]).flags(&batch.join(" "))
            };
            plan.add(case("text-zh").flags("--lang zh"));
            plan.add(case("json").flags("--json"));
            for format in OTHER_FORMATS {
                plan.add(case(format).flags("--format").flags(format));
            }
        }
    }
    for (name, flags) in [
        ("list", "--list"),
        ("list-zh", "--list --lang zh"),
        ("list-json", "--list --json"),
        ("list-markdown", "--list --format markdown"),
        ("schema", "--report-schema"),
        ("codes", "507035 EI0006 ERR00100 -8005 7 0x7110001"),
        ("codes-zh-verbose", "507035 EI0006 ERR00100 --lang zh -v"),
        ("lower-case", "scan-read cv0017"),
    ] {
        plan.add(Case::new(format!("explain/{name}")).step(args!["explain"]).flags(flags));
    }
    for (name, flags) in [("unknown", "CV9999"), ("misspelled", "DEV-ACCES"), ("nothing", "")] {
        let case = Case::new(format!("explain/{name}")).step(args!["explain"]).flags(flags);
        plan.add(case.refused());
    }
    Ok(())
}

/// Returns the IDs of the rules of `convert`, which no option lists.
pub(super) fn rule_ids(inputs: &Inputs<'_>) -> Vec<String> {
    let Ok(pattern) = Regex::new(r#"(?m)^id = "(CV\d{4})"$"#) else { return Vec::new() };
    let mut ids = BTreeSet::new();
    for path in workspace::find_files_in(&inputs.root, "data/convert", "toml") {
        let text = std::fs::read_to_string(path).unwrap_or_default();
        ids.extend(pattern.captures_iter(&text).map(|captures| captures[1].to_owned()));
    }
    ids.into_iter().collect()
}
