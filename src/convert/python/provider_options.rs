//! Options of the execution providers of onnxruntime.

use std::ops::Range;

use ruff_python_ast::Expr;
use ruff_text_size::Ranged as _;

use super::edits::Edits;
use super::literal::{self, span};
use crate::rules::{Place, Rules};
use crate::site::Certainty;

/// Options of the CUDA provider that the CANN provider has under another name.
const RENAMED: &[(&str, &str)] = &[("gpu_mem_limit", "npu_mem_limit")];

/// Options of the CUDA provider without a counterpart: the CANN provider rejects unknown options.
const MISSING: &[&str] = &[
    "cudnn_conv_algo_search",
    "cudnn_conv_use_max_workspace",
    "cudnn_conv1d_pad_to_nc1d",
    "do_copy_in_default_stream",
    "user_compute_stream",
    "has_user_compute_stream",
    "enable_cuda_graph",
    "gpu_external_alloc",
    "gpu_external_free",
    "gpu_external_empty_cache",
    "prefer_nhwc",
    "use_ep_level_unified_stream",
    "use_tf32",
    "tunable_op_enable",
    "tunable_op_tuning_enable",
    "tunable_op_max_tuning_duration_ms",
];

/// Plans the edit of a key that names an option of the CUDA provider; returns whether it does.
pub(super) fn plan_provider_option(edits: &mut Edits<'_>, key: &Expr) -> bool {
    let Some(name) = literal::plain(key) else { return false };
    let known = RENAMED.iter().any(|(old, _)| *old == name) || MISSING.contains(&name);
    if !known || !uses_onnxruntime(edits.planner.text) {
        return false;
    }
    let places: Vec<Range<usize>> = literal::texts(key)
        .into_iter()
        .filter(|range| &edits.planner.text[range.clone()] == name)
        .collect();
    let rule = Rules::builtin().site(Place::ProviderOptions);
    let renamed = RENAMED.iter().find(|(old, _)| *old == name);
    if let (Some((_, new)), [range]) = (renamed, places.as_slice()) {
        edits.change(rule, range.clone(), *new, Certainty::Exact);
    } else {
        edits.flag(rule, span(key.range()), Some(name.to_owned()));
    }
    true
}

fn uses_onnxruntime(text: &str) -> bool {
    text.contains("onnxruntime") || text.contains("ExecutionProvider")
}
