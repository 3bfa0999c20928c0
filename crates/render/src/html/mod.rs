//! Reports as one self-contained page: without scripts or network access, light or dark by the
//! reader's preference, in both languages.
//!
//! A report becomes a [`Document`], the document becomes views, and the templates below
//! `templates/` show the views. They escape every value; in addition, the page forbids scripts. Two
//! radio buttons and the style sheet select the language; without the style sheet, both languages
//! are shown.

mod blocks;
mod diff;
mod document;
mod finding;
mod items;
mod matrix;
mod read;
mod section;
mod stack;
mod state;
mod tiles;
mod timeline;
mod words;

use std::io::{self, Write};

use askama::Template;

use super::Style;
use base::report::{FileDiff, Report};
use base::text::Lang;
use data::ui;

pub use blocks::write_html;
pub use document::Document;
pub use read::read;
use section::Section;
use state::State;
use words::{Words, words};

/// Files side by side, generated one after the other because a change may include thousands of
/// them.
pub type Diffs<'a> = &'a dyn Fn() -> Box<dyn Iterator<Item = FileDiff> + 'a>;

/// A page of reports.
#[derive(Template)]
#[template(path = "page.html")]
struct Page<'a, 'd> {
    lang_code: &'static str,
    chinese: bool,
    title: String,
    language: String,
    contents: String,
    version: &'static str,
    /// The reports, each by the name of its file; a run has no file.
    documents: &'a [(Option<&'a str>, &'a Document)],
    diffs: Option<Diffs<'d>>,
}

/// An entry of the list of reports.
struct Entry {
    number: usize,
    state: State,
    title: String,
    label: Words,
}

/// Writes the report, with the files of its changes.
pub(super) fn render(
    report: &Report,
    style: Style,
    diffs: Option<Diffs<'_>>,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = Document::from(report);
    Page::new(&[(None, &document)], style.lang, diffs).write_into(out)
}

/// Writes a page with several reports, each by the name of its file.
pub fn write_page(
    documents: &[(String, Document)],
    lang: Lang,
    out: &mut dyn Write,
) -> io::Result<()> {
    let documents: Vec<(Option<&str>, &Document)> =
        documents.iter().map(|(name, document)| (Some(name.as_str()), document)).collect();
    Page::new(&documents, lang, None).write_into(out)
}

/// Writes one report as the part of a page that has the style sheet of `templates/`. Sentences are in
/// both languages, in elements of the classes `en` and `zh`.
pub fn write_section(document: &Document, out: &mut dyn Write) -> io::Result<()> {
    Section::new(document, 0, None, None).write_into(out)
}

impl<'a, 'd> Page<'a, 'd> {
    fn new(
        documents: &'a [(Option<&'a str>, &'a Document)],
        lang: Lang,
        diffs: Option<Diffs<'d>>,
    ) -> Self {
        let title = match documents {
            [(_, document)] => document.title(),
            _ => documents.len().to_string(),
        };
        Self {
            lang_code: match lang {
                Lang::En => "en",
                Lang::Zh => "zh-CN",
            },
            chinese: lang == Lang::Zh,
            title,
            language: ui::PAGE_LANGUAGE.get(lang).clone(),
            contents: ui::PAGE_CONTENTS.get(lang).clone(),
            version: env!("CARGO_PKG_VERSION"),
            documents,
            diffs,
        }
    }

    /// Whether a report was written by another version than that of the page.
    fn is_of_other_version(&self) -> bool {
        self.documents.iter().any(|(_, document)| document.tool.version != self.version)
    }

    fn contents(&self) -> impl Iterator<Item = Entry> {
        self.documents.iter().enumerate().map(|(number, (_, document))| {
            let state = document.state();
            Entry { number, state, title: document.title(), label: words(&state.label().text()) }
        })
    }

    fn sections(&self) -> impl Iterator<Item = Section<'a, 'd>> {
        let diffs = self.diffs;
        let documents = self.documents.iter().enumerate();
        documents
            .map(move |(number, (source, document))| Section::new(document, number, *source, diffs))
    }
}

#[cfg(test)]
mod tests;
