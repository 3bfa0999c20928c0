//! Pages of prose, for `explain` and the reference: blocks, rendered as text or as Markdown.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::Style;
use super::markdown::{escape_prose, write_block};
use super::wrap::{least_width, wrap, write_command};
use base::text::escape_line;

/// A part of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Block {
    /// The subject of the page: a name, and a sentence about it.
    Title(String, String),
    /// Heading of a section.
    Heading(String),
    /// A paragraph.
    Paragraph(String),
    /// Labels and values.
    Facts(Vec<(String, String)>),
    /// A list.
    Bullets(Vec<String>),
    /// Steps in order, some with a command line.
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
                        write_command(&format!("$ {run}"), 4 + label.len(), style, out)?;
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

/// Writes a name and its description, on one line if they fit.
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

/// Writes a padded label and a wrapped text next to it; indented by two columns.
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

/// The minimum number of columns for a text that wraps next to others.
const LEAST: usize = 20;
/// Indentation of a cell below the others of its row.
const BELOW: &str = "      ";

/// Writes rows in columns as wide as their widest cell, as far as there is room; the last column
/// wraps, or is below the others.
pub(super) fn write_table(
    rows: &[Vec<String>],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    let rows: Vec<Vec<String>> = rows
        .iter()
        .map(|row| row.iter().map(|cell| escape_line(cell).into_owned()).collect())
        .collect();
    let widths = column_widths(&rows, style.width);
    for row in &rows {
        let Some((last, cells)) = row.split_last() else { continue };
        let cells: Vec<(Vec<String>, usize)> =
            cells.iter().zip(&widths).map(|(cell, &width)| (wrap(cell, width), width)).collect();
        let label = |line: usize| {
            let parts = cells.iter().map(|(lines, width)| {
                let text = lines.get(line).map_or("", String::as_str);
                format!("{text}{}", " ".repeat((width + 2).saturating_sub(text.width())))
            });
            parts.collect::<String>()
        };
        let height = cells.iter().map(|(lines, _)| lines.len()).max().unwrap_or(0);
        let start = 2 + cells.iter().map(|(_, width)| width + 2).sum::<usize>();
        let left = style.width.saturating_sub(start);
        // If it does not fit next to the others, it is placed below them.
        let below = !cells.is_empty() && left < least_width(last).max(LEAST.min(last.width()));
        if style.width > 0 && below {
            for line in 0..height {
                writeln!(out, "  {}", label(line).trim_end())?;
            }
            for line in wrap(last, style.width.saturating_sub(BELOW.len()).max(LEAST)) {
                writeln!(out, "{BELOW}{line}")?;
            }
            continue;
        }
        let lines = wrap(last, if style.width == 0 { 0 } else { left.max(LEAST) });
        for line in 0..height.max(lines.len()).max(1) {
            let text = lines.get(line).map_or("", String::as_str);
            writeln!(out, "  {}", format!("{}{text}", label(line)).trim_end())?;
        }
    }
    Ok(())
}

/// The widths of the columns: those of the widest cells, and less for the widest column if there
/// would be no room for the last one.
fn column_widths(rows: &[Vec<String>], width: usize) -> Vec<usize> {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let widest = |column: usize, of: &dyn Fn(&String) -> usize| {
        rows.iter().filter_map(|row| row.get(column)).map(of).max().unwrap_or_default()
    };
    let mut widths: Vec<usize> =
        (0..columns).map(|column| widest(column, &|cell| cell.width())).collect();
    let Some((last, others)) = widths.split_last_mut() else { return widths };
    let needed = 2 + others.iter().map(|width| width + 2).sum::<usize>() + LEAST.min(*last);
    let missing = needed.saturating_sub(width);
    if width > 0
        && missing > 0
        && let Some((column, most)) = others.iter_mut().enumerate().max_by_key(|(_, width)| **width)
    {
        *most = most.saturating_sub(missing).max(widest(column, &|cell| least_width(cell)));
    }
    widths
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
