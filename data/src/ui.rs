//! Words of the reports that are not part of a finding: `data/ui.toml`.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError, invalid};
use crate::packed::built_in_table;
use base::text::{Lang, Spelling, Text, Words, fill};

pub use crate::message::{Label, severity};
pub use crate::messages::labels::*;
pub use crate::messages::sentences::*;

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

/// Decodes the table of a pack. It must have all words that the program uses.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let words = pack.table::<File>("ui")?.word;
    match NEEDED.iter().find(|key| !words.contains_key(*key)) {
        Some(key) => Err(invalid("ui", format!("`{key}` is missing"))),
        None => Ok(()),
    }
}

/// Returns the words for `key` in both languages.
pub(crate) fn words(key: &str) -> Text {
    debug_assert!(WORDS.contains_key(key), "no words for `{key}` in data/ui.toml");
    WORDS.get(key).map_or_else(|| Text::same(key), |&words| words.into())
}

/// Returns the word for `key`, without arguments.
pub(crate) fn word(key: &str, lang: Lang) -> String {
    let words = WORDS.get(key);
    debug_assert!(words.is_some(), "no words for `{key}` in data/ui.toml");
    words.map_or(key, |words| words.get(lang)).to_owned()
}

/// Returns the sentence for `key` in both languages, with its placeholders filled.
pub(crate) fn sentence(
    key: &str,
    values: &mut dyn Iterator<Item = (&'static str, Spelling)>,
) -> Text {
    let (mut en, mut zh) = (BTreeMap::new(), BTreeMap::new());
    for (name, value) in values {
        let value = match value {
            Spelling::Words(words) => words,
            Spelling::Same(value) => Text::same(value),
            Spelling::Later => {
                debug_assert!(false, "`{key}` is shown before `{name}` is known");
                Text::default()
            }
        };
        en.insert(name, value.en);
        zh.insert(name, value.zh);
    }
    let text = words(key);
    Text { en: fill(&text.en, &en), zh: fill(&text.zh, &zh) }
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
