//! Facts that the logs show about a failure: values named in lines, and kinds of available
//! evidence. No step asks for these.

use std::collections::{BTreeMap, BTreeSet};

use data::signatures;

use super::diagnosis::{FaultLocation, FoldedConsequence, Line};
use super::rank::Candidate;
use super::scan::FileReport;
use crate::KnownFacts;

/// The values named in the lines of a cause, the most specific line first.
pub(super) fn collect_values(candidate: &Candidate<'_>) -> BTreeMap<String, String> {
    let mut values = BTreeMap::new();
    for item in &candidate.items {
        for (name, value) in &item.record.hit.captures {
            // `need` and `need2` are the same value in two wordings.
            let name = name.trim_end_matches(|c: char| c.is_ascii_digit());
            if !value.is_empty() {
                values.entry(name.to_owned()).or_insert_with(|| value.clone());
            }
        }
    }
    values
}

/// A consequence with the locations that its lines name.
pub(super) fn fold(candidate: &Candidate<'_>, first: Line) -> FoldedConsequence {
    let ranks: BTreeSet<u32> =
        candidate.items.iter().filter_map(|item| item.process.rank).collect();
    let devices: BTreeSet<u32> =
        candidate.items.iter().filter_map(|item| item.process.device).collect();
    FoldedConsequence {
        cause: candidate.cause.to_owned(),
        count: candidate.count(),
        line: first,
        ranks: ranks.into_iter().collect(),
        devices: devices.into_iter().collect(),
        values: collect_values(candidate),
    }
}

/// The kinds of evidence, by the keys of `data/errors/evidence.toml`, that were among the inputs.
pub(super) fn list_evidence_at_hand(files: &[FileReport], silent: &[u32]) -> Vec<&'static str> {
    let records = || files.iter().flat_map(|file| &file.records);
    let named = |part: &str| files.iter().any(|file| file.name.contains(part));
    let plog = records().any(|record| record.hit.text.starts_with("[ERROR]")) || named("plog");
    let traceback = || {
        records().any(|record| {
            record.hit.rule == signatures::py::ERROR || record.hit.text.contains("Error: ")
        })
    };
    let all = files.len() > 1 && silent.is_empty();
    [
        ("plog", plog),
        ("plog_all_ranks", plog && all),
        ("device_log", named("device-")),
        ("traceback", traceback()),
        ("all_ranks_stdout", all),
        ("dmesg", named("dmesg") || named("messages")),
    ]
    .into_iter()
    .filter_map(|(kind, there)| there.then_some(kind))
    .collect()
}

/// All facts that steps of a cause may use instead of asking for them.
pub(super) fn gather_facts(
    values: &BTreeMap<String, String>,
    consequences: &[FoldedConsequence],
    culprit: &FaultLocation,
    at_hand: &[&'static str],
) -> KnownFacts {
    let mut known = values.clone();
    for (name, value) in consequences.iter().flat_map(|folded| &folded.values) {
        known.entry(name.clone()).or_insert_with(|| value.clone());
    }
    if let Some(operator) = &culprit.operator {
        known.insert("op".to_owned(), operator.clone());
    }
    if let Some(pid) = culprit.pid {
        known.insert("pid".to_owned(), pid.to_string());
    }
    for kind in at_hand {
        known.entry((*kind).to_owned()).or_default();
    }
    known
}
