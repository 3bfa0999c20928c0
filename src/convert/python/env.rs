//! Environment variables that a program reads and sets.

use ruff_python_ast::{Expr, ExprSubscript, Identifier};
use ruff_text_size::Ranged as _;

use super::engine::Engine;
use super::literal::{self, span};
use super::roles::Role;
use crate::environment::{EnvDecision, assignment};
use crate::rules::{Match, Rule};
use crate::site::{Certainty, Decision};

impl<'a> Engine<'a> {
    /// `target = value` where the target is `os.environ['…']`.
    pub(super) fn environment_assignment(&mut self, target: &'a Expr, value: &'a Expr) {
        if let Expr::Subscript(subscript) = target
            && literal::plain(&subscript.slice)
                .is_some_and(|name| self.rule(Match::Env, name).is_some())
        {
            self.environment_name(&subscript.slice, Some(value));
        }
    }

    /// `os.environ[key]`: what `key` was given names variables.
    pub(super) fn environment_key(&mut self, subscript: &'a ExprSubscript) {
        let is_environment =
            self.scopes.path(&subscript.value, self.scope).is_some_and(|path| path == "os.environ");
        if is_environment {
            self.spread(&subscript.slice, Role::VARIABLE);
        }
    }

    /// A string that names an environment variable, and what that is set to, if it is set here.
    pub(super) fn environment_name(&mut self, name: &'a Expr, value: Option<&'a Expr>) {
        let Some(text) = literal::plain(name) else { return };
        let Some(decision) = assignment(text, value.and_then(literal::plain)) else { return };
        if !self.first_environment(name) {
            return;
        }
        if let Some(new) = decision.new_name {
            for range in literal::texts(name) {
                if &self.text[range.clone()] == text {
                    self.change(decision.rule, range, new, Certainty::Exact);
                }
            }
        }
        self.environment_value(&decision, value);
        let place = span(name.range());
        self.environment_issues(decision, place);
    }

    /// `dict(os.environ, CUDA_VISIBLE_DEVICES='0')`.
    pub(super) fn environment_keyword(
        &mut self,
        _rule: &'static Rule,
        name: &'a Identifier,
        value: &'a Expr,
    ) {
        let Some(decision) = assignment(name.as_str(), literal::plain(value)) else { return };
        let place = span(name.range());
        if let Some(new) = decision.new_name {
            self.change(decision.rule, place.clone(), new, Certainty::Exact);
        }
        self.environment_value(&decision, Some(value));
        self.environment_issues(decision, place);
    }

    fn environment_value(&mut self, decision: &EnvDecision, value: Option<&'a Expr>) {
        if let (Some(new), Some(value)) = (&decision.new_value, value)
            && let [range] = literal::texts(value).as_slice()
        {
            self.change(decision.rule, range.clone(), new.clone(), Certainty::Exact);
        }
    }

    fn environment_issues(&mut self, decision: EnvDecision, place: std::ops::Range<usize>) {
        for issue in decision.issues {
            if issue.decision == Decision::Flagged {
                self.flag(issue.rule, place.clone(), issue.detail);
            } else {
                self.note(issue.rule, place.clone(), issue.detail);
            }
        }
    }
}
