//! Jupyter notebooks: the strings of code cells are changed in place in the JSON file; outputs,
//! metadata, ids, indentation and escapes stay.
//!
//! All Python cells are planned as one source, since a cell uses the imports of earlier cells.
//! Shell cells and shell lines are planned as shell scripts.

use std::ops::Range;

use super::environment;
use super::keep_comment;
use super::rules::{Place, Rules};
use super::shell;
use super::site::{FilePlan, Planner};
use super::syntax::UnparsableText;
use pysyntax::notebook::json::Json;
use pysyntax::notebook::source::{Source, escaped};
use pysyntax::notebook::{Language, blank, joined, language, written_in_python};

/// Plans Python text that may contain `!command` and `%magic` lines; returns `None` if it does not
/// parse.
pub type PlanPython<'a> = dyn Fn(&str) -> Option<FilePlan> + 'a;

/// Plans a notebook of nbformat 3 or 4.
pub fn plan(planner: &mut Planner<'_>, python: &PlanPython<'_>) -> Result<(), UnparsableText> {
    let file = planner.text;
    let document = Json::read(file)?;
    let source = joined(&document, file)?;
    let kinds: Vec<(Language, usize)> =
        source.cells.iter().map(|cell| language(&source.text[cell.range.clone()])).collect();
    let is_python = written_in_python(&document, file);
    let mut plans = Vec::new();
    if is_python && let Some(plan) = python_cells(planner, &source, &kinds, python) {
        plans.push(plan);
    }
    for (cell, (kind, first)) in source.cells.iter().zip(&kinds) {
        let body = cell.range.start + first..cell.range.end;
        if *kind == Language::File
            && let Some(mut plan) = python(&source.text[body.clone()])
        {
            shift(&mut plan, body.start);
            plans.push(plan);
        }
    }
    let mut commands = planner.part(&source.text);
    commands.keep_lines(keep_comment::kept_lines(&source.text, "#"));
    for (cell, (kind, first)) in source.cells.iter().zip(&kinds) {
        let body = cell.range.start + first..cell.range.end;
        match kind {
            // A script that cannot be parsed stays unchanged.
            Language::Shell => {
                let _ = shell::plan_part(&mut commands, &source.text[body.clone()], body.start);
            }
            Language::Python if is_python => lines(&mut commands, &source.text, &body, python),
            _ => {}
        }
    }
    plans.push(commands.finish());
    for plan in &plans {
        write_back(planner, &source, &kinds, plan);
    }
    Ok(())
}

/// The plan for all Python cells; cells that do not parse are omitted and reported.
fn python_cells(
    planner: &mut Planner<'_>,
    source: &Source,
    kinds: &[(Language, usize)],
    python: &PlanPython<'_>,
) -> Option<FilePlan> {
    let mut text = source.text.clone().into_bytes();
    for (cell, (kind, first)) in source.cells.iter().zip(kinds) {
        let end = if *kind == Language::Python { cell.range.start + first } else { cell.range.end };
        blank(&mut text, cell.range.start..end);
    }
    let whole = String::from_utf8(text.clone()).ok()?;
    if let Some(plan) = python(&whole) {
        return Some(plan);
    }
    for (cell, (kind, first)) in source.cells.iter().zip(kinds) {
        let body = cell.range.start + first..cell.range.end;
        if *kind == Language::Python && python(&source.text[body.clone()]).is_none() {
            blank(&mut text, body.clone());
            if super::value::mentions_cuda(&source.text[body.clone()])
                && let Some(place) = source.places(&body).and_then(|mut all| all.drain(..).next())
            {
                planner.flag(Rules::builtin().site(Place::NotebookCell), place, None);
            }
        }
    }
    python(&String::from_utf8(text).ok()?)
}

fn shift(plan: &mut FilePlan, offset: usize) {
    for edit in &mut plan.edits {
        edit.range = edit.range.start + offset..edit.range.end + offset;
    }
    for site in &mut plan.sites {
        site.range = site.range.start + offset..site.range.end + offset;
    }
    for kept in &mut plan.kept {
        kept.range = kept.range.start + offset..kept.range.end + offset;
    }
}

/// The lines of a Python cell that are not Python: `!command`, `x = !command`, `%env A=b`.
fn lines(planner: &mut Planner<'_>, text: &str, body: &Range<usize>, python: &PlanPython<'_>) {
    let mut at = body.start;
    while at < body.end {
        let mut end = line_end(text, at, body.end);
        let line = &text[at..end];
        let trimmed = line.trim_start();
        let start = end - trimmed.len();
        let command = if trimmed.starts_with('!') {
            Some(start + 1 + usize::from(trimmed.starts_with("!!")))
        } else if let Some(equals) = trimmed.find("= !") {
            let target = trimmed[..equals].trim_end();
            let is_name = target.chars().all(|c| c.is_alphanumeric() || c == '_');
            (is_name && !target.is_empty()).then_some(start + equals + 3)
        } else {
            None
        };
        if let Some(from) = command {
            // A backslash at the end continues the line.
            while text[from.min(end)..end].trim_end().ends_with('\\') && end < body.end {
                end = line_end(text, end + 1, body.end);
            }
            if from <= end {
                let _ = shell::plan_part(planner, &text[from..end], from);
            }
        } else if let Some(magic) = trimmed.strip_prefix('%') {
            line_magic(planner, magic, start + 1, python);
        }
        at = end + 1;
    }
}

fn line_end(text: &str, at: usize, limit: usize) -> usize {
    let at = at.min(limit);
    text[at..limit].find('\n').map_or(limit, |len| at + len)
}

fn line_magic(planner: &mut Planner<'_>, magic: &str, offset: usize, python: &PlanPython<'_>) {
    let (name, rest) = magic.split_at(magic.find(' ').unwrap_or(magic.len()));
    let from = offset + name.len() + (rest.len() - rest.trim_start().len());
    let rest = rest.trim_start();
    match name {
        "env" | "set_env" => {
            let len = rest.find(['=', ' ']).unwrap_or(rest.len());
            let (variable, behind) = rest.split_at(len);
            let value = behind.get(1..).unwrap_or_default();
            let known = (!value.contains(['$', '{'])).then(|| value.trim());
            let Some(decision) = environment::assignment(variable, known) else { return };
            if let (Some(_), Some(new)) = (decision.new_name, &decision.new_value) {
                let start = from + len + 1;
                planner.also(
                    decision.rule,
                    &(from..from + len),
                    start..start + value.len(),
                    new.clone(),
                );
            }
            decision.enter(planner, from..from + len, &(from..from + rest.len()));
        }
        // `%timeit -n 10 x.cuda()`
        "time" | "timeit" | "prun" | "memit" => {
            let code = behind_options(rest);
            if let Some(mut plan) = python(code) {
                // An import belongs to the surrounding cells.
                plan.edits.retain(|edit| !edit.range.is_empty());
                plan.sites.retain(|site| !site.range.is_empty());
                planner.enter(plan, from + rest.len() - code.len());
            }
        }
        "pip" | "conda" | "mamba" => {
            let _ = shell::plan_part(planner, magic, offset);
        }
        "run" | "sx" | "system" => {
            let _ = shell::plan_part(planner, rest, from);
        }
        _ => {}
    }
}

/// The text after the options of a magic.
fn behind_options(mut rest: &str) -> &str {
    loop {
        let word = rest.split(' ').next().unwrap_or(rest);
        let number = !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit());
        if !(word.starts_with('-') || number) {
            return rest;
        }
        rest = rest[word.len()..].trim_start();
    }
}

/// Enters the plan of the text into the plan of the file.
fn write_back(
    planner: &mut Planner<'_>,
    source: &Source,
    kinds: &[(Language, usize)],
    plan: &FilePlan,
) {
    for site in &plan.sites {
        let place = source
            .places(&site.range)
            .and_then(|mut all| all.drain(..).next())
            .or_else(|| source.point(site.range.start).map(|at| at..at));
        if let Some(place) = place {
            let detail = site.detail.clone();
            planner.site(site.rule, site.decision, site.certainty, place, detail);
        }
    }
    for kept in &plan.kept {
        if let Some(place) = source.places(&kept.range).and_then(|all| all.into_iter().next()) {
            planner.keep(kept.rule, place, kept.why);
        }
    }
    for edit in &plan.edits {
        if edit.range.is_empty() {
            let (offset, text) = moved(source, kinds, edit.range.start, &edit.text);
            if let Some(at) = source.point(offset) {
                let text = in_lines(planner.text, at, &escaped(&text));
                planner.edit(at..at, text);
            }
            continue;
        }
        let Some(places) = source.places(&edit.range) else { continue };
        // Text that spans several strings is written into the first of them.
        let mut text = escaped(&edit.text);
        for place in places {
            planner.edit(place, std::mem::take(&mut text));
        }
    }
}

/// The JSON for text inserted at `at`: one string for each line if the file has this layout.
fn in_lines(file: &str, at: usize, inserted: &str) -> String {
    let start = file[..at].rfind('\n').map_or(0, |newline| newline + 1);
    let line = &file[start..at];
    let content = line.trim_start();
    let indent = &line[..line.len() - content.len()];
    let mut escape = false;
    let inside = content.strip_prefix('"').is_some_and(|content| {
        content.bytes().all(|byte| {
            let ends = byte == b'"' && !escape;
            escape = byte == b'\\' && !escape;
            !ends
        })
    });
    if !inside {
        return inserted.to_owned();
    }
    let newline = if file[..start].ends_with("\r\n") { "\r\n" } else { "\n" };
    inserted.replace("\\n", &format!("\\n\",{newline}{indent}\""))
}

/// A line that is inserted at the beginning of a cell belongs to the end of the Python cell
/// before it.
fn moved(
    source: &Source,
    kinds: &[(Language, usize)],
    offset: usize,
    text: &str,
) -> (usize, String) {
    let line = text.strip_suffix('\n');
    let is_comment = text.trim_start().starts_with('#');
    if !is_comment
        && let (Some(line), Some(cell)) = (line, source.beginning(offset))
        && let Some(before) = cell.checked_sub(1)
        && kinds.get(before).is_some_and(|(kind, _)| *kind == Language::Python)
    {
        return (source.cells[before].range.end, format!("\n{line}"));
    }
    (offset, text.to_owned())
}

#[cfg(test)]
mod tests;
