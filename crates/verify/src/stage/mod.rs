//! What is tried on a device: one file per stage.

mod compute;
mod fabric;
mod kernel;
mod memory;
mod speed;
mod stress;

pub use compute::run_compute;
pub use fabric::{link_name, run_peers, run_rank};
pub use kernel::run_kernel;
pub use memory::run_memory;
pub use speed::{DIRECTIONS, measure_speeds};
pub use stress::run_stress;

use std::time::Instant;

use acl_abi::Stream;

use super::child::Reporter;
use super::protocol::{DataError, DataLocation, Event, Fault, Order, Outcome, RetryResult, Stage};
use super::vendor::Vendor;
use probe_numbers::Difference;
/// What stands behind output memory: nothing may change it.
pub const GUARD: u8 = 0x5a;
/// How much of it, in bytes.
pub const GUARD_SIZE: usize = 4096;

/// A device that is being tried.
pub struct Probe<'a> {
    /// The libraries.
    pub vendor: &'a Vendor,
    /// The way to the parent.
    pub reporter: &'a Reporter,
    /// What to do.
    pub order: &'a Order,
    /// The stream that everything runs on.
    pub stream: Stream,
    /// The chip, as the runtime names it.
    pub soc: String,
}

/// What a step measured.
#[derive(Debug, Default, Clone, Copy)]
pub struct Measurements {
    /// By the events of the device, in milliseconds.
    pub device_ms: Option<f64>,
    /// The speed of a copy, in GB/s.
    pub gb_per_s: Option<f64>,
    /// The largest relative error of random numbers.
    pub relative_error: Option<f64>,
}

/// How a step ended that did not fail.
#[derive(Debug)]
pub enum StepResult {
    /// Right.
    Passed(Measurements),
    /// Not done: this chip or library does not do it.
    NotSupported(String),
}

/// Right, and nothing measured.
pub fn passed() -> StepResult {
    StepResult::Passed(Measurements::default())
}

/// Error that skips the remaining stages; its cause was already reported.
#[derive(Debug)]
pub struct StageAborted;

impl Reporter {
    /// Runs a step, and reports what came of it.
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

/// GB/s of `bytes` in that time.
fn compute_speed(bytes: usize, milliseconds: f64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let bytes = bytes as f64;
    (milliseconds > 0.0).then_some(bytes / milliseconds / 1e6)
}

impl Probe<'_> {
    /// Waits for the stream: less long than the parent waits for us.
    pub fn wait(&self) -> Result<(), Fault> {
        let limit = i32::try_from(self.order.silence_ms / 4 * 3).unwrap_or(i32::MAX);
        self.vendor.synchronize(self.stream, limit.max(1))
    }

    /// Runs work on the stream and waits: how long it took by the events of the device.
    pub fn measure_time(&self, work: impl FnOnce() -> Result<(), Fault>) -> Result<f64, Fault> {
        let (start, end) = (self.vendor.create_event()?, self.vendor.create_event()?);
        self.vendor.record(start, self.stream)?;
        work()?;
        self.vendor.record(end, self.stream)?;
        self.wait()?;
        let milliseconds = self.vendor.elapsed(start, end)?;
        self.vendor.destroy_event(start)?;
        self.vendor.destroy_event(end)?;
        Ok(milliseconds)
    }
}

/// Makes a fault of a difference.
pub fn data_fault(
    operation: &str,
    what: DataLocation,
    found: Difference,
    again: RetryResult,
) -> Fault {
    Fault::Wrong(describe_error(operation, what, found, again))
}

/// Describes a difference.
pub fn describe_error(
    operation: &str,
    what: DataLocation,
    found: Difference,
    again: RetryResult,
) -> DataError {
    DataError { operation: operation.to_owned(), what, found, again }
}

/// What a second try says about a first one that was wrong.
pub fn compare_retry(first: &[u8], second: &[u8], expected: &[u8]) -> RetryResult {
    if second == expected {
        RetryResult::Right
    } else if second == first {
        RetryResult::Same
    } else {
        RetryResult::Different
    }
}
