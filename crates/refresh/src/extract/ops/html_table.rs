//! HTML tables in Markdown documents.

use std::sync::LazyLock;

use regex::Regex;

/// The maximum span of a cell. A larger one is an error in the document.
const MAX_SPAN: usize = 200;

/// Returns the rows of each table in a text. A cell that spans rows or columns is repeated in each
/// of them. Tags become blanks, which keeps the lines of a cell apart.
pub(super) fn tables(text: &str) -> Vec<Vec<Vec<String>>> {
    static TABLE: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?is)<table.*?</table>"));
    TABLE.find_iter(text).map(|table| rows(table.as_str())).collect()
}

fn pattern(text: &str) -> Regex {
    Regex::new(text).expect("a pattern of HTML")
}

fn rows(table: &str) -> Vec<Vec<String>> {
    static ROW: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?is)<tr[^>]*>(.*?)</tr>"));
    static CELL: LazyLock<Regex> = LazyLock::new(|| pattern(r"(?is)<t[hd]\b([^>]*)>(.*?)</t[hd]>"));
    static SPAN: LazyLock<Regex> =
        LazyLock::new(|| pattern(r#"(?i)\b(row|col)span\s*=\s*["']?(\d+)"#));
    let mut rows: Vec<Vec<String>> = Vec::new();
    // Cells of rows above that extend down: (rows left, text) by column.
    let mut open: Vec<Option<(usize, String)>> = Vec::new();
    for row in ROW.captures_iter(table) {
        let mut cells: Vec<String> = Vec::new();
        let mut next: Vec<Option<(usize, String)>> = Vec::new();
        let fill = |cells: &mut Vec<String>, next: &mut Vec<Option<(usize, String)>>| {
            while let Some(Some((left, text))) = open.get(cells.len()) {
                next.push((*left > 1).then(|| (left - 1, text.clone())));
                cells.push(text.clone());
            }
        };
        for cell in CELL.captures_iter(&row[1]) {
            fill(&mut cells, &mut next);
            let (mut down, mut right) = (1, 1);
            for span in SPAN.captures_iter(&cell[1]) {
                let count = span[2].parse::<usize>().unwrap_or(1).clamp(1, MAX_SPAN);
                if span[1].eq_ignore_ascii_case("row") { down = count } else { right = count }
            }
            let text = plain(&cell[2]);
            for _ in 0..right {
                next.push((down > 1).then(|| (down - 1, text.clone())));
                cells.push(text.clone());
            }
        }
        fill(&mut cells, &mut next);
        open = next;
        rows.push(cells);
    }
    rows
}

/// Returns the text of a cell.
fn plain(html: &str) -> String {
    static TAGS: LazyLock<Regex> = LazyLock::new(|| pattern("<[^>]*>"));
    let text = TAGS.replace_all(html, " ");
    let text = text.replace("&nbsp;", " ").replace("&lt;", "<").replace("&gt;", ">");
    text.replace("&amp;", "&").split_whitespace().collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spanning_cells_are_in_each_row_and_column() {
        let text = "x <table class=a><thead><tr><th>a</th><th colspan=\"2\">b</th></tr></thead>\n\
                    <tr><td rowspan='2'>1</td><td>2<br>3</td><td rowspan=2>4 &lt; 5</td></tr>\n\
                    <tr><td>6</td></tr>\n<tr><td>7</td></tr></table> y <TABLE></TABLE>";
        let found = tables(text);
        assert_eq!(
            found[0],
            [vec!["a", "b", "b"], vec!["1", "2 3", "4 < 5"], vec!["1", "6", "4 < 5"], vec!["7"]]
        );
        assert_eq!(found[1], Vec::<Vec<String>>::new());
    }

    #[test]
    fn damaged_tables_are_no_panic() {
        for text in [
            "<table><tr><td rowspan=999999999999>x</tr></table>",
            "<table>",
            "<table><tr><td colspan=0>a</td></tr></table>",
        ] {
            assert!(tables(text).len() <= 1);
        }
    }
}
