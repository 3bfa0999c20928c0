//! Help texts, versions, completions, manual pages and wrong usage.

use crate::same::case::{Case, Plan, args};

/// All subcommands. New ones change the help texts of the program itself.
const COMMANDS: [&str; 15] = [
    "check",
    "convert",
    "verify",
    "audit-ops",
    "translate-error",
    "explain",
    "compat",
    "manifest",
    "manifest create",
    "manifest wheel-check",
    "fleet",
    "fleet merge",
    "report",
    "bundle",
    "completions",
];

/// Kinds of wrong usage.
const WRONG: [(&str, &str); 16] = [
    ("unknown-option", "check --zebra"),
    ("misspelled-option", "check --rooot /"),
    ("misspelled-command", "chek"),
    ("missing-value", "check --sysroot"),
    ("missing-root", "check --sysroot /nowhere/at/all"),
    ("unknown-format", "check --format yaml"),
    ("unknown-language", "check --lang de"),
    ("unknown-profile", "check --profile zebra"),
    ("unknown-shell", "completions tcsh"),
    ("unknown-page", "man zebra"),
    ("facts-missing", "check --facts nothing.json"),
    ("schema-as-text", "explain --report-schema --format text"),
    ("facts-as-text", "check --sysroot / --facts-only --format text"),
    ("two-formats", "check --sysroot / --json --format text"),
    ("no-subcommand-of-fleet", "fleet"),
    ("unknown-log-level", "check --log loud"),
];

/// Adds the cases.
pub(crate) fn add(plan: &mut Plan) {
    let case = |name: String, line: &str| Case::new(name).step(Vec::new()).flags(line);
    for command in COMMANDS {
        let name = command.replace(' ', "-");
        for (variant, line) in [
            ("short", format!("{command} -h")),
            ("long", format!("{command} --help")),
            ("help", format!("help {command}")),
            ("version", format!("{command} --version")),
            ("man", format!("man {command}")),
        ] {
            plan.add(case(format!("usage/{name}/{variant}"), &line));
        }
        let narrow = case(format!("usage/{name}/narrow"), &format!("{command} --help"));
        plan.add(narrow.env("COLUMNS", "50"));
        let chinese = case(format!("usage/{name}/zh"), &format!("{command} --help --lang zh"));
        plan.add(chinese.env("LANG", "zh_CN.UTF-8"));
    }
    for (name, line) in [
        ("short", "-h"),
        ("long", "--help"),
        ("help", "help"),
        ("version", "--version"),
        ("version-short", "-V"),
        ("man", "man"),
        ("man-man", "man man"),
    ] {
        plan.add(case(format!("usage/program/{name}"), line));
    }
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        plan.add(Case::new(format!("usage/completions/{shell}")).step(args!["completions", shell]));
    }
    plan.add(Case::new("usage/man/all").step(args!["man", "--output-dir", "pages"]));
    for (name, line) in WRONG {
        plan.add(case(format!("usage/wrong/{name}"), line).refused());
        let chinese = case(format!("usage/wrong/{name}-zh"), line).env("ASCEND_DOCTOR_LANG", "zh");
        plan.add(chinese.refused());
    }
}
