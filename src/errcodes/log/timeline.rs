//! The ranks of a job over time: the first failure, and the logs that continue or are missing.

use std::collections::BTreeMap;

use serde::Serialize;

use super::gravity::Gravity;
use super::line_fields::Fields;
use super::process::ProcessTable;
use super::rank::{Candidate, Item};
use super::role::Role;
use super::scan::FileReport;
use super::time::Time;
use crate::cause;
use base::text::Text;

/// Maximum number of listed ranks.
const MAX_RANKS: usize = 256;

/// The ranks over time; the rank with the first failure comes first.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Timeline {
    /// Failed ranks by time, then other ranks, then ranks without a log.
    pub ranks: Vec<RankLine>,
    /// Number of omitted ranks.
    pub more_ranks: usize,
}

/// A rank over time.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankLine {
    /// The rank.
    pub rank: u32,
    /// How its log ends.
    pub state: RankState,
    /// The first known line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_line: Option<Moment>,
    /// The first line that reports a failure.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub first_failure: Option<RankFailure>,
    /// The last known line.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub last_line: Option<Moment>,
}

/// The state of a rank.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum RankState {
    /// A line of the rank reports a failure.
    Failed,
    /// The log of the rank has no such line.
    NoFailure,
    /// Other ranks name the rank, and it has no log.
    NoLog,
}

/// The first failure of a rank.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RankFailure {
    /// The time of the line, if it has one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub at: Option<Moment>,
    /// The ID of the cause that the line supports.
    pub cause: String,
    /// The title of that cause.
    pub title: Text,
    /// The log.
    pub file: String,
    /// The line, counted from 1.
    pub line: u64,
}

/// A time, by the clock of the machine that wrote it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Moment {
    /// The time.
    pub time: Time,
    /// Milliseconds since the first moment of the timeline.
    pub offset_ms: i64,
}

/// The known lines of a rank.
#[derive(Default)]
struct Lines<'c, 'a> {
    first: Option<Time>,
    last: Option<Time>,
    failure: Option<(&'c Candidate<'a>, &'c Item<'a>)>,
}

impl Lines<'_, '_> {
    fn add(&mut self, time: Option<Time>) {
        self.first = self.first.into_iter().chain(time).min();
        self.last = self.last.into_iter().chain(time).max();
    }

    fn failed_at(&self) -> Option<Time> {
        self.failure.and_then(|(_, item)| item.time())
    }
}

/// The timeline. `None` if the logs name fewer than two ranks: there is nothing to compare.
pub(super) fn timeline(
    files: &[FileReport],
    processes: &ProcessTable,
    candidates: &[Candidate<'_>],
    silent: &[u32],
    wanted: &[u32],
) -> Option<Timeline> {
    let mut ranks = collect(files, processes, candidates);
    ranks.retain(|rank, _| wanted.is_empty() || wanted.contains(rank));
    if ranks.len() + silent.len() < 2 {
        return None;
    }
    let start =
        ranks.values().filter_map(|lines| lines.first.min(lines.failed_at().or(lines.first)));
    let start = start.min();
    let moment = |time: Option<Time>| {
        let time = time?;
        Some(Moment { time, offset_ms: time.0.saturating_sub(start?.0) / 1_000 })
    };
    let mut lines: Vec<RankLine> = ranks
        .into_iter()
        .map(|(rank, lines)| RankLine {
            rank,
            state: if lines.failure.is_some() { RankState::Failed } else { RankState::NoFailure },
            first_line: moment(lines.first),
            last_line: moment(lines.last),
            first_failure: lines.failure.map(|(candidate, item)| RankFailure {
                at: moment(item.time()),
                cause: candidate.cause.to_owned(),
                title: cause(candidate.cause)
                    .map_or_else(|| Text::same(candidate.cause), |known| known.title.clone()),
                file: files[item.file].name.clone(),
                line: item.record.line,
            }),
        })
        .collect();
    // Failures without a time come after those with one.
    lines.sort_by_key(|line| {
        let at = line.first_failure.as_ref().and_then(|failure| failure.at).map(|at| at.time);
        (line.state, at.is_none(), at, line.rank)
    });
    let silent = silent.iter().map(|&rank| RankLine {
        rank,
        state: RankState::NoLog,
        first_line: None,
        first_failure: None,
        last_line: None,
    });
    lines.extend(silent);
    let more_ranks = lines.len().saturating_sub(MAX_RANKS);
    lines.truncate(MAX_RANKS);
    Some(Timeline { ranks: lines, more_ranks })
}

/// The lines of each rank: the first and the last one of its own files, and the recognized lines of
/// other files.
fn collect<'c, 'a>(
    files: &[FileReport],
    processes: &ProcessTable,
    candidates: &'c [Candidate<'a>],
) -> BTreeMap<u32, Lines<'c, 'a>> {
    let mut ranks: BTreeMap<u32, Lines<'c, 'a>> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        if let Some(rank) = processes.find(index, &Fields::default()).rank {
            let lines = ranks.entry(rank).or_default();
            lines.add(file.first);
            lines.add(file.last);
        }
        for record in &file.records {
            if let Some(rank) = processes.find(index, &record.hit.fields).rank {
                let lines = ranks.entry(rank).or_default();
                lines.add(record.hit.fields.time);
                lines.add(record.last);
            }
        }
    }
    for candidate in candidates
        .iter()
        .filter(|one| one.gravity == Gravity::Failure && !one.in_baseline && !one.stale)
    {
        for item in
            candidate.items.iter().filter(|item| item.record.hit.gravity == Gravity::Failure)
        {
            let Some(rank) = item.process.rank else { continue };
            let lines = ranks.entry(rank).or_default();
            // A wrapper repeats in general words what another line of the rank states.
            let order = |candidate: &Candidate<'_>, item: &Item<'_>| {
                let at = (item.time().is_none(), item.time(), item.log, item.position);
                (candidate.role <= Role::Wrapper, at)
            };
            let first = lines.failure.is_none_or(|(known, known_item)| {
                order(candidate, item) < order(known, known_item)
            });
            if first {
                lines.failure = Some((candidate, item));
            }
        }
    }
    ranks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::{Filter, Reading, diagnose, read_stream};

    fn timeline_of(logs: &[(&str, String)]) -> Option<Timeline> {
        let mut reading = Reading::default();
        for (name, text) in logs {
            read_stream(name, text.as_bytes(), &mut reading);
        }
        diagnose(reading, &Filter::default()).timeline
    }

    fn error(second: u32, words: &str) -> String {
        format!("[ERROR] HCCL(7,python):2026-06-10-10:11:{second:02}.000.000 [a.cc:1] [7]{words}\n")
    }

    fn step(second: u32) -> String {
        format!("2026-06-10 10:11:{second:02},000 - INFO - step\n")
    }

    #[test]
    fn ranks_are_in_the_order_of_their_failures() {
        let late = step(1) + &error(40, "error code is 507035");
        let early = step(2) + &error(30, "error code is 507035") + &step(50);
        let well = step(3) + &step(4);
        let logs = [("rank_0.log", late), ("rank_1.log", early), ("rank_2.log", well)];
        let Timeline { ranks, more_ranks } = timeline_of(&logs).expect("three ranks");
        let found = ranks.iter().map(|one| (one.rank, one.state)).collect::<Vec<_>>();
        let expected = [(1, RankState::Failed), (0, RankState::Failed), (2, RankState::NoFailure)];
        assert_eq!((found.as_slice(), more_ranks), (expected.as_slice(), 0));
        let offsets = |one: &RankLine| {
            let at = one.first_failure.as_ref().and_then(|failure| failure.at);
            [one.first_line, at, one.last_line].map(|moment| moment.map(|moment| moment.offset_ms))
        };
        assert_eq!(offsets(&ranks[0]), [Some(1_000), Some(29_000), Some(49_000)]);
        assert_eq!(offsets(&ranks[1]), [Some(0), Some(39_000), Some(39_000)]);
        assert_eq!(offsets(&ranks[2]), [Some(2_000), None, Some(3_000)]);
    }

    #[test]
    fn a_failure_is_told_by_the_line_that_states_it() {
        let wrapper = "[rank0]: [ERROR] 2026-06-10-10:11:30 (PID:7, Device:0, RankID:0) ERR00100 \
             PTA call acl api failed\n";
        let log = wrapper.to_owned() + &error(31, "error code is 507035");
        let found = timeline_of(&[("rank_0.log", log), ("rank_1.log", step(1))]);
        let failure = found.expect("two ranks").ranks.swap_remove(0).first_failure;
        assert_eq!(failure.map(|failure| failure.line), Some(2));
    }

    #[test]
    fn one_rank_has_no_timeline() {
        assert_eq!(timeline_of(&[("rank_0.log", error(1, "error code is 507035"))]), None);
    }
}
