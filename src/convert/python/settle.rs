//! What becomes of the strings whose role neither their place nor the flow of values tells.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged as _;

use super::engine::{Candidate, Engine, Hint};
use super::literal::{self, span};
use super::names::{cuda_device, nccl_backend};
use super::roles::Role;
use crate::convert::rules::{Action, Match, Place};
use crate::convert::site::Certainty;

/// The words that `--also messages` changes.
const MESSAGE_WORDS: &[(&str, &str)] =
    &[("cuda", "npu"), ("CUDA", "NPU"), ("Cuda", "Npu"), ("nccl", "hccl"), ("NCCL", "HCCL")];

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
        if literal::holds(text, &["nvidia-smi"]) {
            let command = literal::texts(text).first().is_some_and(|range| {
                let text = self.text[range.clone()].trim_start();
                text.starts_with("nvidia-smi") || text.contains("nvidia-smi ")
            });
            if command {
                self.flag_site(Place::NvidiaSmiCommand, expr.range());
            }
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

    /// Providers of onnxruntime and names of packages are what they are wherever they stand.
    fn known_word(&mut self, expr: &'a Expr, whole: &str) -> bool {
        let rule = self.rule(Match::Provider, whole).or_else(|| {
            self.rule(Match::Package, whole).filter(|rule| rule.action == Action::Rewrite)
        });
        let Some(rule) = rule else { return false };
        match (&rule.to, rule.action) {
            (Some(to), Action::Rewrite) => {
                for range in literal::texts(expr) {
                    if &self.text[range.clone()] == whole {
                        self.change(rule, range, to.as_str(), Certainty::Exact);
                    }
                }
            }
            _ => self.flag(rule, span(expr.range()), None),
        }
        true
    }

    /// `--also messages`: the words of a message, but no file names and URLs.
    fn message(&mut self, expr: &'a Expr) {
        let rule = self.rules.site(Place::MessageWords);
        for range in literal::texts(expr) {
            for (from, to) in MESSAGE_WORDS {
                for (part, to) in literal::words(self.text, range.clone(), from, to) {
                    let before = self.text[..part.start].bytes().last();
                    let after = self.text.as_bytes().get(part.end).copied();
                    let path = |byte: Option<u8>| matches!(byte, Some(b'/' | b'.' | b'-' | b'_'));
                    let ends = after == Some(b'.')
                        && !self.text[part.end + 1..]
                            .starts_with(|next: char| next.is_alphanumeric());
                    if !path(before) && (ends || !path(after)) {
                        self.change(rule, part, to, Certainty::Likely);
                    }
                }
            }
        }
    }
}
