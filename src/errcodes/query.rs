//! The forms in which people and logs write a code.

use super::Kind;

/// How a number was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Digits, perhaps with a minus sign.
    Decimal,
    /// With `0x`.
    Hex,
}

/// What was asked for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// A number.
    Number {
        /// The value as it was written.
        value: i64,
        /// How it was written.
        form: Form,
    },
    /// A symbol, or a code that is no number; upper case.
    Name(String),
}

impl Query {
    /// Reads `text`; blanks and the punctuation that logs put around a code do not matter.
    pub fn parse(text: &str) -> Self {
        let text = text.trim_matches(|c: char| {
            c.is_whitespace() || matches!(c, ':' | ',' | ';' | '[' | ']' | '(' | ')' | '"' | '\'')
        });
        let (sign, digits) = match text.strip_prefix('-') {
            Some(rest) => (-1, rest),
            None => (1, text),
        };
        let hex = digits.strip_prefix("0x").or_else(|| digits.strip_prefix("0X"));
        let (parsed, form) = match hex {
            Some(hex) => (parse(hex, 16), Form::Hex),
            None => (parse(digits, 10), Form::Decimal),
        };
        match parsed {
            Some(value) => Self::Number { value: sign * value, form },
            None => Self::Name(text.to_ascii_uppercase()),
        }
    }

    /// Whether a family of this kind writes its codes as the query is written.
    pub fn is_written_like(&self, kind: Kind) -> bool {
        match self {
            Self::Number { form: Form::Decimal, .. } => kind == Kind::Decimal,
            Self::Number { form: Form::Hex, .. } => kind == Kind::Hex,
            Self::Name(_) => true,
        }
    }

    /// The spellings under which a family of this kind would hold the number: as it is, and as
    /// the same 32 bits with the other sign.
    pub(super) fn spellings(&self, kind: Kind) -> Vec<String> {
        const SPAN: i64 = 1 << 32;
        let value = match self {
            Self::Number { value, .. } => *value,
            Self::Name(name) => return vec![name.clone()],
        };
        let twin = match value {
            ..0 => value.checked_add(SPAN),
            0..0x8000_0000 => None,
            _ => Some(value - SPAN),
        };
        [Some(value), twin.filter(|twin| (-0x8000_0000..SPAN).contains(twin))]
            .into_iter()
            .flatten()
            .filter_map(|value| match kind {
                Kind::Decimal | Kind::Name => Some(value.to_string()),
                Kind::Hex => (value >= 0).then(|| format!("{value:#x}")),
            })
            .collect()
    }
}

/// Digits only: `from_str_radix` would take another sign.
fn parse(digits: &str, radix: u32) -> Option<i64> {
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    i64::from_str_radix(digits, radix).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_and_names() {
        assert_eq!(Query::parse("-8005"), Query::Number { value: -8005, form: Form::Decimal });
        assert_eq!(Query::parse("0X26"), Query::Number { value: 0x26, form: Form::Hex });
        assert_eq!(Query::parse("[EI0006]:"), Query::Name("EI0006".to_owned()));
        assert_eq!(Query::parse("--1"), Query::Name("--1".to_owned()));
        assert_eq!(Query::parse("+1"), Query::Name("+1".to_owned()));
    }

    #[test]
    fn signed_and_unsigned_are_the_same_bits() {
        assert_eq!(Query::parse("-1").spellings(Kind::Decimal), ["-1", "4294967295"]);
        assert_eq!(Query::parse("0xffffffff").spellings(Kind::Decimal), ["4294967295", "-1"]);
        assert_eq!(Query::parse("38").spellings(Kind::Hex), ["0x26"]);
    }

    #[test]
    fn no_number_overflows() {
        for text in ["9223372036854775807", "-9223372036854775807", "0x7fffffffffffffff"] {
            let _ = Query::parse(text).spellings(Kind::Hex);
        }
    }
}
