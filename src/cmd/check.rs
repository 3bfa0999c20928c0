//! `check`: scan a machine and judge it.

use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::{Context as _, bail};

use super::machine::{open_machine, read_facts, wanted};
use super::matrix::load_matrix;
use super::output::Output;
use super::progress::Bar;
use super::{finish_with_metrics, manifest};
use crate::cli::CheckArgs;
use base::report::{ExitStatus, Outcome, Reason, Report, RuleResult, Verdict, fold_consequences};
use base::text::{Text, escape_line, nearest};
use checks::{self, Check, Profile};
use data::sentence;
use data::{Catalog, Matrix};
use facts::{Facts, Problem, ProblemKind};
use machine::collect::{self, Options, Progress};
use render::write_json;

pub(super) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.facts_only {
        output.only_json("check --facts-only")?;
    }
    let selected = select(&args.only, &args.skip)?;
    let matrix = load_matrix(args.matrix.as_deref())?;
    let facts = args.facts.as_deref().map(read_facts).transpose()?.map(Some);
    let facts = facts.map_or_else(|| gather_in_time(args, output), Ok)?;
    let Some(mut facts) = facts else {
        return finish_with_metrics(out_of_time(args), args.metrics_file.as_deref(), output);
    };
    if args.host.is_some() {
        facts.host.name.clone_from(&args.host);
    }
    if args.facts_only {
        output.write(|out, _| write_json(&facts, out)).context("failed to write the facts")?;
        return Ok(ExitStatus::Clean);
    }
    let request = CheckRequest {
        matrix: &matrix,
        profile: args.profile,
        require_npu: args.require_npu,
        selected: &selected,
        only: &args.only,
        skip_reason: &|id| output.settings().skips.reason(id),
    };
    let report = run_checks(&facts, &request);
    finish_with_metrics(report, args.metrics_file.as_deref(), output)
}

/// As [`gather`], but gives up after `--timeout`: `None` then. A read that hangs (a dead network
/// file system, a stuck driver) cannot be interrupted, so it is left behind in its thread; the
/// process ends soon after.
fn gather_in_time(args: &CheckArgs, output: &Output) -> anyhow::Result<Option<Facts>> {
    let bar = Bar::new(output.quiet());
    let progress = bar.listener();
    let Some(seconds) = args.timeout else { return gather(args, progress).map(Some) };
    let (sender, receiver) = mpsc::channel();
    let args = args.clone();
    std::thread::spawn(move || {
        let _ = sender.send(gather(&args, progress));
    });
    match receiver.recv_timeout(Duration::from_secs(seconds)) {
        Ok(facts) => facts.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => anyhow::bail!("reading the machine ended early"),
    }
}

/// The report of a run that gave up.
fn out_of_time(args: &CheckArgs) -> Report {
    let subject =
        args.scan.machine.root.as_ref().map_or_else(String::new, |root| root.display().to_string());
    let mut report = Report::new("check", subject);
    let seconds = args.timeout.unwrap_or_default().to_string();
    report.no_verdict.push(sentence("timed_out", &[("seconds", seconds)]));
    report
}

/// Opens the machine and reads the facts.
fn gather(args: &CheckArgs, progress: Progress) -> anyhow::Result<Facts> {
    let mut sysroot = open_machine(&args.scan.machine)?;
    if let Some(dir) = &args.record {
        sysroot.record_into(dir)?;
    }
    let options = Options {
        manifest: args.manifest.as_deref().map(manifest::read).transpose()?.map(Arc::new),
        progress,
        ..wanted(&args.scan)
    };
    let facts = collect::collect(&sysroot, &options);
    sysroot.finish_recording().with_context(|| {
        let dir = args.record.as_deref().unwrap_or("".as_ref());
        format!("the recording in `{}` is not complete", dir.display())
    })?;
    Ok(facts)
}

/// Which checks run, and what they compare with.
#[derive(Clone, Copy)]
pub struct CheckRequest<'a> {
    /// The compatible versions.
    pub matrix: &'a Matrix,
    /// The use of the machine.
    pub profile: Profile,
    /// Whether a missing NPU or stack is an error.
    pub require_npu: bool,
    /// The checks that run.
    pub selected: &'a [&'static Check],
    /// The names for which the user wants an answer.
    pub only: &'a [String],
    /// The reason for which a check is skipped, by its id.
    pub skip_reason: &'a dyn Fn(&str) -> Option<Text>,
}

/// Runs all checks over the facts, as `check` without options does.
pub fn run_all_checks(facts: &Facts, skip_reason: &dyn Fn(&str) -> Option<Text>) -> Report {
    let selected: Vec<&Check> = checks::all().collect();
    let request = CheckRequest {
        matrix: Matrix::builtin(),
        profile: Profile::General,
        require_npu: false,
        selected: &selected,
        only: &[],
        skip_reason,
    };
    run_checks(facts, &request)
}

/// Runs the selected checks over the facts and collects their results in a report.
pub fn run_checks(facts: &Facts, request: &CheckRequest<'_>) -> Report {
    let CheckRequest { matrix, profile, require_npu, selected, only, skip_reason } = *request;
    let catalog = Catalog::builtin();
    let context = checks::Context { facts, matrix, profile, require_npu };
    let subject = facts.host.name.clone().unwrap_or_else(|| facts.source.clone());
    let mut report = Report::new("check", subject);
    report.provenance.push(("matrix".to_owned(), matrix.describe()));
    report.overview = checks::overview::overview(facts);
    report.extra = checks::overview::extra(facts);
    report.notes.extend(checks::overview::nothing_here(&context));
    let interpreter = facts.python.command();
    // Skipped checks need no verdict.
    let run: Vec<_> =
        selected.iter().copied().filter(|check| skip_reason(check.id).is_none()).collect();
    let mut answers = checks::hidden::answers(&context, &run);
    for check in selected {
        let Some(mut outcome) = answers.outcomes.remove(check.id) else {
            let name = catalog.entry(check.id).map(|entry| entry.name.clone());
            report.results.push(RuleResult {
                id: check.id,
                name: name.unwrap_or_default(),
                verdict: Verdict::NotChecked,
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
    for reason in unanswered(only, &report.results) {
        if !report.no_verdict.contains(&reason) {
            report.no_verdict.push(reason);
        }
    }
    // A file that may not be read could hold any fault: without an error elsewhere, the answer
    // is not "clean".
    let concerned = |problem: &&Problem| {
        problem.kind == ProblemKind::Denied
            && selected.iter().any(|check| may_rest_on(check.id, &problem.path))
    };
    // Places, not paths: what one closed directory hides is said once, and a check that gave
    // no verdict for the same reason has said it already.
    let denied = facts.problems.iter().filter(concerned).map(Problem::place);
    for place in denied.chain(answers.places.iter().map(String::as_str)) {
        let text = Catalog::builtin().reason(&Reason { key: "unreadable", what: place.to_owned() });
        if !report.no_verdict.contains(&text) {
            report.no_verdict.push(text);
        }
    }
    report.findings = fold_consequences(std::mem::take(&mut report.findings));
    for result in &mut report.results {
        let on_top = report.findings.iter().any(|finding| finding.id == result.id);
        if result.verdict == Verdict::Found && !on_top {
            result.verdict = Verdict::Folded;
        }
    }
    report
}

/// Whether a check may rest on what lies at this path. Only what surely belongs to other checks
/// says no; in doubt it may.
fn may_rest_on(id: &str, path: &str) -> bool {
    let family = id.split('-').next().unwrap_or(id);
    if path == "/etc/hccn.conf" || path.ends_with("/hccn_tool") {
        return matches!(family, "NET" | "SCAN");
    }
    if path.contains("/site-packages") || path.contains("/dist-packages") {
        return !matches!(family, "DEV" | "NET");
    }
    if path.starts_with("/dev/") || path.starts_with("/sys/bus/pci/") {
        return !matches!(family, "PY" | "TORCH");
    }
    true
}

/// Why a request of `--only` has no answer. Somebody who names a check wants its verdict; of a
/// family, some checks can rarely look, so there the verdict of any of them is an answer.
fn unanswered(only: &[String], results: &[RuleResult]) -> Vec<Text> {
    let mut reasons = Vec::new();
    for name in only {
        let asked = || results.iter().filter(|result| names(name, result.id));
        let answered = |result: &RuleResult| {
            matches!(result.verdict, Verdict::Passed | Verdict::Found | Verdict::Folded)
        };
        if asked().any(answered) {
            continue;
        }
        let silent = asked().filter(|result| result.verdict == Verdict::NotChecked);
        reasons.extend(silent.filter_map(|result| result.reason.clone()));
    }
    reasons
}

/// The checks that `--only` and `--skip` leave. A name is an id or the prefix of a family.
fn select(only: &[String], skip: &[String]) -> anyhow::Result<Vec<&'static Check>> {
    for name in only.iter().chain(skip) {
        if !checks::all().any(|check| names(name, check.id)) {
            bail!("{}", unknown(name));
        }
    }
    let selected: Vec<_> = checks::all()
        .filter(|check| only.is_empty() || only.iter().any(|name| names(name, check.id)))
        .filter(|check| !skip.iter().any(|name| names(name, check.id)))
        .collect();
    // A gate that asks for nothing would pass for ever.
    if selected.is_empty() {
        bail!("--skip leaves none of the checks that --only selects: nothing would be looked at");
    }
    Ok(selected)
}

/// What is said of a name that no check has.
fn unknown(name: &str) -> String {
    let families = checks::all().filter_map(|check| check.id.split('-').next());
    let known = checks::all().map(|check| check.id).chain(families).map(str::to_owned);
    let near = nearest(name.trim(), known, 2);
    let hint = match near.as_slice() {
        [] => "`ascend-doctor explain --list` lists them".to_owned(),
        near => format!("did you mean `{}`?", near.join("` or `")),
    };
    format!("there is no check or family of checks `{}`; {hint}", escape_line(name))
}

fn names(name: &str, id: &str) -> bool {
    let name = name.trim();
    id.eq_ignore_ascii_case(name)
        || id.split('-').next().is_some_and(|family| family.eq_ignore_ascii_case(name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn families_and_ids_select() {
        assert_eq!(select(&["scan-read".to_owned()], &[]).unwrap().len(), 1);
        assert!(select(&["SCAN".to_owned()], &["SCAN-READ".to_owned()]).unwrap().len() == 1);
        assert!(select(&["dev".to_owned()], &["dev".to_owned()]).is_err());
        assert!(select(&["ZZZZ".to_owned()], &[]).unwrap_err().to_string().contains("--list"));
        let error = select(&["cann-hmoe".to_owned()], &[]).unwrap_err().to_string();
        assert!(error.ends_with("did you mean `CANN-HOME`?"), "{error}");
    }

    #[test]
    fn a_denied_file_concerns_the_checks_that_may_rest_on_it() {
        let site = "/usr/lib/python3/dist-packages/torch_npu/version.py";
        for (id, path, rests) in [
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
            assert_eq!(may_rest_on(id, path), rests, "{id} {path}");
        }
    }

    #[test]
    fn a_denied_file_forces_no_verdict_where_it_matters() {
        let mut facts = Facts::default();
        facts.problems.push(Problem {
            path: "/etc/hccn.conf".to_owned(),
            kind: ProblemKind::Denied,
            detail: "permission denied".to_owned(),
            barrier: None,
            line: None,
        });
        let matrix = load_matrix(None).unwrap();
        let blocked = |only: &[&str]| {
            use clap::Parser as _;
            let names = only.join(",");
            let mut line = vec!["ascend-doctor", "check"];
            if !only.is_empty() {
                line.extend(["--only", &names]);
            }
            let cli = crate::cli::Cli::parse_from(line);
            let Some(crate::cli::Command::Check(args)) = cli.command else { panic!() };
            let selected = select(&args.only, &args.skip).unwrap();
            let request = CheckRequest {
                matrix: &matrix,
                profile: args.profile,
                require_npu: false,
                selected: &selected,
                only: &args.only,
                skip_reason: &|_| None,
            };
            let report = run_checks(&facts, &request);
            report.no_verdict.iter().any(|text| text.en.contains("/etc/hccn.conf"))
        };
        assert!(blocked(&[]) && blocked(&["net"]) && !blocked(&["ms"]));
    }

    #[test]
    fn a_family_needs_one_verdict_and_a_check_its_own() {
        let result = |id: &'static str, verdict: Verdict| {
            let reason = (verdict == Verdict::NotChecked).then(|| Text::new(id, id));
            RuleResult { id, name: Text::new(id, id), verdict, reason }
        };
        let results = [
            result("CANN-HOME", Verdict::Passed),
            result("CANN-OWNER", Verdict::NotChecked),
            result("DRV-PRESENT", Verdict::NotChecked),
            result("DRV-LIBS", Verdict::NotApplicable),
            result("VLLM-PLUGIN", Verdict::NotApplicable),
        ];
        let count = |name: &str| unanswered(&[name.to_owned()], &results).len();
        assert_eq!((count("cann"), count("CANN-OWNER"), count("CANN-HOME")), (0, 1, 0));
        assert_eq!((count("drv"), count("vllm"), count("VLLM-PLUGIN")), (1, 0, 0));
        let both = ["cann".to_owned(), "CANN-OWNER".to_owned()];
        assert_eq!(unanswered(&both, &results).len(), 1);
    }
}
