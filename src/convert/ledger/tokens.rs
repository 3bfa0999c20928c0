//! The tokens that the ledger counts: words of CUDA, and the names of libraries without NPU support.
//!
//! Words count anywhere and in any case, names of libraries only as whole words: `apex` matches,
//! `my_apex` and `apex-tools` do not. The search runs from left to right, takes the longest match
//! and never overlaps.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::{AhoCorasick, AhoCorasickKind, MatchKind};
use foldhash::HashSet;
use serde::Deserialize;

use super::blocker::Blocks;
use crate::rules::{Action, Match, Rule, Rules};
use data::data_pack::{Pack, PackError};
use data::table;

/// Maximum number of tokens to classify in one file.
pub(crate) const MAX_FILE: usize = 50_000;

/// `data/convert/ledger.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct LedgerTable {
    tokens: Vec<String>,
    /// The rules whose effect differs from the one that their class implies.
    pub(super) blocks: Blocks,
}

/// The texts of a table without rules.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoTexts {
    #[expect(dead_code, reason = "no rule has a text there")]
    rule: [(); 0],
}

/// Decodes the tables of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    pack.table::<LedgerTable>("convert/ledger")?;
    pack.table::<NoTexts>("convert/ledger.texts").map(drop)
}

pub(super) static TABLE: LazyLock<LedgerTable> = LazyLock::new(|| table("convert/ledger"));

static TOKENS: LazyLock<Tokens> = LazyLock::new(Tokens::of_tables);

/// One token in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Token {
    /// Byte offset in the decoded text.
    pub start: usize,
    /// Its number in [`words`].
    pub word: u16,
}

impl Token {
    /// Byte range in the decoded text.
    pub fn range(self) -> Range<usize> {
        self.start..self.start + words()[usize::from(self.word)].len()
    }

    /// Whether it is the name of a library.
    pub(crate) fn is_library(self) -> bool {
        usize::from(self.word) >= TOKENS.anywhere
    }

    /// The word of the list.
    pub fn word(self) -> &'static str {
        words()[usize::from(self.word)]
    }
}

struct Tokens {
    words: Vec<&'static str>,
    /// The number of words that count anywhere.
    anywhere: usize,
    search: AhoCorasick,
}

impl Tokens {
    fn of_tables() -> Self {
        let mut words: Vec<&'static str> = TABLE.tokens.iter().map(String::as_str).collect();
        let anywhere = words.len();
        let mut libraries: Vec<&str> = Rules::builtin()
            .rules
            .iter()
            .filter(|rule| rule.how == Match::Library && rule.action == Action::Flag)
            .flat_map(Rule::names)
            .filter(|name| !name.contains('.'))
            .filter(|name| {
                let name = name.to_ascii_lowercase();
                !words.iter().any(|word| name.contains(word))
            })
            .collect();
        libraries.sort_unstable();
        libraries.dedup();
        words.extend(libraries);
        let search = AhoCorasick::builder()
            .ascii_case_insensitive(true)
            .match_kind(MatchKind::LeftmostLongest)
            .kind(Some(AhoCorasickKind::DFA))
            .build(&words)
            .expect("a few words make a small automaton");
        Self { words, anywhere, search }
    }

    fn find<'t>(&'t self, text: &'t [u8]) -> impl Iterator<Item = Token> + 't {
        self.search.find_iter(text).filter_map(|found| {
            let word = found.pattern().as_usize();
            let counts = word < self.anywhere || is_word(text, found.range());
            let word = u16::try_from(word).ok()?;
            counts.then_some(Token { start: found.start(), word })
        })
    }
}

/// All words, in the order of their numbers.
pub fn words() -> &'static [&'static str] {
    &TOKENS.words
}

/// Whether a text has any token.
pub fn any(text: &[u8]) -> bool {
    TOKENS.find(text).next().is_some()
}

/// The first `limit` tokens of a text, and how many more there are.
pub fn find(text: &str, limit: usize) -> (Vec<Token>, usize) {
    let mut all = TOKENS.find(text.as_bytes());
    let first = all.by_ref().take(limit).collect();
    (first, all.count())
}

/// Whether a name is a token and nothing else.
pub(crate) fn is_bare(name: &str) -> bool {
    static BARE: LazyLock<HashSet<&'static str>> =
        LazyLock::new(|| words().iter().copied().collect());
    BARE.contains(name) || BARE.contains(name.to_ascii_lowercase().as_str())
}

/// Whether a name is a usual name of a device or backend: a variable that happens to have this name
/// does not explain an attribute of the same name.
pub(crate) fn is_device_word(name: &str) -> bool {
    ["cuda", "nccl", "cudnn", "cublas"].iter().any(|word| name.eq_ignore_ascii_case(word))
}

/// Whether no letter, digit, underscore or hyphen is next to a range.
fn is_word(text: &[u8], range: Range<usize>) -> bool {
    let goes_on = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'-');
    let before = range.start.checked_sub(1).and_then(|at| text.get(at));
    !before.is_some_and(goes_on) && !text.get(range.end).is_some_and(goes_on)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(text: &str) -> Vec<&'static str> {
        find(text, 100).0.into_iter().map(Token::word).collect()
    }

    #[test]
    fn words_count_anywhere_and_libraries_as_words() {
        assert_eq!(found("use_CUDA nGPUs barracuda"), ["cuda", "gpu", "cuda"]);
        assert_eq!(found("import apex, apexes, my_apex, apex-tools, Apex.amp"), ["apex", "apex"]);
        assert_eq!(found("flash_attn flash_attn_2 tritonclient"), ["flash_attn", "triton"]);
        assert!(!any(b"nothing of it") && any(b"\xff gpu"));
    }

    #[test]
    fn the_rest_is_counted() {
        let (first, more) = find(&"gpu ".repeat(10), 4);
        assert_eq!((first.len(), more), (4, 6));
        assert_eq!(first[1].range(), 4..7);
    }

    #[test]
    fn no_word_has_another_one_in_it_that_would_be_missed() {
        let all = words();
        assert!(all.len() > TABLE.tokens.len(), "{all:?}");
        for word in &all[TABLE.tokens.len()..] {
            assert!(!TABLE.tokens.iter().any(|one| word.contains(one.as_str())), "{word}");
        }
    }
}
