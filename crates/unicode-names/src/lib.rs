//! Stands in for the crate of this name, whose tables would be a twentieth of the program.
//!
//! The parser of Python sources asks which character `\N{EURO SIGN}` in a string is. No rule looks
//! at such a character, and sources keep their text, so that none needs the answer; and a name
//! that is newer than a table is no error of the source.

/// A character for a name: the same for every name that can be one.
pub fn character(name: &str) -> Option<char> {
    let may_be = |c: char| c.is_ascii_alphanumeric() || matches!(c, ' ' | '-' | '_' | '(' | ')');
    (!name.trim().is_empty() && name.chars().all(may_be)).then_some(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_taken_and_others_are_not() {
        for name in ["EURO SIGN", "greek small letter alpha", "HYPHEN-MINUS", "BELL (x)"] {
            assert_eq!(character(name), Some('\u{fffd}'), "{name}");
        }
        for name in ["", " ", "a\"b", "x\ny", "é"] {
            assert_eq!(character(name), None, "{name:?}");
        }
    }
}
