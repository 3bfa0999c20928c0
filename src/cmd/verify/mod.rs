//! `verify`: runs the vendor's libraries in separate processes and reports the results.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the environment and the identity of this machine"
)]

mod cann;
mod cards;
mod field_kit;
mod idle;

use data::{OrFault as _, faults};
use std::path::Path;
use std::time::Duration;

use serde::Serialize;

use super::argument_file::read_argument;
use super::machine::open_machine;
use super::output::Output;
use super::progress;
use super::standard_streams::print;
use crate::cli::{MachineArgs, VerifyArgs};
use base::report::ExitStatus;
use base::visible;
use data::ui;
use machine::collect;
use machine::elf;
use machine::sysroot::Sysroot;
use render::{Format, write_json_line};
use verify::baseline::read_baseline;
use verify::cache;
use verify::evidence::{Recorded, Recorder};
use verify::identity::{DeviceNames, identify};
use verify::judge::JudgeContext;
use verify::libraries::find_foreign_libraries;
use verify::plog::Logs;
use verify::protocol::{Dtype, Event, Fault, Outcome, Stage};
use verify::report::{Host, report};
use verify::run::{Queries, RunOptions, TestSelection, run_installed};

/// Allows simulated libraries, for the tests of this program.
const ALLOW_SIMULATED: &str = "ASCEND_DOCTOR_ALLOW_SIM";
/// Maximum size of a baseline report, in bytes.
const BASELINE_LIMIT: u64 = 64 << 20;
/// Default time limit of a call, in seconds.
const SILENCE: f64 = 60.0;
/// The same for ranks that wait for each other. HCCL waits two minutes before it names the missing
/// ranks.
const PATIENCE: f64 = 150.0;

pub(super) fn run(args: &VerifyArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if let Some(path) = &args.replay {
        return replay(path, args, output);
    }
    let keep = args.keep_logs.as_deref();
    let logs = Logs::new(keep)
        .or_fault(|| faults::CannotMakeDirectory { path: keep.unwrap_or("".as_ref()) }.fault())?;
    let baseline = args.baseline.as_deref().map(|path| {
        let report = read_argument(path, BASELINE_LIMIT)?;
        anyhow::Ok(read_baseline(&report, &path.display().to_string())?)
    });
    let baseline = baseline.transpose()?;
    let limited = !args.floor.is_empty() || baseline.is_some();
    let TestSelection { stages, speed, sums } = TestSelection::new(&args.rung, args.level, limited);
    anyhow::ensure!(args.yes || !stages.contains(&Stage::Stress), faults::StressNeedsYes.fault());
    let lines = output.format() == Format::Jsonl;
    let env = if args.env_file.is_some() {
        let machine = MachineArgs { env_file: args.env_file.clone(), ..MachineArgs::default() };
        open_machine(&machine)?.env().vars.clone().into_iter().collect()
    } else {
        Vec::new()
    };
    let variable = |name: &str| std::env::var(name).ok();
    let machine = Sysroot::live();
    let set_for_children = |name: &str| {
        let own = env.iter().rev().find(|(known, _): &&(String, String)| known == name);
        own.map(|(_, value)| value.clone()).or_else(|| variable(name))
    };
    let search_path = set_for_children("LD_LIBRARY_PATH").unwrap_or_default();
    let is_set = |name: &str| set_for_children(name).is_some_and(|value| !value.is_empty());
    let rank_env = if sums { cards::loopback_variables(&machine, is_set) } else { Vec::new() };
    let loopback = !rank_env.is_empty();
    let mut options = RunOptions {
        devices: args.device.clone(),
        stages: stages.clone(),
        dtypes: if args.dtype.is_empty() { Dtype::ALL.to_vec() } else { args.dtype.clone() },
        level: args.level,
        speed,
        silence: Duration::from_secs_f64(args.call_timeout.unwrap_or(SILENCE)),
        patience: Duration::from_secs_f64(args.call_timeout.unwrap_or(PATIENCE)),
        sums,
        load: Duration::from_secs_f64(args.minutes * 60.0),
        allow_simulated: variable(ALLOW_SIMULATED).is_some_and(|value| value == "1"),
        logs: logs.path().map(ToOwned::to_owned),
        cache: cache::cache_dir(variable("XDG_CACHE_HOME").as_deref(), variable("HOME").as_deref()),
        cards: cards::has_dcmi(&machine, &search_path),
        assume_idle: args.assume_idle,
        record: args.evidence.is_some(),
        rank_env,
        env,
    };
    let recorder = args.evidence.is_some().then(Recorder::default);
    let show = |device: Option<i32>, event: &Event| match event {
        Event::Begin { step, .. } => {
            let place = device.map_or_else(|| "CANN".to_owned(), |device| format!("NPU {device}"));
            progress::show(&format!("{place}: {step}"));
        }
        // Printed after the run, if no other installation was found.
        Event::StepEnd { outcome: Outcome::Failed { fault: Fault::NoLibrary { .. } }, .. } => {}
        Event::StepEnd { .. } if lines => print_stage(device, event),
        _ => {}
    };
    let listener = |device: Option<i32>, event: &Event| {
        if let Some(recorder) = &recorder {
            recorder.note(device, event);
        }
        show(device, event);
    };
    let queries = Queries { device_use: &idle::query_device_use, health: &cards::read_health };
    let (done, installed) = run_installed(&mut options, &listener, &queries, &cann::find);
    if let Some(event) = done.no_library().filter(|_| lines) {
        print_stage(None, event);
    }
    let foreign_architecture =
        |path: &str| machine.open(path).ok().and_then(|file| elf::foreign_architecture(&file));
    let search_path = variable("LD_LIBRARY_PATH").unwrap_or_default();
    let visible =
        options.variable(visible::NAME).map(str::to_owned).or_else(|| variable(visible::NAME));
    let identity = cards::read_identity(&machine, visible);
    let baseline = baseline.unwrap_or_default();
    let context = JudgeContext {
        visible: identity.visible.clone(),
        names: DeviceNames(identify(&done, &identity)),
        foreign_libraries: find_foreign_libraries(&done, &search_path, &foreign_architecture),
        floors: args.floor.clone(),
        baseline: baseline.speeds,
        baseline_times: baseline.times,
        logs: logs.path().map(|logs| done.last_log_errors(logs)).unwrap_or_default(),
    };
    let host = read_host(&machine, args.host.as_deref());
    let mut report = report(&done, &stages, &context, &host, installed.as_ref());
    match (keep, logs.path()) {
        (Some(_), Some(path)) => {
            let path = path.display().to_string();
            report.notes.push(ui::VerifyKeptLogs { path }.text());
        }
        (None, None) => report.notes.push(ui::VERIFY_NO_LOGS.text()),
        _ => {}
    }
    if loopback && !done.ranks.is_empty() {
        report.notes.push(ui::VERIFY_LOOPBACK.text());
    }
    if args.assume_idle && !done.loads.is_empty() {
        report.notes.push(ui::VERIFY_ASSUMED_IDLE.text());
    }
    if let (Some(path), Some(recorder)) = (&args.evidence, recorder) {
        let arguments = std::env::args().skip(1).collect();
        let head = field_kit::describe(&machine, arguments);
        let recorded = Recorded { result: done, stages, machine: identity };
        field_kit::write(path, recorder, &head, &recorded, &host.name)?;
        let path = path.display().to_string();
        report.notes.push(ui::VerifyEvidence { path }.text());
    }
    super::finish(report, output)
}

/// Assesses recorded evidence.
fn replay(path: &Path, args: &VerifyArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let (head, recorded) = field_kit::read_recorded(path)?;
    let Recorded { result, stages, machine } = recorded;
    let context = JudgeContext {
        visible: machine.visible.clone(),
        names: DeviceNames(identify(&result, &machine)),
        floors: args.floor.clone(),
        ..JudgeContext::default()
    };
    let host = Host {
        name: args.host.clone().unwrap_or_default(),
        machine: None,
        boot: None,
        taken: None,
    };
    let mut report = report(&result, &stages, &context, &host, None);
    let path = format!("{} ({})", path.display(), head.program);
    report.notes.push(ui::VerifyReplayed { path }.text());
    super::finish(report, output)
}

/// Reads the identity of this machine; `name` replaces its host name.
fn read_host(machine: &Sysroot, name: Option<&str>) -> Host {
    let (installation, boot) = collect::read_identity(machine);
    let own = || machine.machine().hostname.clone().unwrap_or_default();
    let name = name.map_or_else(own, str::to_owned);
    Host { name, machine: installation, boot, taken: collect::read_clock() }
}

/// An event of a run, as a line of `--format jsonl`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct EventLine<'a> {
    schema: &'static str,
    /// The device; null before there are devices, while libraries are loaded.
    device: Option<i32>,
    #[serde(flatten)]
    event: &'a Event,
}

/// Prints a completed stage.
fn print_stage(device: Option<i32>, event: &Event) {
    let line = EventLine { schema: "ascend-doctor/verify-stage/1", device, event };
    // The reader of the lines may have exited. The run continues, and writing the report will fail.
    let _ = print(|_, out| write_json_line(&line, out));
}
