//! `data/lint.toml`: concepts of error codes, and commands and paths that do not work.

use std::sync::LazyLock;

use base::text::Text;
use data::data_pack::{Pack, PackError, invalid};
use regex::Regex;
use serde::Deserialize;

const TABLE_NAME: &str = "lint";

static TABLE: LazyLock<LintTable> = LazyLock::new(|| {
    let table: RawTable = data::table(TABLE_NAME);
    LintTable {
        concepts: table.concept.iter().map(Concept::compile).collect(),
        mistakes: table.mistake.into_iter().map(Mistake::compile).collect(),
    }
});

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawTable {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    concept: Vec<RawConcept>,
    mistake: Vec<RawMistake>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawConcept {
    id: String,
    words: Vec<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RawMistake {
    id: String,
    find: String,
    #[serde(default)]
    unless: Option<String>,
    text: Text,
    fix: Text,
    source: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it"))]
    example: String,
    #[cfg_attr(not(test), expect(dead_code, reason = "tests compare it"))]
    counterexample: String,
}

/// The compiled table.
pub(super) struct LintTable {
    concepts: Vec<Concept>,
    /// Commands and paths that do not work.
    pub mistakes: Vec<Mistake>,
}

/// A subject that meanings of error codes share or do not share.
struct Concept {
    id: String,
    words: Regex,
}

impl Concept {
    fn compile(raw: &RawConcept) -> Self {
        let words = raw.words.iter().map(|word| {
            let inner = regex::escape(word.trim_matches('|'));
            let edge = |is_edge: bool| if is_edge { r"\b" } else { "" };
            format!("{}{inner}{}", edge(word.starts_with('|')), edge(word.ends_with('|')))
        });
        let words = words.collect::<Vec<_>>().join("|");
        Self { id: raw.id.clone(), words: Regex::new(&words).expect("proved by a test") }
    }
}

/// A command or a path that does not work.
pub(super) struct Mistake {
    #[cfg_attr(not(test), expect(dead_code, reason = "tests name the row by it"))]
    id: String,
    find: Regex,
    unless: Option<Regex>,
    /// The fact that it contradicts.
    pub text: Text,
    /// The correction.
    pub fix: Text,
    /// The source of the fact.
    pub source: String,
}

impl Mistake {
    fn compile(raw: RawMistake) -> Self {
        let compile = |pattern: &str| Regex::new(pattern).expect("proved by a test");
        Self {
            id: raw.id,
            find: compile(&raw.find),
            unless: raw.unless.as_deref().map(compile),
            text: raw.text,
            fix: raw.fix,
            source: raw.source,
        }
    }

    /// The part of a line of code that is wrong.
    pub(super) fn find<'a>(&self, code: &'a str) -> Option<&'a str> {
        let found = self.find.find(code)?;
        let is_taken_back = self.unless.as_ref().is_some_and(|unless| unless.is_match(code));
        (!is_taken_back).then(|| found.as_str().trim())
    }
}

/// Decodes the table of a pack, with its patterns.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let table = pack.table::<RawTable>(TABLE_NAME)?;
    let patterns = table
        .mistake
        .iter()
        .flat_map(|row| [Some(row.find.as_str()), row.unless.as_deref()])
        .flatten();
    for pattern in patterns {
        Regex::new(pattern).map_err(|why| invalid(TABLE_NAME, why.to_string()))?;
    }
    Ok(())
}

/// The built-in table.
pub(super) fn table() -> &'static LintTable {
    &TABLE
}

/// The IDs of the concepts in a text, in any letter case.
pub(super) fn concepts(text: &str) -> Vec<&'static str> {
    let text = text.to_lowercase();
    let found = TABLE.concepts.iter().filter(|concept| concept.words.is_match(&text));
    found.map(|concept| concept.id.as_str()).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn rows_match_their_examples_only() {
        let raw: RawTable = data::table("lint");
        let mut ids = BTreeSet::new();
        for row in raw.mistake {
            let (example, counterexample) = (row.example.clone(), row.counterexample.clone());
            let mistake = Mistake::compile(row);
            assert!(ids.insert(mistake.id.clone()), "{} twice", mistake.id);
            assert!(mistake.find(&example).is_some(), "{}: {example}", mistake.id);
            assert!(mistake.find(&counterexample).is_none(), "{}: {counterexample}", mistake.id);
            assert!(!mistake.source.is_empty() && !mistake.text.zh.is_empty());
        }
        for concept in &table().concepts {
            assert!(ids.insert(concept.id.clone()), "{} twice", concept.id);
        }
    }

    #[test]
    fn concepts_are_words() {
        assert_eq!(concepts("NPU out of memory"), ["memory"]);
        assert_eq!(concepts("初始化失败"), ["initialization"]);
        assert!(concepts("bloom and specc").is_empty());
    }
}
