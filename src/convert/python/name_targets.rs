//! Dotted names of torch: the action for `torch.cuda.amp.autocast` and all other names in the
//! rules.

use super::Context;
use super::names::canonical;
use crate::rules::{Action, Match, Place, Rule, Rules};
use pysyntax::scope::parts;

/// Action for a dotted name.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// Its first `parts` parts become `to`.
    Rewrite { rule: &'static Rule, parts: usize, to: String },
    /// It stays and needs manual work; the first `parts` parts are reported.
    Flag { rule: &'static Rule, parts: usize },
    /// It stays; the first `parts` parts are reported as information.
    Note { rule: &'static Rule, parts: usize },
    /// It stays.
    Keep,
}

/// Returns the action of the rules for `path`.
pub(super) fn target(path: &str, context: &Context<'_>) -> Target {
    if !Rules::builtin().knows_root(path) {
        return Target::Keep;
    }
    let public = canonical(path);
    match look_up(path, context) {
        Target::Keep if public != path => match look_up(&public, context) {
            // Both names end with the same last part.
            Target::Rewrite { rule, to, .. } => {
                let last = to.rsplit('.').next().unwrap_or(&to);
                let stem = path.rsplit_once('.').map_or("", |(stem, _)| stem);
                let to = format!("{stem}.{last}");
                Target::Rewrite { rule, parts: parts(path), to }
            }
            Target::Flag { rule, .. } => Target::Flag { rule, parts: parts(path) },
            Target::Note { rule, .. } => Target::Note { rule, parts: parts(path) },
            Target::Keep => Target::Keep,
        },
        found => found,
    }
}

fn look_up(path: &str, context: &Context<'_>) -> Target {
    let rules = Rules::builtin();
    let mut end = path.len();
    loop {
        let prefix = &path[..end];
        if let Some(rule) = rules.find(Match::Api, prefix) {
            let parts = parts(prefix);
            return match (rule.action, rule.to) {
                (Action::Rewrite, Some(to)) if context.has(rule) => {
                    Target::Rewrite { rule, parts, to: to.to_owned() }
                }
                (Action::Rewrite | Action::Remove | Action::Flag, _) => {
                    Target::Flag { rule, parts }
                }
                (Action::Note, _) => Target::Note { rule, parts },
                (Action::Keep | Action::Insert, _) => Target::Keep,
            };
        }
        if prefix == "torch.cuda" {
            // The module itself, or a name of it without a rule.
            return if path == prefix {
                let rule = rules.site(Place::FromTorchImportCuda);
                Target::Rewrite { rule, parts: 2, to: "torch.npu".to_owned() }
            } else {
                let rule = rules.site(Place::UnknownCudaName);
                Target::Flag { rule, parts: parts(path).min(3) }
            };
        }
        match prefix.rfind('.') {
            Some(dot) => end = dot,
            None => return Target::Keep,
        }
    }
}

/// Whether `path` is a name of another package that refers to CUDA or GPUs, without a rule:
/// `spacy.require_gpu`, `faiss.index_cpu_to_gpu`.
pub(super) fn is_foreign(path: &str, context: &Context<'_>) -> bool {
    let Some((root, inner)) = path.split_once('.') else { return false };
    let last = inner.rsplit('.').next().unwrap_or(inner).to_ascii_lowercase();
    let rules = Rules::builtin();
    let known = || {
        let mut end = path.len();
        loop {
            let prefix = &path[..end];
            let named =
                [Match::Api, Match::Library].iter().any(|how| rules.find(*how, prefix).is_some());
            if named || rules.has_function(prefix) {
                return true;
            }
            match prefix.rfind('.') {
                Some(dot) => end = dot,
                None => return false,
            }
        }
    };
    (last.contains("cuda") || last.contains("gpu"))
        && !root.is_empty()
        // Without a tree it is unknown which packages belong to the project.
        && context.project.is_some()
        // TVM generates code for other machines too.
        && !matches!(root, "torch" | "torch_npu" | "pytest" | "unittest" | "tvm")
        && !context.is_own_package(root)
        && !known()
}

/// Returns `path` as an attribute of torch: `torch_npu.npu` and `torch.npu` are one module.
pub(super) fn as_attribute(path: &str) -> String {
    match path.strip_prefix("torch_npu.npu") {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("torch.npu{rest}"),
        _ => path.to_owned(),
    }
}

/// The dotted name on an NPU host of an object that is imported as `path`; `None` if it stays.
pub(super) fn moved(path: &str, context: &Context<'_>) -> Option<String> {
    match target(path, context) {
        Target::Rewrite { parts, to, .. } => {
            let rest: Vec<&str> = path.split('.').skip(parts).collect();
            let whole = if rest.is_empty() { to } else { format!("{to}.{}", rest.join(".")) };
            Some(match whole.strip_prefix("torch.npu") {
                // `from torch.npu.amp import …` would load the module a second time.
                Some(rest) => format!("torch_npu.npu{rest}"),
                None => whole,
            })
        }
        _ => None,
    }
}
