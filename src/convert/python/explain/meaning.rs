//! The purpose of a string or a name in a source.

use ruff_text_size::{Ranged as _, TextRange};

use crate::ledger::entry::{Claim, Class, Definition, Reason, Wanted, Witness};
use crate::rules::Rule;

/// The purpose of a string or a name.
#[derive(Debug, Clone)]
pub(super) enum Meaning {
    /// A string whose place shows no purpose.
    Plain,
    /// Text for readers. The witness is the line that shows this.
    Prose(u32),
    /// Text that a test expects, on this line.
    Test(u32),
    /// The owner of something outside the project.
    Address(u32),
    /// A name that is defined on this line.
    Defined(u32),
    /// A key of the table on this line.
    TableKey(u32),
    /// The whole string is a name, if the tree defines it so.
    Key(Wanted),
    /// The same, and otherwise a key that is read on this line.
    KeyOr(Wanted, u32),
    /// A name, if the tree defines it so.
    Own(String, Wanted),
    /// A name that stays because of a rule.
    Rule(&'static Rule),
    /// A name that a reported import binds.
    Manual(&'static Rule),
}

impl Meaning {
    pub(super) fn claim(&self) -> Claim {
        match self {
            Self::Plain | Self::Key(_) | Self::KeyOr(..) => Claim::Open,
            Self::Prose(line) => Claim::Is(Class::kept(Reason::Prose, *line)),
            Self::Address(line) => Claim::Is(Class::kept(Reason::Address, *line)),
            Self::Test(line) => Claim::Is(Class::kept(Reason::TestText, *line)),
            Self::Defined(line) => Claim::Is(Class::kept(Reason::OwnName, *line)),
            Self::TableKey(line) => Claim::Is(Class::kept(Reason::TableKey, *line)),
            Self::Own(name, wanted) => Claim::Own(name.clone(), *wanted),
            Self::Rule(rule) => {
                Claim::Is(Class::Kept { reason: Reason::Rule, witness: Witness::Rule(rule.id) })
            }
            Self::Manual(rule) => Claim::Is(crate::ledger::claims::manual(rule)),
        }
    }
}

/// Ranges with their meanings, in the order of the text after sorting.
#[derive(Debug, Clone, Default)]
pub(super) struct Ranges {
    all: Vec<(TextRange, Meaning)>,
}

impl Ranges {
    pub(super) fn add(&mut self, range: TextRange, meaning: Meaning) {
        self.all.push((range, meaning));
    }

    pub(super) fn sort(&mut self) {
        self.all.sort_by_key(|(range, _)| (range.start(), range.end()));
    }

    /// The range around `at`. Ranges do not nest; the first of several equal ranges counts.
    pub(super) fn of(&self, at: TextRange) -> Option<(TextRange, &Meaning)> {
        let after = self.all.partition_point(|(range, _)| range.start() <= at.start());
        let last = self.all.get(after.checked_sub(1)?)?.0;
        let first = self.all.partition_point(|(range, _)| range.start() < last.start());
        let (range, meaning) = &self.all[first];
        range.contains_range(at.range()).then_some((*range, meaning))
    }
}

/// The ranges of names, for which only the meaning matters.
#[derive(Debug, Clone, Default)]
pub(super) struct Names(pub(super) Ranges);

impl Names {
    pub(super) fn of(&self, at: TextRange) -> Option<&Meaning> {
        self.0.of(at).map(|(_, meaning)| meaning)
    }
}

/// The results of a walk.
#[derive(Debug, Clone, Default)]
pub(super) struct Meanings {
    pub(super) strings: Ranges,
    pub(super) names: Names,
    /// Calls whose function a rule reports: their arguments belong to the same manual work.
    pub(super) manual: Vec<(TextRange, &'static Rule)>,
    pub(super) definitions: Vec<Definition>,
}
