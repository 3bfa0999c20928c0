//! Pages of prose, for `explain` and the reference: blocks, rendered as text or as Markdown.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::Style;
use super::markdown::{escape_prose, write_block};
use super::wrap::{least_width, wrap};
use base::text::escape_line;

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// What the page is about: a name, and a sentence about it.
    Title(String, String),
    /// Heading of a section.
    Heading(String),
    /// A paragraph.
    Paragraph(String),
    /// Labels and values.
    Facts(Vec<(String, String)>),
    /// A list.
    Bullets(Vec<String>),
    /// Things to do, in order, with a command line where there is one.
    Steps(Vec<(String, Option<String>)>),
    /// Lines of code, and the language they are in.
    Code(&'static str, String),
    /// Rows below a head.
    Table(Vec<String>, Vec<Vec<String>>),
}

/// Writes a page for a terminal.
pub fn write_text(page: &[Block], style: Style, out: &mut dyn Write) -> io::Result<()> {
    for (number, block) in page.iter().enumerate() {
        if number > 0 && !matches!(block, Block::Facts(_)) && !after_heading(page, number) {
            writeln!(out)?;
        }
        match block {
            Block::Title(name, about) => write_title(name, about, style, out)?,
            Block::Heading(text) => {
                for line in wrap(&escape_line(text), style.width) {
                    writeln!(out, "{}", style.paint.bold(&line))?;
                }
            }
            Block::Paragraph(text) => write_labeled("", "", text, style, out)?,
            Block::Facts(facts) => {
                let label_width = facts.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
                for (label, value) in facts {
                    let pad = " ".repeat(label_width - label.width());
                    write_labeled(label, &pad, value, style, out)?;
                }
            }
            Block::Bullets(items) => {
                for item in items {
                    write_labeled("-", "", item, style, out)?;
                }
            }
            Block::Steps(steps) => {
                for (number, (step, run)) in (1..).zip(steps) {
                    let label = format!("{number}.");
                    write_labeled(&label, "", step, style, out)?;
                    if let Some(run) = run {
                        let command = style.paint.command(&format!("$ {}", escape_line(run)));
                        writeln!(out, "{}{command}", " ".repeat(4 + label.len()))?;
                    }
                }
            }
            Block::Code(_, code) => {
                for line in code.lines() {
                    writeln!(out, "    {}", escape_line(line))?;
                }
            }
            Block::Table(_, rows) => write_table(rows, style, out)?,
        }
    }
    Ok(())
}

/// A name and what it is, on one line if they fit.
fn write_title(name: &str, about: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let name = escape_line(name);
    let about = escape_line(about);
    write!(out, "{}", style.paint.bold(&name))?;
    if about.is_empty() {
        return writeln!(out);
    }
    if style.width == 0 || name.width() + 2 + about.width() <= style.width {
        return writeln!(out, "  {about}");
    }
    writeln!(out)?;
    write_labeled("", "", &about, style, out)
}

/// A label, padded, and a wrapped text beside it; two columns in.
fn write_labeled(
    label: &str,
    pad: &str,
    text: &str,
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let gap = match label {
        "" => 0,
        _ if label.ends_with(['-', '.']) => 1,
        _ => 2,
    };
    let start = 2 + label.width() + pad.len() + gap;
    let width = if style.width == 0 { 0 } else { style.width.saturating_sub(start).max(20) };
    for (number, line) in wrap(&escape_line(text), width).iter().enumerate() {
        if number == 0 {
            let gap = " ".repeat(gap);
            writeln!(out, "  {}{pad}{gap}{line}", style.paint.dim(label))?;
        } else {
            writeln!(out, "{}{line}", " ".repeat(start))?;
        }
    }
    Ok(())
}

/// Least columns for a text that wraps beside others.
const LEAST: usize = 20;
/// Indentation of a cell that stands below the others of its row.
const BELOW: &str = "      ";

/// Rows in columns as wide as their widest cell; the last one wraps, or stands below the others.
pub(super) fn write_table(
    rows: &[Vec<String>],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widths: Vec<usize> = (0..columns)
        .map(|column| rows.iter().filter_map(|row| row.get(column)).map(|c| c.width()).max())
        .map(Option::unwrap_or_default)
        .collect();
    for row in rows {
        // All columns but the last are as wide as their widest cell; the last one wraps.
        let Some((last, cells)) = row.split_last() else { continue };
        let mut label = String::new();
        for (cell, width) in cells.iter().zip(&widths) {
            let cell = escape_line(cell);
            label.push_str(&cell);
            label.push_str(&" ".repeat((width + 2).saturating_sub(cell.width())));
        }
        let start = 2 + label.width();
        let last = escape_line(last);
        let left = style.width.saturating_sub(start);
        // Where it does not fit beside the others, it stands below them.
        let below = !cells.is_empty() && left < least_width(&last).max(LEAST.min(last.width()));
        if style.width > 0 && below {
            writeln!(out, "  {}", label.trim_end())?;
            for line in wrap(&last, style.width.saturating_sub(BELOW.len()).max(LEAST)) {
                writeln!(out, "{BELOW}{line}")?;
            }
            continue;
        }
        let lines = wrap(&last, if style.width == 0 { 0 } else { left.max(LEAST) });
        writeln!(out, "  {label}{}", lines.first().map_or("", String::as_str))?;
        for line in lines.iter().skip(1) {
            writeln!(out, "{}{line}", " ".repeat(start))?;
        }
    }
    Ok(())
}

fn after_heading(page: &[Block], number: usize) -> bool {
    matches!(page[number - 1], Block::Heading(_))
}

/// Writes a page as Markdown; `level` is the heading level of titles.
pub fn write_markdown(page: &[Block], level: usize, out: &mut dyn Write) -> io::Result<()> {
    for (number, part) in page.iter().enumerate() {
        if number > 0 {
            writeln!(out)?;
        }
        match part {
            Block::Title(name, about) => {
                writeln!(out, "{} {}", "#".repeat(level), escape_prose(name))?;
                if !about.is_empty() {
                    writeln!(out, "\n{}", escape_prose(about))?;
                }
            }
            Block::Heading(text) => {
                writeln!(out, "{} {}", "#".repeat(level + 1), escape_prose(text))?;
            }
            Block::Paragraph(text) => writeln!(out, "{}", escape_prose(text))?,
            Block::Facts(facts) => {
                for (label, value) in facts {
                    writeln!(out, "- **{}:** {}", escape_prose(label), escape_prose(value))?;
                }
            }
            Block::Bullets(items) => {
                for item in items {
                    writeln!(out, "- {}", escape_prose(item))?;
                }
            }
            Block::Steps(steps) => {
                for (number, (step, run)) in (1..).zip(steps) {
                    let bullet = format!("{number}. ");
                    writeln!(out, "{bullet}{}", escape_prose(step))?;
                    if let Some(run) = run {
                        writeln!(out)?;
                        write_block(&" ".repeat(bullet.len()), "sh", &escape_line(run), out)?;
                    }
                }
            }
            Block::Code(language, code) => write_block("", language, code, out)?,
            Block::Table(head, rows) => {
                writeln!(out, "| {} |", format_cells(head))?;
                writeln!(out, "|{}", " --- |".repeat(head.len()))?;
                for row in rows {
                    writeln!(out, "| {} |", format_cells(row))?;
                }
            }
        }
    }
    Ok(())
}

fn format_cells(row: &[String]) -> String {
    row.iter().map(|cell| escape_prose(cell)).collect::<Vec<_>>().join(" | ")
}
