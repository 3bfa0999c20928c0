//! The one place where a program of the examined machine is run: live, by absolute path, with
//! a time limit and a bound on its output.

use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::process::{Command, Stdio};
use std::sync::mpsc;
use std::time::{Duration, Instant};

use super::sidecar::CommandOutput;

/// The most that is kept of a command's output, in bytes.
const MAX_OUTPUT: u64 = 1 << 20;

/// Runs `program` (an absolute path) with `args` and no input, in a process group of its own.
/// After `limit` the group is killed. Returns `None` if the program cannot be started.
#[expect(clippy::disallowed_methods, reason = "this is the place that the wall leads to")]
pub(super) fn run(program: &str, args: &[&str], limit: Duration) -> Option<CommandOutput> {
    let mut child = Command::new(program)
        .args(args)
        .env("LC_ALL", "C")
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .spawn()
        .ok()?;
    let (sender, receiver) = mpsc::channel::<Vec<u8>>();
    let pipes: [Option<Box<dyn std::io::Read + Send>>; 2] = [
        child.stdout.take().map(|pipe| Box::new(pipe) as Box<dyn std::io::Read + Send>),
        child.stderr.take().map(|pipe| Box::new(pipe) as Box<dyn std::io::Read + Send>),
    ];
    for pipe in pipes.into_iter().flatten() {
        let sender = sender.clone();
        std::thread::spawn(move || {
            let mut text = Vec::new();
            let mut pipe = pipe.take(MAX_OUTPUT);
            let _ = pipe.read_to_end(&mut text);
            let _ = sender.send(text);
            // Drain what is left, so that the program does not block on a full pipe.
            let _ = std::io::copy(&mut pipe.into_inner(), &mut std::io::sink());
        });
    }
    drop(sender);

    let deadline = Instant::now() + limit;
    let status = loop {
        match child.try_wait() {
            Ok(Some(status)) => break Some(status),
            Ok(None) if Instant::now() < deadline => {
                std::thread::sleep(Duration::from_millis(5));
            }
            Ok(None) | Err(_) => break None,
        }
    };
    if status.is_none() {
        if let Some(pid) = i32::try_from(child.id()).ok().and_then(rustix::process::Pid::from_raw) {
            let _ = rustix::process::kill_process_group(pid, rustix::process::Signal::KILL);
        }
        let _ = child.try_wait();
    }
    let mut text = Vec::new();
    let grace = Instant::now() + Duration::from_millis(200);
    while let Ok(part) = receiver.recv_timeout(grace.saturating_duration_since(Instant::now())) {
        text.extend(part);
    }
    Some(CommandOutput {
        status: status.and_then(|status| status.code()),
        timed_out: status.is_none(),
        text: String::from_utf8_lossy(&text).into_owned(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn output_and_status_come_back() {
        let out = run("/bin/sh", &["-c", "echo a; exit 3"], Duration::from_secs(5)).unwrap();
        assert_eq!((out.status, out.text.as_str()), (Some(3), "a\n"));
    }

    #[test]
    fn a_silent_program_is_stopped() {
        let out = run("/bin/sh", &["-c", "sleep 60"], Duration::from_millis(50)).unwrap();
        assert!(out.timed_out && out.status.is_none());
    }

    #[test]
    fn endless_output_is_bounded() {
        let start = Instant::now();
        let script = "while :; do echo aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa; done";
        let out = run("/bin/sh", &["-c", script], Duration::from_millis(300)).unwrap();
        assert!(out.timed_out && out.text.len() as u64 <= 2 * MAX_OUTPUT);
        let out = run("/bin/sh", &["-c", "exec cat /dev/zero"], Duration::from_millis(300));
        let text = out.unwrap().text;
        assert!(text.len() as u64 <= MAX_OUTPUT && start.elapsed() < Duration::from_secs(10));
    }

    #[test]
    fn run_does_not_wait_for_grandchildren() {
        let start = Instant::now();
        let script = "setsid sleep 5 & echo done";
        let out = run("/bin/sh", &["-c", script], Duration::from_secs(3)).unwrap();
        assert_eq!(out.status, Some(0));
        assert!(start.elapsed() < Duration::from_secs(3), "{:?}", start.elapsed());
    }

    #[test]
    fn a_missing_program_is_none() {
        assert!(run("/nonexistent/npu-smi", &[], Duration::from_secs(1)).is_none());
    }
}
