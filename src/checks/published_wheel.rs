//! Compares wheel files with the hashes of the published ones.
//!
//! Input: the name and the hash of a wheel. Output: the outcome under the ID of `TNPU-MANIFEST`,
//! which compares installed files of torch_npu.

use base::hash::Sha256;
use base::report::Evidence;
use data::{FindingId, KnownWheels, Outcome, Reason, findings::tnpu_manifest};

/// The finding ID of the comparison.
pub const ID: FindingId = tnpu_manifest::ID;

/// A wheel with a published hash.
#[derive(Debug)]
pub struct PublishedWheel {
    name: String,
    sha256: Sha256,
}

impl PublishedWheel {
    /// Looks up the file name of a wheel.
    pub fn find(name: &str) -> Option<Self> {
        let sha256 = KnownWheels::builtin().wheel_sha256(name)?;
        Some(Self { name: name.to_owned(), sha256 })
    }

    /// The outcome for a wheel without a published hash.
    pub fn unknown(name: String) -> Outcome {
        Outcome::Blocked(Reason::NotUpstream { what: name })
    }

    /// Compares the hash of the file at `path`.
    pub fn compare(&self, found: Sha256, path: &str) -> Outcome {
        let expected = self.sha256;
        if found == expected {
            return Outcome::Passed;
        }
        let evidence = Evidence::file(path).value(format!(
            "sha256 {}, expected {}",
            found.hex(),
            expected.hex()
        ));
        let list = format!("known_wheels ({})", KnownWheels::builtin().as_of);
        vec![
            tnpu_manifest::Wheel { path, wheel: &self.name }
                .error()
                .evidence(evidence)
                .evidence(Evidence::data(list).value(&self.name)),
        ]
        .into()
    }
}
