//! Functions of a script, and what their positional parameters hold.

use std::collections::BTreeSet;

use super::Reader;
use super::lexer::{Command, Script};
use super::programs::{name_at, program};
use super::word::{EXPANSION, Word};
use crate::value;

/// Which function each command stands in.
#[derive(Debug, Default)]
pub(super) struct Owners {
    /// By command: the function, if it stands in one.
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

    /// The name of a variable; of a positional parameter, with the function that it belongs to.
    pub(super) fn qualified(&self, command: usize, name: &str) -> String {
        if !name.starts_with(|c: char| c.is_ascii_digit()) {
            return name.to_owned();
        }
        let owner = self.by_command.get(command).and_then(Option::as_deref).unwrap_or_default();
        parameter(owner, name)
    }
}

/// The key of a positional parameter.
fn parameter(function: &str, number: &str) -> String {
    format!("{function} {number}")
}

impl Reader<'_, '_, '_> {
    /// First pass: which variables take their value from which.
    pub(super) fn learn_sources(&mut self, index: usize, command: &Command) {
        for word in &command.words {
            let Some((name, value, _)) = word.assignment() else { continue };
            let whole = word.text[value].chars().eq([EXPANSION]);
            if let ([source], true) = (word.variables.as_slice(), whole) {
                let from = self.owners.qualified(index, &self.text[source.name.clone()]);
                self.names.from.push((word.text[name].to_owned(), from));
            }
        }
        let Some(first) = name_at(command) else { return };
        let name = command.words[first].text.as_str();
        if !self.owners.defines(name) || program(command, self.planner.project).is_some() {
            return;
        }
        for (at, word) in command.words[first + 1..].iter().enumerate() {
            if let ([source], true) = (word.variables.as_slice(), word.text.chars().eq([EXPANSION]))
            {
                let from = self.owners.qualified(index, &self.text[source.name.clone()]);
                self.names.from.push((parameter(name, &(at + 1).to_string()), from));
            }
        }
    }

    /// What a variable holds, that holds too which it takes its value from.
    pub(super) fn carry(&mut self) {
        // A chain is as long as it has links, and these are few.
        for _ in 0..8 {
            let mut grown = false;
            for (name, from) in &self.names.from {
                let own = self.names.given.contains(name).then(|| name.clone());
                let keys = self.names.values.get(name).cloned().unwrap_or_default();
                for key in keys.into_iter().chain(own) {
                    grown |= self.names.values.entry(from.clone()).or_default().insert(key);
                }
            }
            if !grown {
                break;
            }
        }
    }

    /// A call of a function of the script: its arguments are what the parameters hold.
    pub(super) fn call(&mut self, name: &str, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let keys = self.names.values.get(&parameter(name, &(at + 1).to_string()));
            if let Some(key) = keys.and_then(|keys| keys.first()).cloned() {
                self.value(&key, word, 0..word.text.len());
                self.defaults(&key, word);
            }
        }
        // `run --device cuda`, where the function hands on all that it is given.
        if words.iter().any(|word| value::role(&word.text).is_some()) {
            self.arguments(words);
        }
    }
}
