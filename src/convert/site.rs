//! The decisions of `convert` about one file: its places, with the action for each.

use std::cell::{Cell, OnceCell};
use std::collections::BTreeMap;
use std::ops::Range;

use foldhash::HashSet;
use serde::Serialize;

use super::encoding::Edit;
use super::options::{self, Options};
use super::python::Project;
use super::python::explain::Evidence;
use super::python::shared_roles::ShownRoles;
use super::rules::{Place, Rule, Rules};

/// The certainty of a decision.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Certainty {
    /// The name was resolved, or the role of the text is certain.
    Exact,
    /// The shape matches, but the object could not be resolved.
    Likely,
}

/// The decision about a place.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Decision {
    /// It is rewritten.
    Changed,
    /// It stays and needs manual work.
    Flagged,
    /// Information; no work is needed.
    Noted,
}

/// A place in a source, with the rule that applies to it.
#[derive(Debug, Clone)]
pub struct Site {
    /// The rule.
    pub rule: &'static Rule,
    /// The decision.
    pub decision: Decision,
    /// The certainty of the decision.
    pub certainty: Certainty,
    /// Byte range in the decoded text, before any edit.
    pub range: Range<usize>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// A message in addition to the text of the rule, for example the name that was found.
    pub detail: Option<String>,
}

/// The reason why a place stays although a rule applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum KeptBecause {
    /// A comment of the file keeps it.
    Comment,
    /// The run selects other rules.
    Selection,
    /// The user declined the change.
    Declined,
}

/// A place that stays although a rule applies.
#[derive(Debug, Clone)]
pub struct KeptSite {
    /// The rule.
    pub rule: &'static Rule,
    /// Byte range in the decoded text.
    pub range: Range<usize>,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// The reason why it stays.
    pub why: KeptBecause,
}

/// The plan of one file.
#[derive(Debug, Clone, Default)]
pub struct FilePlan {
    /// Replacements in the decoded text, sorted, without overlap.
    pub edits: Vec<Edit>,
    /// The places, in the order of the text.
    pub sites: Vec<Site>,
    /// The places that stay although a rule applies, in the order of the text.
    pub kept: Vec<KeptSite>,
    /// The reasons why tokens of the ledger stay, if the planner of the file determined them.
    pub(crate) evidence: Option<Box<Evidence>>,
    /// The roles that a Python file shows for names of other files.
    pub(crate) shown: Option<Box<ShownRoles>>,
}

impl FilePlan {
    /// The places whose changes the user declined.
    pub fn declined(&self) -> impl Iterator<Item = &KeptSite> {
        self.kept.iter().filter(|kept| kept.why == KeptBecause::Declined)
    }
}

/// Collects the decisions about one text.
#[derive(Debug)]
pub struct Planner<'a> {
    /// The text that is read.
    pub text: &'a str,
    /// The options of the run.
    pub options: &'a Options,
    /// Facts about the tree that contains the text.
    pub project: Option<&'a Project>,
    /// Byte offsets of the line starts; computed when a position is first needed.
    lines: OnceCell<Vec<usize>>,
    plan: FilePlan,
    /// The reported ranges, so that nothing is reported twice.
    said: HashSet<(usize, usize, &'static str, Decision)>,
    /// The lines that comments of the text keep, in order.
    kept_lines: Vec<Range<usize>>,
    /// The replaced ranges, by their start.
    replaced: BTreeMap<usize, usize>,
    /// The last offset whose column was counted, and that column from 0.
    counted: Cell<(usize, usize)>,
}

impl<'a> Planner<'a> {
    /// Begins with an empty plan, for a single text without a tree.
    pub fn new(text: &'a str) -> Self {
        Self::of(text, &options::DEFAULT, None)
    }

    /// Begins with an empty plan.
    pub fn of(text: &'a str, options: &'a Options, project: Option<&'a Project>) -> Self {
        Self {
            text,
            options,
            project,
            lines: OnceCell::new(),
            plan: FilePlan::default(),
            said: HashSet::default(),
            kept_lines: Vec::new(),
            replaced: BTreeMap::new(),
            counted: Cell::new((0, 0)),
        }
    }

    /// Begins with an empty plan for a part of the text of this one, with the same options.
    pub fn part<'p>(&self, text: &'p str) -> Planner<'p>
    where
        'a: 'p,
    {
        Planner::of(text, self.options, self.project)
    }

    /// Returns the known version of a package.
    pub fn version(&self, name: &str) -> Option<pep440_rs::Version> {
        let pinned = || self.project.and_then(|project| project.pin(name));
        let asked = self.options.packages.get(name).or_else(pinned);
        asked.or_else(|| self.options.installed.get(name)).cloned()
    }

    /// Keeps the places that begin within `lines`, byte ranges in order without overlap.
    pub fn keep_lines(&mut self, lines: Vec<Range<usize>>) {
        self.kept_lines = lines;
    }

    /// Whether a comment keeps a line of `range`.
    pub fn keeps_part_of(&self, range: &Range<usize>) -> bool {
        self.kept_lines.iter().any(|line| line.start < range.end && range.start < line.end)
    }

    /// Replaces `range` by `text`, under `rule`. Returns whether it is replaced.
    pub fn change(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        text: impl Into<String>,
        certainty: Certainty,
    ) -> bool {
        let text = text.into();
        if self.text.get(range.clone()) == Some(text.as_str()) || self.is_patched(rule) {
            return false;
        }
        if let Some(why) = self.keeps(rule, &range) {
            self.keep(rule, range, why);
            return false;
        }
        self.site(rule, Decision::Changed, certainty, range.clone(), None);
        self.edit(range, text);
        true
    }

    /// Replaces `range` by `text`, unless the change of `rule` at `place`, to which it belongs, is
    /// not applied.
    pub fn also(
        &mut self,
        rule: &'static Rule,
        place: &Range<usize>,
        range: Range<usize>,
        text: impl Into<String>,
    ) {
        if self.keeps(rule, place).is_none() {
            self.edit(range, text);
        }
    }

    /// The reason why a change of `rule` at `range` is not applied, if there is one.
    fn keeps(&self, rule: &Rule, range: &Range<usize>) -> Option<KeptBecause> {
        if self.is_on_kept_line(range) {
            return Some(KeptBecause::Comment);
        }
        (!self.options.selection.selects(rule)).then_some(KeptBecause::Selection)
    }

    /// Whether `range` begins on a kept line. A line inserted above is not on it.
    fn is_on_kept_line(&self, range: &Range<usize>) -> bool {
        let at = range.start;
        let after = self.kept_lines.partition_point(|line| line.start <= at);
        let Some(line) = after.checked_sub(1).map(|line| &self.kept_lines[line]) else {
            return false;
        };
        at < line.end && !(range.is_empty() && at == line.start)
    }

    /// Notes that the place of a rule stays.
    pub fn keep(&mut self, rule: &'static Rule, range: Range<usize>, why: KeptBecause) {
        let known = |kept: &KeptSite| kept.rule.id == rule.id && kept.range == range;
        if !self.plan.kept.iter().rev().take(8).any(known) {
            let (line, column) = self.position(range.start);
            self.plan.kept.push(KeptSite { rule, range, line, column, why });
        }
    }

    /// Whether torch_npu's run-time replacement accepts a device by its old name, so that scripts
    /// and configurations may keep `cuda`.
    fn is_patched(&self, rule: &Rule) -> bool {
        let places = [Place::ShellDeviceOption, Place::ConfigDevice];
        self.options.transfer
            && places.iter().any(|place| Rules::builtin().site(*place).id == rule.id)
    }

    /// Replaces `range` by `text` without a separate place.
    pub fn edit(&mut self, range: Range<usize>, text: impl Into<String>) {
        if !range.is_empty() {
            self.replaced.entry(range.start).or_insert(range.end);
        }
        self.plan.edits.push(Edit { range, text: text.into() });
    }

    /// Reports that `range` needs manual work.
    pub fn flag(&mut self, rule: &'static Rule, range: Range<usize>, detail: Option<String>) {
        self.site(rule, Decision::Flagged, Certainty::Exact, range, detail);
    }

    /// Records that `name` holds a device or backend whose role the file does not show.
    pub(crate) fn leave_open(&mut self, name: &str) {
        self.plan.shown.get_or_insert_default().open.push(name.to_owned());
    }

    /// Reports information about `range`.
    pub fn note(&mut self, rule: &'static Rule, range: Range<usize>, detail: Option<String>) {
        self.site(rule, Decision::Noted, Certainty::Exact, range, detail);
    }

    /// Adds a place; a rule reports a range only once.
    pub fn site(
        &mut self,
        rule: &'static Rule,
        decision: Decision,
        certainty: Certainty,
        range: Range<usize>,
        detail: Option<String>,
    ) {
        if decision != Decision::Changed && self.is_on_kept_line(&range) {
            if decision == Decision::Flagged {
                self.keep(rule, range, KeptBecause::Comment);
            }
            return;
        }
        // An expansion of a script is a NUL in the words of its commands.
        let detail = detail.map(|detail| detail.replace('\0', "…"));
        if !self.said.insert((range.start, range.end, rule.id, decision)) {
            return;
        }
        let (line, column) = self.position(range.start);
        self.plan.sites.push(Site { rule, decision, certainty, range, line, column, detail });
    }

    /// Adopts the plan of a part of the text that begins at `offset`.
    pub fn enter(&mut self, part: FilePlan, offset: usize) {
        let shifted = |range: Range<usize>| range.start + offset..range.end + offset;
        for site in part.sites {
            let Site { rule, decision, certainty, range, detail, .. } = site;
            let range = shifted(range);
            if decision == Decision::Changed && self.is_on_kept_line(&range) {
                self.keep(rule, range, KeptBecause::Comment);
                continue;
            }
            self.site(rule, decision, certainty, range, detail);
        }
        for KeptSite { rule, range, why, .. } in part.kept {
            self.keep(rule, shifted(range), why);
        }
        for edit in part.edits {
            let range = shifted(edit.range);
            if !self.is_on_kept_line(&range) {
                self.edit(range, edit.text);
            }
        }
    }

    /// Line and column, from 1, of a byte offset; the column counts characters.
    pub fn position(&self, offset: usize) -> (u32, u32) {
        let lines = self.lines.get_or_init(|| {
            std::iter::once(0)
                .chain(memchr::memchr_iter(b'\n', self.text.as_bytes()).map(|at| at + 1))
                .collect()
        });
        let line = lines.partition_point(|&start| start <= offset) - 1;
        let start = lines[line];
        // Places are mostly in order, so the column is not counted from the line start each time.
        let (from, before) = match self.counted.get() {
            (at, column) if (start..=offset).contains(&at) => (at, column),
            _ => (start, 0),
        };
        let column = before + self.text.get(from..offset).map_or(0, |text| text.chars().count());
        self.counted.set((offset, column));
        (u32::try_from(line + 1).unwrap_or(u32::MAX), u32::try_from(column + 1).unwrap_or(u32::MAX))
    }

    /// Whether an edit touches `range`.
    pub fn touched(&self, range: &Range<usize>) -> bool {
        self.replaced.range(..range.end).next_back().is_some_and(|(_, &end)| range.start < end)
    }

    /// The places so far.
    pub fn sites(&self) -> &[Site] {
        &self.plan.sites
    }

    /// Whether anything is replaced so far.
    pub fn has_edits(&self) -> bool {
        !self.plan.edits.is_empty()
    }

    /// The plan, in the order of the text. The first of several edits of the same place stays.
    pub fn finish(mut self) -> FilePlan {
        self.plan.edits.sort_by_key(|edit| (edit.range.start, edit.range.end));
        let mut end = 0;
        self.plan.edits.retain(|edit| {
            let free = edit.range.start >= end;
            if free {
                end = edit.range.end;
            }
            free
        });
        self.plan.sites.sort_by_key(|site| (site.range.start, site.range.end));
        self.plan.kept.sort_by_key(|kept| (kept.range.start, kept.range.end));
        self.plan
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rules::{Place, Rules};

    #[test]
    fn positions_count_characters_from_one() {
        let planner = Planner::new("ab\r\n中文x\n");
        assert_eq!(planner.position(0), (1, 1));
        assert_eq!(planner.position(4), (2, 1));
        assert_eq!(planner.position(10), (2, 3));
    }

    #[test]
    fn edits_are_sorted_and_never_overlap() {
        let mut planner = Planner::new("cuda cuda");
        let rule = Rules::builtin().site(Place::DeviceString);
        planner.change(rule, 5..9, "npu", Certainty::Exact);
        planner.change(rule, 0..4, "npu", Certainty::Exact);
        planner.change(rule, 2..6, "x", Certainty::Likely);
        let plan = planner.finish();
        let ranges: Vec<_> = plan.edits.iter().map(|edit| edit.range.clone()).collect();
        assert_eq!(ranges, [0..4, 5..9]);
    }

    #[test]
    fn unchanged_text_gives_no_site() {
        let mut planner = Planner::new("npu");
        planner.change(Rules::builtin().site(Place::DeviceString), 0..3, "npu", Certainty::Exact);
        assert!(planner.finish().sites.is_empty());
    }
}
