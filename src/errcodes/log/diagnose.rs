//! Combines the stages: from the read logs to the diagnosis.

use std::collections::{BTreeMap, BTreeSet};

use super::cluster::{self, Verdict};
use super::diagnosis::{
    Diagnosis, FaultLocation, FoldedConsequence, Line, MissingEvidence, RankedCause, ReadSummary,
    RejectReason, RejectedCause, Suspect,
};
use super::jobs::Jobs;
use super::mention::Mentions;
use super::process::ProcessTable;
use super::rank::{self, Candidate, Context, Item};
use super::role::Role;
use super::scan::FileReport;
use super::series::{self, Logs};
use super::time::Time;
use super::timeline::timeline;
use super::{Reading, codes, fallback, inherited_time, known};
use crate::cause;

/// The maximum number of evidence lines of a cause.
const EVIDENCE: usize = 6;
/// A cause with fewer points is a guess.
const GUESS: i32 = 14;

/// Selects the hits that count.
#[derive(Debug, Clone, Default)]
pub struct Filter {
    /// Only of these ranks.
    pub ranks: Vec<u32>,
    /// Only of these devices.
    pub devices: Vec<u32>,
    /// Not before.
    pub since: Option<Time>,
    /// Not after.
    pub until: Option<Time>,
    /// Signatures and codes that also occur in a good run.
    pub baseline: BTreeSet<String>,
}

impl Filter {
    /// Returns whether the range is empty because its end is before its beginning. A time with a
    /// year is not compared with one without.
    pub fn has_empty_range(&self) -> bool {
        let (Some(since), Some(until)) = (self.since, self.until) else { return false };
        since.has_year() == until.has_year() && until < since
    }

    fn accepts_all(&self) -> bool {
        self.ranks.is_empty()
            && self.devices.is_empty()
            && self.since.is_none()
            && self.until.is_none()
    }

    fn accepts(&self, item: &Item<'_>, files: &[FileReport]) -> bool {
        let among = |wanted: &[u32], value: Option<u32>| {
            wanted.is_empty() || value.is_some_and(|value| wanted.contains(&value))
        };
        // A record without a time gets the time range of its file; if the file has none, the record
        // is kept because it may be in the range.
        let file = files.get(item.file);
        let latest = item.time().or_else(|| file.and_then(|file| file.last));
        let earliest = item.time().or_else(|| file.and_then(|file| file.first));
        among(&self.ranks, item.process.rank)
            && among(&self.devices, item.process.device)
            && self.since.is_none_or(|since| latest.is_none_or(|time| time >= since))
            && self.until.is_none_or(|until| earliest.is_none_or(|time| time <= until))
    }
}

/// Finds the first cause.
pub fn diagnose(reading: Reading, filter: &Filter) -> Diagnosis {
    let Reading { mut files, problems, left_out } = reading;
    let filter = &align_years(&mut files, filter);
    for file in &mut files {
        inherited_time::settle_inherited_times(&mut file.records);
    }
    series::order(&mut files);
    let logs = Logs::new(&files);
    let processes = ProcessTable::new(&files, &logs);
    let (mut candidates, context) =
        rank::gather(&files, &logs, &processes, &|item| filter.accepts(item, &files));
    for candidate in &mut candidates {
        let known = |item: &Item<'_>| filter.baseline.contains(&item.record.hit.rule);
        if candidate.items.iter().all(known) {
            candidate.in_baseline = true;
            candidate.score /= 3;
        }
    }
    let jobs = Jobs::new(&files, &processes);
    let verdicts = cluster::compare(&mut candidates, &context, &jobs);
    rank::judge(&mut candidates);
    let ranks = cluster::collect_ranks(&candidates, &context, &jobs);
    let silent_ranks = if ranks.seen.len() > 1 { ranks.missing_ranks() } else { Vec::new() };
    let timeline = timeline(&files, &processes, &candidates, &silent_ranks, &filter.ranks);
    let at_hand = known::list_evidence_at_hand(&files, &silent_ranks);
    let (causes, rejected) = list_suspects(&files, &candidates, &verdicts, &context, &at_hand);
    let missing = causes.first().map(|first| find_missing_evidence(first, &at_hand, &silent_ranks));
    let fallbacks = count_fallbacks(&files, &candidates, filter);
    let ranking = candidates.iter().map(|candidate| RankedCause {
        cause: candidate.cause.to_owned(),
        points: candidate.score,
        explained_by: candidate.explained.map(|parent| candidates[parent].cause.to_owned()),
    });
    let mentions = join_mentions(&files);
    Diagnosis {
        ranking: ranking.collect(),
        rejected,
        codes: count_codes(&files),
        fallbacks,
        missing: missing.unwrap_or_default(),
        programs: mentions.programs.iter().cloned().collect(),
        mentions,
        silent_ranks,
        timeline,
        problems,
        read: ReadSummary {
            files: files.len() as u64,
            lines: files.iter().map(|file| file.lines).sum(),
            bytes: files.iter().map(|file| file.bytes).sum(),
            cut_lines: files.iter().map(|file| file.cut).sum(),
            not_kept: files.iter().map(|file| file.dropped).sum(),
            finished: files.iter().filter(|file| file.finished).count() as u64,
            left_out: left_out as u64,
            passed_over: count_filtered(&files, &candidates),
        },
        causes,
    }
}

fn join_mentions(files: &[FileReport]) -> Mentions {
    let mut all = Mentions::default();
    for file in files {
        all.extend(&file.mentions);
    }
    all
}

/// The number of hits with a cause that the filter excludes by rank, device or time.
fn count_filtered(files: &[FileReport], candidates: &[Candidate<'_>]) -> u64 {
    let all = files
        .iter()
        .flat_map(|file| &file.records)
        .filter(|record| record.hit.role != Role::Context && !record.hit.cause.is_empty());
    let kept: usize = candidates.iter().map(|candidate| candidate.items.len()).sum();
    all.count().saturating_sub(kept) as u64
}

/// How often each operator was computed on the CPU: in all files, or in the selected lines.
fn count_fallbacks(
    files: &[FileReport],
    candidates: &[Candidate<'_>],
    filter: &Filter,
) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    if filter.accepts_all() {
        for (operator, count) in files.iter().flat_map(|file| &file.fallbacks) {
            *all.entry(operator.clone()).or_default() += count;
        }
        return all;
    }
    for item in candidates.iter().flat_map(|one| &one.items) {
        let hit = &item.record.hit;
        if hit.rule == fallback::RULE
            && let Some((_, operator)) = hit.captures.iter().find(|(name, _)| *name == "op")
        {
            *all.entry(operator.clone()).or_default() += item.record.count;
        }
    }
    all
}

/// Gives times without a year the year of the others.
fn align_years(files: &mut [FileReport], filter: &Filter) -> Filter {
    let own = [filter.since, filter.until].into_iter().flatten();
    let times = files.iter().flat_map(|file| {
        let records = file.records.iter().flat_map(|record| [record.hit.fields.time, record.last]);
        records.chain([file.first, file.last]).flatten()
    });
    let with_year = |time: &Time| time.has_year();
    let latest = times.filter(with_year).max().or_else(|| own.filter(with_year).max());
    let Some(latest) = latest else { return filter.clone() };
    let place = |time: &mut Option<Time>| *time = time.map(|time| time.with_year_of(latest));
    for record in files.iter_mut().flat_map(|file| &mut file.records) {
        place(&mut record.hit.fields.time);
        place(&mut record.last);
    }
    for file in files.iter_mut() {
        place(&mut file.first);
        place(&mut file.last);
    }
    let mut filter = filter.clone();
    place(&mut filter.since);
    place(&mut filter.until);
    filter
}

/// All codes read, with their counts.
fn count_codes(files: &[FileReport]) -> BTreeMap<String, u64> {
    let mut all = BTreeMap::new();
    for record in files.iter().flat_map(|file| &file.records) {
        if codes::is_code(&record.hit.rule) {
            *all.entry(record.hit.rule.clone()).or_default() += record.count;
        }
    }
    all
}

fn list_suspects(
    files: &[FileReport],
    candidates: &[Candidate<'_>],
    verdicts: &[Verdict<'_>],
    context: &Context<'_>,
    at_hand: &[&'static str],
) -> (Vec<Suspect>, Vec<RejectedCause>) {
    let line = |item: &Item<'_>| to_line(files, item);
    let top = candidates.first().map(|one| one.cause.to_owned());
    let (mut causes, mut rejected) = (Vec::new(), Vec::new());
    for (index, candidate) in candidates.iter().enumerate() {
        // The best candidate is never rejected.
        if index > 0 {
            let why = reject_reason(candidate, &candidates[0]);
            let by = candidate.explained.map(|parent| candidates[parent].cause.to_owned());
            rejected.push(RejectedCause {
                cause: candidate.cause.to_owned(),
                why,
                by: by.or_else(|| top.clone()),
                line: line(candidate.first()),
            });
        }
        if candidate.explained.is_none() || index == 0 {
            let next = candidates.iter().enumerate().filter(|(other, one)| {
                *other != index && one.explained != Some(index) && one.score <= candidate.score
            });
            let next = next.map(|(_, one)| one.score).max().unwrap_or(0);
            let folded: Vec<&Candidate<'_>> = candidates
                .iter()
                .enumerate()
                .filter(|(other, _)| *other != index && find_root(candidates, *other) == index)
                .map(|(_, one)| one)
                .collect();
            let culprit = locate_fault(candidate, &folded, verdicts, context);
            let values = known::collect_values(candidate);
            let consequences: Vec<FoldedConsequence> =
                folded.iter().map(|one| known::fold(one, line(one.first()))).collect();
            causes.push(Suspect {
                cause: candidate.cause.to_owned(),
                role: candidate.role,
                confidence: compute_confidence(candidate.score, next),
                known: known::gather_facts(&values, &consequences, &culprit, at_hand),
                culprit,
                evidence: list_evidence(candidate).take(EVIDENCE).map(line).collect(),
                values,
                first: candidate.first().time(),
                count: candidate.count(),
                consequences,
                score: candidate.score,
                gravity: candidate.gravity,
            });
        }
    }
    (causes, rejected)
}

/// The evidence of a cause, each line once, represented by its most specific hit.
fn list_evidence<'c, 'a>(candidate: &'c Candidate<'a>) -> impl Iterator<Item = &'c Item<'a>> {
    let items = candidate.items.iter().enumerate();
    let place = |item: &Item<'_>| (item.file, item.record.line);
    let first = move |(index, item): &(usize, &Item<'_>)| {
        candidate.items[..*index].iter().all(|other| place(other) != place(item))
    };
    items.filter(first).map(|(_, item)| item)
}

/// The cause at the end of the chain of explanations.
fn find_root(candidates: &[Candidate<'_>], start: usize) -> usize {
    let mut at = start;
    for _ in 0..candidates.len() {
        match candidates[at].explained {
            Some(parent) if at != 0 => at = parent,
            _ => break,
        }
    }
    at
}

fn reject_reason(candidate: &Candidate<'_>, best: &Candidate<'_>) -> RejectReason {
    let weight = |one: &Candidate<'_>| one.items[0].record.hit.weight;
    if candidate.explained.is_some() {
        if candidate.waits { RejectReason::Waits } else { RejectReason::Consequence }
    } else if candidate.stale {
        RejectReason::Stale
    } else if candidate.in_baseline {
        RejectReason::InBaseline
    } else if weight(candidate) + 10 < weight(best) || candidate.score + 20 < best.score {
        RejectReason::LessSpecific
    } else {
        RejectReason::Later
    }
}

/// The confidence in a cause: from its score and its lead over the next one.
fn compute_confidence(score: i32, next: i32) -> f64 {
    let part = |value: i32, of: i32| f64::from(value.clamp(0, of)) / f64::from(of);
    let sure = 0.15 + 0.6 * part(score, 85) + 0.25 * part(score - next, 25);
    let sure = if score < GUESS { sure.min(0.2) } else { sure };
    (sure * 100.0).round() / 100.0
}

fn to_line(files: &[FileReport], item: &Item<'_>) -> Line {
    Line {
        file: files[item.file].name.clone(),
        line: item.record.line,
        text: item.record.hit.text.clone(),
        matched: item.record.hit.matched.clone(),
        time: item.time(),
        rank: item.process.rank,
        device: item.process.device,
        rule: item.record.hit.rule.clone(),
        count: item.record.count,
    }
}

/// The location of a cause: from comparing ranks, or from its most specific line.
fn locate_fault(
    candidate: &Candidate<'_>,
    folded: &[&Candidate<'_>],
    verdicts: &[Verdict<'_>],
    context: &Context<'_>,
) -> FaultLocation {
    let first = candidate.first();
    let operator = find_operator(candidate, folded, context);
    if let Some(verdict) = verdicts.iter().find(|verdict| verdict.cause == candidate.cause) {
        return FaultLocation { operator, ..verdict.culprit.clone() };
    }
    let process = &first.process;
    FaultLocation {
        ranks: process.rank.into_iter().collect(),
        devices: process.device.into_iter().collect(),
        hosts: (!process.host.is_empty()).then(|| process.host.clone()).into_iter().collect(),
        pid: process.pid,
        worker: process.name.clone(),
        operator,
        by: "line",
    }
}

/// The operator named by lines of the cause, else by its consequences, else by lines of the same
/// kind of failure.
fn find_operator(
    candidate: &Candidate<'_>,
    folded: &[&Candidate<'_>],
    context: &Context<'_>,
) -> Option<String> {
    let layer = candidate.cause.split('.').next().unwrap_or_default();
    if !matches!(layer, "aicore" | "aicpu" | "op" | "env" | "vague") {
        return None;
    }
    let named = |item: &Item<'_>| {
        let known = ["op", "op2", "api"];
        let of = |key: &str| item.record.hit.captures.iter().find(|(name, _)| *name == key);
        known.iter().find_map(|key| of(key)).map(|(_, value)| value.clone())
    };
    let own = candidate.items.iter().find_map(named);
    let of_folded = || folded.iter().flat_map(|one| &one.items).find_map(named);
    own.or_else(of_folded)
        .or_else(|| context.values().flatten().find_map(named))
        .filter(|name| !name.is_empty())
}

/// The evidence that the cause requires and the logs do not contain.
fn find_missing_evidence(
    first: &Suspect,
    at_hand: &[&str],
    silent: &[u32],
) -> Vec<MissingEvidence> {
    let Some(cause) = cause(&first.cause) else { return Vec::new() };
    cause
        .evidence
        .iter()
        .filter(|evidence| !at_hand.contains(&evidence.as_str()))
        .map(|evidence| MissingEvidence {
            evidence: evidence.clone(),
            ranks: if evidence.contains("all_ranks") { silent.to_vec() } else { Vec::new() },
        })
        .collect()
}

impl Diagnosis {
    /// The most probable cause, unless there are only wrappers.
    pub fn first(&self) -> Option<&Suspect> {
        self.causes.first().filter(|first| first.role > Role::Context)
    }
}

#[cfg(test)]
mod tests;
