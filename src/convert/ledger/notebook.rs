//! Tokens in notebooks: those in code cells are explained as Python, all others as recorded output
//! or text.

use std::ops::Range;

use pysyntax::notebook::json::Json;
use pysyntax::notebook::{Language, blank, joined, language, written_in_python};

use super::claims::{Planned, planned};
use super::entry::{Claim, Class, Definition, Reason};
use super::text_lines::TextLines;
use super::tokens::{self, Token};
use crate::options::Options;
use crate::python::explain::{Subject, explain};
use crate::python::{self, Project};
use crate::site::FilePlan;

/// Claims by offsets in the file, and the names that the cells define.
type CellClaims = (Vec<(usize, Claim)>, Vec<Definition>);

/// A notebook with its plan.
pub(super) struct NotebookFile<'a> {
    pub text: &'a str,
    pub tokens: &'a [Token],
    pub plan: &'a FilePlan,
    pub written: bool,
    pub options: &'a Options,
    pub project: &'a Project,
}

impl NotebookFile<'_> {
    /// Explains the tokens; `None` if the file is not a notebook.
    pub(super) fn explain(&self) -> Option<(Vec<Claim>, Vec<Definition>)> {
        let lines = TextLines::of(self.text);
        let document = Json::read(self.text).ok()?;
        let source = joined(&document, self.text).ok()?;
        let mut code = source.text.clone().into_bytes();
        let mut cells: Vec<Range<usize>> = Vec::new();
        let is_python = written_in_python(&document, self.text);
        for cell in &source.cells {
            let (kind, first) = language(&source.text[cell.range.clone()]);
            let python = is_python && kind == Language::Python;
            let end = if python { cell.range.start + first } else { cell.range.end };
            blank(&mut code, cell.range.start..end);
            cells.extend(source.places(&cell.range).unwrap_or_default());
        }
        cells.sort_by_key(|range| range.start);
        let (explained, definitions) = self.python(&String::from_utf8(code).ok()?, &lines, &source);
        let claims = self.tokens.iter().zip(planned(self.tokens, self.plan, self.written));
        let claims = claims.map(|(token, planned)| {
            let range = token.range();
            if let Planned::Changed(rule) = planned {
                return Claim::Is(Class::Changed { rule });
            }
            if let Ok(at) = explained.binary_search_by_key(&range.start, |(start, _)| *start)
                && explained[at].1 != Claim::Open
                && matches!(planned, Planned::Nothing)
            {
                return explained[at].1.clone();
            }
            if let Some(class) = planned.class() {
                return Claim::Is(class);
            }
            let after = cells.partition_point(|cell| cell.start <= range.start);
            let in_cell = after.checked_sub(1).is_some_and(|at| range.start < cells[at].end);
            if in_cell {
                return Claim::Open;
            }
            Claim::Is(Class::kept(Reason::Output, lines.line(range.start)))
        });
        Some((claims.collect(), definitions))
    }

    /// The claims about the Python cells, by offsets in the file.
    fn python(
        &self,
        code: &str,
        lines: &TextLines<'_>,
        source: &pysyntax::notebook::source::Source,
    ) -> CellClaims {
        let (found, _) = tokens::find(code, self.tokens.len());
        let context = python::Context {
            cell: true,
            project: Some(self.project),
            ..python::Context::alone(self.options)
        };
        let plan = FilePlan::default();
        let subject =
            Subject { text: code, tokens: &found, plan: &plan, written: false, test: false };
        let Ok(mut explained) = explain(&subject, &context) else {
            return CellClaims::default();
        };
        let places = TextLines::of(code);
        let at = |line: u32| {
            let line = places.number(line)?;
            let offset = line.as_ptr().addr().checked_sub(code.as_ptr().addr())?;
            Some(lines.line(source.point(offset)?))
        };
        let mut claims = Vec::new();
        for (token, mut claim) in found.iter().zip(explained.claims) {
            if let Claim::Is(Class::Kept { witness: super::entry::Witness::Line(line), .. }) =
                &mut claim
            {
                *line = at(*line).unwrap_or(1);
            }
            if let Some(place) = source.places(&token.range()).and_then(|all| all.first().cloned())
            {
                claims.push((place.start, claim));
            }
        }
        claims.sort_by_key(|(start, _)| *start);
        for definition in &mut explained.definitions {
            definition.line = at(definition.line).unwrap_or(1);
        }
        (claims, explained.definitions)
    }
}
