//! Commands and paths that do not work.

use data::findings::lint_command;

use super::document::Document;
use super::statement::{Judged, Statement, StatementKind};
use super::table::table;

pub(super) fn read(document: &Document<'_>, found: &mut Vec<Statement>) {
    for line in &document.lines {
        for code in line.code() {
            for mistake in &table().mistakes {
                let Some(text) = mistake.find(code) else { continue };
                let finding =
                    lint_command::Wrong { fact: &mistake.text, fix: &mistake.fix, text }.error();
                let sources = vec![mistake.source.clone()];
                let judged = Judged::contradicts(text.to_owned(), sources, finding);
                found.push(judged.at(StatementKind::Command, document.file, line.number));
            }
        }
    }
}
