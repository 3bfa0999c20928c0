//! Constants of C and C++ headers.

use std::sync::LazyLock;

use regex::Regex;

/// A constant with its number, its trailing comment and its line.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Constant {
    pub(super) name: String,
    /// The value as written, such as `507035` or `0x7010000`.
    pub(super) value: String,
    /// Text of the comment on the same line, without its marks.
    pub(super) comment: String,
    /// Line, counted from 1.
    pub(super) line: usize,
}

/// Constants of one line each: `#define NAME 1 // text` and `static const int32_t NAME = 1; // text`,
/// with any number of blanks.
pub(super) fn constants(text: &str) -> Vec<Constant> {
    static LINE: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(
            r"(?x)^\s*(?:\#\s*define\s+|(?:static\s+|inline\s+)?const(?:expr)?\s+\w+\s+|constexpr\s+\w+\s+)
            ([A-Za-z_]\w*)\s*=?\s*\(?\s*(-?(?:0[xX][0-9a-fA-F]+|\d+))[uUlL]*\s*\)?\s*;?\s*
            (?:///?<?\s*(.*?)|/\*+<?\s*(.*?)\s*\*/)?\s*$",
        )
        .expect("a constant pattern")
    });
    let found = text.lines().enumerate().filter_map(|(at, line)| {
        let captures = LINE.captures(line)?;
        let comment = captures.get(3).or(captures.get(4)).map_or("", |found| found.as_str());
        Some(Constant {
            name: captures[1].to_owned(),
            value: captures[2].to_owned(),
            comment: comment.trim().to_owned(),
            line: at + 1,
        })
    });
    found.collect()
}

/// The number of a literal in decimal or hexadecimal.
pub(super) fn number(literal: &str) -> Option<i64> {
    match literal.strip_prefix("0x").or(literal.strip_prefix("0X")) {
        Some(hex) => i64::from_str_radix(hex, 16).ok(),
        None => literal.parse().ok(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_of_constants_are_read() {
        let text = "#define  A  107000   // parameter invalid\n\
                    static const int32_t B   = 507035; // vector core exception\n\
                    constexpr uint32_t C = 0xFFu; /* c */\n\
                    #define NOT(x) 5\n// #define D 1\n#define E\n#define F (7)\n";
        let found: Vec<_> = constants(text)
            .into_iter()
            .map(|constant| {
                (constant.name, number(&constant.value).unwrap(), constant.comment, constant.line)
            })
            .collect();
        let expect = |name: &str, value, comment: &str, line| {
            (name.to_owned(), value, comment.to_owned(), line)
        };
        assert_eq!(
            found,
            [
                expect("A", 107_000, "parameter invalid", 1),
                expect("B", 507_035, "vector core exception", 2),
                expect("C", 255, "c", 3),
                expect("F", 7, "", 7),
            ]
        );
    }
}
