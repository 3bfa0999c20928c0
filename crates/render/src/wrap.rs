//! Wraps text at a width in terminal columns; Chinese has no blanks and wide characters.

use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

/// Lines of at most `width` columns (0: no limit). Breaks at blanks and between wide
/// characters; a longer word (a path, a command) is left whole.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    if width == 0 || text.width() <= width {
        return text.lines().map(str::to_owned).collect();
    }
    text.lines().flat_map(|line| wrap_line(line, width)).collect()
}

/// As [`wrap`], for a text whose lines after the first one will be indented by `indent` columns.
pub(super) fn wrap_hanging(text: &str, width: usize, indent: usize) -> Vec<String> {
    let lines = wrap(text, width);
    let [first, _, ..] = lines.as_slice() else { return lines };
    let Some(rest) = text.trim_start().strip_prefix(first.as_str()) else { return lines };
    let rest = wrap(rest.trim_start(), width.saturating_sub(indent).max(1));
    std::iter::once(first.clone()).chain(rest).collect()
}

/// The columns that the widest part of a text takes which is not broken.
pub(super) fn least_width(text: &str) -> usize {
    let pieces = text.lines().flat_map(split_pieces);
    pieces.map(|piece| piece.trim().width()).max().unwrap_or_default()
}

fn wrap_line(line: &str, width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut current = String::new();
    for piece in split_pieces(line) {
        let used = current.width();
        if used > 0 && used + piece.trim_end().width() > width {
            lines.push(std::mem::take(&mut current).trim_end().to_owned());
        }
        current.push_str(if current.is_empty() { piece.trim_start() } else { piece });
    }
    if !current.trim_end().is_empty() {
        lines.push(current.trim_end().to_owned());
    }
    lines
}

/// Units that must not be broken: a run of narrow characters with the blanks after it, or one
/// wide character with the opening punctuation before and the closing punctuation after it.
fn split_pieces(line: &str) -> Vec<&str> {
    let mut pieces = Vec::new();
    let mut start = 0;
    let mut previous: Option<char> = None;
    for (at, c) in line.char_indices() {
        if let Some(before) = previous {
            let wide = |c: char| c.width() == Some(2);
            let breaks = (before == ' ' && c != ' ')
                || ((wide(before) || wide(c))
                    && !"，。；：、！？）】」”’".contains(c)
                    && !"（【「“‘".contains(before)
                    && c != ' ');
            if breaks {
                pieces.push(&line[start..at]);
                start = at;
            }
        }
        previous = Some(c);
    }
    pieces.push(&line[start..]);
    pieces
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_stay_whole() {
        assert_eq!(wrap("aaa bbb /a/very/long/path c", 8), ["aaa bbb", "/a/very/long/path", "c"]);
    }

    #[test]
    fn indented_lines_are_shorter() {
        assert_eq!(wrap_hanging("aaaa bbbb cccc dd", 10, 4), ["aaaa bbbb", "cccc", "dd"]);
        assert_eq!(wrap_hanging("aaaa", 10, 4), ["aaaa"]);
    }

    #[test]
    fn chinese_breaks_anywhere_but_at_punctuation() {
        let lines = wrap("驱动版本低于要求，请升级。", 10);
        assert!(lines.iter().all(|line| line.width() <= 12), "{lines:?}");
        assert!(lines.iter().all(|line| !line.starts_with(['，', '。'])), "{lines:?}");
        assert_eq!(wrap("无法启动（libhal.so）", 12), ["无法启动", "（libhal.so）"]);
    }
}
