//! The arguments of programs: options whose values are devices or backends, words that are devices
//! or backends, texts that are split into arguments at their use, and comparisons of variables that
//! hold a device or backend.

use std::ops::Range;

use super::super::environment;
use super::super::rules::{Place, Rules};
use super::super::settings;
use super::super::site::Certainty;
use super::super::value::{self, Outcome};
use super::programs::{NOT_ASKED, base_name, is_script};
use super::reader::Reader;
use super::word::{EXPANSION, Word};

/// Whether a word turns a switch on or off.
fn is_switch(word: &str) -> bool {
    matches!(word, "True" | "true" | "False" | "false" | "0" | "1" | "yes" | "no" | "on" | "off")
}

impl Reader<'_, '_, '_> {
    /// `python train.py cuda`: an argument without an option.
    pub(super) fn positional(&mut self, words: &[Word]) {
        let Some(script) = words.iter().position(|word| is_script(&word.text)) else { return };
        let mut after_option = false;
        for word in &words[script + 1..] {
            let alone = !std::mem::replace(&mut after_option, word.text.starts_with('-'));
            if !alone || word.text.contains('=') {
                continue;
            }
            self.alone(word, &words[script].text);
            for default in word.variables.iter().filter_map(|v| v.default.clone()) {
                if word.text.chars().eq([EXPANSION]) {
                    self.alone(&default, &words[script].text);
                }
            }
        }
    }

    /// A word that as a whole is a device or a backend. Other shell scripts may use it with another
    /// meaning.
    fn alone(&mut self, word: &Word, script: &str) {
        let new = value::device(&word.text).or_else(|| value::backend(&word.text));
        let Some((new, range)) = new.zip(word.source(&(0..word.text.len()))) else { return };
        let rule = Rules::builtin().site(Place::ShellDeviceOption);
        let range = self.at(&range);
        if script.ends_with(".py") {
            self.planner.change(rule, range, new, Certainty::Likely);
        } else {
            self.planner.flag(rule, range, Some(format!("{} {}", base_name(script), word.text)));
        }
    }

    /// `demucs a.mp3 --device cuda`: whether that program supports NPUs is unknown.
    pub(super) fn unknown_program(&mut self, words: &[Word], name: &str) {
        if NOT_ASKED.contains(&name) {
            return;
        }
        let mut option: Option<&str> = None;
        for word in &words[1..] {
            let pair = match word.text.split_once('=') {
                Some((key, value)) if key.starts_with('-') => Some((key, value)),
                _ => option.map(|option| (option, word.text.as_str())),
            };
            if let Some((key, value)) = pair
                && matches!(value::converted(key, value), Some(Outcome::Write(_)))
            {
                let rule = Rules::builtin().site(Place::ShellDeviceOption);
                let place = self.at(&word.range);
                if !self.planner.touched(&place) {
                    self.planner.flag(rule, place, Some(format!("{name} {key} {value}")));
                }
            }
            option = word.text.starts_with('-').then_some(word.text.as_str());
        }
    }

    /// The words of a text that is split at its use.
    pub(super) fn split_arguments(&mut self, word: &Word, value: &Range<usize>, command: bool) {
        let text = &word.text[value.clone()];
        let mut option: Option<String> = None;
        let mut at = 0;
        for part in text.split(|c: char| c.is_ascii_whitespace()) {
            let start = value.start + at;
            at += part.len() + 1;
            if part.is_empty() {
                continue;
            }
            if let Some((key, rest)) = part.split_once('=') {
                let end = start + part.len();
                if command {
                    self.environment_part(word, start..start + key.len(), rest);
                }
                self.value(key, word, end - rest.len()..end);
            } else if let Some(option) = option.take() {
                self.value(&option, word, start..start + part.len());
            }
            option = part.starts_with('-').then(|| part.to_owned());
        }
    }

    /// `NAME=value` in a text that is split at its use.
    fn environment_part(&mut self, word: &Word, name: Range<usize>, value: &str) {
        let known = (!value.contains([EXPANSION, '$'])).then_some(value);
        let text = &word.text[name.clone()];
        let Some(decision) = environment::assignment(text, known) else { return };
        let Some(range) = word.source(&name) else { return };
        if decision.new_name.is_some_and(|new| self.says(new)) {
            return;
        }
        let at = self.at(&range);
        if let (Some(_), Some(new)) = (decision.new_name, &decision.new_value)
            && let Some(range) = word.source(&(name.end + 1..name.end + 1 + value.len()))
        {
            let range = self.at(&range);
            self.planner.also(decision.rule, &at, range, new.clone());
        }
        decision.enter(self.planner, at.clone(), &at);
    }

    /// The arguments of a program.
    pub(super) fn arguments(&mut self, words: &[Word]) {
        let mut option: Option<String> = None;
        for word in words {
            if let Some((key, value)) = word.text.split_once('=') {
                let end = word.text.len();
                let quotes = value.starts_with(['\'', '"']) && value.len() > 1;
                let trim = usize::from(quotes && value.ends_with(&value[..1]));
                self.value(key, word, end - value.len() + trim..end - trim);
                self.defaults(key, word);
            } else if let Some(option) = option.take() {
                self.value(&option, word, 0..word.text.len());
                self.defaults(&option, word);
            }
            option = word.text.starts_with('-').then(|| word.text.clone());
        }
    }

    /// `--device ${DEVICE:-cuda}`.
    pub(super) fn defaults(&mut self, key: &str, word: &Word) {
        for default in word.variables.iter().filter_map(|v| v.default.as_ref()) {
            self.value(key, default, 0..default.text.len());
        }
    }

    pub(super) fn value(&mut self, key: &str, word: &Word, part: Range<usize>) {
        let Some(text) = word.text.get(part.clone()) else { return };
        let Some(outcome) = value::converted(key, text) else { return };
        let Some(range) = word.source(&part) else { return };
        let rule = Rules::builtin().site(Place::ShellDeviceOption);
        let range = self.at(&range);
        if self.planner.touched(&range) {
            return;
        }
        match outcome {
            Outcome::Write(new) => {
                self.planner.change(rule, range, new, Certainty::Exact);
            }
            Outcome::Flag => self.planner.flag(rule, range, Some(format!("{key} {text}"))),
        }
    }

    /// `--tf32 True`: options that have rules.
    pub(super) fn settings(&mut self, words: &[Word]) {
        for (at, word) in words.iter().enumerate().filter(|(_, word)| word.text.starts_with("--")) {
            let next = words.get(at + 1).filter(|next| !next.text.starts_with('-'));
            let (name, value, end) = match (word.text.split_once('='), next) {
                (Some((name, value)), _) => (name, value, word.range.end),
                (None, Some(next))
                    if settings::rule(self.planner, &word.text, &next.text).is_some() =>
                {
                    (word.text.as_str(), next.text.as_str(), next.range.end)
                }
                // A switch: the next word is not its value.
                (None, next) if next.is_none_or(|next| !is_switch(&next.text)) => {
                    (word.text.as_str(), "True", word.range.end)
                }
                _ => continue,
            };
            if let Some(rule) = settings::rule(self.planner, name, value) {
                let range = self.at(&(word.range.start..end));
                self.planner.flag(rule, range, Some(format!("{name} {value}")));
            }
        }
    }

    /// `[ "$DEVICE" = cuda ]` of a variable that holds a device.
    pub(super) fn comparison(&mut self, index: usize, words: &[Word]) {
        for three in words.windows(3) {
            let [left, operator, right] = three else { continue };
            let Some(variable) = left.variables.first() else { continue };
            if !matches!(operator.text.as_str(), "=" | "==" | "!=" | "=~")
                || !left.text.chars().eq([EXPANSION])
            {
                continue;
            }
            let name = &self.text[variable.name.clone()];
            if let Some(key) = self.key_of(index, name, false) {
                // `cuda*` is a pattern.
                let text = &right.text;
                let start = text.len() - text.trim_start_matches(['*', '^']).len();
                let end = start + text[start..].trim_end_matches(['*', '$']).len();
                self.value(&key, right, start..end);
            }
        }
    }
}
