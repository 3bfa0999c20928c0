//! Measured numbers in documents, rounded to a fixed number of significant digits.

use serde::Serializer;

/// The number of significant digits.
const DIGITS: usize = 4;

/// Serializes a number with four significant digits, for `serialize_with`.
///
/// # Errors
/// Those of the serializer.
pub fn significant<S: Serializer>(value: &f64, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_f64(round(*value))
}

/// The same for a number that may be absent.
///
/// # Errors
/// Those of the serializer.
pub fn significant_if<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => significant(value, serializer),
        None => serializer.serialize_none(),
    }
}

/// Serializes a sum of many measurements, in thousandths, if it is there.
///
/// # Errors
/// Those of the serializer.
pub fn thousandths_if<S: Serializer>(
    value: &Option<f64>,
    serializer: S,
) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.serialize_f64((value * 1000.0).round() / 1000.0),
        None => serializer.serialize_none(),
    }
}

/// The nearest number with four significant digits.
fn round(value: f64) -> f64 {
    // Decimal text is the only exact way to the nearest decimal number.
    format!("{value:.*e}", DIGITS - 1).parse().unwrap_or(value)
}

/// Writes a number with four significant digits, for tables and sentences.
pub fn format_significant(value: f64) -> String {
    round(value).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn four_digits_are_kept() {
        for (value, expected) in [
            (f64::from(0.95_f32), "0.95"),
            (12.345_678, "12.35"),
            (123_456.0, "123500.0"),
            (0.000_012_345_6, "0.00001235"),
            (0.0, "0.0"),
            (-1.999_99, "-2.0"),
        ] {
            let mut out = Vec::new();
            significant(&value, &mut serde_json::Serializer::new(&mut out)).unwrap();
            assert_eq!(String::from_utf8(out).unwrap(), expected);
        }
    }
}
