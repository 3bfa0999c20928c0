//! Makes text of the examined machine harmless on a terminal.

use std::borrow::Cow;
use std::fmt::Write as _;

use unicode_general_category::{GeneralCategory, get_general_category};

/// Replaces every character that could act on a terminal, change the reading order or hide: see
/// [`acts_on_terminal`]. Line feeds and tabs stay. The others appear as `\x1b` or `\u{202e}`.
pub fn escape(text: &str) -> Cow<'_, str> {
    escape_with(text, |c| matches!(c, '\n' | '\t'))
}

/// As [`escape`], but for text that has to stay on one line: line feeds and tabs too.
pub fn escape_line(text: &str) -> Cow<'_, str> {
    escape_with(text, |_| false)
}

fn escape_with(text: &str, keep: impl Fn(char) -> bool) -> Cow<'_, str> {
    let first = text.char_indices().find(|(_, c)| acts_on_terminal(*c) && !keep(*c));
    let Some((first, _)) = first else { return Cow::Borrowed(text) };
    let mut out = String::with_capacity(text.len() + 16);
    out.push_str(&text[..first]);
    let mut before = text[..first].chars().next_back();
    let mut rest = text[first..].chars();
    while let Some(c) = rest.next() {
        let is_harmless = !acts_on_terminal(c) || keep(c);
        if is_harmless || joins(before, c, rest.clone().next()) {
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
        before = Some(c);
    }
    Cow::Owned(out)
}

/// Returns whether a character could act on a terminal, change the reading order, or hide. By their
/// category in Unicode, these are all controls, format characters (including the bidirectional
/// ones), separators of lines, private use and unassigned code points. Fillers that are letters
/// without a shape, and variation selectors that no character needs, are included.
pub fn acts_on_terminal(c: char) -> bool {
    match c {
        // ASCII, and the bulk of Japanese, Chinese and Korean text.
        ' '..='~' | '\u{3041}'..='\u{3096}' | '\u{4e00}'..='\u{9fff}' | '\u{ac00}'..='\u{d7a3}' => {
            false
        }
        '\u{34f}'
        | '\u{115f}'..='\u{1160}'
        | '\u{17b4}'..='\u{17b5}'
        | '\u{180b}'..='\u{180f}'
        | '\u{3164}'
        | '\u{fe00}'..='\u{fe0f}'
        | '\u{ffa0}'
        | '\u{e0100}'..='\u{e01ef}' => true,
        c => matches!(
            get_general_category(c),
            GeneralCategory::Control
                | GeneralCategory::Format
                | GeneralCategory::LineSeparator
                | GeneralCategory::ParagraphSeparator
                | GeneralCategory::PrivateUse
                | GeneralCategory::Surrogate
                | GeneralCategory::Unassigned
        ),
    }
}

/// Returns whether an invisible character is in place between its neighbors: it joins emoji
/// (`👩‍💻`), requests the colored form of a symbol, or selects a variant of a Chinese character.
fn joins(before: Option<char>, c: char, after: Option<char>) -> bool {
    let is_symbol = |c: char| {
        let category = get_general_category(c);
        matches!(category, GeneralCategory::OtherSymbol | GeneralCategory::ModifierSymbol)
    };
    let is_ideograph = |c: char| matches!(c, '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{20000}'..='\u{323af}');
    let is_before = |is: &dyn Fn(char) -> bool| before.is_some_and(is);
    match c {
        // The symbol may have a selector or a skin tone.
        '\u{200d}' => {
            is_before(&|c| is_symbol(c) || c == '\u{fe0f}') && after.is_some_and(is_symbol)
        }
        '\u{fe0e}' | '\u{fe0f}' => is_before(&|c| {
            is_symbol(c) || matches!(c, '0'..='9' | '#' | '*' | '\u{203c}' | '\u{2049}')
        }),
        '\u{fe00}'..='\u{fe0d}' | '\u{e0100}'..='\u{e01ef}' => is_before(&is_ideograph),
        _ => false,
    }
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

    /// Every character of the categories that act or hide, by an example and by its ranges.
    #[test]
    fn no_control_format_private_or_unassigned_character_passes() {
        let mut passed = Vec::new();
        for c in (0..=0x0010_ffff_u32).filter_map(char::from_u32) {
            let harmless = matches!(
                get_general_category(c),
                GeneralCategory::Control
                    | GeneralCategory::Format
                    | GeneralCategory::LineSeparator
                    | GeneralCategory::ParagraphSeparator
                    | GeneralCategory::PrivateUse
                    | GeneralCategory::Unassigned
            );
            let text = format!("a{c}b");
            if harmless && escape_line(&text).contains(c) {
                passed.push(c);
            }
        }
        assert!(passed.is_empty(), "{passed:?}");
        for (text, shown) in [
            ("a\u{61c}b", "a\\u{61c}b"),
            ("a\u{ad}b", "a\\xadb"),
            ("a\u{e000}b", "a\\u{e000}b"),
            ("a\u{378}b", "a\\u{378}b"),
            ("a\u{200d}b", "a\\u{200d}b"),
            ("a\u{fe0f}b", "a\\u{fe0f}b"),
            ("a\u{3164}b", "a\\u{3164}b"),
            ("a\u{2066}b\u{2069}", "a\\u{2066}b\\u{2069}"),
            ("a\u{e0061}b", "a\\u{e0061}b"),
        ] {
            assert_eq!(escape(text), shown);
        }
    }

    #[test]
    fn text_of_people_stays() {
        for text in [
            "昇腾 NPU：驱动、固件",
            "👩\u{200d}💻 🏳\u{fe0f}\u{200d}🌈 ❤\u{fe0f} 1\u{fe0f}\u{20e3} 👍🏽",
            "葛\u{e0100}城",
            "Ünïcödé ñ e\u{301} हिन्दी עברית العربية ไทย",
            "→ ✓ “quoted” … — ①",
        ] {
            assert_eq!(escape_line(text), text);
        }
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
