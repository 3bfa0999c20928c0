//! Resolves versions that users enter: complete, or only a prefix (`2.7`, `8.5`).

use std::cmp::Reverse;
use std::fmt::Display;

use pep440_rs::Version;

use super::{Matrix, Parsed};
use base::version::CannVersion;

/// The number of known versions that an error lists.
const NEAREST: usize = 4;

/// A requested version and its resolution.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved<V> {
    /// The text of the user.
    pub asked: String,
    /// The version.
    pub version: V,
}

impl<V: Display> Resolved<V> {
    /// Returns whether the text is only a prefix of the version.
    pub fn is_shortened(&self) -> bool {
        !self.version.to_string().eq_ignore_ascii_case(self.asked.trim())
    }
}

/// Resolves a Python version specifier without operators against the known versions.
///
/// # Errors
///
/// Returns the nearest known versions if none matches.
pub fn resolve_version(
    asked: &str,
    known: impl IntoIterator<Item = Version>,
) -> Result<Resolved<Version>, Vec<String>> {
    let mut known: Vec<Version> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    let found = asked.trim().parse::<Version>().ok().and_then(|wanted| {
        let is_final = |version: &Version| !version.any_prerelease();
        let release = wanted.release();
        let plain = is_final(&wanted) && wanted.post().is_none();
        // `2.7` is a prefix of 2.7.1, but also equal to 2.7.0.
        if !(plain && release.len() < 3) && known.contains(&wanted.clone().without_local()) {
            return Some(wanted.clone());
        }
        let begins = |version: &&Version| plain && version.release().starts_with(release);
        let newest = |finals: bool| {
            known.iter().filter(begins).rfind(|version| is_final(version) == finals).cloned()
        };
        newest(true).or_else(|| newest(false))
    });
    let nearest = || nearest_versions(asked, &known);
    let version = found.ok_or_else(nearest)?;
    Ok(Resolved { asked: asked.trim().to_owned(), version })
}

/// Resolves a CANN version like [`resolve_version`].
///
/// # Errors
///
/// Returns the nearest known versions if none matches.
pub fn resolve_cann(
    asked: &str,
    known: impl IntoIterator<Item = CannVersion>,
) -> Result<Resolved<CannVersion>, Vec<String>> {
    let mut known: Vec<CannVersion> = known.into_iter().collect();
    known.sort_unstable();
    known.dedup();
    let text = asked.trim().to_ascii_lowercase();
    let exact = text.parse().ok().filter(|wanted: &CannVersion| known.contains(wanted));
    let begins = |version: &&CannVersion| {
        let shown = version.to_string().to_ascii_lowercase();
        shown.strip_prefix(&text).is_some_and(|rest| rest.starts_with(['.', '-']))
    };
    let newest = |released: bool| {
        known.iter().filter(begins).rfind(|version| is_released(version) == released).copied()
    };
    let version = exact.or_else(|| newest(true)).or_else(|| newest(false));
    let version = version.ok_or_else(|| nearest_versions(asked, &known))?;
    Ok(Resolved { asked: asked.trim().to_owned(), version })
}

/// Returns whether a version is neither an alpha nor a beta.
const fn is_released(version: &CannVersion) -> bool {
    matches!(version.stage, base::version::Stage::Release)
}

/// Returns the known versions with the longest common prefix, newest first.
fn nearest_versions<V: Display>(asked: &str, known: &[V]) -> Vec<String> {
    let common = |version: &str| {
        let asked = asked.trim().bytes();
        version.bytes().zip(asked).take_while(|(a, b)| a.eq_ignore_ascii_case(b)).count()
    };
    let mut all: Vec<String> = known.iter().rev().map(ToString::to_string).collect();
    all.sort_by_key(|version| Reverse(common(version)));
    all.truncate(NEAREST);
    all
}

impl Matrix {
    /// Returns the torch versions of the table.
    pub fn torch_versions(&self) -> impl Iterator<Item = Version> {
        self.torch_npu.iter().map(|row| row.torch.0.clone())
    }

    /// Returns the torch_npu versions of the table.
    pub fn torch_npu_versions(&self) -> impl Iterator<Item = Version> {
        self.torch_npu.iter().map(|row| row.version.0.clone())
    }

    /// Returns the vllm-ascend versions of the table.
    pub fn vllm_ascend_versions(&self) -> impl Iterator<Item = Version> {
        self.vllm_ascend.iter().map(|row| row.version.0.clone())
    }

    /// Returns the CANN versions of the table.
    pub fn cann_versions(&self) -> impl Iterator<Item = CannVersion> {
        let named = self.torch_npu.iter().filter_map(|row| row.cann.as_ref());
        self.cann.iter().map(|row| &row.version).chain(named).map(|Parsed(version)| *version)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(asked: &str) -> Result<String, Vec<String>> {
        let known = ["2.6.0", "2.7.0", "2.7.1", "2.7.1.post2", "2.8.0rc1", "2.10.0"];
        let known = known.map(|text| text.parse().unwrap());
        resolve_version(asked, known).map(|found| found.version.to_string())
    }

    fn cann(asked: &str) -> Result<String, Vec<String>> {
        let known = ["8.3.RC1", "8.3.RC2", "8.5.0", "8.5.1", "9.0.0-beta.1", "8.5.0.alpha001"];
        let known = known.map(|text| text.parse().unwrap());
        resolve_cann(asked, known).map(|found| found.version.to_string())
    }

    #[test]
    fn beginning_of_a_version_is_the_newest_final_one() {
        for (asked, expected) in [
            ("2.7", "2.7.1.post2"),
            (" 2.7.0 ", "2.7.0"),
            ("2.7.1", "2.7.1"),
            ("2.7.1+cpu", "2.7.1+cpu"),
            ("2.8", "2.8.0rc1"),
            ("2", "2.10.0"),
            ("2.6.0", "2.6.0"),
        ] {
            assert_eq!(version(asked).as_deref(), Ok(expected), "{asked}");
        }
        for (asked, expected) in
            [("8.5", "8.5.1"), ("8.3", "8.3.RC2"), ("8.3.rc1", "8.3.RC1"), ("9", "9.0.0-beta.1")]
        {
            let expected: CannVersion = expected.parse().unwrap();
            assert_eq!(cann(asked), Ok(expected.to_string()), "{asked}");
        }
    }

    #[test]
    fn unknown_version_names_the_nearest() {
        assert_eq!(version("2.7.9").unwrap_err()[..2], ["2.7.1.post2", "2.7.1"]);
        assert_eq!(version("x").unwrap_err()[0], "2.10.0");
        assert!(version("").is_err() && version("2.1").is_err() && version("2.7.0rc1").is_err());
        assert_eq!(cann("8.4").unwrap_err()[0], "8.5.1");
        assert!(cann("8.").is_err() && cann("").is_err() && cann("8.5.7").is_err());
    }
}
