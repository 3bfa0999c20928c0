//! Assigns hits to processes: ranks and devices from lines, and from the names of files.

use std::collections::{BTreeMap, BTreeSet};

use super::gravity::Gravity;
use super::scan::{FileReport, Record};
use super::series::Logs;

/// A process of the job, as far as known.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Process {
    /// The machine or worker: the common part of the paths of its files.
    pub host: String,
    /// The rank.
    pub rank: Option<u32>,
    /// The process id.
    pub pid: Option<u32>,
    /// The device.
    pub device: Option<u32>,
    /// The name that a launcher gave it.
    pub name: Option<String>,
}

/// The identity of a process: the rank; without one, the process id with the machine; else the
/// device or the name with the machine.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ProcessKey {
    Rank(u32),
    Pid(String, u32),
    Device(String, u32),
    Name(String, String),
    File(String),
}

impl Process {
    pub(super) fn key(&self, file: &str) -> ProcessKey {
        match (self.rank, self.pid, self.device, &self.name) {
            (Some(rank), ..) => ProcessKey::Rank(rank),
            (None, Some(pid), ..) => ProcessKey::Pid(self.host.clone(), pid),
            (None, None, Some(device), _) => ProcessKey::Device(self.host.clone(), device),
            (None, None, None, Some(name)) => ProcessKey::Name(self.host.clone(), name.clone()),
            _ => ProcessKey::File(file.to_owned()),
        }
    }
}

/// The process that the path of a file names: `worker-3/`, `rank_3.log`, `device-3/`,
/// `plog-17528_2025….log`.
pub(super) fn from_path(path: &str) -> Process {
    let mut process = Process::default();
    let parts: Vec<&str> = path.split(['/', '!']).filter(|part| !part.is_empty()).collect();
    let mut host_end = 0;
    for (index, part) in parts.iter().enumerate() {
        let lower = part.to_ascii_lowercase();
        let last = index + 1 == parts.len();
        if let Some(rank) = parse_number(&lower, &["rank"]) {
            process.rank = Some(rank);
        } else if let Some(rank) = parse_number(&lower, &["worker"]) {
            // A worker's folder may contain many ranks: it names a machine. A file is one process.
            if last {
                process.rank = Some(rank);
            }
            process.name = Some((*part).to_owned());
            host_end = index + 1;
        } else if let Some(number) = parse_number(&lower, &["device"]) {
            // The name of a file below a device's folder contains the number of a process.
            process.device = Some(number).filter(|device| *device < 64).or(process.device);
        } else if last && let Some(pid) = parse_number(&lower, &["plog"]) {
            process.pid = Some(pid);
        } else if !last && is_machine(&lower) {
            host_end = index + 1;
        }
    }
    // Everything above the usual folders of a plog tree identifies the machine.
    if host_end == 0 {
        let usual = |part: &&str| {
            matches!(
                *part,
                "plog"
                    | "debug"
                    | "run"
                    | "security"
                    | "ascend"
                    | "log"
                    | "process_log"
                    | "device_log"
            )
        };
        host_end = parts.iter().position(usual).unwrap_or(0);
    }
    process.host = parts[..host_end].join("/");
    process
}

/// The folder that torchrun creates for a process, `attempt_0/3/`, with the path above it.
fn find_slot(path: &str) -> Option<(&str, u32)> {
    let at = path.find("attempt_")?;
    let mut parts = path[at..].split('/');
    let (_, slot, file) = (parts.next()?, parts.next()?, parts.next()?);
    (!file.is_empty()).then_some((&path[..at], slot.parse().ok()?))
}

/// The number of such a folder is the rank if all are of one machine and no line names a rank.
fn fill_slots(files: &[FileReport], paths: &mut [Process]) {
    let slots: Vec<Option<(&str, u32)>> = files.iter().map(|file| find_slot(&file.name)).collect();
    let machines: BTreeSet<&str> = slots.iter().flatten().map(|(above, _)| *above).collect();
    for ((path, slot), file) in paths.iter_mut().zip(slots).zip(files) {
        let Some((_, slot)) = slot else { continue };
        let alone = (machines.len() == 1).then_some(slot);
        path.rank = path.rank.or(file.attendance.single()).or(alone);
        path.device = path.device.or((slot < 64).then_some(slot));
    }
}

/// `rank3`, `rank-3`, `rank_3`, `rank-3_2025.log`: the number behind one of the keys.
fn parse_number(name: &str, keys: &[&str]) -> Option<u32> {
    keys.iter().find_map(|key| {
        let at = name.find(key)?;
        let before = name[..at].chars().next_back();
        if before.is_some_and(|c| c.is_ascii_alphabetic()) {
            return None;
        }
        let rest = name[at + key.len()..].trim_start_matches(['-', '_']);
        let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
        rest[..digits].parse().ok()
    })
}

/// `node1`, `server-2`, `10.0.0.7`.
fn is_machine(part: &str) -> bool {
    ["node", "host", "server"].iter().any(|key| part.starts_with(key)) || is_address(part)
}

fn is_address(part: &str) -> bool {
    part.split(['.', '_', '-']).filter_map(|number| number.parse::<u8>().ok()).count() >= 4
}

/// The known processes, from the lines of all files together.
pub(super) struct ProcessTable {
    paths: Vec<Process>,
    /// Rank and device from any line of a process, by machine and process id.
    known: BTreeMap<(String, u32), (Option<u32>, Option<u32>)>,
    /// The rank and process of a file, if its lines name only one; no rank if they are of several
    /// containers.
    single: Vec<(Option<u32>, Option<u32>)>,
}

impl ProcessTable {
    pub(super) fn new(files: &[FileReport], logs: &Logs) -> Self {
        let mut paths: Vec<Process> = files.iter().map(|file| from_path(&file.name)).collect();
        fill_slots(files, &mut paths);
        let mut known: BTreeMap<(String, u32), (Option<u32>, Option<u32>)> = BTreeMap::new();
        let mut named: BTreeMap<usize, [SingleValue; 3]> = BTreeMap::new();
        for (index, (file, path)) in files.iter().zip(&paths).enumerate() {
            let [ranks, pids, containers] = named.entry(logs.log(index)).or_default();
            ranks.add(file.attendance.single());
            ranks.several |= file.attendance.ranks().len() > 1;
            for (pid, rank) in file.attendance.processes() {
                known.entry((path.host.clone(), pid)).or_default().0 = Some(rank);
            }
            let of_run = |record: &&Record| record.hit.gravity > Gravity::Harmless;
            for record in file.records.iter().filter(of_run) {
                let fields = &record.hit.fields;
                let captured = read_identity(&record.hit.captures, &record.hit.cause);
                let rank = captured.0.or(fields.rank);
                ranks.add(rank);
                pids.add(fields.pid);
                containers.add(fields.container);
                if let Some(pid) = fields.pid.or(path.pid) {
                    let entry = known.entry((path.host.clone(), pid)).or_default();
                    entry.0 = entry.0.or(rank).or(path.rank);
                    entry.1 = entry.1.or(captured.1).or(fields.device).or(path.device);
                }
            }
        }
        let single = (0..files.len()).map(|index| {
            let [ranks, pids, containers] = &named[&logs.log(index)];
            (ranks.single().filter(|_| !containers.several), pids.single())
        });
        let single = single.collect();
        Self { paths, known, single }
    }

    /// The ranks of file `index`.
    pub(super) fn ranks(&self, index: usize, file: &FileReport) -> BTreeSet<u32> {
        let path = &self.paths[index];
        if let Some(rank) = path.rank {
            return [rank].into();
        }
        let of_pid = path.pid.and_then(|pid| self.known.get(&(path.host.clone(), pid))?.0);
        let mut ranks = file.attendance.ranks();
        ranks.extend(of_pid.or(self.single[index].0));
        ranks
    }

    /// The process that wrote a line of file `index`.
    pub(super) fn find(&self, index: usize, fields: &super::Fields) -> Process {
        let path = &self.paths[index];
        let (one_rank, one_pid) = self.single[index];
        let pid = fields.pid.or(path.pid).or(one_pid);
        let known = pid.and_then(|pid| self.known.get(&(path.host.clone(), pid)));
        let (known_rank, known_device) = known.copied().unwrap_or_default();
        Process {
            host: path.host.clone(),
            rank: fields.rank.or(path.rank).or(known_rank).or(one_rank).or(fields.container),
            pid,
            device: fields.device.or(path.device).or(known_device),
            name: fields.writer.clone().or_else(|| path.name.clone()),
        }
    }
}

/// Rank and device from a line that names its own process.
fn read_identity(captures: &[(&'static str, String)], cause: &str) -> (Option<u32>, Option<u32>) {
    let number = |name: &str| {
        captures.iter().find(|(key, _)| *key == name).and_then(|(_, value)| value.parse().ok())
    };
    match cause {
        "hccl.identity" => (number("rank"), number("device")),
        "hccl.op_data" => (None, number("device")),
        _ => (None, None),
    }
}

/// Detects whether all values are equal.
#[derive(Default)]
struct SingleValue {
    value: Option<u32>,
    several: bool,
}

impl SingleValue {
    fn add(&mut self, value: Option<u32>) {
        match (self.value, value) {
            (None, Some(value)) => self.value = Some(value),
            (Some(known), Some(value)) if known != value => self.several = true,
            _ => {}
        }
    }

    fn single(&self) -> Option<u32> {
        self.value.filter(|_| !self.several)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_name_ranks_devices_processes_and_machines() {
        let process = from_path("logs/worker-3/plog/plog-17528_20250512205544.log");
        assert_eq!((process.pid, process.host.as_str()), (Some(17_528), "logs/worker-3"));
        assert_eq!(process.rank, None, "a worker's folder may hold many ranks");
        assert_eq!(from_path("logs/rank_7/train.log").rank, Some(7));
        assert_eq!(from_path("logs/worker_7.log").rank, Some(7));
        assert_eq!(from_path("out/train_rank-12.log").rank, Some(12));
        let device = from_path("10.0.0.7/debug/device-5/device-1_2025.log");
        assert_eq!((device.device, device.host.as_str()), (Some(1), "10.0.0.7"));
        assert_eq!(from_path("a/debug/device-11/device-1382_2025.log").device, Some(11));
        assert_eq!(from_path("frankfurt1/x.log").rank, None);
        assert_eq!(from_path("node1/debug/plog/plog-1.log").host, "node1");
        assert_eq!(from_path("a/debug/plog/plog-1.log").host, "a");
    }
}
