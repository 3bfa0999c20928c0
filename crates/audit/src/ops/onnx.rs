//! The ONNX operators that the CANN parser supports.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::rows::rows;

/// The operators with their first and last opset in the tables.
static KNOWN: LazyLock<HashMap<String, (i64, i64)>> = LazyLock::new(|| {
    let text = data::text("ops/onnx.tsv");
    let rows = rows(text).filter_map(|row| {
        let (first, last) = row[1].split_once('-')?;
        Some((row[0].to_owned(), (first.parse().ok()?, last.parse().ok()?)))
    });
    rows.collect()
});

/// Returns the first and the last opset for which the tables map an operator: `Conv`, or with a
/// domain `com.example::Op`.
pub fn opsets(name: &str) -> Option<(i64, i64)> {
    KNOWN.get(name).copied()
}

/// Returns the last opset for which the tables map the standard ONNX operators. The support of
/// newer opsets is unknown. (Some operators of Ascend have later opsets.)
pub fn newest() -> i64 {
    opsets("Abs").map_or(0, |(_, last)| last)
}

/// The last opset of ONNX that was compared with the plug-ins of CANN up to 9.2.0-beta.1 (onnx
/// 1.23.2): no plug-in is registered for an opset after [`newest`].
pub const NEWEST_READ: i64 = 28;

/// Returns whether the parser handles an operator itself, at any opset: `kOnnxOpMap` in
/// `parser/parser/onnx/onnx_parser.cc` of hicann/ge.
pub fn is_built_in(name: &str) -> bool {
    ["Constant", "FileConstant", "Input"].contains(&name)
}

/// Returns whether the parser rejects every operator of this opset: it looks up `ai.onnx::20::Add`
/// and does not try an older opset (`ConstructOriType` in the same file; E13010, then E16002).
pub fn is_refused_opset(opset: i64) -> bool {
    (newest() + 1..=NEWEST_READ).contains(&opset)
}

/// Returns whether the parser rejects this operator because of its opset.
pub fn is_refused(name: &str, opset: i64) -> bool {
    is_refused_opset(opset) && !is_built_in(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn operators_are_known_by_opset() {
        assert_eq!(newest(), 18);
        assert_eq!(opsets("Abs"), Some((8, 18)));
        assert_eq!(opsets("Gelu"), None);
    }
}
