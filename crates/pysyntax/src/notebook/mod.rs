//! Jupyter notebooks: code cells as one text, with a mapping to the bytes of the JSON file.

pub mod json;
pub mod source;

use std::ops::Range;

use self::json::Json;
use self::source::Source;
use super::UnparsableText;

/// The language of a cell.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Language {
    /// Python.
    Python,
    /// A shell script.
    Shell,
    /// A Python file that the cell writes.
    File,
    /// Anything else.
    Other,
}

/// The Python code of a notebook, for callers that only read it.
#[derive(Debug, PartialEq, Eq)]
pub struct Code {
    /// All Python cells, one after another; other cells, and those that do not parse, are blank.
    pub text: String,
    /// The line of the file in which each line of the text begins, from 1.
    pub lines: Vec<u32>,
    /// Cells that do not parse.
    pub left_out: usize,
}

/// The Python cells of a notebook of nbformat 3 or 4; `None` if it is for another language.
/// `parses` is whether a text is Python, with or without `!command` and `%magic` lines.
///
/// # Errors
///
/// If the file is not JSON, or a cell is not text.
pub fn code(file: &str, parses: &dyn Fn(&str) -> bool) -> Result<Option<Code>, UnparsableText> {
    let document = Json::read(file)?;
    let source = joined(&document, file)?;
    if !written_in_python(&document, file) {
        return Ok(None);
    }
    let mut text = source.text.clone().into_bytes();
    let mut python = Vec::new();
    for cell in &source.cells {
        let (kind, first) = language(&source.text[cell.range.clone()]);
        let whole = kind == Language::Python;
        let end = if whole { cell.range.start + first } else { cell.range.end };
        blank(&mut text, cell.range.start..end);
        if whole {
            python.push(cell.range.start + first..cell.range.end);
        }
    }
    let mut left_out = 0;
    if std::str::from_utf8(&text).is_ok_and(|whole| !parses(whole)) {
        for body in python {
            if !parses(&source.text[body.clone()]) {
                blank(&mut text, body);
                left_out += 1;
            }
        }
    }
    let starts = std::iter::once(0).chain(source.text.match_indices('\n').map(|(at, _)| at + 1));
    let mut line = Lines { file, at: 0, line: 1 };
    let lines = starts.map(|start| line.of(source.point(start))).collect();
    // Blanks replace complete characters.
    let text = String::from_utf8(text).map_err(|_| UnparsableText { at: 0 })?;
    Ok(Some(Code { text, lines, left_out }))
}

/// Lines of a file at increasing offsets.
struct Lines<'f> {
    file: &'f str,
    at: usize,
    line: u32,
}

impl Lines<'_> {
    fn of(&mut self, offset: Option<usize>) -> u32 {
        if let Some(passed) = offset.and_then(|offset| self.file.get(self.at..offset)) {
            let more = passed.bytes().filter(|byte| *byte == b'\n').count();
            self.line = self.line.saturating_add(u32::try_from(more).unwrap_or(u32::MAX));
            self.at += passed.len();
        }
        self.line
    }
}

/// The text of all code cells.
pub fn joined(document: &Json, file: &str) -> Result<Source, UnparsableText> {
    let mut source = Source::default();
    for cell in code_cells(document, file) {
        let body = cell.get(file, "source").or_else(|| cell.get(file, "input"));
        let strings: Vec<Range<usize>> = match body {
            Some(Json::Text(range)) => vec![range.clone()],
            Some(Json::Array(items)) => items
                .iter()
                .filter_map(|item| match item {
                    Json::Text(range) => Some(range.clone()),
                    _ => None,
                })
                .collect(),
            _ => continue,
        };
        if !source.add(file, &strings) {
            return Err(UnparsableText { at: strings.first().map_or(0, |range| range.start) });
        }
    }
    Ok(source)
}

/// Blanks a part of a text, and keeps its line ends.
pub fn blank(text: &mut [u8], range: Range<usize>) {
    for byte in text[range].iter_mut().filter(|byte| **byte != b'\n') {
        *byte = b' ';
    }
}

fn code_cells<'j>(document: &'j Json, file: &str) -> Vec<&'j Json> {
    let sheets = document.get(file, "worksheets").map_or(&[][..], Json::items);
    std::iter::once(document)
        .chain(sheets)
        .filter_map(|sheet| sheet.get(file, "cells"))
        .flat_map(Json::items)
        .filter(|cell| cell.get(file, "cell_type").and_then(|kind| kind.text(file)) == Some("code"))
        .collect()
}

/// Whether the notebook declares Python or no language.
pub fn written_in_python(document: &Json, file: &str) -> bool {
    let metadata = document.get(file, "metadata");
    let named = [("language_info", "name"), ("kernelspec", "language")]
        .iter()
        .find_map(|(table, key)| metadata?.get(file, table)?.get(file, key)?.text(file));
    named.is_none_or(|name| {
        let name = name.to_ascii_lowercase();
        name.contains("python") || name.contains("sage")
    })
}

/// The language of a cell, and the start of its text behind a cell magic.
pub fn language(text: &str) -> (Language, usize) {
    let start = text.len() - text.trim_start().len();
    let Some(magic) = text[start..].strip_prefix("%%") else { return (Language::Python, 0) };
    let line = magic.lines().next().unwrap_or_default();
    let first = text[start..].find('\n').map_or(text.len(), |at| start + at + 1);
    let mut words = line.split_ascii_whitespace();
    let language = match words.next().unwrap_or_default() {
        "bash" | "sh" | "shell" | "zsh" => Language::Shell,
        "script" if words.next().is_some_and(|name| name.ends_with("sh")) => Language::Shell,
        "time" | "timeit" | "capture" | "prun" | "python" | "python3" | "memit" | "pypy"
        | "debug" | "mprun" | "wandb" => Language::Python,
        "writefile" | "file" if line.trim_end().ends_with(".py") => Language::File,
        _ => Language::Other,
    };
    (language, first)
}
