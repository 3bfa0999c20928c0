//! Scalars of a configuration file in any supported format.

use std::ops::Range;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;

use super::super::settings;

/// Words for [`Entries::push`]: an entry matters only if its key or value contains one.
static WORDS: LazyLock<AhoCorasick> = LazyLock::new(|| {
    AhoCorasick::builder()
        .ascii_case_insensitive(true)
        .build([
            "cuda",
            "nccl",
            "npu",
            "hccl",
            "gpu",
            "nvidia",
            "ascend",
            "xla",
            "cudnn",
            "cublas",
            "compute_environment",
        ])
        .expect("a few words make a small automaton")
});

/// A scalar and the key that it belongs to.
#[derive(Debug, Clone)]
pub(super) struct Entry {
    /// The number of the mapping that contains the key.
    pub mapping: usize,
    /// The key without quotes. For a list element, the key of the list; may be empty.
    pub key: Range<usize>,
    /// The value without quotes, as written.
    pub value: Range<usize>,
    /// Whether it is an element of a list.
    pub list: bool,
}

/// The scalars of a file that rules may apply to.
#[derive(Debug)]
pub(super) struct Entries<'a> {
    pub text: &'a str,
    pub all: Vec<Entry>,
    /// Key and lines of block scalars.
    pub blocks: Vec<(Range<usize>, Range<usize>)>,
    pub mappings: usize,
}

impl<'a> Entries<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self { text, all: Vec::new(), blocks: Vec::new(), mappings: 0 }
    }

    pub(super) fn mapping(&mut self) -> usize {
        self.mappings += 1;
        self.mappings
    }

    /// Keeps an entry if it can matter; most entries of data files cannot.
    pub(super) fn push(&mut self, entry: Entry) {
        let key = &self.text[entry.key.clone()];
        let value = &self.text[entry.value.clone()];
        let option = entry.list && value.starts_with("--");
        if settings::mentions(key.as_bytes())
            || key == "value"
            || option
            || WORDS.is_match(key)
            || WORDS.is_match(value)
        {
            self.all.push(entry);
        }
    }

    pub(super) fn block(&mut self, key: Range<usize>, body: Range<usize>) {
        self.blocks.push((key, body));
    }

    pub(super) fn mark(&self) -> usize {
        self.all.len()
    }

    pub(super) fn back_to(&mut self, mark: usize) {
        self.all.truncate(mark);
    }
}
