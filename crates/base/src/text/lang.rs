//! The language of the messages.

use serde::{Deserialize, Serialize};

/// A language in which every message exists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, clap::ValueEnum)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// English.
    En,
    /// Simplified Chinese.
    Zh,
}

impl Lang {
    /// The language of the locale variables, by POSIX precedence: `LC_ALL`, then `LC_MESSAGES`,
    /// then `LANG`; the first one that is set and not empty decides.
    pub fn from_locale(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let locale = ["LC_ALL", "LC_MESSAGES", "LANG"]
            .iter()
            .find_map(|name| lookup(name).filter(|value| !value.is_empty()));
        match locale {
            Some(locale) if locale.to_ascii_lowercase().starts_with("zh") => Self::Zh,
            _ => Self::En,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lc_all_wins_over_lang() {
        let lookup = |name: &str| match name {
            "LC_ALL" => Some("C".to_owned()),
            "LANG" => Some("zh_CN.UTF-8".to_owned()),
            _ => None,
        };
        assert_eq!(Lang::from_locale(lookup), Lang::En);
    }

    #[test]
    fn an_empty_variable_does_not_decide() {
        let lookup = |name: &str| match name {
            "LC_ALL" => Some(String::new()),
            "LANG" => Some("zh_CN.UTF-8".to_owned()),
            _ => None,
        };
        assert_eq!(Lang::from_locale(lookup), Lang::Zh);
    }
}
