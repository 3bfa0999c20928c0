//! Evidence settles open points: after supplying the evidence that a report names as missing, the
//! result is a verdict.

use std::collections::BTreeMap;

use serde::Deserialize;

use super::row::Row;
use super::table::tables;
use crate::support::machine::Spec;

/// An inconclusive row, and the evidence that settles it.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Case {
    /// The row of the tables.
    row: String,
    /// The required link that is not examined.
    link: String,
    /// Further arguments.
    #[serde(default)]
    args: Vec<String>,
    /// Further files.
    #[serde(default)]
    files: BTreeMap<String, String>,
    /// Whether closed paths are opened.
    #[serde(default)]
    open: bool,
    /// Other libraries.
    #[serde(default)]
    libraries: Option<String>,
    /// Variables.
    #[serde(default)]
    env: BTreeMap<String, String>,
    /// The environment of this machine, in `env.txt`.
    #[serde(default)]
    environment: Option<Spec>,
    /// The damaged file of the row to omit.
    #[serde(default)]
    repaired: Option<String>,
    /// The verdict with it.
    verdict: String,
}

#[derive(Deserialize)]
struct Cases {
    case: Vec<Case>,
}

impl Case {
    fn supply(&self, row: &mut Row) {
        row.args.extend(self.args.iter().cloned());
        row.files.extend(self.files.clone());
        row.env.extend(self.env.clone());
        if self.open {
            row.closed.clear();
        }
        if let Some(libraries) = &self.libraries {
            row.libraries = Some(libraries.clone());
        }
        if let Some(spec) = &self.environment {
            let env = spec.build().env.unwrap();
            let lines = env.iter().map(|(name, value)| format!("{name}={value}\n"));
            row.files.insert("env.txt".to_owned(), lines.collect());
            row.args.extend(["--env-file".to_owned(), "env.txt".to_owned()]);
        }
        if let Some(name) = &self.repaired {
            row.bytes.remove(name);
            row.files.remove(name);
        }
    }
}

#[test]
fn named_evidence_settles_the_answer() {
    let cases: Cases = toml::from_str(include_str!("settle.toml")).unwrap();
    assert!(cases.case.len() >= 20, "{}", cases.case.len());
    let mut wrong = Vec::new();
    for (number, case) in cases.case.iter().enumerate() {
        let mut tables = tables();
        let found = tables.iter_mut().find_map(|table| {
            let row = table.row.iter_mut().find(|row| row.name == case.row)?;
            Some((&table.command, row))
        });
        let (command, row) = found.unwrap_or_else(|| panic!("no row {}", case.row));
        row.name = format!("{}-{number}", case.row);
        let before = row.run(command);
        let open = before.required("not_examined");
        if before.verdict() != Some("inconclusive") || !open.contains(&case.link.as_str()) {
            wrong.push(format!("{} before: {:?}, {open:?}", case.row, before.verdict()));
        }
        for link in before.report["coverage"].as_array().into_iter().flatten() {
            if link["state"] == "not_examined" && link["settle"]["en"] == "" {
                wrong.push(format!("{}: nothing settles {}", case.row, link["id"]));
            }
        }
        row.name.push_str("-settled");
        case.supply(row);
        let after = row.run(command);
        if after.verdict() != Some(&case.verdict) {
            wrong.push(format!(
                "{} after: {:?}: {} ({:?})",
                case.row,
                after.verdict(),
                after.says(),
                after.required("not_examined")
            ));
        }
    }
    assert!(wrong.is_empty(), "{} of {}:\n{}", wrong.len(), cases.case.len(), wrong.join("\n"));
}
