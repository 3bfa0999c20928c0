//! The tests of a device: one file per stage.

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

/// The guard bytes behind output memory, which must not change.
pub const GUARD: u8 = 0x5a;
/// The size of the guard, in bytes.
pub const GUARD_SIZE: usize = 4096;

/// A device under test.
pub struct Probe<'a> {
    /// The libraries.
    pub vendor: &'a Vendor,
    /// The connection to the parent.
    pub reporter: &'a Reporter,
    /// The order.
    pub order: &'a Order,
    /// The stream for all operations.
    pub stream: Stream,
    /// The chip name from the runtime.
    pub soc: String,
    /// The number of Cube Cores that the runtime reports.
    pub cube_cores: Option<u32>,
    /// The number of Vector Cores that the runtime reports.
    pub vector_cores: Option<u32>,
}

/// The speed in GB/s for `bytes` in this time.
fn compute_speed(bytes: usize, milliseconds: f64) -> Option<f64> {
    #[expect(clippy::cast_precision_loss, reason = "sizes are far below 2^52")]
    let bytes = bytes as f64;
    (milliseconds > 0.0).then_some(bytes / milliseconds / 1e6)
}

impl Probe<'_> {
    /// Waits for the stream: for a shorter time than the parent's limit.
    pub fn wait(&self) -> Result<(), Fault> {
        let limit = i32::try_from(self.order.silence_ms / 4 * 3).unwrap_or(i32::MAX);
        self.vendor.synchronize(self.stream, limit.max(1))
    }

    /// Runs work on the stream, waits, and returns its time by the events of the device.
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

/// Creates a fault from a difference.
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

/// Compares the second try with a wrong first one.
pub fn compare_retry(first: &[u8], second: &[u8], expected: &[u8]) -> RetryResult {
    if second == expected {
        RetryResult::Right
    } else if second == first {
        RetryResult::Same
    } else {
        RetryResult::Different
    }
}
