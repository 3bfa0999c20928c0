//! `--mark`: a comment above every statement that needs manual work.

use std::collections::BTreeSet;

use ruff_python_ast::Stmt;
use ruff_python_ast::statement_visitor::{StatementVisitor, walk_stmt};
use ruff_text_size::Ranged as _;

use super::lines::{line_start, newline};
use crate::mark_comment::{is_marked, words};
use crate::rules::Rules;
use crate::site::{Decision, Planner, Site};

/// The starts of all statements that begin their line, in the order of the text.
#[derive(Default)]
struct Starts(Vec<(usize, usize)>);

impl<'a> StatementVisitor<'a> for Starts {
    fn visit_stmt(&mut self, stmt: &'a Stmt) {
        self.0.push((stmt.start().to_usize(), stmt.end().to_usize()));
        walk_stmt(self, stmt);
    }
}

/// Adds the comments; a statement gets only one for each rule.
pub(super) fn add_marks(planner: &mut Planner<'_>, body: &[Stmt]) {
    let text = planner.text;
    let mut starts = Starts::default();
    starts.visit_body(body);
    let mut wanted: BTreeSet<(usize, &'static str)> = BTreeSet::new();
    for site in planner.sites().iter().filter(|site| site.decision == Decision::Flagged) {
        if let Some(line) = statement_line(text, &starts, site) {
            wanted.insert((line, site.rule.id));
        }
    }
    for (line, id) in wanted {
        let Some(rule) = Rules::builtin().by_id(id) else { continue };
        if is_marked(text, line, "#", id) {
            continue;
        }
        let indent: String = text[line..].chars().take_while(|&c| c == ' ' || c == '\t').collect();
        let comment = format!("{indent}# {}{}", words(rule), newline(text));
        planner.edit(line..line, comment);
    }
}

/// The start of the line of the innermost statement around a place that begins its line.
fn statement_line(text: &str, starts: &Starts, site: &Site) -> Option<usize> {
    starts
        .0
        .iter()
        .filter(|(start, end)| *start <= site.range.start && site.range.start < *end)
        .filter_map(|(start, _)| {
            let line = line_start(text, *start);
            text[line..*start].trim().is_empty().then_some(line)
        })
        .next_back()
}
