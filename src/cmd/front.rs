//! `ascend-doctor THING…`: finds out what an input is and runs the subcommand for it.
//!
//! A command line without a subcommand is completed and parsed again, so that each input has the
//! options, the answer and the exit status of its subcommand.

mod place;
mod words;

use std::ffi::OsString;

use serde::Serialize;

use super::standard_streams::{ask_user, can_ask};
use crate::cli::Cli;
use base::text::{Text, nearest, shell_quote};
use data::ui;

/// The kind of an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum InputType {
    /// No input: the machine.
    Machine,
    /// Error codes, alone or in a few words.
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
    /// Facts of a machine, or a bundle.
    Facts,
    /// A copied or mounted root.
    Root,
    /// A description of a failure in words.
    Description,
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

/// What a command line without a subcommand was taken for.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Detected {
    /// The kind of the input.
    #[serde(rename = "type")]
    kind: InputType,
    /// The command that handles only this kind.
    command: String,
}

impl Detected {
    /// The first line of the answer.
    pub(super) fn line(&self) -> Text {
        let command = &self.command;
        ui::DetectedInput { what: self.kind.label().text(), command }.text()
    }
}

/// The subcommand for inputs: its words, and the inputs as it takes them.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Route {
    kind: InputType,
    /// The subcommand with its options, for example `check --facts`.
    command: &'static [&'static str],
    inputs: Vec<String>,
}

impl Route {
    fn new(kind: InputType, command: &'static [&'static str], input: &str) -> Self {
        Self { kind, command, inputs: vec![input.to_owned()] }
    }

    /// The words behind the options of all subcommands.
    fn words(&self) -> Vec<String> {
        let mut words: Vec<String> = self.command.iter().map(|&word| word.to_owned()).collect();
        // An input that looks like an option is none.
        if self.inputs.iter().any(|input| input.starts_with('-') && input != "-") {
            words.push("--".to_owned());
        }
        words.extend(self.inputs.iter().cloned());
        words
    }

    /// The command line for people.
    fn shown(&self) -> String {
        let words = self.words();
        let quoted: Vec<_> = words.iter().map(|word| shell_quote(word)).collect();
        format!("ascend-doctor {}", quoted.join(" "))
    }
}

/// What inputs turned out to be.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Found {
    /// One subcommand handles them.
    One(Route),
    /// Two do, and the user has to choose.
    Two(Route, Route),
    /// An address: nothing is fetched.
    Address,
    /// Nothing is known of them.
    Nothing,
}

/// Why a command line without a subcommand cannot be completed.
#[derive(Debug)]
pub enum Refusal {
    /// A word is close to the name of a subcommand, or a usage error has other reasons.
    Usage,
    /// Nothing is known of the input.
    Unknown(String),
    /// The input is an address.
    Address(String),
    /// Two subcommands can handle the input: their command lines.
    Ambiguous(String, [String; 2]),
}

/// Completes a command line whose first word `thing` is no subcommand, and parses it.
///
/// # Errors
///
/// If nothing is known of the inputs, or the completed command line is not valid.
pub(super) fn complete(
    command: &mut clap::Command,
    arguments: &[OsString],
    thing: &str,
) -> Result<Result<Cli, clap::Error>, Refusal> {
    let at = arguments.iter().skip(1).position(|argument| argument == thing);
    let at = at.ok_or(Refusal::Usage)? + 1;
    // Inputs end at the next option.
    let things: Vec<String> = arguments[at..]
        .iter()
        .map_while(|argument| argument.to_str())
        .take_while(|text| !is_option(text))
        .map(str::to_owned)
        .collect();
    let route = match detect(&things) {
        Found::One(route) => route,
        Found::Two(first, second) => choose(&things, first, second)?,
        Found::Address => return Err(Refusal::Address(things.join(" "))),
        Found::Nothing if is_misspelled(thing) => return Err(Refusal::Usage),
        Found::Nothing => return Err(Refusal::Unknown(things.join(" "))),
    };
    let rest = &arguments[at + things.len()..];
    let words = route.words();
    // Options stand before the inputs, since `--` ends them.
    let own = route.command.len();
    let mut completed: Vec<OsString> = arguments[..at].to_vec();
    completed.extend(words[..own].iter().map(OsString::from));
    completed.extend(rest.iter().cloned());
    completed.extend(words[own..].iter().map(OsString::from));
    let detected = Detected { kind: route.kind, command: route.shown() };
    Ok(Cli::read(command, completed).map(|cli| Cli { detected: Some(detected), ..cli }))
}

/// Completes a command line without any input: the machine is examined.
pub(super) fn complete_empty(
    command: &mut clap::Command,
    arguments: &[OsString],
) -> Result<Cli, clap::Error> {
    let mut completed = arguments.to_vec();
    completed.push("check".into());
    let detected = Detected { kind: InputType::Machine, command: "ascend-doctor check".to_owned() };
    Cli::read(command, completed).map(|cli| Cli { detected: Some(detected), ..cli })
}

/// Whether a word is an option rather than `-` or a negative number, which is an error code.
fn is_option(word: &str) -> bool {
    let rest = word.strip_prefix('-').unwrap_or_default();
    !rest.is_empty() && !rest.bytes().all(|byte| byte.is_ascii_digit())
}

/// The first argument that is a negative number, which clap takes for an option.
pub(super) fn negative_number(arguments: &[OsString]) -> Option<&str> {
    let mut texts = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    texts.find(|text| text.starts_with('-') && text.len() > 2 && !is_option(text))
}

fn is_misspelled(word: &str) -> bool {
    let names = crate::cli::command();
    let names = names.get_subcommands().filter(|sub| !sub.is_hide_set());
    !nearest(word, names.map(|sub| sub.get_name().to_owned()), 1).is_empty()
}

/// Finds out what inputs are: each by itself, else all of them as the words of one.
fn detect(things: &[String]) -> Found {
    let found: Vec<Found> = things.iter().map(|thing| detect_one(thing)).collect();
    let mut joined: Option<Route> = None;
    for one in &found {
        match (one, &mut joined) {
            (Found::One(route), None) => joined = Some(route.clone()),
            (Found::One(route), Some(all)) if route.command == all.command => {
                all.inputs.extend(route.inputs.iter().cloned());
            }
            _ => {
                joined = None;
                break;
            }
        }
    }
    match joined {
        // `torch 2.9` is one release, though each word is a name.
        Some(route) if things.len() == 1 || !matches!(route.kind, InputType::Fact) => {
            Found::One(route)
        }
        _ if things.len() == 1 => found.into_iter().next().unwrap_or(Found::Nothing),
        other => match detect_one(&things.join(" ")) {
            Found::Nothing => other.map_or(Found::Nothing, Found::One),
            whole => whole,
        },
    }
}

fn detect_one(thing: &str) -> Found {
    if thing == "-" {
        return Found::One(Route::new(InputType::Log, &["translate-error"], "-"));
    }
    place::detect(thing).unwrap_or_else(|| words::detect(thing))
}

/// The command line for a text that names no file.
pub(super) fn words_of_text(text: &str) -> Option<Vec<String>> {
    match words::detect(text) {
        // A word that ends like a log would be read as one.
        Found::One(route) if route.kind != InputType::Log => Some(route.words()),
        _ => None,
    }
}

/// Asks which of two commands is meant, if somebody can answer.
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
