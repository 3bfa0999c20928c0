//! Files of `torch_npu` against their hashes.

use serde::{Deserialize, Serialize};

use super::PthCode;

/// Results of the integrity collector.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Integrity {
    /// One entry per distribution that was examined.
    pub packages: Vec<PackageIntegrity>,
    /// Lines that run code, of `.pth` files that no distribution lists.
    pub stray_pth: Vec<PthCode>,
}

/// What was compared of one distribution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackageIntegrity {
    /// Normalised name.
    pub name: String,
    /// Version.
    pub version: String,
    /// The `dist-info` directory.
    pub dist_info: String,
    /// The directory that RECORD's paths start from.
    pub site_dir: String,
    /// Path of RECORD, `None` if there is none.
    pub record: Option<String>,
    /// A digest of what RECORD says of the package's files: the same for the same build. `None`
    /// if RECORD was not read as a whole.
    #[serde(default)]
    pub record_digest: Option<String>,
    /// Rows of RECORD that name a file of the package.
    pub rows: u32,
    /// Rows that lead out of [`site_dir`](Self::site_dir); their files are not looked at.
    pub outside: u32,
    /// Rows without a SHA-256 (none, or one of another algorithm); only sizes are compared.
    pub without_hash: u32,
    /// Files whose hash was computed.
    pub hashed: u32,
    /// Bytes that were hashed.
    pub bytes: u64,
    /// Why no hashes were computed, if so: `no_hash`, `partial`, `no_record`.
    pub hash_skipped: Option<String>,
    /// Files that differ from RECORD: the first ones.
    pub differing: Vec<FileDifference>,
    /// How many differ.
    pub differing_total: u32,
    /// Files on disk that RECORD does not list (`.so`, `.py`, `.pth`): the first ones.
    pub unlisted: Vec<String>,
    /// How many there are.
    pub unlisted_total: u32,
    /// Rows of RECORD that cannot be read, with their line numbers.
    pub bad_rows: Vec<(u32, String)>,
    /// Whether rows were left out since there are too many of them.
    #[serde(default)]
    pub record_cut: bool,
    /// Comparison with the published wheel.
    pub upstream: Upstream,
}

/// One file that is not what RECORD says.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDifference {
    /// Path on the machine.
    pub path: String,
    /// `missing`, `size` (bytes), `hash`, `nul` (a module with NUL bytes), `syntax` (a module that
    /// does not parse; `found` is the line), `cut` (a module that ends within a line, before its
    /// size), `broken` (a library that cannot be loaded), `type` (no
    /// regular file) or `unreadable`.
    pub kind: String,
    /// What RECORD says.
    pub expected: String,
    /// What was found.
    pub found: String,
    /// The line of RECORD that says what is expected, counted from 1; `None` if something else
    /// than RECORD says it.
    #[serde(default)]
    pub line: Option<u32>,
}

/// Comparison with the hashes of published wheels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Upstream {
    /// `match`; `differs`; `other_build` (another build under a published version: no library in
    /// common, and all of them as the installation's own RECORD says); `other_version` (the
    /// manifest is for another version); `unknown_version`; `not_checked`.
    pub verdict: String,
    /// The manifest that was used: `built-in` or a file.
    pub manifest: String,
    /// The wheel that the files were compared with.
    pub wheel: Option<String>,
    /// Files that differ from it: the first ones.
    pub differing: Vec<FileDifference>,
    /// How many differ.
    pub differing_total: u32,
    /// Whether RECORD is the one of that wheel; `None` if that is not known. If it is, every
    /// file that agrees with RECORD agrees with the wheel.
    pub record_matches: Option<bool>,
    /// How many files were compared.
    pub compared: u32,
}
