//! Wraps text and commands at a width in terminal columns; Chinese has no blanks, and its
//! characters are wide.

use std::io::{self, Write};

use base::text::escape_line;
use unicode_width::{UnicodeWidthChar as _, UnicodeWidthStr as _};

use super::Style;

/// Lines of at most `width` columns (0: no limit). Breaks at blanks and between wide characters; a
/// longer word (a path, a command) is not broken.
pub fn wrap(text: &str, width: usize) -> Vec<String> {
    if width == 0 || text.width() <= width {
        return text.lines().map(str::to_owned).collect();
    }
    text.lines().flat_map(|line| wrap_line(line, width)).collect()
}

/// Like [`wrap`], for a text whose lines after the first one will be indented by `indent` columns.
pub fn wrap_hanging(text: &str, width: usize, indent: usize) -> Vec<String> {
    let lines = wrap(text, width);
    let [first, _, ..] = lines.as_slice() else { return lines };
    let Some(rest) = text.trim_start().strip_prefix(first.as_str()) else { return lines };
    let rest = wrap(rest.trim_start(), width.saturating_sub(indent).max(1));
    std::iter::once(first.clone()).chain(rest).collect()
}

/// The lines of a command that starts at column `indent`. All but the last end with a backslash,
/// and continued lines are indented by another four columns, so that a shell reads the lines as one
/// command. Words are not broken, including quoted ones with blanks.
pub fn wrap_command(command: &str, width: usize, indent: usize) -> Vec<String> {
    if width == 0 || indent + command.width() <= width {
        return vec![command.to_owned()];
    }
    let mut lines: Vec<String> = Vec::new();
    for word in shell_words(command) {
        let first = lines.len() < 2;
        let start = indent + if first { 0 } else { CONTINUED };
        match lines.last_mut() {
            // Two columns are reserved for the backslash.
            Some(last) if start + last.width() + 1 + word.width() + 2 <= width => {
                last.push(' ');
                last.push_str(word);
            }
            _ => lines.push(word.to_owned()),
        }
    }
    let last = lines.len().saturating_sub(1);
    for (number, line) in lines.iter_mut().enumerate() {
        let pad = if number == 0 { 0 } else { indent + CONTINUED };
        let end = if number == last { "" } else { " \\" };
        *line = format!("{}{line}{end}", " ".repeat(pad));
    }
    lines
}

/// Writes a command of a report at column `indent`.
pub(super) fn write_command(
    command: &str,
    indent: usize,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let command = escape_line(command);
    for (number, line) in wrap_command(&command, style.width, indent).iter().enumerate() {
        let text = line.trim_start();
        let pad = if number == 0 { indent } else { line.len() - text.len() };
        writeln!(out, "{:pad$}{}", "", style.paint.command(text))?;
    }
    Ok(())
}

/// The additional indentation of the continued lines of a command.
const CONTINUED: usize = 4;

/// The words of a command in their original form. A comment is one word, because a backslash does
/// not continue it.
fn shell_words(command: &str) -> Vec<&str> {
    let (mut words, mut start) = (Vec::new(), 0);
    let (mut quote, mut escaped) = (None, false);
    for (at, c) in command.char_indices() {
        let inside = quote.is_some() || escaped;
        escaped = !escaped && c == '\\' && quote != Some('\'');
        match c {
            '\'' | '"' if quote == Some(c) => quote = None,
            '\'' | '"' if !inside => quote = Some(c),
            '#' if !inside && command[start..at].is_empty() => break,
            ' ' if !inside => {
                words.extend(Some(&command[start..at]).filter(|word| !word.is_empty()));
                start = at + 1;
            }
            _ => {}
        }
    }
    words.extend(Some(&command[start..]).filter(|word| !word.is_empty()));
    words
}

/// The width of the widest unbreakable part of a text.
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
    fn long_commands_continue_after_a_backslash() {
        let lines = wrap_command("docker run --device /dev/davinci0 -v '/a b:/a b' image", 30, 2);
        assert_eq!(
            lines,
            ["docker run --device \\", "      /dev/davinci0 -v \\", "      '/a b:/a b' image"]
        );
        assert!(lines.iter().all(|line| line.width() <= 30), "{lines:?}");
        assert_eq!(wrap_command("a b", 30, 2), ["a b"]);
        assert_eq!(wrap_command("a b  # see the log", 8, 0), ["a b \\", "    # see the log"]);
        assert_eq!(wrap_command(r"a\ b c", 5, 0), [r"a\ b \", "    c"]);
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
