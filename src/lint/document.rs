//! Markdown pages, Dockerfiles and scripts as lines that carry their place: prose, heading, table
//! row, code or comment.

use std::sync::LazyLock;

use regex::Regex;

/// The largest number of lines that are read.
pub(crate) const MAX_LINES: usize = 200_000;
/// The longest line that is read, in bytes.
pub(crate) const MAX_LINE: usize = 4096;

/// The place of a line in its document.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Place {
    /// Running text, lists included.
    Prose,
    /// A heading of Markdown.
    Heading,
    /// A row of a table; the table has its cells.
    Row,
    /// A line of a script or of a code block.
    Code,
    /// A comment in code.
    Comment,
    /// A log or the output of a command.
    Output,
    /// A line that runs this program, or its output: a query and no statement.
    Query,
}

/// A line.
#[derive(Debug)]
pub(super) struct Line<'a> {
    /// From 1.
    pub number: u32,
    /// Without the blanks around it.
    pub text: &'a str,
    /// Where it stands.
    pub place: Place,
    /// The code block, from 1; 0 outside of code. A script is one block.
    pub block: u32,
}

/// A table of Markdown.
#[derive(Debug, Default)]
pub(super) struct Table {
    /// The cells of the head.
    pub head: Vec<String>,
    /// Line number and cells of each row.
    pub rows: Vec<(u32, Vec<String>)>,
}

/// A document.
#[derive(Debug)]
pub(super) struct Document<'a> {
    /// The name of the file.
    pub file: &'a str,
    /// All lines, blank ones included.
    pub lines: Vec<Line<'a>>,
    /// All tables.
    pub tables: Vec<Table>,
    /// Whether lines are missing.
    pub is_cut: bool,
}

/// Splits a text by the kind of its file.
pub(super) fn parse<'a>(file: &'a str, text: &'a str) -> Document<'a> {
    let mut document = Document { file, lines: Vec::new(), tables: Vec::new(), is_cut: false };
    let is_script = is_script(file);
    let mut fence: Option<Fence> = None;
    let mut block = u32::from(is_script);
    let mut table: Option<Table> = None;
    for (number, raw) in (1..).zip(text.lines()) {
        if document.lines.len() >= MAX_LINES {
            document.is_cut = true;
            break;
        }
        let raw = cut(raw, &mut document.is_cut);
        let text = raw.trim();
        let place = if is_script {
            place_in_code(text)
        } else if let Some(open) = &mut fence {
            if open.is_closed_by(text) {
                fence = None;
                Place::Prose
            } else {
                open.place(text)
            }
        } else if let Some(open) = Fence::open(text) {
            fence = Some(open);
            block += 1;
            Place::Prose
        } else if text.starts_with('#') {
            Place::Heading
        } else if text.starts_with('|') {
            Place::Row
        } else {
            Place::Prose
        };
        if place == Place::Row {
            read_row(table.get_or_insert_default(), number, text);
        } else if let Some(table) = table.take() {
            document.tables.push(table);
        }
        let is_code = matches!(place, Place::Code | Place::Comment | Place::Output | Place::Query);
        let own = if is_code { block } else { 0 };
        document.lines.push(Line { number, text, place, block: own });
    }
    document.tables.extend(table);
    document
}

/// A line up to the limit.
fn cut<'a>(line: &'a str, is_cut: &mut bool) -> &'a str {
    if line.len() <= MAX_LINE {
        return line;
    }
    *is_cut = true;
    let mut end = MAX_LINE;
    while !line.is_char_boundary(end) {
        end -= 1;
    }
    &line[..end]
}

fn is_script(file: &str) -> bool {
    let name = file.rsplit('/').next().unwrap_or_default().to_ascii_lowercase();
    let endings = [".sh", ".bash", ".py", ".yml", ".yaml", ".env", ".toml", ".cfg", ".ini"];
    name.contains("dockerfile")
        || name.starts_with("requirements")
        || endings.iter().any(|ending| name.ends_with(ending))
}

fn place_in_code(text: &str) -> Place {
    if is_query(text) {
        Place::Query
    } else if text.starts_with('#') || text.starts_with("//") {
        Place::Comment
    } else {
        Place::Code
    }
}

/// Whether a line runs this program.
fn is_query(text: &str) -> bool {
    text.trim_start_matches(['$', ' ']).starts_with("ascend-doctor")
}

/// An open code block.
#[derive(Debug)]
struct Fence {
    mark: char,
    length: usize,
    /// Whether the block shows output, by its language.
    is_output: bool,
    /// Whether the lines are output of this program, because its command is above them.
    is_answer: bool,
}

impl Fence {
    fn open(text: &str) -> Option<Self> {
        let mark = text.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
        let length = text.chars().take_while(|c| *c == mark).count();
        let word = text.trim_start_matches(mark).trim();
        let language = word.split([' ', '{', ',']).next().unwrap_or_default().to_ascii_lowercase();
        let is_output = ["text", "txt", "log", "console", "output", "json", "diff"]
            .contains(&language.as_str());
        let fence = Self { mark, length, is_output, is_answer: false };
        (length >= 3 && !word.contains('`')).then_some(fence)
    }

    /// The place of a line of this block.
    fn place(&mut self, text: &str) -> Place {
        if is_query(text) {
            self.is_answer = true;
            return Place::Query;
        }
        // The next prompt ends the output of this program.
        if let Some(command) = text.strip_prefix("$ ") {
            self.is_answer = false;
            return place_in_code(command);
        }
        match (self.is_answer, self.is_output) {
            (true, _) => Place::Query,
            (false, true) => Place::Output,
            (false, false) => place_in_code(text),
        }
    }

    fn is_closed_by(&self, text: &str) -> bool {
        text.len() >= self.length && text.chars().all(|c| c == self.mark)
    }
}

fn read_row(table: &mut Table, number: u32, text: &str) {
    let inner = text.trim_start_matches('|');
    let inner = inner.strip_suffix('|').unwrap_or(inner);
    let cells: Vec<String> = inner.split('|').map(plain).collect();
    let is_rule = cells
        .iter()
        .all(|cell| !cell.is_empty() && cell.chars().all(|c| matches!(c, '-' | ':' | ' ')));
    if is_rule {
        return;
    }
    if table.head.is_empty() {
        table.head = cells;
    } else {
        table.rows.push((number, cells));
    }
}

static MARKUP: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"!?\[([^\]]*)\]\([^)]*\)|<[^<>]*>|\\([_*])|\*\*|`").expect("a constant")
});

/// A text without the marks of Markdown and HTML. Line breaks become `;`.
pub(super) fn plain(text: &str) -> String {
    let text = text.replace("<br>", ";").replace("<br/>", ";").replace("<br />", ";");
    let text = MARKUP.replace_all(&text, "$1$2");
    text.trim().trim_matches(';').trim().to_owned()
}

static SPAN: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"`([^`]+)`").expect("a constant"));

impl Line<'_> {
    /// The parts of a line that are code: all of a line of code, and spans of prose.
    pub(super) fn code(&self) -> Vec<&str> {
        match self.place {
            Place::Code => vec![self.text],
            Place::Comment | Place::Output | Place::Query => Vec::new(),
            Place::Prose | Place::Heading | Place::Row => {
                let spans = SPAN.captures_iter(self.text).filter_map(|found| found.get(1));
                spans.map(|span| span.as_str()).collect()
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_know_their_place() {
        use Place::{Code, Comment, Heading, Prose, Row};
        let text = "# T\nwords `pip list`\n| a | b |\n|---|---|\n| `1` | [2](x) |\n```sh\n# note\nls\n```\nend";
        let document = parse("a.md", text);
        let places: Vec<Place> = document.lines.iter().map(|line| line.place).collect();
        assert_eq!(places, [Heading, Prose, Row, Row, Row, Prose, Comment, Code, Prose, Prose]);
        assert_eq!(document.lines[1].code(), ["pip list"]);
        assert_eq!(document.tables[0].head, ["a", "b"]);
        assert_eq!(document.tables[0].rows, [(5, vec!["1".to_owned(), "2".to_owned()])]);
        assert_eq!(parse("Dockerfile.a3", "FROM x").lines[0].place, Code);
    }

    #[test]
    fn queries_are_no_statements() {
        let document = parse("a.md", "```sh\n$ ascend-doctor explain 'torch_npu 9.9'\n```\n");
        assert_eq!(document.lines[1].place, Place::Query);
        assert!(document.lines[1].code().is_empty());
    }

    #[test]
    fn long_lines_are_cut() {
        let line = "é".repeat(MAX_LINE);
        assert!(parse("a.md", &line).is_cut);
    }
}
