//! What becomes of the strings whose role neither their place nor the flow of values tells.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged as _;

use super::engine::{Candidate, Engine, Hint};
use super::literal::{self, span};
use super::names::{cuda_device, nccl_backend};
use super::roles::Role;
use crate::messages;
use crate::rules::{Action, Match, Place};
use crate::shell;
use crate::site::{Certainty, Planner};

impl<'a> Engine<'a> {
    pub(super) fn settle_candidates(&mut self) {
        for candidate in std::mem::take(&mut self.candidates) {
            if self.is_kept(&span(candidate.expr.range())) {
                continue;
            }
            if candidate.hint == Hint::Words {
                if self.context.options.messages {
                    self.message(candidate.expr);
                }
                continue;
            }
            // What interpolations hold is decided on its own; the texts are not, yet.
            let texts = literal::leading(candidate.expr).map(literal::texts).unwrap_or_default();
            if !texts.iter().any(|range| self.planner.touched(range)) {
                self.settle(candidate);
            }
        }
    }

    fn settle(&mut self, Candidate { expr, hint }: Candidate<'a>) {
        let Some(text) = literal::leading(expr) else { return };
        if let Some(whole) = literal::plain(text) {
            if self.known_word(expr, whole) {
                return;
            }
            if let Some(kind) = whole.strip_prefix("torch.cuda.")
                && kind.ends_with("Tensor")
                && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
            {
                let rule = self.rules.site(Place::TensorTypeString);
                for range in literal::texts(text) {
                    for (part, to) in literal::words(self.text, range, "cuda", "npu") {
                        self.change(rule, part, to, Certainty::Exact);
                    }
                }
                return;
            }
        }
        if literal::holds(text, |text| text.contains("nvidia-smi")) {
            let command = literal::texts(text).first().is_some_and(|range| {
                let text = self.text[range.clone()].trim_start();
                text.starts_with("nvidia-smi") || text.contains("nvidia-smi ")
            });
            if command {
                self.flag_site(Place::NvidiaSmiCommand, expr.range());
            }
            return;
        }
        if self.command(expr, hint) {
            return;
        }
        let whole = literal::plain(text);
        let device = match hint {
            Hint::Any => whole.map_or_else(|| literal::device_with_index(expr), cuda_device),
            Hint::Quiet | Hint::Among => literal::device_with_index(expr),
            Hint::Key | Hint::Words => false,
        };
        let sure_word = whole.is_some_and(|word| word != "CUDA" && word != "NCCL");
        if device && (sure_word || whole.is_none()) {
            self.rewrite_text(expr, Role::device(Place::DeviceString), Certainty::Likely);
        } else if matches!(hint, Hint::Any | Hint::Quiet)
            && sure_word
            && whole.is_some_and(nccl_backend)
        {
            self.rewrite_text(expr, Role::backend(Place::BackendString), Certainty::Likely);
        }
    }

    /// `'CUDA_VISIBLE_DEVICES=0 python train.py --device cuda'`: a command of the shell.
    fn command(&mut self, expr: &'a Expr, hint: Hint) -> bool {
        if !matches!(hint, Hint::Any | Hint::Quiet | Hint::Among) {
            return false;
        }
        let mut is_one = false;
        for range in literal::leading(expr).map(literal::texts).unwrap_or_default() {
            let text = &self.text[range.clone()];
            let command = text.trim_start();
            if command == "nvcc" || command.ends_with("/nvcc") || command.starts_with("nvcc ") {
                self.flag_site(Place::ShellCudaTool, expr.range());
                is_one = true;
            } else if shell::is_command(text, self.context.project) {
                let mut part = Planner::of(text, self.context.options, self.context.project);
                if shell::plan_part(&mut part, text, 0).is_ok() {
                    self.planner.enter(part.finish(), range.start);
                    is_one = true;
                }
            }
        }
        is_one
    }

    /// Providers of onnxruntime and names of packages are what they are wherever they stand.
    fn known_word(&mut self, expr: &'a Expr, whole: &str) -> bool {
        let rule = self.rule(Match::Provider, whole).or_else(|| {
            self.rule(Match::Package, whole).filter(|rule| rule.action == Action::Rewrite)
        });
        let Some(rule) = rule else { return false };
        match (rule.to, rule.action) {
            (Some(to), Action::Rewrite) => {
                for range in literal::texts(expr) {
                    if &self.text[range.clone()] == whole {
                        self.change(rule, range, to, Certainty::Exact);
                    }
                }
            }
            _ => self.flag(rule, span(expr.range()), None),
        }
        true
    }

    /// `--also messages`.
    fn message(&mut self, expr: &'a Expr) {
        let rule = self.rules.site(Place::MessageWords);
        for range in literal::texts(expr) {
            for (part, to) in messages::parts(self.text, &range) {
                self.change(rule, part, to, Certainty::Likely);
            }
        }
    }
}
