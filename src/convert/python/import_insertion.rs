//! Inserts `import torch_npu`, once, where Python and the file allow it.

use std::ops::Range;

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged as _, TextRange};

use super::imports::ImportNeeds;
use super::lines::{end_of_line, line_start, newline};
use super::literal::span;
use super::source::Source;
use crate::options::Import;
use crate::rules::{Action, Match, Place, Rules};
use crate::site::{Certainty, Decision, Planner};

const IMPORT: &str = "import torch_npu";
const TRANSFER: &str = "from torch_npu.contrib import transfer_to_npu";

/// Inserts imports of torch_npu once everything else is planned.
pub(super) struct ImportInsertion<'e, 'a> {
    pub source: &'e Source<'a>,
    pub needs: &'e ImportNeeds,
    pub planner: &'e mut Planner<'a>,
}

impl ImportInsertion<'_, '_> {
    /// Adds the import if the mode of the run and the edits of the file require it.
    pub(super) fn insert_import(&mut self, body: &[Stmt]) {
        let launch = self.source.context.launch;
        let wanted = match self.source.context.options.import {
            Import::None => false,
            Import::Entry => launch,
            Import::Each => launch || self.source.imports.has_torch(),
            Import::Need => {
                launch
                    || self.needs.torch_npu
                    || self.source.imports.has_torch()
                        && self.planner.has_edits()
                        && is_script(body)
                    || self.uses_npu(|range| is_script(body) || runs_on_import(body, range))
            }
        };
        if wanted {
            self.insert(body, IMPORT, launch);
        }
    }

    /// Whether the file itself moves something to an NPU, at a place that `counts` accepts: a name
    /// like `DEVICE = "npu"` works without torch_npu, `model.npu()` does not.
    fn uses_npu(&self, counts: impl Fn(&Range<usize>) -> bool) -> bool {
        self.planner.sites().iter().any(|site| {
            let puts = match site.rule.how {
                Match::Api | Match::Method => true,
                // An inserted argument, `device="npu"`.
                Match::Call => {
                    site.rule.action == Action::Insert
                        && site.rule.to.is_some_and(|to| to.contains("\"npu"))
                }
                Match::Site => [Place::ToDevice, Place::DeviceKeyword]
                    .iter()
                    .any(|place| Rules::builtin().site(*place).id == site.rule.id),
                _ => false,
            };
            puts && site.decision == Decision::Changed && counts(&site.range)
        })
    }

    /// `--transfer`: inserts the import of torch_npu's own run-time replacement.
    pub(super) fn insert_transfer(&mut self, body: &[Stmt]) {
        if self.source.text.contains("transfer_to_npu") {
            return;
        }
        let newline = newline(self.source.text);
        let text = if self.source.text.contains(IMPORT) {
            TRANSFER.to_owned()
        } else {
            format!("{IMPORT}{newline}{TRANSFER}")
        };
        self.insert(body, &text, true);
    }

    fn insert(&mut self, body: &[Stmt], text: &str, always: bool) {
        let places = self.source.imports.places(self.needs, always);
        for (statement, before) in &places {
            self.insert_at(*statement, *before, text);
        }
        let has_one = !self.source.text.contains(IMPORT);
        if places.is_empty() && has_one && (always || !self.source.imports.has_torch()) {
            self.insert_at_head(body, text);
        }
    }

    fn insert_at(&mut self, statement: TextRange, before: bool, text: &str) {
        let range = span(statement);
        let line = line_start(self.source.text, range.start);
        let indent = &self.source.text[line..range.start];
        let (end, goes_on) = end_of_line(self.source.text, &range);
        let alone = indent.trim().is_empty();
        let newline = newline(self.source.text);
        let (at, new) = if !alone || goes_on {
            // `try: import torch`, `import os; import torch`: on the same line.
            if before {
                (range.start, format!("{}; ", text.replace(newline, "; ")))
            } else {
                (range.end, format!("; {}", text.replace(newline, "; ")))
            }
        } else {
            let text = text.replace(newline, &format!("{newline}{indent}"));
            if before {
                (line, format!("{indent}{text}{newline}"))
            } else if self.source.text[..end].ends_with(['\n', '\r']) {
                (end, format!("{indent}{text}{newline}"))
            } else {
                (end, format!("{newline}{indent}{text}"))
            }
        };
        let rule = Rules::builtin().site(Place::InsertTorchNpu);
        self.planner.change(rule, at..at, new, Certainty::Exact);
    }

    /// Inserts after the documentation and the `__future__` imports, before anything else.
    fn insert_at_head(&mut self, body: &[Stmt], text: &str) {
        let mut after: Option<TextRange> = None;
        for (at, stmt) in body.iter().enumerate() {
            match stmt {
                Stmt::Expr(one) if at == 0 && one.value.is_string_literal_expr() => {
                    after = Some(stmt.range());
                }
                Stmt::ImportFrom(import)
                    if import.module.as_ref().is_some_and(|name| name.as_str() == "__future__") =>
                {
                    after = Some(stmt.range());
                }
                _ => break,
            }
        }
        if let Some(statement) = after {
            self.insert_at(statement, false, text);
            return;
        }
        let newline = newline(self.source.text);
        // Comments at the head (shebang, coding line, license) stay first.
        let at = body.first().map_or(self.source.text.len(), |first| {
            line_start(self.source.text, span(first.range()).start)
        });
        let ends =
            self.source.text[..at].is_empty() || self.source.text[..at].ends_with(['\n', '\r']);
        let new =
            if ends { format!("{text}{newline}") } else { format!("{newline}{text}{newline}") };
        let rule = Rules::builtin().site(Place::InsertTorchNpu);
        self.planner.change(rule, at..at, new, Certainty::Exact);
    }
}

/// Whether the code at `range` runs when the module is imported or started, because it is not in a
/// function.
fn runs_on_import(body: &[Stmt], range: &Range<usize>) -> bool {
    let statement = body.iter().find(|stmt| {
        let stmt = span(stmt.range());
        stmt.start <= range.start && range.end <= stmt.end
    });
    statement.is_some_and(|stmt| !stmt.is_function_def_stmt() && !stmt.is_class_def_stmt())
}

/// Whether a module can run as a program: it tests for `__main__`.
fn is_script(body: &[Stmt]) -> bool {
    body.iter().any(|stmt| {
        stmt.as_if_stmt().is_some_and(|stmt| {
            stmt.test.as_compare_expr().is_some_and(|compare| {
                compare.left.as_name_expr().is_some_and(|name| name.id.as_str() == "__name__")
            })
        })
    })
}
