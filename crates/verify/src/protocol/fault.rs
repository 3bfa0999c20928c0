//! Faults: the reasons of failed steps.

use probe_numbers::Difference;
use serde::{Deserialize, Serialize};

/// The reason why a step failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// This program is linked statically against musl: it has no dynamic linker, and the vendor's
    /// libraries need that of glibc.
    Static,
    /// None of these libraries was found.
    NoLibrary {
        /// Their names.
        tried: Vec<String>,
    },
    /// A library exists and cannot be loaded.
    BrokenLibrary {
        /// Its name.
        library: String,
        /// The message of the loader.
        error: String,
    },
    /// A library does not contain functions that every version has.
    MissingSymbols {
        /// Its name.
        library: String,
        /// The functions.
        symbols: Vec<String>,
    },
    /// A library is a simulation, which was not allowed.
    Simulated {
        /// Its name.
        library: String,
    },
    /// A function returned an error.
    Call {
        /// The function.
        function: String,
        /// Its code.
        code: i32,
        /// The message of the runtime.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A function of HCCL returned an error: its codes differ from those of the runtime.
    Hccl {
        /// The function.
        function: String,
        /// Its code.
        code: i32,
        /// The message of the runtime.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A function returned a null object.
    Null {
        /// The function.
        function: String,
        /// The message of the runtime.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// There is no device.
    NoDevice,
    /// The requested device does not exist.
    NoSuchDevice {
        /// The requested device ID.
        device: i32,
        /// The number of devices.
        count: u32,
    },
    /// Data is wrong.
    Wrong(Box<DataError>),
    /// Stripes of a result are wrong; one block computes each stripe.
    Stripes {
        /// The wrong data.
        data: Box<DataError>,
        /// The blocks that were wrong in the first try.
        blocks: Vec<u32>,
        /// Those that were also wrong in the second try.
        again: Vec<u32>,
        /// The number of blocks.
        of: u32,
    },
    /// A sum over ranks is wrong.
    Sum {
        /// The wrong data.
        data: Box<DataError>,
        /// The ranks whose part of it is missing, if they can be determined.
        from: Vec<u32>,
    },
}

/// Wrong data.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataError {
    /// The operation: `aclnnAdd int32 [65536]`, `host to device and back`.
    pub operation: String,
    /// The part of the data that is wrong.
    pub what: DataLocation,
    /// The kind and the position of the difference.
    #[serde(flatten)]
    pub found: Difference,
    /// The result of a second try.
    pub again: RetryResult,
}

/// The part of the data that is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DataLocation {
    /// The result.
    Result,
    /// Bytes behind the result, after a write out of bounds.
    Guard,
    /// An input, which must not change.
    Input,
    /// The result, which exceeds the tolerance.
    Tolerance,
}

/// The result of a second try.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryResult {
    /// The same wrong data.
    Same,
    /// Other wrong data.
    Different,
    /// Correct data.
    Right,
    /// No second try.
    NotTried,
}
