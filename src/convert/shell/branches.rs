//! `case "$DEVICE" in cuda) …`: patterns of a variable that holds a device.

use super::lexer::{Command, Script};
use super::reader::Reader;
use super::word::EXPANSION;

/// An open `case`.
struct Case {
    /// The key of the compared variable.
    key: Option<String>,
    /// Whether the next words are a pattern.
    pattern: bool,
}

impl Reader<'_, '_, '_> {
    pub(super) fn cases(&mut self, script: &Script) {
        let mut open: Vec<Case> = Vec::new();
        for (index, command) in script.commands.iter().enumerate() {
            let words = &command.words;
            let Some(first) = words.first() else { continue };
            let mut from = 0;
            if first.text == "case" && words.len() >= 3 && words[2].text == "in" {
                let whole = words[1].text.chars().eq([EXPANSION]);
                let variable = words[1].variables.first().filter(|_| whole);
                let name = variable.map(|variable| &self.text[variable.name.clone()]);
                let key = name.and_then(|name| self.key_of(index, name, false));
                open.push(Case { key, pattern: true });
                from = 3;
            } else if first.text == "esac" {
                open.pop();
                continue;
            }
            let Some(case) = open.last_mut() else { continue };
            if case.pattern {
                let key = case.key.clone();
                if words.len() > from {
                    case.pattern = !self.ends_with(command, ")");
                }
                if let Some(key) = key {
                    for word in &words[from..] {
                        self.value(&key, word, 0..word.text.len());
                    }
                }
            } else {
                case.pattern = self.ends_with(command, ";;");
            }
        }
    }

    /// Whether `sign` follows the last word of a command.
    fn ends_with(&self, command: &Command, sign: &str) -> bool {
        let end = command.words.last().map_or(0, |word| word.range.end);
        self.text[end..].trim_start().starts_with(sign)
    }
}
