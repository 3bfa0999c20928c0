//! Environment variables that a program reads and sets.

use std::ops::Range;

use foldhash::HashSet;
use ruff_python_ast::{Expr, Identifier};
use ruff_text_size::{Ranged as _, TextRange};

use super::edits::Edits;
use super::literal::{self, span};
use crate::environment::{EnvDecision, assignment};
use crate::site::{Certainty, Decision};

/// Environment variables that a program reads and sets.
#[derive(Debug, Default)]
pub(super) struct EnvironmentNames {
    /// The strings that were planned; each is planned only once.
    planned: HashSet<TextRange>,
}

impl EnvironmentNames {
    /// Plans a string that names an environment variable; `value` is given if this place sets it.
    pub(super) fn plan_name(&mut self, edits: &mut Edits<'_>, name: &Expr, value: Option<&Expr>) {
        let Some(text) = literal::plain(name) else { return };
        let Some(decision) = assignment(text, value.and_then(literal::plain)) else { return };
        if !self.planned.insert(name.range()) {
            return;
        }
        if let Some(new) = decision.new_name {
            for range in literal::texts(name) {
                if &edits.planner.text[range.clone()] == text {
                    edits.change(decision.rule, range, new, Certainty::Exact);
                }
            }
        }
        plan_value(edits, &decision, value);
        let place = span(name.range());
        report_issues(edits, decision, place);
    }
}

/// Plans a keyword that names a variable: `dict(os.environ, CUDA_VISIBLE_DEVICES='0')`.
pub(super) fn plan_keyword(edits: &mut Edits<'_>, name: &Identifier, value: &Expr) {
    let Some(decision) = assignment(name.as_str(), literal::plain(value)) else { return };
    let place = span(name.range());
    if let Some(new) = decision.new_name {
        edits.change(decision.rule, place.clone(), new, Certainty::Exact);
    }
    plan_value(edits, &decision, Some(value));
    report_issues(edits, decision, place);
}

fn plan_value(edits: &mut Edits<'_>, decision: &EnvDecision, value: Option<&Expr>) {
    if let (Some(new), Some(value)) = (&decision.new_value, value)
        && let [range] = literal::texts(value).as_slice()
    {
        edits.change(decision.rule, range.clone(), new.clone(), Certainty::Exact);
    }
}

fn report_issues(edits: &mut Edits<'_>, decision: EnvDecision, place: Range<usize>) {
    for issue in decision.issues {
        if issue.decision == Decision::Flagged {
            edits.flag(issue.rule, place.clone(), issue.detail);
        } else {
            edits.note(issue.rule, place.clone(), issue.detail);
        }
    }
}
