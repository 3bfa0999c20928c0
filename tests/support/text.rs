//! Text without its line breaks.

/// The text on one line. Sentences wrap at 80 columns, and the positions depend on the paths in
/// them.
pub fn flat(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}
