//! Shell scripts: variables of the environment, options of programs, packages that are
//! installed, and the programs of NVIDIA.

mod branches;
mod embedded;
mod functions;
mod lexer;
mod programs;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use functions::Owners;
use lexer::{Command, EXPANSION, Script, Word};
use programs::{
    CUDA_TOOLS, KEYWORDS, WRAPPERS, base_name, first_word, is_program, is_script, name_at, program,
};

use super::environment;
use super::messages;
use super::python::Project;
use super::requirements;
use super::rules::{Match, Place, Rules};
use super::site::{Certainty, Planner};
use super::syntax::Unreadable;
use super::value::{self, Outcome};

/// Commands that only show their arguments, or look for them in a text.
const SHOW: &[&str] = &["echo", "printf", "cat", "grep", "egrep", "sed", "awk", "logger", "die"];

/// Commands whose options are known to mean something else.
const NOT_ASKED: &[&str] =
    &["[", "[[", "test", "git", "find", "wget", "curl", "rsync", "scp", "mount", "case", "for"];

/// Plans a shell script.
pub fn plan(planner: &mut Planner<'_>) -> Result<(), Unreadable> {
    let text = planner.text;
    plan_part(planner, text, 0)
}

/// Plans a script that is a part of the text, from `offset` on: a `RUN` line, a cell.
pub fn plan_part(planner: &mut Planner<'_>, text: &str, offset: usize) -> Result<(), Unreadable> {
    let script = lexer::read(text)?;
    Reader::new(planner, text, offset, &script).run(&script);
    Ok(())
}

/// Whether a text begins as a command: with a variable of the environment that is set, or with
/// a program whose arguments are known.
pub fn is_command(text: &str, project: Option<&Project>) -> bool {
    let mut words = text.split_ascii_whitespace().peekable();
    while let Some(word) = words.next_if(|word| word.contains('=')) {
        let (name, _) = word.split_once('=').unwrap_or((word, ""));
        if Rules::builtin().find(Match::Env, name).is_some() {
            return true;
        }
        if !lexer::is_name(name) {
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

/// What goes over lines, so that no comment can stand in it: words, joined lines, here documents
/// with their command.
pub fn spans(text: &str) -> Vec<Range<usize>> {
    let mut out = super::mark::continued(text);
    // A script that cannot be read has no places.
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

/// The names of variables that decide what becomes of others.
#[derive(Default)]
struct Names {
    /// Variables of the environment that stay, since a value of theirs cannot be written.
    kept: BTreeSet<String>,
    /// Variables of the environment that are set, with the name that they get.
    assigned: BTreeMap<String, Option<&'static str>>,
    /// All that the words say and the names of all variables: a script in which a new name
    /// stands already has a branch for NPUs.
    said: String,
    /// Whether that holds a new name, by name.
    held: BTreeMap<&'static str, bool>,
    /// Variables of the script that hold a device or a backend, by the key they are used for.
    values: BTreeMap<String, BTreeSet<String>>,
    /// Variables of the script that hold arguments of a program.
    arguments: BTreeSet<String>,
    /// Variables that are named after a device or a backend and given to a program on its own.
    given: BTreeSet<String>,
    /// Variables that take their value from another, by that one's name.
    from: Vec<(String, String)>,
}

struct Reader<'p, 'a, 's> {
    planner: &'p mut Planner<'a>,
    text: &'s str,
    offset: usize,
    names: Names,
    /// The function that each command stands in.
    owners: Owners,
    /// Reported reads of variables without equivalent.
    read: BTreeSet<String>,
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

    /// Whether the script speaks of this new name already.
    fn says(&mut self, new: &'static str) -> bool {
        let said = &self.names.said;
        *self.names.held.entry(new).or_insert_with(|| said.contains(new))
    }

    fn at(&self, range: &Range<usize>) -> Range<usize> {
        range.start + self.offset..range.end + self.offset
    }

    /// First pass: what the uses say of the variables.
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
            self.commands_in_words(&command.words[first..], name);
            if self.owners.defines(name) {
                self.call(name, &command.words[first + 1..]);
            } else if let Some(at) = program(command, self.planner.project) {
                self.arguments(&command.words[at + 1..]);
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

    /// Whether this name of the environment is renamed in this script.
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
                        Some(range) => self.planner.also(range, new.clone()),
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

    /// Where a value stands, if it can be replaced in one piece.
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

    /// `DEVICE=cuda`, `BACKEND=${1:-nccl}`, `ARGS="--device cuda"` where the uses say what the
    /// variable holds.
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

    /// `RUN="CUDA_VISIBLE_DEVICES=0 python train.py"`: a command that is run later.
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

    /// Words that are commands: of `ssh`, `tmux`, `bash -c`.
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

    /// Plans what stands in one pair of quotes; whether that could be done.
    fn quoted(&mut self, range: Range<usize>) -> bool {
        let raw = &self.text[range.clone()];
        let Some(quote) = raw.chars().next().filter(|quote| matches!(quote, '"' | '\'')) else {
            return false;
        };
        let body = raw[1..].strip_suffix(quote).filter(|body| !body.contains(quote));
        let Some(body) = body else { return false };
        plan_part(self.planner, body, self.offset + range.start + 1).is_ok()
    }

    /// The key that says what a variable holds: the option it is given to, or its own name, if
    /// a program reads it from the environment or as an argument of its own.
    fn key_of(&self, index: usize, name: &str, environment: bool) -> Option<String> {
        let qualified = self.owners.qualified(index, name);
        let used = self.names.values.get(&qualified).and_then(|keys| keys.first()).cloned();
        let own = environment && value::role(name).is_some() || self.names.given.contains(name);
        used.or_else(|| own.then(|| name.to_owned()))
    }

    /// `python train.py cuda`: an argument on its own.
    fn positional(&mut self, words: &[Word]) {
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

    /// A word that is a device or a backend from end to end. Other scripts of the shell may
    /// mean something else with it.
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

    /// `whisper a.mp3 --device cuda`: whether that program has NPUs is not known.
    fn unknown_program(&mut self, words: &[Word], name: &str) {
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
                self.planner.flag(rule, place, Some(format!("{name} {key} {value}")));
            }
            option = word.text.starts_with('-').then_some(word.text.as_str());
        }
    }

    /// The words of a text that is split where it is used.
    fn split_arguments(&mut self, word: &Word, value: &Range<usize>, command: bool) {
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

    /// `NAME=value` in a text that is split where it is used.
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
            self.planner.also(range, new.clone());
        }
        decision.enter(self.planner, at.clone(), &at);
    }

    /// The arguments of a program.
    fn arguments(&mut self, words: &[Word]) {
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
    fn defaults(&mut self, key: &str, word: &Word) {
        for default in word.variables.iter().filter_map(|v| v.default.as_ref()) {
            self.value(key, default, 0..default.text.len());
        }
    }

    fn value(&mut self, key: &str, word: &Word, part: Range<usize>) {
        let Some(text) = word.text.get(part.clone()) else { return };
        let Some(outcome) = value::converted(key, text) else { return };
        let Some(range) = word.source(&part) else { return };
        let rule = Rules::builtin().site(Place::ShellDeviceOption);
        let range = self.at(&range);
        match outcome {
            Outcome::Write(new) => self.planner.change(rule, range, new, Certainty::Exact),
            Outcome::Flag => self.planner.flag(rule, range, Some(format!("{key} {text}"))),
        }
    }

    /// `[ "$DEVICE" = cuda ]` of a variable that holds a device.
    fn comparison(&mut self, index: usize, words: &[Word]) {
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

    /// Programs and options that exist for GPUs only.
    fn nvidia(&mut self, words: &[Word], name: &str) {
        let rules = Rules::builtin();
        for word in &words[1..] {
            if base_name(&word.text) == "nvidia-smi" {
                let place = self.at(&word.range);
                self.planner.flag(rules.site(Place::ShellNvidiaSmi), place, None);
            }
        }
        let first = self.at(&words[0].range);
        if matches!(name, "module" | "ml" | "spack") {
            let of_cuda = ["cuda", "cudnn", "nccl", "nvhpc", "CUDA", "cuDNN", "NCCL"];
            for word in &words[1..] {
                if of_cuda.iter().any(|name| word.text.starts_with(name)) {
                    let place = self.at(&word.range);
                    let rule = rules.site(Place::ShellCudaTool);
                    self.planner.flag(rule, place, Some(word.text.clone()));
                }
            }
        }
        if name == "nvidia-smi" {
            self.planner.flag(rules.site(Place::ShellNvidiaSmi), first.clone(), None);
        } else if CUDA_TOOLS.contains(&name) {
            self.planner.flag(
                rules.site(Place::ShellCudaTool),
                first.clone(),
                Some(name.to_owned()),
            );
        }
        if matches!(
            name,
            "docker" | "podman" | "srun" | "sbatch" | "singularity" | "apptainer" | "enroot"
        ) {
            for word in &words[1..] {
                let image =
                    word.text.rsplit_once('=').map_or(word.text.as_str(), |(_, image)| image);
                let image = image.trim_start_matches("docker://");
                if image.starts_with("nvcr.io/") || image.starts_with("nvidia/cuda") {
                    let place = self.at(&word.range);
                    let rule = rules.site(Place::CiCudaImage);
                    self.planner.flag(rule, place, Some(image.to_owned()));
                }
            }
        }
        for (at, word) in words.iter().enumerate().skip(1) {
            let option = word.text.split('=').next().unwrap_or_default();
            let value = word.text.split_once('=').map(|(_, value)| value);
            let value = value.or_else(|| words.get(at + 1).map(|word| word.text.as_str()));
            let site = match (name, option) {
                ("docker" | "podman" | "nvidia-docker", "--gpus") => Place::DockerRunGpus,
                ("docker" | "podman", "--runtime") if value == Some("nvidia") => {
                    Place::DockerRunGpus
                }
                ("srun" | "sbatch" | "salloc", option) if of_slurm(option, value) => {
                    Place::SlurmGres
                }
                _ => continue,
            };
            let place = self.at(&word.range);
            self.planner.flag(rules.site(site), place, Some(word.text.clone()));
        }
    }

    /// `pip install`, `conda install`.
    fn installs(&mut self, words: &[Word]) {
        if let Some(word) = words.iter().find(|word| word.text.contains("--cuda_ext"))
            && let Some(rule) = Rules::builtin().find(Match::Library, "apex")
        {
            let place = self.at(&word.range);
            self.planner.flag(rule, place, Some("--cuda_ext".to_owned()));
        }
        let system = ["apt", "apt-get", "yum", "dnf", "microdnf", "zypper", "apk"];
        if let Some(at) = words.iter().position(|word| system.contains(&base_name(&word.text)))
            && words[at..].iter().any(|word| matches!(word.text.as_str(), "install" | "add"))
        {
            let of_cuda = ["cuda-", "libcudnn", "libnccl", "libcublas", "libnvinfer", "nvidia-"];
            for word in &words[at + 1..] {
                if of_cuda.iter().any(|name| word.text.starts_with(name)) {
                    let rule = Rules::builtin().site(Place::RequirementsCudaPackage);
                    let place = self.at(&word.range);
                    self.planner.flag(rule, place, Some(word.text.clone()));
                }
            }
            return;
        }
        let Some(installer) = words.iter().position(|word| {
            let name = base_name(&word.text);
            matches!(name, "pip" | "pip3" | "conda" | "mamba" | "micromamba")
                || name.strip_prefix("pip3.").is_some_and(|v| v.bytes().all(|b| b.is_ascii_digit()))
        }) else {
            return;
        };
        let conda = !base_name(&words[installer].text).starts_with("pip");
        let Some(install) = words[installer..].iter().position(|word| {
            matches!(word.text.as_str(), "install" | "create" | "download" | "wheel")
        }) else {
            return;
        };
        let arguments: Vec<_> = words[installer + install + 1..]
            .iter()
            .filter(|word| word.plain().is_some())
            .filter_map(|word| {
                let range = word.source(&(0..word.text.len()))?;
                Some((self.at(&range), word.range.end + self.offset))
            })
            .collect();
        requirements::arguments(self.planner, &arguments, conda);
    }

    /// `#SBATCH --gres=gpu:8`.
    fn directive(&mut self, comment: &Range<usize>) {
        let text = &self.text[comment.clone()];
        let Some(rest) = text.strip_prefix("#SBATCH") else { return };
        let mut words = rest.split_ascii_whitespace();
        while let Some(word) = words.next() {
            if word.starts_with('#') {
                break;
            }
            let (option, value) = match word.split_once('=') {
                Some((option, value)) => (option, Some(value)),
                None => (word, words.clone().next()),
            };
            if of_slurm(option, value) {
                let rule = Rules::builtin().site(Place::SlurmGres);
                let place = self.at(&(comment.start..comment.start + text.trim_end().len()));
                self.planner.flag(rule, place, Some(rest.trim().to_owned()));
                break;
            }
        }
    }
}

/// Whether an option of SLURM asks for GPUs.
fn of_slurm(option: &str, value: Option<&str>) -> bool {
    match option {
        "--gres" => value.is_some_and(|value| value.split(',').any(|part| part.starts_with("gpu"))),
        "--gpus" | "-G" | "--gpus-per-node" | "--gpus-per-task" | "--gpus-per-socket"
        | "--cpus-per-gpu" | "--mem-per-gpu" => true,
        _ => false,
    }
}

/// The value as far as it is known; for search paths as it is written.
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
    // `{0}` is filled in by the program that holds this command.
    (!adds && !text.contains([EXPANSION, '{'])).then(|| text.to_owned())
}

/// Variables that a command sets, with what is known of their values.
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
            // Only variables of rules are of interest.
            Rules::builtin().find(Match::Env, name)?;
            Some((name.to_owned(), known_value(word, &value, name, adds, source)))
        })
        .collect()
}

#[cfg(test)]
mod tests;
