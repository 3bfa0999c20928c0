//! Relations between versions, evaluated by the checks of `check`.

use std::collections::BTreeSet;

use base::report::{CheckState, Finding, Severity};
use base::text::Text;
use checks::verdict::{CheckRequest, run_checks};
use checks::{Check, Profile};
use data::{Matrix, ui};
use facts::Facts;
use serde::Serialize;

/// Checks that need only versions, chip and variables. All others need files, devices or users of a
/// machine, of which a text shows only a part.
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

/// The state of a relation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RelationState {
    /// It holds according to a table.
    Fits,
    /// It does not hold according to a table.
    Conflict,
    /// It is stated and no table decides it.
    Undecided,
    /// At least one of its inputs is not stated.
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
    /// Its state.
    pub state: RelationState,
    /// The reason, if it is not decided.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<Text>,
}

/// Runs the checks that need only stated facts.
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
    // A check with unstated inputs would treat their absence as a fact.
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
            // A different development build gives an info, because it may work.
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
    // Unstated variables may be set, so a text cannot show that there are none.
    let is_shown =
        |one: &Relation| one.check != "ENV-DEBUG" || one.state == RelationState::Conflict;
    let relations = relations.filter(is_shown).collect();
    (relations, findings)
}

/// The IDs of a contradiction and of its consequences.
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

/// The inputs of a check: packages by the names of pip, `driver`, `cann`, `chip`, or the name of a
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

/// Further inputs of a check, if they are stated: the relation holds only with all of them.
fn parts_missing(check: &str, facts: &Facts) -> Vec<&'static str> {
    let parts: &[&str] = match check {
        "VLLM-STACK" => &["torch-npu", "cann", "python", "triton-ascend"],
        _ => &[],
    };
    parts.iter().copied().filter(|part| !is_stated(part, facts)).collect()
}

/// Returns whether a finding depends on a package not being installed, which a text cannot show.
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

/// The inputs of a check that no text states.
fn missing_of(check: &str, facts: &Facts) -> Vec<&'static str> {
    inputs_of(check).iter().copied().filter(|input| !is_stated(input, facts)).collect()
}

/// Returns whether the subject of a relation is stated, so that it is worth a line.
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
