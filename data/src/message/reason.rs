//! Reasons why a rule has no result.

/// Declares the reasons: a variant for each, with the value of `{what}` if its sentence has one.
macro_rules! reasons {
    ($($name:ident = $key:literal $({ $what:ident })?,)*) => {
        /// The reason why a rule has no result. The texts are in the catalog
        /// (`data/findings/reasons.toml`).
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Reason {
            $(
                #[doc = concat!("`", $key, "`.")]
                $name $({
                    /// The subject of the reason.
                    $what: String,
                })?,
            )*
        }

        impl Reason {
            /// Returns the key in the catalog.
            pub fn key(&self) -> &'static str {
                match self {
                    $(Self::$name { .. } => $key,)*
                }
            }

            /// Returns the value for the placeholder `{what}`.
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
