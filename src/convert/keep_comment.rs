//! Comments that keep the places of their line: `# ascend-doctor: keep`.

use std::ops::Range;

/// The text of the comment after its comment sign. A reason may follow.
const KEEP: &str = "ascend-doctor: keep";

/// Whether a comment keeps its line. `sign` is the comment sign.
pub(super) fn keeps(comment: &str, sign: &str) -> bool {
    comment.match_indices(KEEP).any(|(at, _)| {
        let begins = comment[..at].trim_end_matches([' ', '\t']).ends_with(sign);
        let rest = comment[at + KEEP.len()..].chars().next();
        begins
            && rest.is_none_or(|next| next.is_whitespace() || matches!(next, ',' | '.' | ':' | ';'))
    })
}

/// The lines of a text that such a comment keeps, in order.
pub(super) fn kept_lines(text: &str, sign: &str) -> Vec<Range<usize>> {
    let mut lines: Vec<Range<usize>> = Vec::new();
    for found in memchr::memmem::find_iter(text.as_bytes(), KEEP.as_bytes()) {
        let start = text[..found].rfind('\n').map_or(0, |at| at + 1);
        let end = text[found..].find('\n').map_or(text.len(), |at| found + at);
        if lines.last().is_none_or(|last| last.start != start) && keeps(&text[start..end], sign) {
            lines.push(start..end);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_comment_keeps_its_line() {
        for yes in [
            "# ascend-doctor: keep",
            "#ascend-doctor: keep",
            "# noqa  # ascend-doctor: keep",
            "# ascend-doctor: keep: the baseline runs on CUDA",
        ] {
            assert!(keeps(yes, "#"), "{yes}");
        }
        for no in ["ascend-doctor: keep", "# see ascend-doctor: keep", "# ascend-doctor: keeps"] {
            assert!(!keeps(no, "#"), "{no}");
        }
        assert!(keeps("x(); // ascend-doctor: keep", "//"));
    }

    #[test]
    fn lines_are_found_once() {
        let text = "a\nb # ascend-doctor: keep # ascend-doctor: keep\r\nc\nd # ascend-doctor: keep";
        let lines: Vec<&str> = kept_lines(text, "#").into_iter().map(|line| &text[line]).collect();
        assert_eq!(lines.len(), 2, "{lines:?}");
        assert!(lines[0].starts_with("b ") && lines[1].starts_with("d "));
        assert!(kept_lines("", "#").is_empty());
    }
}
