//! The proof of a log: the run did not fail, and the logs are complete.

use std::collections::BTreeMap;

use super::diagnosis::Diagnosis;
use super::page::{describe_problem, format_numbers};
use base::report::{Coverage, Finding, Proof, Severity};
use base::text::Text;
use data::{
    goals::{self, LinkDefinition},
    ui,
};

/// Proves that the logs contain no failure.
pub(super) fn prove(diagnosis: &Diagnosis, findings: &[Finding]) -> Proof {
    goals::prove("translate-error", "log", BTreeMap::new(), |link| {
        let coverage = match link.id.as_str() {
            // Without a line there is no evidence.
            id if id != "inputs" && diagnosis.read.bytes == 0 => {
                Some(Coverage::NotApplicable { reason: ui::LOG_NOTHING_READ.text() })
            }
            "inputs" => unread(diagnosis).map(|reason| open(reason, link)),
            "failure" => failures(diagnosis, findings, link),
            // The failure is in the logs that were read: more logs could only explain it.
            "complete" if findings.iter().any(|one| one.severity == Severity::Error) => {
                Some(Coverage::NotApplicable { reason: ui::LOG_FAILED.text() })
            }
            "complete" => incomplete(diagnosis).map(|reason| open(reason, link)),
            _ if diagnosis.causes.is_empty() => {
                Some(Coverage::NotApplicable { reason: ui::LOG_NO_CAUSE.text() })
            }
            _ => None,
        };
        (coverage.unwrap_or(Coverage::Shown), None)
    })
}

fn open(reason: Text, link: &LinkDefinition) -> Coverage {
    Coverage::NotExamined { reason, settle: link.settle.clone() }
}

/// Returns why no input could be read: then there is no result about the run.
pub fn describe_unreadable(diagnosis: &Diagnosis) -> Option<Text> {
    (diagnosis.read.bytes == 0).then(|| diagnosis.problems.first().map(describe_problem)).flatten()
}

/// Returns why an input was not read. Only if no input is readable, there is no result.
fn unread(diagnosis: &Diagnosis) -> Option<Text> {
    if let Some(problem) = diagnosis.problems.first() {
        let why = describe_problem(problem);
        if diagnosis.read.bytes > 0 {
            return Some(why);
        }
        let say = |why: &str| ui::LogNothingBecause { why }.text();
        return Some(Text::new(say(&why.en).en, say(&why.zh).zh));
    }
    (diagnosis.read.bytes == 0).then(|| ui::LOG_NOTHING_READ.text())
}

/// An error is a failure. A warning, such as an operator on the CPU, slows a run that goes on.
fn failures(
    diagnosis: &Diagnosis,
    findings: &[Finding],
    link: &LinkDefinition,
) -> Option<Coverage> {
    let failed = findings.iter().filter(|finding| finding.severity >= Severity::Error);
    let failed: Vec<String> = failed.map(|finding| finding.id.clone()).collect();
    if !failed.is_empty() {
        return Some(Coverage::Contradicted { findings: failed, reason: None });
    }
    let passed_over = diagnosis.read.passed_over;
    (passed_over > 0).then(|| open(ui::LogPassedOver { count: passed_over }.text(), link))
}

/// Returns which part of the logs is missing.
fn incomplete(diagnosis: &Diagnosis) -> Option<Text> {
    if !diagnosis.silent_ranks.is_empty() {
        let ranks = format_numbers(&diagnosis.silent_ranks);
        return Some(ui::LogRanksMissing { ranks }.text());
    }
    // Of several logs, a single launcher may write the end mark.
    (diagnosis.read.finished == 0).then(|| ui::LogNothing { lines: &diagnosis.read.lines }.text())
}
