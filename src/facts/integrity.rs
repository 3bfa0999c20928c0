//! Files of `torch_npu` against their hashes.

use serde::{Deserialize, Serialize};

/// Results of the integrity collector.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Integrity {
    /// One entry per distribution that was examined.
    pub packages: Vec<PackageIntegrity>,
}

/// What was compared of one distribution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct PackageIntegrity {
    /// Normalised name.
    pub name: String,
    /// Version.
    pub version: String,
    /// Path of RECORD, `None` if there is none.
    pub record: Option<String>,
    /// Rows of RECORD that name a file of the package.
    pub rows: u32,
    /// Files whose hash was computed.
    pub hashed: u32,
    /// Bytes that were hashed.
    pub bytes: u64,
    /// Why no hashes were computed, if so: `no_hash`, `partial`, `no_record`.
    pub hash_skipped: Option<String>,
    /// Files that differ from RECORD.
    pub differing: Vec<FileDifference>,
    /// Files on disk that RECORD does not list (`.so`, `.py`, `.pth`).
    pub unlisted: Vec<String>,
    /// Rows of RECORD that cannot be read, with their line numbers.
    pub bad_rows: Vec<(u32, String)>,
    /// Comparison with the published wheel.
    pub upstream: Upstream,
}

/// One file that is not what RECORD says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileDifference {
    /// Path on the machine.
    pub path: String,
    /// `missing`, `size`, `hash` or `unreadable`.
    pub kind: String,
    /// What RECORD says.
    pub expected: String,
    /// What was found.
    pub found: String,
}

/// Comparison with the hashes of published wheels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Upstream {
    /// `match`, `differs`, `unknown_version`, `not_checked`.
    pub verdict: String,
    /// The manifest that was used: `built-in` or a file.
    pub manifest: String,
    /// The wheel that the files were compared with.
    pub wheel: Option<String>,
    /// Files that differ from it.
    pub differing: Vec<FileDifference>,
    /// How many files were compared.
    pub compared: u32,
}
