//! Reports the steps of a child to its parent: runs a step and writes its events into the pipe.

use std::cell::RefCell;
use std::fs::File;
use std::io::Write as _;
use std::rc::Rc;
use std::time::Instant;

use super::protocol::{Event, Fault, Outcome, Stage};
use super::vendor::exit_process;

/// The measurements of a step.
#[derive(Debug, Default, Clone, Copy)]
pub struct Measurements {
    /// By the events of the device, in milliseconds.
    pub device_ms: Option<f64>,
    /// The speed of a copy, in GB/s.
    pub gb_per_s: Option<f64>,
    /// The largest relative error of random numbers.
    pub relative_error: Option<f64>,
}

/// The result of a step that did not fail.
#[derive(Debug)]
pub enum StepResult {
    /// The results are right.
    Passed(Measurements),
    /// Skipped, because this chip or library does not support it.
    NotSupported(String),
}

/// Returns a passed step without measurements.
pub fn passed() -> StepResult {
    StepResult::Passed(Measurements::default())
}

/// Error that skips the remaining stages; its cause was already reported.
#[derive(Debug)]
pub struct StageAborted;

/// The pipe to the parent, which takes the events.
#[derive(Debug, Clone)]
pub struct Reporter(Rc<RefCell<File>>);

impl Reporter {
    /// Reports through `pipe`.
    pub fn new(pipe: File) -> Self {
        Self(Rc::new(RefCell::new(pipe)))
    }

    /// Writes an event. Ends the process if the pipe has no reader, because the result is lost.
    pub fn write_event(&self, event: &Event) {
        let Ok(mut line) = serde_json::to_vec(event) else { exit_process(2) };
        line.push(b'\n');
        // A single write, so that no line is partial.
        if self.0.borrow_mut().write_all(&line).is_err() {
            exit_process(2);
        }
    }

    /// Runs a step, and reports its begin and its result.
    pub fn run_step(
        &self,
        stage: Stage,
        step: &str,
        run: impl FnOnce() -> Result<StepResult, Fault>,
    ) -> Result<(), StageAborted> {
        self.write_event(&Event::Begin { stage, step: step.to_owned() });
        let start = Instant::now();
        let ended = run();
        let host_ms = start.elapsed().as_secs_f64() * 1e3;
        let measured = match &ended {
            Ok(StepResult::Passed(measured)) => *measured,
            _ => Measurements::default(),
        };
        let failed = ended.is_err();
        let outcome = match ended {
            Ok(StepResult::Passed(_)) => Outcome::Passed,
            Ok(StepResult::NotSupported(reason)) => Outcome::NotSupported { reason },
            Err(fault) => Outcome::Failed { fault },
        };
        self.write_event(&Event::StepEnd {
            stage,
            step: step.to_owned(),
            host_ms,
            device_ms: measured.device_ms,
            gb_per_s: measured.gb_per_s,
            relative_error: measured.relative_error,
            outcome,
        });
        if failed { Err(StageAborted) } else { Ok(()) }
    }
}
