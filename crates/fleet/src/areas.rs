//! The areas of the checks, which are the families of findings: their states on each host, and the
//! matrix of all hosts.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use serde::Serialize;

use super::fleet_reports::{Fleet, Host};
use super::hostlist::format_ranges;
use super::members::{Area, Matrix, MatrixRow};
use super::report::State;
use base::report::{CheckState, Severity};
use base::text::Text;
use data::{Catalog, ui};

/// Maximum number of rows. Hosts with equal results share one.
const MAX_ROWS: usize = 500;

/// The state of the checks of an area. If there are several, the greatest counts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum AreaState {
    /// No check of the area applies to the host, or none was selected.
    NotApplicable,
    /// All checks that apply ran and found nothing.
    Pass,
    /// A check could not run, or the host did not report.
    Unknown,
    /// A warning.
    Warn,
    /// An error.
    Fail,
}

/// The states of all areas, in the order of the catalog.
pub(super) type AreaStates = Vec<AreaState>;

/// The area of each known ID. Other IDs share the last area.
static AREAS: LazyLock<BTreeMap<&'static str, usize>> = LazyLock::new(|| {
    let families = Catalog::builtin().families().enumerate();
    families.flat_map(|(at, family)| family.entries.iter().map(move |one| (&*one.id, at))).collect()
});

/// The number of areas, with that of unknown IDs.
static COUNT: LazyLock<usize> = LazyLock::new(|| Catalog::builtin().families().count() + 1);

/// Derives the states of the areas of a report from its checks and its findings, including the
/// consequences.
pub(super) fn judge<'a>(
    checks: impl Iterator<Item = (&'a str, CheckState)>,
    findings: impl Iterator<Item = (&'a str, Severity)>,
) -> AreaStates {
    let mut areas = vec![AreaState::NotApplicable; *COUNT];
    let mut add = |id: &str, state: AreaState| {
        let area = AREAS.get(id).copied().unwrap_or(*COUNT - 1);
        areas[area] = areas[area].max(state);
    };
    let mut found = BTreeSet::new();
    for (id, severity) in findings {
        found.insert(id);
        add(
            id,
            match severity {
                Severity::Error => AreaState::Fail,
                Severity::Warning => AreaState::Warn,
                Severity::Info => AreaState::Pass,
            },
        );
    }
    for (id, state) in checks {
        add(
            id,
            match state {
                CheckState::NotApplicable => AreaState::NotApplicable,
                CheckState::NotChecked => AreaState::Unknown,
                // If the report does not contain the finding of a check, the severity is unknown.
                CheckState::Found | CheckState::Folded if !found.contains(id) => AreaState::Unknown,
                CheckState::Passed | CheckState::Found | CheckState::Folded => AreaState::Pass,
            },
        );
    }
    areas
}

/// The results of all hosts. Hosts without a readable report are unknown.
pub(super) fn matrix(fleet: &Fleet, missing: &[&str]) -> Matrix {
    let mut rows: BTreeMap<(AreaState, AreaStates), Vec<&str>> = BTreeMap::new();
    for (name, host) in &fleet.hosts {
        rows.entry((result(State::of(fleet, host)), combine(host))).or_default().push(name);
    }
    let used: Vec<usize> = (0..*COUNT)
        .filter(|&at| rows.keys().any(|(_, areas)| areas[at] != AreaState::NotApplicable))
        .collect();
    let unread = fleet.unread.iter().map(|input| input.source.as_str());
    let silent: BTreeSet<&str> = missing
        .iter()
        .copied()
        .chain(unread)
        .filter(|name| !fleet.hosts.contains_key(*name))
        .collect();
    if !silent.is_empty() {
        let unknown = (AreaState::Unknown, vec![AreaState::Unknown; *COUNT]);
        rows.entry(unknown).or_default().extend(silent);
    }
    let titles: Vec<(&str, Text)> = Catalog::builtin()
        .families()
        .map(|family| (family.family.as_str(), family.title.clone()))
        .chain([("other", ui::FLEET_OTHER_AREA.text())])
        .collect();
    let mut rows: Vec<((AreaState, AreaStates), Vec<&str>)> = rows.into_iter().rev().collect();
    let more = rows.split_off(rows.len().min(MAX_ROWS));
    let row = |((result, areas), mut hosts): ((AreaState, AreaStates), Vec<&str>)| {
        hosts.sort_unstable();
        MatrixRow {
            count: hosts.len(),
            hosts: format_ranges(hosts.iter().copied()),
            result,
            cells: used.iter().map(|&at| areas[at]).collect(),
        }
    };
    Matrix {
        areas: used
            .iter()
            .map(|&at| Area { id: titles[at].0, title: titles[at].1.clone() })
            .collect(),
        rows: rows.into_iter().map(row).collect(),
        more_hosts: more.iter().map(|(_, hosts)| hosts.len()).sum(),
    }
}

/// Combines the areas of a host over all its reports.
fn combine(host: &Host) -> AreaStates {
    let mut areas = vec![AreaState::NotApplicable; *COUNT];
    for said in host.all() {
        for (area, state) in areas.iter_mut().zip(said.areas.iter()) {
            *area = (*area).max(*state);
        }
    }
    areas
}

const fn result(state: State) -> AreaState {
    match state {
        State::Errors => AreaState::Fail,
        State::Warnings => AreaState::Warn,
        State::Inconclusive => AreaState::Unknown,
        State::Clean => AreaState::Pass,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(states: &AreaStates, id: &str) -> AreaState {
        states[AREAS[id]]
    }

    #[test]
    fn an_area_passes_only_if_all_its_checks_ran() {
        let checks = [
            ("DEV-PCI", CheckState::Passed),
            ("DEV-COUNT", CheckState::NotApplicable),
            ("DRV-CANN", CheckState::Passed),
            ("DRV-NPUSMI", CheckState::NotChecked),
            ("CANN-ENV", CheckState::Found),
            ("TNPU-SYMBOLS", CheckState::Folded),
            ("TORCH-CUDA", CheckState::Folded),
        ];
        let findings = [
            ("CANN-ENV", Severity::Error),
            ("TNPU-SYMBOLS", Severity::Warning),
            ("X-9", Severity::Error),
        ];
        let states = judge(checks.into_iter(), findings.into_iter());
        assert_eq!(area(&states, "DEV-PCI"), AreaState::Pass);
        assert_eq!(area(&states, "DRV-CANN"), AreaState::Unknown);
        assert_eq!(area(&states, "CANN-ENV"), AreaState::Fail);
        assert_eq!(area(&states, "TNPU-SYMBOLS"), AreaState::Warn);
        assert_eq!(
            area(&states, "TORCH-CUDA"),
            AreaState::Unknown,
            "its finding is not in the report"
        );
        assert_eq!(area(&states, "NET-HCCN"), AreaState::NotApplicable);
        assert_eq!(states.last(), Some(&AreaState::Fail), "unknown IDs share an area");
    }
}
