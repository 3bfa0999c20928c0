//! Child processes with a time limit and bounded output.

use std::hash::{DefaultHasher, Hasher as _};
use std::io::{Read, Write as _};
use std::os::fd::AsFd;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result};
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, kill_process_group};

/// Limits of one process.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Limits {
    pub(crate) time: Duration,
    /// Bytes kept of each stream; the rest is reduced to its length and a hash.
    pub(crate) bytes: usize,
}

/// The end of a process.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Status {
    Exited(i32),
    Signaled(i32),
    TimedOut,
}

impl std::fmt::Display for Status {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Exited(code) => write!(f, "exit status {code}"),
            Self::Signaled(signal) => write!(f, "ended by signal {signal}"),
            Self::TimedOut => write!(f, "time limit exceeded"),
        }
    }
}

/// Output of one stream.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Stream {
    pub(crate) bytes: Vec<u8>,
    /// Length and hash of the part beyond the limit.
    pub(crate) rest: Option<(u64, u64)>,
}

/// Result of one process.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Output {
    pub(crate) status: Status,
    pub(crate) stdout: Stream,
    pub(crate) stderr: Stream,
}

/// Runs a command in a separate process group. A process that exceeds the time limit is killed with
/// its group, and its output is dropped.
pub(crate) fn run(command: &mut Command, stdin: &[u8], limits: Limits) -> Result<Output> {
    let deadline = Instant::now() + limits.time;
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command
        .stdin(if stdin.is_empty() { Stdio::null() } else { Stdio::piped() })
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .with_context(|| format!("cannot start `{name}`"))?;
    if let Some(mut pipe) = child.stdin.take() {
        let input = stdin.to_vec();
        // A program that reads no input closes the pipe, so the write error carries no information.
        std::thread::spawn(move || pipe.write_all(&input));
    }
    if let Some([stdout, stderr]) = read_streams(&mut child, limits.bytes, deadline)?
        && let Some(status) = wait(&mut child, deadline)?
    {
        let status = match (status.code(), status.signal()) {
            (Some(code), _) => Status::Exited(code),
            (None, signal) => Status::Signaled(signal.unwrap_or_default()),
        };
        return Ok(Output { status, stdout, stderr });
    }
    if let Some(group) = i32::try_from(child.id()).ok().and_then(Pid::from_raw) {
        // The group may have ended in the meantime.
        let _ = kill_process_group(group, Signal::KILL);
    }
    child.wait()?;
    Ok(Output { status: Status::TimedOut, stdout: Stream::default(), stderr: Stream::default() })
}

/// Waits for a process whose streams are closed, which is nearly always one that has ended.
fn wait(child: &mut Child, deadline: Instant) -> Result<Option<ExitStatus>> {
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok(Some(status));
        }
        if Instant::now() >= deadline {
            return Ok(None);
        }
        std::thread::sleep(Duration::from_micros(200));
    }
}

/// Reads both output streams to their ends, or returns `None` at the time limit.
///
/// One thread polls both streams: with thousands of short processes, starting a thread for each
/// stream takes a noticeable part of a run.
fn read_streams(child: &mut Child, keep: usize, deadline: Instant) -> Result<Option<[Stream; 2]>> {
    let mut pipes = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn Pipe>),
    ];
    let mut readers = [Reader::default(), Reader::default()];
    let mut buffer = vec![0; 64 << 10];
    loop {
        let open: Vec<usize> = (0..2).filter(|&index| pipes[index].is_some()).collect();
        if open.is_empty() {
            return Ok(Some(readers.map(Reader::finish)));
        }
        let left = deadline.saturating_duration_since(Instant::now());
        let limit =
            Timespec { tv_sec: left.as_secs().try_into()?, tv_nsec: left.subsec_nanos().into() };
        let mut polled: Vec<PollFd<'_>> = pipes
            .iter()
            .flatten()
            .map(|pipe| PollFd::from_borrowed_fd(pipe.as_fd(), PollFlags::IN))
            .collect();
        if poll(&mut polled, Some(&limit))? == 0 {
            return Ok(None);
        }
        let ready: Vec<bool> = polled.iter().map(|one| !one.revents().is_empty()).collect();
        for (index, _) in open.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            let Some(pipe) = &mut pipes[index] else { continue };
            let count = pipe.read(&mut buffer)?;
            if count == 0 {
                pipes[index] = None;
            }
            readers[index].add(&buffer[..count], keep);
        }
    }
}

/// A stream that can be polled and read.
trait Pipe: Read + AsFd {}

impl<T: Read + AsFd> Pipe for T {}

/// A stream while it is read.
#[derive(Default)]
struct Reader {
    bytes: Vec<u8>,
    dropped: u64,
    hasher: DefaultHasher,
}

impl Reader {
    fn add(&mut self, part: &[u8], keep: usize) {
        let room = keep.saturating_sub(self.bytes.len()).min(part.len());
        self.bytes.extend_from_slice(&part[..room]);
        self.hasher.write(&part[room..]);
        self.dropped += (part.len() - room) as u64;
    }

    fn finish(self) -> Stream {
        let rest = (self.dropped > 0).then(|| (self.dropped, self.hasher.finish()));
        Stream { bytes: self.bytes, rest }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, stdin: &[u8], limits: Limits) -> Output {
        run(Command::new("sh").args(["-c", script]), stdin, limits).unwrap()
    }

    const LIMITS: Limits = Limits { time: Duration::from_secs(30), bytes: 1 << 20 };

    #[test]
    fn status_and_both_streams_are_captured() {
        let output = sh("cat; echo wrong >&2; exit 3", b"input", LIMITS);
        assert_eq!(output.status, Status::Exited(3));
        assert_eq!(output.stdout.bytes, b"input");
        assert_eq!(output.stderr.bytes, b"wrong\n");
        assert_eq!(sh("kill -9 $$", b"", LIMITS).status, Status::Signaled(9));
    }

    #[test]
    fn time_limit_ends_grandchildren() {
        let start = Instant::now();
        let limits = Limits { time: Duration::from_millis(200), ..LIMITS };
        assert_eq!(sh("sleep 30 | cat; true", b"", limits).status, Status::TimedOut);
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn output_beyond_the_limit_is_hashed() {
        let limits = Limits { bytes: 3, ..LIMITS };
        let one = sh("printf abcdef", b"", limits).stdout;
        assert_eq!((one.bytes.as_slice(), one.rest.unwrap().0), (&b"abc"[..], 3));
        assert_ne!(one, sh("printf abcdeX", b"", limits).stdout);
        assert_eq!(sh("printf abc", b"", limits).stdout.rest, None);
    }

    #[test]
    fn missing_program_is_an_error() {
        let error = run(&mut Command::new("/nonexistent/program"), b"", LIMITS).unwrap_err();
        assert!(error.to_string().contains("/nonexistent/program"));
    }
}
