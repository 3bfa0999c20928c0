//! Why a step failed.

use probe_numbers::Difference;
use serde::{Deserialize, Serialize};

/// Why a step failed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(tag = "fault", rename_all = "snake_case")]
pub enum Fault {
    /// This program is linked statically against musl: it has no dynamic linker, and the vendor's
    /// libraries need that of glibc.
    Static,
    /// None of these libraries is there.
    NoLibrary {
        /// Their names.
        tried: Vec<String>,
    },
    /// A library is there and cannot be loaded.
    BrokenLibrary {
        /// Its name.
        library: String,
        /// What the loader said.
        error: String,
    },
    /// A library lacks functions that every version has.
    MissingSymbols {
        /// Its name.
        library: String,
        /// The functions.
        symbols: Vec<String>,
    },
    /// A library is a simulation, and that was not asked for.
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
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A function of HCCL returned an error: its codes are not those of the runtime.
    Hccl {
        /// The function.
        function: String,
        /// Its code.
        code: i32,
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// A function returned no object.
    Null {
        /// The function.
        function: String,
        /// What the runtime said about it.
        #[serde(skip_serializing_if = "Option::is_none")]
        message: Option<String>,
    },
    /// There is no device.
    NoDevice,
    /// There is no such device.
    NoSuchDevice {
        /// The number asked for.
        device: i32,
        /// How many there are.
        count: u32,
    },
    /// Data is not what it should be.
    Wrong(Box<DataError>),
    /// Stripes of a result are wrong, each of which one block computed.
    Stripes {
        /// What is wrong.
        data: Box<DataError>,
        /// The blocks that were wrong the first time.
        blocks: Vec<u32>,
        /// Those that were wrong the second time too.
        again: Vec<u32>,
        /// How many blocks there were.
        of: u32,
    },
    /// A sum over ranks is wrong.
    Sum {
        /// What is wrong.
        data: Box<DataError>,
        /// The ranks whose part of it is missing, where that can be told.
        from: Vec<u32>,
    },
}

/// Data that is not what it should be.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DataError {
    /// What was done: `aclnnAdd int32 [65536]`, `host to device and back`.
    pub operation: String,
    /// What is wrong.
    pub what: DataLocation,
    /// How, and where.
    #[serde(flatten)]
    pub found: Difference,
    /// What a second try gave.
    pub again: RetryResult,
}

/// Which data is wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum DataLocation {
    /// The result.
    Result,
    /// Bytes behind the result: something wrote out of bounds.
    Guard,
    /// An input, which nothing may change.
    Input,
    /// The result: it is too far from the right one.
    Tolerance,
}

/// What a second try gave.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RetryResult {
    /// The same wrong data.
    Same,
    /// Other wrong data.
    Different,
    /// Right data.
    Right,
    /// There was none.
    NotTried,
}
