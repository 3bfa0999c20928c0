//! Chinese texts for the command-line help: `data/help.toml`.
//!
//! The English texts are the doc comments of the options, from which `clap` builds the help. They
//! are the keys here, so a changed English sentence has no Chinese until its translation is
//! checked.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError};
use base::text::{Lang, Words};

#[derive(Deserialize)]
#[serde(deny_unknown_fields, bound(deserialize = "'de: 'static"))]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    text: Vec<Words>,
}

static TEXTS: LazyLock<BTreeMap<&'static str, &'static str>> = LazyLock::new(|| {
    let file: File = crate::table("help");
    file.text.iter().map(|words| (words.en, words.zh)).collect()
});

/// Decodes the table of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    pack.table::<File>("help").map(|_| ())
}

/// Translates a help text, paragraph by paragraph. A paragraph without a translation stays English;
/// a test of the program finds it.
pub fn translate(english: &str, lang: Lang) -> String {
    if lang == Lang::En {
        return english.to_owned();
    }
    let paragraphs = english.split("\n\n").map(str::trim);
    let texts = paragraphs.map(|text| TEXTS.get(text).copied().unwrap_or(text));
    texts.collect::<Vec<_>>().join("\n\n")
}

/// Returns the English texts of all paragraphs with a translation.
pub fn translated() -> impl Iterator<Item = &'static str> {
    TEXTS.keys().copied()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_is_there_once_and_in_chinese() {
        let file: File = crate::table("help");
        assert_eq!(file.text.len(), TEXTS.len(), "a text is there twice");
        for Words { en, zh } in file.text {
            assert!(!en.contains("\n\n") && en.trim() == en, "`{en}` is not one paragraph");
            let chinese = zh.chars().any(|c| ('\u{4e00}'..'\u{9fff}').contains(&c));
            assert!(chinese, "`{en}` has no Chinese: {zh}");
        }
    }
}
