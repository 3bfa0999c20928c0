//! `ascend-doctor THING…`: detects the kind of an input and runs the subcommand for it.
//!
//! A command line without a subcommand is completed and parsed again, so that each input has the
//! options, the answer and the exit status of its subcommand.

mod issue;
mod place;
mod words;

use std::ffi::OsString;

use serde::Serialize;

use super::standard_streams::{ask_user, can_ask};
use crate::cli::Cli;
use base::text::{Text, nearest, shell_quote};
use data::ui;

/// Maximum length of the command in the first line, in characters.
const LINE: usize = 60;

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputType {
    /// No input: the machine.
    Machine,
    /// Error codes, either bare or in a few words.
    Code,
    /// IDs of findings, causes or rules of `convert`, or names of code families.
    Name,
    /// A variable, chip, release, wheel name, image or path.
    Fact,
    /// A function or package of CUDA.
    Api,
    /// Lines of a log.
    LogText,
    /// Log files, directories of logs, archives, standard input.
    Log,
    /// A source tree or source file.
    Source,
    /// A model file.
    Model,
    /// A wheel file.
    Wheel,
    /// JSON reports.
    Report,
    /// Facts of a machine.
    Facts,
    /// A copied or mounted root.
    Root,
    /// A description of a failure in words.
    Description,
    /// The text of an issue: versions, output of programs and logs.
    Issue,
    /// A support bundle.
    Bundle,
}

impl InputType {
    const fn label(self) -> ui::Label {
        match self {
            Self::Machine => ui::INPUT_MACHINE,
            Self::Code => ui::INPUT_CODE,
            Self::Name => ui::INPUT_NAME,
            Self::Fact => ui::INPUT_FACT,
            Self::Api => ui::INPUT_API,
            Self::LogText => ui::INPUT_LOG_TEXT,
            Self::Issue => ui::INPUT_ISSUE,
            Self::Bundle => ui::INPUT_BUNDLE,
            Self::Log => ui::INPUT_LOG,
            Self::Source => ui::INPUT_SOURCE,
            Self::Model => ui::INPUT_MODEL,
            Self::Wheel => ui::INPUT_WHEEL,
            Self::Report => ui::INPUT_REPORT,
            Self::Facts => ui::INPUT_FACTS,
            Self::Root => ui::INPUT_ROOT,
            Self::Description => ui::INPUT_DESCRIPTION,
        }
    }
}

/// The detected input of a command line without a subcommand.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detected {
    /// The kind of the input.
    #[serde(rename = "type")]
    kind: InputType,
    /// The command that handles only this kind.
    command: String,
    /// The kind in words.
    #[serde(skip)]
    what: Text,
}

impl Detected {
    /// The first line of the answer.
    pub(super) fn line(&self) -> Text {
        // The full command would repeat a pasted line of a log.
        let command = match self.command.char_indices().nth(LINE) {
            Some((at, _)) => format!("{}…", &self.command[..at]),
            None => self.command.clone(),
        };
        ui::DetectedInput { what: self.what.clone(), command }.text()
    }
}

/// The subcommand for inputs: its words, and the inputs in the form that it accepts.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Route {
    kind: InputType,
    /// The subcommand with its options, for example `check --facts`.
    command: &'static [&'static str],
    inputs: Vec<String>,
    /// The form of the input, if the kind has several forms.
    form: Option<ui::Label>,
}

impl Route {
    fn new(kind: InputType, command: &'static [&'static str], input: &str) -> Self {
        Self { kind, command, inputs: vec![input.to_owned()], form: None }
    }

    fn of_form(self, form: ui::Label) -> Self {
        Self { form: Some(form), ..self }
    }

    fn what(&self) -> Text {
        self.form.unwrap_or_else(|| self.kind.label()).text()
    }

    /// Whether `explain` has a page about each input of the kind.
    fn is_explained(&self) -> bool {
        matches!(self.kind, InputType::Code | InputType::Name | InputType::Fact | InputType::Api)
    }

    /// The words after the options of all subcommands.
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.command.iter().map(|&word| word.to_owned()).collect();
        // An input may look like an option.
        if self.inputs.iter().any(|input| input.starts_with('-') && input != "-") {
            words.push("--".to_owned());
        }
        words.extend(self.inputs.iter().cloned());
        words
    }

    /// The command line as shown to users.
    fn shown(&self) -> String {
        let words = self.words();
        let quoted: Vec<_> = words.iter().map(|word| shell_quote(word)).collect();
        format!("ascend-doctor {}", quoted.join(" "))
    }
}

/// The result of detecting inputs.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// One subcommand handles them.
    One(Route),
    /// Two do, and the user has to choose.
    Two(Route, Route),
    /// Each needs a separate command.
    Mixed(Vec<Route>),
    /// An address, which is not fetched.
    Address,
    /// The inputs are unknown.
    Nothing,
}

/// Why a command line without a subcommand cannot be completed.
#[derive(Debug)]
pub enum Refusal {
    /// A word is close to the name of a subcommand, or a usage error has other reasons.
    Usage,
    /// The input is unknown.
    Unknown(String),
    /// The input is an address.
    Address(String),
    /// Two subcommands can handle the input: their command lines.
    Ambiguous(String, [String; 2]),
    /// The inputs need different subcommands: the command lines.
    Mixed(Vec<String>),
}

/// Completes a command line whose first word `thing` is not a subcommand, and parses it.
///
/// # Errors
///
/// If the inputs are unknown, or the completed command line is not valid.
pub(super) fn complete(
    command: &mut clap::Command,
    arguments: &[OsString],
    thing: &str,
) -> Result<Completed, Refusal> {
    let at = arguments.iter().skip(1).position(|argument| argument == thing);
    let at = at.ok_or(Refusal::Usage)? + 1;
    // Inputs end at the next option.
    let things: Vec<String> = arguments[at..]
        .iter()
        .map_while(|argument| argument.to_str())
        .take_while(|text| !is_option(text))
        .map(str::to_owned)
        .collect();
    // `help convert --lang en`, `help nonsense`: the word that clap rejects is not an input.
    if things.is_empty() || arguments[at - 1] == "help" {
        return Err(Refusal::Usage);
    }
    let route = match detect(&things) {
        Found::One(route) => route,
        Found::Two(first, second) => choose(&things, first, second)?,
        Found::Mixed(routes) => {
            return Err(Refusal::Mixed(routes.iter().map(Route::shown).collect()));
        }
        Found::Address => return Err(Refusal::Address(things.join(" "))),
        Found::Nothing if is_misspelled(thing) => return Err(Refusal::Usage),
        Found::Nothing => return Err(Refusal::Unknown(things.join(" "))),
    };
    let rest = &arguments[at + things.len()..];
    let words = route.words();
    let before = arguments[..at].iter().filter(|argument| *argument != "--");
    let mut completed: Vec<OsString> = before.cloned().collect();
    // Options precede `--`, because it ends them. Otherwise they follow the inputs, because the
    // subcommand may end in an option that takes one.
    let end = words.iter().position(|word| word == "--").unwrap_or(words.len());
    completed.extend(words[..end].iter().map(OsString::from));
    completed.extend(rest.iter().cloned());
    completed.extend(words[end..].iter().map(OsString::from));
    let detected = Detected { kind: route.kind, command: route.shown(), what: route.what() };
    let cli = Cli::read(command, &completed);
    let cli = cli.map(|cli| Cli { detected: Some(detected), ..cli });
    Ok(Completed { cli, arguments: completed })
}

/// A command line with its subcommand.
#[derive(Debug)]
pub(super) struct Completed {
    /// The result of parsing it.
    pub(super) cli: Result<Cli, clap::Error>,
    /// Its arguments.
    pub(super) arguments: Vec<OsString>,
}

/// Completes a command line without an input: it examines the machine.
pub(super) fn complete_empty(
    command: &mut clap::Command,
    arguments: &[OsString],
) -> Result<Cli, clap::Error> {
    let mut completed = arguments.to_vec();
    completed.push("check".into());
    let kind = InputType::Machine;
    let shown = "ascend-doctor check".to_owned();
    let detected = Detected { kind, command: shown, what: kind.label().text() };
    Cli::read(command, completed).map(|cli| Cli { detected: Some(detected), ..cli })
}

/// Whether a word is an option rather than `-` or a negative number, which is an error code.
fn is_option(word: &str) -> bool {
    let rest = word.strip_prefix('-').unwrap_or_default();
    !rest.is_empty() && !rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first argument that is a negative number, which clap parses as an option.
pub(super) fn negative_number(arguments: &[OsString]) -> Option<&str> {
    let mut texts = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    texts.find(|text| text.starts_with('-') && text.len() > 1 && !is_option(text))
}

fn is_misspelled(word: &str) -> bool {
    let names = crate::cli::command();
    let names = names.get_subcommands().filter(|sub| !sub.is_hide_set());
    !nearest(word, names.map(|sub| sub.get_name().to_owned()), 1).is_empty()
}

/// Detects the kind of inputs: together if they form one input, else each separately.
fn detect(things: &[String]) -> Found {
    if let [thing] = things {
        return detect_one(thing);
    }
    // `torch 2.9` is one release, although each word is also a name.
    let whole = detect_one(&things.join(" "));
    let one_fact = matches!(&whole, Found::One(route) if route.kind == InputType::Fact);
    let each: Vec<Found> = things.iter().map(|thing| detect_one(thing)).collect();
    let routes: Option<Vec<Route>> = each
        .into_iter()
        .map(|found| match found {
            Found::One(route) => Some(route),
            _ => None,
        })
        .collect();
    match routes {
        Some(routes) if !one_fact => join(routes),
        _ => whole,
    }
}

/// The command for all inputs, if there is one.
fn join(routes: Vec<Route>) -> Found {
    let Some(first) = routes.first() else { return Found::Nothing };
    let inputs = || routes.iter().flat_map(|route| route.inputs.clone()).collect();
    if routes.iter().all(|route| route.command == first.command) {
        Found::One(Route { inputs: inputs(), ..first.clone() })
    } else if routes.iter().all(Route::is_explained) {
        let (kind, command) = (InputType::Name, &["explain"]);
        Found::One(Route { kind, command, inputs: inputs(), form: None })
    } else {
        Found::Mixed(routes)
    }
}

fn detect_one(thing: &str) -> Found {
    if thing == "-" {
        return Found::One(Route::new(InputType::Log, &["translate-error"], "-"));
    }
    place::detect(thing).unwrap_or_else(|| words::detect(thing))
}

/// The command line for a text that does not name a file.
pub(super) fn words_of_text(text: &str) -> Option<Vec<String>> {
    match words::detect(text) {
        // A word with the extension of a log would be read as a file.
        Found::One(route) if route.kind != InputType::Log => Some(route.words()),
        _ => None,
    }
}

/// Asks the user which of two commands to run, if a terminal is available.
fn choose(things: &[String], first: Route, second: Route) -> Result<Route, Refusal> {
    let shown = [first.shown(), second.shown()];
    let refusal = || Refusal::Ambiguous(things.join(" "), shown.clone());
    if !can_ask() {
        return Err(refusal());
    }
    let lang = super::usage::user_language();
    let mut answer = String::new();
    let asked = ask_user(|input, out| {
        writeln!(out, "{}", ui::INPUT_AMBIGUOUS.get(lang))?;
        for (number, command) in (1..).zip(&shown) {
            writeln!(out, "  {number}  {command}")?;
        }
        write!(out, "[1/2] ")?;
        out.flush()?;
        input.read_line(&mut answer).map(drop)
    });
    match (asked, answer.trim()) {
        (Ok(()), "1") => Ok(first),
        (Ok(()), "2") => Ok(second),
        _ => Err(refusal()),
    }
}
