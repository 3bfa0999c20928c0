//! The state of a report, an area or a part of the machine.

use data::ui;

/// A state, sorted by the need for attention.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum State {
    /// There is an error.
    Error,
    /// There may be an error.
    Warning,
    /// The state is unknown.
    Unknown,
    /// Everything is healthy.
    Good,
    /// There is nothing to check.
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

    /// A sign that is distinguishable without color.
    pub(super) const fn sign(self) -> &'static str {
        match self {
            Self::Error => "✗",
            Self::Warning => "!",
            Self::Unknown => "?",
            Self::Good => "✓",
            Self::Nothing => "–",
        }
    }

    /// The text for the complete report, as a key of `data/ui.toml`.
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
