//! Pages about native APIs: tables of names (before 26.1), headings with one chip table each (since
//! 26.1).

use std::collections::BTreeMap;
use std::sync::LazyLock;

use regex::Regex;

/// The content of one row or heading.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Row {
    pub(super) api: String,
    pub(super) status: Status,
    pub(super) note: String,
    /// Whether a chip has the API, for the chips that the page names.
    pub(super) chips: BTreeMap<String, bool>,
}

/// Whether an API is supported on at least one chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Status {
    Yes,
    No,
}

/// Products by their names in the pages.
const CHIPS: [(&str, &str); 5] = [
    ("Atlas A2 训练系列产品", "A2"),
    ("Atlas A3 训练系列产品", "A3"),
    ("Ascend 950DT", "950"),
    ("Atlas 训练系列产品", "A1"),
    ("Atlas 推理系列产品", "310P"),
];

static TAGS: LazyLock<Regex> = LazyLock::new(|| Regex::new("<[^>]*>").expect("a pattern"));

/// Returns all rows of a page.
pub(super) fn rows(text: &str) -> Vec<Row> {
    let mut rows = if text.contains("API名称") { tables(text) } else { Vec::new() };
    rows.extend(headings(text));
    rows
}

fn clean(text: &str) -> String {
    text.replace("\\_", "_").replace("\\*", "*").trim().to_owned()
}

fn cells(line: &str) -> Vec<&str> {
    line.trim().trim_matches('|').split('|').map(str::trim).collect()
}

/// Returns the rows of tables whose first column is named API.
fn tables(text: &str) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut heads: Option<(usize, usize)> = None;
    for line in text.lines() {
        if !line.starts_with('|') {
            if line.trim().is_empty() {
                heads = None;
            }
            continue;
        }
        let cells = cells(line);
        if cells[0].contains("API名称") || cells[0].starts_with("API") {
            let column = |words: &[&str]| {
                cells.iter().position(|cell| words.iter().any(|word| cell.contains(word)))
            };
            let support = column(&["支持"]).unwrap_or(1);
            heads = Some((support, column(&["限制", "说明"]).unwrap_or(cells.len() - 1)));
            continue;
        }
        let rule = cells[0].chars().all(|c| matches!(c, '-' | ':' | ' '));
        let Some((support, note)) = heads.filter(|_| !rule) else { continue };
        let status = match cells.get(support) {
            Some(cell) if cell.starts_with('是') => Status::Yes,
            Some(cell) if cell.starts_with('否') => Status::No,
            _ => continue,
        };
        let note = cells.get(note).map(|cell| clean(cell)).filter(|note| note != "-");
        rows.push(Row {
            api: clean(cells[0]).replace("()", ""),
            status,
            note: note.unwrap_or_default(),
            chips: BTreeMap::new(),
        });
    }
    rows
}

/// Returns the rows of headings and of methods below them, each with a chip table.
fn headings(text: &str) -> Vec<Row> {
    static HEADING: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^#{3,5}\s+(.*)$").expect("a pattern"));
    static METHOD: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r#"^>?\s*<font size="3">(.*?)</font>"#).expect("a pattern"));
    static CHIP: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"^\|\s*(?:<term>)?(.*?)(?:</term>)?\s*\|\s*([✔✘√×xX是否])").expect("a pattern")
    });
    let mut rows: Vec<Row> = Vec::new();
    let mut class = String::new();
    let mut open: Option<Row> = None;
    let mut in_note = false;
    let start =
        |api: String| Row { api, status: Status::No, note: String::new(), chips: BTreeMap::new() };
    let mut close = |row: Option<Row>| {
        if let Some(mut row) = row.filter(|row| !row.chips.is_empty()) {
            let some = row.chips.values().any(|&there| there);
            row.status = if some { Status::Yes } else { Status::No };
            row.note = row.note.trim().to_owned();
            rows.push(row);
        }
    };
    for line in text.lines() {
        if let Some(found) = HEADING.captures(line) {
            close(open.take());
            let name = TAGS.replace_all(&found[1], "");
            let name = if found[1].contains("class") {
                name.replacen("class", "", 1)
            } else {
                name.into_owned()
            };
            class = clean(&name).replace("()", "").replace('`', "").trim().to_owned();
            open = Some(start(class.clone()));
            in_note = false;
            continue;
        }
        if let Some(found) = METHOD.captures(line) {
            close(open.take());
            let name = clean(&TAGS.replace_all(&found[1], "")).replace("()", "");
            let name = name.split('(').next().unwrap_or_default();
            let name = ["property", "static", "classmethod"]
                .iter()
                .fold(name.to_owned(), |name, word| name.replace(word, ""));
            let name = name.trim();
            let full = !class.is_empty() && !name.starts_with("torch.");
            open = Some(start(if full { format!("{class}.{name}") } else { name.to_owned() }));
            in_note = false;
            continue;
        }
        let Some(row) = &mut open else { continue };
        if let Some(found) = CHIP.captures(line) {
            let product = found[1].trim();
            if product == "硬件" {
                continue;
            }
            let chip =
                CHIPS.iter().find(|(known, _)| *known == product).map_or(product, |(_, chip)| chip);
            row.chips.insert(chip.to_owned(), matches!(&found[2], "✔" | "√" | "是"));
            in_note = false;
        } else if let Some((_, note)) = line.split_once("限制与说明**") {
            row.note = note.trim_start_matches(['：', ':', ' ']).to_owned();
            in_note = true;
        } else if in_note {
            if ["</div>", "**", "<div"].iter().any(|mark| line.starts_with(mark)) {
                in_note = false;
            } else if !line.trim().is_empty() {
                row.note.push('\n');
                row.note.push_str(line.trim());
            }
        }
    }
    close(open.take());
    rows
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_names_are_read() {
        let text = "|API名称|是否支持|限制与说明|\n|--|--|--|\n|torch.a\\_b()|是|支持fp16|\n|torch.c|否|-|\n|torch.d|？|x|\n\n|x|是|y|\n";
        let found = rows(text);
        assert_eq!(found.len(), 2);
        assert_eq!((found[0].api.as_str(), found[0].note.as_str()), ("torch.a_b", "支持fp16"));
        assert_eq!((found[1].status, found[1].note.as_str()), (Status::No, ""));
    }

    #[test]
    fn headings_with_chips_are_read() {
        let text = "### <em>class</em> torch.A()\n<div>\n| 硬件 | 是否支持 |\n| ---- | :----: |\n| <term>Atlas A2 训练系列产品</term> | ✔ |\n| <term>Ascend 950DT</term> | ✘ |\n\n**限制与说明**： `x`仅支持fp16\n\n- 仅支持推理场景\n</div>\n> <font size=\"3\">static m(a, b)</font>\n| <term>Atlas A2 训练系列产品</term> | ✘ |\n### torch.no_table\ntext\n";
        let found = rows(text);
        assert_eq!(found.len(), 2);
        assert_eq!(found[0].api, "torch.A");
        assert_eq!(found[0].note, "`x`仅支持fp16\n- 仅支持推理场景");
        assert_eq!(found[0].chips, BTreeMap::from([("950".into(), false), ("A2".into(), true)]));
        assert_eq!((found[1].api.as_str(), found[1].status), ("torch.A.m", Status::No));
    }
}
