//! How a report, an area or a part of the machine stands.

use data::ui;

/// How something stands, from what needs attention to what does not.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// Something is wrong.
    Error,
    /// Something may be wrong.
    Warning,
    /// Nobody knows.
    Unknown,
    /// All is well.
    Good,
    /// There is nothing to look at.
    Nothing,
}

impl State {
    /// The class in the style sheet.
    pub(super) const fn class(self) -> &'static str {
        match self {
            Self::Error => "error",
            Self::Warning => "warning",
            Self::Unknown => "unknown",
            Self::Good => "good",
            Self::Nothing => "nothing",
        }
    }

    /// A sign that needs no colour.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Error => "✗",
            Self::Warning => "!",
            Self::Unknown => "?",
            Self::Good => "✓",
            Self::Nothing => "–",
        }
    }

    /// The words for the whole report, as a key of `data/ui.toml`.
    pub(super) const fn label(self) -> ui::Label {
        match self {
            Self::Error => ui::PAGE_STATE_ERROR,
            Self::Warning => ui::PAGE_STATE_WARNING,
            Self::Unknown => ui::PAGE_STATE_UNKNOWN,
            Self::Good => ui::PAGE_STATE_GOOD,
            Self::Nothing => ui::PAGE_STATE_ANSWER,
        }
    }
}
