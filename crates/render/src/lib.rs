//! Output formats: from a [`Report`] to bytes, one file per format.
//!
//! Must not touch: decisions, clocks, files. A renderer is independent of checks and subcommands;
//! the same report gives the same bytes.

mod comma_separated;
mod compat;
mod concise;
mod coverage;
mod gate;
mod gcc;
mod github;
mod html;
mod json;
mod junit;
mod line;
mod markdown;
mod openmetrics;
mod page;
mod paint;
mod plain;
mod safe_json;
#[cfg(test)]
mod sample;
mod sarif;
mod script;
mod text;
mod wrap;

use std::io::{self, Write};

use base::report::Report;
use base::text::Lang;

pub use comma_separated::write_rows as write_csv;
pub use compat::{CompatPage, render_compat};
pub use html::{
    Diffs, Document, read as read_document, write_html as page_html,
    write_page as render_documents, write_section as render_section,
};
pub use json::JsonReport;
pub use markdown::escape_prose as markdown_words;
pub use page::{Block, write_markdown as page_markdown, write_text as page_text};
pub use paint::Paint;
pub use safe_json::{write as write_json, write_line as write_json_line};
pub use script::{Script, ScriptStep, render_script};
pub use wrap::{wrap, wrap_command, wrap_hanging};

/// An output format.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub enum Format {
    /// For a terminal.
    Text,
    /// One JSON document, `ascend-doctor/<command>/2`.
    Json,
    /// JSON on one line; `verify` writes its events first.
    Jsonl,
    /// JUnit XML: a suite per family, a case per check.
    Junit,
    /// SARIF 2.1.0, for code-scanning services.
    Sarif,
    /// For pasting into an issue.
    Markdown,
    /// HTML page in both languages, without scripts, for a browser.
    Html,
    /// OpenMetrics text file for Prometheus.
    Openmetrics,
    /// One line with the most severe finding, for health checks.
    Line,
    /// One line per place of a finding, for CI logs and editors.
    Concise,
    /// GitHub Actions annotations.
    Github,
    /// GCC-style diagnostics, for editors.
    Gcc,
    /// `--query` values as CSV.
    Csv,
}

impl Format {
    /// Whether it is JSON.
    pub const fn is_json(self) -> bool {
        matches!(self, Self::Json | Self::Jsonl)
    }

    /// The name that selects it.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Json => "json",
            Self::Jsonl => "jsonl",
            Self::Junit => "junit",
            Self::Sarif => "sarif",
            Self::Markdown => "markdown",
            Self::Html => "html",
            Self::Openmetrics => "openmetrics",
            Self::Line => "line",
            Self::Concise => "concise",
            Self::Github => "github",
            Self::Gcc => "gcc",
            Self::Csv => "csv",
        }
    }
}

/// Options of rendering.
#[derive(Debug, Clone, Copy)]
pub struct Style {
    /// Language of the texts (machine formats contain both).
    pub lang: Lang,
    /// Whether color is allowed.
    pub paint: Paint,
    /// Columns to wrap at; 0 for no wrapping.
    pub width: usize,
    /// Also list passed checks and checks that do not apply.
    pub verbose: bool,
    /// Only findings and the summary.
    pub quiet: bool,
}

/// Writes `report` in `format` to `out`.
pub fn render(
    report: &Report,
    format: Format,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    match format {
        Format::Text => text::render(report, style, out),
        Format::Json => safe_json::write(&json::build(report), out),
        Format::Jsonl => safe_json::write_line(&json::build(report), out),
        Format::Junit => junit::render(report, style, out),
        Format::Sarif => sarif::render(report, style, out),
        Format::Markdown => markdown::render(report, style, out),
        Format::Html => html::render(report, style, None, out),
        Format::Openmetrics => openmetrics::render(report, out),
        Format::Line => line::render(report, style, out),
        Format::Concise => concise::render(report, style, out),
        Format::Github => github::render(report, style, out),
        Format::Gcc => gcc::render(report, style, out),
        // `--query` writes its rows itself; a report has no columns.
        Format::Csv => Err(io::Error::other("a report cannot be written as CSV")),
    }
}

/// Writes `report` as a page, with the files of its changes side by side.
pub fn render_page(
    report: &Report,
    style: Style,
    files: Diffs<'_>,
    out: &mut dyn Write,
) -> io::Result<()> {
    html::render(report, style, Some(files), out)
}
