//! Macros and types for the generated messages.
//!
//! Each message is a type with a field for each value of its sentences. So code with an unknown
//! message, or with a missing or misspelled value, does not compile.

mod finding;
mod outcome;
mod reason;
mod word;

pub use finding::{FindingId, RawFinding};
pub use outcome::Outcome;
pub(crate) use reason::reasons;
pub use word::{Label, severity};
pub(crate) use word::{labels, sentences, spell};

/// Returns the name of a placeholder. One is a keyword, `{where}`.
pub(crate) fn plain(name: &'static str) -> &'static str {
    name.strip_prefix("r#").unwrap_or(name)
}

/// Declares the messages of findings: a module for each ID, a type for each message.
macro_rules! findings {
    ($($module:ident = $id:literal {
        $($name:ident = $key:literal $({ $($field:ident: $kind:ident),+ $(,)? })?,)*
    })*) => {$(
        #[doc = concat!("Messages of `", $id, "`.")]
        pub mod $module {
            /// The ID.
            pub const ID: $crate::FindingId = $crate::FindingId::new($id);

            $($crate::message::message!($name $id $key { $($($field: $kind),+)? });)*
        }
    )*};
}

/// Declares the type of a message of a finding.
macro_rules! message {
    ($name:ident $id:literal $key:literal {}) => {
        #[doc = concat!("Message `", $key, "` of `", $id, "`.")]
        #[derive(Debug, Clone, Copy)]
        pub struct $name;

        impl $name {
            $crate::message::severities!();

            /// Returns the finding with this severity.
            pub fn at(self, severity: ::base::report::Severity) -> $crate::RawFinding {
                $crate::RawFinding::of(ID, $key, severity, [])
            }
        }
    };
    ($name:ident $id:literal $key:literal { $($field:ident: $kind:ident),+ }) => {
        #[doc = concat!("Message `", $key, "` of `", $id, "`.")]
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
            $crate::message::severities!();

            /// Returns the finding with this severity.
            pub fn at(self, severity: ::base::report::Severity) -> $crate::RawFinding {
                let values = [$(($crate::message::plain(stringify!($field)), self.$field.spell())),+];
                $crate::RawFinding::of(ID, $key, severity, values)
            }
        }
    };
}

/// Declares a method for each of the three severities.
macro_rules! severities {
    () => {
        /// Returns the finding as an error.
        pub fn error(self) -> $crate::RawFinding {
            self.at(::base::report::Severity::Error)
        }

        /// Returns the finding as a warning.
        pub fn warning(self) -> $crate::RawFinding {
            self.at(::base::report::Severity::Warning)
        }

        /// Returns the finding as an info.
        pub fn info(self) -> $crate::RawFinding {
            self.at(::base::report::Severity::Info)
        }
    };
}

pub(crate) use {findings, message, severities};

#[cfg(test)]
mod tests;
