//! Texts in two languages, and escaping of hostile text for terminals.

mod argument;
mod escape;
mod lang;
mod nearest;
mod quote;
mod template;

pub use argument::{Argument, Count, Later, Rounded, Spelling};
pub use escape::{acts_on_terminal, escape, escape_line};
pub use lang::Lang;
pub use nearest::{distance_within, nearest};
pub use quote::shell_quote;
pub use template::{Part, described, fill, fill_quoted, parts, placeholders};

use serde::{Deserialize, Serialize};

/// A message of the built-in tables, borrowed from them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Words {
    /// English.
    pub en: &'static str,
    /// Simplified Chinese.
    pub zh: &'static str,
}

impl Words {
    /// The version for `lang`.
    pub fn get(self, lang: Lang) -> &'static str {
        match lang {
            Lang::En => self.en,
            Lang::Zh => self.zh,
        }
    }
}

impl From<Words> for Text {
    fn from(words: Words) -> Self {
        Self::new(words.en, words.zh)
    }
}

/// A message in English and Chinese.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Text {
    /// English.
    pub en: String,
    /// Simplified Chinese.
    pub zh: String,
}

/// Reads a message, or the plain text that older documents have instead, for `deserialize_with`.
///
/// # Errors
/// Those of the deserializer.
pub fn read_text<'de, D: serde::Deserializer<'de>>(from: D) -> Result<Text, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged)]
    enum Either {
        Text(Text),
        Plain(String),
    }
    Either::deserialize(from).map(|either| match either {
        Either::Text(text) => text,
        Either::Plain(text) => Text::same(text),
    })
}

impl Text {
    /// A message from its two versions.
    pub fn new(en: impl Into<String>, zh: impl Into<String>) -> Self {
        Self { en: en.into(), zh: zh.into() }
    }

    /// A text that is the same in both languages: a name, a version, a path.
    pub fn same(text: impl Into<String>) -> Self {
        let en: String = text.into();
        Self { zh: en.clone(), en }
    }

    /// The version for `lang`.
    pub fn get(&self, lang: Lang) -> &str {
        match lang {
            Lang::En => &self.en,
            Lang::Zh => &self.zh,
        }
    }
}
