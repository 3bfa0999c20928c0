//! The remaining work, by its effect on the program, and the NPU support that a tree already has.

use std::collections::BTreeSet;

use serde::Serialize;

use super::ledger::blocker::Blocker;
use super::ledger::entry::{Class, Reason, Witness};
use super::plan::Plan;
use super::report::shown;
use super::site::Decision;

/// Causes of manual work, by their effect on the program. A cause is a rule, regardless of the
/// number of its places.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Work {
    /// The program does not start.
    pub start: usize,
    /// Training or inference fails or is wrong.
    pub training: usize,
    /// It runs slower.
    pub speed: usize,
    /// It runs the same.
    pub cosmetic: usize,
}

impl Work {
    /// Whether no work is left.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    /// Counts the causes of a plan.
    pub fn of(plan: &Plan) -> Self {
        let sites = plan.files.iter().flat_map(|file| &file.plan.sites);
        let flagged = sites.filter(|site| site.decision == Decision::Flagged);
        let causes: BTreeSet<(Blocker, &str)> =
            flagged.map(|site| (Blocker::of(site.rule), site.rule.id)).collect();
        let count = |blocker| causes.iter().filter(|(one, _)| *one == blocker).count();
        Self {
            start: count(Blocker::Start),
            training: count(Blocker::Training),
            speed: count(Blocker::Speed),
            cosmetic: count(Blocker::Cosmetic),
        }
    }
}

/// Code of the tree that already handles NPUs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NpuSupport {
    /// The number of files with such code next to CUDA.
    pub files: usize,
    /// The first of them.
    pub path: String,
    /// The line that names the NPU, from 1.
    pub line: u32,
    /// That line.
    pub text: String,
}

impl NpuSupport {
    /// Finds NPU code next to CUDA, by the witnesses of the ledger.
    pub fn of(plan: &Plan) -> Option<Self> {
        let siblings = plan.ledger.files.iter().filter_map(|file| {
            let line = file.entries.iter().find_map(|entry| match &entry.class {
                Class::Kept { reason: Reason::NpuSibling, witness: Witness::Line(line) } => {
                    Some(*line)
                }
                _ => None,
            })?;
            Some((file.path.as_str(), line))
        });
        let all: Vec<(&str, u32)> = siblings.collect();
        let (path, line) = *all.first()?;
        let source = plan.files.iter().find(|file| shown(&file.file.path) == path);
        let text = source.map(super::plan::PlannedFile::text).unwrap_or_default();
        let text = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
        let text: String = text.trim().chars().take(100).collect();
        Some(Self { files: all.len(), path: path.to_owned(), line, text })
    }
}
