//! Determines the owner of a log: ranks, processes and the size of the job, from lines near the
//! start and the end of the log, whether they report a fault or not.
//!
//! A rank that failed silently has no line with a fault. It counts as missing only if its log or
//! its membership in the job is known.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::bytes::Regex;

use super::line_fields;
use super::prefix;

/// The maximum number of lines examined in one part of a log.
const MAX_LINES: usize = 4_096;
/// The largest job, in ranks.
const MAX_RANKS: u32 = 100_000;
/// The examined length of a line, in bytes.
const REACH: usize = 2_048;

/// Words that may announce a rank or the size of a job.
static MENTION: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i-u)rank|world[ _]?size|\[default[0-9]"));
/// The number of ranks of a job or a group.
static SIZE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i-u)(?:\b(?:total)?ranks\[|\brank[ _]?(?:num|size)["']?\s?[:=\[]\s?|\bnranks\s?[:=\[]\s?|\bworld[ _]?size["']?\s?[:=\[(]?\s?)([0-9]{1,6})\b"#,
    )
});
/// The number of the rank in a group whose size the same line states.
static MEMBER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i-u)\b(?:local ?user)?rank(?:id)?\[([0-9]{1,6})\]"));
/// A rank in words, with the word before it, which may mark it as another process's rank.
static OWN: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?i-u)(?:^|[^a-z0-9_])((?:[a-z]+[ _-])?)rank(?:[ _]?id)?["']?\s?[:=\[ ]\s?([0-9]{1,6})(?:[^0-9a-z.]|$)"#,
    )
});

fn regex(text: &str) -> Regex {
    Regex::new(text).expect("the expression is proved by a test")
}

/// The ranks that a log names.
#[derive(Debug, Clone, Default)]
pub(super) struct Attendance {
    /// Ranks that lines name as their writer.
    writers: BTreeSet<u32>,
    /// Ranks that other lines name as the rank of the log.
    own: BTreeSet<u32>,
    /// By process id, the size of its largest group and the rank in it.
    processes: BTreeMap<u32, (u32, u32)>,
    /// The size of the largest group.
    pub(super) size: Option<u32>,
}

impl Attendance {
    /// Reads whole lines.
    pub(super) fn read(&mut self, text: &[u8]) {
        let (mut at, mut lines) = (0, 0);
        while lines < MAX_LINES
            && let Some(found) = MENTION.find_at(text, at)
        {
            let start = memchr::memrchr(b'\n', &text[..found.start()]).map_or(0, |end| end + 1);
            let end = memchr::memchr(b'\n', &text[found.end()..])
                .map_or(text.len(), |end| found.end() + end);
            self.read_line(&text[start..end.min(start + REACH)]);
            at = end;
            lines += 1;
        }
    }

    fn read_line(&mut self, line: &[u8]) {
        let (line, writer) = prefix::strip(line);
        let number = |bytes: &[u8]| std::str::from_utf8(bytes).ok()?.parse::<u32>().ok();
        let sizes = SIZE.captures_iter(line).filter_map(|found| number(&found[1]));
        let size = sizes.filter(|size| (1..=MAX_RANKS).contains(size)).max();
        self.size = self.size.max(size);
        let prefixed = writer.rank;
        if let Some(size) = size
            && let Some(rank) = MEMBER.captures(line).and_then(|found| number(&found[1]))
            && rank < size
        {
            // A rank number in a group equals that in the job only if the group is the job.
            if let Some(pid) = line_fields::parse_plog_pid(line) {
                let known = self.processes.entry(pid).or_insert((size, rank));
                if known.0 < size {
                    *known = (size, rank);
                }
            }
            self.writers.extend(prefixed);
            return;
        }
        if let Some(rank) = line_fields::parse_rank(line, &writer) {
            self.writers.insert(rank);
            return;
        }
        for found in OWN.captures_iter(line) {
            let word = found[1].to_ascii_lowercase();
            let is_own = word.is_empty() || matches!(&word[..word.len() - 1], b"global" | b"world");
            if is_own && let Some(rank) = number(&found[2]).filter(|rank| *rank < MAX_RANKS) {
                self.own.insert(rank);
            }
        }
    }

    /// The rank of the log, if there is exactly one.
    pub(super) fn single(&self) -> Option<u32> {
        let alone = |set: &BTreeSet<u32>| set.first().copied().filter(|_| set.len() == 1);
        if !self.writers.is_empty() {
            return alone(&self.writers);
        }
        match self.processes.len() {
            0 => alone(&self.own),
            1 => self.processes.values().next().map(|(_, rank)| *rank),
            _ => None,
        }
    }

    /// The process ids with known ranks.
    pub(super) fn processes(&self) -> impl Iterator<Item = (u32, u32)> {
        self.processes.iter().map(|(pid, (_, rank))| (*pid, *rank))
    }

    /// The ranks that have lines in the log.
    pub(super) fn ranks(&self) -> BTreeSet<u32> {
        let processes = self.processes.values().map(|(_, rank)| *rank);
        self.writers.iter().copied().chain(processes).chain(self.single()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Attendance {
        let mut all = Attendance::default();
        all.read(text.as_bytes());
        all
    }

    #[test]
    fn writers_are_told_from_ranks_that_are_spoken_of() {
        let all = read("[rank3]: step 1\n[rank5]: waits for remote rank [7]\n");
        assert_eq!(all.ranks(), [3, 5].into());
        assert_eq!(read("no data from remote rank [7]\nfrom rank 2: bye\n").ranks(), [].into());
        assert_eq!(read("2026-06-10 [Rank 4] iteration 10/100\n").single(), Some(4));
        assert_eq!(read("world size 8, rank 3, local rank 1\nrank 3 done\n").single(), Some(3));
        assert_eq!(read("global_rank: 12\n").single(), Some(12));
        assert_eq!(read("rank 1 is here\nrank 2 is here\n").single(), None);
        assert_eq!(read("PageRank 0.85, rank 1.5, low-rank 8\n").ranks(), [].into());
    }

    #[test]
    fn numbers_of_any_size_are_read() {
        let all =
            read("[rank4294967295]: a\n[rank99999999999]: b\nworld size 4294967295\nrank 999999\n");
        assert_eq!((all.ranks(), all.size), ([].into(), None));
    }

    #[test]
    fn a_process_has_the_rank_of_its_largest_group() {
        let plog = "[INFO] HCCL(17,python3):2026-06-10-10:00:02.000.000 [a.cc:1]18 Init: ";
        let all = read(&format!(
            "{plog}rankSize[8], rankId[1]\n{plog}rankSize[64], rankId[9]\n{plog}rankSize[4], rankId[2]\n"
        ));
        assert_eq!((all.size, all.single()), (Some(64), Some(9)));
        assert_eq!(all.processes().collect::<Vec<_>>(), [(17, 9)]);
    }

    #[test]
    fn the_size_of_a_job_has_many_names() {
        for text in [
            "world size 8",
            "world_size=8",
            "'world_size': 8",
            "WORLD_SIZE=8",
            "rankNum[8]",
            "totalRanks[8]",
            "Entry:ranks[8], rank[3]",
            "expected rank num[8]",
            "nranks: 8",
        ] {
            assert_eq!(read(text).size, Some(8), "{text}");
        }
        assert_eq!(read("rank 8").size, None);
    }
}
