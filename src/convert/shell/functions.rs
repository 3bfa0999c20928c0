//! Functions of a script, and the roles of their positional parameters.

use super::lexer::Command;
use super::owners::parameter;
use super::programs::{name_at, program};
use super::reader::Reader;
use super::word::{EXPANSION, Word};
use crate::value;

impl Reader<'_, '_, '_> {
    /// First pass: records which variables take their value from which.
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

    /// Carries the roles of variables to the variables from which they take their value.
    pub(super) fn carry(&mut self) {
        // Each round follows one link of a chain, and chains are short.
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

    /// A call of a function of the script: its arguments are the values of the parameters.
    pub(super) fn call(&mut self, name: &str, words: &[Word]) {
        for (at, word) in words.iter().enumerate() {
            let keys = self.names.values.get(&parameter(name, &(at + 1).to_string()));
            if let Some(key) = keys.and_then(|keys| keys.first()).cloned() {
                self.value(&key, word, 0..word.text.len());
                self.defaults(&key, word);
            }
        }
        // `run --device cuda`, where the function passes on all its arguments.
        if words.iter().any(|word| value::role(&word.text).is_some()) {
            self.arguments(words);
        }
    }
}
