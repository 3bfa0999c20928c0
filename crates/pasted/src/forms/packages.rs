//! Lists of Python packages: `pip list`, `pip freeze`, `[pip3] name==version` of collect_env.

use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::names;
use crate::version::{is_version, regex};

static LABELLED: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^\[(?:pip3?|conda)\] ([A-Za-z][\w.-]*)(?:==|\s+)(\d[\w.+-]*)(?:\s|$)")
});
static ROW: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^([A-Za-z][\w.-]*)(\s+)(\d[\w.+-]*)(?:\s+(?:/\S*|[\w.-]+:?//\S*|pypi\S*|py\S+_\d+\s+\S+|pypi_\d+\s+pypi|[\w.]*_\d+|[\w.]*_\d+\s+\S+|main))?\s*$",
    )
});
/// A row with a version that is not of a package of the stack.
static OTHER_ROW: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^[A-Za-z_][\w.-]*\s{2,}[\w.+-]+(?:\s{2,}\S+){0,2}$"));
/// The columns of conda: build and channel.
static CONDA: LazyLock<Regex> = LazyLock::new(|| regex(r"\s[\w.]*_\d+(?:\s+\S+)?$"));
static HEADER: LazyLock<Regex> = LazyLock::new(|| regex(r"^(?:Package|Name)\s+Version\b"));
static LIST_COMMAND: LazyLock<Regex> =
    LazyLock::new(|| regex(r"\b(?:pip3?|uv pip|conda|python3? -m pip) (?:list|show|freeze)\b"));
static FREEZE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"^([A-Za-z][\w.-]*)(?:\[[\w,-]*\])?==(v?\d[\w.+-]*)(?:\s*[;#(（].*)?$")
});
/// Bounds that occur only in lists of requirements.
static BOUND: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^[A-Za-z][\w.\[\],-]*\s*(?:>=|~=|<=|!=|<|>)\s*\d|^-r \S|^--extra-index-url|^-i http|^-e \.",
    )
});
static REQUIREMENTS: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)requirements?\b|pyproject|setup\.py|dependenc|依赖要求|依赖文件|要求如下")
});
/// `pip show`: the name and the version are on separate lines.
static SHOWN: LazyLock<Regex> = LazyLock::new(|| regex(r"^Name: ([A-Za-z][\w.-]*)$"));
static SHOWN_VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"^Version: (\d[\w.+-]*)$"));

/// The diagnose script of verl: a heading, and the version on the next line.
static SECTION: LazyLock<Regex> = LazyLock::new(|| regex(r"^-{4,}\s*(Python|verl) Info\s*-{4,}$"));
static SECTION_VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"^Version\s*:\s*(\d[\w.+-]*)$"));

pub(super) fn read(lines: &[Line], found: &mut Found) {
    let mut at = 0;
    while at < lines.len() {
        let Some(line) = lines.get(at) else { break };
        if let Some(row) = LABELLED.captures(&line.text) {
            found.take(at);
            let name = names::of_package(&row[1]);
            found.add_version(&name, &row[2], line, Form::PipFreeze, Rank::Measured);
        } else if let Some(shown) = SHOWN.captures(&line.text)
            && let Some(next) = lines.get(at + 1)
            && let Some(version) = SHOWN_VERSION.captures(&next.text)
        {
            found.take(at + 1);
            let name = names::of_package(&shown[1]);
            found.add_version(&name, &version[1], next, Form::PipList, Rank::Measured);
        } else if let Some(section) = SECTION.captures(&line.text)
            && let Some(next) = lines.get(at + 1)
            && let Some(version) = SECTION_VERSION.captures(&next.text)
        {
            let name = section[1].to_ascii_lowercase();
            found.add_version(&name, &version[1], next, Form::KeyValue, Rank::Measured);
        } else if let Some(run) = run(lines, at) {
            // Sentences before a list can look like rows. The wide rows after them are then tried
            // separately, so that no line is read more than twice.
            at = if run.is_list {
                list(lines, at, run.end, found);
                run.end
            } else if run.wide_from > at {
                run.wide_from
            } else {
                run.end
            };
            continue;
        } else if let Some(end) = freeze_end(lines, at) {
            freeze(lines, at, end, found);
            at = end;
            continue;
        }
        at += 1;
    }
}

fn row(line: &Line) -> Option<(&str, &str, usize)> {
    if line.kind == Kind::Quotation || line.kind == Kind::Comment {
        return None;
    }
    let row = ROW.captures(&line.text)?;
    let (name, gap, version) = (row.get(1)?, row.get(2)?, row.get(3)?);
    is_version(version.as_str()).then(|| (name.as_str(), version.as_str(), gap.len()))
}

/// A run of rows.
struct Run {
    end: usize,
    /// Whether it is a list of packages.
    is_list: bool,
    /// The first of the rows at the end of the run that all have wide gaps.
    wide_from: usize,
}

/// The run of rows that begins at `from`. The rows are a list of packages below a header or a
/// command, or if there are at least two of which one is a package of the stack.
fn run(lines: &[Line], from: usize) -> Option<Run> {
    let first = lines.get(from)?;
    row(first)?;
    let mut end = from;
    let (mut known, mut count, mut wide_from) = (0, 0, from);
    while let Some(line) = lines.get(end)
        && line.block == first.block
    {
        if let Some((name, _, gap)) = row(line) {
            known += usize::from(names::is_known_package(name));
            count += 1;
            if gap < 2 {
                wide_from = end + 1;
            }
        } else {
            // The author omitted rows (`...`), or the version has another shape: `2024a`.
            let skipped = line.text.trim_end_matches(['.', '…']).is_empty();
            let other = OTHER_ROW.is_match(&line.text) && !HEADER.is_match(&line.text);
            if line.kind != Kind::Text || !(skipped || other) {
                break;
            }
        }
        end += 1;
    }
    let before = from.checked_sub(1).and_then(|at| lines.get(at));
    let announced = before.is_some_and(|line| {
        HEADER.is_match(&line.text)
            || LIST_COMMAND.is_match(&line.text)
            || line.text.starts_with("-----")
    });
    let wide = wide_from == from;
    let is_list = announced || known >= 2 || known == 1 && count >= 2 && wide;
    Some(Run { end, is_list, wide_from })
}

fn list(lines: &[Line], from: usize, end: usize, found: &mut Found) {
    for index in from..end {
        if let Some(line) = lines.get(index)
            && let Some((package, version, _)) = row(line)
        {
            // Conda manages the interpreter like a package.
            if package == "python" && CONDA.is_match(&line.text) {
                found.take(index);
                found.add_version("python", version, line, Form::PipList, Rank::Measured);
                continue;
            }
            // The reader of labels handles rows for the driver and CANN in such a list.
            if names::of_label(package).is_some_and(|name| {
                !name.starts_with("package.") && !names::is_known_package(package)
            }) {
                continue;
            }
            found.take(index);
            let name = names::of_package(package);
            found.add_version(&name, version, line, Form::PipList, Rank::Measured);
        }
    }
}

/// The end of a run of `name==version` lines and requirements, if one begins at `from`.
fn freeze_end(lines: &[Line], from: usize) -> Option<usize> {
    let first = lines.get(from)?;
    let is_row = |line: &Line| {
        line.kind != Kind::Quotation && (FREEZE.is_match(&line.text) || BOUND.is_match(&line.text))
    };
    if !is_row(first) {
        return None;
    }
    let mut end = from;
    while lines.get(end).is_some_and(|line| line.block == first.block && is_row(line)) {
        end += 1;
    }
    Some(end)
}

fn freeze(lines: &[Line], from: usize, end: usize, found: &mut Found) {
    let run = lines.get(from..end).unwrap_or_default();
    let before = from.checked_sub(1).and_then(|at| lines.get(at));
    let required = run.iter().any(|line| BOUND.is_match(&line.text))
        || before.is_some_and(|line| {
            REQUIREMENTS.is_match(&line.text)
                && !LIST_COMMAND.is_match(&line.text)
                && !line.text.contains("pip install")
        });
    let measured = before.is_some_and(|line| LIST_COMMAND.is_match(&line.text))
        || run.iter().filter(|line| FREEZE.is_match(&line.text)).count() >= 8;
    let rank = if measured { Rank::Measured } else { Rank::Written };
    for (offset, line) in run.iter().enumerate() {
        let Some(row) = FREEZE.captures(&line.text) else { continue };
        found.take(from + offset);
        let name = match &row[1] {
            label if names::is_known_package(label) => names::of_package(label),
            label => names::of_label(label).unwrap_or_else(|| names::of_package(label)),
        };
        if required {
            found.reject(&name, &row[2], line, Form::PipFreeze, Reason::Requirement);
        } else {
            found.add_version(&name, &row[2], line, Form::PipFreeze, rank);
        }
    }
}
