//! `translate-error` on logs with a root cause documented or confirmed by a maintainer.

use std::path::Path;

use anyhow::{Context as _, Result};
use rayon::prelude::*;
use serde::Deserialize;
use serde_json::Value;

use super::measurement::Measurement;
use super::probe::Probe;

/// Directories with an `index.json`, and the names of their two measurements.
const SETS: [(&str, [&str; 2]); 2] = [
    ("", ["documented logs, first", "documented logs, first 3"]),
    ("more", ["further logs, first", "further logs, first 3"]),
];

#[derive(Debug, Deserialize)]
struct Index {
    logs: Vec<Log>,
}

/// A log and its root cause.
#[derive(Debug, Deserialize)]
struct Log {
    file: String,
    expected_label: String,
    /// Other causes that are also right.
    #[serde(default)]
    accept_labels: Vec<String>,
}

impl Log {
    fn accepts(&self, cause: &str) -> bool {
        cause == self.expected_label || self.accept_labels.iter().any(|other| other == cause)
    }

    /// Returns a description of the error if none of the first `count` causes is accepted.
    fn miss(&self, ranking: &Result<Vec<String>, String>, count: usize) -> Option<String> {
        let found = match ranking {
            Ok(causes) if causes.iter().take(count).any(|cause| self.accepts(cause)) => {
                return None;
            }
            Ok(causes) => causes.iter().take(4).cloned().collect::<Vec<_>>().join(", "),
            Err(error) => error.clone(),
        };
        Some(format!("{}: expected {}, found {found}", self.file, self.expected_label))
    }
}

/// Measures the first cause, and the first three of the ranking. The ranking also lists causes
/// that follow from another one.
pub(super) fn measure(probe: &Probe, dir: &Path) -> Result<Vec<Measurement>> {
    let mut measurements = Vec::new();
    for (sub, [first, three]) in SETS {
        let dir = dir.join(sub);
        let index: Index = super::read_json(&dir.join("index.json"))?;
        let rankings: Vec<_> = index
            .logs
            .par_iter()
            .map(|log| ranking(probe, &dir.join(&log.file)))
            .collect::<Result<_>>()?;
        for (name, count) in [(first, 1), (three, 3)] {
            let pairs = index.logs.iter().zip(&rankings);
            measurements
                .push(Measurement::of(name, pairs.map(|(log, ranking)| log.miss(ranking, count))));
        }
    }
    Ok(measurements)
}

/// Returns the names of the logs below `dir` that are single files.
pub(super) fn single_files(dir: &Path) -> Result<Vec<String>> {
    let mut names = Vec::new();
    for (sub, _) in SETS {
        let index: Index = super::read_json(&dir.join(sub).join("index.json"))?;
        let files = index.logs.into_iter().map(|log| Path::new(sub).join(log.file));
        let files = files.filter(|file| dir.join(file).is_file());
        names.extend(files.map(|file| file.display().to_string()));
    }
    Ok(names)
}

/// Returns the causes of a log, the most probable first.
fn ranking(probe: &Probe, path: &Path) -> Result<Result<Vec<String>, String>> {
    super::ensure_readable(path)?;
    let path = path.to_str().context("the path of a log is not UTF-8")?;
    let report = probe.json(&["translate-error", "--as", "file", path, "--json"])?;
    Ok(report.and_then(|report| causes(&report).ok_or_else(|| "no ranking".to_owned())))
}

/// Returns the ranking of a report.
pub(super) fn causes(report: &Value) -> Option<Vec<String>> {
    let ranking = report["diagnosis"]["ranking"].as_array()?;
    ranking.iter().map(|row| Some(row["cause"].as_str()?.to_owned())).collect()
}
