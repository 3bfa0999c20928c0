//! The files of a plan for a reviewer: old and new side by side, with the changed words marked and
//! remarks on the places that need manual work.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use similar::{Algorithm, DiffOp, capture_diff_slices};

use super::diff::{lines, operations};
use super::plan::{Plan, PlannedFile};
use super::report::shown;
use super::site::{Decision, Site};
use base::report::{DiffLine, DiffNote, DiffRow, FileDiff, LinePart, Table};
use base::text::Text;
use data::ui;

/// Lines around a change or a flagged place.
const CONTEXT: usize = 3;
/// Maximum number of files in the table of the ledger; `--ledger` writes all of them.
const MAX_FILES: usize = 2000;
/// Maximum number of line pairs of one change to compare for similarity.
const MAX_PAIRS: usize = 10_000;
/// Longer lines are compared as a whole: comparing their words would take too long.
const MAX_WORDS: usize = 4000;

/// The files that change or have places for manual work, one after the other.
pub fn files(plan: &Plan) -> impl Iterator<Item = FileDiff> {
    let shown = |file: &&PlannedFile| file.after.is_some() || file.plan.sites.iter().any(is_shown);
    plan.files.iter().filter(shown).map(compare)
}

/// The ledger by file, starting with the files that have the most unexplained tokens.
pub fn ledger(plan: &Plan) -> Option<Table> {
    let mut files: Vec<_> = plan.ledger.files.iter().map(|file| (file, file.totals())).collect();
    files.sort_by_key(|(_, totals)| Reverse((totals.unexplained, totals.manual)));
    let rest = files.len().saturating_sub(MAX_FILES);
    let mut rows: Vec<Vec<Text>> = files
        .into_iter()
        .take(MAX_FILES)
        .map(|(file, totals)| {
            let counts =
                [totals.tokens, totals.changed, totals.manual, totals.kept, totals.unexplained];
            let counts = counts.map(|count| Text::same(count.to_string()));
            std::iter::once(Text::same(file.path.clone())).chain(counts).collect()
        })
        .collect();
    if rest > 0 {
        let more = ui::ConvertLedgerMore { n: rest }.text();
        rows.push(std::iter::once(more).chain((0..5).map(|_| Text::same(String::new()))).collect());
    }
    (!rows.is_empty()).then(|| Table {
        title: ui::CONVERT_LEDGER_TABLE.text(),
        head: [
            ui::CONVERT_HEAD_FILE,
            ui::CONVERT_HEAD_TOKENS,
            ui::CONVERT_HEAD_CHANGED,
            ui::CONVERT_HEAD_MANUAL,
            ui::CONVERT_HEAD_KEPT,
            ui::CONVERT_HEAD_UNEXPLAINED,
        ]
        .map(ui::Label::text)
        .to_vec(),
        rows,
    })
}

fn is_shown(site: &Site) -> bool {
    site.decision != Decision::Changed
}

/// A row of the table: line numbers from 0.
enum Row {
    Same(usize, usize),
    Changed(Option<usize>, Option<usize>),
    Gap,
}

fn compare(file: &PlannedFile) -> FileDiff {
    let before = file.text();
    let after = file
        .after
        .as_ref()
        .map_or_else(|| before.clone(), |after| super::plan::text_of(file.file.kind, after));
    let (old, new) = (lines(before.as_bytes()), lines(after.as_bytes()));
    let mut notes: BTreeMap<usize, Vec<&Site>> = BTreeMap::new();
    for site in file.plan.sites.iter().filter(|site| is_shown(site)) {
        notes.entry(site.line.saturating_sub(1) as usize).or_default().push(site);
    }
    let changed = file.plan.sites.len() - notes.values().map(Vec::len).sum::<usize>();
    let flagged = (file.plan.sites.len() - changed).to_string();
    let mut shown_rows = Vec::new();
    for row in rows(&old, &new, &notes) {
        let (row, line) = match row {
            Row::Gap => (DiffRow::Gap, None),
            Row::Same(left, right) => (same(old[left], left, right), Some(left)),
            Row::Changed(left, right) => (changed_row(&old, &new, left, right), left),
        };
        shown_rows.push(row);
        let sites = line.and_then(|line| notes.get(&line)).into_iter().flatten();
        shown_rows.extend(sites.map(|site| DiffRow::Note(note(site))));
    }
    FileDiff {
        path: shown(&file.file.path),
        counts: ui::ConvertFileCounts { changed, flagged }.text(),
        rows: shown_rows,
    }
}

fn same(line: &[u8], left: usize, right: usize) -> DiffRow {
    let side = |at: usize| {
        Some(DiffLine {
            number: at + 1,
            changed: false,
            parts: vec![LinePart::Same(text_of(line))],
        })
    };
    DiffRow::Lines { old: side(left), new: side(right) }
}

fn changed_row(old: &[&[u8]], new: &[&[u8]], left: Option<usize>, right: Option<usize>) -> DiffRow {
    let (was, is) = marked(left.map(|at| old[at]), right.map(|at| new[at]));
    let side =
        |at: Option<usize>, parts| at.map(|at| DiffLine { number: at + 1, changed: true, parts });
    DiffRow::Lines { old: side(left, was), new: side(right, is) }
}

/// The changes with the lines around them, and the lines around flagged places.
fn rows(old: &[&[u8]], new: &[&[u8]], notes: &BTreeMap<usize, Vec<&Site>>) -> Vec<Row> {
    let mut all = Vec::new();
    let mut wanted = Vec::new();
    for operation in operations(old, new) {
        let (left, right) = (operation.old_range(), operation.new_range());
        if let DiffOp::Equal { .. } = operation {
            all.extend(left.zip(right).map(|(left, right)| Row::Same(left, right)));
            continue;
        }
        for (was, is) in align_lines(&old[left.clone()], &new[right.clone()]) {
            wanted.push(all.len());
            all.push(Row::Changed(was.map(|at| left.start + at), is.map(|at| right.start + at)));
        }
    }
    for (at, row) in all.iter().enumerate() {
        if let Row::Same(left, _) = row
            && notes.contains_key(left)
        {
            wanted.push(at);
        }
    }
    wanted.sort_unstable();
    let mut shown = Vec::new();
    let mut next = 0;
    let mut wanted = wanted.into_iter().peekable();
    for (at, row) in all.into_iter().enumerate() {
        while wanted.peek().is_some_and(|&line| line + CONTEXT < at) {
            wanted.next();
        }
        if wanted.peek().is_some_and(|&line| line <= at + CONTEXT) {
            if next != at {
                shown.push(Row::Gap);
            }
            next = at + 1;
            shown.push(row);
        }
    }
    shown
}

/// Pairs the old and new lines of a change: in order if there are equally many, otherwise (a line
/// was inserted) by similarity.
fn align_lines(old: &[&[u8]], new: &[&[u8]]) -> Vec<(Option<usize>, Option<usize>)> {
    let (height, width) = (old.len(), new.len());
    if height == width || height * width > MAX_PAIRS {
        let within = |at: usize, len: usize| (at < len).then_some(at);
        return (0..height.max(width)).map(|at| (within(at, height), within(at, width))).collect();
    }
    // The best sum over pairs that do not cross, from each corner to the end.
    let mut best = vec![vec![0; width + 1]; height + 1];
    for at in (0..height).rev() {
        for to in (0..width).rev() {
            let paired = likeness(old[at], new[to]) + best[at + 1][to + 1];
            best[at][to] = paired.max(best[at + 1][to]).max(best[at][to + 1]);
        }
    }
    let (mut at, mut to) = (0, 0);
    let mut rows = Vec::new();
    while at < height || to < width {
        let alike = at < height && to < width && {
            let likeness = likeness(old[at], new[to]);
            likeness > 0 && best[at][to] == likeness + best[at + 1][to + 1]
        };
        if alike {
            rows.push((Some(at), Some(to)));
            (at, to) = (at + 1, to + 1);
        } else if to == width || at < height && best[at][to] == best[at + 1][to] {
            rows.push((Some(at), None));
            at += 1;
        } else {
            rows.push((None, Some(to)));
            to += 1;
        }
    }
    rows
}

/// Number of bytes that two lines have in common at their ends; 0 if that is less than half of
/// them.
fn likeness(old: &[u8], new: &[u8]) -> usize {
    let head = old.iter().zip(new).take_while(|(a, b)| a == b).count();
    let rest = old.len().min(new.len()) - head;
    let tail =
        old.iter().rev().zip(new.iter().rev()).take(rest).take_while(|(a, b)| a == b).count();
    let common = head + tail;
    if 2 * common < old.len().max(new.len()) { 0 } else { common }
}

/// The remark about a place.
fn note(site: &Site) -> DiffNote {
    DiffNote {
        rule: site.rule.id.to_owned(),
        title: site.rule.title(),
        detail: site.detail.clone(),
        advice: (site.decision == Decision::Flagged).then(|| site.rule.fix()),
    }
}

/// A line without its end, with tabs expanded to a fixed width.
fn text_of(line: &[u8]) -> String {
    String::from_utf8_lossy(line).trim_end_matches(['\n', '\r']).replace('\t', "    ")
}

/// Two lines with their different words marked.
fn marked(old: Option<&[u8]>, new: Option<&[u8]>) -> (Vec<LinePart>, Vec<LinePart>) {
    let whole = |line: String| vec![LinePart::Same(line)];
    let (Some(old), Some(new)) = (old.map(text_of), new.map(text_of)) else {
        let side = |line: Option<&[u8]>| line.map(text_of).map(whole).unwrap_or_default();
        return (side(old), side(new));
    };
    let (left, right) = (words(&old), words(&new));
    if left.len() + right.len() > MAX_WORDS {
        return (whole(old.clone()), whole(new.clone()));
    }
    let (mut was, mut is) = (Vec::new(), Vec::new());
    for operation in capture_diff_slices(Algorithm::Myers, &left, &right) {
        let removed = left[operation.old_range()].concat();
        let added = right[operation.new_range()].concat();
        if let DiffOp::Equal { .. } = operation {
            was.push(LinePart::Same(removed));
            is.push(LinePart::Same(added));
            continue;
        }
        if !removed.is_empty() {
            was.push(LinePart::Removed(removed));
        }
        if !added.is_empty() {
            is.push(LinePart::Added(added));
        }
    }
    (was, is)
}

/// Names and single other characters.
fn words(text: &str) -> Vec<&str> {
    let name = |c: char| c.is_alphanumeric() || c == '_';
    let mut words = Vec::new();
    let mut start = 0;
    let mut previous: Option<char> = None;
    for (at, c) in text.char_indices() {
        if previous.is_some_and(|before| !(name(before) && name(c))) {
            words.push(&text[start..at]);
            start = at;
        }
        previous = Some(c);
    }
    if start < text.len() {
        words.push(&text[start..]);
    }
    words
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changed_words_are_marked() {
        let (old, new) =
            marked(Some(b"x = torch.cuda.Stream()\n"), Some(b"x = torch.npu.Stream()\n"));
        let same = |text: &str| LinePart::Same(text.to_owned());
        let removed = LinePart::Removed("cuda".to_owned());
        let added = LinePart::Added("npu".to_owned());
        assert_eq!(old, [same("x = torch."), removed, same(".Stream()")]);
        assert_eq!(new, [same("x = torch."), added, same(".Stream()")]);
        assert_eq!(marked(None, Some(b"\t<a>\r\n")), (Vec::new(), vec![same("    <a>")]));
        assert_eq!(words("a.b_1 "), ["a", ".", "b_1", " "]);
    }

    #[test]
    fn inserted_line_keeps_changed_lines_aligned() {
        let old: [&[u8]; 1] = [b"x = torch.zeros(1, device='cuda')"];
        let new: [&[u8]; 2] = [b"import torch_npu", b"x = torch.zeros(1, device='npu')"];
        assert_eq!(align_lines(&old, &new), [(None, Some(0)), (Some(0), Some(1))]);
        assert_eq!(align_lines(&new, &old), [(Some(0), None), (Some(1), Some(0))]);
        assert_eq!(align_lines(&[b"a"], &[b"b", b"c"]).len(), 3);
    }

    #[test]
    fn page_shows_only_context_of_changes() {
        let text: Vec<String> = (0..40).map(|n| format!("{n}\n")).collect();
        let old: Vec<&[u8]> = text.iter().map(String::as_bytes).collect();
        let mut new = old.clone();
        new[20] = b"changed\n";
        let rows = rows(&old, &new, &BTreeMap::new());
        assert_eq!(rows.len(), 1 + 2 * CONTEXT + 1);
        assert!(matches!(rows[0], Row::Gap));
        assert!(matches!(rows[CONTEXT + 1], Row::Changed(Some(20), Some(20))));
    }
}
