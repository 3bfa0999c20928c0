//! What is tried on a device: one file per stage.

mod compute;
mod fabric;
mod kernel;
mod memory;
mod speed;
mod stress;
mod timing;

pub use compute::run_compute;
pub use fabric::{link_name, run_peers, run_rank};
pub use kernel::run_kernel;
pub use memory::run_memory;
pub use speed::{DIRECTIONS, measure_speeds};
pub use stress::run_stress;
pub use timing::{time_copies, time_operators, time_waiting};

use acl_abi::Stream;

use super::protocol::{DataError, DataLocation, Fault, Order, RetryResult};
use super::reporter::Reporter;
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
    /// How many cube cores the runtime reports.
    pub cube_cores: Option<u32>,
    /// How many vector cores the runtime reports.
    pub vector_cores: Option<u32>,
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
    Fault::Wrong(Box::new(describe_error(operation, what, found, again)))
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
