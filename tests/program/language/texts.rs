//! The tests over all runs, which are executed once for each language.

use std::sync::LazyLock;

use super::english::sentences;
use super::runs::{Run, USAGE_ERRORS, all, subcommands};
use super::width::too_wide;

static ENGLISH: LazyLock<Vec<Run>> = LazyLock::new(|| all("en"));
static CHINESE: LazyLock<Vec<Run>> = LazyLock::new(|| all("zh"));

/// Fails with the lines that `find` returns, by command line.
fn refuse(runs: &[Run], find: fn(&str) -> Vec<String>) {
    let found: Vec<String> = runs
        .iter()
        .flat_map(|run| find(&run.text).into_iter().map(|line| format!("{}: {line}", run.name)))
        .collect();
    assert!(found.is_empty(), "{} lines:\n{}", found.len(), found.join("\n"));
}

#[test]
fn chinese_texts_have_no_english_sentences() {
    assert!(CHINESE.len() > 400, "{} runs", CHINESE.len());
    refuse(&CHINESE, sentences);
}

#[test]
fn chinese_texts_fit_in_80_columns() {
    refuse(&CHINESE, too_wide);
}

#[test]
fn english_texts_fit_in_80_columns() {
    refuse(&ENGLISH, too_wide);
}

/// The language option is accepted before and after the subcommand, in each of them.
#[test]
fn help_and_usage_errors_are_chinese_by_option() {
    for name in subcommands() {
        let name = name.as_str();
        for line in [
            format!("{name} --lang zh -h"),
            format!("{name} --help --lang=zh"),
            format!("--lang zh {name} --help"),
            format!("{name} --no-such-option --lang zh"),
        ] {
            let text = super::runs::plain(&line);
            let chinese = text.contains("用法：") && !text.contains("Usage");
            assert!(chinese, "{line}: {text}");
            assert_eq!(sentences(&text), Vec::<String>::new(), "{line}");
        }
    }
    for line in USAGE_ERRORS {
        let text = super::runs::plain(&format!("{line} --lang zh"));
        assert!(text.contains("错误：") || line.ends_with("fr"), "{line}: {text}");
    }
}
