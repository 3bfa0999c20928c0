//! Runs checks over facts and turns their outcomes into a report.
//!
//! Input: facts, the requested checks, and reasons to skip some. Output: the report of `check`
//! without the options of its output. A report without findings is clean only if no unreadable file
//! could contain a fault.

use base::report::{CheckState, Finding, Report, RuleResult, fold_consequences};
use base::text::Text;
use data::{Catalog, Matrix, PackageIndex, ui};
use facts::{Facts, Problem, ProblemKind};

use super::site::Expectations;
use super::{Check, Context, Family, Profile, goal, plan};

/// The checks to run, and the data to compare with.
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
    /// The checks to run.
    pub selected: &'a [&'static Check],
    /// The names in `--only`.
    pub only: &'a [String],
    /// The expectations of the site.
    pub site: Option<&'a Expectations>,
    /// The reason to skip a check, by its ID.
    pub skip_reason: &'a dyn Fn(&str) -> Option<Text>,
}

impl<'a> CheckRequest<'a> {
    /// The input of the checks of this request.
    pub fn context(&self, facts: &'a Facts) -> Context<'a> {
        let Self { matrix, profile, require_npu, data_age, site, .. } = *self;
        Context { facts, matrix, profile, require_npu, data_age, site }
    }
}

/// Runs all checks over the facts, like `check` without options.
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
        site: None,
        skip_reason,
    };
    run_checks(facts, &request)
}

/// Adds the options of the official page to pip commands if the default index does not offer the
/// packages.
fn complete_commands(facts: &Facts, findings: &mut [Finding]) {
    let python = plan::python(facts);
    let arch = facts.host.arch.as_deref();
    let index = PackageIndex::builtin();
    for step in findings.iter_mut().flat_map(|finding| &mut finding.fix) {
        let Some(run) = &mut step.run else { continue };
        if let Some(options) = index.options_for(run, python.as_deref(), arch) {
            *run = format!("{run} {options}");
            let more = ui::COMPAT_INDEX_OPTIONS.text();
            step.text.en = format!("{}. {}", step.text.en, more.en);
            step.text.zh = format!("{}。{}", step.text.zh, more.zh);
        }
    }
}

/// Runs the selected checks over the facts and collects their results in a report.
pub fn run_checks(facts: &Facts, request: &CheckRequest<'_>) -> Report {
    let CheckRequest { matrix, only, site, skip_reason, .. } = *request;
    // Without expectations their checks are omitted, instead of reported as not applicable.
    let applies = |check: &&&Check| check.family != Family::Site || site.is_some();
    let selected: &[&Check] = &request.selected.iter().filter(applies).copied().collect::<Vec<_>>();
    let catalog = Catalog::builtin();
    let context = request.context(facts);
    let subject = facts.host.name.clone().unwrap_or_else(|| facts.source.clone());
    let mut report = Report::new("check", subject);
    report.provenance.push(("matrix", matrix.describe()));
    report.overview = super::overview::overview(facts);
    report.add_members(&super::overview::members(facts));
    report.notes.extend(super::overview::nothing_here(&context));
    // Skipped checks do not run.
    let run: Vec<_> =
        selected.iter().copied().filter(|check| skip_reason(check.id.as_str()).is_none()).collect();
    let mut outcomes = super::masked::run_unmasked(&context, &run);
    for check in selected {
        let Some(outcome) = outcomes.by_id.remove(check.id.as_str()) else {
            let result = catalog.result(check.id, CheckState::NotChecked, None);
            let reason = skip_reason(check.id.as_str());
            report.results.push(RuleResult { reason, waived: true, ..result });
            continue;
        };
        catalog.record(check.id, outcome, &mut report);
    }
    complete_commands(facts, &mut report.findings);
    report.findings = fold_consequences(std::mem::take(&mut report.findings));
    for result in &mut report.results {
        let on_top = report.findings.iter().any(|finding| finding.id == result.id);
        if result.state == CheckState::Found && !on_top {
            result.state = CheckState::Folded;
        }
    }
    // An unreadable file could contain any fault, so a run without other errors is not "clean".
    let unreadable = |concerns: &dyn Fn(&Check) -> bool| {
        let concerned = |problem: &&Problem| {
            let reads = |check: &&&Check| {
                check.family != Family::Scan && concerns(check) && check.may_read(&problem.path)
            };
            problem.kind == ProblemKind::Denied && selected.iter().any(|check| reads(&check))
        };
        // Places, not paths: an unreadable directory is reported once.
        let denied = facts.problems.iter().filter(concerned).map(Problem::place);
        let masking = outcomes.masking.iter().filter(|(check, _)| concerns(check));
        denied.chain(masking.map(|(_, place)| place.as_str())).next().map(str::to_owned)
    };
    let results = goal::Results {
        checks: &report.results,
        findings: &report.findings,
        selected,
        unreadable: &unreadable,
    };
    report.proof = Some(if only.is_empty() {
        goal::prove(&context, &results)
    } else {
        goal::prove_selection(&context, only, &results)
    });
    report
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::report::Verdict;

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
            ("HOST-GLIBC", "/etc/os-release", false),
            ("HOST-OS", "/etc/os-release", true),
        ] {
            let check = crate::all().find(|check| check.id.as_str() == id).unwrap();
            assert_eq!(check.may_read(path), reads, "{id} {path}");
        }
    }

    #[test]
    fn named_family_needs_one_verdict_and_named_check_its_own() {
        let result = |id: &'static str, state: CheckState| RuleResult {
            reason: (state == CheckState::NotChecked).then(|| Text::new(id, id)),
            ..RuleResult::new(id, Text::new(id, id), state)
        };
        let results = [
            result("CANN-HOME", CheckState::Passed),
            result("CANN-OWNER", CheckState::NotChecked),
            result("DRV-PRESENT", CheckState::NotChecked),
            result("DRV-LIBS", CheckState::NotApplicable),
            result("VLLM-PLUGIN", CheckState::NotApplicable),
        ];
        let facts = Facts::default();
        let verdict = |names: &[&str]| {
            let only: Vec<String> = names.iter().map(|&name| name.to_owned()).collect();
            let found = goal::Results {
                checks: &results,
                findings: &[],
                selected: &[],
                unreadable: &|_| None,
            };
            goal::prove_selection(&Context::of(&facts, Profile::General), &only, &found).verdict()
        };
        for passing in ["cann", "CANN-HOME", "vllm", "VLLM-PLUGIN"] {
            assert_eq!(verdict(&[passing]), Verdict::Pass, "{passing}");
        }
        for silent in ["CANN-OWNER", "drv"] {
            assert_eq!(verdict(&[silent]), Verdict::Inconclusive, "{silent}");
        }
        assert_eq!(verdict(&["cann", "CANN-OWNER"]), Verdict::Inconclusive);
    }
}
