//! Records operators, references and hints while a source is walked.

use ruff_python_ast::{Expr, ExprCall};
use ruff_text_size::TextSize;

use super::api::{self, ApiOperator, Method, OperatorSet};
use super::facts::{ApiAt, Facts, Role, UseAt, WrittenAt};
use super::facts_builder::FactsBuilder;
use super::line_index::LineIndex;
use crate::source_notes::{Hint, HintKind, Suggestion};

/// The facts of a source, with the conditions under which the walked code runs.
pub(super) struct Recorder<'a, 's> {
    lines: &'s LineIndex<'a>,
    facts: FactsBuilder,
    /// The role of the current code.
    pub(super) role: Role,
    /// Whether the current code may never run.
    pub(super) unsure: bool,
    /// The method whose name is the only evidence for the recorded operators.
    pub(super) method: Option<Method>,
    /// Whether method calls on values of unknown kind are recorded.
    unknown_calls: bool,
}

impl<'a, 's> Recorder<'a, 's> {
    /// Returns a recorder whose first piece is the module itself.
    pub(super) fn new(lines: &'s LineIndex<'a>, unknown_calls: bool) -> Self {
        let mut facts = FactsBuilder::default();
        facts.begin(&[""]);
        Self { lines, facts, role: Role::Run, unsure: false, method: None, unknown_calls }
    }

    /// Returns all facts, packed and in order.
    pub(super) fn finish(self) -> Facts {
        self.facts.settle()
    }

    /// Begins a piece and returns the number of the enclosing piece.
    pub(super) fn begin_piece(&mut self, name: &[&str]) -> u32 {
        self.facts.begin(name)
    }

    /// Continues a piece.
    pub(super) fn continue_piece(&mut self, piece: u32) {
        self.facts.go_back(piece);
    }

    /// Records a call of an API with limits in the torch_npu documents.
    pub(super) fn limited_api(&mut self, found: ApiAt) {
        self.facts.api(found);
    }

    /// Returns the suggestions of the current piece.
    pub(super) fn suggested(&self) -> impl Iterator<Item = &Suggestion> {
        self.facts.suggested()
    }

    /// Records a suggestion.
    pub(super) fn suggests(&mut self, suggestion: Suggestion) {
        self.facts.suggests(suggestion);
    }

    pub(super) fn line(&self, at: TextSize) -> u32 {
        self.lines.of(at.to_usize())
    }

    /// Records the operators that an API calls.
    pub(super) fn uses(&mut self, reach: OperatorSet, at: TextSize, maybe: bool) {
        self.facts.uses(UseAt {
            reach,
            method: self.method,
            line: self.line(at),
            maybe: maybe || self.unsure,
            backward: false,
            role: self.role,
        });
    }

    /// Records the in-place variants of the operators of an API, which the caller may request.
    pub(super) fn may_use_in_place(&mut self, reach: OperatorSet, at: TextSize) {
        for found in reach.operators().filter_map(api::in_place) {
            self.uses(found, at, true);
        }
    }

    pub(super) fn hint(&mut self, kind: HintKind, name: &str, at: TextSize) {
        let hint = Hint { kind, name: name.to_owned(), line: self.line(at) };
        self.facts.hint(hint);
    }

    /// Records a call of a dotted name.
    pub(super) fn refers(&mut self, path: &str) {
        self.facts.refers(false, path, self.role);
    }

    /// Records a call of a name of the file itself.
    pub(super) fn refers_own(&mut self, name: &str) {
        self.facts.refers(true, name, self.role);
    }

    /// Records a method call on a value of unknown kind.
    pub(super) fn calls_unknown(&mut self, name: &str) {
        if self.unknown_calls {
            self.facts.calls(name);
        }
    }

    /// Records a reference to a dotted name without a call.
    pub(super) fn mentions(&mut self, path: &str) {
        self.facts.refers(false, path, self.role.max(Role::Named));
    }

    /// Records a reference to a name of the file itself without a call.
    pub(super) fn mentions_own(&mut self, name: &str) {
        self.facts.refers(true, name, self.role.max(Role::Named));
    }

    /// Records the operators that a language operator calls.
    pub(super) fn operator(&mut self, name: &str, at: TextSize, maybe: bool) {
        if let Some(reach) = api::operator(name) {
            self.uses(reach, at, maybe);
        }
    }

    /// Records the operators that an API calls, with their in-place variants if the call requests
    /// them.
    pub(super) fn uses_of_call(&mut self, reach: OperatorSet, call: &ExprCall, at: TextSize) {
        let in_place = call.arguments.find_keyword("inplace").map(|keyword| &keyword.value);
        match in_place {
            None
            | Some(Expr::BooleanLiteral(ruff_python_ast::ExprBooleanLiteral {
                value: false,
                ..
            })) => {
                self.uses(reach, at, false);
            }
            Some(value) => {
                let sure = value.is_boolean_literal_expr();
                for called in reach.operators() {
                    let in_place = api::in_place(called);
                    if let Some(found) = in_place {
                        self.uses(found, at, called.maybe || !sure);
                    }
                    if in_place.is_none() || !sure {
                        self.used(called, at, in_place.is_some());
                    }
                }
            }
        }
    }

    /// Records one of the operators that an API calls.
    pub(super) fn used(&mut self, called: ApiOperator, at: TextSize, maybe: bool) {
        self.facts.uses(UseAt {
            reach: called.alone(),
            method: self.method,
            line: self.line(at),
            maybe: maybe || called.maybe || self.unsure,
            backward: called.backward,
            role: self.role,
        });
    }

    /// Records an operator that is called by its full name: `aten.mm.default`, `npu.npu_swiglu`.
    pub(super) fn custom(&mut self, rest: &str, at: TextSize) {
        let mut parts = rest.split('.');
        let (Some(space), Some(name)) = (parts.next(), parts.next()) else { return };
        let text = format!(
            "{space}::{name}{}",
            parts.next().map_or_else(String::new, |one| format!(".{one}"))
        );
        if let Some(op) = crate::model::Op::parse(&text, false) {
            let (line, role, maybe) = (self.line(at), self.role, self.unsure);
            self.facts.written(WrittenAt { op, line, maybe, role });
        }
    }
}
