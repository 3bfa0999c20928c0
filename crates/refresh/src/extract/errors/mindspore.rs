//! `mindspore.tsv`: cases with an E-code in the MindSpore documents.

use anyhow::{Result, ensure};

use super::ecode_registry::is_code;
use crate::context::Context;
use crate::extract::Content;
use crate::table::{Place, SourcedRows};

const CASES: &str = "tutorials/source_en/debug/error_analysis/cann_error_cases.md";

/// Extracts `mindspore.tsv`: the headings `### CODE: TITLE`.
pub(super) fn table(context: &Context) -> Result<Content> {
    let tree = context.tree("mindspore-docs")?;
    let mut rows = SourcedRows::new(&["code", "symbol", "message"]);
    let text = tree.text(CASES)?;
    let cases = cases(&text);
    ensure!(!cases.is_empty(), "{} has no case", tree.place(CASES));
    for (code, title) in cases {
        rows.push([code, "", title], Place::file(tree.place(CASES)));
    }
    Ok(rows.into_table().into())
}

fn cases(text: &str) -> Vec<(&str, &str)> {
    let headings = text.lines().filter_map(|line| line.strip_prefix("### ")?.split_once(": "));
    let cases = headings.map(|(code, title)| (code.trim(), title.trim()));
    cases.filter(|(code, _)| is_code(code)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn headings_of_cases_are_read() {
        let text =
            "## Cases\n\n### EE9999: Memory: Allocation Failure\ntext\n### Other: x\n#### E1\n";
        assert_eq!(cases(text), [("EE9999", "Memory: Allocation Failure")]);
    }
}
