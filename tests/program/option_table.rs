//! Option names have one meaning in all subcommands, and help screens are short and correct.
#![expect(clippy::unwrap_used, reason = "a test, and runs the program")]

use std::collections::{BTreeMap, BTreeSet};

use ascend_doctor::cli::{Cli, command};
use assert_cmd::Command as Program;
use clap::Command;
use unicode_width::UnicodeWidthStr as _;

/// Option, value, meaning and subcommands of all options, separated by tabs.
const TABLE: &str = include_str!("options.tsv");
/// Options of every subcommand that writes a report.
const SHARED: &str = "(shared)";

/// The subcommands without nested subcommands, by their names.
fn leaves(command: &Command, path: &[String], found: &mut Vec<(Vec<String>, Command)>) {
    let shown = command.get_subcommands().filter(|sub| !sub.is_hide_set());
    for sub in shown.filter(|sub| sub.get_name() != "help") {
        let path = [path, &[sub.get_name().to_owned()]].concat();
        if sub.has_subcommands() {
            leaves(sub, &path, found);
        } else {
            found.push((path, sub.clone()));
        }
    }
}

fn all() -> Vec<(Vec<String>, Command)> {
    let mut whole = command();
    whole.build();
    let mut found = Vec::new();
    leaves(&whole, &[], &mut found);
    assert!(found.len() >= 14, "{} subcommands", found.len());
    found
}

/// Returns each option with its value and meaning, and the subcommands of each of these.
fn options() -> BTreeMap<String, BTreeMap<(String, String), BTreeSet<String>>> {
    let mut options: BTreeMap<String, BTreeMap<_, BTreeSet<_>>> = BTreeMap::new();
    for (path, command) in all() {
        for arg in command.get_arguments() {
            let Some(long) = arg.get_long() else { continue };
            if ["help", "version"].contains(&long) {
                continue;
            }
            let short = arg.get_short().map_or_else(String::new, |short| format!("-{short}, "));
            let takes = arg.get_action().takes_values();
            let values = arg.get_value_names().filter(|_| takes).unwrap_or_default();
            let value = values.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ");
            let help = arg.get_help().map(ToString::to_string).unwrap_or_default();
            let meanings = options.entry(format!("{short}--{long}")).or_default();
            meanings.entry((value, help)).or_default().insert(path.join(" "));
        }
    }
    options
}

#[test]
fn every_option_has_one_meaning_that_the_table_lists() {
    let reports: BTreeSet<String> = all()
        .into_iter()
        .filter(|(_, command)| command.get_arguments().any(|arg| arg.get_id() == "no_config"))
        .map(|(path, _)| path.join(" "))
        .collect();
    let mut rows = BTreeSet::new();
    for (option, meanings) in options() {
        assert_eq!(meanings.len(), 1, "{option} has several meanings: {meanings:#?}");
        for ((value, help), subcommands) in meanings {
            let shared = reports.is_subset(&subcommands).then(|| SHARED.to_owned());
            let others =
                subcommands.iter().filter(|name| shared.is_none() || !reports.contains(*name));
            let names: Vec<String> = shared.iter().chain(others).cloned().collect();
            let names = names.join(", ");
            rows.insert(format!("{option}\t{value}\t{help}\t{names}"));
        }
    }
    let table: BTreeSet<String> = TABLE.lines().map(str::to_owned).collect();
    let show = |rows: Vec<&String>| rows.into_iter().cloned().collect::<Vec<_>>().join("\n");
    let (more, less) =
        (show(rows.difference(&table).collect()), show(table.difference(&rows).collect()));
    assert!(more.is_empty() && less.is_empty(), "add:\n{more}\nremove:\n{less}");
}

#[test]
fn short_options_belong_to_one_option() {
    let mut shorts = BTreeMap::new();
    for (_, command) in all() {
        for arg in command.get_arguments() {
            if let Some(short) = arg.get_short() {
                let id = arg.get_id().to_string();
                let first = shorts.entry(short).or_insert_with(|| id.clone());
                assert_eq!(*first, id, "-{short}");
            }
        }
    }
    assert!(shorts.contains_key(&'o'));
}

fn screen(path: &[String], option: &str) -> String {
    screen_in("en", path, option)
}

fn screen_in(lang: &str, path: &[String], option: &str) -> String {
    let mut program = Program::cargo_bin("ascend-doctor").unwrap();
    let output =
        program.env_clear().args(["--lang", lang]).args(path).arg(option).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{path:?}");
    String::from_utf8(output.stdout).unwrap()
}

/// Returns the commands of the examples, with continued lines joined.
fn examples(help: &str) -> Vec<String> {
    let joined = help.replace(" \\\n      ", " ");
    let block = ["Examples:\n", "示例：\n"].iter().find_map(|title| joined.split(title).nth(1));
    let lines = block.unwrap_or_default().lines().take_while(|line| line.starts_with("  "));
    lines.map(|line| line.trim().to_owned()).collect()
}

#[test]
fn short_help_is_one_screen_that_starts_with_two_examples() {
    let mut paths: Vec<Vec<String>> = all().into_iter().map(|(path, _)| path).collect();
    paths.extend([vec![], vec!["fleet".into()], vec!["manifest".into()], vec!["data".into()]]);
    paths.sort();
    for (lang, heading, shared) in
        [("en", "Examples:", "Shared options:\n"), ("zh", "示例：", "通用选项：\n")]
    {
        let mut screens = String::new();
        for path in &paths {
            let short = screen_in(lang, path, "-h");
            let lines: Vec<&str> = short.lines().collect();
            assert!(lines.len() <= 40, "{path:?} -h has {} lines:\n{short}", lines.len());
            assert!(lines.iter().all(|line| line.width() <= 80), "{path:?}:\n{short}");
            assert_eq!(lines[2], heading, "{path:?}:\n{short}");
            assert_eq!(examples(&short).len(), 2, "{path:?}:\n{short}");
            screens.push_str(&format!("$ ascend-doctor {} -h\n{short}\n", path.join(" ")));
            let long = screen_in(lang, path, "--help");
            assert!(long.lines().all(|line| line.width() <= 80), "{path:?}:\n{long}");
            let after = &long[long.find(shared).expect("shared options")..];
            let others = ["\nOptions:", "\nLogs:", "\n选项：", "\n日志："];
            assert!(!others.iter().any(|heading| after.contains(heading)), "{path:?}:\n{long}");
        }
        let name = if lang == "en" { "short-help" } else { "short-help-zh" };
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(name, screens);
        });
    }
}

#[test]
fn every_example_is_a_command_that_parses() {
    let mut count = 0;
    for (path, _) in all() {
        for example in examples(&screen(&path, "--help")) {
            for part in example.split('|').filter_map(|part| part.split("ascend-doctor ").nth(1)) {
                let words = part.split(" > ").next().unwrap();
                let words: Vec<&str> =
                    words.split_whitespace().take_while(|w| *w != "2>&1").collect();
                // A quoted argument counts as several words here, all of which are arguments.
                let line = [&["ascend-doctor"], words.as_slice()].concat();
                let read = Cli::read(&mut command(), line);
                assert!(read.is_ok(), "{example}: {}", read.unwrap_err());
                count += 1;
            }
        }
    }
    assert!(count > 35, "{count}");
}

#[test]
fn subcommands_without_a_report_have_no_options_for_one() {
    for name in ["completions", "install", "man"] {
        let help = screen(&[name.to_owned()], "--help");
        for option in ["--format", "--json", "--output ", "--fail-on", "--config"] {
            assert!(!help.contains(option), "{name} has {option}:\n{help}");
        }
    }
    for line in [&["ascend-doctor", "man", "--json"][..], &["ascend-doctor", "--json", "man"]] {
        assert_eq!(Cli::read(&mut command(), line).unwrap_err().exit_code(), 2, "{line:?}");
    }
    let line = ["ascend-doctor", "--lang", "zh", "check", "--json"];
    let cli = Cli::read(&mut command(), line).unwrap();
    assert!(cli.output.json && cli.output.lang == Some(base::text::Lang::Zh));
}
