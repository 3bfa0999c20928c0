//! The command line in full: the shared options of every subcommand, and its help in a language.

use clap::{Arg, Args as _, Command, CommandFactory as _};

use super::examples::examples;
use super::output::LANG;
use super::{Cli, OutputArgs, screen};
use base::text::Lang;
use data::{help, ui};

/// The heading of the shared options.
pub(super) const SHARED: &str = "Shared options";
/// Subcommands that write no report, and have no options for one.
const WITHOUT_REPORT: [&str; 4] = ["completions", "install", "man", "verify-child"];

/// How much a help screen shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// `-h`: one screen.
    Short,
    /// `--help`: everything.
    Long,
}

/// Returns the command line with all options, without the parts that only help screens need.
pub fn command() -> Command {
    let plan = ["torch", "torch_npu", "cann", "vllm_ascend"];
    // `mut_subcommand` would put `check` behind the others.
    let whole = Cli::command().mut_subcommands(|sub| match sub.get_name() {
        "check" => sub.mut_args(|arg| match arg.get_id().as_str() {
            id if plan.contains(&id) => arg.requires("list_compat").hide_short_help(true),
            _ => arg,
        }),
        _ => sub,
    });
    whole.mut_arg(LANG, |arg| arg.global(true)).mut_subcommands(share)
}

/// Adds the shared options to a subcommand, or to its subcommands.
fn share(command: Command) -> Command {
    if command.has_subcommands() {
        command.mut_subcommands(share)
    } else if WITHOUT_REPORT.contains(&command.get_name()) {
        command
    } else {
        // Adding the options of a type replaces the description by that of the type.
        let about = command.get_about().cloned().unwrap_or_default();
        OutputArgs::augment_args(command).about(about).long_about(None)
    }
}

/// Adds the help screens of all subcommands.
pub fn with_help(command: Command, detail: Detail, lang: Lang) -> Command {
    let command = described(command, lang);
    visit(command, &mut Vec::new(), &|mut command, name| {
        let text = screen::render(&mut command, name, detail, lang);
        command.override_help(text)
    })
}

/// Returns the command line with its help in a language: examples first, shared options last.
pub fn described(mut command: Command, lang: Lang) -> Command {
    command.build();
    visit(command, &mut Vec::new(), &|command, name| describe(command, name, lang))
}

/// Changes a command and its subcommands; the second argument is the name below the program.
fn visit(
    command: Command,
    path: &mut Vec<String>,
    change: &dyn Fn(Command, &str) -> Command,
) -> Command {
    let command = command.mut_subcommands(|sub| {
        path.push(sub.get_name().to_owned());
        let sub = visit(sub, path, change);
        path.pop();
        sub
    });
    change(command, &path.join(" "))
}

fn describe(command: Command, name: &str, lang: Lang) -> Command {
    let shares = command.get_arguments().any(|arg| arg.get_help_heading() == Some(SHARED));
    let mut command = command.mut_args(|arg| {
        let help = match arg.get_id().as_str() {
            "help" => "Print a summary (-h) or all options (--help)",
            "version" => "Print the version and the dates of the tables",
            _ => return translate(arg, lang),
        };
        let arg = arg.help(help).long_help(help);
        translate(if shares { arg.help_heading(SHARED) } else { arg }, lang)
    });
    if name.rsplit(' ').next() == Some("help") {
        command = command.about("Print the help of a subcommand");
    }
    let text = |text: &dyn ToString| help::translate(&text.to_string(), lang);
    if let Some(about) = command.get_about().map(|about| text(about)) {
        command = command.about(about);
    }
    if let Some(after) = command.get_after_help().map(|after| text(after)) {
        command = command.after_help(after);
    }
    if let Some(after) = command.get_after_long_help().map(|after| text(after)) {
        command = command.after_long_help(after);
    }
    let examples = examples(name);
    if !examples.is_empty() {
        command = command.before_help(screen::list_examples(examples, lang));
    }
    command
}

fn translate(arg: Arg, lang: Lang) -> Arg {
    let text = |text: &dyn ToString| help::translate(&text.to_string(), lang);
    let short = arg.get_help().map(|help| text(help));
    let long = arg.get_long_help().map(|help| text(help));
    let arg = if let Some(help) = short { arg.help(help) } else { arg };
    if let Some(help) = long { arg.long_help(help) } else { arg }
}

/// All paragraphs of the help that are translated.
pub fn paragraphs() -> Vec<String> {
    let mut command = command();
    command.build();
    let mut found = Vec::new();
    collect(&described(command, Lang::En), &mut found);
    found.sort();
    found.dedup();
    found
}

fn collect(command: &Command, found: &mut Vec<String>) {
    let mut add = |text: Option<String>| {
        let text = text.unwrap_or_default();
        found.extend(text.split("\n\n").map(|part| part.trim().to_owned()));
    };
    add(command.get_about().map(ToString::to_string));
    add(command.get_after_help().map(ToString::to_string));
    add(command.get_after_long_help().map(ToString::to_string));
    for arg in command.get_arguments().filter(|arg| !arg.is_hide_set()) {
        add(arg.get_help().map(ToString::to_string));
        add(arg.get_long_help().map(ToString::to_string));
        add(arg.get_help_heading().map(str::to_owned));
        for value in arg.get_possible_values().iter().filter(|_| arg.get_action().takes_values()) {
            add(value.get_help().map(ToString::to_string));
        }
    }
    found.retain(|text| !text.is_empty());
    for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        if sub.get_name() == "help" && sub.has_subcommands() {
            // What is below repeats all subcommands.
            found.extend(sub.get_about().map(ToString::to_string));
        } else {
            collect(sub, found);
        }
    }
}

/// Returns a usage line in a language: what `clap` writes, without its first word.
pub fn usage(text: &str, lang: Lang) -> String {
    let text = text.strip_prefix("Usage:").unwrap_or(text).trim();
    let words = [
        ("[OPTIONS]", ui::HELP_OPTIONS_PLACE),
        ("<COMMAND>", ui::HELP_COMMAND_PLACE),
        ("[COMMAND]", ui::HELP_COMMAND_PLACE_OPTIONAL),
    ];
    let localized =
        words.iter().fold(text.to_owned(), |text, (en, own)| text.replace(en, &own.get(lang)));
    format!("{}{localized}", ui::HELP_USAGE.get(lang))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// A changed or added English text has no Chinese until somebody writes it.
    #[test]
    fn every_paragraph_of_the_help_has_chinese() {
        let needed: BTreeSet<String> = paragraphs().into_iter().collect();
        assert!(needed.len() > 200, "{}", needed.len());
        let known: BTreeSet<String> = help::translated().map(str::to_owned).collect();
        let missing: Vec<&String> = needed.difference(&known).collect();
        let unused: Vec<&String> = known.difference(&needed).collect();
        assert!(
            missing.is_empty() && unused.is_empty(),
            "data/help.toml lacks {missing:#?}, and nothing uses {unused:#?}"
        );
    }
}
