//! Decides about the strings whose role follows neither from their place nor from the flow of
//! values.

use ruff_python_ast::Expr;
use ruff_text_size::Ranged as _;

use super::edits::Edits;
use super::literal::{self, span};
use super::names::{cuda_device, nccl_backend};
use super::roles::Role;
use super::source::Source;
use super::string_candidate::{Candidate, Hint};
use crate::messages;
use crate::rules::{Action, Match, Place, Rules};
use crate::shell;
use crate::site::{Certainty, Planner};

/// The decisions about candidates, after the flow of values is complete.
pub(super) struct Settlement<'e, 'a> {
    pub source: &'e Source<'a>,
    pub edits: &'e mut Edits<'a>,
}

impl Settlement<'_, '_> {
    /// Decides about the candidates in the order of the walk.
    pub(super) fn settle_all(&mut self, candidates: Vec<Candidate<'_>>) {
        for candidate in candidates {
            if self.edits.is_kept(&span(candidate.expr.range())) {
                continue;
            }
            if literal::leading(candidate.expr)
                .is_some_and(|text| literal::holds(text, is_library_file))
            {
                self.edits.flag_site(Place::CudaLibraryFile, candidate.expr.range());
                continue;
            }
            if candidate.hint == Hint::Words {
                if self.source.context.options.messages {
                    self.message(candidate.expr);
                }
                continue;
            }
            // Values inside interpolations are decided separately; the texts are still open.
            let texts = literal::leading(candidate.expr).map(literal::texts).unwrap_or_default();
            if !texts.iter().any(|range| self.edits.planner.touched(range)) {
                self.settle(candidate);
            }
        }
    }

    fn settle(&mut self, Candidate { expr, hint }: Candidate<'_>) {
        let Some(text) = literal::leading(expr) else { return };
        if let Some(whole) = literal::plain(text) {
            if self.known_word(expr, whole) {
                return;
            }
            if let Some(kind) = whole.strip_prefix("torch.cuda.")
                && kind.ends_with("Tensor")
                && kind.bytes().all(|byte| byte.is_ascii_alphanumeric())
            {
                let rule = Rules::builtin().site(Place::TensorTypeString);
                self.edits.change_words(rule, text, ("cuda", "npu"), Certainty::Exact);
                return;
            }
        }
        if self.source.is_build_script() && literal::holds(text, |text| text.contains("/whl/cu")) {
            self.edits.flag_site(Place::RequirementsCudaWheel, text.range());
            return;
        }
        if literal::holds(text, |text| text.starts_with("aten::cudnn")) {
            self.edits.flag_site(Place::CudaOperator, text.range());
            return;
        }
        if literal::holds(text, is_kernel_source) {
            self.edits.flag_site(Place::CudaSource, text.range());
            return;
        }
        if literal::holds(text, |text| text.contains("nvidia-smi")) {
            let command = literal::texts(text).first().is_some_and(|range| {
                let text = self.source.text[range.clone()].trim_start();
                text.starts_with("nvidia-smi") || text.contains("nvidia-smi ")
            });
            if command {
                self.edits.flag_site(Place::NvidiaSmiCommand, expr.range());
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
        // The bare word is weak evidence.
        if whole.is_some_and(is_bare_word) && !self.source.imports.may_hold_devices() {
            return;
        }
        if device && (sure_word || whole.is_none()) {
            self.edits.rewrite_text(expr, Role::device(Place::DeviceString), Certainty::Likely);
        } else if hint == Hint::Any && sure_word && whole.is_some_and(nccl_backend) {
            self.edits.rewrite_text(expr, Role::backend(Place::BackendString), Certainty::Likely);
        }
    }

    /// Plans a shell command: `'CUDA_VISIBLE_DEVICES=0 python train.py --device cuda'`.
    fn command(&mut self, expr: &Expr, hint: Hint) -> bool {
        if !matches!(hint, Hint::Any | Hint::Quiet | Hint::Among) {
            return false;
        }
        let mut is_one = false;
        for range in literal::leading(expr).map(literal::texts).unwrap_or_default() {
            let text = &self.source.text[range.clone()];
            let command = text.trim_start();
            if command == "nvcc" || command.ends_with("/nvcc") || command.starts_with("nvcc ") {
                self.edits.flag_site(Place::ShellCudaTool, expr.range());
                is_one = true;
            } else if shell::is_command(text, self.source.context.project) {
                let mut part =
                    Planner::of(text, self.source.context.options, self.source.context.project);
                if shell::plan_part(&mut part, text, 0).is_ok() {
                    self.edits.planner.enter(part.finish(), range.start);
                    is_one = true;
                }
            }
        }
        is_one
    }

    /// Plans providers of onnxruntime and names of packages, which have the same meaning at every
    /// place.
    fn known_word(&mut self, expr: &Expr, whole: &str) -> bool {
        let rules = Rules::builtin();
        let rule = rules.find(Match::Provider, whole).or_else(|| {
            let rule = rules.find(Match::Package, whole);
            rule.filter(|rule| rule.action == Action::Rewrite || self.source.is_build_script())
        });
        let Some(rule) = rule else {
            // `onnxruntime-gpu<=1.13.1`: the matching version is unknown.
            let name =
                whole.split(['<', '>', '=', '!', '~', '[', ';', ' ']).next().unwrap_or_default();
            let rule = rules.find(Match::Package, name).filter(|_| name.len() < whole.len());
            if let Some(rule) = rule.filter(|_| self.source.is_build_script()) {
                self.edits.flag(rule, span(expr.range()), None);
                return true;
            }
            return false;
        };
        match (rule.to, rule.action) {
            (Some(to), Action::Rewrite) => {
                for range in literal::texts(expr) {
                    if &self.source.text[range.clone()] == whole {
                        self.edits.change(rule, range, to, Certainty::Exact);
                    }
                }
            }
            _ => self.edits.flag(rule, span(expr.range()), None),
        }
        true
    }

    /// `--also messages`.
    fn message(&mut self, expr: &Expr) {
        let rule = Rules::builtin().site(Place::MessageWords);
        for range in literal::texts(expr) {
            for (part, to) in messages::parts(self.source.text, &range) {
                self.edits.change(rule, part, to, Certainty::Likely);
            }
        }
    }
}

/// Whether a text is a word that can mean something other than a device or backend, unlike
/// `cuda:0`.
fn is_bare_word(text: &str) -> bool {
    !text.contains(':')
}

/// Whether a text is CUDA source code that the program compiles.
fn is_kernel_source(text: &str) -> bool {
    text.contains("__global__") && text.contains('{')
}

/// Whether a text names the file of a CUDA library: `libcudnn.so.8`, `cudart64_*.dll`.
fn is_library_file(text: &str) -> bool {
    let name = text.rsplit(['/', '\\']).next().unwrap_or(text);
    let name = name.strip_prefix("lib").unwrap_or(name);
    let name = name.trim_start_matches(['.', '*']);
    let is_file = [".so", ".dll", ".dylib", ".a"].iter().any(|ending| name.contains(ending));
    let library =
        ["cudart", "cudnn", "cublas", "cufft", "curand", "cusparse", "nvrtc", "nccl", "cuda."];
    text.contains("cuda/lib") || is_file && library.iter().any(|one| name.starts_with(one))
}
