//! Why a rule gave no answer.

/// Declares the reasons: a variant for each, with the value of `{what}` where its sentence has one.
macro_rules! reasons {
    ($($name:ident = $key:literal $({ $what:ident })?,)*) => {
        /// Why a rule gave no answer. The words are in the catalog (`data/findings/reasons.toml`).
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Reason {
            $(
                #[doc = concat!("`", $key, "`.")]
                $name $({
                    /// What it is about.
                    $what: String,
                })?,
            )*
        }

        impl Reason {
            /// Key in the catalog.
            pub fn key(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $key,)*
                }
            }

            /// Value for the placeholder `{what}`.
            pub fn what(&self) -> Option<&str> {
                match self {
                    $($(Self::$name { $what } => Some($what),)?)*
                    _ => None,
                }
            }
        }
    };
}

pub(crate) use reasons;
