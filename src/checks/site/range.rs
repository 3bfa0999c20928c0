//! Ranges of versions in the order of driver, firmware, kernel and CANN: `>=25.2.0, <26`.

use std::cmp::Ordering;
use std::str::FromStr as _;

use base::version::{CannVersion, DottedVersion};

/// The order of versions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Order {
    /// Driver, firmware, kernel: numbers and release candidates.
    Dotted,
    /// CANN.
    Cann,
}

/// Bounds with relations that must all hold. Never empty.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Range {
    order: Order,
    bounds: Vec<(&'static str, String)>,
}

/// Longer relations come first, because `>=` begins with `>`.
const RELATIONS: [&str; 6] = [">=", "<=", "==", "!=", ">", "<"];

impl Range {
    /// Parses a range, or a single version for an exact match. `None` if a bound is not a version.
    pub(super) fn parse(text: &str, order: Order) -> Option<Self> {
        let bounds = text.split(',').map(|bound| {
            let bound = bound.trim();
            let (relation, version) = RELATIONS
                .iter()
                .find_map(|relation| Some((*relation, bound.strip_prefix(relation)?.trim())))
                .unwrap_or(("==", bound));
            order.compare(version, version)?;
            Some((relation, version.to_owned()))
        });
        Some(Self { order, bounds: bounds.collect::<Option<_>>()? })
    }

    /// Returns whether a version is in the range; `None` if it cannot be compared.
    pub(super) fn contains(&self, version: &str) -> Option<bool> {
        let mut all = true;
        for (relation, bound) in &self.bounds {
            let order = self.order.compare(version, bound)?;
            all &= match *relation {
                ">=" => order.is_ge(),
                "<=" => order.is_le(),
                ">" => order.is_gt(),
                "<" => order.is_lt(),
                "!=" => order.is_ne(),
                _ => order.is_eq(),
            };
        }
        Some(all)
    }
}

impl Order {
    fn compare(self, a: &str, b: &str) -> Option<Ordering> {
        match self {
            Self::Dotted => {
                let [a, b] = [a, b].map(|text| DottedVersion::from_str(numbers(text)));
                Some(a.ok()?.cmp(&b.ok()?))
            }
            Self::Cann => match (line(a), line(b)) {
                (Some(a), Some(b)) => Some(a.cmp(&b)),
                // A bound such as `8.2` covers the whole line, including its release candidates.
                (None, Some(line)) => {
                    let version = CannVersion::from_str(a).ok()?;
                    Some((version.major, version.minor).cmp(&line))
                }
                _ => Some(CannVersion::from_str(a).ok()?.cmp(&CannVersion::from_str(b).ok()?)),
            },
        }
    }
}

/// Both numbers of a line of CANN: `8.2`.
fn line(text: &str) -> Option<(u32, u32)> {
    let (major, minor) = text.split_once('.')?;
    Some((major.parse().ok()?, minor.parse().ok()?))
}

/// The numbers of a kernel release: `5.10.0` from `5.10.0-216.0.0.115.oe2203sp4.aarch64`.
fn numbers(text: &str) -> &str {
    text.split(['-', '+', '_']).next().unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn release_candidates_come_before_their_release() {
        let range = Range::parse(">=25.0.rc1, <25.2.0", Order::Dotted).unwrap();
        for (version, expected) in [
            ("25.0.rc1", Some(true)),
            ("25.0.rc1.1", Some(true)),
            ("25.2.0", Some(false)),
            ("24.1.rc3", Some(false)),
            ("unknown", None),
        ] {
            assert_eq!(range.contains(version), expected, "{version}");
        }
        let exact = Range::parse("8.3.RC1", Order::Cann).unwrap();
        assert_eq!((exact.contains("8.3.rc1"), exact.contains("8.3.0")), (Some(true), Some(false)));
        let lines = Range::parse(">=8.2, <9.1", Order::Cann).unwrap();
        for (version, expected) in [("8.2.RC1", true), ("9.0.0", true), ("9.1.0-beta.1", false)] {
            assert_eq!(lines.contains(version), Some(expected), "{version}");
        }
        let kernel = Range::parse(">=5.10", Order::Dotted).unwrap();
        assert_eq!(kernel.contains("5.10.0-216.0.0.115.oe2203sp4.aarch64"), Some(true));
        assert_eq!(kernel.contains("4.19.90-2107.6.0.0192.8.oe1.bclinux"), Some(false));
        for bad in ["", ">=", "new", ">=1.0,", "=>1"] {
            assert_eq!(Range::parse(bad, Order::Dotted), None, "{bad}");
        }
    }
}
