//! `verify`: run the vendor's libraries in processes of their own, and judge what they did.
#![expect(
    clippy::disallowed_methods,
    reason = "asks whether simulated libraries are allowed, and looks at this machine"
)]

mod cann;
mod idle;
mod report;

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::argument_file::read_argument;
use super::machine::open_machine;
use super::output::Output;
use super::progress::Line;
use super::standard_streams::print;
use crate::cli::{MachineArgs, VerifyArgs};
use base::report::{ExitStatus, Report};
use base::visible;
use data::{sentence, words};
use machine::elf;
use machine::sysroot::Sysroot;
use render::{Format, render};
use report::report;
use verify::cache;
use verify::judge::JudgeContext;
use verify::plog::{Logs, last_errors};
use verify::protocol::{Dtype, Event, Fault, Level, Outcome, Stage};
use verify::run::{self, RunOptions, RunResult, log_dir};

/// Allows simulated libraries: for the tests of this program.
const ALLOW_SIMULATED: &str = "ASCEND_DOCTOR_ALLOW_SIM";
/// The largest report that is read.
const BASELINE_LIMIT: u64 = 64 << 20;
/// How long one call may take, in seconds.
const SILENCE: f64 = 60.0;
/// How long, where ranks wait for each other: HCCL itself waits for two minutes, and says then
/// who did not come.
const PATIENCE: f64 = 150.0;

pub(super) fn run(args: &VerifyArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let keep = args.keep_logs.as_deref();
    let logs = Logs::new(keep).with_context(|| {
        format!("cannot make the directory `{}`", keep.unwrap_or("".as_ref()).display())
    })?;
    let baseline = args.baseline.as_deref().map(baseline).transpose()?;
    let limited = !args.floor.is_empty() || baseline.is_some();
    let mut asked = args.rung.clone();
    if limited && !asked.is_empty() {
        // Copies are what the rung of the memory makes.
        asked.push(Stage::Memory);
    }
    let stages = stages(&asked, args.level);
    anyhow::ensure!(
        args.yes || !stages.contains(&Stage::Stress),
        "the stress test puts all devices under full load for minutes: say `--yes` if that is wanted"
    );
    let env = if args.env_file.is_some() {
        let machine = MachineArgs { env_file: args.env_file.clone(), ..MachineArgs::default() };
        open_machine(&machine)?.env().vars.clone().into_iter().collect()
    } else {
        Vec::new()
    };
    let variable = |name: &str| std::env::var(name).ok();
    let mut wanted = RunOptions {
        devices: args.device.clone(),
        stages: stages.clone(),
        dtypes: if args.dtype.is_empty() { Dtype::ALL.to_vec() } else { args.dtype.clone() },
        level: args.level,
        speed: limited || args.level >= Level::Standard,
        silence: Duration::from_secs_f64(args.timeout.unwrap_or(SILENCE)),
        patience: Duration::from_secs_f64(args.timeout.unwrap_or(PATIENCE)),
        sums: args.level == Level::Extended || asked.contains(&Stage::Fabric),
        load: Duration::from_secs_f64(args.minutes * 60.0),
        allow_simulated: variable(ALLOW_SIMULATED).is_some_and(|value| value == "1"),
        logs: logs.path().map(ToOwned::to_owned),
        cache: cache::cache_dir(variable("XDG_CACHE_HOME").as_deref(), variable("HOME").as_deref()),
        env,
    };
    let line = Line::new(output.quiet() || args.json);
    let listen = |device: Option<i32>, event: &Event| match event {
        Event::Begin { step, .. } => {
            let place = device.map_or_else(|| "CANN".to_owned(), |device| format!("NPU {device}"));
            line.show(&format!("{place}: {step}"));
        }
        // It is said when nothing else can be done about it.
        Event::StepEnd { outcome: Outcome::Failed { fault: Fault::NoLibrary { .. } }, .. } => {}
        Event::StepEnd { .. } if args.json => say(device, event),
        _ => {}
    };
    let mut done = run::run(&wanted, &listen, &idle::look);
    let mut found = None;
    if missing(&done).is_some() && wanted.env.is_empty() {
        found = cann::find();
        if let Some(found) = &found {
            wanted.env.clone_from(&found.env);
            done = run::run(&wanted, &listen, &idle::look);
        }
    }
    if let Some(event) = missing(&done).filter(|_| args.json) {
        say(None, event);
    }
    drop(line);
    let given = wanted.env.iter().rev().find(|(name, _)| name == visible::NAME);
    let mut around = JudgeContext {
        visible: given.map(|(_, list)| list.clone()).or_else(|| variable(visible::NAME)),
        passed_over: passed_over(&done),
        floors: args.floor.clone(),
        baseline: baseline.unwrap_or_default(),
        ..JudgeContext::default()
    };
    for ran in done.children() {
        let tail = logs.path().and_then(|logs| last_errors(&log_dir(logs, &ran.name)));
        around.logs.extend(tail.map(|tail| (ran.name.clone(), tail)));
    }
    let mut report = report(&done, &stages, &around, args.host.as_deref());
    if let Some(found) = &found {
        report.notes.push(sentence("verify_found_cann", &[("path", found.path.clone())]));
    }
    if !done.left.is_empty() {
        let processes = done.left.join(", ");
        report.notes.push(sentence("verify_left", &[("processes", processes)]));
    }
    match (keep, logs.path()) {
        (Some(_), Some(path)) => {
            let path = path.display().to_string();
            report.notes.push(sentence("verify_kept_logs", &[("path", path)]));
        }
        (None, None) => report.notes.push(words("verify_no_logs")),
        _ => {}
    }
    if args.json { last_line(report, output) } else { super::finish(report, output) }
}

/// The rungs that were asked for, and those that all others need; without any, those of the level.
fn stages(asked: &[Stage], level: Level) -> Vec<Stage> {
    if asked.is_empty() {
        return level.stages().to_vec();
    }
    let highest = asked.iter().max().copied().unwrap_or(Stage::Load);
    let needed = |stage: Stage| stage < highest && matches!(stage, Stage::Load | Stage::Runtime);
    Stage::ALL.into_iter().filter(|stage| asked.contains(stage) || needed(*stage)).collect()
}

/// The stage that says that no library of CANN was found.
fn missing(done: &RunResult) -> Option<&Event> {
    done.first.events.iter().find(|event| {
        matches!(
            event,
            Event::StepEnd { outcome: Outcome::Failed { fault: Fault::NoLibrary { .. } }, .. }
        )
    })
}

/// Writes a stage that ended as a line.
fn say(device: Option<i32>, event: &Event) {
    let Ok(Value::Object(mut line)) = serde_json::to_value(event) else { return };
    line.insert("schema".to_owned(), json!("ascend-doctor/verify-stage/1"));
    line.insert("device".to_owned(), json!(device));
    // Whoever reads the lines may be gone; the run goes on, and the report fails to be written.
    let _ = print(|_, out| writeln!(out, "{}", Value::Object(line)));
}

/// The speeds of an earlier report, by device and stage.
fn baseline(path: &Path) -> anyhow::Result<BTreeMap<(i32, String), f64>> {
    let shown = path.display();
    let bytes = read_argument(path, BASELINE_LIMIT)?;
    let report: Value = serde_json::from_slice(&bytes)
        .ok()
        .filter(|report: &Value| report["schema"] == "ascend-doctor/verify/1")
        .with_context(|| format!("`{shown}` is no report of `verify --format json`"))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut speeds = BTreeMap::new();
    for device in list(&report["devices"]) {
        let number = device["device"].as_i64().and_then(|number| i32::try_from(number).ok());
        for step in list(&device["stages"]) {
            let name = step["stage"].as_str().map(str::to_owned);
            if let (Some(number), Some(name), Some(speed)) =
                (number, name, step["gb_per_s"].as_f64())
            {
                speeds.insert((number, name), speed);
            }
        }
    }
    anyhow::ensure!(
        !speeds.is_empty(),
        "`{shown}` has no speeds: write it with `verify --level standard --format json`"
    );
    Ok(speeds)
}

/// Libraries that were not found although the search path has them: for another machine.
fn passed_over(done: &RunResult) -> Vec<(String, String)> {
    let tried = match missing(done) {
        Some(Event::StepEnd {
            outcome: Outcome::Failed { fault: Fault::NoLibrary { tried } },
            ..
        }) => Some(tried),
        _ => None,
    };
    let machine = Sysroot::live();
    let path = std::env::var("LD_LIBRARY_PATH").unwrap_or_default();
    let own = elf::machine_code(std::env::consts::ARCH);
    let mut found = Vec::new();
    for dir in path.split(':').filter(|dir| dir.starts_with('/')) {
        for name in tried.into_iter().flatten() {
            let path = format!("{}/{name}", dir.trim_end_matches('/'));
            let code = machine.open(&path).ok().and_then(|file| elf::machine_of(&file).ok()?);
            if let Some(code) = code.filter(|code| Some(*code) != own) {
                found.push((path, elf::machine_name(code)));
            }
        }
    }
    found
}

/// The report as one line.
fn last_line(mut report: Report, output: &Output) -> anyhow::Result<ExitStatus> {
    output.settle(&mut report);
    output
        .write(|out, style| {
            let mut bytes = Vec::new();
            render(&report, Format::Json, style, &mut bytes)?;
            let report: Value = serde_json::from_slice(&bytes)?;
            writeln!(out, "{report}")
        })
        .context("failed to write the report")?;
    Ok(report.exit_status())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_bring_what_they_need() {
        let quick = [Stage::Load, Stage::Runtime, Stage::Memory, Stage::Compute];
        assert_eq!(stages(&[], Level::Quick), quick);
        assert_eq!(stages(&[], Level::Standard), Stage::ALL[..6]);
        assert_eq!(stages(&[], Level::Extended), Stage::ALL);
        let compute = [Stage::Load, Stage::Runtime, Stage::Compute];
        assert_eq!(stages(&[Stage::Compute], Level::Extended), compute);
        assert_eq!(stages(&[Stage::Load], Level::Quick), [Stage::Load]);
    }
}
