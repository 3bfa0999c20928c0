//! Color, decided once, never needed to understand the output.

use colored::{Color, Colorize as _};

use base::report::Severity;

/// Whether to use color.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Paint(bool);

impl Paint {
    /// Uses color if `on`. `colored` would decide based on standard output; the decision here
    /// applies to the stream that is actually written.
    pub fn new(on: bool) -> Self {
        colored::control::set_override(on);
        Self(on)
    }

    /// `text` in the color of a severity.
    pub fn severity(self, severity: Severity, text: &str) -> String {
        let color = match severity {
            Severity::Error => Color::Red,
            Severity::Warning => Color::Yellow,
            Severity::Info => Color::Blue,
        };
        if self.0 { text.color(color).bold().to_string() } else { text.to_owned() }
    }

    /// `text` in bold.
    pub fn bold(self, text: &str) -> String {
        if self.0 { text.bold().to_string() } else { text.to_owned() }
    }

    /// `text` in a faint color: labels.
    pub fn dim(self, text: &str) -> String {
        if self.0 { text.dimmed().to_string() } else { text.to_owned() }
    }

    /// `text` as a command that can be pasted.
    pub fn command(self, text: &str) -> String {
        if self.0 { text.green().to_string() } else { text.to_owned() }
    }
}
