//! Conclusions from several ranks that no single rank supports.

use data::{causes, signatures};
use std::collections::{BTreeMap, BTreeSet};

use super::diagnosis::FaultLocation;
use super::gravity::Gravity;
use super::jobs::Jobs;
use super::process::ProcessKey;
use super::rank::{Candidate, Context, Item};
use super::time::{SECOND, Time};

/// The minimum spread of failures of one operation that indicates a late rank, in seconds; applies
/// if the timeout itself is unknown.
const SPREAD: i64 = 120;
/// Longer than any configured timeout, in seconds.
const NO_TIMEOUT: i64 = 7_200;

/// A culprit found by comparing ranks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Verdict<'a> {
    /// The cause that the verdict applies to.
    pub cause: &'a str,
    /// The location of the fault.
    pub culprit: FaultLocation,
    /// The weight for a cause without a text.
    pub weight: i32,
}

/// A collective operation that a rank did not finish.
#[derive(Debug, Clone)]
struct Task<'a> {
    operation: &'a str,
    group: &'a str,
    index: Option<u64>,
    count: Option<u64>,
    began: Option<Time>,
    failed: Option<Time>,
    rank: Option<u32>,
    item: Item<'a>,
    /// The hit that states the operation's number, count and time.
    data: Option<Item<'a>>,
}

impl<'a> Task<'a> {
    /// The hits that support a conclusion about the task.
    fn evidence(&self) -> impl Iterator<Item = Item<'a>> {
        [Some(&self.item), self.data.as_ref()].into_iter().flatten().cloned()
    }
}

fn find_capture<'a>(item: &Item<'a>, name: &str) -> Option<&'a str> {
    item.record.hit.captures.iter().find(|(key, _)| *key == name).map(|(_, value)| value.as_str())
}

fn parse_capture<T: std::str::FromStr>(item: &Item<'_>, name: &str) -> Option<T> {
    find_capture(item, name)?.parse().ok()
}

/// Adds candidates that only the comparison of ranks shows, and locates the culprit for those and
/// others.
pub(super) fn compare<'a>(
    candidates: &mut Vec<Candidate<'a>>,
    context: &Context<'a>,
    jobs: &Jobs,
) -> Vec<Verdict<'a>> {
    let tasks = collect_tasks(candidates, context);
    let mut verdicts = Vec::new();
    if let Some((verdict, items)) = find_mismatch(&tasks).or_else(|| find_slow_rank(&tasks)) {
        add(candidates, verdict.cause, items, verdict.weight);
        verdicts.push(verdict);
    }
    verdicts.extend(find_reported_location(context));
    verdicts.extend(find_unconnected(context));
    verdicts.extend(follow_link_chain(candidates, context, jobs));
    verdicts.extend(find_silent_ranks(candidates, context, jobs));
    verdicts
}

/// Adds a candidate, or evidence to it.
fn add<'a>(candidates: &mut Vec<Candidate<'a>>, cause: &'a str, items: Vec<Item<'a>>, weight: i32) {
    if let Some(known) = candidates.iter_mut().find(|candidate| candidate.cause == cause) {
        known.score = known.score.max(weight);
        known.items.extend(items);
        return;
    }
    let mut candidate = Candidate::new(cause, items);
    candidate.score = weight;
    candidate.role = super::Role::Root;
    candidates.push(candidate);
}

/// The first unfinished operation of every process.
fn collect_tasks<'a>(
    candidates: &[Candidate<'a>],
    context: &Context<'a>,
) -> BTreeMap<ProcessKey, Task<'a>> {
    let mut tasks: BTreeMap<ProcessKey, Task<'a>> = BTreeMap::new();
    let waiting = candidates.iter().find(|one| one.cause == causes::hccl::NOTIFY_WAIT_TIMEOUT);
    let mut runs: Vec<&Item<'a>> = waiting
        .into_iter()
        .flat_map(|waiting| &waiting.items)
        .filter(|item| item.record.hit.rule == signatures::hccl::TASKRUN)
        .collect();
    runs.sort_by_key(|item| (item.log, item.position));
    for item in runs {
        let Some((operation, group)) =
            find_capture(item, "tag").and_then(|tag| tag.split_once('_'))
        else {
            continue;
        };
        tasks.entry(item.who.clone()).or_insert_with(|| Task {
            operation,
            group,
            index: None,
            count: None,
            began: None,
            failed: item.time(),
            rank: item.process.rank,
            item: item.clone(),
            data: None,
        });
    }
    for item in context.get(signatures::hccl::OPDATA).into_iter().flatten() {
        if let Some(task) = tasks.get_mut(&item.who)
            && task.index.is_none()
        {
            task.index = parse_capture(item, "index");
            task.count = parse_capture(item, "count");
            task.began = find_capture(item, "ts").and_then(|time| Time::find(time.as_bytes()));
            task.data = Some(item.clone());
        }
    }
    tasks
}

/// The largest set of tasks of one communicator.
fn largest_communicator<'t, 'a>(tasks: &'t BTreeMap<ProcessKey, Task<'a>>) -> Vec<&'t Task<'a>> {
    let mut groups: BTreeMap<&str, Vec<&Task<'a>>> = BTreeMap::new();
    for task in tasks.values() {
        groups.entry(task.group).or_default().push(task);
    }
    groups.into_values().max_by_key(Vec::len).unwrap_or_default()
}

/// Ranks of one communicator that are in different operations, or in one operation with different
/// counts.
fn find_mismatch<'a>(
    tasks: &BTreeMap<ProcessKey, Task<'a>>,
) -> Option<(Verdict<'a>, Vec<Item<'a>>)> {
    let together = largest_communicator(tasks);
    if together.len() < 2 {
        return None;
    }
    let what = |task: &Task<'a>| (task.operation, task.index);
    let (cause, odd) = match find_minority(&together, what) {
        Some(odd) => (causes::hccl::OP_SEQUENCE_MISMATCH, odd),
        None => (causes::hccl::PARAM_MISMATCH, find_minority(&together, |task| task.count)?),
    };
    let culprit = FaultLocation {
        ranks: odd.iter().filter_map(|task| task.rank).collect(),
        by: "other_operation",
        ..FaultLocation::default()
    };
    let items = together.iter().flat_map(|task| task.evidence()).collect();
    Some((Verdict { cause, culprit, weight: 78 }, items))
}

/// The tasks that differ from the majority; `None` if all agree.
fn find_minority<'t, 'a, K: Ord>(
    tasks: &[&'t Task<'a>],
    key: impl Fn(&Task<'a>) -> K,
) -> Option<Vec<&'t Task<'a>>> {
    let mut by: BTreeMap<K, Vec<&'t Task<'a>>> = BTreeMap::new();
    for task in tasks {
        by.entry(key(task)).or_default().push(task);
    }
    if by.len() < 2 {
        return None;
    }
    let most = by.values().map(Vec::len).max()?;
    // Of several groups of the largest size, the first serves as the majority.
    let mut skipped = false;
    let odd = by.into_values().filter(|group| {
        let skip = !skipped && group.len() == most;
        skipped |= skip;
        !skip
    });
    Some(odd.flatten().collect())
}

/// One operation on all ranks whose timeouts ended so far apart that one rank came too late.
fn find_slow_rank<'a>(
    tasks: &BTreeMap<ProcessKey, Task<'a>>,
) -> Option<(Verdict<'a>, Vec<Item<'a>>)> {
    let together = largest_communicator(tasks);
    let times = || together.iter().filter_map(|task| Some((task.failed?, task)));
    let (first, early) = times().min_by_key(|(time, _)| *time)?;
    let (last, late) = times().max_by_key(|(time, _)| *time)?;
    let timeout = early.began.map(|began| (first.0 - began.0) / SECOND);
    let timeout = timeout.filter(|seconds| (1..NO_TIMEOUT).contains(seconds)).unwrap_or(SPREAD);
    if (last.0 - first.0) / SECOND < timeout.max(SPREAD) {
        return None;
    }
    let culprit = FaultLocation {
        ranks: late.rank.into_iter().collect(),
        devices: late.item.process.device.into_iter().collect(),
        pid: late.item.process.pid,
        by: "latest_rank",
        ..FaultLocation::default()
    };
    let items = together.iter().flat_map(|task| task.evidence()).collect();
    Some((Verdict { cause: causes::hccl::SLOW_RANK, culprit, weight: 78 }, items))
}

/// `Cluster Exception Location[IP/ID]:[90.90.92.240/1]`.
fn find_reported_location<'a>(context: &Context<'a>) -> Vec<Verdict<'a>> {
    let items = context.get(signatures::hccl::WHERE).into_iter().flatten();
    let places: BTreeSet<(&str, u32)> = items
        .filter_map(|item| Some((find_capture(item, "ip")?, parse_capture(item, "device")?)))
        .collect();
    if places.is_empty() {
        return Vec::new();
    }
    let culprit = FaultLocation {
        hosts: places
            .iter()
            .map(|(ip, _)| (*ip).to_owned())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
        devices: places.iter().map(|(_, device)| *device).collect(),
        by: "cluster_exception_location",
        ..FaultLocation::default()
    };
    [
        causes::hccl::PEER_LOST,
        causes::hccl::PEER_STUCK,
        causes::hccl::NOTIFY_WAIT_TIMEOUT,
        causes::hccl::ERROR_CQE,
    ]
    .map(|cause| Verdict { cause, culprit: culprit.clone(), weight: 0 })
    .into()
}

/// The ranks that did not reach the root: all except those that it lists as connected.
fn find_unconnected<'a>(context: &Context<'a>) -> Option<Verdict<'a>> {
    let of = |rule: &str| context.get(rule).into_iter().flatten();
    let size: u32 = of(signatures::hccl::NEGO_NEED).find_map(|item| parse_capture(item, "size"))?;
    let connected: BTreeSet<u32> = of(signatures::hccl::NEGO_CONNECTED)
        .filter_map(|item| find_capture(item, "ranks"))
        .flat_map(|ranks| ranks.split(['[', ']', ',', ' ', ';']))
        .filter_map(|rank| rank.parse::<u32>().ok())
        .collect();
    let ranks: Vec<u32> = (0..size.min(100_000)).filter(|rank| !connected.contains(rank)).collect();
    (!connected.is_empty() && !ranks.is_empty()).then(|| Verdict {
        cause: causes::hccl::CLUSTER_NEGOTIATION_TIMEOUT,
        culprit: FaultLocation { ranks, by: "unconnected_ranks", ..FaultLocation::default() },
        weight: 0,
    })
}

/// The address of a machine and its device ID.
type Place<'a> = (&'a str, u32);

/// Follows the failed connections from rank to rank to the end of the chain.
fn follow_link_chain<'a>(
    candidates: &[Candidate<'a>],
    context: &Context<'a>,
    jobs: &Jobs,
) -> Vec<Verdict<'a>> {
    let mut links: BTreeSet<(u32, u32)> = BTreeSet::new();
    for item in context.get(signatures::hccl::LINKTABLE).into_iter().flatten() {
        // The server's row names the absent client as its source.
        links.extend(parse_capture(item, "src").zip(parse_capture(item, "dest")));
    }
    let transports =
        candidates.iter().filter(|one| one.cause == causes::hccl::TRANSPORT_INIT_ERROR);
    for item in transports.flat_map(|one| &one.items) {
        links.extend(parse_capture(item, "src").zip(parse_capture(item, "peer")));
    }
    links.extend(find_p2p_links(context));
    if let Some(size) = collect_ranks(candidates, context, jobs).size {
        // A rank outside the job belongs to another communicator, or is misread.
        links.retain(|(_, to)| *to < size);
    }
    let mut places: BTreeSet<(Place<'_>, Place<'_>)> = BTreeSet::new();
    for item in context.get(signatures::hccl::DETECT).into_iter().flatten() {
        let side =
            |ip: &str, device: &str| Some((find_capture(item, ip)?, parse_capture(item, device)?));
        places.extend(side("src_ip", "src_device").zip(side("dest_ip", "dest_device")));
    }
    let ranks = find_sinks(&links);
    let ends = find_sinks(&places);
    if ranks.is_empty() && ends.is_empty() {
        return Vec::new();
    }
    let culprit = FaultLocation {
        ranks,
        devices: ends.iter().map(|(_, device)| *device).collect(),
        hosts: ends
            .iter()
            .map(|(ip, _)| (*ip).to_owned())
            .collect::<BTreeSet<_>>()
            .into_iter()
            .collect(),
        by: "link_chain",
        ..FaultLocation::default()
    };
    [causes::hccl::SOCKET_TIMEOUT, causes::hccl::TRANSPORT_INIT_ERROR, causes::hccl::P2P_TIMEOUT]
        .map(|cause| Verdict { cause, culprit: culprit.clone(), weight: 0 })
        .into()
}

/// The waiting ranks and their peers within one machine, by the devices that lines name.
fn find_p2p_links(context: &Context<'_>) -> Vec<(u32, u32)> {
    let items = || context.values().flatten();
    let known: BTreeMap<(&str, u32), u32> = items()
        .filter_map(|item| {
            let process = &item.process;
            Some(((process.host.as_str(), process.device?), process.rank?))
        })
        .collect();
    let links = context.get(signatures::hccl::P2P_LINK).into_iter().flatten().filter_map(|item| {
        let host = item.process.host.as_str();
        let rank = |name: &str| known.get(&(host, parse_capture(item, name)?)).copied();
        item.process.rank.or_else(|| rank("local")).zip(rank("peer"))
    });
    links.collect()
}

/// The maximum number of ranks named if they wait for each other in a circle.
const CIRCLE: usize = 4;

/// Nodes that others wait for and that wait for none; if all wait, those that most others wait for.
fn find_sinks<T: Ord + Copy>(links: &BTreeSet<(T, T)>) -> Vec<T> {
    let links: Vec<&(T, T)> = links.iter().filter(|(from, to)| from != to).collect();
    let sources: BTreeSet<T> = links.iter().map(|(from, _)| *from).collect();
    let targets: BTreeSet<T> = links.iter().map(|(_, to)| *to).collect();
    let ends: Vec<T> = targets.difference(&sources).copied().collect();
    if !ends.is_empty() {
        return ends;
    }
    let wanted = |target: &T| links.iter().filter(|(_, to)| to == target).count();
    let most = targets.iter().map(wanted).max().unwrap_or(0);
    let top: Vec<T> = targets.iter().copied().filter(|target| wanted(target) == most).collect();
    if top.len() <= CIRCLE { top } else { Vec::new() }
}

/// Ranks that the others wait for in vain: those whose logs show no waiting, or that have no log.
fn find_silent_ranks<'a>(
    candidates: &[Candidate<'a>],
    context: &Context<'a>,
    jobs: &Jobs,
) -> Vec<Verdict<'a>> {
    let waits = || candidates.iter().filter(|one| one.waits).flat_map(|one| &one.items);
    let job = jobs.most(waits().map(|item| item.file));
    let known = collect_ranks(candidates, context, jobs);
    let waiting: BTreeSet<u32> = waits()
        .filter(|item| jobs.of(item.file) == job)
        .filter_map(|item| item.process.rank)
        .collect();
    let quiet: Vec<u32> = known.seen.difference(&waiting).copied().collect();
    let absent = known.missing_ranks();
    let (ranks, by) = if !quiet.is_empty() {
        (quiet, "does_not_wait")
    } else if !absent.is_empty() {
        (absent, "no_log")
    } else {
        // The peers that their lines name.
        let peers = waits().filter(|item| jobs.of(item.file) == job);
        let named: BTreeSet<u32> = peers.filter_map(|item| parse_capture(item, "peer")).collect();
        let named: Vec<u32> = named.difference(&waiting).copied().collect();
        if is_few(named.len(), waiting.len()) {
            (named, "named_by_others")
        } else {
            (Vec::new(), "")
        }
    };
    // If most ranks are quiet, the logs are incomplete, and silence is no evidence.
    if ranks.is_empty() || waiting.len() < 2 || ranks.len() > waiting.len() {
        return Vec::new();
    }
    let culprit = FaultLocation { ranks, by, ..FaultLocation::default() };
    candidates
        .iter()
        .filter(|one| one.waits)
        .map(|one| Verdict { cause: one.cause, culprit: culprit.clone(), weight: 0 })
        .collect()
}

/// Whether the few ranks that differ from the many are to blame: one of three, nine of 64.
fn is_few(few: usize, many: usize) -> bool {
    few > 0 && many >= 2 && few <= (many / 7).max(1)
}

/// The ranks that the logs belong to, and the size of the job.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Ranks {
    pub seen: BTreeSet<u32>,
    pub size: Option<u32>,
}

impl Ranks {
    /// The ranks without a log, if the size of the job is known.
    pub(super) fn missing_ranks(&self) -> Vec<u32> {
        let size = self.size.unwrap_or(0).min(100_000);
        (0..size).filter(|rank| !self.seen.contains(rank)).collect()
    }
}

/// The ranks of the job with most of the failures.
pub(super) fn collect_ranks(
    candidates: &[Candidate<'_>],
    context: &Context<'_>,
    jobs: &Jobs,
) -> Ranks {
    let failed = candidates.iter().filter(|one| one.gravity == Gravity::Failure);
    let job = jobs.most(failed.flat_map(|one| &one.items).map(|item| item.file));
    let of_job = |item: &&Item<'_>| jobs.of(item.file) == job;
    let items = candidates.iter().flat_map(|one| &one.items).chain(context.values().flatten());
    let mut seen: BTreeSet<u32> =
        items.filter(of_job).filter_map(|item| item.process.rank).collect();
    let stated = context.values().flatten().filter(of_job).filter(|item| {
        item.record.hit.cause == "hccl.identity"
            || item.record.hit.rule == signatures::hccl::NEGO_NEED
    });
    let mut size: Option<u32> = stated.filter_map(|item| parse_capture(item, "size")).max();
    if let Some(job) = jobs.job(job) {
        seen.extend(&job.seen);
        // If most ranks have no log, the logs cover only a part of the job.
        let half = u32::try_from(seen.len()).unwrap_or(u32::MAX).saturating_mul(2);
        size = size.or(job.size.filter(|size| *size <= half));
    }
    // A number missing among many is a rank, even if no line states the size.
    let end = seen.last().map_or(0, |last| last.saturating_add(1));
    let gaps = (end as usize).saturating_sub(seen.len());
    let size = size.or_else(|| is_few(gaps, seen.len()).then_some(end));
    Ranks { seen, size }
}
