//! Versions of CANN packages.

use std::fmt;
use std::str::FromStr;

use super::number::{MAX_LEN, VersionError, number, number_after};

/// The maturity of a version, in the order of publication.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Stage {
    /// `.alpha003` or `-alpha.3`.
    Alpha(u32),
    /// `.beta1` or `-beta.1`.
    Beta(u32),
    /// Neither: the version itself.
    Release,
}

/// A CANN version: `8.3.RC1`, `8.5.0`, `8.1.RC1.alpha001`, `9.0.0-beta.1`.
///
/// Letter case does not matter (`8.2.rc1` names a container image of `8.2.RC1`). The order is
/// that of publication: release candidates precede the `.0` of their line, and alphas and betas
/// precede the version that they lead to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CannVersion {
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number; 0 for a release candidate such as `8.3.RC1`, which has none.
    pub patch: u32,
    candidate: Candidate,
    /// The update number, as in `8.0.RC2.2` or `7.0.0.1`; 0 if there is none.
    pub update: u32,
    /// Alpha, beta or the version itself.
    pub stage: Stage,
}

/// Candidates come before the release.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
enum Candidate {
    Rc(u32),
    Final,
}

const EXPECTED: &str = "a CANN version such as `8.3.RC1` or `9.0.0`";

impl CannVersion {
    /// A released version `major.minor.patch`.
    pub const fn release(major: u32, minor: u32, patch: u32) -> Self {
        let (candidate, stage) = (Candidate::Final, Stage::Release);
        Self { major, minor, patch, candidate, update: 0, stage }
    }

    /// The release candidate `major.minor.RCn`.
    pub const fn candidate(major: u32, minor: u32, rc: u32) -> Self {
        let (candidate, stage) = (Candidate::Rc(rc), Stage::Release);
        Self { major, minor, patch: 0, candidate, update: 0, stage }
    }

    /// The number of the release candidate, if it is one.
    pub const fn rc(&self) -> Option<u32> {
        match self.candidate {
            Candidate::Rc(n) => Some(n),
            Candidate::Final => None,
        }
    }

    /// The same version without alpha, beta and update, as compatibility tables list it.
    #[must_use]
    pub const fn base(self) -> Self {
        Self { update: 0, stage: Stage::Release, ..self }
    }

    /// First and second number.
    pub const fn line(&self) -> (u32, u32) {
        (self.major, self.minor)
    }
}

impl FromStr for CannVersion {
    type Err = VersionError;

    fn from_str(text: &str) -> Result<Self, VersionError> {
        parse(text.trim()).ok_or_else(|| VersionError::new(text, EXPECTED))
    }
}

fn parse(text: &str) -> Option<CannVersion> {
    if text.len() > MAX_LEN {
        return None;
    }
    let mut parts = text.split(['.', '-']).peekable();
    let mut version = CannVersion::release(number(parts.next()?)?, number(parts.next()?)?, 0);
    let third = parts.next()?;
    match number(third) {
        Some(patch) => version.patch = patch,
        None => version.candidate = Candidate::Rc(candidate(third, &mut parts)?),
    }
    if version.rc().is_none()
        && let Some(word) = parts.peek().copied()
        && word.get(..2).is_some_and(|head| head.eq_ignore_ascii_case("rc"))
    {
        parts.next();
        version.candidate = Candidate::Rc(candidate(word, &mut parts)?);
    }
    if let Some(update) = parts.peek().and_then(|part| number(part)) {
        version.update = update;
        parts.next();
    }
    if let Some(word) = parts.next() {
        version.stage = stage(word, &mut parts)?;
    }
    parts.next().is_none().then_some(version)
}

/// `RC1`, or `RC` followed by a part `1`.
fn candidate<'a>(word: &str, rest: &mut impl Iterator<Item = &'a str>) -> Option<u32> {
    if word.eq_ignore_ascii_case("rc") { number(rest.next()?) } else { number_after(word, "rc") }
}

/// `alpha001`, `beta1`, or the bare word followed by a part with the number.
fn stage<'a>(word: &str, rest: &mut impl Iterator<Item = &'a str>) -> Option<Stage> {
    for (name, make) in [("alpha", Stage::Alpha as fn(u32) -> Stage), ("beta", Stage::Beta)] {
        if word.eq_ignore_ascii_case(name) {
            return number(rest.next()?).map(make);
        }
        if let Some(n) = number_after(word, name) {
            return Some(make(n));
        }
    }
    None
}

impl fmt::Display for CannVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.major, self.minor)?;
        match self.candidate {
            Candidate::Rc(n) if self.patch == 0 => write!(f, ".RC{n}")?,
            Candidate::Rc(n) => write!(f, ".{}.RC{n}", self.patch)?,
            Candidate::Final => write!(f, ".{}", self.patch)?,
        }
        if self.update > 0 {
            write!(f, ".{}", self.update)?;
        }
        // From 9.0 on, pre-releases are written as in semantic versioning.
        match (self.stage, self.major >= 9) {
            (Stage::Release, _) => Ok(()),
            (Stage::Alpha(n), true) => write!(f, "-alpha.{n}"),
            (Stage::Beta(n), true) => write!(f, "-beta.{n}"),
            (Stage::Alpha(n), false) => write!(f, ".alpha{n:03}"),
            (Stage::Beta(n), false) => write!(f, ".beta{n}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn v(text: &str) -> CannVersion {
        text.parse().unwrap()
    }

    #[test]
    fn the_order_is_that_of_publication() {
        let ascending = [
            "5.1.RC2",
            "6.0.1",
            "6.3.RC2",
            "7.0.RC1",
            "7.0.0",
            "7.0.0.1",
            "7.0.1",
            "8.0.RC1",
            "8.0.RC2.alpha001",
            "8.0.RC2.alpha003",
            "8.0.RC2",
            "8.0.RC2.2",
            "8.0.RC3",
            "8.0.0.alpha001",
            "8.0.0.beta1",
            "8.0.0",
            "8.1.RC1.alpha001",
            "8.1.RC1.beta1",
            "8.1.RC1",
            "8.2.RC1",
            "8.3.RC1",
            "8.3.RC2",
            "8.5.0.alpha001",
            "8.5.0",
            "8.5.1",
            "9.0.0-alpha.2",
            "9.0.0-beta.1",
            "9.0.0",
            "10.0.0",
        ];
        for pair in ascending.windows(2) {
            assert!(v(pair[0]) < v(pair[1]), "{} < {}", pair[0], pair[1]);
        }
        for text in ascending {
            assert_eq!(v(text).to_string(), text);
        }
    }

    #[test]
    fn spelling_does_not_matter() {
        assert_eq!(v("8.2.rc1"), v(" 8.2.RC1 "));
        assert_eq!(v("8.1.RC1.alpha1"), v("8.1.rc1.Alpha001"));
        assert_eq!(v("9.0.0.beta1"), v("9.0.0-beta.1"));
        assert_eq!(v("8.3.RC1"), CannVersion::candidate(8, 3, 1));
        assert_eq!(v("8.1.RC1.alpha001").base(), v("8.1.RC1"));
    }

    #[test]
    fn other_texts_are_refused() {
        for text in [
            "",
            "8",
            "8.0",
            "latest",
            "8.0.x",
            "8.0.0.",
            "8.0.RC",
            "8.0.RC1.foo",
            "8.0.0.1.2.3",
            "V1.2.3",
            "8.0.T37",
            "8.0.0 8.0.1",
            "9999999999.0.0",
            "８.0.0",
        ] {
            assert!(text.parse::<CannVersion>().is_err(), "{text}");
        }
    }

    fn any() -> impl Strategy<Value = CannVersion> {
        let candidate = prop_oneof![(0..4_u32).prop_map(Candidate::Rc), Just(Candidate::Final)];
        let stage = prop_oneof![
            (0..4_u32).prop_map(Stage::Alpha),
            (0..4_u32).prop_map(Stage::Beta),
            Just(Stage::Release)
        ];
        (0..12_u32, 0..4_u32, 0..3_u32, candidate, 0..3_u32, stage).prop_map(
            |(major, minor, patch, candidate, update, stage)| CannVersion {
                major,
                minor,
                patch,
                candidate,
                update,
                stage,
            },
        )
    }

    proptest! {
        #[test]
        fn parsing_never_panics(text in "\\PC*") {
            let _ = text.parse::<CannVersion>();
        }

        #[test]
        fn near_misses_never_panic(text in "[0-9.rRcCabeltph-]{0,20}") {
            if let Ok(version) = text.parse::<CannVersion>() {
                prop_assert_eq!(version.to_string().parse::<CannVersion>().unwrap(), version);
            }
        }

        #[test]
        fn displayed_version_parses_to_same_value(version in any()) {
            prop_assert_eq!(v(&version.to_string()), version);
        }
    }
}
