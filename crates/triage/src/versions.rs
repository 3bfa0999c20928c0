//! Relations between versions, judged by the checks of `check`.

use std::collections::BTreeSet;

use base::report::{CheckState, Finding, Severity};
use base::text::Text;
use checks::verdict::{CheckRequest, run_checks};
use checks::{Check, Profile};
use data::{Matrix, ui};
use facts::Facts;
use serde::Serialize;

/// Checks that look at versions, chip and variables alone. All others look at files, devices or
/// users of a machine, of which a text shows only a part.
pub(crate) const JUDGED: [&str; 11] = [
    "TORCH-VERSION",
    "TNPU-MATRIX",
    "DRV-CANN",
    "DRV-FIRMWARE",
    "VLLM-PAIR",
    "VLLM-STACK",
    "MS-CANN",
    "PY-NUMPY",
    "TRITON-CHIP",
    "ENV-ALLOC",
    "ENV-DEBUG",
];

/// What is known of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RelationState {
    /// A table says that it holds.
    Fits,
    /// A table says that it does not hold.
    Conflict,
    /// It is stated and no table decides it.
    Undecided,
    /// Not everything that it needs is stated.
    NotStated,
}

impl RelationState {
    /// Its name.
    pub const fn label(self) -> ui::Label {
        match self {
            Self::Fits => ui::TRIAGE_FITS,
            Self::Conflict => ui::TRIAGE_CONFLICT,
            Self::Undecided => ui::TRIAGE_UNDECIDED,
            Self::NotStated => ui::TRIAGE_NOT_STATED,
        }
    }
}

/// A relation between stated facts.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Relation {
    /// The ID of the check.
    pub check: &'static str,
    /// The healthy state in a few words.
    pub name: Text,
    /// What is known of it.
    pub state: RelationState,
    /// Why it is not decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

/// Runs the checks that need nothing but stated facts.
pub fn judge(facts: &Facts) -> (Vec<Relation>, Vec<Finding>) {
    let is_judged = |check: &&Check| JUDGED.contains(&check.id.as_str());
    let selected: Vec<&Check> = checks::all().filter(is_judged).collect();
    let only: Vec<String> = JUDGED.iter().map(|&id| id.to_owned()).collect();
    let request = CheckRequest {
        matrix: Matrix::builtin(),
        profile: Profile::General,
        require_npu: false,
        data_age: None,
        selected: &selected,
        only: &only,
        site: None,
        skip_reason: &|_| None,
    };
    // A check whose inputs are not stated would take their absence for a fact.
    let report = run_checks(facts, &request);
    let is_complete = |id: &str| missing_of(id, facts).is_empty();
    let findings: Vec<Finding> = report
        .findings
        .into_iter()
        .filter(|finding| is_complete(&finding.id) && !rests_on_absence(finding))
        .collect();
    let found: BTreeSet<&str> = findings.iter().flat_map(ids).collect();
    let relations = report.results.iter().filter(|result| is_concerned(result.id, facts));
    let relations = relations.map(|result| {
        let missing = missing_of(result.id, facts);
        let (state, reason) = match result.state {
            _ if !missing.is_empty() => {
                let names = missing.join(", ");
                (RelationState::NotStated, Some(ui::TriageNeeds { names }.text()))
            }
            _ if found.contains(result.id) => {
                (RelationState::Conflict, title_of(result.id, &findings))
            }
            // A development build that differs gives an info: it may work.
            _ if let Some(info) = findings.iter().find(|one| one.id == result.id) => {
                (RelationState::Undecided, Some(info.title.clone()))
            }
            _ if !parts_missing(result.id, facts).is_empty() => {
                let names = parts_missing(result.id, facts).join(", ");
                (RelationState::NotStated, Some(ui::TriageNeeds { names }.text()))
            }
            CheckState::Passed => (RelationState::Fits, None),
            CheckState::NotApplicable => (RelationState::NotStated, result.reason.clone()),
            CheckState::Found | CheckState::Folded | CheckState::NotChecked => {
                (RelationState::Undecided, result.reason.clone())
            }
        };
        Relation { check: result.id, name: result.name.clone(), state, reason }
    });
    // Variables that are not stated may be set: of those, no text shows that there are none.
    let is_shown =
        |one: &Relation| one.check != "ENV-DEBUG" || one.state == RelationState::Conflict;
    let relations = relations.filter(is_shown).collect();
    (relations, findings)
}

/// The IDs of a finding that contradicts something, and of its consequences.
fn ids(finding: &Finding) -> Vec<&str> {
    let own = (finding.severity > Severity::Info).then_some(finding.id.as_str());
    own.into_iter().chain(finding.consequences.iter().flat_map(ids)).collect()
}

/// The title of a finding, which may be a consequence of another.
fn title_of(id: &str, findings: &[Finding]) -> Option<Text> {
    findings.iter().find_map(|finding| {
        let own = (finding.id == id).then(|| finding.title.clone());
        own.or_else(|| title_of(id, &finding.consequences))
    })
}

/// What a check compares: packages by the names of pip, `driver`, `cann`, `chip`, or the name of a
/// variable.
fn inputs_of(check: &str) -> &'static [&'static str] {
    match check {
        "TORCH-VERSION" => &["torch-npu", "torch"],
        "TNPU-MATRIX" => &["torch-npu", "cann"],
        "DRV-CANN" => &["driver", "cann"],
        "DRV-FIRMWARE" => &["firmware", "driver"],
        "VLLM-PAIR" => &["vllm-ascend", "vllm"],
        "VLLM-STACK" => &["vllm-ascend"],
        "MS-CANN" => &["mindspore", "cann"],
        "PY-NUMPY" => &["numpy", "cann"],
        "TRITON-CHIP" => &["triton-ascend", "chip"],
        "ENV-ALLOC" => &["PYTORCH_NPU_ALLOC_CONF"],
        _ => &["env"],
    }
}

/// What else a check compares, if it is stated: only with all of it does the relation hold.
fn parts_missing(check: &str, facts: &Facts) -> Vec<&'static str> {
    let parts: &[&str] = match check {
        "VLLM-STACK" => &["torch-npu", "cann", "python", "triton-ascend"],
        _ => &[],
    };
    parts.iter().copied().filter(|part| !is_stated(part, facts)).collect()
}

/// Whether a finding says that a package is not installed. Of a text, that is not known.
fn rests_on_absence(finding: &Finding) -> bool {
    [("VLLM-STACK", "no_triton")].contains(&(finding.id.as_str(), finding.message.as_str()))
}

fn is_stated(input: &str, facts: &Facts) -> bool {
    match input {
        "driver" => facts.driver.version.is_some(),
        "firmware" => facts.driver.firmware.is_some(),
        "cann" => !facts.cann.installs.is_empty(),
        "chip" => checks::chip::chip(facts).is_some(),
        "python" => facts.python.interpreter.is_some(),
        "env" => !facts.env.vars.is_empty(),
        name => facts.python.dist(name).is_some() || facts.env.vars.contains_key(name),
    }
}

/// What of the inputs of a check no text states.
fn missing_of(check: &str, facts: &Facts) -> Vec<&'static str> {
    inputs_of(check).iter().copied().filter(|input| !is_stated(input, facts)).collect()
}

/// Whether a relation is worth a line: what it is about is stated.
fn is_concerned(check: &str, facts: &Facts) -> bool {
    let first = inputs_of(check).first();
    first.is_some_and(|first| is_stated(first, facts))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{facts_of, merge};

    fn state(text: &str, check: &str) -> Option<RelationState> {
        let facts = facts_of(&merge(vec![("-".to_owned(), pasted::read(text))]));
        let (relations, _) = judge(&facts);
        relations.iter().find(|relation| relation.check == check).map(|relation| relation.state)
    }

    #[test]
    fn stated_versions_are_judged_and_others_are_not() {
        let pip = "torch                  2.7.1\ntorch-npu              2.7.1\n";
        assert_eq!(state(pip, "TORCH-VERSION"), Some(RelationState::Fits));
        assert_eq!(state(pip, "TNPU-MATRIX"), Some(RelationState::NotStated));
        assert_eq!(state(pip, "VLLM-PAIR"), None);
        let old = format!("{pip}CANN version: 7.0.0\n");
        assert_eq!(state(&old, "TNPU-MATRIX"), Some(RelationState::Conflict));
        let other = "torch                  2.6.0\ntorch-npu              2.7.1\n";
        assert_eq!(state(other, "TORCH-VERSION"), Some(RelationState::Conflict));
        let future = "torch                  9.9.0\ntorch-npu              9.9.0\n";
        assert_ne!(state(future, "TORCH-VERSION"), Some(RelationState::Fits));
    }

    #[test]
    fn judged_checks_exist() {
        for id in JUDGED {
            assert!(checks::all().any(|check| check.id.as_str() == id), "{id}");
        }
    }
}
