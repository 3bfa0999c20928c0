//! Runs a tool: this program again, with the arguments of the call.
#![expect(clippy::disallowed_methods, reason = "starts this program again, with chosen arguments")]

use std::io::{Read as _, Write as _};
use std::process::{Child, Stdio};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use super::lock;
use base::text::Lang;

/// Maximum size of the output, in bytes.
const OUTPUT: u64 = 64 << 20;
/// Maximum size of the error output, in bytes.
const ERRORS: u64 = 64 << 10;
/// Interval between checks of a running process.
const PAUSE: Duration = Duration::from_millis(5);

/// Arguments of a run.
#[derive(Debug)]
pub(super) struct Order {
    /// The subcommand and its arguments.
    pub(super) arguments: Vec<std::ffi::OsString>,
    /// The text for standard input.
    pub(super) input: Option<String>,
}

/// The end of a run.
#[derive(Debug)]
pub(super) enum Outcome {
    /// It ended normally.
    Ended {
        /// Its exit status.
        status: i32,
        /// Its standard output.
        output: Vec<u8>,
        /// Its standard error.
        errors: String,
    },
    /// The client canceled it.
    Canceled,
    /// It could not be started, or took too long.
    Failed(String),
}

/// Ends a run from another thread.
#[derive(Debug, Clone, Default)]
pub(super) struct Canceler(Arc<Mutex<bool>>);

impl Canceler {
    pub(super) fn cancel(&self) {
        *lock(&self.0) = true;
    }

    fn is_canceled(&self) -> bool {
        *lock(&self.0)
    }
}

/// Runs an order until it ends, is canceled, or takes too long.
pub(super) fn run(order: &Order, lang: Lang, limit: Duration, canceler: &Canceler) -> Outcome {
    match start(order, lang) {
        Ok(child) => supervise(child, order, limit, canceler),
        Err(error) => Outcome::Failed(format!("cannot start the tool: {error}")),
    }
}

fn start(order: &Order, lang: Lang) -> std::io::Result<Child> {
    let program = std::env::current_exe()?;
    let mut command = guard::process::command(&program)?;
    let lang = if lang == Lang::Zh { "zh" } else { "en" };
    command.args(["--no-config", "--color", "never", "--quiet", "--json", "--lang", lang]);
    command.args(&order.arguments);
    let input = if order.input.is_some() { Stdio::piped() } else { Stdio::null() };
    command.stdin(input).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()
}

fn supervise(mut child: Child, order: &Order, limit: Duration, canceler: &Canceler) -> Outcome {
    let group = guard::process::Group::of(&child);
    let deadline = Instant::now() + limit;
    let stdin = child.stdin.take();
    let (stdout, stderr) = (child.stdout.take(), child.stderr.take());
    let read = |pipe: Option<Box<dyn std::io::Read + Send>>, most: u64| {
        let mut bytes = Vec::new();
        if let Some(pipe) = pipe {
            let _ = pipe.take(most).read_to_end(&mut bytes);
        }
        bytes
    };
    std::thread::scope(|scope| {
        let builder = || std::thread::Builder::new();
        let boxed = |pipe| -> Box<dyn std::io::Read + Send> { Box::new(pipe) };
        let errors_pipe: Option<Box<dyn std::io::Read + Send>> =
            stderr.map(|pipe| -> Box<dyn std::io::Read + Send> { Box::new(pipe) });
        let output_pipe = stdout.map(boxed);
        let output = builder().spawn_scoped(scope, move || read(output_pipe, OUTPUT));
        let errors = builder().spawn_scoped(scope, move || read(errors_pipe, ERRORS));
        let input = order.input.as_deref().unwrap_or_default();
        let writer = builder().spawn_scoped(scope, move || {
            if let Some(mut stdin) = stdin {
                // A tool that needs no further input closes it.
                let _ = stdin.write_all(input.as_bytes());
            }
        });
        let (Ok(output), Ok(errors), Ok(_)) = (output, errors, writer) else {
            group.kill();
            let _ = child.wait();
            return Outcome::Failed("cannot start a thread".to_owned());
        };
        loop {
            match child.try_wait() {
                Ok(Some(status)) => {
                    return Outcome::Ended {
                        status: status.code().unwrap_or(2),
                        output: output.join().unwrap_or_default(),
                        errors: String::from_utf8_lossy(&errors.join().unwrap_or_default())
                            .into_owned(),
                    };
                }
                Ok(None) if canceler.is_canceled() => {
                    group.kill();
                    let _ = child.wait();
                    return Outcome::Canceled;
                }
                Ok(None) if Instant::now() > deadline => {
                    group.kill();
                    let _ = child.wait();
                    let seconds = limit.as_secs();
                    return Outcome::Failed(format!(
                        "the tool was stopped after {seconds} s. Ask for less, or start the server \
                         with a larger --tool-timeout"
                    ));
                }
                Ok(None) => std::thread::sleep(PAUSE),
                Err(error) => return Outcome::Failed(error.to_string()),
            }
        }
    })
}
