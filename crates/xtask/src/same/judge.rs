//! Runs one case with both programs and classifies its differences.

use std::path::Path;
use std::time::{Duration, Instant};

use anyhow::Result;

use super::allow::AllowList;
use super::case::Case;
use super::compare::{Change, Rules, Scope, Side, compare, compare_substance};
use super::normalize::Normalizer;
use super::observe::{WORK, observe};
use super::program::Program;

/// Result of one case.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Verdict {
    Equal,
    /// All changed lines match the list of intended differences.
    Explained(Vec<String>),
    Different,
    /// The old program differs from itself, so nothing was compared.
    Unstable,
    /// Both programs exceeded the time limit, so nothing was compared.
    TimedOut,
}

/// Result of one case with the changes that led to it.
#[derive(Debug)]
pub(crate) struct Outcome {
    pub(crate) name: String,
    pub(crate) class: String,
    pub(crate) verdict: Verdict,
    pub(crate) changes: Vec<Change>,
    /// Both programs rejected the command line, although the case does not test that.
    pub(crate) refused: bool,
    pub(crate) took: Duration,
}

/// Both programs and the rules for comparing them.
#[derive(Debug)]
pub(crate) struct Judge<'a> {
    pub(crate) old: &'a Program,
    pub(crate) new: &'a Program,
    pub(crate) allow: &'a AllowList,
    /// Normalization of the old and of the new program.
    pub(crate) normalizers: [Normalizer; 2],
    /// Directory of inputs that the cases share, shown by a placeholder.
    pub(crate) shared_inputs: &'a Path,
    pub(crate) scope: Scope,
}

impl Judge<'_> {
    /// Runs a case below `place`, which is removed afterwards.
    pub(crate) fn judge(&self, case: &Case, place: &Path) -> Result<Outcome> {
        let start = Instant::now();
        std::fs::create_dir_all(place)?;
        let shown = |path: &Path, placeholder| (path.to_string_lossy().into_owned(), placeholder);
        let paths = [shown(&place.join(WORK), "<work>"), shown(self.shared_inputs, "<inputs>")];
        let rules = |normalizer| Rules { normalizer, paths: &paths, timed: case.timed };
        let [before, after] = self.normalizers.each_ref().map(rules);
        let old = observe(self.old, case, place, "old")?;
        let new = observe(self.new, case, place, "new")?;
        let compare = |one, other, rules| match self.scope {
            Scope::Everything => compare(
                Side { observation: one, rules: before },
                Side { observation: other, rules },
            ),
            Scope::Substance => Ok(compare_substance(one, other)),
        };
        let mut changes = Vec::new();
        let verdict = if old.timed_out() && new.timed_out() {
            Verdict::TimedOut
        } else {
            changes = compare(&old, &new, after)?;
            if changes.is_empty() {
                Verdict::Equal
            } else {
                let again = observe(self.old, case, place, "again")?;
                let own = compare(&old, &again, before)?;
                if own.is_empty() {
                    self.explain(&case.name, &changes)
                } else {
                    changes = own;
                    Verdict::Unstable
                }
            }
        };
        let refused = !case.refusal && old.refused() && new.refused();
        std::fs::remove_dir_all(place)?;
        let (name, class) = (case.name.clone(), case.class().to_owned());
        Ok(Outcome { name, class, verdict, changes, refused, took: start.elapsed() })
    }

    fn explain(&self, name: &str, changes: &[Change]) -> Verdict {
        match self.allow.explain(name, changes) {
            Some(reasons) => Verdict::Explained(reasons.into_iter().map(str::to_owned).collect()),
            None => Verdict::Different,
        }
    }
}
