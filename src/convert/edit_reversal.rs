//! Edits that restore the text before a conversion, for the property tests.

use super::encoding::Edit;

/// Returns the edits that undo `edits`.
pub(super) fn reversed(text: &str, edits: &[Edit]) -> Vec<Edit> {
    let mut shift = 0isize;
    edits
        .iter()
        .map(|edit| {
            let start = edit.range.start.checked_add_signed(shift).unwrap();
            shift += edit.text.len().cast_signed() - edit.range.len().cast_signed();
            Edit {
                range: start..start + edit.text.len(),
                text: text[edit.range.clone()].to_owned(),
            }
        })
        .collect()
}
