//! Code that stays because it handles NPUs next to CUDA, or selects what to build, with the line
//! that shows it.

use std::ops::RangeInclusive;

use ruff_python_ast::Stmt;
use ruff_text_size::{Ranged as _, TextRange};

use crate::ledger::entry::{Class, Reason};
use crate::ledger::text_lines::TextLines;
use crate::python::names::mentions_npu;
use crate::python::npu_branches::{covers, find_kept_ranges, merge_ranges};

/// The ranges that stay, with the lines that can be witnesses.
#[derive(Debug, Clone, Default)]
pub(super) struct Siblings {
    kept: Vec<TextRange>,
    /// Range, reason and witness of each kept range, in the same order.
    witnesses: Vec<Option<(Reason, u32)>>,
}

impl Siblings {
    pub(super) fn of(body: &[Stmt], lines: &TextLines<'_>) -> Self {
        let kept = merge_ranges(find_kept_ranges(body, lines.text));
        let npu: Vec<u32> = numbers(lines, mentions_npu, !kept.is_empty());
        let builds: Vec<u32> =
            numbers(lines, |line| line.contains("CUDAExtension"), !kept.is_empty());
        let witnesses = kept.iter().map(|range| {
            let statement = around(body, *range);
            let first = lines.line(statement.start().to_usize());
            let last = lines.line(statement.end().to_usize());
            let near = lines.line(range.start().to_usize());
            let nearest = |all: &[u32]| closest(all, near, first..=last);
            // The witness may precede the statement, as an early return does.
            let close = |all: &[u32]| closest(all, near, near.saturating_sub(12)..=near + 12);
            let sibling = nearest(&npu).or_else(|| close(&npu));
            sibling
                .map(|line| (Reason::NpuSibling, line))
                .or_else(|| nearest(&builds).map(|line| (Reason::BuildGuard, line)))
        });
        let witnesses = witnesses.collect();
        Self { kept, witnesses }
    }

    /// The class of a token at `at`, if it stays and a line shows why.
    pub(super) fn class(&self, at: TextRange) -> Option<Class> {
        if !covers(&self.kept, at.start(), at.end()) {
            return None;
        }
        let after = self.kept.partition_point(|range| range.start() <= at.start());
        let (reason, line) = (*self.witnesses.get(after.checked_sub(1)?)?)?;
        Some(Class::kept(reason, line))
    }
}

fn numbers(lines: &TextLines<'_>, has: impl Fn(&str) -> bool, needed: bool) -> Vec<u32> {
    if !needed {
        return Vec::new();
    }
    let all = (1..=lines.count()).filter_map(|number| Some((number, lines.number(number)?)));
    let code = all.map(|(number, line)| (number, line.split('#').next().unwrap_or(line)));
    code.filter(|(_, line)| has(line)).map(|(number, _)| number).collect()
}

/// The line of a sorted list that is closest to `near`, within `range`.
fn closest(all: &[u32], near: u32, range: RangeInclusive<u32>) -> Option<u32> {
    let after = all.partition_point(|line| *line < near);
    let next = all.get(after);
    let before = after.checked_sub(1).and_then(|at| all.get(at));
    let within = before.into_iter().chain(next).filter(|line| range.contains(*line));
    within.min_by_key(|line| line.abs_diff(near)).copied()
}

/// The innermost statement with a body around a range: of the module, a function or a class.
fn around(body: &[Stmt], range: TextRange) -> TextRange {
    let mut found = range;
    let mut level = body;
    loop {
        let after = level.partition_point(|stmt| stmt.range().start() <= range.start());
        let Some(stmt) = after.checked_sub(1).and_then(|at| level.get(at)) else { return found };
        if !stmt.range().contains_range(range) {
            return found;
        }
        found = stmt.range();
        level = match stmt {
            Stmt::FunctionDef(def) => &def.body,
            Stmt::ClassDef(def) => &def.body,
            _ => return found,
        };
    }
}
