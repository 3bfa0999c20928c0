//! Comparison of the files of `torch_npu` with their hashes.

use serde::{Deserialize, Serialize};

use super::PthCode;

/// Results of the integrity collector.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Integrity {
    /// One entry per examined distribution.
    pub packages: Vec<PackageIntegrity>,
    /// Lines with code in `.pth` files that no distribution lists.
    pub stray_pth: Vec<PthCode>,
}

/// The comparison of one distribution.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PackageIntegrity {
    /// Normalized name.
    pub name: String,
    /// Version.
    pub version: String,
    /// The `dist-info` directory.
    pub dist_info: String,
    /// The directory that RECORD's paths start from.
    pub site_dir: String,
    /// Path of RECORD, `None` if there is none.
    pub record: Option<String>,
    /// A digest of RECORD's entries for the files of the package: equal for equal builds. `None` if
    /// RECORD was not read completely.
    #[serde(default)]
    pub record_digest: Option<String>,
    /// Rows of RECORD that name a file of the package.
    pub rows: u32,
    /// Rows that point outside [`site_dir`](Self::site_dir); their files are not examined.
    pub outside: u32,
    /// Rows without a SHA-256 (none, or one of another algorithm); only sizes are compared.
    pub without_hash: u32,
    /// Files whose hash was computed.
    pub hashed: u32,
    /// Number of hashed bytes.
    pub bytes: u64,
    /// The reason if no hashes were computed: `no_hash`, `partial`, `no_record`.
    pub hash_skipped: Option<String>,
    /// The first files that differ from RECORD.
    pub differing: Vec<FileDifference>,
    /// Total number of differing files.
    pub differing_total: u32,
    /// The first files on disk that RECORD does not list (`.so`, `.py`, `.pth`).
    pub unlisted: Vec<String>,
    /// Total number of unlisted files.
    pub unlisted_total: u32,
    /// Rows of RECORD that cannot be read, with their line numbers.
    pub bad_rows: Vec<(u32, String)>,
    /// Whether rows were omitted because there are too many.
    #[serde(default)]
    pub record_cut: bool,
    /// Comparison with the published wheel.
    pub upstream: Upstream,
}

/// A file that differs from RECORD.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct FileDifference {
    /// Path on the machine.
    pub path: String,
    /// The kind of difference: `missing`, `size` (bytes), `hash` or `unreadable`; for modules also
    /// `nul` (NUL bytes), `syntax` (does not parse; `found` is the line) and `cut` (ends within a
    /// line, before its size). `broken` is a library that cannot be loaded, and `type` is not a
    /// regular file.
    pub kind: String,
    /// The value in RECORD.
    pub expected: String,
    /// The actual value.
    pub found: String,
    /// The line of RECORD with the expected value, counted from 1; `None` if the value has another
    /// source.
    #[serde(default)]
    pub line: Option<u32>,
}

/// Comparison with the hashes of published wheels.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Upstream {
    /// `match`; `differs`; `other_build`; `other_version` (the manifest is for another version);
    /// `unknown_version`; `not_checked`. `other_build` is another build under a published version:
    /// no library is the same, and all of them agree with the installation's RECORD.
    pub verdict: String,
    /// The manifest: `built-in` or a file.
    pub manifest: String,
    /// The wheel that the files were compared with.
    pub wheel: Option<String>,
    /// The first files that differ from it.
    pub differing: Vec<FileDifference>,
    /// Total number of differing files.
    pub differing_total: u32,
    /// Whether RECORD is that of the wheel; `None` if unknown. If it is, every file that agrees
    /// with RECORD agrees with the wheel.
    pub record_matches: Option<bool>,
    /// Number of compared files.
    pub compared: u32,
}
