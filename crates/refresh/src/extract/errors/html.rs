//! Tables of HTML in Markdown documents.

use std::sync::LazyLock;

use regex::Regex;

/// The text of the cells of every row, without marks. Cells that span several rows or columns are
/// repeated.
pub(super) fn table_rows(text: &str) -> Vec<Vec<String>> {
    static ROW: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)<tr\b[^>]*>(.*?)</tr>").expect("a row pattern"));
    static CELL: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"(?s)<t[dh]\b([^>]*)>(.*?)</t[dh]>").expect("a cell pattern"));
    static SPAN: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"(row|col)span\s*=\s*"?(\d{1,3})"#).expect("a span pattern"));
    let mut rows = Vec::new();
    // Cells that reach into the next rows: number of rows and text, by column.
    let mut below: Vec<(usize, String)> = Vec::new();
    for row in ROW.captures_iter(text) {
        let mut cells: Vec<String> = Vec::new();
        let mut next_below: Vec<(usize, String)> = Vec::new();
        let mut put = |cells: &mut Vec<String>, rows: usize, text: String| {
            next_below.push((rows.saturating_sub(1), text.clone()));
            cells.push(text);
        };
        let carry =
            |cells: &Vec<String>| below.get(cells.len()).filter(|(rows, _)| *rows > 0).cloned();
        for cell in CELL.captures_iter(&row[1]) {
            while let Some((rows, text)) = carry(&cells) {
                put(&mut cells, rows, text);
            }
            let span = |name: &str| {
                let mut spans = SPAN.captures_iter(&cell[1]);
                let found = spans.find(|span| &span[1] == name);
                found.and_then(|span| span[2].parse().ok()).unwrap_or(1)
            };
            let text = plain(&cell[2]);
            for _ in 0..span("col") {
                put(&mut cells, span("row"), text.clone());
            }
        }
        while let Some((rows, text)) = carry(&cells) {
            put(&mut cells, rows, text);
        }
        below = next_below;
        rows.push(cells);
    }
    rows
}

/// Text without marks and character references, with single blanks.
fn plain(text: &str) -> String {
    static MARK: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"<[^>]*>").expect("a mark pattern"));
    let mut text = MARK.replace_all(text, "").into_owned();
    for (reference, character) in [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&nbsp;", " "),
        ("&#39;", "'"),
        ("&amp;", "&"),
    ] {
        text = text.replace(reference, character);
    }
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cells_are_plain_text_and_spans_are_repeated() {
        let text = "text\n<table><thead><tr id=\"a\"><th class=\"x\"><p id=\"p1\"><a name=\"n\"></a>名称</p>\n</th><th>b&amp;c</th></tr></thead>\n\
                    <tr><td rowspan=\"2\">r</td><td>1\n 2</td></tr>\n<tr><td>3</td></tr>\n\
                    <tr><td colspan=\"2\">w</td></tr></table>";
        assert_eq!(
            table_rows(text),
            [vec!["名称", "b&c"], vec!["r", "1 2"], vec!["r", "3"], vec!["w", "w"]]
        );
        assert!(table_rows("| a | b |").is_empty());
    }
}
