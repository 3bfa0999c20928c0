//! Starts one child, listens to it, and ends it: whatever the vendor's code does, this returns.
//!
//! - The pipe of reports is the child's standard input, which it moves away: no other way hands
//!   over a descriptor without `unsafe`. Its standard output and error are the vendor's chatter,
//!   drained so that a chatty library does not block, the end of it kept.
//! - The limit is on silence, not on the whole: a long test that goes on is not a hang.
//! - Threads of a driver do not mind SIGTERM, so the group is killed at once. A process that
//!   stays even then is stuck in the driver: that is said, and it is left behind.
//! - After the end of the child the pipe is read to its end before anything is judged.
#![expect(
    clippy::disallowed_methods,
    reason = "starts this program itself as the process that loads the vendor's libraries"
)]

use std::io::{BufRead as _, BufReader, Read};
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use super::child::ORDER;
use super::protocol::{Event, Order, Task};

/// The hidden subcommand.
pub const SUBCOMMAND: &str = "verify-child";
/// The longest line of a report, in bytes.
const MAX_LINE: u64 = 64 << 10;
/// The most events of one child; more is no report of ours.
const MAX_EVENTS: usize = 200_000;
/// How much of the vendor's chatter is kept, in bytes.
const TAIL: usize = 8 << 10;
/// How long a report is read after its writer is gone: a grandchild may hold the pipe.
const DRAIN: Duration = Duration::from_secs(1);
/// How long a killed process may take to be gone.
const REAP: Duration = Duration::from_secs(2);

/// What became of a child.
#[derive(Debug)]
pub struct Ran {
    /// The name of its order.
    pub name: String,
    /// The device that it was for.
    pub device: Option<i32>,
    /// What it reported, the calls left out.
    pub events: Vec<Event>,
    /// The function that it called last.
    pub last_call: Option<String>,
    /// How many functions it called.
    pub calls: u64,
    /// How it ended.
    pub end: End,
    /// What the vendor's code wrote to standard output and error.
    pub chatter: Chatter,
    /// How long it took.
    pub took: Duration,
}

/// How a child ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum End {
    /// It did what it was told and said what came of it.
    Reported,
    /// A signal ended it before.
    Crashed(i32),
    /// It exited before.
    Exited(i32),
    /// It was silent for too long and was killed.
    Silent(Duration),
    /// It was killed and stays: the process, and where in the kernel it waits, if that can be read.
    Stuck(u32, Option<String>),
    /// It said everything, and crashed then.
    CrashedAtEnd(i32),
    /// It said everything, and then did not end.
    SilentAtEnd,
    /// It could not be started.
    NotStarted(String),
}

/// What code wrote that should not have.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Chatter {
    /// How many bytes.
    pub bytes: u64,
    /// The end of it.
    pub tail: String,
    /// The function that was called when the first of it came.
    pub during: Option<String>,
}

enum News {
    Line(Vec<u8>),
    ReportEnds,
    FirstChatter,
    ChatterEnds,
    Ended(std::io::Result<ExitStatus>),
}

/// Starts a child with `order`, and stays until it has ended. `listen` hears its events as they
/// come. `logs` is where CANN writes the logs of this process, `env` what it gets besides our
/// own variables.
pub fn supervise(
    order: &Order,
    logs: Option<&Path>,
    env: &[(String, String)],
    listen: &mut dyn FnMut(&Event),
) -> Ran {
    let start = Instant::now();
    let mut ran = Ran {
        name: order.name(),
        device: order.device,
        events: Vec::new(),
        last_call: None,
        calls: 0,
        end: End::Reported,
        chatter: Chatter::default(),
        took: Duration::ZERO,
    };
    let child = match spawn(order, logs, env) {
        Ok(child) => child,
        Err(error) => {
            ran.end = End::NotStarted(error.to_string());
            return ran;
        }
    };
    let silence = Duration::from_millis(order.silence_ms);
    watch(&child, silence, &mut ran, listen);
    ran.took = start.elapsed();
    ran
}

struct Started {
    pid: u32,
    news: Receiver<News>,
    tail: Arc<Mutex<Tail>>,
}

fn spawn(order: &Order, logs: Option<&Path>, env: &[(String, String)]) -> std::io::Result<Started> {
    let (reports, writer) = std::io::pipe()?;
    let text = serde_json::to_string(order)?;
    let mut command = Command::new("/proc/self/exe");
    // Arguments are there for all to read, and who has the root information can join.
    match order.task {
        Task::Rank { .. } => command.args([SUBCOMMAND, "-"]).env(ORDER, text),
        _ => command.args([SUBCOMMAND, &text]),
    };
    command
        .envs(env.iter().map(|(name, value)| (name, value)))
        .stdin(Stdio::from(writer))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0);
    if let Some(logs) = logs {
        command.env("ASCEND_PROCESS_LOG_PATH", logs);
    }
    let mut child = command.spawn()?;
    // Our end of the child's pipe is in `command`: it has to go, or the report never ends.
    drop(command);
    let (sender, news) = channel();
    let tail = Arc::new(Mutex::new(Tail::default()));
    let pipes: [Option<Box<dyn Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Read + Send>),
    ];
    for pipe in pipes.into_iter().flatten() {
        let (sender, tail) = (sender.clone(), Arc::clone(&tail));
        std::thread::spawn(move || drain(pipe, &tail, &sender));
    }
    let lines = sender.clone();
    std::thread::spawn(move || read_lines(reports, &lines));
    let pid = child.id();
    std::thread::spawn(move || {
        let _ = sender.send(News::Ended(child.wait()));
    });
    Ok(Started { pid, news, tail })
}

fn read_lines(pipe: impl Read, sender: &Sender<News>) {
    let mut pipe = BufReader::new(pipe);
    loop {
        let mut line = Vec::new();
        let read = pipe.by_ref().take(MAX_LINE).read_until(b'\n', &mut line);
        if !matches!(read, Ok(1..)) || sender.send(News::Line(line)).is_err() {
            let _ = sender.send(News::ReportEnds);
            return;
        }
    }
}

#[derive(Default)]
struct Tail {
    bytes: u64,
    kept: Vec<u8>,
}

fn drain(mut pipe: Box<dyn Read + Send>, tail: &Mutex<Tail>, sender: &Sender<News>) {
    let mut buffer = [0; 4096];
    while let Ok(count @ 1..) = pipe.read(&mut buffer) {
        let mut tail = tail.lock().unwrap_or_else(PoisonError::into_inner);
        if tail.bytes == 0 {
            let _ = sender.send(News::FirstChatter);
        }
        tail.bytes += count as u64;
        tail.kept.extend_from_slice(&buffer[..count]);
        let over = tail.kept.len().saturating_sub(TAIL);
        tail.kept.drain(..over);
    }
    let _ = sender.send(News::ChatterEnds);
}

fn watch(child: &Started, silence: Duration, ran: &mut Ran, listen: &mut dyn FnMut(&Event)) {
    let (mut ended, mut report_over, mut quiet) = (None, false, 0);
    let (mut done, mut killed) = (false, false);
    let mut deadline = Instant::now() + silence;
    while ended.is_none() || !report_over || quiet < 2 {
        match child.news.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(News::Line(line)) => {
                if !killed && ended.is_none() {
                    deadline = Instant::now() + silence;
                }
                if ran.events.len() < MAX_EVENTS {
                    take(&line, ran, &mut done, listen);
                }
            }
            Ok(News::ReportEnds) => report_over = true,
            Ok(News::FirstChatter) => ran.chatter.during = ran.last_call.clone(),
            Ok(News::ChatterEnds) => quiet += 1,
            Ok(News::Ended(status)) => {
                ended = Some(status);
                deadline = Instant::now() + DRAIN;
            }
            Err(RecvTimeoutError::Timeout) if ended.is_none() && !killed => {
                killed = true;
                kill(child.pid);
                deadline = Instant::now() + REAP;
            }
            Err(_) => break,
        }
    }
    // What it started and left behind in its group goes with it.
    kill(child.pid);
    let tail = child.tail.lock().unwrap_or_else(PoisonError::into_inner);
    ran.chatter.bytes = tail.bytes;
    ran.chatter.tail = String::from_utf8_lossy(&tail.kept).into_owned();
    ran.end = match (ended, killed) {
        (None, _) => End::Stuck(child.pid, waits_in(child.pid)),
        (Some(_), true) if done => End::SilentAtEnd,
        (Some(_), true) => End::Silent(silence),
        (Some(Err(error)), _) => End::NotStarted(error.to_string()),
        (Some(Ok(status)), _) => match (status.signal(), status.code()) {
            (Some(signal), _) if done => End::CrashedAtEnd(signal),
            (Some(signal), _) => End::Crashed(signal),
            _ if done => End::Reported,
            (_, code) => End::Exited(code.unwrap_or_default()),
        },
    };
}

fn take(line: &[u8], ran: &mut Ran, done: &mut bool, listen: &mut dyn FnMut(&Event)) {
    // Nobody else has the pipe; a line that is cut off belongs to a crash.
    let Ok(event) = serde_json::from_slice::<Event>(line) else { return };
    listen(&event);
    match event {
        Event::Call { function } => {
            ran.last_call = Some(function);
            ran.calls += 1;
        }
        event => {
            // A stage that failed is the last word: nothing is called after it.
            *done |= matches!(
                event,
                Event::Done | Event::Stage { outcome: super::protocol::Outcome::Failed { .. }, .. }
            );
            ran.events.push(event);
        }
    }
}

fn kill(pid: u32) {
    use rustix::process::{Pid, Signal, kill_process_group};
    if let Some(pid) = i32::try_from(pid).ok().and_then(Pid::from_raw) {
        let _ = kill_process_group(pid, Signal::KILL);
    }
}

/// Where in the kernel a process waits.
fn waits_in(pid: u32) -> Option<String> {
    let place = std::fs::read_to_string(format!("/proc/{pid}/wchan")).ok()?;
    (!place.is_empty() && place != "0").then_some(place)
}

/// The process that children die with: this one.
pub fn own_pid() -> u32 {
    rustix::process::getpid().as_raw_nonzero().get().cast_unsigned()
}
