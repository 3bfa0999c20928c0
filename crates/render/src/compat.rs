//! The page of `compat`: advice first, then the tables.

use std::io::{self, Write};

use unicode_width::UnicodeWidthStr as _;

use super::Style;
use super::plain::{labeled_sentence, write_overview};
use super::wrap::{wrap, write_command};
use base::report::Report;
use base::text::{Lang, escape_line};
use data::{
    Matrix,
    matrix::{Level, Plan},
    ui,
};

/// The content of the page.
pub struct CompatPage<'a> {
    /// Machine, provenance, and the reason if there is no advice.
    pub report: &'a Report,
    /// The rows that match the filters.
    pub matrix: &'a Matrix,
    /// The versions to install.
    pub advice: Option<&'a Plan>,
}

/// Writes a page about compatible versions.
pub fn render_compat(page: &CompatPage<'_>, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let say = |label: ui::Label| label.get(style.lang);
    let heading = |label: ui::Label| style.paint.bold(&say(label));
    writeln!(out, "{}", heading(ui::COMPAT_MACHINE))?;
    write_overview(page.report, style, out)?;
    writeln!(out)?;
    for reason in &page.report.unanswered {
        write_paragraph(&escape_line(reason.get(style.lang)), "", style, out)?;
        writeln!(out)?;
    }
    if let Some(advice) = page.advice {
        let versions = advice.versions().join(match style.lang {
            Lang::En => ", ",
            Lang::Zh => "、",
        });
        let install = heading(ui::COMPAT_INSTALL);
        writeln!(out, "{}", labeled_sentence(&install, &versions, style.lang))?;
        for command in advice.commands() {
            write_command(command, 2, style, out)?;
        }
        writeln!(out, "{}", heading(ui::COMPAT_REASONS))?;
        for reason in advice.reasons() {
            write_paragraph(&escape_line(reason.get(style.lang)), "  - ", style, out)?;
        }
        if style.verbose {
            writeln!(out, "{}", heading(ui::COMPAT_SOURCES))?;
            for source in advice.sources() {
                write_paragraph(&escape_line(source), "  - ", style, out)?;
            }
        }
        writeln!(out)?;
    }
    if !style.quiet {
        write_tables(page.matrix, style, out)?;
    }
    for (_, value) in &page.report.provenance {
        let text = ui::CompatAsOf { matrix: value }.text();
        write_paragraph(&escape_line(text.get(style.lang)), "", style, out)?;
    }
    Ok(())
}

fn write_tables(matrix: &Matrix, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let say = |label: ui::Label| label.get(style.lang);
    let torch_npu: Vec<[String; 4]> = matrix
        .torch_npu
        .iter()
        .map(|row| {
            let mark = if row.level == Level::Recommended { "" } else { "~" };
            let recommended = row.cann.as_ref().map(ToString::to_string);
            let mut cann: Vec<String> = recommended.into_iter().collect();
            for other in Matrix::accepted_cann(matrix, row) {
                if !cann.contains(&other) {
                    cann.push(other);
                }
            }
            let pythons = row.pythons();
            [
                format!("{}{mark}", row.version),
                row.torch.to_string(),
                if cann.is_empty() { say(ui::UNKNOWN_VALUE) } else { cann.join(" ") },
                match (pythons.first(), pythons.last()) {
                    (Some(first), Some(last)) => format!("{first}-{last}"),
                    _ => say(ui::UNKNOWN_VALUE),
                },
            ]
        })
        .collect();
    write_table(
        &say(ui::COMPAT_TABLE_TORCH_NPU),
        ["torch_npu", "torch", "CANN", "Python"],
        &torch_npu,
        style,
        out,
    )?;

    let mut drivers: Vec<[String; 4]> = Vec::new();
    for pair in matrix.pairs.iter().filter(|pair| pair.level != Level::Reported) {
        let mark = if pair.level == Level::Recommended { "" } else { "~" };
        let hdk = match &pair.product {
            Some(product) => format!("{} ({product})", pair.hdk),
            None => format!("{}{mark}", pair.hdk),
        };
        let cann = pair.cann.to_string();
        match drivers.last_mut() {
            Some(last) if last[0] == cann => {
                if !last[2].split(", ").any(|known| known == hdk) {
                    last[2] = format!("{}, {hdk}", last[2]);
                }
            }
            _ => drivers.push([cann, String::new(), hdk, String::new()]),
        }
    }
    write_table(&say(ui::COMPAT_TABLE_PAIR), ["CANN", "", "HDK", ""], &drivers, style, out)?;

    let plugins: Vec<[String; 4]> = matrix
        .vllm_ascend
        .iter()
        .map(|row| {
            let mark = if row.level == Level::Recommended { "" } else { "~" };
            let npu =
                row.torch_npu.first().map_or_else(|| say(ui::UNKNOWN_VALUE), ToString::to_string);
            let triton = row.triton_ascend.first().map(|t| format!(", triton-ascend {t}"));
            [
                format!("{}{mark}", row.version),
                row.vllm.iter().map(ToString::to_string).collect::<Vec<_>>().join(" "),
                format!("CANN {}, torch_npu {npu}{}", row.cann, triton.unwrap_or_default()),
                row.python.to_string().replace(", ", ","),
            ]
        })
        .collect();
    write_table(
        &say(ui::COMPAT_TABLE_VLLM),
        ["vllm-ascend", "vllm", "", "Python"],
        &plugins,
        style,
        out,
    )?;

    let mindspore: Vec<[String; 4]> = matrix
        .mindspore
        .iter()
        .filter_map(|row| {
            let cann = row.cann.as_ref()?.to_string();
            let python = row.python_documented.clone().unwrap_or_else(|| row.python.join(" "));
            Some([row.version.clone(), cann, row.cann_internal.join(" "), python])
        })
        .collect();
    write_table(
        &say(ui::COMPAT_TABLE_MINDSPORE),
        ["MindSpore", "CANN", "compiler", "Python"],
        &mindspore,
        style,
        out,
    )?;
    let nothing = torch_npu.is_empty() && drivers.is_empty() && plugins.is_empty();
    write_paragraph(
        &say(if nothing { ui::COMPAT_EMPTY } else { ui::COMPAT_LEGEND }),
        "",
        style,
        out,
    )
}

/// Writes a table of four columns, of which the third is wrapped.
fn write_table(
    title: &str,
    head: [&str; 4],
    rows: &[[String; 4]],
    style: Style,
    out: &mut dyn Write,
) -> io::Result<()> {
    if rows.is_empty() {
        return Ok(());
    }
    write_paragraph(&style.paint.bold(title), "", style, out)?;
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].width());
        cells.chain([head[column].width()]).max().unwrap_or(0)
    };
    let (first, second, last) = (width(0), width(1), width(3));
    let gaps = 2 + 2 + if second > 0 { 2 } else { 0 } + if last > 0 { 2 } else { 0 };
    let room = style.width.saturating_sub(first + second + last + gaps).max(16);
    let third = width(2).min(room);
    let mut line = |cells: [&str; 4], dim: bool| -> io::Result<()> {
        let parts = wrap(cells[2], third);
        for at in 0..parts.len().max(1) {
            let cell = |column: usize| if at == 0 { cells[column] } else { "" };
            let middle = parts.get(at).map_or("", String::as_str);
            let mut text = String::new();
            let padded = [(cell(0), first), (cell(1), second), (middle, third), (cell(3), last)];
            for (cell, columns) in padded.into_iter().filter(|&(_, columns)| columns > 0) {
                // Padded manually: `format!` counts a Chinese character as one column.
                let pad = " ".repeat(columns.saturating_sub(cell.width()));
                text.push_str(&format!("  {cell}{pad}"));
            }
            let text = escape_line(text.trim_end()).into_owned();
            writeln!(out, "{}", if dim { style.paint.dim(&text) } else { text })?;
        }
        Ok(())
    };
    line(head, true)?;
    for row in rows {
        line([&row[0], &row[1], &row[2], &row[3]], false)?;
    }
    writeln!(out)
}

fn write_paragraph(text: &str, lead: &str, style: Style, out: &mut dyn Write) -> io::Result<()> {
    let pad = " ".repeat(lead.width());
    let width = if style.width == 0 { 0 } else { style.width.saturating_sub(lead.width()) };
    for (at, line) in wrap(text, width).iter().enumerate() {
        writeln!(out, "{}{line}", if at == 0 { lead } else { &pad })?;
    }
    Ok(())
}
