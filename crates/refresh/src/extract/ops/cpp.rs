//! C++ kernels: the aclnn functions that a function calls, and the conditions under which it
//! computes on the host CPU.
//! on the CPU of the host.
//!
//! This is not a C++ parser: it finds functions at the start of a line, their braces, and calls of
//! macros with known names. All kernels of op-plugin have this form.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

/// One function.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Function {
    pub(super) aclnn: BTreeSet<String>,
    /// Conditions of the blocks that compute on the CPU, `(unconditional)` outside of all blocks.
    pub(super) cpu: Vec<String>,
    pub(super) calls: BTreeSet<String>,
}

/// Outside of any block with a condition.
pub(super) const UNCONDITIONAL: &str = "(unconditional)";

static FUNCTION: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?s)(?:^|\n)(?:template\s*<[^>]*>\s*\n)?(?:static\s+|inline\s+)*(?:(?:std::tuple\s*<[^{;()]*>|std::vector\s*<[^{;()]*>|c10::optional<[^>]*>|[A-Za-z_:][\w:]*(?:<[^{};()]*>)?)\s*[&*]?)\s+([A-Za-z_]\w*)\s*\([^;{}]*?\)\s*(?:const\s*)?\{",
    )
    .expect("a function pattern")
});
static ACLNN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?:EXEC_[A-Z_]+|DO_[A-Z_]*COMPATIBILITY[A-Z_]*)\s*\(\s*(aclnn\w+)")
        .expect("a call pattern")
});
static CPU: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"\.cpu\(\)|\.to\(\s*"cpu"\s*\)|\.to\(at::kCPU\)|\.to\(\s*at::Device\(at::kCPU\)"#)
        .expect("a pattern of moves to the CPU")
});
static CALL: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b([a-z_]\w+)\s*\(").expect("a call pattern"));
static KEYWORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(if|while|for|switch)\s*(?:constexpr\s*)?$").expect("a keyword pattern")
});

/// Returns the end of a string literal that begins at `at`.
fn string_end(text: &[u8], at: usize) -> usize {
    let mut at = at + 1;
    while at < text.len() && text[at] != b'"' {
        at += if text[at] == b'\\' { 2 } else { 1 };
    }
    at
}

/// Replaces comments by blanks.
pub(super) fn without_comments(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = bytes.to_vec();
    let mut at = 0;
    while at < bytes.len() {
        let rest = &bytes[at..];
        let end = if rest.starts_with(b"//") {
            rest.iter().position(|&byte| byte == b'\n').map_or(bytes.len(), |length| at + length)
        } else if rest.starts_with(b"/*") {
            rest.windows(2)
                .skip(2)
                .position(|pair| pair == b"*/")
                .map_or(bytes.len(), |length| at + length + 4)
        } else {
            at = if rest[0] == b'"' { string_end(bytes, at) + 1 } else { at + 1 };
            continue;
        };
        out[at..end].iter_mut().filter(|byte| **byte != b'\n').for_each(|byte| *byte = b' ');
        at = end;
    }
    String::from_utf8_lossy(&out).into_owned()
}

/// Returns the position of the brace that closes the one at `at`.
fn closing_brace(text: &[u8], mut at: usize) -> usize {
    let mut depth = 0_usize;
    while at < text.len() {
        match text[at] {
            b'"' => at = string_end(text, at),
            b'{' => depth += 1,
            b'}' if depth <= 1 => return at,
            b'}' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    text.len()
}

/// Returns the conditions of the blocks that are open at `at`.
fn conditions(body: &str, at: usize) -> String {
    let bytes = body.as_bytes();
    let mut open = Vec::new();
    let mut position = 0;
    while position < at {
        match bytes[position] {
            b'"' => position = string_end(bytes, position),
            b'{' => open.push(position),
            b'}' => drop(open.pop()),
            _ => {}
        }
        position += 1;
    }
    let mut found = Vec::new();
    for brace in open {
        let head = body[..brace].trim_end();
        if head.ends_with("else") {
            found.push("else".to_owned());
        }
        if !head.ends_with(')') {
            continue;
        }
        let mut depth = 0_usize;
        let start = head.bytes().rposition(|byte| {
            match byte {
                b')' => depth += 1,
                b'(' => depth -= 1,
                _ => return false,
            }
            depth == 0
        });
        let Some(start) = start else { continue };
        if let Some(keyword) = KEYWORD.captures(&head[..start]) {
            let inner = &head[start + 1..head.len() - 1];
            let words: Vec<&str> = inner.split_whitespace().collect();
            found.push(format!("{} ({})", &keyword[1], words.join(" ")));
        }
    }
    if found.is_empty() { UNCONDITIONAL.to_owned() } else { found.join(" && ") }
}

/// Returns the functions of a file by name; an overloaded name has several. Calls of functions in
/// the same file are followed over four levels and count as those of the caller.
pub(super) fn functions(text: &str) -> BTreeMap<String, Vec<Function>> {
    let text = without_comments(text);
    let mut order: Vec<String> = Vec::new();
    let mut found: BTreeMap<String, Vec<Function>> = BTreeMap::new();
    for function in FUNCTION.captures_iter(&text) {
        let (Some(whole), name) = (function.get(0), &function[1]) else { continue };
        if ["if", "for", "while", "switch", "return", "defined"].contains(&name) {
            continue;
        }
        let start = whole.end() - 1;
        let end = closing_brace(text.as_bytes(), start);
        let body = text.get(start..=end).or_else(|| text.get(start..)).unwrap_or_default();
        let names = |pattern: &Regex| -> BTreeSet<String> {
            pattern.captures_iter(body).map(|found| found[1].to_owned()).collect()
        };
        let mut cpu: Vec<String> = Vec::new();
        for place in CPU.find_iter(body) {
            let condition = conditions(body, place.start());
            if !cpu.contains(&condition) {
                cpu.push(condition);
            }
        }
        if !found.contains_key(name) {
            order.push(name.to_owned());
        }
        let function = Function { aclnn: names(&ACLNN), cpu, calls: names(&CALL) };
        found.entry(name.to_owned()).or_default().push(function);
    }
    for _ in 0..3 {
        for name in &order {
            let mut own = found.remove(name).unwrap_or_default();
            for function in &mut own {
                for call in function.calls.clone() {
                    for helper in found.get(&call).into_iter().flatten() {
                        function.aclnn.extend(helper.aclnn.iter().cloned());
                        if function.cpu.is_empty() {
                            let via = helper.cpu.iter().map(|inner| format!("via {call}: {inner}"));
                            function.cpu = via.collect();
                        }
                    }
                }
            }
            found.insert(name.clone(), own);
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"
namespace op_api {
static at::Tensor& helper(at::Tensor& out, const at::Tensor& self)
{
    // EXEC_NPU_CMD(aclnnNot, self);
    EXEC_NPU_CMD(aclnnAbs, self, out);
    return out;
}

at::Tensor abs(const at::Tensor& self)
{
    DO_COMPATIBILITY(aclnnAbsV2, acl_op::abs(self));
    if (self.scalar_type() ==
        at::kDouble) {
        TORCH_CHECK(true, "a } in a string");
        auto cpu = self.cpu();
    } else {
        auto other = self.to("cpu");
    }
    return helper(out, self);
}

std::tuple<at::Tensor, at::Tensor> sort(const at::Tensor& self) {
    for (int i = 0; i < 2; i++) { }
    return at::sort(self.cpu());
}

at::Tensor sort_twice(const at::Tensor& self) { return sort(self); }
}
"#;

    #[test]
    fn calls_and_conditions_are_found() {
        let all = functions(FILE);
        let abs = &all["abs"][0];
        assert_eq!(abs.aclnn, BTreeSet::from(["aclnnAbs".into(), "aclnnAbsV2".into()]));
        assert_eq!(abs.cpu, ["if (self.scalar_type() == at::kDouble)", "else"]);
        assert_eq!(all["sort"][0].cpu, [UNCONDITIONAL]);
        assert_eq!(all["sort_twice"][0].cpu, ["via sort: (unconditional)"]);
        assert_eq!(all.len(), 4);
    }

    #[test]
    fn damaged_files_are_no_panic() {
        for text in ["at::Tensor f(int a) {", "\"", "/*", "int f() { \"\\", "} else {"] {
            let _ = functions(text);
        }
        assert_eq!(without_comments("a /* b\n*/ c // d\n\"// e\""), "a     \n   c     \n\"// e\"");
    }
}
