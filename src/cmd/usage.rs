//! Parses the command line, answers usage errors, and prints the guide and the version.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the arguments, writes to the terminal, and asks for the locale"
)]

use std::ffi::OsString;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use unicode_width::UnicodeWidthStr as _;

use super::front::{self, Refusal};
use super::standard_streams::{print, print_to_stderr};
use super::{data_pack, format_error, settings, usage_error};
use crate::cli::{Cli, Detail, OutputArgs, with_help};
use audit::ops::Tables;
use base::report::{DataOrigin, ExitStatus};
use base::text::{Lang, Text};
use data::{KnownWheels, Matrix, ui};

/// Example inputs for a refusal, with the keys of their kinds in `data/ui.toml`.
const EXAMPLES: [(&str, ui::Label); 3] = [
    ("507035", ui::INPUT_CODE),
    ("train.log", ui::INPUT_LOG),
    ("'torch_npu 2.7.1'", ui::SHEET_RELEASE),
];

/// The reason why a command line was not run.
#[derive(Debug)]
pub enum Rejection {
    /// It is not valid, or requests help or the version.
    Usage(clap::Error),
    /// It names no subcommand, and its input selects none.
    Input(Refusal),
    /// The tables that identify inputs are unusable.
    Tables(anyhow::Error),
}

/// Parses the command line. An empty environment variable counts as unset, so that jobs can pass
/// on optional variables without a test.
///
/// A command line without a subcommand is completed: see `cmd::front`.
///
/// # Errors
///
/// The reason why there is nothing to run, which may be a request for help or the version.
pub fn parse() -> Result<Cli, Rejection> {
    let mut command = without_empty_variables(crate::cli::command());
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let error = match Cli::read(&mut command, &arguments) {
        Ok(cli) if cli.command.is_some() => return Ok(cli),
        Ok(_) => {
            return front::complete_empty(&mut command, &arguments).map_err(Rejection::Usage);
        }
        Err(error) => error,
    };
    if let Some(thing) = unnamed_input(&error, &arguments) {
        load_data_pack().map_err(Rejection::Tables)?;
        return match front::complete(&mut command, &arguments, &thing) {
            Ok(front::Completed { cli, arguments }) => {
                cli.map_err(|error| with_help_screen(error, &arguments))
            }
            Err(Refusal::Usage) => Err(Rejection::Usage(error)),
            Err(refusal) => Err(Rejection::Input(refusal)),
        };
    }
    Err(with_help_screen(error, &arguments))
}

/// The first word of a command line that names no subcommand.
fn unnamed_input(error: &clap::Error, arguments: &[OsString]) -> Option<String> {
    match error.kind() {
        ErrorKind::InvalidSubcommand => match error.get(ContextKind::InvalidSubcommand) {
            Some(ContextValue::String(wrong)) => Some(wrong.clone()),
            _ => None,
        },
        ErrorKind::UnknownArgument => {
            let number = front::negative_number(arguments)?;
            let named = crate::cli::command();
            let is_sub = |text: &OsString| named.find_subcommand(text).is_some();
            (!arguments.iter().skip(1).any(is_sub)).then(|| number.to_owned())
        }
        _ => None,
    }
}

/// Returns the error, with a help screen if the error is a request for help.
fn with_help_screen(error: clap::Error, arguments: &[OsString]) -> Rejection {
    Rejection::Usage(match error.kind() {
        ErrorKind::DisplayHelp => show_help(error, arguments, asked_detail(arguments)),
        ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand => {
            show_help(error, arguments, Detail::Short)
        }
        _ => error,
    })
}

/// Parses again with the help screens, which are not built for other runs.
fn show_help(error: clap::Error, arguments: &[OsString], detail: Detail) -> clap::Error {
    let command = without_empty_variables(crate::cli::command());
    let lang = user_language();
    Cli::read(&mut with_help(command, detail, lang), arguments).err().unwrap_or(error)
}

/// Returns the help screen that the arguments request.
fn asked_detail(arguments: &[OsString]) -> Detail {
    let is_short = |argument: &str| {
        argument.starts_with('-') && !argument.starts_with("--") && argument.contains('h')
    };
    let mut texts = arguments.iter().skip(1).filter_map(|argument| argument.to_str());
    let asked = texts.find_map(|text| match text {
        "--help" | "help" => Some(Detail::Long),
        text if is_short(text) => Some(Detail::Short),
        _ => None,
    });
    asked.unwrap_or(Detail::Long)
}

fn without_empty_variables(command: clap::Command) -> clap::Command {
    let set = |arg: clap::Arg| {
        let empty = arg
            .get_env()
            .is_some_and(|name| std::env::var_os(name).is_some_and(|value| value.is_empty()));
        if empty { arg.env(Resettable::Reset) } else { arg }
    };
    command.mut_args(set).mut_subcommands(without_empty_variables)
}

/// The language of a command line before parsing.
pub(super) fn user_language() -> Lang {
    choose_language(requested_language())
}

/// Prints the reason why an input without a subcommand is rejected. An unknown input is
/// inconclusive, as in the subcommands; two candidates are a usage error.
fn refuse(refusal: &Refusal) -> ExitStatus {
    let lang = user_language();
    let lead = |text: &Text| {
        let colon = if lang == Lang::Zh { "：" } else { ": " };
        print_to_stderr(&format!("{}{colon}{}", ui::ERROR.get(lang), text.get(lang)));
    };
    match refusal {
        Refusal::Ambiguous(input, commands) => {
            lead(&ui::InputHasTwo { input }.text());
            for command in commands {
                print_to_stderr(&format!("  {command}"));
            }
            return ExitStatus::Failure;
        }
        Refusal::Mixed(commands) => {
            lead(&ui::INPUT_MIXED.text());
            for command in commands {
                print_to_stderr(&format!("  {command}"));
            }
            return ExitStatus::Failure;
        }
        Refusal::Address(input) => lead(&ui::InputAddress { input }.text()),
        Refusal::Unknown(input) => {
            lead(&ui::InputUnknown { input }.text());
            let near = errcodes::similar(input, 2);
            // Short words resemble too many others.
            if !near.is_empty() && !input.contains(' ') && input.len() > 3 {
                let shown = near.iter().map(|near| format!("  ascend-doctor {near}"));
                print_to_stderr(&ui::GUIDE_MEANT.get(lang));
                shown.for_each(|line| print_to_stderr(&line));
            }
            print_to_stderr(&ui::INPUT_EXAMPLES.get(lang));
            let widest = EXAMPLES.iter().map(|(input, _)| input.len()).max().unwrap_or(0);
            for (input, what) in EXAMPLES {
                let pad = " ".repeat(widest - input.len());
                print_to_stderr(&format!("  ascend-doctor {input}{pad}  {}", what.get(lang)));
            }
        }
        Refusal::Usage => return ExitStatus::Failure,
    }
    ExitStatus::Inconclusive
}

/// Returns the language of messages outside reports: the requested one, else that of the
/// environment.
pub(super) fn choose_language(asked: Option<Lang>) -> Lang {
    let variable = |name: &str| std::env::var(name).ok();
    asked.unwrap_or_else(|| match variable("ASCEND_DOCTOR_LANG").as_deref() {
        Some("zh") => Lang::Zh,
        Some("en") => Lang::En,
        _ => Lang::from_locale(variable),
    })
}

/// Handles a command line that is not run: usage errors, `--help`, `--version` and unknown inputs.
pub fn answer_rejection(rejection: Rejection) -> anyhow::Result<ExitStatus> {
    let error = match rejection {
        Rejection::Usage(error) => error,
        Rejection::Input(refusal) => return Ok(refuse(&refusal)),
        Rejection::Tables(error) => return Err(error),
    };
    match error.kind() {
        ErrorKind::DisplayVersion => {
            load_data_pack()?;
            let text = describe_version(user_language());
            print(|_, out| out.write_all(text.as_bytes()))?;
            return Ok(ExitStatus::Clean);
        }
        ErrorKind::InvalidUtf8 => print_to_stderr(&describe_non_utf8(std::env::args_os())),
        _ => print_usage_error(&error)?,
    }
    Ok(if error.exit_code() == 0 { ExitStatus::Clean } else { ExitStatus::Failure })
}

/// Prints the error in the language of the user. Help comes as an error, too.
fn print_usage_error(error: &clap::Error) -> std::io::Result<()> {
    if error.exit_code() == 0 || error.kind() == ErrorKind::DisplayHelpOnMissingArgumentOrSubcommand
    {
        return error.print();
    }
    let arguments: Vec<OsString> = std::env::args_os().collect();
    for line in usage_error::describe(error, &arguments, user_language()) {
        print_to_stderr(&line);
    }
    Ok(())
}

/// Returns the value of `--lang` on a command line that clap rejects.
fn requested_language() -> Option<Lang> {
    let mut arguments = std::env::args_os().map(|argument| argument.to_string_lossy().into_owned());
    let value = arguments.find_map(|argument| match argument.strip_prefix("--lang") {
        Some("") => Some(None),
        Some(rest) => rest.strip_prefix('=').map(|value| Some(value.to_owned())),
        None => None,
    })?;
    match value.or_else(|| arguments.next())?.as_str() {
        "zh" => Some(Lang::Zh),
        "en" => Some(Lang::En),
        _ => None,
    }
}

/// Names the argument that is not UTF-8, because clap does not.
fn describe_non_utf8(mut arguments: impl Iterator<Item = OsString>) -> String {
    let wrong = arguments.find(|argument| argument.to_str().is_none()).unwrap_or_default();
    let shown = wrong.as_encoded_bytes().escape_ascii().to_string();
    let lang = user_language();
    let said = ui::ArgumentNotUtf8 { argument: shown }.text();
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    format!("{}{colon}{}", ui::ERROR.get(lang), said.get(lang))
}

/// Installs the data pack that a command line without a subcommand, the environment or the settings
/// name: `--version` prints the data in use. Other arguments may be incomplete.
fn load_data_pack() -> anyhow::Result<()> {
    let flag = |name: &'static str, short| {
        let flag = clap::Arg::new(name).long(name).short(short).global(true);
        flag.action(clap::ArgAction::SetTrue)
    };
    let mut command = without_empty_variables(crate::cli::command())
        .disable_version_flag(true)
        .disable_help_flag(true)
        .propagate_version(false)
        .args([flag("version", 'V'), flag("help", 'h')])
        .ignore_errors(true);
    let matches = command.try_get_matches_from_mut(std::env::args_os())?;
    let output = OutputArgs::of_matches(&matches)?;
    let mut cli = Cli { command: None, output, detected: None };
    let by_option = cli.output.data_pack.is_some();
    let loaded = match settings::read(&cli) {
        Ok(located) => data_pack::load(&mut cli.output, located.found()),
        Err(error) => {
            // Users request the version to analyze a problem, which may be the broken settings file
            // itself. Such a file names no pack.
            print_to_stderr(&format_error(&error, cli.output.lang));
            data_pack::load(&mut cli.output, None)
        }
    };
    match loaded {
        Err(error) if !by_option => {
            print_to_stderr(&format_error(&error, cli.output.lang));
            Ok(())
        }
        done => done,
    }
}

/// Returns the version of the program and the dates of its tables.
fn describe_version(lang: Lang) -> String {
    use std::env::consts::{ARCH, OS};
    let libc = if cfg!(target_env = "musl") { "musl" } else { "glibc" };
    let columns = &Tables::get().columns;
    let operators = columns.iter().filter_map(|column| column.date).max().unwrap_or_default();
    let families = errcodes::families();
    let data = data_pack::in_use();
    let origin = match (data.origin, &data.signed_by) {
        (DataOrigin::Builtin, _) => ui::VERSION_BUILTIN.text(),
        (DataOrigin::Pack, Some(key)) => ui::VersionPackSigned { key }.text(),
        (DataOrigin::Pack, None) => ui::VERSION_PACK_UNSIGNED.text(),
    };
    let origin = match data.age_days {
        Some(n) => ui::VersionAge { n, origin }.text(),
        None => origin,
    };
    let codes: usize = families.iter().map(|family| errcodes::rows(family).len()).sum();
    let releases = ui::VersionReleases { n: columns.len() }.text();
    let known = ui::VersionCodes { codes, families: families.len() }.text();
    let noted = |date: &str, note: &Text| format!("{date} ({})", note.get(lang));
    let rows = [
        (ui::VERSION_TARGET, format!("{ARCH}-{OS} ({libc})")),
        (ui::VERSION_DATA, noted(&data.as_of, &origin)),
        (ui::VERSION_MATRIX, Matrix::builtin().as_of.clone()),
        (ui::VERSION_WHEELS, KnownWheels::builtin().as_of.to_owned()),
        (ui::VERSION_OPERATORS, noted(operators, &releases)),
        (ui::VERSION_ERRORS, noted(&errcodes::last_change(), &known)),
    ];
    let rows = rows.map(|(label, value)| (label.get(lang), value));
    let widest = rows.iter().map(|(label, _)| label.width()).max().unwrap_or(0);
    let mut text = format!("ascend-doctor {}\n", env!("CARGO_PKG_VERSION"));
    for (label, value) in rows {
        let pad = " ".repeat(widest - label.width());
        text.push_str(&format!("{label}{pad}  {value}\n"));
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn version_dates_every_kind_of_data() {
        let text = describe_version(Lang::En);
        let first = format!("ascend-doctor {}", env!("CARGO_PKG_VERSION"));
        assert_eq!(text.lines().next(), Some(first.as_str()));
        let dates = regex::Regex::new(r"(?m)^[a-z ]+  (20\d\d-\d\d-\d\d)( |$)").unwrap();
        assert_eq!(dates.captures_iter(&text).count(), 5, "{text}");
    }

    #[test]
    fn non_utf8_argument_is_named() {
        use std::os::unix::ffi::OsStringExt as _;
        let given = ["explain".into(), OsString::from_vec(b"caf\xe9".to_vec())];
        let said = describe_non_utf8(given.into_iter());
        assert!(said.contains("`caf\\xe9`"), "{said}");
    }
}
