//! `check`: examines a machine and reports findings.

use data::{Fault, OrFault as _, faults};
use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::bail;
use clap::ValueEnum as _;
use serde::{Deserialize, Serialize};

use super::argument_file::read_argument;
use super::machine::{open_machine, read_facts, wanted};
use super::matrix::load_matrix;
use super::output::Output;
use super::plan_script::script;
use super::{finish_with_metrics, manifest, progress, query};
use crate::cli::CheckArgs;
use base::report::{Coverage, ExitStatus, Report, Severity, Table, Verdict};
use base::text::{Text, escape_line, nearest};
use checks::baseline::{self, Baseline, Change, Earlier};
use checks::plan::{self, RepairPlan};
use checks::site::{self, Expectations};
use checks::verdict::{CheckRequest, run_checks};
use checks::{self, Check, Profile};
use data::{goals, ui};
use facts::Facts;
use fleet::QueryKey;
use machine::collect::{self, Named, Options, Progress};
use render::{Format, render_script, write_json};

/// Maximum size of a report to read, in bytes.
const REPORT_LIMIT: u64 = 64 << 20;

pub(super) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.facts_only {
        output.only_json("check --facts-only")?;
    }
    if let Some(path) = &args.expect_from {
        output.only(Format::Text, "check --expect-from")?;
        return expect_from(path, output);
    }
    if let Some(path) = &args.from_text {
        return super::from_text::run(path, output);
    }
    let format = output.format();
    if args.plan && format != Format::Text && !format.is_json() {
        bail!(faults::PlanFormat { format: format.as_str() }.fault());
    }
    if query::asks_for_help(&args.query) {
        return query::print_help();
    }
    let keys = query::find_keys(&args.query)?;
    let selected = select(&args.only, &args.skip)?;
    let matrix = load_matrix(args.matrix.as_deref())?;
    let named = output.settings().site.as_ref().map(named).unwrap_or_default();
    let facts = args.facts.as_deref().map(read_facts).transpose()?.map(Some);
    let facts = facts.map_or_else(|| gather_in_time(args, &named), Ok)?;
    let Some(mut facts) = facts else {
        return finish(out_of_time(args), &keys, args, output);
    };
    if args.host.is_some() {
        facts.host.name.clone_from(&args.host);
    }
    if args.facts_only {
        output
            .write(|out, _| write_json(&facts, out))
            .or_fault(|| faults::FailedToWriteFacts.fault())?;
        return Ok(ExitStatus::Clean);
    }
    let request = CheckRequest {
        matrix: &matrix,
        profile: args.profile,
        require_npu: args.require_npu,
        data_age: output.data().age_days,
        selected: &selected,
        only: &args.only,
        site: output.settings().site.as_ref(),
        skip_reason: &|id| output.settings().skips.reason(id),
    };
    let mut report = run_checks(&facts, &request);
    if let Some(path) = &args.baseline {
        compare(path, &facts, &mut report)?;
    }
    // With a selection of checks, only their results count.
    if let Some(goal) = output.settings().goal.as_ref().filter(|_| args.only.is_empty()) {
        goal.require(&mut report);
    }
    if args.plan {
        return finish_plan(&facts, &request, report, output);
    }
    finish(report, &keys, args, output)
}

/// Writes the plan: as a script, or as a member of the report.
fn finish_plan(
    facts: &Facts,
    request: &CheckRequest<'_>,
    mut report: Report,
    output: &Output,
) -> anyhow::Result<ExitStatus> {
    let plan = plan::plan(&request.context(facts), &report);
    if output.format() != Format::Text {
        report.add_members(&PlanMember { plan: &plan });
        return super::finish(report, output);
    }
    let inside = facts.host.container.is_inside();
    let mut again = "ascend-doctor check".to_owned();
    if let Some(profile) = request.profile.to_possible_value()
        && request.profile != Profile::General
    {
        again.push_str(" --profile ");
        again.push_str(profile.get_name());
    }
    output
        .write(|out, style| {
            let script = script(&plan, &report, inside, again, style.lang);
            render_script(&script, style, out)
        })
        .or_fault(|| faults::FailedToWriteReport.fault())?;
    Ok(report.exit_status())
}

/// The member of the report for the plan.
#[derive(Serialize)]
struct PlanMember<'a> {
    plan: &'a RepairPlan,
}

/// Writes the report, or the requested values.
fn finish(
    report: Report,
    keys: &[&QueryKey],
    args: &CheckArgs,
    output: &Output,
) -> anyhow::Result<ExitStatus> {
    let metrics = args.metrics_file.as_deref();
    if keys.is_empty() {
        return finish_with_metrics(report, metrics, output);
    }
    query::finish(report, keys, metrics, output)
}

/// Like [`gather`], but returns `None` after `--timeout`. A read that hangs (a dead network file
/// system, a stuck driver) cannot be interrupted, so it stays in its thread; the process ends soon
/// after.
fn gather_in_time(args: &CheckArgs, named: &Named) -> anyhow::Result<Option<Facts>> {
    let progress = progress::listener();
    let Some(seconds) = args.timeout else { return gather(args, named, progress).map(Some) };
    let (sender, receiver) = mpsc::channel();
    let (args, named) = (args.clone(), named.clone());
    std::thread::Builder::new()
        .spawn(move || {
            let _ = sender.send(gather(&args, &named, progress));
        })
        .map_err(|why| faults::TimeoutNeedsThread { why: &why }.fault())?;
    match receiver.recv_timeout(Duration::from_secs(seconds)) {
        Ok(facts) => facts.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(faults::ReadingEndedEarly.fault().into()),
    }
}

/// The report of a run that timed out.
fn out_of_time(args: &CheckArgs) -> Report {
    let subject = args
        .scan
        .machine
        .sysroot
        .as_ref()
        .map_or_else(String::new, |root| root.display().to_string());
    let mut report = Report::new("check", subject);
    let seconds = args.timeout.unwrap_or_default().to_string();
    let reason = ui::TimedOut { seconds }.text();
    report.proof = Some(goals::prove("check", "inventory", BTreeMap::new(), |_| {
        let settle = ui::TIMED_OUT_SETTLE.text();
        (Coverage::NotExamined { reason: reason.clone(), settle }, None)
    }));
    report
}

/// Opens the machine and reads the facts.
fn gather(args: &CheckArgs, named: &Named, progress: Progress) -> anyhow::Result<Facts> {
    let mut sysroot = open_machine(&args.scan.machine)?;
    if let Some(dir) = &args.record {
        sysroot.record_into(dir).map_err(Fault::from)?;
    }
    let options = Options {
        manifest: args.manifest.as_deref().map(manifest::read).transpose()?.map(Arc::new),
        progress,
        named: named.clone(),
        ..wanted(&args.scan)
    };
    let facts = collect::collect(&sysroot, &options);
    sysroot.finish_recording().or_fault(|| {
        faults::RecordingIncomplete { path: args.record.as_deref().unwrap_or("".as_ref()) }.fault()
    })?;
    Ok(facts)
}

/// The names in the expectations that are not read otherwise.
fn named(site: &Expectations) -> Named {
    let set = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
    Named {
        files: site.files().map(|(path, hash)| (path.to_owned(), hash)).collect(),
        mounts: set(&mut site.mounts()),
        nameservers: set(&mut site.nameservers()),
        hosts: set(&mut site.hosts()),
    }
}

/// Writes expectations from the report of a machine that passed.
fn expect_from(path: &Path, output: &Output) -> anyhow::Result<ExitStatus> {
    let shown = path.display();
    let bytes = read_argument(path, REPORT_LIMIT)?;
    let report: PassedReport = serde_json::from_slice(&bytes)
        .or_fault(|| faults::NotCheckReport { path: &shown }.fault())?;
    anyhow::ensure!(
        report.verdict == Verdict::Pass.as_str(),
        faults::ExpectFromFailed { path: &shown }.fault()
    );
    let text = site::write(&report.facts, &shown.to_string());
    output.write(|out, _| out.write_all(text.as_bytes()))?;
    Ok(ExitStatus::Clean)
}

/// Adds the comparison with an earlier report to a report.
fn compare(path: &Path, facts: &Facts, report: &mut Report) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    let bytes = read_argument(path, REPORT_LIMIT)?;
    let earlier: EarlierReport = serde_json::from_slice(&bytes)
        .or_fault(|| faults::NotCheckReport { path: &shown }.fault())?;
    let mut findings = BTreeSet::new();
    for finding in &earlier.findings {
        finding.add_to(&mut findings);
    }
    let earlier = Earlier { report: &shown, facts: &earlier.facts, findings: &findings };
    let baseline = baseline::compare(&earlier, facts, &report.findings);
    if baseline.changes.is_empty() {
        report.notes.push(ui::BaselineEqual { report: &shown }.text());
    } else {
        report.tables.push(Table {
            title: ui::BaselineTitle { report: &shown }.text(),
            head: [ui::BASELINE_EFFECT, ui::BASELINE_WHAT, ui::BASELINE_CHANGE]
                .map(data::Label::text)
                .to_vec(),
            rows: baseline.changes.iter().map(Change::row).collect(),
        });
    }
    if !baseline.new.is_empty() || !baseline.gone.is_empty() {
        let list = |ids: &[String]| match ids {
            [] => ui::BASELINE_NONE.text(),
            ids => Text::same(ids.join(", ")),
        };
        let (new, gone) = (list(&baseline.new), list(&baseline.gone));
        report.notes.push(ui::BaselineFindings { gone, new }.text());
    }
    report.add_members(&BaselineMember { baseline: &baseline });
    Ok(())
}

/// The member of the report for the comparison.
#[derive(Serialize)]
struct BaselineMember<'a> {
    baseline: &'a Baseline,
}

/// The parts of an earlier report that are compared.
#[derive(Deserialize)]
struct EarlierReport {
    facts: Facts,
    #[serde(default)]
    findings: Vec<EarlierFinding>,
}

#[derive(Deserialize)]
struct EarlierFinding {
    id: String,
    severity: Severity,
    title: Text,
    #[serde(default)]
    consequences: Vec<EarlierFinding>,
}

impl EarlierFinding {
    fn add_to(&self, all: &mut BTreeSet<(String, String)>) {
        if self.severity > Severity::Info {
            all.insert((self.id.clone(), self.title.en.clone()));
        }
        for inner in &self.consequences {
            inner.add_to(all);
        }
    }
}

/// The parts of a report from which expectations are written.
#[derive(Deserialize)]
struct PassedReport {
    verdict: String,
    facts: Facts,
}

/// The checks that `--only` and `--skip` select. A name is an id or the prefix of a family.
fn select(only: &[String], skip: &[String]) -> anyhow::Result<Vec<&'static Check>> {
    for name in only.iter().chain(skip) {
        if !checks::all().any(|check| check.is_named(name)) {
            bail!(unknown(name));
        }
    }
    let selected: Vec<_> = checks::all()
        .filter(|check| only.is_empty() || only.iter().any(|name| check.is_named(name)))
        .filter(|check| !skip.iter().any(|name| check.is_named(name)))
        .collect();
    // A gate without checks would always pass.
    if selected.is_empty() {
        bail!(faults::NothingSelected.fault());
    }
    Ok(selected)
}

/// The error for a name without a check.
fn unknown(name: &str) -> Fault {
    let families = checks::all().filter_map(|check| check.id.as_str().split('-').next());
    let known = checks::all().map(|check| check.id.as_str()).chain(families).map(str::to_owned);
    let near = nearest(name.trim(), known, 2);
    let hint = match near.as_slice() {
        [] => faults::ExplainList.fault(),
        near => super::error_message::did_you_mean(near),
    };
    faults::NoSuchCheck { name: escape_line(name).as_ref(), why: hint }.fault()
}

#[cfg(test)]
mod tests {
    use facts::{Problem, ProblemKind};

    use super::*;

    #[test]
    fn families_and_ids_select() {
        assert_eq!(select(&["scan-read".to_owned()], &[]).unwrap().len(), 1);
        assert_eq!(select(&["SCAN".to_owned()], &["SCAN-READ".to_owned()]).unwrap().len(), 2);
        assert!(select(&["dev".to_owned()], &["dev".to_owned()]).is_err());
        assert!(select(&["ZZZZ".to_owned()], &[]).unwrap_err().to_string().contains("--list"));
        let error = select(&["cann-hmoe".to_owned()], &[]).unwrap_err().to_string();
        assert!(error.ends_with("did you mean `CANN-HOME`?"), "{error}");
    }

    #[test]
    fn a_denied_file_forces_no_verdict_where_it_matters() {
        let mut facts = Facts::default();
        facts.problems.push(Problem {
            path: "/etc/hccn.conf".to_owned(),
            kind: ProblemKind::Denied,
            detail: Text::same("permission denied"),
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
                data_age: None,
                selected: &selected,
                only: &args.only,
                site: None,
                skip_reason: &|_| None,
            };
            let report = run_checks(&facts, &request);
            let links = report.proof.unwrap().links;
            links.iter().any(|link| match &link.coverage {
                Coverage::NotExamined { reason, .. } => reason.en.contains("/etc/hccn.conf"),
                _ => false,
            })
        };
        assert!(!blocked(&[]) && blocked(&["net"]) && !blocked(&["ms"]));
    }
}
