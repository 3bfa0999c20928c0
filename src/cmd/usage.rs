//! Reading the command line; what is said where it names nothing to do, or something that does not
//! exist; and the version.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the arguments, writes to the terminal, and asks for the locale"
)]

use std::io::Write as _;
use std::path::Path;

use clap::builder::Resettable;
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{CommandFactory as _, FromArgMatches as _};
use unicode_width::UnicodeWidthStr as _;

use super::output::{print, say_aside};
use crate::cli::Cli;
use crate::explain;
use audit::ops::Tables;
use base::report::ExitStatus;
use base::text::{Lang, shell_quote};
use data::{KnownWheels, Matrix};
use data::{sentence, word};
use errcodes;

/// What the subcommands answer, in the order in which one needs them: a command, and the key of its
/// question in `data/ui.toml`.
const QUESTIONS: [(&str, &str); 9] = [
    ("check", "guide_check"),
    ("verify", "guide_verify"),
    ("translate-error train.log", "guide_translate_error"),
    ("audit-ops model.pt2", "guide_audit_ops"),
    ("convert -r DIR --diff", "guide_convert"),
    ("compat", "guide_compat"),
    ("explain CANN-HOME 507035", "guide_explain"),
    ("report check.json -o page.html", "guide_report"),
    ("bundle", "guide_bundle"),
];

/// Reads the command line. A variable that is set and empty says nothing, as one that is not set:
/// so a job that passes on what its caller may have set need not ask whether there is something.
///
/// # Errors
///
/// What clap says, also where help or the version was asked for.
pub fn parse() -> Result<Cli, clap::Error> {
    let mut command = without_empty_variables(Cli::command());
    let mut matches = command.try_get_matches_from_mut(std::env::args_os())?;
    Cli::from_arg_matches_mut(&mut matches).map_err(|error| error.format(&mut command))
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

/// Without a subcommand: what to do next. Nothing was examined, so that this is no success: a
/// script in which the subcommand got lost must not read "all is well".
pub(super) fn guide(lang: Lang) -> ExitStatus {
    let widest = QUESTIONS.iter().map(|(command, _)| command.width()).max().unwrap_or(0);
    let mut lines = vec![word("guide_head", lang), String::new()];
    for (command, key) in QUESTIONS {
        let pad = " ".repeat(widest - command.width());
        lines.push(format!("  ascend-doctor {command}{pad}  {}", word(key, lang)));
    }
    lines.extend([String::new(), word("guide_tail", lang)]);
    for line in lines {
        say_aside(&line);
    }
    ExitStatus::Failure
}

/// The language of what is said beside reports: as asked for, else as the variables say.
pub(super) fn language(asked: Option<Lang>) -> Lang {
    let variable = |name: &str| std::env::var(name).ok();
    asked.unwrap_or_else(|| match variable("ASCEND_DOCTOR_LANG").as_deref() {
        Some("zh") => Lang::Zh,
        Some("en") => Lang::En,
        _ => Lang::from_locale(variable),
    })
}

/// Answers a command line that clap refuses, or that asks for help or the version.
pub fn usage(error: &clap::Error) -> anyhow::Result<ExitStatus> {
    match error.kind() {
        ErrorKind::DisplayVersion => {
            let text = version();
            print(|_, out| out.write_all(text.as_bytes()))?;
            return Ok(ExitStatus::Clean);
        }
        ErrorKind::InvalidSubcommand => {
            error.print()?;
            if let Some(ContextValue::String(wrong)) = error.get(ContextKind::InvalidSubcommand)
                && let Some(command) = meant(wrong)
            {
                let lang = language(None);
                let _ = writeln!(anstream::stderr(), "\n{}", word("guide_meant", lang));
                say_aside(&format!("  ascend-doctor {command}"));
            }
        }
        ErrorKind::InvalidUtf8 => say_aside(&not_utf8(std::env::args_os())),
        _ => error.print()?,
    }
    Ok(if error.exit_code() == 0 { ExitStatus::Clean } else { ExitStatus::Failure })
}

/// Which argument cannot be read, since clap does not say it.
fn not_utf8(mut arguments: impl Iterator<Item = std::ffi::OsString>) -> String {
    let wrong = arguments.find(|argument| argument.to_str().is_none()).unwrap_or_default();
    let shown = wrong.as_encoded_bytes().escape_ascii().to_string();
    let lang = language(None);
    let said = sentence("argument_not_utf8", &[("argument", shown)]);
    let colon = if lang == Lang::Zh { "：" } else { ": " };
    format!("{}{colon}{}", word("error", lang), said.get(lang))
}

/// The command that takes what was given as one: a code, an id, a log, a model.
fn meant(wrong: &str) -> Option<String> {
    let quoted = shell_quote(wrong);
    if errcodes::answer(wrong).is_known() {
        return Some(format!("translate-error {quoted}"));
    }
    if explain::find(wrong).is_ok() {
        return Some(format!("explain {quoted}"));
    }
    let path = Path::new(wrong);
    if !path.exists() {
        return None;
    }
    let ending = path.extension().and_then(|ending| ending.to_str()).unwrap_or_default();
    Some(match ending {
        "pt" | "pt2" | "onnx" | "safetensors" | "py" => format!("audit-ops {quoted}"),
        "whl" => format!("manifest wheel-check {quoted}"),
        _ => format!("translate-error {quoted}"),
    })
}

/// The version of the program, and the dates of what it knows.
fn version() -> String {
    use std::env::consts::{ARCH, OS};
    let libc = if cfg!(target_env = "musl") { "musl" } else { "glibc" };
    let columns = &Tables::get().columns;
    let operators = columns.iter().filter_map(|column| column.date).max().unwrap_or_default();
    let families = errcodes::families();
    let codes: usize = families.iter().map(|family| errcodes::rows(family).len()).sum();
    format!(
        "ascend-doctor {}\n\
         target                {ARCH}-{OS} ({libc})\n\
         compatibility matrix  {}\n\
         published wheels      {}\n\
         operator tables       {operators} ({} releases and wheels of torch_npu)\n\
         error tables          {} ({codes} codes in {} families)\n",
        env!("CARGO_PKG_VERSION"),
        Matrix::builtin().as_of,
        KnownWheels::builtin().as_of,
        columns.len(),
        errcodes::last_change(),
        families.len(),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_dates_every_kind_of_data() {
        let text = version();
        let first = format!("ascend-doctor {}", env!("CARGO_PKG_VERSION"));
        assert_eq!(text.lines().next(), Some(first.as_str()));
        let dates = regex::Regex::new(r"(?m)^[a-z ]+  (20\d\d-\d\d-\d\d)( |$)").unwrap();
        assert_eq!(dates.captures_iter(&text).count(), 4, "{text}");
    }

    #[test]
    fn an_argument_that_is_no_text_is_named() {
        use std::os::unix::ffi::OsStringExt as _;
        let given = ["explain".into(), std::ffi::OsString::from_vec(b"caf\xe9".to_vec())];
        let said = not_utf8(given.into_iter());
        assert!(said.contains("`caf\\xe9`"), "{said}");
    }

    #[test]
    fn what_is_no_subcommand_may_be_the_argument_of_one() {
        assert_eq!(meant("507035").as_deref(), Some("translate-error 507035"));
        assert_eq!(meant("CANN-HOME").as_deref(), Some("explain CANN-HOME"));
        assert_eq!(meant("nothing of the kind"), None);
    }
}
