//! The enclosing function of each command of a script.

use std::collections::BTreeSet;

use super::lexer::Script;

/// The enclosing function of each command.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// The function by command, if the command is in one.
    by_command: Vec<Option<String>>,
    names: BTreeSet<String>,
}

impl Owners {
    pub(super) fn of(script: &Script) -> Self {
        let mut owners = Self::default();
        let mut open: Vec<Option<String>> = Vec::new();
        let mut waiting: Option<String> = None;
        let mut functions = script.functions.iter().peekable();
        for (index, command) in script.commands.iter().enumerate() {
            while let Some((name, _)) = functions.next_if(|(_, from)| *from <= index) {
                owners.names.insert(name.clone());
                waiting = Some(name.clone());
            }
            let word = |at: usize| command.words.get(at).map(|word| word.text.as_str());
            match (word(0), word(1), word(2)) {
                (Some("function"), Some(name), brace) => {
                    owners.names.insert(name.to_owned());
                    match brace {
                        Some("{") => open.push(Some(name.to_owned())),
                        _ => waiting = Some(name.to_owned()),
                    }
                }
                (Some("{"), ..) => open.push(waiting.take()),
                (Some("}"), ..) => drop(open.pop()),
                _ => {}
            }
            owners.by_command.push(open.iter().rev().flatten().next().cloned());
        }
        owners
    }

    /// Whether a name is a function of the script.
    pub(super) fn defines(&self, name: &str) -> bool {
        self.names.contains(name)
    }

    /// The name of a variable. For a positional parameter, it includes the function that it belongs
    /// to.
    pub(super) fn qualified(&self, command: usize, name: &str) -> String {
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.to_owned();
        }
        let owner = self.by_command.get(command).and_then(Option::as_deref).unwrap_or_default();
        parameter(owner, name)
    }
}

/// The key of a positional parameter.
pub(super) fn parameter(function: &str, number: &str) -> String {
    format!("{function} {number}")
}
