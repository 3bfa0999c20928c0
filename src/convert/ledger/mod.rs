//! The ledger: every token of CUDA in a tree, in exactly one class.
//!
//! ```text
//! files -> tokens -> changed (edits) -> manual (reports) -> kept (reason + witness) -> unexplained
//! ```
//!
//! - [`tokens`]: the list of tokens and the search for them.
//! - [`claims`]: tokens that the plan of a file accounts for.
//! - [`plain`], [`notebook`] and [`crate::python::explain`]: reasons of all others, by kind of file.
//! - `index`: the names that the tree defines; settles claims that need other files.
//! - `collect`: the flow above, over a whole tree, within limits.
//! - [`entry`], [`blocker`], [`totals`]: classes, reasons, witnesses, counts.
//! - [`mod@write`]: the ledger as JSON or CSV.
//!
//! A reason requires a witness: a token without one is unexplained.

pub mod blocker;
pub(crate) mod claims;
mod collect;
mod comments;
pub mod entry;
mod index;
mod notebook;
mod plain;
pub(crate) mod text_lines;
pub mod tokens;
pub mod totals;
pub(crate) mod wording;
pub mod write;

use treeedit::kind::FileKind;

use self::entry::{Class, Entry};
use self::totals::Totals;
pub(crate) use collect::{collect, is_test};

/// The tokens of a tree.
#[derive(Debug, Default)]
pub struct Ledger {
    /// The files with tokens, in the order of the walk.
    pub files: Vec<FileLedger>,
}

/// The tokens of one file.
#[derive(Debug)]
pub struct FileLedger {
    /// Its path, as typed by users.
    pub path: String,
    /// Its kind.
    pub kind: FileKind,
    /// Its tokens, in the order of the text.
    pub entries: Vec<Entry>,
    /// Tokens beyond the limit: counted and unexplained, but not listed.
    pub beyond: usize,
    /// The lines of unexplained tokens, in the order of these tokens; only the first ones.
    pub excerpts: Vec<String>,
}

impl Ledger {
    /// Counts by class, reason and blocker.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        self.files.iter().for_each(|file| totals.add(file));
        totals
    }

    /// Withdraws the changes of files that stay unchanged after all.
    pub fn withdraw(&mut self, unchanged: impl Fn(&str) -> bool) {
        for file in self.files.iter_mut().filter(|file| unchanged(&file.path)) {
            for entry in &mut file.entries {
                if matches!(entry.class, Class::Changed { .. }) {
                    entry.class = Class::Unexplained;
                }
            }
        }
    }
}

impl FileLedger {
    /// Counts of this file.
    pub fn totals(&self) -> Totals {
        let mut totals = Totals::default();
        totals.add(self);
        totals
    }

    /// The first unexplained tokens with their lines.
    pub fn unexplained(&self) -> impl Iterator<Item = (u32, &str)> {
        let open = self.entries.iter().filter(|entry| entry.class == Class::Unexplained);
        let excerpts = self.excerpts.iter().map(String::as_str).chain(std::iter::repeat(""));
        open.zip(excerpts).map(|(entry, excerpt)| (entry.line, excerpt))
    }
}
