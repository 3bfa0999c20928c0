//! Operators that torch_npu computes on the CPU, found by its warnings.

use data::signatures;
use std::sync::LazyLock;

use regex::bytes::Regex;

/// Both wordings of the warning: `npu_cpu_fallback`, and the older one of `VariableFallbackKernel`.
static WARNING: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?-u)[Tt]he operator '?([\w:.]+)'? (?:is|was) not (?:currently |yet )?supported on the NPU(?: backend)?[^\n]{0,40}fall back|(?:AutoFallback|auto fallback)[^\n]{0,40}'?(aten::[\w.]+)",
    )
    .expect("the expression is proved by a test")
});

/// The signature of these warnings.
pub(super) const RULE: &str = signatures::op::FALLBACK;

/// Literals; every such line contains one of them.
pub(super) const LITERALS: [&str; 3] = ["supported on the NPU", "AutoFallback", "auto fallback"];

/// The operator that a line reports as computed on the CPU.
pub fn find_operator(line: &[u8]) -> Option<String> {
    let found = WARNING.captures(line)?;
    let name = found.get(1).or_else(|| found.get(2))?;
    Some(String::from_utf8_lossy(name.as_bytes()).trim_end_matches('.').to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_operator_is_named() {
        let line = b"[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator \
            'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will \
            fall back to run on the CPU.";
        assert_eq!(find_operator(line).as_deref(), Some("aten::isin.Tensor_Tensor_out"));
        assert_eq!(find_operator(b"the operator is supported on the NPU"), None);
    }
}
