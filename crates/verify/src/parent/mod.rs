//! Starts one child, reads its events, and ends it. This always returns, whatever the vendor's code
//! does.
//!
//! - The pipe of reports is the child's standard input, which it moves away: there is no other way
//!   to pass a descriptor without `unsafe`. Its standard output and error share another pipe, for
//!   the vendor's output, drained so that a verbose library does not block.
//! - The time limit applies to silence, not to the total time: a long test with progress is not a
//!   hang.
//! - Driver threads ignore SIGTERM, so the group is killed at once. A process that survives SIGKILL
//!   is stuck in the driver: it is reported and left behind ([`mod@watch`]).
//! - After the end of the child, the pipes are read to their end before the evaluation.
//! - Processes that leave the group, by `setsid`, are found and ended after the run ([`orphans`]).
#![expect(
    clippy::disallowed_methods,
    reason = "starts this program itself as the process that loads the vendor's libraries"
)]

pub mod orphans;
mod watch;

use std::io::Read;
use std::path::Path;
use std::process::Stdio;
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use guard::process::{Group, command};
use rustix::process::Pid;

use serde::{Deserialize, Serialize};

use super::protocol::invocation::{ORDER, SUBCOMMAND};
use super::protocol::vendor_output::OutputReader;
use super::protocol::{Event, EventReader, Order, Task, VendorOutput};
use watch::{ChildEvent, Limits, watch};

/// The result of a child.
#[derive(Debug, Serialize, Deserialize)]
pub struct ChildResult {
    /// The name of its order.
    pub name: String,
    /// Its device.
    pub device: Option<i32>,
    /// Its events, without the calls.
    pub events: Vec<Event>,
    /// The last function that it called.
    pub last_call: Option<String>,
    /// The number of functions that it called.
    pub calls: u64,
    /// How it ended.
    pub end: ChildEnd,
    /// The output of the vendor's code to standard output and error.
    pub chatter: VendorOutput,
    /// Its duration.
    pub took: Duration,
}

impl ChildResult {
    /// The chip name from the runtime.
    pub fn soc(&self) -> Option<&str> {
        self.events.iter().find_map(|event| match event {
            Event::Soc { name } => Some(name.as_str()),
            _ => None,
        })
    }

    /// A child without any event.
    pub fn new(name: String, device: Option<i32>) -> Self {
        Self {
            name,
            device,
            events: Vec::new(),
            last_call: None,
            calls: 0,
            end: ChildEnd::Reported,
            chatter: VendorOutput::default(),
            took: Duration::ZERO,
        }
    }
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ChildEnd {
    /// It completed its order and reported the result.
    Reported,
    /// A signal terminated it before.
    Crashed(i32),
    /// It exited before.
    Exited(i32),
    /// It was silent for too long and was killed.
    Silent(Duration),
    /// It was killed and did not exit.
    Stuck(StuckProcess),
    /// It reported everything, then crashed.
    CrashedAtEnd(i32),
    /// It reported everything, then did not exit.
    SilentAtEnd,
    /// It could not be started.
    NotStarted(String),
}

impl ChildEnd {
    /// A short description, independent of the language: `SIGABRT`, `exit 3`.
    pub fn brief(&self) -> String {
        match self {
            Self::Reported => "-".to_owned(),
            Self::Crashed(signal) | Self::CrashedAtEnd(signal) => signal_name(*signal),
            Self::Exited(status) => format!("exit {status}"),
            Self::Silent(limit) => format!("> {} s", limit.as_secs()),
            Self::Stuck(process) => format!("pid {}", process.pid),
            Self::SilentAtEnd => "SIGKILL".to_owned(),
            Self::NotStarted(error) => error.clone(),
        }
    }
}

/// The name of a signal that terminates processes.
pub fn signal_name(signal: i32) -> String {
    match signal {
        4 => "SIGILL".to_owned(),
        6 => "SIGABRT".to_owned(),
        7 => "SIGBUS".to_owned(),
        8 => "SIGFPE".to_owned(),
        9 => "SIGKILL".to_owned(),
        11 => "SIGSEGV".to_owned(),
        15 => "SIGTERM".to_owned(),
        other => other.to_string(),
    }
}

/// A process that survives SIGKILL.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct StuckProcess {
    /// Its process ID.
    pub pid: u32,
    /// Its state in the notation of the kernel: `D` waits in the kernel, `t` is stopped by a
    /// debugger, `Z` is dead but held by one.
    pub state: Option<char>,
    /// The kernel function in which it waits, if readable.
    pub place: Option<String>,
}

/// Starts a child with `order`, and waits until it has ended. `listen` receives its events as they
/// arrive. `logs` is the directory for CANN's logs of this process, `env` contains variables in
/// addition to those of this process.
pub fn supervise(
    order: &Order,
    logs: Option<&Path>,
    env: &[(String, String)],
    listen: &mut dyn FnMut(&Event),
) -> ChildResult {
    let start = Instant::now();
    let mut ran = ChildResult::new(order.name(), order.device);
    let child = match spawn(order, logs, env) {
        Ok(child) => child,
        Err(error) => {
            ran.end = ChildEnd::NotStarted(error.to_string());
            return ran;
        }
    };
    let limits = Limits::new(Duration::from_millis(order.silence_ms));
    let mut event_reader = EventReader::default();
    let kill = || child.group.kill();
    let watched = watch(&child.news, limits, &kill, &mut event_reader, listen);
    ran.end = watched.end(event_reader.done, limits.silence, || describe_stuck(child.group.pid()));
    ran.events = event_reader.events;
    ran.last_call = event_reader.last_call;
    ran.calls = event_reader.calls;
    ran.chatter = child.chatter.lock().unwrap_or_else(PoisonError::into_inner).to_output();
    ran.took = start.elapsed();
    ran
}

struct RunningChild {
    group: Arc<Group>,
    news: Receiver<ChildEvent>,
    chatter: Arc<Mutex<OutputReader>>,
}

fn spawn(
    order: &Order,
    logs: Option<&Path>,
    env: &[(String, String)],
) -> std::io::Result<RunningChild> {
    let (reports, writer) = std::io::pipe()?;
    let (words, mouth) = std::io::pipe()?;
    let text = serde_json::to_string(order)?;
    // The environment is that of the caller: it contains the paths of the vendor's libraries.
    let mut command = command(Path::new("/proc/self/exe"))?;
    // Arguments are public, and the root information allows any process to join.
    match order.task {
        Task::Rank { .. } => command.args([SUBCOMMAND, "-"]).env(ORDER, text),
        _ => command.args([SUBCOMMAND, &text]),
    };
    command
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(writer))
        .stdout(mouth.try_clone()?)
        .stderr(mouth);
    if let Some(logs) = logs {
        command.env("ASCEND_PROCESS_LOG_PATH", logs);
    }
    let mut child = command.spawn()?;
    // `command` holds our ends of the child's pipes: unless it is dropped, the pipes never end.
    drop(command);
    let group = Arc::new(Group::of(&child));
    let (sender, news) = channel();
    let chatter = Arc::new(Mutex::new(OutputReader::default()));
    let (ear, ends) = (Arc::clone(&chatter), sender.clone());
    let listen = move || {
        read(words, |bytes| {
            ear.lock().unwrap_or_else(PoisonError::into_inner).feed(bytes);
            true
        });
        let _ = ends.send(ChildEvent::OutputClosed);
    };
    let said = sender.clone();
    let collect = move || {
        read(reports, |bytes| said.send(ChildEvent::ReportData(bytes.to_vec())).is_ok());
        let _ = said.send(ChildEvent::ReportClosed);
    };
    let own = Arc::clone(&group);
    let reap = move || {
        let _ = sender.send(ChildEvent::Exited(own.reap(&mut child)));
    };
    let start = |work: Box<dyn FnOnce() + Send>| std::thread::Builder::new().spawn(work);
    let started = start(Box::new(reap))
        .and_then(|_| start(Box::new(listen)))
        .and_then(|_| start(Box::new(collect)));
    if let Err(error) = started {
        // Without threads, the child would be unsupervised.
        group.kill();
        return Err(error);
    }
    Ok(RunningChild { group, news, chatter })
}

/// Reads a pipe to its end, or until the reader of its content is gone.
fn read(mut pipe: impl Read, mut take: impl FnMut(&[u8]) -> bool) {
    let mut buffer = [0; 16 << 10];
    loop {
        match pipe.read(&mut buffer) {
            Ok(count @ 1..) if take(&buffer[..count]) => {}
            Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
            _ => return,
        }
    }
}

/// Describes a process that does not end.
fn describe_stuck(pid: Pid) -> StuckProcess {
    let pid = pid.as_raw_nonzero().get().cast_unsigned();
    let read = |file: &str| std::fs::read_to_string(format!("/proc/{pid}/{file}")).ok();
    // The name may contain blanks and brackets.
    let state = read("stat").and_then(|stat| stat.rsplit_once(") ")?.1.chars().next());
    let place = read("wchan").filter(|place| !place.is_empty() && place != "0");
    StuckProcess { pid, state, place }
}

/// The process whose death ends the children: this one.
pub fn own_pid() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get().cast_unsigned()
}
