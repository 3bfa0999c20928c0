//! Releases of packages: pins of pip, names of wheels, tags of images.

use std::sync::LazyLock;

use data::findings::lint_version;
use data::{Matrix, PackageIndex};
use pep440_rs::Version;
use regex::Regex;

use super::document::{Document, Place};
use super::statement::{Judged, Statement, StatementKind};

/// Number of releases that a finding names.
const NEAR: usize = 4;

static NAMED: LazyLock<Regex> = LazyLock::new(|| {
    let version = r"v?([0-9]+(?:\.[0-9]+)+(?:\.?(?:post|rc|a|b|dev)[0-9]+)*(?:\+[A-Za-z0-9.]+)?)";
    Regex::new(&format!(
        r#"(?i)\b(torch[-_]npu|vllm[-_]ascend)(?:\[[^\]]*\])?["']?(?:\s*==\s*["']?|-|:){version}"#
    ))
    .expect("a constant")
});

/// A package whose releases the tables list completely.
#[derive(Debug, Clone, Copy)]
struct Listed {
    /// The name of the package index.
    name: &'static str,
    /// The name in sentences.
    shown: &'static str,
}

impl Listed {
    fn of(name: &str) -> Self {
        if name.to_ascii_lowercase().starts_with("torch") {
            Self { name: "torch-npu", shown: "torch_npu" }
        } else {
            Self { name: "vllm-ascend", shown: "vllm-ascend" }
        }
    }

    /// All releases of the index and of the matrix, in order.
    fn releases(self) -> Vec<Version> {
        let matrix = Matrix::builtin();
        let of_matrix: Vec<Version> = match self.name {
            "torch-npu" => matrix.torch_npu_versions().collect(),
            _ => matrix.vllm_ascend_versions().collect(),
        };
        let index = PackageIndex::builtin();
        let mut all: Vec<Version> =
            index.versions(self.name).filter_map(|version| version.parse().ok()).collect();
        all.extend(of_matrix);
        all.sort();
        all.dedup();
        all
    }
}

pub(super) fn read(document: &Document<'_>, found: &mut Vec<Statement>) {
    for line in &document.lines {
        if matches!(line.place, Place::Query | Place::Output) {
            continue;
        }
        for captures in CANN.captures_iter(line.text) {
            let end = captures.get(0).map_or(0, |whole| whole.end());
            let is_whole = !line.text[end..].starts_with(|c: char| c.is_ascii_alphanumeric());
            if let Some(judged) = judge_cann(&captures[1]).filter(|_| is_whole) {
                found.push(judged.at(StatementKind::Version, document.file, line.number));
            }
        }
        for captures in NAMED.captures_iter(line.text) {
            // A longer version continues behind a match that a word ends.
            let end = captures.get(0).map_or(0, |whole| whole.end());
            let rest = &line.text[end..];
            let is_whole = !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '*')
                && !rest.starts_with(".x")
                && !rest.starts_with(".*");
            if is_whole && let Some(judged) = judge(Listed::of(&captures[1]), &captures[2]) {
                found.push(judged.at(StatementKind::Version, document.file, line.number));
            }
        }
    }
}

static CANN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)\bCANN(?:[-_ ]?toolkit)?(?:\s*(?:版本|version|为|is|社区版|商用版))*[\s:：=*`]*v?([0-9]+\.[0-9]+(?:\.(?:[0-9]+|RC[0-9]+|alpha[0-9]+|beta[0-9]+))*)")
        .expect("a constant")
});
/// The first line of CANN: smaller numbers are no versions.
const FIRST: (u32, u32) = (5, 0);
/// The first line of CANN whose neighbors the tables list completely.
const COMPLETE: (u32, u32) = (7, 0);

/// Releases of CANN: a line of releases (`8.3`) between known ones that no table has.
fn judge_cann(written: &str) -> Option<Judged> {
    // More numbers are those of a build.
    if written.split('.').count() > 3 {
        return None;
    }
    let line = |version: &str| -> Option<(u32, u32)> {
        let mut parts = version.split('.');
        Some((parts.next()?.parse().ok()?, parts.next()?.parse().ok()?))
    };
    let own = line(written).filter(|own| *own >= FIRST)?;
    let matrix = Matrix::builtin();
    let mut lines: Vec<(u32, u32)> =
        matrix.cann_versions().filter_map(|version| line(&version.to_string())).collect();
    lines.sort_unstable();
    lines.dedup();
    let says = format!("CANN {written}");
    let source = "data/compat_matrix.toml: releases of CANN".to_owned();
    if lines.contains(&own) {
        return Some(Judged::agrees(says, vec![source]));
    }
    if own < COMPLETE || lines.last().is_none_or(|last| own > *last) {
        return Some(Judged::undecided(says));
    }
    let at = lines.partition_point(|known| *known < own);
    let near = lines[at.saturating_sub(2)..].iter().take(NEAR);
    let near = near.map(|(major, minor)| format!("{major}.{minor}")).collect::<Vec<_>>().join(", ");
    let finding = lint_version::Missing { near, package: "CANN", version: written }.error();
    Some(Judged::contradicts(says, vec![source], finding))
}

fn judge(package: Listed, written: &str) -> Option<Judged> {
    let Listed { name, shown } = package;
    let version: Version = written.parse().ok()?;
    let says = format!("{shown} {version}");
    let source = format!("package index: {name}");
    // Development builds come from other places than the index.
    if version.is_dev() || version.is_local() {
        return Some(Judged::undecided(says));
    }
    // `2.7` is a line of releases.
    if version.release().len() < 3 {
        return None;
    }
    let all = package.releases();
    if all.contains(&version) {
        return Some(Judged::agrees(says, vec![source]));
    }
    let at = all.partition_point(|known| *known < version);
    // Releases after the date of the tables are not known.
    if at == all.len() || is_later_patch(&all, &version) {
        return Some(Judged::undecided(says));
    }
    let from = at.saturating_sub(NEAR / 2);
    let near: Vec<String> = all[from..].iter().take(NEAR).map(ToString::to_string).collect();
    let near = near.join(", ");
    let finding = lint_version::Missing { near, package: shown, version: &version }.error();
    Some(Judged::contradicts(says, vec![source], finding))
}

/// Whether a version continues the newest line of its release number: such a patch may have been
/// released after the date of the tables.
fn is_later_patch(all: &[Version], version: &Version) -> bool {
    let line = |one: &Version| one.release().iter().copied().take(2).collect::<Vec<u64>>();
    let own = line(version);
    let is_patch = all.iter().filter(|known| line(known) == own).all(|known| known < version);
    let newest_lines: Vec<Vec<u64>> = {
        let mut lines: Vec<Vec<u64>> = all.iter().map(line).collect();
        lines.dedup();
        lines.into_iter().rev().take(3).collect()
    };
    is_patch && newest_lines.contains(&own)
}

#[cfg(test)]
mod tests {
    use super::super::document::parse;
    use super::super::statement::StatementState::{self, Agrees, Contradicts, Undecided};
    use super::*;

    fn states(text: &str) -> Vec<StatementState> {
        let mut found = Vec::new();
        read(&parse("a.sh", text), &mut found);
        found.iter().map(|one| one.state).collect()
    }

    #[test]
    fn releases_are_looked_up() {
        assert_eq!(states("pip install vllm-ascend==0.11.4"), [Contradicts]);
        assert_eq!(states("pip install 'torch_npu==2.7.1'"), [Agrees]);
        assert_eq!(states("quay.io/ascend/vllm-ascend:v0.11.0rc1-a3"), [Agrees]);
        assert_eq!(states("torch_npu-2.5.1-cp310-cp310-linux_aarch64.whl"), [Agrees]);
        assert_eq!(states("pip install torch-npu==99.0.0"), [Undecided]);
        assert_eq!(states("pip install torch-npu==2.5.1.dev20250320"), [Undecided]);
        assert_eq!(states("CANN 7.3.0"), [Contradicts]);
        assert_eq!(states("CANN 版本：8.3.RC1"), [Agrees]);
        assert_eq!(states("CANN 99.0.0"), [Undecided]);
        assert!(states("CANN 7.6.0.1.220").is_empty());
        for text in ["torch-npu==2.7.*", "torch-npu>=2.99.1", "torch-npu==$V", "torch_npu 2.7"] {
            assert!(states(text).is_empty(), "{text}");
        }
    }
}
