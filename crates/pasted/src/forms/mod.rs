//! Readers of formats. Each takes all lines and adds candidates.

mod env;
mod hardware;
mod image;
mod info_file;
mod key_value;
mod mention;
mod messages;
mod npu_smi;
mod packages;
mod paths;
mod pip;
mod prose;
mod python;
mod system;
mod table;
mod version_cfg;

use crate::candidate::{Candidate, Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::{Chip, MAX_CANDIDATES, version};

/// Maximum length of a value; longer ones, such as those of LD_LIBRARY_PATH, are cut.
const MAX_VALUE: usize = 2048;

/// Candidates of a text, and the lines that belong to a recognized format.
pub(crate) struct Found {
    pub(crate) candidates: Vec<Candidate>,
    pub(crate) chips: Vec<Chip>,
    pub(crate) forms: Vec<Form>,
    /// For each line, whether a reader of a whole-line format claimed it.
    taken: Vec<bool>,
}

/// Runs all readers.
pub(crate) fn read(lines: &[Line]) -> Found {
    let mut found = Found {
        candidates: Vec::new(),
        chips: Vec::new(),
        forms: Vec::new(),
        taken: vec![false; lines.len()],
    };
    npu_smi::read(lines, &mut found);
    info_file::read(lines, &mut found);
    version_cfg::read(lines, &mut found);
    messages::read(lines, &mut found);
    python::read(lines, &mut found);
    pip::read(lines, &mut found);
    packages::read(lines, &mut found);
    table::read(lines, &mut found);
    env::read(lines, &mut found);
    image::read(lines, &mut found);
    paths::read(lines, &mut found);
    system::read(lines, &mut found);
    hardware::read(lines, &mut found);
    key_value::read(lines, &mut found);
    prose::read(lines, &mut found);
    system::host_without_container(lines, &mut found);
    found
}

impl Found {
    /// Adds a value, unless it cannot be one of that name.
    pub(crate) fn add(&mut self, name: &str, value: &str, line: &Line, form: Form, rank: Rank) {
        let doubt = (line.kind == Kind::Quotation).then_some(Reason::Quoted);
        self.push(name, value, line, form, rank, doubt);
    }

    /// Adds a version if the component can have it.
    pub(crate) fn add_version(
        &mut self,
        name: &str,
        value: &str,
        line: &Line,
        form: Form,
        rank: Rank,
    ) {
        if version::is_version(value) && version::plausible(name, value) {
            self.add(name, value, line, form, rank);
        }
    }

    /// Adds a value that does not count as a fact, with the reason.
    pub(crate) fn reject(
        &mut self,
        name: &str,
        value: &str,
        line: &Line,
        form: Form,
        reason: Reason,
    ) {
        self.push(name, value, line, form, Rank::Intended, Some(reason));
    }

    fn push(
        &mut self,
        name: &str,
        value: &str,
        line: &Line,
        form: Form,
        rank: Rank,
        doubt: Option<Reason>,
    ) {
        let value = value.trim();
        if value.is_empty() || self.candidates.len() >= MAX_CANDIDATES {
            return;
        }
        self.saw(form);
        let value = value.get(..value.floor_char_boundary(MAX_VALUE)).unwrap_or(value);
        self.candidates.push(Candidate {
            name: name.to_owned(),
            value: value.to_owned(),
            line: line.number,
            form,
            rank,
            doubt,
        });
    }

    /// Records that the text contains a format.
    pub(crate) fn saw(&mut self, form: Form) {
        if !self.forms.contains(&form) {
            self.forms.push(form);
        }
    }

    /// Marks a line as part of a format, so that no other reader treats it as a sentence.
    pub(crate) fn take(&mut self, index: usize) {
        if let Some(taken) = self.taken.get_mut(index) {
            *taken = true;
        }
    }

    /// Returns whether a line is part of a recognized format.
    pub(crate) fn is_taken(&self, index: usize) -> bool {
        self.taken.get(index).copied().unwrap_or(false)
    }
}

/// Returns whether a chip, a number or a name may begin after this character.
fn is_boundary(before: Option<char>) -> bool {
    before.is_none_or(|c| {
        !(c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | '\\' | ':' | '@' | '#'))
    })
}
