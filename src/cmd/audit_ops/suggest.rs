//! `--suggest`: fused operators that the release and the chip have, with the change of the source.

use std::collections::BTreeMap;

use serde_json::json;

use super::Audited;
use crate::audit::judge::Against;
use crate::audit::python::facts::Suggestion;
use crate::data::Catalog;
use crate::ops::table_text;
use crate::report::{Evidence, Found, Report, Table};
use crate::text::{Text, words};

/// Places of one pattern that a finding shows.
const MOST_PLACES: usize = 8;

/// Adds what could be fused to a report.
pub(super) fn suggest(report: &mut Report, read: &[Audited], against: Against<'_>) {
    let mut by_rule: BTreeMap<&'static str, Vec<(&Suggestion, &str)>> = BTreeMap::new();
    for (suggestion, path) in read.iter().flat_map(|input| &input.model.suggestions) {
        by_rule.entry(suggestion.rule).or_default().push((suggestion, path));
    }
    let mut rows = Vec::new();
    let mut all = Vec::new();
    for (rule, places) in by_rule {
        let Some(operator) = operator(rule, against) else { continue };
        let mut found = Found::info("OPS-FUSE", rule)
            .arg("op", operator)
            .arg("count", places.len().to_string());
        for (suggestion, path) in places.iter().take(MOST_PLACES) {
            found = found.evidence(Evidence::file(*path).line(suggestion.line));
        }
        report.findings.push(Catalog::builtin().resolve(found));
        for (suggestion, path) in places {
            let place = format!("{path}:{}", suggestion.line);
            all.push(json!({
                "pattern": rule, "operator": operator, "place": place,
                "before": suggestion.before, "after": suggestion.after,
            }));
            if let Some(after) = &suggestion.after {
                let cells = [&place, &suggestion.before, after];
                rows.push(cells.map(|cell| Text::same(cell.clone())).to_vec());
            }
        }
    }
    if !rows.is_empty() {
        report.tables.push(Table {
            title: words("ops_table_changes"),
            head: ["ops_head_place", "ops_head_before", "ops_head_after"].map(words).to_vec(),
            rows,
        });
    }
    report.extra.insert("suggestions".to_owned(), json!(all));
}

/// The operator that computes a pattern, where the release has it and its document the chip.
fn operator(rule: &str, against: Against<'_>) -> Option<&'static str> {
    let text = table_text("fusions");
    let row = text.lines().filter(|line| !line.starts_with('#')).find_map(|line| {
        let cells: Vec<&'static str> = line.split('\t').collect();
        (cells.first() == Some(&rule)).then_some(cells)
    })?;
    let (operator, chips) = (*row.get(1)?, *row.get(2)?);
    if let Some(chip) = against.chip
        && chips != "-"
        && !chips.split(' ').any(|one| one == chip.as_str())
    {
        return None;
    }
    let column = against.target.column;
    let there = match operator.split_once("::")? {
        ("npu", name) => {
            let names = against.tables.custom_overloads(name);
            names.iter().any(|name| {
                against.tables.custom(name).is_some_and(|runs| runs.at(column).is_some())
            })
        }
        (_, name) => against.tables.kernel(name).is_some_and(|runs| runs.at(column).is_some()),
    };
    there.then_some(operator)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::checks::chip::ChipFamily;
    use crate::ops::dispatch::Shipped;
    use crate::ops::{Tables, Target};

    #[test]
    fn only_what_release_and_chip_have_is_suggested() {
        let tables = Tables::get();
        let of = |rule, version: &str, chip| {
            let target = Target::find(tables, version).unwrap();
            let shipped = Shipped { tables, target: &target };
            let registered = &shipped;
            let against =
                Against { registered, tables, target: &target, chip, cann: None, dtype: None };
            operator(rule, against)
        };
        assert_eq!(of("rms_norm", "2.9.0", None), Some("npu::npu_rms_norm"));
        assert_eq!(of("swiglu", "2.9.0", Some(ChipFamily::A310P)), None);
        assert_eq!(of("swiglu", "2.9.0", Some(ChipFamily::A910B)), Some("npu::npu_swiglu"));
        assert_eq!(of("swiglu", "2.1.0-5.0.0", None), None);
        assert_eq!(of("no_such", "2.9.0", None), None);
    }
}
