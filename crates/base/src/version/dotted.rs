//! Versions of drivers, firmware and CANN components.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::str::FromStr;

use super::number::{MAX_LEN, VersionError, number, number_after};

/// Maximum number of parts.
const MAX_PARTS: usize = 12;

/// A version of numbers and release candidates, separated by dots: `23.0.rc3`, `24.1.rc2.2`,
/// `7.7.0.1.231`. Missing parts count as 0 and a release candidate comes before any number, so
/// `23.0.rc3 < 23.0 = 23.0.0 < 23.0.1`.
#[derive(Debug, Clone)]
pub struct DottedVersion {
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Part {
    Rc(u32),
    Number(u32),
}

const EXPECTED: &str = "a version such as `24.1.rc2` or `7.7.0.1.231`";

impl DottedVersion {
    /// The part at `index`; 0 if the version is shorter.
    fn part(&self, index: usize) -> Part {
        self.parts.get(index).copied().unwrap_or(Part::Number(0))
    }

    /// The first number.
    pub fn major(&self) -> u32 {
        match self.part(0) {
            Part::Rc(n) | Part::Number(n) => n,
        }
    }

    /// The second number; 0 if the version is shorter.
    pub fn minor(&self) -> u32 {
        match self.part(1) {
            Part::Rc(n) | Part::Number(n) => n,
        }
    }

    /// The number of written parts.
    pub fn len(&self) -> usize {
        self.parts.len()
    }

    /// Never true: a version has at least one part.
    pub fn is_empty(&self) -> bool {
        self.parts.is_empty()
    }

    /// The order of the first `parts` parts only: `8.2.0.0.201` equals `8.2` over two parts.
    pub fn cmp_prefix(&self, other: &Self, parts: usize) -> Ordering {
        (0..parts)
            .map(|i| self.part(i).cmp(&other.part(i)))
            .find(|o| o.is_ne())
            .unwrap_or(Ordering::Equal)
    }
}

impl Ord for DottedVersion {
    fn cmp(&self, other: &Self) -> Ordering {
        self.cmp_prefix(other, self.parts.len().max(other.parts.len()))
    }
}

impl PartialOrd for DottedVersion {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for DottedVersion {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for DottedVersion {}

impl Hash for DottedVersion {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let written = self.parts.iter().rposition(|part| *part != Part::Number(0));
        self.parts[..written.map_or(0, |last| last + 1)].hash(state);
    }
}

impl FromStr for DottedVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        let fail = || VersionError::new(text, EXPECTED);
        let bare = text.trim();
        if bare.len() > MAX_LEN {
            return Err(fail());
        }
        let parts = bare
            .split('.')
            .enumerate()
            .map(|(index, part)| match number(part) {
                Some(n) => Some(Part::Number(n)),
                None if index > 0 => number_after(part, "rc").map(Part::Rc),
                None => None,
            })
            .collect::<Option<Vec<_>>>()
            .filter(|parts| parts.len() <= MAX_PARTS)
            .ok_or_else(fail)?;
        Ok(Self { parts })
    }
}

impl fmt::Display for DottedVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, part) in self.parts.iter().enumerate() {
            let dot = if index == 0 { "" } else { "." };
            match part {
                Part::Number(n) => write!(f, "{dot}{n}")?,
                Part::Rc(n) => write!(f, "{dot}rc{n}")?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn v(text: &str) -> DottedVersion {
        text.parse().unwrap()
    }

    #[test]
    fn drivers_are_ordered() {
        let ascending = [
            "22.0.4",
            "23.0.rc2",
            "23.0.rc3",
            "23.0.0",
            "23.0.7",
            "24.1.rc1",
            "24.1.rc2",
            "24.1.rc2.2",
            "24.1.rc3",
            "24.1.0",
            "24.1.0.1",
            "25.0.rc1",
            "25.0.rc1.1",
            "25.2.0",
            "25.3.rc1",
            "25.5.0",
            "26.0.rc1",
        ];
        for pair in ascending.windows(2) {
            assert!(v(pair[0]) < v(pair[1]), "{} < {}", pair[0], pair[1]);
        }
        for text in ascending {
            assert_eq!(v(text).to_string(), text);
        }
        assert!(v("7.5.0.1.129") < v("7.7.0.1.231"));
        assert_eq!(v("26.0.RC1"), v("26.0.rc1"));
        assert_eq!(v("23.0"), v("23.0.0"));
    }

    #[test]
    fn prefixes_are_compared() {
        assert!(v("8.2.0.0.201").cmp_prefix(&v("8.2"), 2).is_eq());
        assert!(v("8.3.0.0.1").cmp_prefix(&v("8.2"), 2).is_gt());
    }

    #[test]
    fn other_texts_are_refused() {
        for text in ["", ".", "24.", "rc1", "24.1.x", "24..1", "v24.1", "1.2.3.4.5.6.7.8.9.0.1.2.3"]
        {
            assert!(text.parse::<DottedVersion>().is_err(), "{text}");
        }
    }

    fn any() -> impl Strategy<Value = DottedVersion> {
        let part = prop_oneof![(0..3_u32).prop_map(Part::Number), (0..3_u32).prop_map(Part::Rc)];
        (0..3_u32, prop::collection::vec(part, 0..5)).prop_map(|(first, rest)| DottedVersion {
            parts: std::iter::once(Part::Number(first)).chain(rest).collect(),
        })
    }

    fn hash(version: &DottedVersion) -> u64 {
        let mut state = std::hash::DefaultHasher::new();
        version.hash(&mut state);
        state.finish()
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = text.parse::<DottedVersion>();
        }

        #[test]
        fn displayed_version_parses_to_same_value(version in any()) {
            prop_assert_eq!(v(&version.to_string()), version);
        }

        #[test]
        fn the_order_is_total(a in any(), b in any(), c in any()) {
            prop_assert_eq!(a.cmp(&b), b.cmp(&a).reverse());
            if a <= b && b <= c {
                prop_assert!(a <= c);
            }
            if a == b {
                prop_assert_eq!(hash(&a), hash(&b));
            }
        }
    }
}
