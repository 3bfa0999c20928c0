//! What a child says.

use serde::{Deserialize, Serialize};

use super::{Card, Fault, Health, Measure, Stage};

/// A library that was loaded.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct LoadedLibrary {
    /// Its name.
    pub name: String,
    /// Optional functions that it lacks.
    pub absent: Vec<String>,
}

/// What the child says.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "event", rename_all = "snake_case")]
pub enum Event {
    /// This function of the vendor is called next.
    Call {
        /// The symbol, or `dlopen` with the name of the library.
        function: String,
    },
    /// The function that was called last returned. Written only where the run is recorded.
    Returned {
        /// Its status, if it returns one.
        code: Option<i32>,
        /// How long it took, in microseconds.
        us: u64,
    },
    /// The libraries are there.
    Loaded {
        /// Which.
        libraries: Vec<LoadedLibrary>,
        /// Whether they are a simulation.
        simulated: bool,
    },
    /// The version of the ACL interface (not that of CANN).
    Interface {
        /// Major, minor, patch.
        version: [i32; 3],
    },
    /// The version of CANN, where it tells.
    Cann {
        /// As it is written, for example `8.3.RC1`.
        version: String,
    },
    /// How many devices this process may use.
    Devices {
        /// The number.
        count: u32,
    },
    /// The chip.
    Soc {
        /// As the runtime names it.
        name: String,
    },
    /// What the runtime says of the identity of a device.
    Identity {
        /// The number that the driver gives it.
        logic: Option<i32>,
        /// Its physical number.
        physical: Option<i32>,
        /// Its PCI address.
        pci: Option<String>,
    },
    /// How many cores the runtime reports.
    Cores {
        /// Cores for matrices.
        cube: Option<u32>,
        /// Cores for vectors.
        vector: Option<u32>,
    },
    /// A test whose work was cut into blocks.
    Coverage {
        /// Which.
        operation: String,
        /// The kind of core.
        cores: CoreKind,
        /// How many blocks there were.
        blocks: u32,
        /// Whether every block ran by itself, so that its result was seen. The operators of CANN
        /// cut their work as they like: there it is the number of blocks that the work allows.
        seen: bool,
    },
    /// How long something took, repeated.
    Time {
        /// What.
        measure: Measure,
        /// The shortest time, in milliseconds.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        best_ms: f64,
        /// The time in the middle.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        median_ms: f64,
        /// The longest time.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        worst_ms: f64,
        /// How often it was measured.
        rounds: u32,
    },
    /// A card, as the driver describes it.
    Card(Box<Card>),
    /// The state of a card.
    Health(Box<Health>),
    /// A kernel of our own is ready to run.
    Kernel {
        /// For which architecture, as the compiler names it.
        arch: String,
        /// How many vector cores there are.
        cores: u32,
        /// Whether it was compiled before.
        cached: bool,
    },
    /// Compiled kernels cannot be kept.
    CacheUnusable {
        /// The directory.
        path: String,
        /// Why.
        error: String,
    },
    /// Memory of the device was taken and given back some times, and was not there again.
    Leak {
        /// How often.
        rounds: u32,
        /// How much each time, in bytes.
        bytes: u64,
        /// How much less was free at the end, in bytes.
        lost: u64,
    },
    /// What the other ranks have to be given, in hexadecimal digits.
    Root {
        /// The digits.
        info: String,
    },
    /// What a load on a device gave.
    Load {
        /// How often the operation ran.
        rounds: u64,
        /// How often its result was compared.
        compared: u64,
        /// Trillion floating-point operations a second at the beginning.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        first_tflops: f64,
        /// At the end.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        last_tflops: f64,
        /// Bytes of memory that were written and read back.
        memory_bytes: u64,
    },
    /// The speed at a moment of the load.
    LoadSample {
        /// Since the load began, in seconds.
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
        /// Of this stage.
        #[serde(rename = "rung")]
        stage: Stage,
        /// Its name.
        #[serde(rename = "stage")]
        step: String,
    },
    /// The step that began last has ended.
    #[serde(rename = "stage")]
    StepEnd {
        /// Of this stage.
        #[serde(rename = "rung")]
        stage: Stage,
        /// Its name.
        #[serde(rename = "stage")]
        step: String,
        /// How long it took by the clock of the host, in milliseconds.
        #[serde(serialize_with = "base::number::significant")]
        #[cfg_attr(feature = "schema", schemars(with = "f64"))]
        host_ms: f64,
        /// How long the device worked on it by its own events, in milliseconds, where measured.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "base::number::significant_if"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        device_ms: Option<f64>,
        /// The speed of a copy in GB/s, where measured.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "base::number::significant_if"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        gb_per_s: Option<f64>,
        /// The largest relative error of random numbers, where there are any.
        #[serde(
            default,
            skip_serializing_if = "Option::is_none",
            serialize_with = "base::number::significant_if"
        )]
        #[cfg_attr(feature = "schema", schemars(with = "Option<f64>"))]
        relative_error: Option<f64>,
        /// What came of it.
        outcome: Outcome,
    },
    /// Everything was done; nothing follows.
    Done,
}

/// A kind of core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CoreKind {
    /// For matrices.
    Cube,
    /// For vectors.
    Vector,
}

/// What came of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "outcome", rename_all = "snake_case")]
pub enum Outcome {
    /// As it should be.
    Passed,
    /// Not.
    Failed {
        /// Why.
        fault: Fault,
    },
    /// This chip does not do it.
    NotSupported {
        /// What says so: a rule about chips, or an answer of the library.
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
