//! Events of a child.

use serde::{Deserialize, Serialize};

use super::{Card, Fault, Health, Measure, Stage};

/// A library that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedLibrary {
    /// Its name.
    pub name: String,
    /// Optional functions that it does not contain.
    pub absent: Vec<String>,
}

/// An event of the child.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// This function of the vendor is called next.
    Call {
        /// The symbol, or `dlopen` with the name of the library.
        function: String,
    },
    /// The last called function returned. Written only if the run is recorded.
    Returned {
        /// Its status, if it returns one.
        code: Option<i32>,
        /// Its duration, in microseconds.
        us: u64,
    },
    /// The libraries are loaded.
    Loaded {
        /// The libraries.
        libraries: Vec<LoadedLibrary>,
        /// Whether they are a simulation.
        simulated: bool,
    },
    /// The version of the ACL interface (not that of CANN).
    Interface {
        /// Major, minor, patch.
        version: [i32; 3],
    },
    /// The version of CANN, if available.
    Cann {
        /// The version string, for example `8.3.RC1`.
        version: String,
    },
    /// The number of devices available to this process.
    Devices {
        /// The number.
        count: u32,
    },
    /// The chip.
    Soc {
        /// Its name in the runtime.
        name: String,
    },
    /// The identity of a device according to the runtime.
    Identity {
        /// Its logical ID in the driver.
        logic: Option<i32>,
        /// Its physical ID.
        physical: Option<i32>,
        /// Its PCI address.
        pci: Option<String>,
    },
    /// The number of cores that the runtime reports.
    Cores {
        /// Cube Cores.
        cube: Option<u32>,
        /// Vector Cores.
        vector: Option<u32>,
    },
    /// A test whose work was split into blocks.
    Coverage {
        /// The operation.
        operation: String,
        /// The kind of core.
        cores: CoreKind,
        /// The number of blocks.
        blocks: u32,
        /// Whether every block ran separately, so that its result was checked. CANN operators split
        /// their work internally: for them, `blocks` is the number of blocks that the work allows.
        seen: bool,
    },
    /// The times of a repeated operation.
    Time {
        /// The timed operation.
        measure: Measure,
        /// The shortest time, in milliseconds.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        best_ms: f64,
        /// The median time.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        median_ms: f64,
        /// The longest time.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        worst_ms: f64,
        /// The number of measurements.
        rounds: u32,
    },
    /// A card, described by the driver.
    Card(Box<Card>),
    /// The state of a card.
    Health(Box<Health>),
    /// A bundled kernel is ready to run.
    Kernel {
        /// The architecture, in the compiler's naming.
        arch: String,
        /// The number of Vector Cores.
        cores: u32,
        /// Whether it came from the cache.
        cached: bool,
    },
    /// Compiled kernels cannot be stored.
    CacheUnusable {
        /// The directory.
        path: String,
        /// The reason.
        error: String,
    },
    /// Device memory was allocated and freed several times, and did not become available again.
    Leak {
        /// The number of rounds.
        rounds: u32,
        /// The size per round, in bytes.
        bytes: u64,
        /// The decrease of free memory at the end, in bytes.
        lost: u64,
    },
    /// The root information for the other ranks.
    Root {
        /// Hexadecimal digits.
        info: String,
    },
    /// The result of a load on a device.
    Load {
        /// The number of runs of the operation.
        rounds: u64,
        /// The number of compared results.
        compared: u64,
        /// Trillion floating-point operations a second at the beginning.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        first_tflops: f64,
        /// The same at the end.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        last_tflops: f64,
        /// Bytes of memory that were written and read back.
        memory_bytes: u64,
    },
    /// The speed at one time during the load.
    LoadSample {
        /// Time since the load began, in seconds.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        seconds: f64,
        /// Trillion floating-point operations a second.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        tflops: f64,
    },
    /// A step begins.
    Begin {
        /// Its stage.
        #[serde(rename = "rung")]
        stage: Stage,
        /// Its name.
        #[serde(rename = "stage")]
        step: String,
    },
    /// The step that began last has ended.
    #[serde(rename = "stage")]
    StepEnd {
        /// Its stage.
        #[serde(rename = "rung")]
        stage: Stage,
        /// Its name.
        #[serde(rename = "stage")]
        step: String,
        /// Its duration by the clock of the host, in milliseconds.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        host_ms: f64,
        /// Its duration by the events of the device, in milliseconds, if measured.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "base::number::significant_if"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        device_ms: Option<f64>,
        /// The speed of a copy in GB/s, if measured.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "base::number::significant_if"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        gb_per_s: Option<f64>,
        /// The largest relative error of random numbers, if any.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "base::number::significant_if"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        relative_error: Option<f64>,
        /// The outcome.
        outcome: Outcome,
    },
    /// The order is complete; no event follows.
    Done,
}

/// A kind of core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CoreKind {
    /// Cube Core.
    Cube,
    /// Vector Core.
    Vector,
}

/// The outcome of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// The results are correct.
    Passed,
    /// The step failed.
    Failed {
        /// The fault.
        fault: Fault,
    },
    /// This chip does not support it.
    NotSupported {
        /// The source: a rule about chips, or the return value of the library.
        reason: String,
    },
}

#[cfg(test)]
mod tests {
    use probe_numbers::Difference;

    use super::super::{DataError, DataLocation, Pattern, RetryResult};
    use super::*;

    #[test]
    fn events_survive_the_pipe() {
        let wrong = DataError {
            operation: "aclnnAdd int32".to_owned(),
            what: DataLocation::Result,
            found: Difference {
                pattern: Pattern::Single,
                wrong: 1,
                total: 9,
                far: 1,
                poisoned: 0,
                not_finite: 0,
                first: 3,
                last: 3,
                expected: "1".to_owned(),
                got: "2".to_owned(),
            },
            again: RetryResult::Same,
        };
        for event in [
            Event::Call { function: "aclInit".to_owned() },
            Event::StepEnd {
                stage: Stage::Compute,
                step: "add".to_owned(),
                host_ms: 1.5,
                device_ms: None,
                gb_per_s: None,
                relative_error: None,
                outcome: Outcome::Failed { fault: Fault::Wrong(Box::new(wrong)) },
            },
            Event::Done,
        ] {
            let line = serde_json::to_string(&event).unwrap();
            assert!(!line.contains('\n'));
            assert_eq!(serde_json::from_str::<Event>(&line).unwrap(), event);
        }
    }
}
