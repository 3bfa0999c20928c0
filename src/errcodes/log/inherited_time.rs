//! Times of lines without a timestamp.

use super::gravity::Gravity;
use super::scan::Record;
use super::time::Time;

/// The maximum number of lines between the parts of one failure.
const NEAR: u64 = 16;

/// Corrects the times that lines inherited from lines before them, because a line of another
/// program, pasted or logged in between, may state any time. If a failed line nearby states its own
/// time, that is the time of the failure; elsewhere it bounds the inherited times.
pub(super) fn settle_inherited_times(records: &mut [Record]) {
    let stated: Vec<Option<Time>> = records.iter().map(stated_time).collect();
    let mut earlier: Option<Time> = None;
    for index in 0..records.len() {
        let record = &records[index];
        let Some(inherited) = record.hit.fields.time.filter(|_| !record.timed) else {
            earlier = stated[index].max(earlier);
            continue;
        };
        let later = || stated[index + 1..].iter().copied().flatten().min();
        let settled = find_time_nearby(records, &stated, index).unwrap_or_else(|| {
            let bounded = later().map_or(inherited, |later| inherited.min(later));
            earlier.map_or(bounded, |earlier| bounded.max(earlier))
        });
        let record = &mut records[index];
        record.last = record.last.map(|last| if last == inherited { settled } else { last });
        record.hit.fields.time = Some(settled);
    }
}

/// Returns the time that a failed line states.
fn stated_time(record: &Record) -> Option<Time> {
    let states = record.timed && record.hit.gravity == Gravity::Failure;
    record.hit.fields.time.filter(|_| states)
}

/// Returns the time that the nearest failed line of the same rank states, above first.
fn find_time_nearby(records: &[Record], stated: &[Option<Time>], index: usize) -> Option<Time> {
    let own = &records[index];
    let distance = |other: &usize| records[*other].line.abs_diff(own.line);
    let is_same_rank = |other: &usize| match (records[*other].hit.fields.rank, own.hit.fields.rank)
    {
        (Some(other), Some(own)) => other == own,
        _ => true,
    };
    let fits = |other: &usize| stated[*other].is_some() && is_same_rank(other);
    let near = |other: &usize| distance(other) <= NEAR;
    let above = (0..index).rev().take_while(near).find(fits);
    let below = (index + 1..records.len()).take_while(near).find(fits);
    [above, below].into_iter().flatten().min_by_key(distance).and_then(|other| stated[other])
}

#[cfg(test)]
mod tests {
    use crate::log::scan::{Limits, scan};

    /// The times of all records of `log`, by line.
    fn times(log: &str) -> Vec<(u64, String)> {
        let mut report = scan("a.log", &mut log.as_bytes(), Limits::default());
        super::settle_inherited_times(&mut report.records);
        let stated = report.records.iter();
        stated
            .map(|one| {
                (one.line, one.hit.fields.time.map_or(String::new(), |time| time.to_string()))
            })
            .collect()
    }

    const STATED: &str =
        "[ERROR] HCCL(7,python):2025-06-25-10:45:23.586.187 [a.cc:1] [7]error code is 507035\n";
    const UNTIMED: &str = "RuntimeError: NPU out of memory\n";
    const OTHER: &str = "WARNING 2026-07-01 00:00:00 [registry.py:401] all is well\n";

    #[test]
    fn a_failed_line_nearby_dates_a_line_without_time() {
        for log in [
            format!("{STATED}{OTHER}{UNTIMED}"),
            format!("{OTHER}{UNTIMED}{STATED}"),
            format!("{OTHER}{UNTIMED}{OTHER}{STATED}{OTHER}"),
        ] {
            for (line, time) in times(&log) {
                assert_eq!(time, "2025-06-25 10:45:23.586", "line {line} of {log}");
            }
        }
    }

    #[test]
    fn far_from_failed_lines_a_time_is_kept_between_theirs() {
        let far = "step\n".repeat(20);
        let log = format!("{STATED}{far}{OTHER}{UNTIMED}{far}{STATED}");
        assert_eq!(times(&log)[0].1, "2025-06-25 10:45:23.586");
        let alone = format!("{OTHER}{UNTIMED}");
        assert_eq!(times(&alone), [(2, "2026-07-01 00:00:00.000".to_owned())]);
    }
}
