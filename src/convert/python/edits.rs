//! The plan of a file with its guards: no edit and no report if the file already handles NPUs or a
//! comment exempts the place.

use std::ops::Range;

use foldhash::HashSet;
use ruff_python_ast::{Expr, Stmt};
use ruff_text_size::{Ranged as _, TextRange, TextSize};

use super::Context;
use super::imports::ImportNeeds;
use super::literal::{self, span};
use super::npu_branches;
use super::roles::{Role, Want};
use crate::rules::{Place, Rule, Rules};
use crate::site::{Certainty, Planner};

/// The plan of a file with its guards.
pub(super) struct Edits<'a> {
    pub planner: Planner<'a>,
    /// Imports of torch_npu that the edits need.
    pub needs: ImportNeeds,
    kept: Vec<TextRange>,
    /// Start offsets of values that a library spells differently.
    pub(super) other_words: HashSet<usize>,
}

impl<'a> Edits<'a> {
    /// Creates an empty plan; `lines` are the ranges that comments keep.
    pub(super) fn new(
        text: &'a str,
        context: &Context<'a>,
        body: &[Stmt],
        lines: Vec<TextRange>,
    ) -> Self {
        let kept = npu_branches::merge_ranges(npu_branches::find_kept_ranges(body, text));
        let mut planner = Planner::of(text, context.options, context.project);
        let lines = npu_branches::merge_ranges(lines);
        planner.keep_lines(lines.into_iter().map(span).collect());
        Self { planner, needs: ImportNeeds::default(), kept, other_words: HashSet::default() }
    }

    /// Whether a range stays unchanged.
    pub(super) fn is_kept(&self, range: &Range<usize>) -> bool {
        let at = |offset: usize| TextSize::try_from(offset).unwrap_or_default();
        npu_branches::covers(&self.kept, at(range.start), at(range.end))
    }

    /// Replaces `range`, unless it is kept or another edit touches it. Returns whether it is
    /// replaced.
    pub(super) fn change(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        text: impl Into<String>,
        certainty: Certainty,
    ) -> bool {
        !self.is_kept(&range)
            && !self.planner.touched(&range)
            && self.planner.change(rule, range, text, certainty)
    }

    /// Replaces `range` as a part of a change that was made.
    pub(super) fn change_also(&mut self, range: &Range<usize>, text: &str) {
        if !self.is_kept(range) && !self.planner.touched(range) {
            self.planner.edit(range.clone(), text);
        }
    }

    /// Replaces the word `from` in the texts of a string.
    pub(super) fn change_words(
        &mut self,
        rule: &'static Rule,
        string: &Expr,
        (from, to): (&str, &'static str),
        certainty: Certainty,
    ) {
        for range in literal::texts(string) {
            for (part, to) in literal::words(self.planner.text, range, from, to) {
                self.change(rule, part, to, certainty);
            }
        }
    }

    /// Reports that `range` needs manual work.
    pub(super) fn flag(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        detail: Option<String>,
    ) {
        if !self.is_kept(&range) {
            self.planner.flag(rule, range, detail);
        }
    }

    /// Reports `range` as information.
    pub(super) fn note(
        &mut self,
        rule: &'static Rule,
        range: Range<usize>,
        detail: Option<String>,
    ) {
        if !self.is_kept(&range) {
            self.planner.note(rule, range, detail);
        }
    }

    /// Reports that `range` needs manual work, by the rule of a place.
    pub(super) fn flag_site(&mut self, site: Place, range: TextRange) {
        self.flag(Rules::builtin().site(site), span(range), None);
    }

    /// Leaves `range` unchanged from here on.
    pub(super) fn keep(&mut self, range: TextRange) {
        self.kept.push(range);
        self.kept = npu_branches::merge_ranges(std::mem::take(&mut self.kept));
    }

    /// Leaves many ranges unchanged from here on.
    pub(super) fn keep_all(&mut self, ranges: impl Iterator<Item = TextRange>) {
        self.kept.extend(ranges);
        self.kept = npu_branches::merge_ranges(std::mem::take(&mut self.kept));
    }

    /// Rewrites a string that is a device or backend.
    pub(super) fn rewrite_text(&mut self, expr: &Expr, role: Role, certainty: Certainty) {
        if let Some(parameter) = role.parameter {
            self.settle_value(expr, parameter);
            return;
        }
        let parts = match role.want {
            Want::Device => literal::device(self.planner.text, expr),
            Want::Backend => literal::backend(self.planner.text, expr),
            Want::Location | Want::Variable | Want::Parameter => Vec::new(),
        };
        if let Some((range, _)) =
            parts.iter().find(|(range, _)| self.other_words.contains(&range.start))
        {
            // Another library spells the same value differently.
            self.flag(Rules::builtin().site(role.site), range.clone(), None);
            return;
        }
        let site = match (role.want, literal::leading(expr)) {
            (Want::Device, Some(Expr::FString(_))) => Place::DeviceFstring,
            (Want::Device, Some(_)) if !expr.is_string_literal_expr() => Place::DeviceConcatenation,
            (Want::Backend, _) if parts.len() > 1 => Place::BackendPerDevice,
            _ => role.site,
        };
        let rule = Rules::builtin().site(site);
        for (range, text) in parts {
            self.change(rule, range, text, certainty);
        }
    }

    /// `"CUDA out of memory" in str(error)`: the message of torch_npu contains NPU instead. Other
    /// CUDA error texts have no counterpart.
    pub(super) fn error_text(&mut self, expr: &Expr) {
        for range in literal::texts(expr) {
            let text = &self.planner.text[range.clone()];
            if text.to_ascii_lowercase().contains("cuda out of memory") {
                let rule = Rules::builtin().site(Place::OutOfMemoryText);
                let both = [("CUDA", "NPU"), ("cuda", "npu")];
                for (from, to) in both {
                    for (part, to) in literal::words(self.planner.text, range.clone(), from, to) {
                        self.change(rule, part, to, Certainty::Exact);
                    }
                }
            } else if ["CUDA error", "CUBLAS", "cuDNN error", "CUDNN_"]
                .iter()
                .any(|one| text.contains(one))
            {
                self.flag(Rules::builtin().site(Place::CudaErrorText), span(expr.range()), None);
            }
        }
    }
}
