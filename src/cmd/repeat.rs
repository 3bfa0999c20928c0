//! `check --every`: repeats the same check, for containers without a shell.
//!
//! Each run is a separate process, which ends hanging reads and releases leaked memory.
#![expect(
    clippy::disallowed_methods,
    reason = "starts this program again, with the arguments that it was given"
)]

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::OsStrExt as _;
use std::process::{Command, Stdio};
use std::time::Duration;

use data::{OrFault as _, faults};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use super::output::Output;
use super::progress;
use super::standard_streams::print_to_stderr;
use crate::cli::CheckArgs;
use base::report::ExitStatus;
use data::ui;

/// The option to remove for the repeated runs.
const OPTION: &str = "--every";

/// Runs the check until a signal ends it.
///
/// # Errors
///
/// If the first run fails because its arguments or its environment are wrong.
pub(super) fn run(args: &CheckArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    progress::stop();
    // As the first process of a container, the program has no default reaction to signals.
    let mut signals =
        Signals::new([SIGHUP, SIGINT, SIGTERM]).or_fault(|| faults::CannotRepeat.fault())?;
    let program = std::env::current_exe().or_fault(|| faults::NoOwnProgram.fault())?;
    let arguments = without_option(std::env::args_os().skip(1));
    let pause = Duration::from_secs(args.every.unwrap_or(1).max(1));
    let (sender, receiver) = std::sync::mpsc::channel();
    std::thread::spawn(move || {
        if signals.forever().next().is_some() {
            let _ = sender.send(());
        }
    });
    let mut is_first = true;
    loop {
        let mut child = Command::new(&program)
            .args(&arguments)
            .stdin(Stdio::null())
            .spawn()
            .or_fault(|| faults::CannotRepeat.fault())?;
        let status = loop {
            if let Some(status) = child.try_wait().or_fault(|| faults::CannotRepeat.fault())? {
                break status;
            }
            if receiver.recv_timeout(Duration::from_millis(50)).is_ok() {
                // The signal of a terminal also reaches the child; other signals do not.
                let _ = child.kill();
                let _ = child.wait();
                return Ok(ExitStatus::Clean);
            }
        };
        if !matches!(status.code(), Some(0 | 1 | 3)) {
            if is_first {
                return Ok(ExitStatus::Failure);
            }
            print_to_stderr(ui::RepeatFailed { status }.text().get(output.lang()));
        }
        is_first = false;
        if receiver.recv_timeout(pause).is_ok() {
            return Ok(ExitStatus::Clean);
        }
    }
}

/// The arguments without `--every SECONDS` and `--every=SECONDS`.
fn without_option(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut kept = Vec::new();
    let mut arguments = arguments;
    while let Some(argument) = arguments.next() {
        if argument == OPTION {
            let _ = arguments.next();
        } else if !is_with_value(&argument) {
            kept.push(argument);
        }
    }
    kept
}

fn is_with_value(argument: &OsStr) -> bool {
    let rest = argument.as_bytes().strip_prefix(OPTION.as_bytes());
    rest.is_some_and(|rest| rest.starts_with(b"="))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_option_and_its_value_are_left_out() {
        let kept = |line: &str| {
            let kept = without_option(line.split(' ').map(OsString::from));
            kept.into_iter().map(|word| word.into_string().unwrap()).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(kept("check --every 60 --json"), "check --json");
        assert_eq!(kept("--lang zh check --every=60"), "--lang zh check");
        assert_eq!(kept("check --everything"), "check --everything");
    }
}
