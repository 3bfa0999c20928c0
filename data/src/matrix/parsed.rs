//! Values of the matrix that are validated while the file is parsed.

use std::fmt;
use std::ops::Deref;
use std::str::FromStr;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};

use base::version::{CannVersion, DottedVersion};

/// A parsed value that is text in the file. A text that cannot be parsed is an error with its line.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Parsed<T>(pub T);

impl<T> Deref for Parsed<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0
    }
}

impl<T: fmt::Display> fmt::Display for Parsed<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de, T> Deserialize<'de> for Parsed<T>
where
    T: FromStr<Err: fmt::Display>,
{
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        text.parse().map(Parsed).map_err(D::Error::custom)
    }
}

impl<T: fmt::Display> Serialize for Parsed<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(&self.0)
    }
}

#[cfg(feature = "schema")]
impl<T> schemars::JsonSchema for Parsed<T> {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> std::borrow::Cow<'static, str> {
        "string".into()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        String::json_schema(generator)
    }
}

/// A release of torch_npu: `7.3.0`, `26.0.1`, `6.0.rc3`, `26.1.0-beta.1`, `26.2.0-0day`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Release {
    text: String,
    /// First number.
    pub major: u32,
    /// Second number.
    pub minor: u32,
    /// Third number; 0 if there is none.
    pub patch: u32,
    /// Whether the release is not final.
    pub pre: bool,
}

impl FromStr for Release {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let bad = || format!("`{text}` is not a release such as `7.3.0`");
        let mut parts = text.split(['.', '-']);
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        let (major, minor) = (number().ok_or_else(bad)?, number().ok_or_else(bad)?);
        let lower = text.to_ascii_lowercase();
        let pre = text.contains('-') || lower.contains("alpha") || lower.contains("beta");
        Ok(Self { text: text.to_owned(), major, minor, patch: number().unwrap_or(0), pre })
    }
}

impl fmt::Display for Release {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// A version (`8.3.RC1`), or all versions of a line (`8.5.X`).
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Pattern<T> {
    /// Exactly this version.
    Exact(T),
    /// First and second number; any third.
    Line(u32, u32),
}

impl<T: FromStr> FromStr for Pattern<T> {
    type Err = T::Err;

    fn from_str(text: &str) -> Result<Self, T::Err> {
        let mut parts = text.split('.');
        let mut number = || parts.next().and_then(|part| part.parse().ok());
        if let (Some(major), Some(minor)) = (number(), number())
            && parts.next().is_some_and(|part| part.eq_ignore_ascii_case("x"))
            && parts.next().is_none()
        {
            return Ok(Self::Line(major, minor));
        }
        text.parse().map(Self::Exact)
    }
}

impl<T: fmt::Display> fmt::Display for Pattern<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Exact(version) => version.fmt(f),
            Self::Line(major, minor) => write!(f, "{major}.{minor}.X"),
        }
    }
}

/// Versions that belong to a development line and are ordered within it.
pub trait ReleaseLine: Ord {
    /// Returns the first and second number.
    fn line(&self) -> (u32, u32);
}

impl ReleaseLine for CannVersion {
    fn line(&self) -> (u32, u32) {
        CannVersion::line(self)
    }
}

impl ReleaseLine for DottedVersion {
    fn line(&self) -> (u32, u32) {
        (self.major(), self.minor())
    }
}

impl ReleaseLine for Release {
    fn line(&self) -> (u32, u32) {
        (self.major, self.minor)
    }
}

impl PartialOrd for Release {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Release {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        let key = |r: &Self| (r.major, r.minor, r.patch, !r.pre);
        key(self).cmp(&key(other)).then_with(|| self.text.cmp(&other.text))
    }
}

impl<T: ReleaseLine> Pattern<T> {
    /// Returns the first and second number.
    pub fn line(&self) -> (u32, u32) {
        match self {
            Self::Exact(version) => version.line(),
            Self::Line(major, minor) => (*major, *minor),
        }
    }

    /// Returns whether the pattern covers `version`: the same version, a later one of its line (a
    /// patch release, a later release candidate), or any version of the named line.
    pub fn covers(&self, version: &T) -> bool {
        match self {
            Self::Exact(listed) => listed.line() == version.line() && version >= listed,
            Self::Line(major, minor) => version.line() == (*major, *minor),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn covers(pattern: &str, version: &str) -> bool {
        let pattern: Pattern<CannVersion> = pattern.parse().unwrap();
        pattern.covers(&version.parse().unwrap())
    }

    #[test]
    fn later_versions_of_a_listed_line_are_covered() {
        assert!(covers("8.3.RC1", "8.3.RC2") && covers("8.5.0", "8.5.2"));
        assert!(covers("8.5.X", "8.5.1") && covers("8.5.X", "8.5.0"));
        assert!(!covers("8.0.0", "8.0.RC3") && !covers("8.5.X", "8.3.RC1"));
    }

    #[test]
    fn releases_are_read() {
        let release: Release = "26.1.0-beta.1".parse().unwrap();
        assert!(release.pre && release.line() == (26, 1));
        assert!("26.0.1".parse::<Release>().unwrap() > "26.0.0".parse().unwrap());
        assert!("7".parse::<Release>().is_err());
        assert!(!"6.0.rc3".parse::<Release>().unwrap().pre);
    }
}
