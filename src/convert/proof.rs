//! The proof of a conversion: all uses of CUDA in the tree are accounted for.

use std::collections::BTreeMap;

use base::report::{Coverage, EvidenceKind, Finding, Proof, Report, Severity};
use base::text::Text;
use data::{
    goals::{self, LinkDefinition},
    ui,
};
use treeedit::walk::WalkResult;

use super::ledger::blocker::Blocker;
use super::outcome;
use super::plan::Plan;
use super::report::counts;
use super::rules::Rules;

/// Proves that no use of CUDA in the tree is left unexamined.
pub(super) fn prove(report: &Report, found: &WalkResult, plan: &Plan) -> Proof {
    let counts = counts(plan);
    let changes = match counts.changes {
        0 => ui::CONVERT_NO_CHANGES.text(),
        changes => ui::ConvertChangesMade { changes, files: counts.changed_files }.text(),
    };
    let files = Text::same(plan.read.to_string());
    let values = BTreeMap::from([("n", files), ("changes", changes)]);
    goals::prove("convert", "tree", values, |link| {
        let nothing = || Coverage::NotApplicable { reason: ui::CONVERT_NO_FILES.text() };
        let coverage = match link.id.as_str() {
            // An empty tree proves nothing.
            id if id != "files" && found.files.is_empty() => Some(nothing()),
            "files" => contradicted(report, link).or_else(|| unread(report, found, link)),
            "changes" => contradicted(report, link).or_else(|| left_out(plan, link)),
            "manual" => manual(report),
            "mentions" => unexplained(report, link),
            _ => None,
        };
        (coverage.unwrap_or(Coverage::Shown), None)
    })
}

/// Returns the errors of a link.
fn contradicted(report: &Report, link: &LinkDefinition) -> Option<Coverage> {
    let belongs = |id: &str| link.checks.iter().any(|own| own == id);
    let errors = goals::contradictions(&report.findings, &belongs);
    (!errors.is_empty()).then_some(Coverage::Contradicted { findings: errors, reason: None })
}

/// Changes that the user excluded may be necessary.
fn left_out(plan: &Plan, link: &LinkDefinition) -> Option<Coverage> {
    let n = outcome::left_out(plan);
    let reason = ui::ConvertDeselected { n }.text();
    (n > 0).then(|| Coverage::NotExamined { reason, settle: link.settle.clone() })
}

/// Skipped files, or an empty tree, prove nothing.
fn unread(report: &Report, found: &WalkResult, link: &LinkDefinition) -> Option<Coverage> {
    let open = |reason| Coverage::NotExamined { reason, settle: link.settle.clone() };
    if found.files.is_empty() {
        return Some(open(ui::CONVERT_NO_FILES.text()));
    }
    let is_skip = |finding: &&Finding| {
        finding.severity == Severity::Warning && link.checks.contains(&finding.id)
    };
    report.findings.iter().find(is_skip).map(|finding| open(finding.title.clone()))
}

/// A use of CUDA that no rule explains may break on an NPU.
fn unexplained(report: &Report, link: &LinkDefinition) -> Option<Coverage> {
    let found = report.findings.iter().find(|finding| link.checks.contains(&finding.id))?;
    Some(Coverage::NotExamined { reason: found.title.clone(), settle: link.settle.clone() })
}

/// Whether the manual work of a rule prevents the start, training or inference.
fn blocks(finding: &Finding) -> bool {
    Rules::builtin().by_id(&finding.id).is_none_or(|rule| Blocker::of(rule).prevents())
}

/// Manual work that prevents the start, training or inference. Rules have separate IDs, which do
/// not occur in any family.
fn manual(report: &Report) -> Option<Coverage> {
    let is_place = |finding: &&Finding| {
        finding.message == "flagged"
            && blocks(finding)
            && finding.severity >= Severity::Warning
            && finding.evidence.iter().any(|place| place.kind == EvidenceKind::File)
    };
    let ids: Vec<String> =
        report.findings.iter().filter(is_place).map(|finding| finding.id.clone()).collect();
    (!ids.is_empty()).then_some(Coverage::Contradicted { findings: ids, reason: None })
}
