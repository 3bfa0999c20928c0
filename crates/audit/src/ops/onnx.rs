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
