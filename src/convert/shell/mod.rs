//! Shell scripts: environment variables, options of programs, installed packages, and NVIDIA
//! programs.

mod arguments;
mod branches;
mod embedded;
mod expansion;
mod functions;
mod gpu;
mod lexer;
mod owners;
mod programs;
mod reader;
mod vllm;
mod word;

use std::collections::BTreeSet;
use std::ops::Range;

use lexer::{Command, Script};
use owners::Owners;
use programs::{KEYWORDS, WRAPPERS, base_name, first_word, is_program, name_at, program};
use reader::{Names, Reader};
use word::{EXPANSION, Word};

use super::environment;
use super::joined_lines::continued;
use super::messages;
use super::python::Project;
use super::rules::{Match, Place, Rules};
use super::site::Planner;
use super::syntax::UnparsableText;
use super::value;

/// Commands that only print their arguments, or search for them in a text.
const SHOW: &[&str] = &["echo", "printf", "cat", "grep", "egrep", "sed", "awk", "logger", "die"];

/// Plans a shell script.
pub fn plan(planner: &mut Planner<'_>) -> Result<(), UnparsableText> {
    let text = planner.text;
    plan_part(planner, text, 0)?;
    report_wheels(planner, text);
    Ok(())
}

/// Reports addresses of CUDA wheels that are not arguments of a known command: a function of the
/// script may pass them to pip.
fn report_wheels(planner: &mut Planner<'_>, text: &str) {
    const INDEX: &str = "/whl/cu";
    for (at, _) in text.match_indices(INDEX) {
        let digits = text[at + INDEX.len()..].bytes().take_while(u8::is_ascii_digit).count();
        let line = text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let range = at + "/whl/".len()..at + INDEX.len() + digits;
        if digits >= 2
            && !text[line..at].trim_start().starts_with('#')
            && !planner.touched(&range)
            && !planner.sites().iter().any(|site| site.range.contains(&range.start))
        {
            planner.flag(Rules::builtin().site(Place::RequirementsCudaWheel), range, None);
        }
    }
}

/// Plans a script that is a part of the text, from `offset` on: a `RUN` line, a cell.
pub fn plan_part(
    planner: &mut Planner<'_>,
    text: &str,
    offset: usize,
) -> Result<(), UnparsableText> {
    let script = lexer::read(text)?;
    Reader::new(planner, text, offset, &script).run(&script);
    Ok(())
}

/// Whether a text begins like a command: with an environment variable that is set, or with a
/// program whose arguments are known.
pub fn is_command(text: &str, project: Option<&Project>) -> bool {
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some(word) = words.next_if(|word| word.contains('=')) {
        let (name, _) = word.split_once('=').unwrap_or((word, ""));
        if Rules::builtin().find(Match::Env, name).is_some() {
            return true;
        }
        if !word::is_name(name) {
            return false;
        }
    }
    let Some(first) = words.next() else { return false };
    is_program(first, project) && words.next().is_some()
        || WRAPPERS.contains(&first)
            && words.take(8).any(|word| {
                let name = word.split('=').next().unwrap_or(word);
                is_program(word, project)
                    || word.contains('=') && Rules::builtin().find(Match::Env, name).is_some()
            })
}

/// The spans over several lines that cannot contain comments: words, joined lines, here documents
/// with their command.
pub fn spans(text: &str) -> Vec<Range<usize>> {
    let mut out = continued(text);
    // A script that cannot be parsed has no places.
    let Ok(script) = lexer::read(text) else { return out };
    for word in script.commands.iter().flat_map(|command| &command.words) {
        if text[word.range.clone()].contains('\n') {
            out.push(word.range.clone());
        }
    }
    for document in &script.documents {
        let first = script.commands[document.command].words.first();
        let start = first.map_or(document.body.start.saturating_sub(1), |word| word.range.start);
        out.push(start..document.body.end + 1);
    }
    out
}

impl<'p, 'a, 's> Reader<'p, 'a, 's> {
    fn new(planner: &'p mut Planner<'a>, text: &'s str, offset: usize, script: &Script) -> Self {
        let owners = Owners::of(script);
        let mut reader =
            Self { planner, text, offset, names: Names::default(), owners, read: BTreeSet::new() };
        for (index, command) in script.commands.iter().enumerate() {
            reader.learn(index, command);
        }
        reader.carry();
        reader
    }

    /// First pass: collects the roles of variables from their uses.
    fn learn(&mut self, index: usize, command: &Command) {
        self.learn_sources(index, command);
        for word in &command.words {
            self.names.said.push_str(&word.text);
            self.names.said.push('\n');
            for variable in &word.variables {
                self.names.said.push_str(&self.text[variable.name.clone()]);
                self.names.said.push('\n');
            }
        }
        let nested: Vec<usize> = command
            .words
            .iter()
            .filter(|word| self.is_nested(word))
            .map(|word| word.range.start)
            .collect();
        for (name, value) in environment_assignments(command, self.text, &nested) {
            if let Some(decision) = environment::assignment(&name, value.as_deref()) {
                if decision.new_name.is_none() {
                    self.names.kept.insert(name.clone());
                }
                self.names.assigned.insert(name, decision.new_name);
            }
        }
        let arguments = match command.array {
            Some(_) => command.words.as_slice(),
            None => match program(command, self.planner.project) {
                Some(at) => &command.words[at + 1..],
                None => return,
            },
        };
        let mut option: Option<&str> = None;
        for word in arguments {
            for variable in &word.variables {
                let name = self.owners.qualified(index, &self.text[variable.name.clone()]);
                let whole = word.text.chars().eq([EXPANSION]);
                let key = match word.text.split_once('=') {
                    Some((key, rest)) if rest.chars().eq([EXPANSION]) => Some(key),
                    _ if whole => option,
                    _ => None,
                };
                if let Some(key) = key.filter(|key| value::role(key).is_some()) {
                    self.names.values.entry(name).or_default().insert(key.to_owned());
                } else if whole && value::role(&name).is_some() {
                    self.names.given.insert(name);
                } else if whole && !variable.quoted {
                    self.names.arguments.insert(name);
                }
            }
            option = word.text.starts_with('-').then_some(word.text.as_str());
        }
    }

    fn run(&mut self, script: &Script) {
        let aware = script
            .commands
            .iter()
            .flat_map(|command| &command.words)
            .any(|word| word.text == "npu" || word.text.starts_with("npu:"));
        for (index, command) in script.commands.iter().enumerate() {
            self.variables(command);
            self.assignments(index, command);
            if command.array.is_some() {
                self.arguments(&command.words);
                continue;
            }
            let Some(first) = name_at(command) else { continue };
            let name = base_name(&command.words[first].text);
            if SHOW.contains(&name) {
                self.messages(&command.words[first..], name);
                continue;
            }
            if !aware && matches!(name, "[" | "[[" | "test") {
                self.comparison(index, &command.words[first..]);
            }
            self.nvidia(&command.words[first..], name);
            self.installs(&command.words[first..]);
            self.vllm(&command.words[first..]);
            self.commands_in_words(&command.words[first..], name);
            if self.owners.defines(name) {
                self.call(name, &command.words[first + 1..]);
            } else if let Some(at) = program(command, self.planner.project) {
                self.arguments(&command.words[at + 1..]);
                self.settings(&command.words[at + 1..]);
                self.positional(&command.words[at..]);
                self.inline(&command.words[at..]);
            } else {
                self.unknown_program(&command.words[first..], name);
            }
        }
        if !aware {
            self.cases(script);
        }
        self.documents(script);
        for comment in &script.comments {
            self.directive(comment);
        }
    }

    /// Returns the decision about this environment variable, given the rest of the script.
    fn renamed(&mut self, name: &str) -> Option<environment::EnvDecision> {
        let mut decision = environment::assignment(name, None)?;
        if let Some(Some(new)) = self.names.assigned.get(name) {
            decision.new_name = Some(new);
            decision.issues.clear();
        }
        if self.names.kept.contains(name) {
            decision.new_name = None;
        }
        if decision.new_name.is_some_and(|new| self.says(new)) {
            decision.new_name = None;
            decision.issues.clear();
        }
        Some(decision)
    }

    fn variables(&mut self, command: &Command) {
        for word in &command.words {
            for variable in &word.variables {
                let name = &self.text[variable.name.clone()];
                let Some(mut decision) = self.renamed(name) else { continue };
                if self.names.assigned.contains_key(name) || !self.read.insert(name.to_owned()) {
                    decision.issues.clear();
                }
                let place = self.at(&variable.name);
                decision.enter(self.planner, place.clone(), &place);
            }
        }
    }

    fn assignments(&mut self, index: usize, command: &Command) {
        let heads = first_word(command);
        let takes_names = matches!(
            heads,
            Some(
                "export"
                    | "unset"
                    | "declare"
                    | "typeset"
                    | "local"
                    | "readonly"
                    | "printenv"
                    | "read"
                    | "for"
            )
        );
        let shows = heads.is_some_and(|name| SHOW.contains(&name));
        let mut before = "";
        let mut leading = true;
        for (at, word) in command.words.iter().enumerate() {
            let option = std::mem::replace(&mut before, word.text.as_str());
            let Some((name, value, adds)) = word.assignment() else {
                leading = leading && (at == 0 && KEYWORDS.contains(&word.text.as_str()));
                let named = takes_names || matches!(option, "-x" | "-e" | "--env" | "-v");
                if let Some(name) = word.plain().filter(|_| named && at > 0)
                    && let Some(mut decision) = self.renamed(name)
                    && let Some(range) = word.source(&(0..name.len()))
                {
                    decision.issues.clear();
                    let range = self.at(&range);
                    decision.enter(self.planner, range.clone(), &range);
                }
                continue;
            };
            if shows && !leading || self.is_nested(word) {
                continue;
            }
            let Some(name_range) = word.source(&name) else { continue };
            let name_text = &word.text[name.clone()];
            let known = known_value(word, &value, name_text, adds, self.text);
            if let Some(mut decision) = environment::assignment(name_text, known.as_deref()) {
                if self.names.kept.contains(name_text) {
                    decision.new_name = None;
                    decision.new_value = None;
                }
                if decision.new_name.is_some_and(|new| self.says(new)) {
                    continue;
                }
                let place = self.at(&(name_range.start..word.range.end));
                if let (Some(_), Some(new)) = (decision.new_name, &decision.new_value) {
                    match self.value_range(word, &value) {
                        Some(range) => {
                            self.planner.also(decision.rule, &place, range, new.clone());
                        }
                        None => self.planner.flag(decision.rule, place.clone(), Some(new.clone())),
                    }
                }
                decision.enter(self.planner, self.at(&name_range), &place);
            } else if leading || takes_names {
                let runs = name_at(command).is_some_and(|first| first > at);
                let environment = runs && !takes_names || heads == Some("export");
                self.script_variable(index, word, &name, &value, environment);
            }
        }
    }

    /// The range of a value, if it can be replaced in one piece.
    fn value_range(&self, word: &Word, value: &Range<usize>) -> Option<Range<usize>> {
        if let Some(range) = word.source(value) {
            return Some(self.at(&range));
        }
        if value.is_empty() || !word.unquoted(value) {
            return None;
        }
        let first = word.source(&(value.start..value.start + 1))?;
        let last = word.source(&(value.end - 1..value.end))?;
        Some(self.at(&(first.start..last.end)))
    }

    /// `DEVICE=cuda`, `BACKEND=${1:-nccl}`, `ARGS="--device cuda"`, if the uses of the variable
    /// show its role.
    fn script_variable(
        &mut self,
        index: usize,
        word: &Word,
        name: &Range<usize>,
        value: &Range<usize>,
        environment: bool,
    ) {
        let name = &word.text[name.clone()];
        if let Some(key) = self.key_of(index, name, environment) {
            self.value(&key, word, value.clone());
            for default in word.variables.iter().filter_map(|v| v.default.clone()) {
                self.value(&key, &default, 0..default.text.len());
            }
        }
        let text = &word.text[value.clone()];
        let command = is_command(text, self.planner.project);
        if command && self.nested(word) {
            return;
        }
        let options = text.trim_start().starts_with("--") && text.trim().contains([' ', '=']);
        if command || options || self.names.arguments.contains(name) {
            self.split_arguments(word, value, command);
        }
    }

    /// `RUN="CUDA_VISIBLE_DEVICES=0 python train.py"`: a command for later use.
    fn nested(&mut self, word: &Word) -> bool {
        let raw = &self.text[word.range.clone()];
        let start = raw.find('=').map_or(0, |equals| equals + 1);
        self.quoted(word.range.start + start..word.range.end)
    }

    /// Whether a word is a command as a whole: `ssh host "CUDA_VISIBLE_DEVICES=0 python a.py"`.
    fn is_nested(&self, word: &Word) -> bool {
        let words = word.text.split_ascii_whitespace();
        let program = words.clone().find(|word| !word.contains('='));
        self.text[word.range.clone()].starts_with(['"', '\''])
            && words.count() > 1
            && program.is_some_and(|name| !name.starts_with(|c: char| c.is_ascii_digit()))
            && is_command(&word.text, self.planner.project)
    }

    /// Words that contain commands: of `ssh`, `tmux`, `bash -c`.
    fn commands_in_words(&mut self, words: &[Word], name: &str) {
        let shell = matches!(
            name,
            "bash" | "sh" | "zsh" | "ssh" | "eval" | "srun" | "pdsh" | "tmux" | "screen"
        );
        for (at, word) in words.iter().enumerate().skip(1) {
            let before = words[at - 1].text.as_str();
            let script = shell && word.text.contains(' ') && (before == "-c" || name != "srun");
            if before != "-c" && self.is_nested(word) || script {
                self.quoted(word.range.clone());
            }
        }
    }

    /// Plans the text in one pair of quotes; returns whether it could be planned.
    fn quoted(&mut self, range: Range<usize>) -> bool {
        let raw = &self.text[range.clone()];
        let Some(quote) = raw.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
            return false;
        };
        let body = raw[1..].strip_suffix(quote).filter(|body| !body.contains(quote));
        let Some(body) = body else { return false };
        plan_part(self.planner, body, self.offset + range.start + 1).is_ok()
    }

    /// The key that determines the role of a variable: the option that it is passed to, or its own
    /// name if a program reads it from the environment or as a separate argument.
    fn key_of(&self, index: usize, name: &str, environment: bool) -> Option<String> {
        let qualified = self.owners.qualified(index, name);
        let used = self.names.values.get(&qualified).and_then(|keys| keys.first()).cloned();
        let own = environment && value::role(name).is_some() || self.names.given.contains(name);
        used.or_else(|| own.then(|| name.to_owned()))
    }

    /// `echo "no CUDA"`.
    fn messages(&mut self, words: &[Word], name: &str) {
        if !matches!(name, "echo" | "printf" | "logger" | "die") {
            return;
        }
        for word in &words[1..] {
            let range = self.at(&word.range);
            messages::message(self.planner, &range);
        }
    }
}

/// The value as far as it is known; for search paths, as written.
fn known_value(
    word: &Word,
    value: &Range<usize>,
    name: &str,
    adds: bool,
    source: &str,
) -> Option<String> {
    if matches!(name, "LD_LIBRARY_PATH" | "LIBRARY_PATH" | "PATH" | "CPATH" | "XLA_FLAGS") {
        let raw = &source[word.range.clone()];
        let raw = raw.split_once('=').map_or(raw, |(_, value)| value);
        return Some(raw.trim_matches(['"', '\'']).to_owned());
    }
    let text = &word.text[value.clone()];
    // The program that contains this command replaces `{0}`.
    (!adds && !text.contains([EXPANSION, '{'])).then(|| text.to_owned())
}

/// Variables that a command sets, with the known parts of their values.
fn environment_assignments(
    command: &Command,
    source: &str,
    nested: &[usize],
) -> Vec<(String, Option<String>)> {
    if first_word(command).is_some_and(|name| SHOW.contains(&name)) {
        return Vec::new();
    }
    let words = command.words.iter();
    words
        .filter(|word| !nested.contains(&word.range.start))
        .filter_map(|word| {
            let (name, value, adds) = word.assignment()?;
            let name = &word.text[name];
            // Only variables with a rule matter.
            Rules::builtin().find(Match::Env, name)?;
            Some((name.to_owned(), known_value(word, &value, name, adds, source)))
        })
        .collect()
}

#[cfg(test)]
mod tests;
