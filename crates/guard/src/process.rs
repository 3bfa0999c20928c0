//! Starts programs by absolute path, with a chosen environment, as leaders of new process groups,
//! with limits of time and output. No process of the group remains after a run.
#![expect(clippy::disallowed_methods, reason = "this is the layer that the others use")]

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read as _};
use std::os::fd::OwnedFd;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::process::{Pid, Signal, WaitId, WaitIdOptions, kill_process_group, waitid};

/// The time that a program has to exit after its output ended, and the time to wait for remaining
/// output after its exit, because a grandchild may hold the pipe.
const GRACE: Duration = Duration::from_millis(200);
/// Interval between checks whether a silent program has ended.
const STEP: Duration = Duration::from_millis(20);

/// Variables that every program gets: enough to find its own files.
const KEPT: [&str; 4] = ["HOME", "TZ", "TMPDIR", "USER"];
/// The directories in which a child looks for programs.
const PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// A program to run.
#[derive(Debug, Clone)]
pub struct Program {
    path: PathBuf,
    args: Vec<OsString>,
    env: Vec<(OsString, OsString)>,
    limit: Duration,
    max_output: usize,
    max_errors: usize,
}

/// How a program ended.
#[derive(Debug)]
pub struct Ended {
    /// Its status; `None` if it was killed at the time limit.
    pub status: Option<ExitStatus>,
    /// Its standard output, up to the limit.
    pub output: Vec<u8>,
    /// Its standard error, up to the limit.
    pub errors: Vec<u8>,
    /// Whether it wrote more than that.
    pub cut: bool,
}

impl Program {
    /// Creates the program at an absolute path, with a fixed environment and no input.
    pub fn new(path: impl Into<PathBuf>) -> Self {
        let mut program = Self {
            path: path.into(),
            args: Vec::new(),
            env: Vec::new(),
            limit: Duration::from_secs(10),
            max_output: 1 << 20,
            max_errors: 16 << 10,
        };
        for name in KEPT {
            program = program.keep(name);
        }
        program.env("PATH", PATH).env("LC_ALL", "C")
    }

    /// Adds arguments.
    #[must_use]
    pub fn args<A: AsRef<OsStr>>(mut self, args: impl IntoIterator<Item = A>) -> Self {
        self.args.extend(args.into_iter().map(|arg| arg.as_ref().to_owned()));
        self
    }

    /// Sets a variable.
    #[must_use]
    pub fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Self {
        self.env.push((name.into(), value.as_ref().to_owned()));
        self
    }

    /// Passes on a variable of the caller.
    #[must_use]
    pub fn keep(self, name: &str) -> Self {
        match std::env::var_os(name) {
            Some(value) => self.env(name, value),
            None => self,
        }
    }

    /// Passes on a list of directories, without those that depend on the working directory.
    #[must_use]
    pub fn keep_directories(self, name: &str) -> Self {
        let Some(value) = std::env::var_os(name) else { return self };
        let absolute = std::env::split_paths(&value).filter(|dir| dir.is_absolute());
        match std::env::join_paths(absolute) {
            Ok(value) if !value.is_empty() => self.env(name, value),
            _ => self,
        }
    }

    /// Kills the program and its group after this time.
    #[must_use]
    pub fn limit(mut self, limit: Duration) -> Self {
        self.limit = limit;
        self
    }

    /// Keeps at most `bytes` bytes of its output.
    #[must_use]
    pub fn max_output(mut self, bytes: usize) -> Self {
        self.max_output = bytes;
        self
    }

    /// Runs the program to its end, without starting a thread.
    ///
    /// # Errors
    ///
    /// It cannot be started.
    pub fn run(&self) -> io::Result<Ended> {
        let deadline = Instant::now() + self.limit;
        let mut child = command(&self.path)?
            .env_clear()
            .args(&self.args)
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()?;
        let group = Group::of(&child);
        let mut pipes = [
            Pipe::new(child.stdout.take().map(OwnedFd::from), self.max_output),
            Pipe::new(child.stderr.take().map(OwnedFd::from), self.max_errors),
        ];
        let read = drain(&mut pipes, &group, deadline);
        let status =
            group.wait_until(deadline.max(Instant::now() + GRACE), read.is_ok(), &mut child);
        read?;
        let [output, errors] = pipes;
        let cut = output.cut || errors.cut;
        Ok(Ended { status, output: output.bytes, errors: errors.bytes, cut })
    }
}

/// A command for the program at an absolute path, which leads its own group. Only for callers that
/// supervise it themselves, with [`Group`].
///
/// # Errors
///
/// The path is relative.
pub fn command(path: &Path) -> io::Result<Command> {
    if !path.is_absolute() {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "the path is relative"));
    }
    let mut command = Command::new(path);
    command.process_group(0);
    Ok(command)
}

/// The group of a child.
#[derive(Debug)]
pub struct Group {
    pid: Pid,
    /// Until the child is reaped, no other process can have its number, so killing it is safe.
    reaped: Mutex<bool>,
}

impl Group {
    /// The group led by a child of [`command`].
    pub fn of(child: &Child) -> Self {
        Self { pid: Pid::from_child(child), reaped: Mutex::new(false) }
    }

    /// The number of the child.
    pub fn pid(&self) -> Pid {
        self.pid
    }

    /// Kills the child and its group.
    pub fn kill(&self) {
        let reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        if !*reaped {
            let _ = kill_process_group(self.pid, Signal::KILL);
        }
    }

    /// Waits for the end of the child, and kills the remaining processes of its group.
    ///
    /// # Errors
    ///
    /// The kernel does not return its status.
    pub fn reap(&self, child: &mut Child) -> io::Result<ExitStatus> {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT;
        while let Err(rustix::io::Errno::INTR) = waitid(WaitId::Pid(self.pid), options) {}
        self.bury(child)
    }

    fn bury(&self, child: &mut Child) -> io::Result<ExitStatus> {
        self.kill();
        let mut reaped = self.reaped.lock().unwrap_or_else(PoisonError::into_inner);
        *reaped = true;
        child.wait()
    }

    /// Returns whether the child has ended and can be reaped.
    fn has_ended(&self) -> bool {
        let options = WaitIdOptions::EXITED | WaitIdOptions::NOWAIT | WaitIdOptions::NOHANG;
        matches!(waitid(WaitId::Pid(self.pid), options), Ok(Some(_)))
    }

    /// Waits until a time, then kills. Returns `None` if the child was killed. A process that
    /// remains even then is stuck in the kernel and is abandoned.
    fn wait_until(&self, deadline: Instant, wait: bool, child: &mut Child) -> Option<ExitStatus> {
        let mut step = Duration::from_millis(1);
        while wait && !self.has_ended() && Instant::now() < deadline {
            std::thread::sleep(step);
            step = (step * 2).min(STEP);
        }
        if self.has_ended() {
            return self.bury(child).ok();
        }
        self.kill();
        let last = Instant::now() + GRACE;
        while !self.has_ended() && Instant::now() < last {
            std::thread::sleep(Duration::from_millis(1));
        }
        if self.has_ended() {
            let _ = self.bury(child);
        }
        None
    }
}

/// A pipe from a child, and its output so far.
struct Pipe {
    file: Option<File>,
    bytes: Vec<u8>,
    max: usize,
    cut: bool,
}

impl Pipe {
    fn new(fd: Option<OwnedFd>, max: usize) -> Self {
        Self { file: fd.map(File::from), bytes: Vec::new(), max, cut: false }
    }

    /// Reads the available output. Output beyond the limit is dropped, so that the child does not
    /// block.
    fn read(&mut self) -> io::Result<()> {
        let Some(file) = &mut self.file else { return Ok(()) };
        let mut buffer = [0; 16 << 10];
        match file.read(&mut buffer) {
            Ok(0) => self.file = None,
            Ok(count) => {
                let taken = count.min(self.max - self.bytes.len());
                self.bytes.extend_from_slice(&buffer[..taken]);
                self.cut |= taken < count;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
        Ok(())
    }
}

/// Reads pipes until all are closed, the deadline, or a moment after the end of the child.
fn drain(pipes: &mut [Pipe], group: &Group, deadline: Instant) -> io::Result<()> {
    let mut deadline = deadline;
    let mut ended = false;
    loop {
        let open: Vec<usize> = (0..pipes.len()).filter(|&at| pipes[at].file.is_some()).collect();
        let left = deadline.saturating_duration_since(Instant::now());
        if open.is_empty() || left.is_zero() {
            return Ok(());
        }
        if !ended && group.has_ended() {
            ended = true;
            deadline = deadline.min(Instant::now() + GRACE);
        }
        let mut waiting: Vec<PollFd<'_>> = open
            .iter()
            .filter_map(|&at| pipes[at].file.as_ref())
            .map(|file| PollFd::new(file, PollFlags::IN))
            .collect();
        let timeout = Timespec::try_from(left.min(STEP)).ok();
        match poll(&mut waiting, timeout.as_ref()) {
            Ok(_) | Err(rustix::io::Errno::INTR) => {}
            Err(errno) => return Err(errno.into()),
        }
        let ready: Vec<bool> = waiting.iter().map(|one| !one.revents().is_empty()).collect();
        for (at, _) in open.into_iter().zip(ready).filter(|(_, ready)| *ready) {
            pipes[at].read()?;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sh(script: &str, limit: Duration) -> Ended {
        Program::new("/bin/sh").args(["-c", script]).limit(limit).run().unwrap()
    }

    /// Waits for the end of the process whose number a script printed.
    fn assert_ends(ended: &Ended) {
        let pid = String::from_utf8_lossy(&ended.output);
        for _ in 0..200 {
            let stat = std::fs::read_to_string(format!("/proc/{}/stat", pid.trim()));
            if !stat.is_ok_and(|stat| !stat.contains(") Z ")) {
                return;
            }
            std::thread::sleep(Duration::from_millis(10));
        }
        panic!("the group still runs");
    }

    #[test]
    fn output_and_status_come_back() {
        let ended = sh("echo a; echo b >&2; exit 3", Duration::from_secs(10));
        assert_eq!(ended.status.and_then(|status| status.code()), Some(3));
        assert_eq!((ended.output.as_slice(), ended.errors.as_slice()), (&b"a\n"[..], &b"b\n"[..]));
        assert!(!ended.cut);
    }

    #[test]
    fn silent_programs_and_their_group_are_killed() {
        let start = Instant::now();
        let ended = sh("sleep 60 & echo $!; exec sleep 60", Duration::from_millis(100));
        assert!(ended.status.is_none() && start.elapsed() < Duration::from_secs(10));
        assert_ends(&ended);
    }

    #[test]
    fn nothing_of_the_group_survives_a_run_that_ends() {
        let ended = sh("sleep 60 & echo $!", Duration::from_secs(20));
        assert_eq!(ended.status.and_then(|status| status.code()), Some(0));
        assert_ends(&ended);
    }

    #[test]
    fn endless_output_is_bounded() {
        let start = Instant::now();
        let program = Program::new("/bin/sh").args(["-c", "cat /dev/zero"]);
        let ended = program.limit(Duration::from_millis(300)).max_output(1000).run().unwrap();
        assert!(ended.cut && ended.output.len() == 1000 && ended.status.is_none());
        assert!(start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn a_run_does_not_wait_for_what_left_the_group() {
        let start = Instant::now();
        let ended = sh("setsid sleep 5 & echo done", Duration::from_secs(4));
        assert_eq!(ended.output, b"done\n");
        assert!(start.elapsed() < Duration::from_secs(4), "{:?}", start.elapsed());
    }

    #[test]
    fn the_environment_is_ours() {
        let ended = Program::new("/usr/bin/env").env("A", "b").run().unwrap();
        let text = String::from_utf8(ended.output).unwrap();
        let names: Vec<&str> = text.lines().filter_map(|line| line.split('=').next()).collect();
        let known = |name: &&str| KEPT.contains(name) || ["PATH", "LC_ALL", "A"].contains(name);
        assert!(names.iter().all(known) && names.contains(&"A"), "{text}");
    }

    #[test]
    fn relative_paths_and_missing_programs_are_refused() {
        assert!(Program::new("sh").run().is_err());
        assert!(Program::new("./sh").run().is_err());
        assert!(Program::new("/nonexistent/npu-smi").run().is_err());
    }
}
