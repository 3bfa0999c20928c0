//! Words of the reports that belong to no finding: `data/ui.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError, invalid};
use crate::packed::built_in_table;
use base::text::{Lang, Text, Words, fill};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    #[serde(borrow)]
    word: BTreeMap<&'static str, Words>,
}

static WORDS: LazyLock<BTreeMap<&'static str, Words>> = LazyLock::new(|| {
    let file: File = super::table("ui");
    file.word
});

/// The words that the program uses.
static NEEDED: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| built_in_table::<File>("ui").word.into_keys().collect());

/// Decodes the table of a pack. It has all words that the program uses.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let words = pack.table::<File>("ui")?.word;
    match NEEDED.iter().find(|key| !words.contains_key(*key)) {
        Some(key) => Err(invalid("ui", format!("`{key}` is missing"))),
        None => Ok(()),
    }
}

/// The words for `key` in both languages.
pub fn words(key: &str) -> Text {
    debug_assert!(WORDS.contains_key(key), "no words for `{key}` in data/ui.toml");
    WORDS.get(key).map_or_else(|| Text::same(key), |&words| words.into())
}

/// The word for `key`, without arguments.
pub fn word(key: &str, lang: Lang) -> String {
    let words = WORDS.get(key);
    debug_assert!(words.is_some(), "no words for `{key}` in data/ui.toml");
    words.map_or(key, |words| words.get(lang)).to_owned()
}

/// The sentence for `key` in both languages, with its placeholders filled.
pub fn sentence(key: &str, args: &[(&'static str, String)]) -> Text {
    let args: BTreeMap<&'static str, String> = args.iter().cloned().collect();
    let text = words(key);
    Text { en: fill(&text.en, &args), zh: fill(&text.zh, &args) }
}

/// As [`sentence`], with values that differ between the languages.
pub fn sentence_of(key: &str, args: &[(&'static str, Text)]) -> Text {
    let values =
        |lang: Lang| args.iter().map(|(name, text)| (*name, text.get(lang).to_owned())).collect();
    let text = words(key);
    Text { en: fill(&text.en, &values(Lang::En)), zh: fill(&text.zh, &values(Lang::Zh)) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::text::placeholders;

    #[test]
    fn every_word_has_both_languages() {
        for (key, text) in WORDS.iter() {
            assert!(!text.en.trim().is_empty() && !text.zh.trim().is_empty(), "{key}");
            assert_eq!(placeholders(text.en), placeholders(text.zh), "{key}");
        }
    }
}
