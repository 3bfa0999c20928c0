//! Compatibility of vllm-ascend, MindSpore and numpy.

use pep440_rs::Version;

use super::rows::minor;
use super::{Constraint, Import, Level, Matrix, MindSpore, Parsed, VllmAscend, base};
use base::version::CannVersion;
use pep440_rs::VersionSpecifiers;

/// The evidence about a MindSpore and a CANN.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MindSporeSupport {
    /// Its wheel lists the compiler version.
    Listed,
    /// Its wheel lists other versions.
    NotListed {
        /// The listed versions.
        accepted: Vec<String>,
        /// Whether the CANN is older than all of them.
        older: bool,
    },
    /// There is no list, but the documentation has a CANN of the same line.
    Documented,
    /// There is no list, and the documentation has another CANN.
    OtherDocumented {
        /// The documented CANN.
        cann: String,
    },
    /// There is no information about this pair.
    Unknown,
}

impl Matrix {
    /// Returns the row of this vllm-ascend, or of the version that a development build belongs to.
    pub fn vllm_ascend(&self, version: &Version) -> Option<&VllmAscend> {
        let base = base(version);
        self.vllm_ascend.iter().find(|row| row.version.0 == base)
    }

    /// Returns the first recommended vllm-ascend since `version` whose CANN has operators for a
    /// chip, final releases before others.
    pub fn vllm_ascend_for_chip(&self, version: &Version, chip: &str) -> Option<&VllmAscend> {
        let serves = |row: &&VllmAscend| {
            row.level == Level::Recommended
                && row.version.0 >= base(version)
                && self.cann_serves_chip(&row.cann, chip)
        };
        let rows = self.vllm_ascend.iter().filter(serves);
        rows.min_by(|a, b| {
            let key = |row: &VllmAscend| (row.version.0.any_prerelease(), row.version.0.clone());
            key(a).cmp(&key(b))
        })
    }

    /// Returns whether this vllm-ascend is later than all rows.
    pub fn is_newer_vllm_ascend(&self, version: &Version) -> bool {
        let base = base(version);
        self.vllm_ascend.iter().all(|row| base > row.version.0)
    }

    /// Returns the pins of a vllm-ascend: package (normalized name) and specifiers.
    pub fn vllm_ascend_pins(
        &self,
        version: &Version,
    ) -> impl Iterator<Item = (&str, &VersionSpecifiers)> {
        self.vllm_ascend(version)
            .into_iter()
            .flat_map(|row| row.pins.iter().map(|(name, spec)| (name.as_str(), &spec.0)))
    }

    /// Returns the requirement of CANN for `package`, if there is one.
    pub fn constraint_by_cann(&self, package: &str, cann: &CannVersion) -> Option<&Constraint> {
        self.constraints.iter().find(|row| {
            let line = cann.line();
            row.package == package
                && row.mindspore_max.is_none()
                && (row.cann_min.is_some() || row.cann_max.is_some())
                && row.cann_min.as_deref().is_none_or(|first| line >= minor(first))
                && row.cann_max.as_deref().is_none_or(|last| line <= minor(last))
        })
    }

    /// Returns the distributions that this version of `package` needs for its import, with the
    /// source.
    pub fn imports(&self, package: &str, version: &Version) -> Option<&Import> {
        let is_about = |row: &&Import| row.package == package && row.versions.contains(version);
        self.imports.iter().find(is_about)
    }

    /// Returns the last row of `package` for a version that is later than all rows. Its
    /// requirements are likely, but not confirmed, for that version.
    pub fn imports_before(&self, package: &str, version: &Version) -> Option<&Import> {
        let bound = |row: &Import| row.versions.iter().map(|one| one.version().clone()).max();
        let of_package = self.imports.iter().filter(|row| row.package == package);
        let last = of_package.max_by_key(|row| bound(row))?;
        (bound(last)? <= *version && !last.versions.contains(version)).then_some(last)
    }

    /// Returns the row of this MindSpore: the version itself, or its line (`2.3` for `2.3.5`).
    pub fn mindspore(&self, version: &str) -> Option<&MindSpore> {
        let wanted: Version = version.parse().ok()?;
        let wanted = base(&wanted);
        let exact = self.mindspore.iter().find(|row| {
            row.version.matches('.').count() >= 2
                && row.version.parse::<Version>().is_ok_and(|listed| listed == wanted)
        });
        exact.or_else(|| {
            let line = wanted.release().get(..2)?;
            let name = format!("{}.{}", line[0], line[1]);
            self.mindspore.iter().find(|row| row.version == name)
        })
    }

    /// Returns whether MindSpore accepts a CANN with the compiler version `compiler`
    /// (`8.2.0.0.201`) and the package version `cann`.
    pub fn mindspore_with_cann(
        &self,
        row: &MindSpore,
        compiler: Option<&str>,
        cann: Option<&CannVersion>,
    ) -> MindSporeSupport {
        if !row.cann_internal.is_empty() {
            // Only the compiler version can be compared with the list: that of CANN 8.1.RC1 is 7.7.
            let Some(line) = compiler.map(minor).filter(|line| *line != (0, 0)) else {
                return MindSporeSupport::Unknown;
            };
            return if row.cann_internal.iter().any(|listed| minor(listed) == line) {
                MindSporeSupport::Listed
            } else {
                let older = row.cann_internal.iter().all(|listed| line < minor(listed));
                MindSporeSupport::NotListed { accepted: row.cann_internal.clone(), older }
            };
        }
        match (&row.cann, cann) {
            (Some(Parsed(listed)), Some(cann)) if listed.line() == cann.line() => {
                MindSporeSupport::Documented
            }
            (Some(listed), Some(_)) => {
                MindSporeSupport::OtherDocumented { cann: listed.to_string() }
            }
            _ => MindSporeSupport::Unknown,
        }
    }
}
