//! Numbers inside versions, and the error of all notations.

/// Maximum length of a version in bytes, far above any real one.
pub(super) const MAX_LEN: usize = 64;

/// A text that is not a version of the expected notation.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{text}` is not {expected}")]
pub struct VersionError {
    /// The text, shortened.
    pub text: String,
    /// The expected notation.
    pub expected: &'static str,
}

impl VersionError {
    pub(super) fn new(text: &str, expected: &'static str) -> Self {
        Self { text: text.chars().take(MAX_LEN).collect(), expected }
    }
}

/// A number of at most nine digits.
pub(super) fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.len() <= 9 && text.bytes().all(|b| b.is_ascii_digit());
    digits.then(|| text.parse().ok()).flatten()
}

/// The number after a word, letter case ignored: `RC2` for `rc` gives 2.
pub(super) fn number_after(text: &str, word: &str) -> Option<u32> {
    let (head, tail) = text.split_at_checked(word.len())?;
    head.eq_ignore_ascii_case(word).then(|| number(tail)).flatten()
}
