//! `ascend-doctor THING…`: detects the kind of an input and runs the subcommand for it.
//!
//! A command line without a subcommand is completed and parsed again, so that each input has the
//! options, the answer and the exit status of its subcommand.

mod place;

use std::ffi::OsString;

use super::standard_streams::{ask_user, can_ask};
use crate::cli::Cli;
use base::text::nearest;
use data::ui;
pub use explain::input::{Detected, InputType};
use explain::input::{Found, Route, detect_text, join};

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
    let detected = Detected::new(&route);
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
    let detected = Detected::machine("ascend-doctor check");
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

fn detect_one(thing: &str) -> Found {
    if thing == "-" {
        return Found::One(Route::new(InputType::Log, &["translate-error"], "-"));
    }
    place::detect(thing).unwrap_or_else(|| detect_text(thing))
}

/// The command line for a text that does not name a file.
pub(super) fn words_of_text(text: &str) -> Option<Vec<String>> {
    match detect_text(text) {
        // A word that ends like a log would be read as one.
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
