//! Dotted names of torch: what becomes of `torch.cuda.amp.autocast` and of all others that the
//! rules know.

use std::ops::Range;

use ruff_python_ast::Expr;
use ruff_text_size::Ranged as _;

use super::Context;
use super::engine::Engine;
use super::literal::span;
use super::names::canonical;
use crate::rules::{Action, Class, Match, Place, Rule, Rules};
use crate::site::Certainty;
use pysyntax::scope::{Resolved, parts};

/// Libraries of operators that torch, torchvision and torchaudio bring along, or torch_npu.
const OPERATORS: &[&str] = &[
    "aten",
    "prim",
    "prims",
    "profiler",
    "quantized",
    "quantized_decomposed",
    "c10d",
    "c10d_functional",
    "_c10d_functional",
    "dtensor",
    "higher_order",
    "image",
    "inductor",
    "mkldnn",
    "mkl",
    "onednn",
    "rngprims",
    "sparse",
    "symm_mem",
    "fsdp",
    "streams",
    "tensorexpr",
    "torchaudio",
    "torchvision",
    "xnnpack",
    "prepacked",
    "debugprims",
    "loaded_libraries",
    "npu",
    "npu_inference",
];

/// What becomes of a dotted name.
#[derive(Debug, Clone)]
pub(super) enum Target {
    /// Its first `parts` parts become `to`.
    Rewrite { rule: &'static Rule, parts: usize, to: String },
    /// It stays, and a person has to act; the first `parts` parts are what is meant.
    Flag { rule: &'static Rule, parts: usize },
    /// It stays; worth knowing.
    Note { rule: &'static Rule, parts: usize },
    /// It stays.
    Keep,
}

/// What the rules say of `path`.
pub(super) fn target(path: &str, context: &Context<'_>) -> Target {
    if !Rules::builtin().knows_root(path) {
        return Target::Keep;
    }
    let public = canonical(path);
    match look_up(path, context) {
        Target::Keep if public != path => match look_up(&public, context) {
            // The same last part stands at the end of the other name.
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
                (Action::Rewrite | Action::Flag, _) => Target::Flag { rule, parts },
                (Action::Note, _) => Target::Note { rule, parts },
                (Action::Keep | Action::Insert, _) => Target::Keep,
            };
        }
        if prefix == "torch.cuda" {
            // The module itself, or a name of it that no table knows.
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

/// `torch_npu.npu` and `torch.npu` are one module.
pub(super) fn as_attribute(path: &str) -> String {
    match path.strip_prefix("torch_npu.npu") {
        Some(rest) if rest.is_empty() || rest.starts_with('.') => format!("torch.npu{rest}"),
        _ => path.to_owned(),
    }
}

/// A chain `base.a.b.c`: the range of its base and of each attribute.
struct Chain {
    base: Range<usize>,
    attributes: Vec<Range<usize>>,
}

impl Chain {
    fn of(expr: &Expr) -> Option<Self> {
        let mut attributes = Vec::new();
        let mut at = expr;
        loop {
            match at {
                Expr::Attribute(attribute) => {
                    attributes.push(span(attribute.attr.range()));
                    at = &attribute.value;
                }
                Expr::Name(name) => {
                    attributes.reverse();
                    return Some(Self { base: span(name.range()), attributes });
                }
                _ => return None,
            }
        }
    }
}

impl<'a> Engine<'a> {
    /// A name, or a chain of attributes: one of torch's, or an attribute of some object.
    pub(super) fn name_or_attribute(&mut self, expr: &'a Expr) {
        if let Some(resolved) = self.resolve(expr) {
            if self.is_of_imported_object(&resolved) {
                self.object_attribute(expr);
            }
            self.dotted(expr, &resolved);
            return;
        }
        if let Expr::Attribute(attribute) = expr {
            self.object_attribute(expr);
            self.expr(&attribute.value, super::engine::Hint::Quiet);
        }
    }

    /// `tensor.is_cuda`, `stream.cuda_stream`, `properties.major`.
    fn object_attribute(&mut self, expr: &'a Expr) {
        let Some(attribute) = expr.as_attribute_expr() else { return };
        let name = attribute.attr.as_str();
        if let Some(rule) = self.rule(Match::Attribute, name) {
            let mut own = self.own_attributes.get(name).copied().unwrap_or_default();
            // The property itself asks its parts, which are tensors and modules.
            let inside = self.functions.last().is_some_and(|(_, function)| *function == name);
            own.property &= !(inside && attribute.value.is_attribute_expr());
            if attribute.ctx.is_load()
                && !own.assigned
                && !own.property
                && let Some(to) = rule.to
            {
                let new = to.rsplit('.').next().unwrap_or(to);
                self.change(rule, span(attribute.attr.range()), new, Certainty::Likely);
            }
            return;
        }
        if matches!(name, "major" | "minor" | "multi_processor_count" | "warp_size")
            && self.is_device_properties(&attribute.value)
        {
            self.flag_site(Place::DevicePropertiesField, attribute.attr.range());
        }
    }

    fn is_device_properties(&self, expr: &Expr) -> bool {
        match expr {
            Expr::Call(call) => self
                .scopes
                .path(&call.func, self.scope)
                .is_some_and(|path| path.ends_with(".get_device_properties")),
            Expr::Name(name) => {
                self.scopes.bindings(name.id.as_str(), self.scope).is_some_and(|(_, all)| {
                    all.iter().any(|binding| match binding {
                        super::scope::Binding::Value(value) => {
                            value.is_call_expr() && self.is_device_properties(value)
                        }
                        _ => false,
                    })
                })
            }
            _ => false,
        }
    }

    /// A chain that starts at an import.
    fn dotted(&mut self, expr: &'a Expr, resolved: &Resolved) {
        let Some(chain) = Chain::of(expr) else { return };
        if let Some(name) = resolved.import.and_then(|at| self.imports.renamed(at)) {
            let name = name.to_owned();
            let rule = self.rules.site(Place::FromTorchImportCuda);
            self.change(rule, chain.base.clone(), name, Certainty::Exact);
        }
        let whole = span(expr.range());
        match target(&resolved.path, self.context) {
            Target::Rewrite { rule, parts, to } => {
                if parts > resolved.base {
                    self.rewrite_chain(rule, &chain, resolved, parts, &to);
                }
                let told =
                    chain.base.start..Self::end_of(&chain, resolved, parts).unwrap_or(whole.end);
                if returns_nothing(rule.name) {
                    self.flag(rule, told, None);
                } else if rule.class == Class::Semantics && parts > resolved.base {
                    self.note(rule, told, None);
                }
            }
            Target::Flag { rule, parts } => {
                // What an import binds is reported at the import.
                if let Some(end) = Self::end_of(&chain, resolved, parts) {
                    self.flag(rule, chain.base.start..end, Some(resolved.path.clone()));
                }
            }
            Target::Note { rule, parts } => {
                if let Some(end) = Self::end_of(&chain, resolved, parts) {
                    self.note(rule, chain.base.start..end, None);
                }
            }
            Target::Keep => self.custom_operator(&chain, resolved),
        }
    }

    /// `torch.ops.my_extension.fused_gelu`: an operator that something else than torch registers.
    fn custom_operator(&mut self, chain: &Chain, resolved: &Resolved) {
        if !resolved.path.starts_with("torch.") {
            return;
        }
        let mut parts = resolved.path.split('.');
        let (Some("torch"), Some("ops" | "classes"), Some(library), operator) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return;
        };
        let rule = self.rules.site(Place::CustomCudaOps);
        let Some(operator) = operator else {
            if library == "load_library"
                && let Some(end) = Self::end_of(chain, resolved, 3)
            {
                self.flag(rule, chain.base.start..end, None);
            }
            return;
        };
        // What is defined in Python runs where its parts run.
        let own = [format!("\"{library}::"), format!("'{library}::")]
            .iter()
            .any(|text| self.text.contains(text.as_str()));
        if own || OPERATORS.contains(&library) {
            return;
        }
        if let Some(end) = Self::end_of(chain, resolved, 4) {
            let detail = format!("{library}::{operator}");
            self.flag(rule, chain.base.start..end, Some(detail));
        }
    }

    /// Where part number `parts` of the path ends in the source; `None` if the base holds it.
    fn end_of(chain: &Chain, resolved: &Resolved, parts: usize) -> Option<usize> {
        let at = parts.checked_sub(resolved.base + 1)?;
        chain.attributes.get(at).map(|range| range.end)
    }

    fn rewrite_chain(
        &mut self,
        rule: &'static Rule,
        chain: &Chain,
        resolved: &Resolved,
        parts: usize,
        to: &str,
    ) {
        let path: Vec<&str> = resolved.path.split('.').collect();
        let old = &chain.attributes[..parts - resolved.base];
        let base = path[..resolved.base].join(".");
        let base = match target(&base, self.context) {
            Target::Rewrite { parts, to, .. } => {
                let rest = &path[parts..resolved.base];
                std::iter::once(to.as_str())
                    .chain(rest.iter().copied())
                    .collect::<Vec<_>>()
                    .join(".")
            }
            _ => base,
        };
        let (to, base) = (as_attribute(to), as_attribute(&base));
        let (Some(first), Some(last)) = (old.first(), old.last()) else { return };
        let tail = to.strip_prefix(&base).and_then(|tail| tail.strip_prefix('.'));
        let Some(tail) = tail else {
            // Another module altogether: torch.profiler.profile -> torch_npu.profiler.profile.
            let range = chain.base.start..last.end;
            if !self.text[range.clone()].contains(['#', '\n']) {
                self.change(rule, range, to, Certainty::Exact);
                self.imports.needs_torch_npu(chain.base.start);
            }
            return;
        };
        let new: Vec<&str> = tail.split('.').collect();
        if new.len() == old.len() {
            let mut first_change = true;
            for (range, new) in old.iter().zip(new) {
                if &self.text[range.clone()] == new {
                    continue;
                }
                if first_change {
                    self.change(rule, range.clone(), new, Certainty::Exact);
                    first_change = false;
                } else if !self.is_kept(range) && !self.planner.touched(range) {
                    self.planner.also(range.clone(), new);
                }
            }
        } else if !self.text[first.start..last.end].contains(['#', '\n']) {
            self.change(rule, first.start..last.end, tail, Certainty::Exact);
        }
        if to.starts_with("torch.npu") || to.contains("hccl") || to.contains("HCCL") {
            self.imports.needs_torch_npu(chain.base.start);
        }
    }
}

/// Functions that exist under torch.npu but return nothing that a caller can use.
fn returns_nothing(name: &str) -> bool {
    matches!(name, "torch.cuda.get_device_capability")
}
