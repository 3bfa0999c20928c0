//! Usage errors in Chinese. In English, clap words them itself.

use std::error::Error as _;

use clap::error::{ContextKind, ContextValue, ErrorKind};

use data::fault::quote;
use data::{Fault, faults};

/// The lines of a usage error.
pub(super) fn describe(error: &clap::Error) -> Vec<String> {
    let mut lines = vec![format!("错误：{}", sentence(error).text().zh)];
    let near = [ContextKind::SuggestedArg, ContextKind::SuggestedSubcommand];
    let near = near.into_iter().chain([ContextKind::SuggestedValue]);
    lines.extend(near.filter_map(|kind| {
        let near = list(error, kind).into_iter().next()?;
        Some(faults::DidYouMean { near }.fault().text().zh)
    }));
    let valid = list(error, ContextKind::ValidValue);
    if !valid.is_empty() {
        lines.push(faults::UsageValidValues { list: valid.join("、") }.fault().text().zh);
    }
    if let Some(ContextValue::StyledStr(usage)) = error.get(ContextKind::Usage) {
        lines.extend([String::new(), usage.to_string().replacen("Usage: ", "用法：", 1)]);
    }
    lines.extend([String::new(), faults::UsageHelp.fault().text().zh]);
    lines
}

fn sentence(error: &clap::Error) -> Fault {
    let argument = list(error, ContextKind::InvalidArg);
    let text = list(error, ContextKind::InvalidValue).concat();
    let name = list(error, ContextKind::InvalidSubcommand).concat();
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
                // The words of a parser of values are a quotation.
                Some(source) => {
                    fault.because(faults::Plain { why: quote(&source.to_string()) }.fault())
                }
                None => fault,
            }
        }
        ErrorKind::ArgumentConflict => {
            let (argument, other) = (argument.concat(), list(error, ContextKind::PriorArg));
            if other.is_empty() || other == [argument.clone()] {
                return faults::UsageRepeated { argument }.fault();
            }
            faults::UsageConflict { argument, other: other.join("`、`") }.fault()
        }
        ErrorKind::MissingRequiredArgument => {
            faults::UsageMissingArgument { list: argument.join("、") }.fault()
        }
        ErrorKind::MissingSubcommand => {
            let list = list(error, ContextKind::ValidSubcommand).join("、");
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

    fn lines(arguments: &[&str]) -> String {
        let all = ["ascend-doctor"].iter().chain(arguments);
        let error = command().try_get_matches_from(all).unwrap_err();
        describe(&error).join("\n")
    }

    #[test]
    fn each_kind_of_usage_error_has_chinese() {
        for (arguments, expected) in [
            (&["check", "--jsn"][..], "错误：未知参数 `--jsn`\n您是否要找 `--json`？"),
            (&["check", "--lang"], "缺少值"),
            (&["check", "--lang", "fr"], "的值 `fr` 无效\n可选值：en、zh"),
            (&["check", "--timeout", "0"], "的值 `0` 无效"),
            (&["check", "--json", "--format", "text"], "不能与 `"),
            (&["check", "--timeout", "1", "--timeout", "2"], "只能使用一次"),
            (&["convert"], "缺少必需的参数："),
            (&["chekc"], "未知子命令 `chekc`\n您是否要找 `check`？"),
        ] {
            let found = lines(arguments);
            assert!(found.contains(expected), "{arguments:?}: {found}");
            assert!(
                found.ends_with("使用 `--help` 查看帮助。") && !found.contains("Usage"),
                "{found}"
            );
        }
    }
}
