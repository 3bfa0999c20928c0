//! The two notations for sets of versions in version files.

use std::cmp::Ordering;
use std::str::FromStr;

use super::number::{VersionError, number};

/// Maximum length of a list in bytes.
const MAX_LIST: usize = 8192;

/// `compatible_version`, `compatible_version_fw` and `compatible_version_drv`:
/// `[V100R001C13],[V100R001C15]`, `[6.4.0,6.4.99],[7.0.0,7.7.99]`. Each bracket holds one
/// value or the first and last of a range.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct RangeList {
    ranges: Vec<(String, String)>,
}

impl RangeList {
    /// Returns whether `version` is in one of the ranges, by the rule of the driver's tools (dcmi):
    /// the version is cut to the length of the longer bound and compared as text. So
    /// `V100R001C19SPC001B124` is in `[V100R001C19]`, and `24.1.rc3` in `[24.1,24.1.]`.
    pub fn contains(&self, version: &str) -> bool {
        self.ranges.iter().any(|(first, last)| {
            let cut = first.len().max(last.len()).min(version.len());
            let head = &version.as_bytes()[..cut];
            head >= first.as_bytes() && head <= last.as_bytes()
        })
    }

    /// First and last value of each range.
    pub fn ranges(&self) -> impl Iterator<Item = (&str, &str)> {
        self.ranges.iter().map(|(first, last)| (first.as_str(), last.as_str()))
    }

    /// Returns whether the list is empty.
    pub fn is_empty(&self) -> bool {
        self.ranges.is_empty()
    }
}

impl FromStr for RangeList {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let fail = || VersionError::new(text, "a list such as `[7.0.0,7.1.99],[7.2.0,7.2.99]`");
        let mut rest = text.trim();
        if rest.len() > MAX_LIST {
            return Err(fail());
        }
        let mut ranges = Vec::new();
        while !rest.is_empty() {
            let (inside, tail) =
                rest.strip_prefix('[').and_then(|rest| rest.split_once(']')).ok_or_else(fail)?;
            let (first, last) = inside.split_once(',').unwrap_or((inside, inside));
            let (first, last) = (first.trim(), last.trim());
            if first.is_empty() || last.is_empty() || last.contains([',', '[']) {
                return Err(fail());
            }
            ranges.push((first.to_owned(), last.to_owned()));
            rest = tail.trim_start();
            if let Some(more) = rest.strip_prefix(',') {
                rest = more.trim_start();
            }
        }
        Ok(Self { ranges })
    }
}

/// `required_package_<name>_version`: `8.2` or `>=7.6, <=8.2`. All conditions hold together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PackageRange {
    bounds: Vec<(Relation, Vec<u32>)>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Relation {
    Less,
    LessOrEqual,
    Equal,
    GreaterOrEqual,
    Greater,
}

impl Relation {
    fn holds(self, order: Ordering) -> bool {
        match self {
            Self::Less => order.is_lt(),
            Self::LessOrEqual => order.is_le(),
            Self::Equal => order.is_eq(),
            Self::GreaterOrEqual => order.is_ge(),
            Self::Greater => order.is_gt(),
        }
    }
}

impl PackageRange {
    /// Returns whether a component of this version is accepted. A bound restricts only the parts
    /// that it contains: `8.2` accepts `8.2.0.0.201`. `None` if the version does not begin with as
    /// many numbers as a bound has.
    pub fn accepts(&self, version: &str) -> Option<bool> {
        let numbers = leading_numbers(version);
        let mut all = true;
        for (relation, bound) in &self.bounds {
            let head = numbers.get(..bound.len())?;
            all &= relation.holds(head.cmp(bound));
        }
        Some(all)
    }
}

/// The numbers at the start of a version: 9, 0, 0 for `9.0.0-beta.1` and 8, 3 for `8.3.RC1`.
fn leading_numbers(version: &str) -> Vec<u32> {
    version.trim().split(['.', '-']).map_while(number).collect()
}

impl FromStr for PackageRange {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let fail = || VersionError::new(text, "a range such as `>=7.6, <=8.2`");
        if text.len() > MAX_LIST {
            return Err(fail());
        }
        let bounds = text
            .split(',')
            .map(|bound| {
                let bound = bound.trim();
                let (relation, version) = [
                    (">=", Relation::GreaterOrEqual),
                    ("<=", Relation::LessOrEqual),
                    ("==", Relation::Equal),
                    (">", Relation::Greater),
                    ("<", Relation::Less),
                    ("=", Relation::Equal),
                ]
                .into_iter()
                .find_map(|(sign, relation)| Some((relation, bound.strip_prefix(sign)?)))
                .unwrap_or((Relation::Equal, bound));
                let parts: Option<Vec<u32>> = version.trim().split('.').map(number).collect();
                Some((relation, parts?))
            })
            .collect::<Option<Vec<_>>>()
            .ok_or_else(fail)?;
        Ok(Self { bounds })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn list(text: &str) -> RangeList {
        text.parse().unwrap()
    }

    #[test]
    fn ranges_of_real_files() {
        let firmware = list("[6.4.0,6.4.99],[7.0.0,7.7.99]");
        assert!(firmware.contains("7.7.0.1.231") && firmware.contains("6.4.12"));
        assert!(!firmware.contains("7.8.0.1.231"));
        let drivers = list("[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]");
        assert!(drivers.contains("24.1.rc3") && drivers.contains("23.0.0"));
        assert!(!drivers.contains("25.0.rc1"));
        let codes = list("[V100R001C13,V100R001C19],[V100R001C30]");
        assert!(codes.contains("V100R001C17SPC001B240") && codes.contains("V100R001C30"));
        assert!(!codes.contains("V100R001C20SPC001B251"));
        assert!(list("").is_empty());
    }

    #[test]
    fn package_ranges_compare_only_written_parts() {
        let range: PackageRange = ">=7.6, <=8.2".parse().unwrap();
        assert_eq!(range.accepts("8.2.0.0.201"), Some(true));
        assert_eq!(range.accepts("8.3.0.1.200"), Some(false));
        assert_eq!(range.accepts("7.5.0.1.129"), Some(false));
        let exact: PackageRange = "8.2".parse().unwrap();
        assert_eq!(exact.accepts("8.2.RC1"), Some(true));
        assert_eq!(exact.accepts("8.3.RC1"), Some(false));
        assert_eq!(exact.accepts("latest"), None);
        let open: PackageRange = ">=8.5".parse().unwrap();
        assert_eq!(open.accepts("9.0.0-beta.1"), Some(true));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["x", "[", "[1", "[1]]", "[1,2,3]", "[]", "1"] {
            assert!(text.parse::<RangeList>().is_err(), "{text}");
        }
        for text in ["", ">=", "~8", "8.x", "8.2,"] {
            assert!(text.parse::<PackageRange>().is_err(), "{text}");
        }
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*", version in "\\PC*") {
            if let Ok(list) = text.parse::<RangeList>() {
                list.contains(&version);
            }
            if let Ok(range) = text.parse::<PackageRange>() {
                range.accepts(&version);
            }
        }

        #[test]
        fn near_misses_never_panic(text in "[\\[\\],.<>=0-9é ]{0,24}", version in "[0-9.é-]{0,12}") {
            if let Ok(list) = text.parse::<RangeList>() {
                list.contains(&version);
            }
            if let Ok(range) = text.parse::<PackageRange>() {
                range.accepts(&version);
            }
        }
    }
}
