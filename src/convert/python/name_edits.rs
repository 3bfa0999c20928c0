//! Dotted names in expressions: `torch.cuda.amp.autocast(…)`, `torch.ops.library.operator`.

use std::ops::Range;

use ruff_python_ast::Expr;
use ruff_text_size::Ranged as _;

use super::edits::Edits;
use super::literal::span;
use super::name_targets::{Target, as_attribute, target};
use super::source::Source;
use crate::rules::{Class, Place, Rule, Rules};
use crate::site::Certainty;
use pysyntax::scope::Resolved;

/// Operator libraries that torch, torchvision, torchaudio or torch_npu register.
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

/// A chain `base.a.b.c`: the range of its base and of each attribute.
struct Chain {
    base: Range<usize>,
    attributes: Vec<Range<usize>>,
}

impl Chain {
    /// Returns `None` if `expr` does not begin with a name.
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

    /// Returns the end of the chain.
    fn end(&self) -> usize {
        self.attributes.last().map_or(self.base.end, |last| last.end)
    }
}

/// A chain that begins at an import, with its dotted path.
pub(super) struct DottedName<'r> {
    chain: Chain,
    resolved: &'r Resolved,
}

impl<'r> DottedName<'r> {
    /// Returns `None` if `expr` does not begin with a name.
    pub(super) fn of(expr: &Expr, resolved: &'r Resolved) -> Option<Self> {
        Some(Self { chain: Chain::of(expr)?, resolved })
    }

    /// Plans the edits of the name.
    pub(super) fn plan(&self, source: &Source<'_>, edits: &mut Edits<'_>) {
        let Self { chain, resolved } = self;
        if let Some(name) = resolved.import.and_then(|at| source.imports.renamed(at)) {
            let name = name.to_owned();
            let rule = Rules::builtin().site(Place::FromTorchImportCuda);
            edits.change(rule, chain.base.clone(), name, Certainty::Exact);
        }
        match target(&resolved.path, source.context) {
            Target::Rewrite { rule, parts, to } => {
                if parts > resolved.base {
                    self.rewrite(rule, parts, &to, source, edits);
                }
                let named = chain.base.start..self.end_of(parts).unwrap_or(chain.end());
                if returns_nothing(rule.name) {
                    edits.flag(rule, named, None);
                } else if rule.class == Class::Semantics && parts > resolved.base {
                    edits.note(rule, named, None);
                }
            }
            Target::Flag { rule, parts } => {
                // Names that an import binds are reported at the import.
                if let Some(end) = self.end_of(parts) {
                    edits.flag(rule, chain.base.start..end, Some(resolved.path.clone()));
                }
            }
            Target::Note { rule, parts } => {
                if let Some(end) = self.end_of(parts) {
                    edits.note(rule, chain.base.start..end, None);
                }
            }
            Target::Keep => self.plan_custom_operator(edits),
        }
    }

    /// Reports an operator that torch does not register: `torch.ops.my_extension.fused_gelu`.
    fn plan_custom_operator(&self, edits: &mut Edits<'_>) {
        let Self { chain, resolved } = self;
        if !resolved.path.starts_with("torch.") {
            return;
        }
        let mut parts = resolved.path.split('.');
        let (Some("torch"), Some("ops" | "classes"), Some(library), operator) =
            (parts.next(), parts.next(), parts.next(), parts.next())
        else {
            return;
        };
        let rule = Rules::builtin().site(Place::CustomCudaOps);
        let Some(operator) = operator else {
            if library == "load_library"
                && let Some(end) = self.end_of(3)
            {
                edits.flag(rule, chain.base.start..end, None);
            }
            return;
        };
        // An operator defined in Python runs on every device that its parts run on.
        let own = [format!("\"{library}::"), format!("'{library}::")]
            .iter()
            .any(|text| edits.planner.text.contains(text.as_str()));
        if own || OPERATORS.contains(&library) {
            return;
        }
        if let Some(end) = self.end_of(4) {
            let detail = format!("{library}::{operator}");
            edits.flag(rule, chain.base.start..end, Some(detail));
        }
    }

    /// Returns the end of part number `parts` of the path; `None` if it is in the base.
    fn end_of(&self, parts: usize) -> Option<usize> {
        let at = parts.checked_sub(self.resolved.base + 1)?;
        self.chain.attributes.get(at).map(|range| range.end)
    }

    fn rewrite(
        &self,
        rule: &'static Rule,
        parts: usize,
        to: &str,
        source: &Source<'_>,
        edits: &mut Edits<'_>,
    ) {
        let Self { chain, resolved } = self;
        let path: Vec<&str> = resolved.path.split('.').collect();
        let old = &chain.attributes[..parts - resolved.base];
        let base = path[..resolved.base].join(".");
        let base = match target(&base, source.context) {
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
            // A different module: torch.profiler.profile -> torch_npu.profiler.profile.
            let range = chain.base.start..last.end;
            if !source.text[range.clone()].contains(['#', '\n'])
                && edits.change(rule, range, to, Certainty::Exact)
            {
                edits.needs.torch_npu = true;
            }
            return;
        };
        let new: Vec<&str> = tail.split('.').collect();
        let mut changed = false;
        if new.len() == old.len() {
            let mut first_change = true;
            let mut is_made = false;
            for (range, new) in old.iter().zip(new) {
                if &source.text[range.clone()] == new {
                    continue;
                }
                if first_change {
                    is_made = edits.change(rule, range.clone(), new, Certainty::Exact);
                    first_change = false;
                } else if is_made {
                    edits.change_also(range, new);
                }
            }
            changed = is_made;
        } else if !source.text[first.start..last.end].contains(['#', '\n']) {
            changed = edits.change(rule, first.start..last.end, tail, Certainty::Exact);
        }
        if changed && (to.starts_with("torch.npu") || to.contains("hccl") || to.contains("HCCL")) {
            edits.needs.torch_npu = true;
        }
    }
}

/// Functions that exist under torch.npu but return nothing that a caller can use.
fn returns_nothing(name: &str) -> bool {
    matches!(name, "torch.cuda.get_device_capability")
}
