//! Constants, enumerations and string literals of C and C++ sources.

use std::sync::LazyLock;

use anyhow::{Context as _, Result, bail};
use regex::Regex;

/// A constant with its number, its trailing comment and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) name: String,
    /// The type, such as `int32_t`; empty for `#define` and enumerators.
    pub(super) kind: String,
    /// The value as written, such as `507035` or `0x7010000`; in decimal if it is implicit.
    pub(super) value: String,
    /// Text of the comment on the same line, without its marks.
    pub(super) comment: String,
    /// Line, counted from 1.
    pub(super) line: usize,
}

impl Constant {
    /// Returns the value in decimal, or as written if it is not a number.
    pub(super) fn decimal(&self) -> String {
        number(&self.value).map_or_else(|| self.value.clone(), |value| value.to_string())
    }

    /// Returns the value in hexadecimal.
    pub(super) fn hexadecimal(&self) -> String {
        number(&self.value).map_or_else(|| self.value.clone(), |value| format!("{value:#x}"))
    }
}

/// Returns constants on one line each: `#define NAME 1 // text` and
/// `static const int32_t NAME = 1; // text`, with any number of blanks. A backslash continues a
/// line.
pub(super) fn constants(text: &str) -> Vec<Constant> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?x)^\s*(?:\#\s*define\s+|(?:static\s+|inline\s+)?const(?:expr)?\s+(?<kind>\w+)\s+)
            (?<name>[A-Za-z_]\w*)\s*=?\s*\(?\s*(?<value>-?(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*\s*\)?
            \s*;?\s*(?:///?<?\s*(?<line>.*?)|/\*+<?\s*(?<block>.*?)\s*\*/)?\s*$",
        )
        .expect("a constant pattern")
    });
    let found = logical_lines(text).into_iter().filter_map(|(at, line)| {
        let captures = LINE.captures(&line)?;
        let comment = captures.name("line").or(captures.name("block"));
        Some(Constant {
            name: captures["name"].to_owned(),
            kind: captures.name("kind").map_or("", |kind| kind.as_str()).to_owned(),
            value: captures["value"].to_owned(),
            comment: comment.map_or("", |found| found.as_str()).trim().to_owned(),
            line: at,
        })
    });
    found.collect()
}

/// Returns the enumerators of the enumeration whose head matches `head`, such as `enum ErrorType`.
/// An implicit value is that of the previous enumerator plus one.
///
/// # Errors
///
/// If there is no such enumeration, or one of its lines is not an enumerator.
pub(super) fn enumeration(text: &str, head: &str) -> Result<Vec<Constant>> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?x)^\s*(?<name>[A-Za-z_]\w*)\s*(?:=\s*(?<value>-?(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*)?
            \s*,?\s*(?://[/!]?<?\s*(?<line>.*?)|/\*+<?\s*(?<block>.*?)\s*\*/)?\s*$",
        )
        .expect("an enumerator pattern")
    });
    let start = Regex::new(&format!("{head}[^{{;]*\\{{"))?.find(text);
    let start = start.with_context(|| format!("no enumeration like `{head}`"))?.end();
    let end = text[start..].find('}').with_context(|| format!("`{head}` has no end"))? + start;
    let first = line_of(text, start);
    let mut found: Vec<Constant> = Vec::new();
    let mut next = 0;
    let mut in_comment = false;
    for (at, line) in text[start..end].lines().enumerate() {
        let trimmed = line.trim();
        let opens = trimmed.starts_with("/*");
        if in_comment || opens || trimmed.is_empty() || trimmed.starts_with(['#', '/']) {
            in_comment = (in_comment || opens) && !trimmed.ends_with("*/");
            continue;
        }
        let Some(captures) = LINE.captures(line) else {
            bail!("line {}: `{trimmed}` is not an enumerator", first + at);
        };
        let written = captures.name("value").map(|value| value.as_str());
        let value = written.and_then(number).unwrap_or(next);
        next = value + 1;
        let comment = captures.name("line").or(captures.name("block"));
        found.push(Constant {
            name: captures["name"].to_owned(),
            kind: String::new(),
            value: written.map_or_else(|| value.to_string(), str::to_owned),
            comment: comment.map_or("", |found| found.as_str()).trim().to_owned(),
            line: first + at,
        });
    }
    Ok(found)
}

/// Parses a decimal, hexadecimal or binary literal.
pub(super) fn number(literal: &str) -> Option<i64> {
    let literal = literal.trim_end_matches(['u', 'U', 'l', 'L']);
    let prefixed = |lower: &str, upper: &str, radix| {
        let digits = literal.strip_prefix(lower).or(literal.strip_prefix(upper))?;
        Some(i64::from_str_radix(digits, radix).ok())
    };
    match prefixed("0x", "0X", 16).or_else(|| prefixed("0b", "0B", 2)) {
        Some(value) => value,
        None => literal.parse().ok(),
    }
}

/// Returns the text of adjacent string literals: `"a" "b"`.
pub(super) fn literals(text: &str) -> String {
    static LITERAL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#""((?:[^"\\]|\\.)*)""#).expect("a literal pattern"));
    LITERAL.captures_iter(text).map(|found| found[1].replace("\\\"", "\"")).collect()
}

/// Returns the words of a constant without its prefix: `rt fail` for `ERROR_RT_FAIL`.
pub(super) fn words(name: &str, prefix: &str) -> String {
    name.replace(prefix, "").replace('_', " ").to_lowercase()
}

/// Returns the line of a position, counted from 1.
pub(super) fn line_of(text: &str, position: usize) -> usize {
    text[..position].matches('\n').count() + 1
}

/// Returns lines with their numbers. A line that ends with a backslash includes the next one.
fn logical_lines(text: &str) -> Vec<(usize, String)> {
    let mut lines: Vec<(usize, String)> = Vec::new();
    let mut continues = false;
    for (at, line) in text.lines().enumerate() {
        let (part, more) = match line.trim_end().strip_suffix('\\') {
            Some(part) => (part, true),
            None => (line, false),
        };
        match lines.last_mut() {
            Some((_, before)) if continues => before.push_str(part),
            _ => lines.push((at + 1, part.to_owned())),
        }
        continues = more;
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(found: Vec<Constant>) -> Vec<(String, i64, String, usize)> {
        let row = |constant: Constant| {
            (constant.name, number(&constant.value).unwrap(), constant.comment, constant.line)
        };
        found.into_iter().map(row).collect()
    }

    fn row(name: &str, value: i64, comment: &str, line: usize) -> (String, i64, String, usize) {
        (name.to_owned(), value, comment.to_owned(), line)
    }

    #[test]
    fn both_layouts_of_constants_are_read() {
        let text = "#define  A  107000   // parameter invalid\n\
                    static const int32_t B   = 507035; // vector core exception\n\
                    constexpr uint32_t C = 0xFFu; /* c */\n\
                    #define NOT(x) 5\n// #define D 1\n#define E\n#define F (7)\n\
                    #define G \\\n    9 // continued\nconst Status H = -1;\n";
        assert_eq!(
            shown(constants(text)),
            [
                row("A", 107_000, "parameter invalid", 1),
                row("B", 507_035, "vector core exception", 2),
                row("C", 255, "c", 3),
                row("F", 7, "", 7),
                row("G", 9, "continued", 8),
                row("H", -1, "", 10),
            ]
        );
        let kinds: Vec<String> = constants(text).into_iter().map(|found| found.kind).collect();
        assert_eq!(kinds, ["", "int32_t", "uint32_t", "", "", "Status"]);
    }

    #[test]
    fn enumerators_without_a_value_count_on() {
        let text = "enum Other { X };\ntypedef enum E : int {\n  /* a,\n     b = 3, */\n  A = 0X40, /**< first, one */\n\n  B, //!< 第二\n#ifdef Z\n  C = 7U, // third\n#endif\n  D\n} T;\n";
        assert_eq!(
            shown(enumeration(text, "enum E").unwrap()),
            [
                row("A", 64, "first, one", 5),
                row("B", 65, "第二", 7),
                row("C", 7, "third", 9),
                row("D", 8, "", 11)
            ]
        );
        assert!(enumeration(text, "enum None").is_err());
        let odd = enumeration("enum E {\n A = B | 1,\n};", "enum E").unwrap_err();
        assert!(odd.to_string().contains("line 2"), "{odd}");
    }

    #[test]
    fn literals_are_joined_and_numbers_have_bases() {
        assert_eq!(literals(r#""a, " "b\"c" X "#), "a, b\"c");
        assert_eq!(number("0b01"), Some(1));
        assert_eq!(number("0x7010000"), Some(0x701_0000));
        assert_eq!(number("145000U"), Some(145_000));
        assert_eq!(number("NAME"), None);
        assert_eq!(words("ERROR_RT_FAIL", "ERROR_"), "rt fail");
    }
}
