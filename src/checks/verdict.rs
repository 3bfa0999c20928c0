//! Runs checks over facts and turns their outcomes into a report.
//!
//! Input: facts, the checks that were requested, and reasons to skip some. Output: the report of
//! `check` without the options of its output. A report without findings is clean only if no
//! unreadable file could hold one.

use base::report::{CheckState, Outcome, Reason, Report, RuleResult, fold_consequences};
use base::text::Text;
use data::{Catalog, Matrix};
use facts::{Facts, Problem, ProblemKind};

use super::{Check, Profile};

/// Which checks run, and what they compare with.
#[derive(Clone, Copy)]
pub struct CheckRequest<'a> {
    /// The compatible versions.
    pub matrix: &'a Matrix,
    /// The use of the machine.
    pub profile: Profile,
    /// Whether a missing NPU or stack is an error.
    pub require_npu: bool,
    /// Age of the tables in days.
    pub data_age: Option<u64>,
    /// The checks that run.
    pub selected: &'a [&'static Check],
    /// The names for which the user wants an answer.
    pub only: &'a [String],
    /// The reason for which a check is skipped, by its id.
    pub skip_reason: &'a dyn Fn(&str) -> Option<Text>,
}

/// Runs all checks over the facts, as `check` without options does.
pub fn run_all_checks(
    facts: &Facts,
    data_age: Option<u64>,
    skip_reason: &dyn Fn(&str) -> Option<Text>,
) -> Report {
    let selected: Vec<&Check> = super::all().collect();
    let request = CheckRequest {
        matrix: Matrix::builtin(),
        profile: Profile::General,
        require_npu: false,
        data_age,
        selected: &selected,
        only: &[],
        skip_reason,
    };
    run_checks(facts, &request)
}

/// Runs the selected checks over the facts and collects their results in a report.
pub fn run_checks(facts: &Facts, request: &CheckRequest<'_>) -> Report {
    let CheckRequest { matrix, profile, require_npu, data_age, selected, only, skip_reason } =
        *request;
    let catalog = Catalog::builtin();
    let context = super::Context { facts, matrix, profile, require_npu, data_age };
    let subject = facts.host.name.clone().unwrap_or_else(|| facts.source.clone());
    let mut report = Report::new("check", subject);
    report.provenance.push(("matrix".to_owned(), matrix.describe()));
    report.overview = super::overview::overview(facts);
    report.extra = super::overview::extra(facts);
    report.notes.extend(super::overview::nothing_here(&context));
    let interpreter = facts.python.command();
    // Skipped checks need no verdict.
    let run: Vec<_> =
        selected.iter().copied().filter(|check| skip_reason(check.id).is_none()).collect();
    let mut outcomes = super::masked::run_unmasked(&context, &run);
    for check in selected {
        let Some(mut outcome) = outcomes.by_id.remove(check.id) else {
            let name = catalog.entry(check.id).map(|entry| entry.name.clone());
            report.results.push(RuleResult {
                id: check.id,
                name: name.unwrap_or_default(),
                verdict: CheckState::NotChecked,
                reason: skip_reason(check.id),
            });
            continue;
        };
        // Every fix may name the interpreter: a bare `pip` can belong to another one.
        if let Outcome::Found(found) = &mut outcome {
            let named = std::mem::take(found).into_iter();
            found.extend(named.map(|found| found.arg_or("interpreter", interpreter)));
        }
        catalog.record(check.id, outcome, &mut report);
    }
    for reason in list_unanswered(only, &report.results) {
        if !report.no_verdict.contains(&reason) {
            report.no_verdict.push(reason);
        }
    }
    // An unreadable file could hold any fault, so a run without other errors is not "clean".
    let concerned = |problem: &&Problem| {
        problem.kind == ProblemKind::Denied
            && selected.iter().any(|check| check.family.may_read(&problem.path))
    };
    // Places, not paths: one unreadable directory is reported once, also if a check without a
    // verdict names the same reason.
    let denied = facts.problems.iter().filter(concerned).map(Problem::place);
    for place in denied.chain(outcomes.masking.iter().map(String::as_str)) {
        let text = Catalog::builtin().reason(&Reason { key: "unreadable", what: place.to_owned() });
        if !report.no_verdict.contains(&text) {
            report.no_verdict.push(text);
        }
    }
    report.findings = fold_consequences(std::mem::take(&mut report.findings));
    for result in &mut report.results {
        let on_top = report.findings.iter().any(|finding| finding.id == result.id);
        if result.verdict == CheckState::Found && !on_top {
            result.verdict = CheckState::Folded;
        }
    }
    report
}

/// Returns the reasons why names of `--only` have no answer. A named check needs its own verdict.
/// A named family needs one verdict of any of its checks, because some can rarely run.
fn list_unanswered(only: &[String], results: &[RuleResult]) -> Vec<Text> {
    let mut reasons = Vec::new();
    for name in only {
        let is_named = |id: &str| super::all().any(|check| check.id == id && check.is_named(name));
        let named = || results.iter().filter(|result| is_named(result.id));
        let answered = |result: &RuleResult| {
            matches!(result.verdict, CheckState::Passed | CheckState::Found | CheckState::Folded)
        };
        if named().any(answered) {
            continue;
        }
        let silent = named().filter(|result| result.verdict == CheckState::NotChecked);
        reasons.extend(silent.filter_map(|result| result.reason.clone()));
    }
    reasons
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_may_read_a_path_unless_it_belongs_to_others() {
        let site = "/usr/lib/python3/dist-packages/torch_npu/version.py";
        for (id, path, reads) in [
            ("NET-HCCN", "/etc/hccn.conf", true),
            ("DEV-PCI", "/etc/hccn.conf", false),
            ("SCAN-READ", "/etc/hccn.conf", true),
            ("TNPU-RECORD", site, true),
            ("HOST-GLIBC", site, true),
            ("DEV-ACCESS", site, false),
            ("PY-DUP", "/dev/davinci0", false),
            ("VLLM-BUILD", "/sys/bus/pci/devices", true),
            ("DEV-PCI", "/root", true),
        ] {
            let check = crate::all().find(|check| check.id == id).unwrap();
            assert_eq!(check.family.may_read(path), reads, "{id} {path}");
        }
    }

    #[test]
    fn named_family_needs_one_verdict_and_named_check_its_own() {
        let result = |id: &'static str, verdict: CheckState| {
            let reason = (verdict == CheckState::NotChecked).then(|| Text::new(id, id));
            RuleResult { id, name: Text::new(id, id), verdict, reason }
        };
        let results = [
            result("CANN-HOME", CheckState::Passed),
            result("CANN-OWNER", CheckState::NotChecked),
            result("DRV-PRESENT", CheckState::NotChecked),
            result("DRV-LIBS", CheckState::NotApplicable),
            result("VLLM-PLUGIN", CheckState::NotApplicable),
        ];
        let count = |name: &str| list_unanswered(&[name.to_owned()], &results).len();
        assert_eq!((count("cann"), count("CANN-OWNER"), count("CANN-HOME")), (0, 1, 0));
        assert_eq!((count("drv"), count("vllm"), count("VLLM-PLUGIN")), (1, 0, 0));
        let both = ["cann".to_owned(), "CANN-OWNER".to_owned()];
        assert_eq!(list_unanswered(&both, &results).len(), 1);
    }
}
