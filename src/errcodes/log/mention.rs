//! Names that a log contains near its start and its end: the programs that write it
//! (`data/errors/programs.toml`) and the words that select remedies. The same failure has one
//! remedy under vLLM and another under MindSpore, and the decisive option or chip is named more
//! often in a banner than in the failing line.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use serde::Deserialize;

use data::data_pack::{Pack, PackError};

const TABLE: &str = "errors/programs";
/// The part of a log that is searched, in bytes.
const REACH: usize = 256 << 10;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    program: Vec<Program>,
}

/// A program, and the words that identify its logs.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Program {
    /// The id by which remedies refer to it.
    id: String,
    words: Vec<String>,
}

static PROGRAMS: LazyLock<Vec<Program>> = LazyLock::new(|| data::table::<File>(TABLE).program);

/// The finder of the words of programs, and the program of each pattern.
static PROGRAM_FINDER: LazyLock<Option<(AhoCorasick, Vec<usize>)>> = LazyLock::new(|| {
    let words = PROGRAMS.iter().enumerate();
    let (owners, words): (Vec<usize>, Vec<&String>) =
        words.flat_map(|(at, one)| one.words.iter().map(move |word| (at, word))).unzip();
    let finder = AhoCorasick::builder().ascii_case_insensitive(true).build(words).ok()?;
    Some((finder, owners))
});

/// The finder of the words of remedies, and the words.
static WORD_FINDER: LazyLock<Option<(AhoCorasick, Vec<&'static str>)>> = LazyLock::new(|| {
    let words: Vec<&str> = crate::remedy::words().collect();
    Some((AhoCorasick::new(&words).ok()?, words))
});

/// The ids in the table of a pack.
pub(crate) fn ids(pack: &'static Pack) -> Result<BTreeSet<String>, PackError> {
    Ok(pack.table::<File>(TABLE)?.program.into_iter().map(|program| program.id).collect())
}

/// Whether the table contains a program with this id.
#[cfg(test)]
pub(crate) fn is_known(id: &str) -> bool {
    PROGRAMS.iter().any(|program| program.id == id)
}

/// The programs and words that a log names.
#[derive(Debug, Clone, Default)]
pub(crate) struct Mentions {
    /// Ids of programs.
    pub(crate) programs: BTreeSet<String>,
    /// Words of remedies.
    pub(crate) words: BTreeSet<&'static str>,
}

impl Mentions {
    /// Reads a part of a log.
    pub(crate) fn read(&mut self, text: &[u8]) {
        let text = &text[..text.len().min(REACH)];
        if let Some((finder, owners)) = PROGRAM_FINDER.as_ref() {
            let found = finder.find_overlapping_iter(text);
            let found: BTreeSet<usize> =
                found.map(|one| owners[one.pattern().as_usize()]).collect();
            self.programs.extend(found.into_iter().map(|at| PROGRAMS[at].id.clone()));
        }
        if let Some((finder, words)) = WORD_FINDER.as_ref() {
            let found = finder.find_overlapping_iter(text);
            self.words.extend(found.map(|one| words[one.pattern().as_usize()]));
        }
    }

    pub(super) fn extend(&mut self, other: &Self) {
        self.programs.extend(other.programs.iter().cloned());
        self.words.extend(&other.words);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(text: &str) -> Vec<String> {
        let mut all = Mentions::default();
        all.read(text.as_bytes());
        all.programs.into_iter().collect()
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
