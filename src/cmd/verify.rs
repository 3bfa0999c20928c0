//! `verify`: run the vendor's libraries in processes of their own, and judge what they did.
#![expect(clippy::disallowed_methods, reason = "asks whether simulated libraries are allowed")]

use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

use anyhow::Context as _;
use serde_json::{Value, json};

use super::output::{self, Output};
use super::progress::Line;
use crate::cli::VerifyArgs;
use crate::elf;
use crate::render::{Format, render};
use crate::report::{ExitStatus, Report, Table, Verdict};
use crate::sysroot::Sysroot;
use crate::text::{Text, sentence, words};
use crate::verify::judge::{Surroundings, judge};
use crate::verify::parent::Ran;
use crate::verify::plog::{Logs, last_errors};
use crate::verify::protocol::{Dtype, Event, Fault, Level, Outcome, Rung};
use crate::verify::run::{self, Done, Wanted, log_dir};

/// Allows simulated libraries: for the tests of this program.
const ALLOW_SIMULATED: &str = "ASCEND_DOCTOR_ALLOW_SIM";
/// The largest report that is read.
const BASELINE_LIMIT: u64 = 64 << 20;
/// What every output says then.
const SIMULATED: &str = "SIMULATED";

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
        asked.push(Rung::Memory);
    }
    let rungs = rungs(&asked);
    let wanted = Wanted {
        devices: args.device.clone(),
        rungs: rungs.clone(),
        dtypes: if args.dtype.is_empty() { Dtype::ALL.to_vec() } else { args.dtype.clone() },
        level: args.level,
        speed: limited || args.level == Level::Standard,
        silence: Duration::from_secs_f64(args.timeout),
        allow_simulated: std::env::var_os(ALLOW_SIMULATED).is_some_and(|value| value == "1"),
        logs: logs.path().map(ToOwned::to_owned),
    };
    let line = Line::new(output.quiet() || args.json);
    let done = run::run(&wanted, &|device, event| match event {
        Event::Begin { stage, .. } => {
            let place = device.map_or_else(|| "CANN".to_owned(), |device| format!("NPU {device}"));
            line.show(&format!("{place}: {stage}"));
        }
        Event::Stage { .. } if args.json => say(device, event),
        _ => {}
    });
    drop(line);
    let mut around = Surroundings {
        visible: std::env::var("ASCEND_RT_VISIBLE_DEVICES").ok(),
        passed_over: passed_over(&done),
        floors: args.floor.clone(),
        baseline: baseline.unwrap_or_default(),
        ..Surroundings::default()
    };
    for ran in std::iter::once(&done.first).chain(&done.devices) {
        let tail = logs.path().and_then(|logs| last_errors(&log_dir(logs, ran.device)));
        around.logs.extend(tail.map(|tail| (ran.device, tail)));
    }
    let mut report = report(&done, &rungs, &around);
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

/// The rungs that were asked for, and those that they need: all below the highest, but for the
/// memory, without which computing can be tried.
fn rungs(asked: &[Rung]) -> Vec<Rung> {
    let highest = asked.iter().max().copied().unwrap_or(Rung::Compute);
    Rung::ALL
        .into_iter()
        .filter(|rung| {
            asked.is_empty()
                || asked.contains(rung)
                || (*rung < highest && matches!(rung, Rung::Load | Rung::Runtime))
        })
        .collect()
}

/// Writes a stage that ended as a line.
fn say(device: Option<i32>, event: &Event) {
    let Ok(Value::Object(mut line)) = serde_json::to_value(event) else { return };
    line.insert("schema".to_owned(), json!("ascend-doctor/verify-stage/1"));
    line.insert("device".to_owned(), json!(device));
    // Whoever reads the lines may be gone; the run goes on, and the report fails to be written.
    let _ = output::print(|_, out| writeln!(out, "{}", Value::Object(line)));
}

/// The speeds of an earlier report, by device and stage.
fn baseline(path: &Path) -> anyhow::Result<BTreeMap<(i32, String), f64>> {
    let shown = path.display();
    let bytes = output::read_argument(path, BASELINE_LIMIT)?;
    let report: Value = serde_json::from_slice(&bytes)
        .ok()
        .filter(|report: &Value| report["schema"] == "ascend-doctor/verify/1")
        .with_context(|| format!("`{shown}` is no report of `verify --format json`"))?;
    let list = |value: &Value| value.as_array().cloned().unwrap_or_default();
    let mut speeds = BTreeMap::new();
    for device in list(&report["devices"]) {
        let number = device["device"].as_i64().and_then(|number| i32::try_from(number).ok());
        for stage in list(&device["stages"]) {
            let name = stage["stage"].as_str().map(str::to_owned);
            if let (Some(number), Some(name), Some(speed)) =
                (number, name, stage["gb_per_s"].as_f64())
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
fn passed_over(done: &Done) -> Vec<(String, String)> {
    let tried = done.first.events.iter().find_map(|event| match event {
        Event::Stage { outcome: Outcome::Failed { fault: Fault::NoLibrary { tried } }, .. } => {
            Some(tried)
        }
        _ => None,
    });
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
    report.fail_on = output.fail_on();
    report.sort();
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

fn report(done: &Done, rungs: &[Rung], around: &Surroundings) -> Report {
    let judgement = judge(done, rungs, around);
    let simulated = done
        .first
        .events
        .iter()
        .any(|event| matches!(event, Event::Loaded { simulated: true, .. }));
    let host = Sysroot::live().machine().hostname.clone().unwrap_or_default();
    let subject = if simulated { format!("{host} ({SIMULATED})") } else { host };
    let mut report = Report::new("verify", subject.trim().to_owned());
    report.findings = judgement.findings;
    report.results = judgement.results;
    report.no_verdict = judgement.no_verdict;
    if simulated {
        report.notes.push(words("verify_simulated"));
        report.provenance.push(("libraries".to_owned(), SIMULATED.to_owned()));
        for finding in &mut report.findings {
            finding.title.en = format!("{SIMULATED} {}", finding.title.en);
            finding.title.zh = format!("{SIMULATED} {}", finding.title.zh);
        }
        for result in &mut report.results {
            result.name.en = format!("{SIMULATED} {}", result.name.en);
            result.name.zh = format!("{SIMULATED} {}", result.name.zh);
        }
    }
    for event in &done.first.events {
        match event {
            Event::Interface { version: [major, minor, patch] } => report
                .overview
                .push((words("verify_interface"), Text::same(format!("{major}.{minor}.{patch}")))),
            Event::Loaded { libraries, .. } => {
                let names: Vec<&str> = libraries.iter().map(|lib| lib.name.as_str()).collect();
                report.overview.push((Text::same("CANN"), Text::same(names.join(", "))));
            }
            _ => {}
        }
    }
    for rung in rungs {
        let passed = report
            .results
            .iter()
            .any(|result| result.id == rung.finding() && result.verdict == Verdict::Passed);
        if passed {
            report.notes.push(words(proves(*rung)));
        }
    }
    if !done.devices.is_empty() {
        report.tables.push(overview(done, rungs));
    }
    report.extra.insert("simulated".to_owned(), json!(simulated));
    report
        .extra
        .insert("devices".to_owned(), json!(done.devices.iter().map(device).collect::<Vec<_>>()));
    report.extra.insert("start".to_owned(), device(&done.first));
    report
}

/// What a rung proves and what not, as a key of `data/ui.toml`.
const fn proves(rung: Rung) -> &'static str {
    match rung {
        Rung::Load => "verify_proves_load",
        Rung::Runtime => "verify_proves_runtime",
        Rung::Memory => "verify_proves_memory",
        Rung::Compute => "verify_proves_compute",
    }
}

fn soc(ran: &Ran) -> Option<&str> {
    ran.events.iter().find_map(|event| match event {
        Event::Soc { name } => Some(name.as_str()),
        _ => None,
    })
}

/// A child in the JSON report.
fn device(ran: &Ran) -> Value {
    let stages: Vec<&Event> =
        ran.events.iter().filter(|event| matches!(event, Event::Stage { .. })).collect();
    json!({
        "device": ran.device,
        "soc": soc(ran),
        "took_ms": ran.took.as_secs_f64() * 1e3,
        "last_call": ran.last_call,
        "stages": stages,
    })
}

/// A row for each device: its chip, what became of each rung, how long it took.
fn overview(done: &Done, rungs: &[Rung]) -> Table {
    let mark = |ran: &Ran, rung: Rung| {
        let (mut open, mut seen) = (false, "");
        for event in &ran.events {
            match event {
                Event::Begin { rung: of, .. } if *of == rung => open = true,
                Event::Stage { rung: of, outcome, .. } if *of == rung => {
                    open = false;
                    seen = match (outcome, seen) {
                        (Outcome::Failed { .. }, _) => "✗",
                        (Outcome::NotSupported { .. }, "") => "–",
                        (Outcome::NotSupported { .. }, before) => before,
                        (Outcome::Passed, _) => "✓",
                    };
                }
                _ => {}
            }
        }
        // A stage that began and never ended took the process with it.
        if open { "✗" } else { seen }.to_owned()
    };
    let row = |ran: &Ran| {
        let mut row = vec![
            ran.device.map(|device| device.to_string()).unwrap_or_default(),
            soc(ran).unwrap_or_default().to_owned(),
        ];
        row.extend(rungs.iter().map(|rung| mark(ran, *rung)));
        row.push(format!("{:.0}", ran.took.as_secs_f64() * 1e3));
        row.into_iter().map(Text::same).collect::<Vec<_>>()
    };
    let mut head = vec![words("verify_device"), words("verify_chip")];
    head.extend(rungs.iter().map(|rung| Text::same(rung.as_str())));
    head.push(Text::same("ms"));
    Table { title: words("verify_devices"), head, rows: done.devices.iter().map(row).collect() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rungs_bring_what_they_need() {
        assert_eq!(rungs(&[]), Rung::ALL);
        assert_eq!(rungs(&[Rung::Compute]), [Rung::Load, Rung::Runtime, Rung::Compute]);
        assert_eq!(rungs(&[Rung::Load]), [Rung::Load]);
    }
}
