//! Labels and sentences of `data/ui.toml`.

use serde::Serialize;

use base::report::Severity;
use base::text::{Lang, Spelling, Text};

use crate::ui;

/// Words without values, such as the heading of a table. Only the tables create one:
/// `data::ui::FIX`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Label(&'static str);

impl Label {
    pub(crate) const fn new(key: &'static str) -> Self {
        Self(key)
    }

    /// Returns the key in `data/ui.toml`.
    pub const fn key(self) -> &'static str {
        self.0
    }

    /// Returns the words in both languages.
    pub fn text(self) -> Text {
        ui::words(self.0)
    }

    /// Returns the words in one language.
    pub fn get(self, lang: Lang) -> String {
        ui::word(self.0, lang)
    }
}

/// Returns the word for a severity.
pub fn severity(severity: Severity) -> Label {
    match severity {
        Severity::Error => ui::ERROR,
        Severity::Warning => ui::WARNING,
        Severity::Info => ui::INFO,
    }
}

/// Fills a sentence.
pub(crate) fn spell<const N: usize>(
    key: &'static str,
    values: [(&'static str, Spelling); N],
) -> Text {
    ui::sentence(key, &mut values.into_iter())
}

/// Declares labels.
macro_rules! labels {
    ($($name:ident = $key:literal,)*) => {$(
        #[doc = concat!("Label `", $key, "`.")]
        pub const $name: $crate::Label = $crate::Label::new($key);
    )*};
}

/// Declares sentences, with a type for each.
macro_rules! sentences {
    ($($name:ident = $key:literal { $($field:ident: $kind:ident),+ $(,)? },)*) => {$(
        #[doc = concat!("Sentence `", $key, "`.")]
        #[derive(Debug, Clone, Copy)]
        #[allow(non_camel_case_types, reason = "each type is named for its value")]
        pub struct $name<$($field: ::base::text::$kind),+> {
            $(
                #[doc = concat!("Value of `{", stringify!($field), "}`.")]
                pub $field: $field,
            )+
        }

        #[allow(non_camel_case_types, reason = "each type is named for its value")]
        impl<$($field: ::base::text::$kind),+> $name<$($field),+> {
            /// Returns the sentence in both languages.
            pub fn text(self) -> ::base::text::Text {
                $crate::message::spell($key, [$(($crate::message::plain(stringify!($field)), self.$field.spell())),+])
            }
        }
    )*};
}

pub(crate) use {labels, sentences};
