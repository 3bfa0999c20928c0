//! Text as people read it.

/// The text on one line. Sentences wrap at 80 columns, and where depends on the paths in them.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
