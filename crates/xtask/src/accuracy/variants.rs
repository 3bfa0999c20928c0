//! Metamorphic tests of `translate-error`: changes of a labeled log that do not affect its failure.
//! The first cause and the exit status of each variant must equal those of the log.
//!
//! The variants are drawn from a seed, so a run can be repeated.

use std::collections::{BTreeMap, VecDeque};
use std::io::Write as _;
use std::path::Path;
use std::sync::LazyLock;

use anyhow::{Context as _, Result};
use rayon::prelude::*;
use regex::{Captures, Regex};
use serde::Deserialize;
use serde_json::Value;

use super::measurement::Measurement;
use super::probe::Probe;
use super::random::Random;

/// The numbers of lines that are inserted at once.
const INSERTED: [usize; 2] = [1, 5];
/// The prefix that a container runtime writes before each line.
const CONTAINER: &str = "trainer-0  | ";

/// The number of variants of each kind, and their seed.
#[derive(Debug, Clone, Copy)]
pub(super) struct Draw {
    pub(super) count: u64,
    pub(super) seed: u64,
}

/// A kind of change.
#[derive(Debug, Clone, Copy)]
enum Kind {
    /// Lines of healthy runs are inserted before, between and after the others.
    Harmless,
    /// The log is repeated once.
    Doubled,
    /// The log ends one line after the last line of evidence.
    Cut,
    /// Each line has the prefix of a container runtime.
    Container,
    /// The line ends are those of Windows.
    Windows,
    /// Neighboring ranks swap their numbers.
    Relabeled,
    /// The clocks are a year ahead.
    Later,
    /// The older lines are in a separate file, as in rotated logs.
    Rotated,
    /// The log is compressed.
    Compressed,
    /// The lines of each rank keep their order, but their places between those of the others
    /// change.
    Shuffled,
}

const KINDS: [(Kind, &str); 10] = [
    (Kind::Harmless, "variants with harmless lines"),
    (Kind::Doubled, "variants: the log twice"),
    (Kind::Cut, "variants cut after the evidence"),
    (Kind::Container, "variants with container prefixes"),
    (Kind::Windows, "variants with CRLF"),
    (Kind::Relabeled, "variants with other ranks"),
    (Kind::Later, "variants with other clocks"),
    (Kind::Rotated, "variants in two files"),
    (Kind::Compressed, "variants, compressed"),
    (Kind::Shuffled, "variants with ranks in another order"),
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

/// The properties that no variant may change.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Outcome {
    cause: String,
    status: i64,
    /// The ranks of the first cause.
    ranks: Vec<u64>,
    /// The last line of the evidence of the first cause, counted from 1.
    evidence: usize,
}

impl Outcome {
    /// Returns whether the outcomes agree. A variant may report more ranks, because the name of a
    /// container identifies one, or fewer, because the line with the rank may be cut off. It must
    /// not report other ranks.
    fn agrees_with(&self, wanted: &Self) -> bool {
        let ranks = self.ranks == wanted.ranks || self.ranks.is_empty() || wanted.ranks.is_empty();
        self.cause == wanted.cause && self.status == wanted.status && ranks
    }
}

/// Logs with ranks in tables and lists, where rank numbers cannot be distinguished from other
/// numbers.
const RANKS_IN_TABLES: &[&str] = &["(user_rank)", "connected rankinfo", "Worker_"];

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
                    Random::new(draw.seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
                let log = &logs[random.below(logs.len())];
                let text = vary(kind, log, &harmless.rows, &mut random);
                let found = match kind {
                    Kind::Rotated => rotated(probe, &text, &mut random)?,
                    Kind::Compressed => compressed(probe, &text)?,
                    _ => outcome(probe, &text)?,
                };
                let mut wanted = log.outcome.clone();
                if matches!(kind, Kind::Relabeled) && !names_ranks_in_tables(&log.lines) {
                    wanted.ranks.iter_mut().for_each(|rank| *rank ^= 1);
                    wanted.ranks.sort_unstable();
                }
                Ok((!found.agrees_with(&wanted)).then(|| {
                    let (before, now) = (describe(&wanted), describe(&found));
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

fn describe(outcome: &Outcome) -> String {
    let Outcome { cause, status, ranks, .. } = outcome;
    format!("{cause} (status {status}, ranks {ranks:?})")
}

fn outcome(probe: &Probe, text: &str) -> Result<Outcome> {
    Ok(outcome_of(probe.json_of(&["translate-error", "-", "--json"], text.as_bytes())?))
}

/// Returns the outcome of the log after its older lines moved to `log.1`.
fn rotated(probe: &Probe, text: &str, random: &mut Random) -> Result<Outcome> {
    let dir = tempfile::tempdir()?;
    let lines: Vec<&str> = text.split_inclusive('\n').collect();
    let (older, newer) = lines.split_at(random.below(lines.len() + 1));
    for (name, part) in [("train.log.1", older), ("train.log", newer)] {
        std::fs::write(dir.path().join(name), part.concat())?;
    }
    outcome_of_path(probe, dir.path())
}

fn compressed(probe: &Probe, text: &str) -> Result<Outcome> {
    let dir = tempfile::tempdir()?;
    let path = dir.path().join("train.log.gz");
    let mut encoder =
        flate2::write::GzEncoder::new(std::fs::File::create(&path)?, flate2::Compression::fast());
    encoder.write_all(text.as_bytes())?;
    encoder.finish()?;
    outcome_of_path(probe, &path)
}

fn outcome_of_path(probe: &Probe, path: &Path) -> Result<Outcome> {
    let path = path.to_str().context("the path of a variant is not UTF-8")?;
    Ok(outcome_of(probe.json(&["translate-error", "--as", "file", path, "--json"])?))
}

fn outcome_of(report: Result<Value, String>) -> Outcome {
    let report = match report {
        Ok(report) => report,
        Err(error) => return Outcome { cause: error, status: -1, ranks: Vec::new(), evidence: 0 },
    };
    let first = &report["diagnosis"]["causes"][0];
    let lines = first["evidence"].as_array().into_iter().flatten();
    let last = lines.filter_map(|line| line["line"].as_u64()).max().unwrap_or(0);
    let ranks = first["culprit"]["ranks"].as_array().into_iter().flatten();
    let mut ranks: Vec<u64> = ranks.filter_map(Value::as_u64).collect();
    ranks.sort_unstable();
    Outcome {
        cause: first["cause"].as_str().unwrap_or_default().to_owned(),
        status: report["gate"]["exit_status"].as_i64().unwrap_or(-1),
        ranks,
        evidence: usize::try_from(last).unwrap_or(0),
    }
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
        Kind::Relabeled if names_ranks_in_tables(&lines) => {}
        Kind::Relabeled => lines.iter_mut().for_each(|line| *line = relabeled(line)),
        Kind::Later => lines.iter_mut().for_each(|line| *line = later(line)),
        Kind::Rotated | Kind::Compressed => {}
        Kind::Shuffled => shuffle(&mut lines, random),
    }
    lines.join("\n") + "\n"
}

/// Moves the lines that begin with a rank to other places among each other, because their writers
/// are not synchronized. Lines of one rank keep their order.
fn shuffle(lines: &mut [String], random: &mut Random) {
    let rank = |line: &str| {
        let (rank, _) = line.strip_prefix("[rank")?.split_once(']')?;
        rank.parse::<u32>().ok()
    };
    let places: Vec<usize> = (0..lines.len()).filter(|at| rank(&lines[*at]).is_some()).collect();
    let mut queues: BTreeMap<u32, VecDeque<String>> = BTreeMap::new();
    for at in &places {
        if let Some(rank) = rank(&lines[*at]) {
            queues.entry(rank).or_default().push_back(lines[*at].clone());
        }
    }
    for at in places {
        let ranks: Vec<u32> = queues.keys().copied().collect();
        let rank = ranks[random.below(ranks.len())];
        if let Some(line) = queues.get_mut(&rank).and_then(VecDeque::pop_front) {
            lines[at] = line;
        }
        queues.retain(|_, lines| !lines.is_empty());
    }
}

fn names_ranks_in_tables(lines: &[String]) -> bool {
    lines.iter().any(|line| RANKS_IN_TABLES.iter().any(|words| line.contains(words)))
}

/// Swaps the numbers of neighboring ranks in a line, in all forms that name a rank.
fn relabeled(line: &str) -> String {
    static RANK: LazyLock<Regex> = LazyLock::new(|| {
        Regex::new(r"(?i)(rank(?:_?id)?(?:: ?|=|\[| )?\[?)(\d{1,4})\b").expect("valid")
    });
    let exchange = |found: &Captures<'_>| {
        let rank: u64 = found[2].parse().unwrap_or_default();
        format!("{}{}", &found[1], rank ^ 1)
    };
    RANK.replace_all(line, exchange).into_owned()
}

/// Adds one year to the times in a line.
fn later(line: &str) -> String {
    static YEAR: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"\b(20\d\d)([-/]\d\d[-/]\d\d)").expect("valid"));
    let next = |found: &Captures<'_>| {
        let year: u32 = found[1].parse().unwrap_or_default();
        format!("{}{}", year + 1, &found[2])
    };
    YEAR.replace_all(line, next).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn log() -> Log {
        let lines = ["a", "b", "c", "d"].map(str::to_owned).to_vec();
        let outcome = Outcome { cause: "x".to_owned(), status: 1, ranks: Vec::new(), evidence: 2 };
        Log { name: "log".to_owned(), lines, outcome }
    }

    #[test]
    fn ranks_and_years_change_in_all_forms() {
        assert_eq!(
            relabeled("[rank3]: RankID:0) rankSize[8], rankId[6]. remote rank: [24]"),
            "[rank2]: RankID:1) rankSize[8], rankId[7]. remote rank: [25]"
        );
        assert_eq!(relabeled("ranks 3"), "ranks 3");
        assert_eq!(later("[2025-08-05-18:15:21] 2024/1"), "[2026-08-05-18:15:21] 2024/1");
    }

    #[test]
    fn variants_keep_the_lines_of_the_log_in_order() {
        let harmless = [Row { line: "all is well".to_owned() }];
        for seed in 0..200 {
            for (kind, name) in KINDS {
                let text = vary(kind, &log(), &harmless, &mut Random::new(seed));
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
