//! `check`: scan a machine and judge it.

use data::{Fault, OrFault as _, faults};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::mpsc::{self, RecvTimeoutError};
use std::time::Duration;

use anyhow::bail;

use super::machine::{open_machine, read_facts, wanted};
use super::matrix::load_matrix;
use super::output::Output;
use super::{finish_with_metrics, manifest, progress, query};
use crate::cli::CheckArgs;
use base::report::{Coverage, ExitStatus, Report};
use base::text::{escape_line, nearest};
use checks::verdict::{CheckRequest, run_checks};
use checks::{self, Check};
use data::{goals, ui};
use facts::Facts;
use fleet::QueryKey;
use machine::collect::{self, Options, Progress};
use render::write_json;

pub(super) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.facts_only {
        output.only_json("check --facts-only")?;
    }
    if query::asks_for_help(&args.query) {
        return query::print_help();
    }
    let keys = query::find_keys(&args.query)?;
    let selected = select(&args.only, &args.skip)?;
    let matrix = load_matrix(args.matrix.as_deref())?;
    let facts = args.facts.as_deref().map(read_facts).transpose()?.map(Some);
    let facts = facts.map_or_else(|| gather_in_time(args), Ok)?;
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
        skip_reason: &|id| output.settings().skips.reason(id),
    };
    let mut report = run_checks(&facts, &request);
    // Whoever selects checks asks for their answer and no other.
    if let Some(goal) = output.settings().goal.as_ref().filter(|_| args.only.is_empty()) {
        goal.require(&mut report);
    }
    finish(report, &keys, args, output)
}

/// Writes the report, or the values that were asked for.
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

/// As [`gather`], but gives up after `--timeout`: `None` then. A read that hangs (a dead network
/// file system, a stuck driver) cannot be interrupted, so it is left behind in its thread; the
/// process ends soon after.
fn gather_in_time(args: &CheckArgs) -> anyhow::Result<Option<Facts>> {
    let progress = progress::listener();
    let Some(seconds) = args.timeout else { return gather(args, progress).map(Some) };
    let (sender, receiver) = mpsc::channel();
    let args = args.clone();
    std::thread::Builder::new()
        .spawn(move || {
            let _ = sender.send(gather(&args, progress));
        })
        .map_err(|why| faults::TimeoutNeedsThread { why: &why }.fault())?;
    match receiver.recv_timeout(Duration::from_secs(seconds)) {
        Ok(facts) => facts.map(Some),
        Err(RecvTimeoutError::Timeout) => Ok(None),
        Err(RecvTimeoutError::Disconnected) => Err(faults::ReadingEndedEarly.fault().into()),
    }
}

/// The report of a run that gave up.
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
fn gather(args: &CheckArgs, progress: Progress) -> anyhow::Result<Facts> {
    let mut sysroot = open_machine(&args.scan.machine)?;
    if let Some(dir) = &args.record {
        sysroot.record_into(dir).map_err(Fault::from)?;
    }
    let options = Options {
        manifest: args.manifest.as_deref().map(manifest::read).transpose()?.map(Arc::new),
        progress,
        ..wanted(&args.scan)
    };
    let facts = collect::collect(&sysroot, &options);
    sysroot.finish_recording().or_fault(|| {
        faults::RecordingIncomplete { path: args.record.as_deref().unwrap_or("".as_ref()) }.fault()
    })?;
    Ok(facts)
}

/// The checks that `--only` and `--skip` leave. A name is an id or the prefix of a family.
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
    // A gate that asks for nothing would pass for ever.
    if selected.is_empty() {
        bail!(faults::NothingSelected.fault());
    }
    Ok(selected)
}

/// What is said of a name that no check has.
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
            detail: base::text::Text::same("permission denied"),
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
