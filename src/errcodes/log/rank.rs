//! From hits to causes: finds the first cause and its consequences.
//!
//! Severity takes precedence over specificity: a cause known only from warnings never precedes one
//! that a failed line reports, and explains none.
//!
//! Causes of equal severity are compared by points. Specific evidence scores more points; a cause
//! that follows from another one, is long past, or only waits for others, loses some. Among causes
//! with about equal points, the earliest is chosen.

use std::collections::{BTreeMap, BTreeSet};

use super::super::cause_table;
use super::gravity::Gravity;
use super::process::{Process, ProcessKey, ProcessTable};
use super::role::Role;
use super::scan::{FileReport, Record};
use super::series::Logs;
use super::signature::{Edge, Scope};
use super::signature_table::edges;
use super::time::{SECOND, Time};
use data::causes;

/// Points for each further kind of evidence for the same cause, and their maximum.
const AGREEMENT: (i32, i32) = (2, 6);
/// Causes within this number of points are equally specific.
const ABOUT_EQUAL: i32 = 10;
/// Points that the earliest among equals gains.
const EARLIEST: i32 = 11;
/// Points that a consequence loses.
const FOLDED: i32 = 40;
/// Points that a cause loses if it is long past when the failure occurs.
const STALE: i32 = 35;
/// The age at which an error no longer belongs to the failure, in seconds.
const LONG_AGO: i64 = 3_600;
/// The maximum clock difference between machines, in seconds.
const SKEW: i64 = 120;
/// The maximum number of points by which a cause may score less than one that it explains.
const WEAKER: i32 = 24;
/// The minimum weight of a cause that explains why others wait.
const EXPLAINS_WAITING: i32 = 44;
/// The maximum time that peers wait after a failure, in seconds.
const PATIENCE: i64 = 7_500;

/// The number of waiting ranks required to conclude that a rank does not wait; with fewer, the logs
/// may be incomplete.
const FEW: usize = 2;

/// A hit with its process.
#[derive(Debug, Clone)]
pub(super) struct Item<'a> {
    pub file: usize,
    /// The log that the file is a part of.
    pub log: usize,
    /// The number of the line in that log.
    pub position: u64,
    pub record: &'a Record,
    pub process: Process,
    pub who: ProcessKey,
}

impl Item<'_> {
    pub(super) fn time(&self) -> Option<Time> {
        self.record.hit.fields.time
    }
}

/// A cause with all its evidence.
#[derive(Debug)]
pub(super) struct Candidate<'a> {
    pub cause: &'a str,
    /// The most specific first.
    pub items: Vec<Item<'a>>,
    pub score: i32,
    pub role: Role,
    pub stale: bool,
    pub waits: bool,
    pub in_baseline: bool,
    /// The severity of its most severe line.
    pub gravity: Gravity,
    /// The index of the cause that explains it.
    pub explained: Option<usize>,
}

impl<'a> Candidate<'a> {
    pub(super) fn new(cause: &'a str, mut items: Vec<Item<'a>>) -> Self {
        items.sort_by(|a, b| {
            // A failure reported as a warning proves less than one reported as an error.
            let telling = |item: &Item<'_>| {
                let hit = &item.record.hit;
                (hit.gravity, hit.weight, hit.role)
            };
            telling(b)
                .cmp(&telling(a))
                .then(a.time().cmp(&b.time()))
                .then((a.log, a.position).cmp(&(b.log, b.position)))
        });
        let best = &items[0].record.hit;
        let mut rules: Vec<&str> = items.iter().map(|item| item.record.hit.rule.as_str()).collect();
        rules.sort_unstable();
        rules.dedup();
        let others = i32::try_from(rules.len() - 1).unwrap_or(0);
        let role = best.role;
        Self {
            cause,
            score: i32::from(best.weight) + (others * AGREEMENT.0).min(AGREEMENT.1),
            role,
            stale: false,
            waits: cause_table::cause(cause).is_some_and(|known| known.waits),
            in_baseline: false,
            gravity: items
                .iter()
                .map(|item| item.record.hit.gravity)
                .max()
                .unwrap_or(Gravity::Failure),
            explained: None,
            items,
        }
    }

    /// The first of its lines, by time if all have one.
    pub(super) fn first(&self) -> &Item<'a> {
        let by = |item: &Item<'_>| (item.time().is_none(), item.time(), item.log, item.position);
        let earlier = |a: &Item<'_>, b: &Item<'_>| {
            if is_ordered_by_position(a, b) { a.position < b.position } else { by(a) < by(b) }
        };
        let items = self.items.iter();
        items
            .reduce(|first, item| if earlier(item, first) { item } else { first })
            .unwrap_or(&self.items[0])
    }

    fn last(&self) -> Option<Time> {
        self.items.iter().filter_map(|item| item.record.last.max(item.time())).max()
    }

    pub(super) fn count(&self) -> u64 {
        self.items.iter().map(|item| item.record.count).sum()
    }
}

/// Hits of a kind of context, by process.
pub(super) type Context<'a> = BTreeMap<&'a str, Vec<Item<'a>>>;

/// Sorts the hits of all files into candidates and context.
pub(super) fn gather<'a>(
    files: &'a [FileReport],
    logs: &Logs,
    processes: &ProcessTable,
    wanted: &dyn Fn(&Item<'_>) -> bool,
) -> (Vec<Candidate<'a>>, Context<'a>) {
    let mut by_cause: BTreeMap<&str, Vec<Item<'_>>> = BTreeMap::new();
    let mut context: Context<'_> = BTreeMap::new();
    for (index, file) in files.iter().enumerate() {
        for record in &file.records {
            let process = processes.find(index, &record.hit.fields);
            let who = process.key(logs.name(index));
            let position = logs.position(index, record.line);
            let item = Item { file: index, log: logs.log(index), position, record, process, who };
            if !wanted(&item) {
                continue;
            }
            if record.hit.role == Role::Context {
                context.entry(&record.hit.rule).or_default().push(item);
            } else if !record.hit.cause.is_empty() {
                by_cause.entry(&record.hit.cause).or_default().push(item);
            }
        }
    }
    let candidates = by_cause.into_iter().map(|(cause, items)| Candidate::new(cause, items));
    (candidates.collect(), context)
}

/// Determines the role of each candidate, and sorts them.
pub(super) fn judge(candidates: &mut Vec<Candidate<'_>>) {
    mark_stale(candidates);
    fold(candidates);
    fold_waiting(candidates);
    prefer_earliest(candidates);
    sort(candidates);
}

/// Marks errors of another time, unless they explain a part of the failure or recur in it.
fn mark_stale(candidates: &mut [Candidate<'_>]) {
    let failed = candidates.iter().filter(|one| one.gravity == Gravity::Failure);
    let Some(failure) = failed.filter_map(Candidate::last).max() else { return };
    for candidate in candidates {
        let old = candidate.last().is_some_and(|last| failure.0 - last.0 > LONG_AGO * SECOND);
        // The cause of a wait may be long ago, because timeouts are long.
        if old && !has_late_effects(candidate.cause) {
            candidate.stale = true;
            candidate.score -= STALE;
        }
    }
}

/// Whether a cause has consequences more than an hour later.
fn has_late_effects(cause: &str) -> bool {
    edges().iter().any(|edge| edge.from == cause && i64::from(edge.window_s) > LONG_AGO)
}

/// Whether the order of two lines in their log is more reliable than their times: a line without a
/// time inherits that of a line above it, which may be of another program.
fn is_ordered_by_position(a: &Item<'_>, b: &Item<'_>) -> bool {
    a.log == b.log && !(a.record.timed && b.record.timed)
}

/// Whether `a` is not later than `b`; `None` if unknown. Clocks may differ by `slack`.
fn is_not_later(a: &Item<'_>, b: &Item<'_>, slack: i64) -> Option<bool> {
    if a.log == b.log {
        if !is_ordered_by_position(a, b)
            && let (Some(a), Some(b)) = (a.time(), b.time())
            && a != b
        {
            return Some(a.0 <= b.0 + SECOND * slack.min(5));
        }
        return Some(a.position <= b.position);
    }
    let (a, b) = (a.time()?, b.time()?);
    Some(a.0 <= b.0 + slack * SECOND)
}

fn is_within(a: &Item<'_>, b: &Item<'_>, seconds: i64) -> bool {
    match (a.time(), b.time()) {
        (Some(a), Some(b)) => b.0 - a.0 <= seconds * SECOND,
        _ => true,
    }
}

fn is_same_place(a: &Candidate<'_>, b: &Candidate<'_>) -> bool {
    a.items
        .iter()
        .any(|one| b.items.iter().any(|other| one.who == other.who || one.log == other.log))
}

/// Whether a cause may explain others: it must not be stale or only a warning.
fn can_explain(candidate: &Candidate<'_>) -> bool {
    !candidate.stale && candidate.gravity == Gravity::Failure
}

/// Folds the causes that the edges explain.
fn fold(candidates: &mut [Candidate<'_>]) {
    let mut parents: Vec<Option<(usize, i32)>> = vec![None; candidates.len()];
    for edge in edges() {
        let find = |cause: &str| candidates.iter().position(|candidate| candidate.cause == cause);
        let Some(from) = find(&edge.from).filter(|from| can_explain(&candidates[*from])) else {
            continue;
        };
        for to in edge.to.iter().filter_map(|to| find(to)) {
            let strength = candidates[from].score;
            let sound = strength >= candidates[to].score - WEAKER
                && does_explain(edge, &candidates[from], &candidates[to]);
            if sound && parents[to].is_none_or(|(_, known)| known < strength) {
                parents[to] = Some((from, strength));
            }
        }
    }
    for (index, parent) in parents.into_iter().enumerate() {
        if let Some((parent, _)) = parent {
            candidates[index].explained = Some(parent);
            candidates[index].score -= FOLDED;
        }
    }
}

fn does_explain(edge: &Edge, from: &Candidate<'_>, to: &Candidate<'_>) -> bool {
    if edge.scope == Scope::Rank && !is_same_place(from, to) {
        return false;
    }
    let (first, then) = (from.first(), to.first());
    // Within one process the order of lines proves little: the innermost message is often printed
    // last.
    let ordered = is_same_place(from, to) && is_within(then, first, SKEW)
        || is_not_later(first, then, SKEW).unwrap_or(true);
    ordered && is_within(first, then, i64::from(edge.window_s))
}

/// Waiting peers are not a cause if something else failed before.
fn fold_waiting(candidates: &mut [Candidate<'_>]) {
    let idle = find_idle(candidates);
    let strongest = candidates
        .iter()
        .enumerate()
        .filter(|(_, candidate)| {
            !candidate.waits
                && can_explain(candidate)
                && !candidate.in_baseline
                && candidate.explained.is_none()
                && (candidate.role == Role::Root && candidate.score >= EXPLAINS_WAITING
                    || candidate.role >= Role::Symptom && is_of(candidate, &idle))
        })
        .max_by_key(|(index, candidate)| (candidate.score, std::cmp::Reverse(*index)))
        .map(|(index, _)| index);
    let Some(cause) = strongest else { return };
    for index in 0..candidates.len() {
        let waiting = &candidates[index];
        if !waiting.waits || waiting.explained.is_some() {
            continue;
        }
        let (first, then) = (candidates[cause].first(), waiting.first());
        let before =
            is_not_later(first, then, SKEW).unwrap_or(true) && is_within(first, then, PATIENCE);
        if before {
            candidates[index].explained = Some(cause);
            candidates[index].score -= FOLDED - 10;
        }
    }
}

/// Whether a failed line reports the cause and a good run does not have it. The age of a line only
/// lowers its points: the clocks of a process and of its plog may be in different time zones.
fn is_failure(candidate: &Candidate<'_>) -> bool {
    candidate.gravity == Gravity::Failure && !candidate.in_baseline
}

fn is_unknown(candidate: &Candidate<'_>) -> bool {
    candidate.cause == causes::vague::UNKNOWN_ERROR
}

/// The processes that do not wait while at least two others do, if they are only a few.
fn find_idle<'c>(candidates: &'c [Candidate<'_>]) -> BTreeSet<&'c ProcessKey> {
    let ranks = |wait: bool| {
        let items =
            candidates.iter().filter(move |one| one.waits == wait).flat_map(|one| &one.items);
        items
            .filter(|item| item.process.rank.is_some())
            .map(|item| &item.who)
            .collect::<BTreeSet<_>>()
    };
    let waiting = ranks(true);
    let idle: BTreeSet<&ProcessKey> = ranks(false).difference(&waiting).copied().collect();
    if waiting.len() >= 2 && idle.len() * FEW <= waiting.len() { idle } else { BTreeSet::new() }
}

/// Whether the most specific evidence of a cause comes only from these processes.
fn is_of(candidate: &Candidate<'_>, who: &BTreeSet<&ProcessKey>) -> bool {
    let best = candidate.items[0].record.hit.weight;
    let mut telling = candidate.items.iter().filter(|item| item.record.hit.weight == best);
    !who.is_empty() && telling.all(|item| who.contains(&item.who))
}

/// The earliest among about equals gains points. A cause that only repeats another layer is not
/// equal to one with its own evidence.
fn prefer_earliest(candidates: &mut [Candidate<'_>]) {
    let failed = candidates.iter().any(|one| is_failure(one) && one.explained.is_none());
    let open = |candidate: &Candidate<'_>| {
        !candidate.stale
            && candidate.explained.is_none()
            && candidate.role > Role::Wrapper
            && (!failed || is_failure(candidate))
    };
    let Some(best) = candidates.iter().filter(|one| open(one)).map(|one| one.score).max() else {
        return;
    };
    let equals: Vec<usize> = (0..candidates.len())
        .filter(|index| open(&candidates[*index]) && candidates[*index].score + ABOUT_EQUAL >= best)
        .collect();
    // A symptom gains nothing over a stated cause in the same block.
    let stated_beside = |one: &Candidate<'_>| {
        one.role < Role::Root
            && equals.iter().map(|other| &candidates[*other]).any(|other| {
                other.role == Role::Root && other.score > one.score && is_beside(one, other)
            })
    };
    let earliest = equals.iter().copied().find(|one| {
        !stated_beside(&candidates[*one])
            && equals.iter().all(|other| {
                one == other
                    || stated_beside(&candidates[*other])
                    || is_before(&candidates[*one], &candidates[*other])
            })
    });
    if let Some(earliest) = earliest
        && equals.len() > 1
    {
        candidates[earliest].score += EARLIEST;
    }
}

/// Whether one came no later than the other. On the same line, the more specific one is first: a
/// registered message is slightly more specific than words of it, and words slightly more than
/// registers, whose bits differ from chip to chip.
fn is_before(one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    let (a, b) = (one.first(), other.first());
    if (a.log, a.position) == (b.log, b.position) {
        let says = |one: &Candidate<'_>| {
            one.score
                + match one.items[0].record.hit.rule.split_once(':') {
                    Some(("ecode", _)) => SURER,
                    Some(("aicore", _)) => -SURER,
                    _ => 0,
                }
        };
        return says(one) >= says(other);
    }
    is_not_later(a, b, 0) == Some(true)
}

/// The points for "slightly more specific".
const SURER: i32 = 3;

/// The maximum number of lines between the parts of one message.
const BLOCK: u64 = 16;

/// Whether both first occur in the same message.
fn is_beside(one: &Candidate<'_>, other: &Candidate<'_>) -> bool {
    let (a, b) = (one.first(), other.first());
    a.log == b.log && a.who == b.who && a.position.abs_diff(b.position) <= BLOCK
}

/// Sorts candidates, and renumbers their explanations.
pub(super) fn sort(candidates: &mut Vec<Candidate<'_>>) {
    let known = candidates.iter().any(|one| is_failure(one) && !is_unknown(one));
    let mut order: Vec<usize> = (0..candidates.len()).collect();
    order.sort_by(|a, b| {
        let (a, b) = (&candidates[*a], &candidates[*b]);
        let first = |one: &Candidate<'_>| {
            let first = one.first();
            (first.time().is_none(), first.time(), first.log, first.position)
        };
        // An error of unknown cause counts only if no cause is known.
        let severe = |one: &Candidate<'_>| {
            is_failure(one) && one.explained.is_none() && !(known && is_unknown(one))
        };
        (severe(b), !is_unknown(b), b.score)
            .cmp(&(severe(a), !is_unknown(a), a.score))
            .then(first(a).cmp(&first(b)))
            .then(a.cause.cmp(b.cause))
    });
    let mut place = vec![0; order.len()];
    for (new, old) in order.iter().enumerate() {
        place[*old] = new;
    }
    let mut slots: Vec<Option<Candidate<'_>>> = candidates.drain(..).map(Some).collect();
    for old in order {
        if let Some(mut candidate) = slots[old].take() {
            candidate.explained = candidate.explained.map(|parent| place[parent]);
            candidates.push(candidate);
        }
    }
}

#[cfg(test)]
mod tests;
