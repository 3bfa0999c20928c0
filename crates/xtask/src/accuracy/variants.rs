//! Metamorphic tests of `translate-error`: changes of a labelled log that change nothing of what
//! failed. The first cause and the exit status of each variant have to be those of the log.
//!
//! The variants are drawn from a seed, so that a run can be repeated.

use std::path::Path;

use anyhow::Result;
use rayon::prelude::*;
use serde::Deserialize;

use super::measurement::Measurement;
use super::probe::Probe;

/// Lines at once that are inserted.
const INSERTED: [usize; 2] = [1, 5];
/// What a container runtime writes before each line.
const CONTAINER: &str = "trainer-0  | ";

/// How many variants are drawn of each kind, and from which seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) count: u64,
    pub(super) seed: u64,
}

/// A kind of change, with the name of its measurement.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Lines of healthy runs before, between and after the others.
    Harmless,
    /// The log twice in a row.
    Doubled,
    /// The lines up to one behind the last line of evidence.
    Cut,
    /// A prefix of a container runtime on each line.
    Container,
    /// Line ends of Windows.
    Windows,
}

const KINDS: [(Kind, &str); 5] = [
    (Kind::Harmless, "variants with harmless lines"),
    (Kind::Doubled, "variants: the log twice"),
    (Kind::Cut, "variants cut after the evidence"),
    (Kind::Container, "variants with container prefixes"),
    (Kind::Windows, "variants with CRLF"),
];

#[derive(Debug, Deserialize)]
struct Harmless {
    rows: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    line: String,
}

/// A log with its result.
struct Log {
    name: String,
    lines: Vec<String>,
    outcome: Outcome,
}

/// What no variant may change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    cause: String,
    status: i64,
    /// The last line of the evidence of the first cause, counted from 1.
    evidence: usize,
}

/// Measures the variants of the logs `names` below `dir`.
pub(super) fn measure(
    probe: &Probe,
    dir: &Path,
    names: &[String],
    harmless: &Path,
    draw: Draw,
) -> Result<Vec<Measurement>> {
    let harmless: Harmless = super::read_json(harmless)?;
    let logs: Vec<Log> =
        names.par_iter().map(|name| read(probe, dir, name)).collect::<Result<_>>()?;
    let mut measurements = Vec::new();
    for (kind, name) in KINDS {
        let numbers: Vec<u64> = (0..draw.count).collect();
        let results: Vec<Option<String>> = numbers
            .par_iter()
            .map(|number| {
                let mut random =
                    Random(draw.seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let log = &logs[random.below(logs.len())];
                let text = vary(kind, log, &harmless.rows, &mut random);
                let found = outcome(probe, &text)?;
                let same = found.cause == log.outcome.cause && found.status == log.outcome.status;
                let describe = |one: &Outcome| format!("{} (status {})", one.cause, one.status);
                Ok((!same).then(|| {
                    let (before, now) = (describe(&log.outcome), describe(&found));
                    format!("{} variant {number}: {before} became {now}", log.name)
                }))
            })
            .collect::<Result<_>>()?;
        measurements.push(Measurement::of(name, results));
    }
    Ok(measurements)
}

fn read(probe: &Probe, dir: &Path, name: &str) -> Result<Log> {
    let text = String::from_utf8_lossy(&super::read(&dir.join(name))?).into_owned();
    let outcome = outcome(probe, &text)?;
    Ok(Log { name: name.to_owned(), lines: text.lines().map(str::to_owned).collect(), outcome })
}

fn outcome(probe: &Probe, text: &str) -> Result<Outcome> {
    let report = probe.json_of(&["translate-error", "-", "--json"], text.as_bytes())?;
    let report = match report {
        Ok(report) => report,
        Err(error) => return Ok(Outcome { cause: error, status: -1, evidence: 0 }),
    };
    let first = &report["diagnosis"]["causes"][0];
    let lines = first["evidence"].as_array().into_iter().flatten();
    let last = lines.filter_map(|line| line["line"].as_u64()).max().unwrap_or(0);
    Ok(Outcome {
        cause: first["cause"].as_str().unwrap_or_default().to_owned(),
        status: report["gate"]["exit_status"].as_i64().unwrap_or(-1),
        evidence: usize::try_from(last).unwrap_or(0),
    })
}

fn vary(kind: Kind, log: &Log, harmless: &[Row], random: &mut Random) -> String {
    let mut lines = log.lines.clone();
    match kind {
        Kind::Harmless => {
            let count = INSERTED[random.below(INSERTED.len())];
            let place = random.below(3);
            for _ in 0..count {
                let at = match place {
                    0 => 0,
                    1 => random.below(lines.len() + 1),
                    _ => lines.len(),
                };
                lines.insert(at, harmless[random.below(harmless.len())].line.clone());
            }
        }
        Kind::Doubled => lines.extend_from_within(..),
        Kind::Cut => {
            let least = log.outcome.evidence.min(lines.len());
            lines.truncate(least + random.below(lines.len() - least + 1));
        }
        Kind::Container => lines.iter_mut().for_each(|line| line.insert_str(0, CONTAINER)),
        Kind::Windows => return lines.join("\r\n") + "\r\n",
    }
    lines.join("\n") + "\n"
}

/// A generator of numbers (SplitMix64), whose sequence depends on nothing but the seed.
struct Random(u64);

impl Random {
    /// Returns a number below `limit`.
    fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        let limit = u64::try_from(limit.max(1)).unwrap_or(1);
        usize::try_from((mixed ^ (mixed >> 31)) % limit).unwrap_or(0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        let lines = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let outcome = Outcome { cause: "x".to_owned(), status: 1, evidence: 2 };
        Log { name: "log".to_owned(), lines, outcome }
    }

    #[test]
    fn variants_keep_the_lines_of_the_log_in_order() {
        let harmless = [Row { line: "all is well".to_owned() }];
        for seed in 0..200 {
            for (kind, name) in KINDS {
                let text = vary(kind, &log(), &harmless, &mut Random(seed));
                let kept: Vec<&str> = text
                    .lines()
                    .map(|line| line.strip_prefix(CONTAINER).unwrap_or(line).trim_end())
                    .filter(|line| *line != harmless[0].line)
                    .collect();
                let expected: &[&str] = match kind {
                    Kind::Doubled => &["a", "b", "c", "d", "a", "b", "c", "d"],
                    Kind::Cut => &["a", "b", "c", "d"][..kept.len().max(2)],
                    _ => &["a", "b", "c", "d"],
                };
                assert_eq!(kept, expected, "{name}");
            }
        }
    }
}
