//! The jobs of a directory. Two logs of the same rank cannot belong to one job: they come from
//! several jobs, or from several starts of one.

use std::collections::{BTreeMap, BTreeSet};

use super::process::ProcessTable;
use super::scan::FileReport;

/// The maximum depth at which folders separate jobs.
const MAX_DEPTH: usize = 32;

/// The job of each file.
#[derive(Debug)]
pub(super) struct Jobs {
    of_file: Vec<usize>,
    jobs: Vec<Job>,
}

/// The known ranks of a job.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Job {
    /// Ranks with a log.
    pub seen: BTreeSet<u32>,
    /// The size of the job according to the logs.
    pub size: Option<u32>,
}

/// Files of one job with their ranks. A rank has one plog and one output.
#[derive(Default)]
struct Part {
    files: Vec<usize>,
    ranks: BTreeSet<(bool, u32)>,
}

impl Jobs {
    pub(super) fn new(files: &[FileReport], processes: &ProcessTable) -> Self {
        let ranks: Vec<BTreeSet<u32>> =
            files.iter().enumerate().map(|(at, file)| processes.ranks(at, file)).collect();
        let paths: Vec<Vec<&str>> = files
            .iter()
            .map(|file| file.name.split(['/', '!']).filter(|part| !part.is_empty()).collect())
            .collect();
        let parts = split(&(0..files.len()).collect::<Vec<_>>(), 0, &paths, &ranks);
        let mut of_file = vec![0; files.len()];
        let mut jobs = Vec::new();
        for (index, part) in parts.into_iter().enumerate() {
            let size = part.files.iter().filter_map(|file| files[*file].attendance.size).max();
            jobs.push(Job { seen: part.ranks.iter().map(|(_, rank)| *rank).collect(), size });
            for file in part.files {
                of_file[file] = index;
            }
        }
        Self { of_file, jobs }
    }

    /// The job of a file.
    pub(super) fn of(&self, file: usize) -> usize {
        self.of_file.get(file).copied().unwrap_or(0)
    }

    /// The job with most of these files.
    pub(super) fn most(&self, files: impl Iterator<Item = usize>) -> usize {
        let mut counts: BTreeMap<usize, usize> = BTreeMap::new();
        for file in files {
            *counts.entry(self.of(file)).or_default() += 1;
        }
        // The first of several with the same count.
        let most = counts.iter().max_by_key(|(job, count)| (**count, std::cmp::Reverse(**job)));
        most.map_or(0, |(job, _)| *job)
    }

    /// The ranks of a job.
    pub(super) fn job(&self, index: usize) -> Option<&Job> {
        self.jobs.get(index)
    }
}

/// The jobs of files whose paths share the first `depth` parts.
fn split(files: &[usize], depth: usize, paths: &[Vec<&str>], ranks: &[BTreeSet<u32>]) -> Vec<Part> {
    let mut folders: BTreeMap<Option<&str>, Vec<usize>> = BTreeMap::new();
    for file in files {
        let path = &paths[*file];
        let folder = path.get(depth).copied().filter(|_| depth + 1 < path.len());
        folders.entry(folder).or_default().push(*file);
    }
    let mut all: Vec<Part> = Vec::new();
    for (folder, files) in folders {
        let parts = match folder {
            Some(_) if depth < MAX_DEPTH => split(&files, depth + 1, paths, ranks),
            // Files in one folder belong to one job.
            _ => vec![whole(files, paths, ranks)],
        };
        // Parts that were separated stay separate.
        let mut taken = BTreeSet::new();
        for part in parts {
            let place = (0..all.len())
                .find(|at| !taken.contains(at) && all[*at].ranks.is_disjoint(&part.ranks));
            let at = place.unwrap_or(all.len());
            taken.insert(at);
            if at == all.len() {
                all.push(part);
            } else {
                all[at].files.extend(part.files);
                all[at].ranks.extend(part.ranks);
            }
        }
    }
    all
}

fn whole(files: Vec<usize>, paths: &[Vec<&str>], ranks: &[BTreeSet<u32>]) -> Part {
    let mut part = Part::default();
    for file in files {
        let is_plog = paths[file].iter().any(|name| {
            name.starts_with("plog") || name.starts_with("device-") || *name == "device_log"
        });
        part.ranks.extend(ranks[file].iter().map(|rank| (is_plog, *rank)));
        part.files.push(file);
    }
    part
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::series::Logs;
    use crate::log::{Limits, scan};

    fn jobs(files: &[(&str, &str)]) -> (Vec<usize>, Vec<Vec<u32>>) {
        let files: Vec<FileReport> = files
            .iter()
            .map(|(name, text)| scan(name, &mut text.as_bytes(), Limits::default()))
            .collect();
        let processes = ProcessTable::new(&files, &Logs::new(&files));
        let jobs = Jobs::new(&files, &processes);
        let seen = jobs.jobs.iter().map(|job| job.seen.iter().copied().collect());
        (jobs.of_file.clone(), seen.collect())
    }

    #[test]
    fn the_logs_of_machines_are_one_job() {
        let (of, seen) = jobs(&[
            ("node0/rank_0.log", "a\n"),
            ("node0/rank_1.log", "a\n"),
            ("node1/rank_2.log", "a\n"),
        ]);
        assert_eq!((of, seen), (vec![0, 0, 0], vec![vec![0, 1, 2]]));
    }

    #[test]
    fn two_logs_of_one_rank_are_two_jobs() {
        let (of, _) = jobs(&[
            ("a/rank_0.log", "x\n"),
            ("a/rank_1.log", "x\n"),
            ("job_b/rank_0.log", "x\n"),
            ("job_b/rank_1.log", "x\n"),
        ]);
        assert_eq!(of, [0, 0, 1, 1]);
        let (of, _) = jobs(&[
            ("none_x/attempt_0/0/stderr.log", "x\n"),
            ("none_x/attempt_0/1/stderr.log", "x\n"),
            ("none_x/attempt_1/0/stderr.log", "x\n"),
            ("none_x/attempt_1/1/stderr.log", "x\n"),
        ]);
        assert_eq!(of, [0, 0, 1, 1]);
    }

    #[test]
    fn a_rank_has_an_output_and_a_plog() {
        let plog =
            "[INFO] HCCL(17,p):2026-06-10-10:00:02.000.000 [a.cc:1]18 x rankSize[2], rankId[1]\n";
        let (of, seen) = jobs(&[("out/rank_1.log", "x\n"), ("plog/plog-17_2026.log", plog)]);
        assert_eq!((of, seen), (vec![0, 0], vec![vec![1]]));
    }
}
