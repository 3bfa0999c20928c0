//! Manifests of locally built wheels. `ascend-doctor manifest create` writes them, and `check
//! --manifest` reads them.
//!
//! A manifest is a JSON object:
//!
//! ```json
//! {
//!   "schema": "ascend-doctor/manifest/1",
//!   "package": "torch-npu",
//!   "version": "2.9.0+git1a2b3c4",
//!   "wheel": "torch_npu-2.9.0+git1a2b3c4-cp311-cp311-linux_aarch64.whl",
//!   "record_sha256": "…",
//!   "files": [{ "path": "torch_npu/__init__.py", "size": 13437, "sha256": "…" }]
//! }
//! ```
//!
//! Paths are relative to the directory that contains the package; hashes are hexadecimal;
//! `record_sha256` is [`record_digest`](data::record_digest) of the wheel's RECORD.

mod create;
mod format;
pub mod record;
mod wheel;

pub use create::{CreateError, from_tree};
pub use format::{MANIFEST_SCHEMA, Manifest, ManifestFile};
pub use wheel::from_wheel;
