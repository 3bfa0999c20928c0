//! Which operators of ONNX CANN's parser knows.

use std::sync::LazyLock;

use foldhash::HashMap;

use super::rows::rows;

/// Each operator with its first and last opset in the tables.
static KNOWN: LazyLock<HashMap<String, (i64, i64)>> = LazyLock::new(|| {
    let text = data::text("ops/onnx.tsv");
    let rows = rows(text).filter_map(|row| {
        let (first, last) = row[1].split_once('-')?;
        Some((row[0].to_owned(), (first.parse().ok()?, last.parse().ok()?)))
    });
    rows.collect()
});

/// The first and the last opset for which the tables map an operator: `Conv`, or with its domain
/// `com.example::Op`.
pub fn opsets(name: &str) -> Option<(i64, i64)> {
    KNOWN.get(name).copied()
}

/// The last opset for which the tables map the operators of ONNX itself: nothing is known of what
/// is newer. (Some operators of Ascend's own have later ones.)
pub fn newest() -> i64 {
    opsets("Abs").map_or(0, |(_, last)| last)
}

/// The last opset of ONNX that was compared with the plug-ins of CANN up to 9.2.0-beta.1 (onnx
/// 1.23.2): no plug-in is registered for an opset after [`newest`].
pub const NEWEST_READ: i64 = 28;

/// Whether the parser itself handles an operator, at any opset: `kOnnxOpMap` in
/// `parser/parser/onnx/onnx_parser.cc` of hicann/ge.
pub fn is_built_in(name: &str) -> bool {
    ["Constant", "FileConstant", "Input"].contains(&name)
}

/// Whether the parser refuses every operator of this opset: it looks up `ai.onnx::20::Add` and does
/// not try an older opset (`ConstructOriType` in the same file; E13010, then E16002).
pub fn is_refused_opset(opset: i64) -> bool {
    (newest() + 1..=NEWEST_READ).contains(&opset)
}

/// Whether the parser refuses this operator for its opset alone.
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
