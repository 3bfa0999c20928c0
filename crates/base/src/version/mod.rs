//! Version numbers of the Ascend stack: how they are written, and which is newer.
//!
//! Three notations live side by side on one machine:
//! - [`CannVersion`]: `8.3.RC1`, `8.1.RC1.alpha001`, `9.0.0-beta.1`;
//! - [`DottedVersion`]: drivers (`24.1.rc2.2`), firmware (`7.7.0.1.231`), CANN components
//!   (`8.2.0.0.201`);
//! - [`InnerVersion`]: `V100R001C19SPC001B124`, a label without an order.
//!
//! [`RangeList`] is the notation of `compatible_version…` in version files, and
//! [`PackageRange`] that of `required_package_…_version`.

mod cann;
mod dotted;
mod inner;
mod range;

pub use cann::{CannVersion, Stage};
pub use dotted::DottedVersion;
pub use inner::InnerVersion;
pub use range::{PackageRange, RangeList};

/// The longest version that is read, in bytes; nothing real is near it.
const MAX_LEN: usize = 64;

/// A text that is no version of the notation asked for.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct VersionError {
    /// What was read, shortened.
    pub text: String,
    /// What it should have been.
    pub expected: &'static str,
}

impl VersionError {
    fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.chars().take(MAX_LEN).collect(), expected }
    }
}

/// A number of at most nine digits.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The number after a word, letter case ignored: `RC2` for `rc` gives 2.
fn number_after(text: &str, word: &str) -> Option<u32> {
    let (head, tail) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then(|| number(tail)).flatten()
}
