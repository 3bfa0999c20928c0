//! Errors with a sentence in both languages: `data/faults.toml`.
//!
//! Each error is a type in [`crate::faults`] with a field for each value of its sentence, so an
//! error without Chinese, a missing value or a misspelled key does not compile. Errors of the
//! operating system and of libraries are quotations: the former are translated by number, and the
//! latter appear in quotation marks.

use std::collections::BTreeMap;
use std::error::Error;
use std::fmt;
use std::io;
use std::path::{self, Path, PathBuf};
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError, invalid};
use crate::packed::built_in_table;
use base::text::{Lang, Text, Words, fill};
use base::walk_error::LinkLoop;

type Source = Box<dyn Error + Send + Sync>;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    #[serde(borrow)]
    fault: BTreeMap<&'static str, Words>,
    /// Chinese texts for errors of the operating system, by number.
    #[serde(borrow)]
    system: BTreeMap<&'static str, &'static str>,
}

static TABLE: LazyLock<File> = LazyLock::new(|| crate::table("faults"));
/// The sentences that the program uses.
static NEEDED: LazyLock<Vec<&'static str>> =
    LazyLock::new(|| built_in_table::<File>("faults").fault.into_keys().collect());

/// Decodes the table of a pack. It must have all sentences that the program uses.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let faults = pack.table::<File>("faults")?.fault;
    match NEEDED.iter().find(|key| !faults.contains_key(*key)) {
        Some(key) => Err(invalid("faults", format!("`{key}` is missing"))),
        None => Ok(()),
    }
}

/// An error that a user reads. Only the types in [`crate::faults`] create one.
#[derive(Debug)]
pub struct Fault(Box<Content>);

#[derive(Debug)]
struct Content {
    key: &'static str,
    values: Vec<(&'static str, Text)>,
    source: Option<Source>,
}

impl Fault {
    pub(crate) fn new<const N: usize>(
        key: &'static str,
        values: [(&'static str, Text); N],
    ) -> Self {
        Self(Box::new(Content { key, values: values.into(), source: None }))
    }

    /// Adds the error that caused this one.
    #[must_use]
    pub fn because(mut self, source: impl Into<Source>) -> Self {
        self.0.source = Some(source.into());
        self
    }

    /// Returns the key in `data/faults.toml`.
    pub fn key(&self) -> &'static str {
        self.0.key
    }

    /// Returns the sentence without its causes.
    pub fn text(&self) -> Text {
        let key = self.0.key;
        let template = TABLE.fault.get(key).copied().unwrap_or(Words { en: key, zh: key });
        let values = |lang| -> BTreeMap<&'static str, String> {
            let values = self.0.values.iter();
            values.map(|(name, text)| (*name, text.get(lang).to_owned())).collect()
        };
        Text::new(fill(template.en, &values(Lang::En)), fill(template.zh, &values(Lang::Zh)))
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text().en)
    }
}

impl Error for Fault {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        self.0.source.as_deref().map(|source| source as _)
    }
}

/// Returns the sentence of one error in both languages, without its causes.
pub fn describe(error: &(dyn Error + 'static)) -> Text {
    if let Some(fault) = error.downcast_ref::<Fault>() {
        return fault.text();
    }
    if let Some(error) = error.downcast_ref::<io::Error>() {
        return match (error.get_ref(), error.raw_os_error()) {
            #[cfg(not(target_family = "wasm"))]
            _ if guard::file::is_not_regular(error) => crate::faults::RegularFileNeeded.value(),
            #[cfg(not(target_family = "wasm"))]
            _ if guard::named::is_young_link(error) => crate::faults::LinkReplaced.value(),
            (Some(inner), _) => describe(inner),
            (None, Some(number)) => of_number(error, number),
            (None, None) => of_kind(error),
        };
    }
    if let Some(error) = error.downcast_ref::<serde_json::Error>() {
        return of_json(error);
    }
    if error.is::<LinkLoop>() {
        return crate::faults::LinksLoop.value();
    }
    quote(&error.to_string())
}

/// Returns the sentences of an error and its causes, each once.
pub fn describe_chain<'e>(chain: impl Iterator<Item = &'e (dyn Error + 'static)>) -> Text {
    let mut parts: Vec<Text> = Vec::new();
    for cause in chain {
        let text = describe(cause);
        // Some errors already end with their cause.
        if parts.last().is_none_or(|last| !last.en.ends_with(&text.en)) {
            parts.push(text);
        }
    }
    let join =
        |lang, colon| parts.iter().map(|part| part.get(lang)).collect::<Vec<_>>().join(colon);
    Text::new(join(Lang::En, ": "), join(Lang::Zh, "："))
}

/// Returns the words of a library or of the system, marked as a quotation in Chinese.
pub fn quote(words: &str) -> Text {
    Text::new(words, format!("“{words}”"))
}

fn of_number(error: &io::Error, number: i32) -> Text {
    match TABLE.system.get(number.to_string().as_str()) {
        Some(zh) => Text::new(error.to_string(), format!("{zh} (os error {number})")),
        None => quote(&error.to_string()),
    }
}

fn of_kind(error: &io::Error) -> Text {
    let number = match error.kind() {
        io::ErrorKind::NotFound => "2",
        io::ErrorKind::PermissionDenied => "13",
        io::ErrorKind::BrokenPipe => "32",
        _ => return quote(&error.to_string()),
    };
    TABLE
        .system
        .get(number)
        .map_or_else(|| quote(&error.to_string()), |zh| Text::new(error.to_string(), *zh))
}

/// Returns an error in JSON: the position in both languages, the words of the parser as a
/// quotation.
fn of_json(error: &serde_json::Error) -> Text {
    let (text, line, column) = (error.to_string(), error.line(), error.column());
    let Some(what) = text.strip_suffix(&format!(" at line {line} column {column}")) else {
        return quote(&text);
    };
    if error.is_eof() {
        return crate::faults::JsonEof { column, line, what }.fault().text();
    }
    crate::faults::JsonAt { column, line, what }.fault().text()
}

/// A value of a sentence. Errors and texts keep both languages.
pub trait Value {
    /// Returns the value in both languages.
    fn value(&self) -> Text;
}

/// A number in a sentence.
pub trait Number: Value {}

macro_rules! same {
    ($($type:ty),*) => {$(
        impl Value for $type {
            fn value(&self) -> Text {
                Text::same(self.to_string())
            }
        }
    )*};
}

same!(str, String, u8, u16, u32, u64, usize, i32, i64, path::Display<'_>, fmt::Arguments<'_>);

macro_rules! numbers {
    ($($type:ty),*) => { $(impl Number for $type {})* };
}

numbers!(u8, u16, u32, u64, usize, i32, i64);

impl<T: Number + ?Sized> Number for &T {}

impl<T: Value + ?Sized> Value for &T {
    fn value(&self) -> Text {
        (**self).value()
    }
}

impl Value for Path {
    fn value(&self) -> Text {
        Text::same(self.display().to_string())
    }
}

impl Value for PathBuf {
    fn value(&self) -> Text {
        self.as_path().value()
    }
}

impl Value for Text {
    fn value(&self) -> Text {
        self.clone()
    }
}

impl Value for Fault {
    fn value(&self) -> Text {
        let mut chain: Vec<&(dyn Error + 'static)> = Vec::new();
        let mut next: Option<&(dyn Error + 'static)> = Some(self);
        while let Some(error) = next {
            chain.push(error);
            next = error.source();
        }
        describe_chain(chain.into_iter())
    }
}

impl Value for io::Error {
    fn value(&self) -> Text {
        describe(self)
    }
}

impl Value for serde_json::Error {
    fn value(&self) -> Text {
        of_json(self)
    }
}

/// Adds a sentence before an error.
pub trait OrFault<T> {
    /// Returns the value, or the sentence with this error as its cause.
    ///
    /// # Errors
    ///
    /// Returns the fault if there is no value.
    fn or_fault(self, fault: impl FnOnce() -> Fault) -> Result<T, Fault>;
}

impl<T, E: Into<Source>> OrFault<T> for Result<T, E> {
    fn or_fault(self, fault: impl FnOnce() -> Fault) -> Result<T, Fault> {
        self.map_err(|error| fault().because(error))
    }
}

impl<T> OrFault<T> for Option<T> {
    fn or_fault(self, fault: impl FnOnce() -> Fault) -> Result<T, Fault> {
        self.ok_or_else(fault)
    }
}

/// Declares an error type for each sentence.
macro_rules! faults {
    ($($name:ident = $key:literal $({ $($field:ident: $kind:ident),+ $(,)? })?,)*) => {
        $($crate::fault::fault!($name $key { $($($field: $kind),+)? });)*
    };
}

macro_rules! fault {
    ($name:ident $key:literal {}) => {
        #[doc = concat!("Error `", $key, "`.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl $name {
            /// Returns the error.
            pub fn fault(self) -> $crate::Fault {
                $crate::Fault::new($key, [])
            }

            /// Returns the sentence.
            pub fn value(self) -> base::text::Text {
                self.fault().text()
            }
        }

        $crate::fault::conversions!($name []);
    };
    ($name:ident $key:literal { $($field:ident: $kind:ident),+ }) => {
        #[doc = concat!("Error `", $key, "`.")]
        #[derive(Debug, Clone, Copy)]
        #[allow(non_camel_case_types, reason = "each type is named for its value")]
        pub struct $name<$($field),+> {
            $(
                #[doc = concat!("Value of `{", stringify!($field), "}`.")]
                pub $field: $field,
            )+
        }

        #[allow(non_camel_case_types, reason = "each type is named for its value")]
        impl<$($field: $crate::fault::$kind),+> $name<$($field),+> {
            /// Returns the error.
            pub fn fault(self) -> $crate::Fault {
                $crate::Fault::new(
                    $key,
                    [$((stringify!($field), $crate::fault::Value::value(&self.$field))),+],
                )
            }

            /// Returns the sentence.
            pub fn value(self) -> base::text::Text {
                self.fault().text()
            }
        }

        $crate::fault::conversions!($name [$($field: $kind),+]);
    };
}

macro_rules! conversions {
    ($name:ident [$($field:ident: $kind:ident),*]) => {
        #[allow(non_camel_case_types, reason = "each type is named for its value")]
        impl<$($field: $crate::fault::$kind),*> From<$name<$($field),*>> for $crate::Fault {
            fn from(error: $name<$($field),*>) -> Self {
                error.fault()
            }
        }
    };
}

pub(crate) use {conversions, fault, faults};

/// Makes a type with a method `fault` displayable and convertible as that error.
#[macro_export]
macro_rules! impl_fault {
    ($type:ty) => {
        impl std::fmt::Display for $type {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(&self.fault().to_string())
            }
        }

        impl From<$type> for $crate::Fault {
            fn from(error: $type) -> Self {
                error.fault()
            }
        }

        impl $crate::fault::Value for $type {
            fn value(&self) -> base::text::Text {
                $crate::fault::Value::value(&self.fault())
            }
        }

        impl From<$type> for Box<dyn std::error::Error + Send + Sync> {
            fn from(error: $type) -> Self {
                error.fault().into()
            }
        }
    };
}

#[cfg(test)]
mod tests;
