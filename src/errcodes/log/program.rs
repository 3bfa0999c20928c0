//! Which programs write a log: `data/errors/programs.toml`. The same failure is cured in one way
//! under vLLM and in another under MindSpore.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use data::data_pack::{Pack, PackError};

const TABLE: &str = "errors/programs";
/// How much of a part of a log is searched, in bytes.
const REACH: usize = 256 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    program: Vec<Program>,
}

/// A program, and the words by which its logs are known.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    /// As remedies name it.
    id: String,
    words: Vec<String>,
}

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| data::table::<File>(TABLE).program);

/// The finder, and by pattern the program that the pattern is of.
static FINDER: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let words = PROGRAMS.iter().enumerate();
    let (owners, words): (Vec<usize>, Vec<&String>) =
        words.flat_map(|(at, one)| one.words.iter().map(move |word| (at, word))).unzip();
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()?;
    Some((finder, owners))
});

/// The ids in the table of a pack.
pub(crate) fn ids(pack: &'static Pack) -> Result<BTreeSet<String>, PackError> {
    Ok(pack.table::<File>(TABLE)?.program.into_iter().map(|program| program.id).collect())
}

/// Whether the table has a program of this name.
#[cfg(test)]
pub(crate) fn is_known(id: &str) -> bool {
    PROGRAMS.iter().any(|program| program.id == id)
}

/// The programs that a log names near its start and its end.
#[derive(Debug, Clone, Default)]
pub(super) struct Programs(BTreeSet<usize>);

impl Programs {
    /// Reads a part of a log.
    pub(super) fn read(&mut self, text: &[u8]) {
        let Some((finder, owners)) = FINDER.as_ref() else { return };
        let found = finder.find_overlapping_iter(&text[..text.len().min(REACH)]);
        self.0.extend(found.map(|one| owners[one.pattern().as_usize()]));
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.0.extend(&other.0);
    }

    /// Their names, in the order of the table.
    pub(super) fn names(&self) -> Vec<String> {
        self.0.iter().map(|at| PROGRAMS[*at].id.clone()).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let mut all = Programs::default();
        all.read(text.as_bytes());
        all.names()
    }

    #[test]
    fn programs_are_known_by_their_words() {
        let log = "(EngineCore_DP0 pid=5) File \"/vllm-workspace/vllm_ascend/worker.py\", line 3";
        assert_eq!(names(log), ["vllm"]);
        assert_eq!(names("step 1 loss 2.0"), [""; 0]);
    }

    #[test]
    fn ids_and_words_are_there_once() {
        let mut seen = BTreeSet::new();
        for program in PROGRAMS.iter() {
            assert!(seen.insert(program.id.to_ascii_lowercase()), "{}", program.id);
            assert!(!program.words.is_empty(), "{}", program.id);
        }
        let mut seen = BTreeSet::new();
        for word in PROGRAMS.iter().flat_map(|program| &program.words) {
            assert!(seen.insert(word.to_ascii_lowercase()), "{word} is of two programs");
        }
    }
}
