//! The releases and wheels of torch_npu that have a kernel for operators without one.

use base::report::Table;
use base::text::Text;
use data::ui;

use super::input::{AuditedInput, attention};
use super::members::{ReleaseRange, TorchReleases};
use crate::classify::ClassifiedOperator;
use crate::ops::Tables;
use crate::ops::tables::Column;

/// Returns the table of `--all-versions`.
pub(super) fn table(read: &[AuditedInput], tables: &Tables) -> Option<Table> {
    let mut rows: Vec<Vec<Text>> = attention(read)
        .filter(|judged| judged.op.namespace == "aten" || judged.op.namespace == "npu")
        .map(|judged| {
            let releases = releases(judged, tables);
            let said = if releases.is_empty() {
                ui::OPS_NO_RELEASE.text()
            } else {
                Text::same(describe_all(&releases))
            };
            vec![Text::same(judged.op.to_string()), said]
        })
        .collect();
    rows.dedup();
    (!rows.is_empty()).then(|| Table {
        title: ui::OPS_TABLE_VERSIONS.text(),
        head: [ui::OPS_HEAD_OPERATOR, ui::OPS_HEAD_RELEASES].map(ui::Label::text).to_vec(),
        rows,
    })
}

/// Formats releases in one line: `2.1.0: 6.0.rc3–7.2.0; 2.4.0: 7.0.0`.
pub(super) fn describe_all(releases: &[TorchReleases]) -> String {
    releases.iter().map(describe).collect::<Vec<_>>().join("; ")
}

/// Formats the releases of one PyTorch version: `2.1.0: 6.0.rc3–7.2.0, 7.4.0`.
fn describe(of: &TorchReleases) -> String {
    let ranges = of.releases.iter().map(|ReleaseRange { first, last }| {
        if first == last { first.clone() } else { format!("{first}–{last}") }
    });
    format!("{}: {}", of.torch, ranges.collect::<Vec<_>>().join(", "))
}

/// Returns the releases that have kernels for the overloads that determine the class of an
/// operator, by PyTorch version. A gap separates two ranges. If the last release has no kernel,
/// includes the wheels with known registrations that have one: `2.9.0: 2.9.0.post9`.
pub(super) fn releases(judged: &ClassifiedOperator, tables: &Tables) -> Vec<TorchReleases> {
    let own = vec![judged.op.to_string()];
    let names = if judged.through.is_empty() { &own } else { &judged.through };
    let runs = names.iter().map(|name| match name.split_once("::") {
        Some(("npu", name)) => tables.custom(name),
        Some((_, name)) => tables.kernel(name),
        None => None,
    });
    let Some(runs) = runs.collect::<Option<Vec<_>>>() else { return Vec::new() };
    let there = |at: usize| runs.iter().all(|runs| runs.at(at).is_some());
    let columns: Vec<(&Column, bool)> =
        tables.columns.iter().enumerate().map(|(at, column)| (column, there(at))).collect();
    let same_torch = columns.chunk_by(|a, b| a.0.torch == b.0.torch);
    same_torch.filter_map(of_torch).collect()
}

/// Returns the releases of one PyTorch version; `None` if none has the kernels.
fn of_torch(columns: &[(&Column, bool)]) -> Option<TorchReleases> {
    let of_releases: Vec<(&Column, bool)> =
        columns.iter().filter(|(column, _)| column.is_published()).copied().collect();
    let runs = of_releases.chunk_by(|a, b| a.1 == b.1).filter(|run| run[0].1);
    let range =
        |first: &str, last: &str| ReleaseRange { first: first.to_owned(), last: last.to_owned() };
    let ends = |run: &[(&Column, bool)]| Some(range(run.first()?.0.release, run.last()?.0.release));
    let mut releases: Vec<ReleaseRange> = runs.filter_map(ends).collect();
    if of_releases.last().is_none_or(|(_, there)| !there) {
        let wheels = columns.iter().filter(|(column, there)| *there && column.origin.is_wheel());
        releases.extend(wheels.map(|(column, _)| range(column.release, column.release)));
    }
    let (column, _) = columns.first()?;
    (!releases.is_empty()).then(|| TorchReleases { torch: column.torch.to_owned(), releases })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ops::tables::Origin;

    fn column(origin: Origin, release: &'static str) -> Column {
        Column { origin, torch: "2.9.0", release, wheels: vec![], cann: vec![], date: None }
    }

    #[test]
    fn lists_release_gaps_and_wheels() {
        let released = ["7.3.0", "26.0.0", "26.0.1", "26.1.0"];
        let said = |there: [bool; 6]| {
            let mut columns: Vec<Column> =
                released.iter().map(|name| column(Origin::Release, name)).collect();
            columns.push(column(Origin::Release, "master"));
            columns.push(column(Origin::Dispatcher, "2.9.0.post9"));
            of_torch(&columns.iter().zip(there).collect::<Vec<_>>()).as_ref().map(describe)
        };
        let text = |said: &str| Some(said.to_owned());
        assert_eq!(said([false; 6]), None);
        assert_eq!(said([true; 6]), text("2.9.0: 7.3.0–26.1.0"));
        assert_eq!(
            said([true, false, true, true, true, true]),
            text("2.9.0: 7.3.0, 26.0.1–26.1.0")
        );
        // A wheel that was built after the last release.
        assert_eq!(said([false, false, false, false, true, true]), text("2.9.0: 2.9.0.post9"));
        assert_eq!(
            said([true, true, false, false, false, true]),
            text("2.9.0: 7.3.0–26.0.0, 2.9.0.post9")
        );
    }
}
