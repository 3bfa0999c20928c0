//! Usage errors in both languages. `clap` detects them; the sentences are from `data/faults.toml`.

use std::error::Error as _;
use std::ffi::OsString;

use clap::Command;
use clap::error::{ContextKind, ContextValue, ErrorKind};

use super::error_message::did_you_mean;
use crate::cli::usage;
use base::text::{Lang, Text};
use data::fault::{Value as _, describe as describe_source, quote};
use data::{Fault, faults, ui};

/// The paragraphs of a usage error: the error with hints, the usage of the subcommand, and the way
/// to help.
pub(super) fn describe(error: &clap::Error, arguments: &[OsString], lang: Lang) -> Vec<String> {
    let fault = sentence(error);
    let first = format!("{}{}{}", ui::ERROR.get(lang), colon(lang), fault.value().get(lang));
    let hints = hints(error).into_iter().map(|hint| format!("  {}", hint.text().get(lang)));
    let mut command = named_command(arguments);
    let line = usage(&command.render_usage().to_string(), lang);
    let command = command.get_bin_name().unwrap_or_else(|| command.get_name());
    let help = faults::UsageHelp { command }.fault();
    let end = [String::new(), line, String::new(), help.text().get(lang).to_owned()];
    std::iter::once(first).chain(hints).chain(end).collect()
}

/// The subcommand that the arguments name, as far as possible.
fn named_command(arguments: &[OsString]) -> Command {
    let mut command = crate::cli::command();
    command.build();
    for word in arguments.iter().skip(1) {
        if let Some(sub) = command.find_subcommand(word) {
            command = sub.clone();
        }
    }
    command
}

const fn colon(lang: Lang) -> &'static str {
    match lang {
        Lang::En => ": ",
        Lang::Zh => "：",
    }
}

fn hints(error: &clap::Error) -> Vec<Fault> {
    let near = |kind| list(error, kind);
    let (arg, sub) = (near(ContextKind::SuggestedArg), near(ContextKind::SuggestedSubcommand));
    let mut hints = Vec::new();
    if !arg.is_empty() && !sub.is_empty() {
        hints.push(did_you_mean(&[[sub, arg].concat().join(" ")]));
    } else {
        let all = [arg, sub, near(ContextKind::SuggestedValue)].concat();
        hints.extend((!all.is_empty()).then(|| did_you_mean(&all)));
    }
    if matches!(error.get(ContextKind::TrailingArg), Some(ContextValue::Bool(true))) {
        let argument = near(ContextKind::InvalidArg).concat();
        hints.push(faults::UsageAsValue { argument }.fault());
    }
    let valid = near(ContextKind::ValidValue);
    if !valid.is_empty() {
        hints.push(faults::UsageValidValues { list: joined(&valid) }.fault());
    }
    hints
}

fn joined(list: &[String]) -> Text {
    Text::new(list.join(", "), list.join("、"))
}

fn sentence(error: &clap::Error) -> Fault {
    let list = |kind| list(error, kind);
    let argument = list(ContextKind::InvalidArg);
    let text = list(ContextKind::InvalidValue).concat();
    let name = list(ContextKind::InvalidSubcommand).concat();
    match error.kind() {
        ErrorKind::UnknownArgument => {
            faults::UsageUnknownArgument { argument: argument.concat() }.fault()
        }
        ErrorKind::InvalidValue | ErrorKind::NoEquals if text.is_empty() => {
            faults::UsageMissingValue { argument: argument.concat() }.fault()
        }
        ErrorKind::InvalidValue => {
            faults::UsageInvalidValue { text, argument: argument.concat() }.fault()
        }
        ErrorKind::ValueValidation => {
            let fault = faults::UsageInvalidValue { text, argument: argument.concat() }.fault();
            match error.source() {
                Some(source) => {
                    fault.because(faults::Plain { why: describe_source(source) }.fault())
                }
                None => fault,
            }
        }
        ErrorKind::ArgumentConflict => {
            let (argument, other) = (argument.concat(), list(ContextKind::PriorArg));
            if other.is_empty() || other == [argument.clone()] {
                return faults::UsageRepeated { argument }.fault();
            }
            let other = Text::new(other.join("`, `"), other.join("`、`"));
            faults::UsageConflict { argument, other }.fault()
        }
        ErrorKind::MissingRequiredArgument => {
            faults::UsageMissingArgument { list: joined(&argument) }.fault()
        }
        ErrorKind::MissingSubcommand => {
            let list = joined(&list(ContextKind::ValidSubcommand));
            faults::UsageMissingSubcommand { list }.fault()
        }
        ErrorKind::InvalidSubcommand => faults::UsageUnknownSubcommand { name }.fault(),
        ErrorKind::TooManyValues | ErrorKind::TooFewValues | ErrorKind::WrongNumberOfValues => {
            faults::UsageWrongNumber { argument: argument.concat() }.fault()
        }
        _ => faults::UsageOther { what: quote(&error.kind().to_string()) }.fault(),
    }
}

/// The values of a part of the error.
fn list(error: &clap::Error, kind: ContextKind) -> Vec<String> {
    match error.get(kind) {
        Some(ContextValue::String(text)) => vec![text.clone()],
        Some(ContextValue::Strings(texts)) => texts.clone(),
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cli::command;

    fn lines(arguments: &[&str], lang: Lang) -> String {
        let all = ["ascend-doctor"].iter().chain(arguments);
        let all: Vec<OsString> = all.map(OsString::from).collect();
        let error = command().try_get_matches_from(&all).unwrap_err();
        describe(&error, &all, lang).join("\n")
    }

    #[test]
    fn each_kind_of_usage_error_has_both_languages() {
        for (arguments, english, chinese) in [
            (
                &["check", "--jsn"][..],
                "error: unknown argument `--jsn`\n  did you mean `--json`?",
                "错误：未知参数 `--jsn`\n  您是否要找 `--json`？",
            ),
            (&["check", "--lang"], "`--lang <LANG>` needs a value", "缺少值"),
            (
                &["check", "--lang", "fr"],
                "invalid value `fr` for `--lang <LANG>`\n  possible values: en, zh",
                "的值 `fr` 无效\n  可选值：en、zh",
            ),
            (&["check", "--timeout", "0"], "a whole number from 1 to", "无效：应为 1 到"),
            (&["verify", "--floor", "x"], "d2d with a speed", "无效：应为 h2d、"),
            (&["check", "--json", "--format", "text"], "cannot be used with `", "不能与 `"),
            (&["check", "--timeout", "1", "--timeout", "2"], "only once", "只能使用一次"),
            (&["convert"], "missing arguments: ", "缺少必需的参数："),
            (
                &["chekc"],
                "unknown subcommand `chekc`\n  did you mean `check`?",
                "未知子命令 `chekc`\n  您是否要找 `check`？",
            ),
        ] {
            for (lang, expected) in [(Lang::En, english), (Lang::Zh, chinese)] {
                let found = lines(arguments, lang);
                assert!(found.contains(expected), "{arguments:?}: {found}");
                assert!(found.contains(" --help`"), "{arguments:?}: {found}");
                assert_eq!(found.contains("Usage"), lang == Lang::En, "{arguments:?}: {found}");
            }
        }
    }

    #[test]
    fn help_is_that_of_the_subcommand() {
        for lang in [Lang::En, Lang::Zh] {
            let found = lines(&["fleet", "merge", "--jsn"], lang);
            assert!(found.contains("`ascend-doctor fleet merge --help`"), "{found}");
        }
    }
}
