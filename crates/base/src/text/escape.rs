//! Makes text from the scanned machine harmless on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

/// Replaces every character that could act on a terminal or change the reading order:
/// C0 and C1 controls except line feed and tab, DEL, and the Unicode bidirectional controls,
/// line separators and invisible format characters. They appear as `\x1b` or `\u{202e}`.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |c| matches!(c, '\n' | '\t'))
}

/// As [`escape`], but for text that has to stay on one line: line feeds and tabs too.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_with(text, |_| false)
}

fn escape_with(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    if !text.chars().any(|c| acts_on_terminal(c) && !keep(c)) {
        return Cow::Borrowed(text);
    }
    let mut out = String::with_capacity(text.len() + 16);
    for c in text.chars() {
        if !acts_on_terminal(c) || keep(c) {
            out.push(c);
        } else if c == '\n' {
            out.push_str("\\n");
        } else if c == '\t' {
            out.push_str("\\t");
        } else if c == '\r' {
            out.push_str("\\r");
        } else if (c as u32) < 0x100 {
            let _ = write!(out, "\\x{:02x}", c as u32);
        } else {
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
    }
    Cow::Owned(out)
}

/// Whether a character could act on a terminal or change the reading order.
pub fn acts_on_terminal(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{200b}'..='\u{200f}'
            | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{2069}'
            | '\u{feff}'
            | '\u{fff9}'..='\u{fffb}'
            | '\u{e0000}'..='\u{e007f}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn controls_become_visible() {
        assert_eq!(escape("a\x1b[31mb"), "a\\x1b[31mb");
        assert_eq!(escape("a\u{9b}31m"), "a\\x9b31m");
        assert_eq!(escape("\u{202e}gpj.exe"), "\\u{202e}gpj.exe");
    }

    #[test]
    fn plain_text_is_borrowed() {
        assert!(matches!(escape("路径 /usr/local\n"), Cow::Borrowed(_)));
    }

    #[test]
    fn escape_line_keeps_one_line() {
        assert_eq!(escape_line("a\nb\tc\rd"), "a\\nb\\tc\\rd");
    }
}
