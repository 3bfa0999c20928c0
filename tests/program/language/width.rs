//! Finds lines that are wider than a terminal.

use unicode_width::UnicodeWidthStr as _;

/// Columns of a terminal.
const COLUMNS: usize = 80;

/// Returns the lines that take more than 80 columns and could be wrapped: a line with one long
/// word, such as a path, is as short as possible. JSON has no lines of prose.
pub(super) fn too_wide(text: &str) -> Vec<String> {
    if text.starts_with('{') {
        return Vec::new();
    }
    text.lines()
        .filter(|line| line.width() > COLUMNS && !is_one_word(line))
        .map(str::to_owned)
        .collect()
}

fn is_one_word(line: &str) -> bool {
    // The text behind a label or a list marker.
    let words = line.trim().rsplit("  ").next().unwrap_or_default().trim();
    let words = words.strip_prefix("- ").unwrap_or(words);
    let words = words.strip_suffix(" \\").unwrap_or(words);
    !words.contains(' ') && words.width() == words.chars().count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_count_twice() {
        assert_eq!(too_wide(&"驱".repeat(40)), Vec::<String>::new());
        assert_eq!(too_wide(&"驱".repeat(41)).len(), 1);
        assert_eq!(too_wide(&"word ".repeat(17)).len(), 1);
        let path = format!("/{}", "a".repeat(90));
        for line in [format!("    {path}"), format!("  see  {path}"), format!("  - {path}")] {
            assert_eq!(too_wide(&line), Vec::<String>::new());
        }
        assert_eq!(too_wide(&format!("see {path}")).len(), 1);
    }
}
