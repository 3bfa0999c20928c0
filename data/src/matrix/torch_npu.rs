//! Compatibility of torch_npu with CANN, torch and Python.

use pep440_rs::Version;

use super::{Level, Matrix, Pattern, TorchNpu};
use base::version::{CannVersion, Stage};

/// The entry of the table for a pair of versions.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Support {
    /// The pair is recommended in the vendor's table.
    Recommended {
        /// The source.
        source: String,
    },
    /// The pair is not the recommended one, but known to be compatible.
    Compatible {
        /// The reason.
        basis: Basis,
        /// The source.
        source: String,
    },
    /// The vendor's documents do not list this CANN.
    Unsupported {
        /// Whether the CANN is older or newer than the accepted versions.
        side: Side,
        /// The accepted versions, newest first.
        accepted: Vec<String>,
        /// Whether there is a list of accepted versions, or only the recommended one.
        window: bool,
        /// The source.
        source: String,
    },
    /// torch_npu or CANN is newer than anything in the table: `torch_npu` or `cann`.
    NewerThanTable(&'static str),
    /// The table has no information about the pair.
    Unlisted,
}

/// The reason why a pair is compatible.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Basis {
    /// The release notes list it.
    Window,
    /// The release was made with this CANN.
    Release,
    /// vllm-ascend was released with this pair.
    VllmAscend,
}

/// The position of a version relative to the accepted ones.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Side {
    /// Older than all of them.
    Older,
    /// Newer than all of them.
    Newer,
}

/// Returns a version without development and local part, as tables list it. `2.7.1.dev20250724` and
/// `2.7.1+git1234567` are builds of `2.7.1`.
pub fn base(version: &Version) -> Version {
    version.clone().without_local().with_dev(None)
}

impl Matrix {
    /// Returns the row of this torch_npu, or of the version that a development build belongs to.
    pub fn torch_npu(&self, version: &Version) -> Option<&TorchNpu> {
        let base = base(version);
        self.torch_npu.iter().find(|row| row.version.0 == base)
    }

    /// Returns whether `version` is later than every version for its torch with a known release, or
    /// built for a later torch than any of those.
    fn is_newer_torch_npu(&self, version: &Version) -> bool {
        let placed = |row: &&TorchNpu| row.release.is_some() && row.cann.is_some();
        let base = base(version);
        let torch = Version::new(base.release().iter().copied());
        let siblings = self.torch_npu.iter().filter(placed);
        let same: Vec<&TorchNpu> = siblings.filter(|row| row.torch.0 == torch).collect();
        if same.is_empty() {
            self.torch_npu.iter().filter(placed).all(|row| base > row.version.0)
        } else {
            same.iter().all(|row| base > row.version.0)
        }
    }

    /// Returns the compatibility of torch_npu and CANN.
    ///
    /// Later versions of a listed line count as listed (`8.5.1` for `8.5.0`, `8.3.RC2` for
    /// `8.3.RC1`), and a patch release of torch_npu has the window of its release. Alphas, betas
    /// and development builds are looked up as their final version.
    pub fn torch_npu_with_cann(&self, version: &Version, cann: &CannVersion) -> Support {
        let mut cann_base = *cann;
        cann_base.stage = Stage::Release;
        let row = self.torch_npu(version);
        let later = |listed: &CannVersion| cann_base.line() > listed.line();
        if self.newest_cann().is_some_and(later) {
            return Support::NewerThanTable("cann");
        }
        let Some(row) = row.filter(|row| row.release.is_some() || row.cann.is_some()) else {
            return if self.is_newer_torch_npu(version) {
                Support::NewerThanTable("torch_npu")
            } else {
                Support::Unlisted
            };
        };
        let exact = row.cann.as_ref().filter(|listed| listed.0 == cann_base);
        if exact.is_some() && row.level == Level::Recommended && cann.stage == Stage::Release {
            return Support::Recommended { source: row.source.clone() };
        }
        let accepted = self.list_accepted(row);
        if let Some(entry) = accepted.iter().find(|entry| entry.pattern.covers(&cann_base)) {
            return Support::Compatible { basis: entry.basis, source: entry.source.to_owned() };
        }
        let lines = || accepted.iter().map(|entry| entry.pattern.line());
        let older = |entry: &AcceptedCann<'_>| match &entry.pattern {
            Pattern::Exact(listed) => cann_base < *listed,
            Pattern::Line(major, minor) => cann_base.line() < (*major, *minor),
        };
        let side = if accepted.is_empty() || row.level == Level::Prerelease {
            None
        } else if accepted.iter().all(older) {
            Some(Side::Older)
        } else if lines().all(|line| cann_base.line() > line) {
            Some(Side::Newer)
        } else {
            None
        };
        match side {
            Some(side) => {
                let mut sources: Vec<&str> = accepted.iter().map(|entry| entry.source).collect();
                sources.dedup();
                Support::Unsupported {
                    side,
                    accepted: sort_versions(&accepted),
                    window: accepted.iter().any(|entry| entry.basis == Basis::Window),
                    source: sources.join("; "),
                }
            }
            None if accepted.is_empty() && self.is_newer_torch_npu(version) => {
                Support::NewerThanTable("torch_npu")
            }
            None => Support::Unlisted,
        }
    }

    /// Returns every CANN that is documented for a torch_npu.
    fn list_accepted<'a>(&'a self, row: &'a TorchNpu) -> Vec<AcceptedCann<'a>> {
        let own = row.cann.as_ref().map(|cann| AcceptedCann {
            pattern: Pattern::Exact(cann.0),
            basis: Basis::Release,
            source: &row.source,
        });
        let windows = self.windows.iter().filter(|window| {
            row.release.as_ref().is_some_and(|release| window.release.covers(release))
        });
        let listed = windows.flat_map(|window| {
            window.cann.iter().map(|pattern| AcceptedCann {
                pattern: pattern.0.clone(),
                basis: Basis::Window,
                source: &window.source,
            })
        });
        let plugins = self
            .vllm_ascend
            .iter()
            .filter(|plugin| plugin.torch_npu.iter().any(|pin| base(pin) == row.version.0));
        let tested = plugins.map(|plugin| AcceptedCann {
            pattern: Pattern::Exact(plugin.cann.0),
            basis: Basis::VllmAscend,
            source: &plugin.source,
        });
        own.into_iter().chain(listed).chain(tested).collect()
    }

    /// Returns the CANN versions that are documented for a torch_npu, newest first.
    pub fn accepted_cann(&self, row: &TorchNpu) -> Vec<String> {
        sort_versions(&self.list_accepted(row))
    }

    /// Returns the rows for this torch, newest first. `2.7` means the latest `2.7.x`, if there is
    /// just one.
    pub fn torch_npu_for(&self, torch: &Version) -> Vec<&TorchNpu> {
        let torch = torch.only_release();
        let mut rows: Vec<&TorchNpu> =
            self.torch_npu.iter().filter(|row| row.torch.0 == torch).collect();
        rows.sort_by(|a, b| b.version.0.cmp(&a.version.0));
        rows
    }
}

/// A CANN that is documented for a torch_npu.
struct AcceptedCann<'a> {
    pattern: Pattern<CannVersion>,
    basis: Basis,
    source: &'a str,
}

fn sort_versions(accepted: &[AcceptedCann<'_>]) -> Vec<String> {
    let mut all: Vec<&Pattern<CannVersion>> = accepted.iter().map(|entry| &entry.pattern).collect();
    all.sort_by(|a, b| {
        let exact = |pattern: &Pattern<CannVersion>| match pattern {
            Pattern::Exact(version) => Some(*version),
            Pattern::Line(..) => None,
        };
        b.line()
            .cmp(&a.line())
            .then_with(|| exact(a).is_some().cmp(&exact(b).is_some()))
            .then_with(|| exact(b).cmp(&exact(a)))
    });
    let mut names: Vec<String> = Vec::new();
    let mut whole = Vec::new();
    for pattern in all {
        // `8.5.X` includes `8.5.0`.
        if let Pattern::Line(major, minor) = pattern {
            whole.push((*major, *minor));
        } else if whole.contains(&pattern.line()) {
            continue;
        }
        let name = pattern.to_string();
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}
