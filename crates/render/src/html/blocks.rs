//! Pages of prose as HTML, for a page that supplies the rest of the document.

use std::io::{self, Write};

use askama::Template;

use super::words::{Words, words};
use crate::Block;
use base::text::Text;

/// The blocks of a page, in one language.
#[derive(Template)]
#[template(path = "blocks.html")]
struct Blocks<'a> {
    blocks: Vec<View<'a>>,
}

/// A block. Backticks in prose mark code.
enum View<'a> {
    Title { name: &'a str, about: Option<Words> },
    Heading(Words),
    Paragraph(Words),
    Facts(Vec<(Words, Words)>),
    Bullets(Vec<Words>),
    Steps(Vec<(Words, Option<&'a str>)>),
    Code(Vec<&'a str>),
    Table { anchor: String, label: String, head: &'a [String], rows: &'a [Vec<String>] },
}

/// Writes a page as headings, paragraphs, lists and tables. Headings start at the second level, and
/// `prefix` precedes the places of tables.
pub fn write_html(page: &[Block], prefix: &str, out: &mut dyn Write) -> io::Result<()> {
    let mut blocks = Vec::new();
    let mut label = "";
    for block in page {
        let view = match block {
            Block::Title(name, about) => {
                label = name;
                let about = Some(about).filter(|about| !about.is_empty()).map(|about| prose(about));
                View::Title { name, about }
            }
            Block::Heading(text) => {
                label = text;
                View::Heading(prose(text))
            }
            Block::Paragraph(text) => View::Paragraph(prose(text)),
            Block::Facts(facts) => View::Facts(
                facts.iter().map(|(label, value)| (prose(label), prose(value))).collect(),
            ),
            Block::Bullets(items) => View::Bullets(items.iter().map(|item| prose(item)).collect()),
            Block::Steps(steps) => {
                View::Steps(steps.iter().map(|(step, run)| (prose(step), run.as_deref())).collect())
            }
            Block::Code(_, code) => View::Code(code.lines().collect()),
            Block::Table(head, rows) => View::Table {
                anchor: format!("{prefix}-{}", blocks.len()),
                label: if label.is_empty() { head.join(", ") } else { label.to_owned() },
                head,
                rows,
            },
        };
        blocks.push(view);
    }
    Blocks { blocks }.write_into(out)
}

fn prose(text: &str) -> Words {
    words(&Text::same(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(page: &[Block]) -> String {
        let mut out = Vec::new();
        write_html(page, "p", &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn every_value_is_escaped() {
        let bad = || "<img src=x onerror=a()>\u{202e}".to_owned();
        let page = [
            Block::Title(bad(), bad()),
            Block::Heading(bad()),
            Block::Paragraph(bad()),
            Block::Facts(vec![(bad(), bad())]),
            Block::Bullets(vec![bad()]),
            Block::Steps(vec![(bad(), Some(bad()))]),
            Block::Code("sh", bad()),
            Block::Table(vec![bad()], vec![vec![bad()]]),
        ];
        let html = shown(&page);
        assert!(!html.contains("<img") && !html.contains('\u{202e}'), "{html}");
        assert_eq!(html.matches("&#60;img src=x onerror=a()&#62;\\u{202e}").count(), 13, "{html}");
    }

    #[test]
    fn tables_have_a_name_and_steps_their_command() {
        let page = [
            Block::Heading("Steps".to_owned()),
            Block::Steps(vec![("Run `npu-smi`".to_owned(), Some("npu-smi info".to_owned()))]),
            Block::Table(vec!["Code".to_owned()], vec![vec!["1".to_owned()]]),
        ];
        let html = shown(&page);
        assert!(
            html.contains("<li>Run <code>npu-smi</code><pre>npu-smi info</pre></li>"),
            "{html}"
        );
        assert!(html.contains(r#"aria-label="Steps"><table class="list" id="p-2">"#), "{html}");
    }
}
