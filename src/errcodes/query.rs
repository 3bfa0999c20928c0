//! The forms in which people and logs write a code.

use super::family::Kind;

/// How a number was written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Digits, perhaps with a minus sign.
    Decimal,
    /// With `0x`.
    Hex,
}

/// A query.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Query {
    /// A number.
    Number {
        /// The value as it was written.
        value: i64,
        /// How it was written.
        form: Form,
    },
    /// A symbol, or a non-numeric code; upper case.
    Name(String),
}

impl Query {
    /// Parses `text`; blanks and the punctuation that logs put around a code do not matter.
    pub fn parse(text: &str) -> Self {
        let text = trim_punctuation(text);
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
            // Chip events are also printed without `0x`.
            None if text.len() == 8 && text.starts_with(|c: char| c.is_ascii_digit()) => {
                match parse(text, 16) {
                    Some(value) => Self::Number { value, form: Form::Hex },
                    None => Self::Name(text.to_ascii_uppercase()),
                }
            }
            None => Self::Name(text.to_ascii_uppercase()),
        }
    }

    /// Whether a family of this kind writes its codes in the form of the query.
    pub fn is_written_like(&self, kind: Kind) -> bool {
        match self {
            Self::Number { form: Form::Decimal, .. } => kind == Kind::Decimal,
            Self::Number { value, form: Form::Hex } => match kind {
                Kind::Hex => true,
                // Eight digits; the inner codes of the runtime have seven.
                Kind::Event => *value >= 0x1000_0000,
                Kind::Decimal | Kind::Name => false,
            },
            Self::Name(_) => true,
        }
    }

    /// The spellings under which a family of this kind would list the number: unchanged, and as the
    /// same 32 bits with the other sign.
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
            .flat_map(|value| match kind {
                Kind::Decimal | Kind::Name => vec![value.to_string()],
                Kind::Hex if value >= 0 => vec![format!("{value:#x}")],
                Kind::Event if value >= 0 => self.event_spellings(value),
                Kind::Hex | Kind::Event => Vec::new(),
            })
            .collect()
    }

    /// The spellings of an event: eight hexadecimal digits; digits without `0x` can be those, and
    /// some systems print nine decimal ones.
    fn event_spellings(&self, value: i64) -> Vec<String> {
        let mut spellings = vec![format!("0x{value:08X}")];
        if let Self::Number { form: Form::Decimal, .. } = self {
            spellings.push(format!("0x{value:08}"));
            spellings.push(format!("{value:09}"));
        }
        spellings
    }
}

/// A text without the blanks and punctuation that logs put around a code.
pub(super) fn trim_punctuation(text: &str) -> &str {
    text.trim_matches(|c: char| {
        c.is_whitespace() || matches!(c, ':' | ',' | ';' | '[' | ']' | '(' | ')' | '"' | '\'')
    })
}

/// Accepts digits only: `from_str_radix` would accept another sign.
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
    fn events_are_written_with_and_without_0x() {
        let event = "0x80E01801".to_owned();
        for text in ["0x80E01801", "0x80e01801", "80E01801", "2162169857", "-2132797439"] {
            assert!(Query::parse(text).spellings(Kind::Event).contains(&event), "{text}");
        }
        let digits = Query::parse("81078603").spellings(Kind::Event);
        assert!(digits.contains(&"0x81078603".to_owned()), "{digits:?}");
        assert_eq!(Query::parse("ABCDEF12"), Query::Name("ABCDEF12".to_owned()), "a name");
    }

    #[test]
    fn no_number_overflows() {
        for text in ["9223372036854775807", "-9223372036854775807", "0x7fffffffffffffff"] {
            for kind in [Kind::Decimal, Kind::Hex, Kind::Event, Kind::Name] {
                let _ = Query::parse(text).spellings(kind);
            }
        }
    }
}
