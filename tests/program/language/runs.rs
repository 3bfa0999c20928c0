//! All command lines of the tests, with their output as text.

use std::process::Command;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use crate::json_contract::{ROWS, SIMULATED, files, write_reports};
use crate::verdicts::table::tables;
use crate::verify::simulator;

/// A command line and its output.
pub(super) struct Run {
    pub(super) name: String,
    pub(super) text: String,
}

/// Invalid command lines, each in another way.
pub(super) const USAGE_ERRORS: [&str; 32] = [
    "chekc",
    "hello",
    "https://example.org/1",
    "check --jsn",
    "check --sysroot",
    "check --lang fr",
    "check --format yaml",
    "check --timeout 0",
    "check --timeout soon",
    "check --json --format text",
    "check --quiet --verbose",
    "check --sysroot / --pid 1",
    "check --facts a.json --sysroot /",
    "check --torch 2.7",
    "check --only cann-hmoe",
    "check stray",
    "convert",
    "convert a.py -r b.py",
    "convert -r a.py --diff --check",
    "convert a.py --transfer",
    "convert a.py --max-size 0",
    "verify --rung computer",
    "verify --floor fast",
    "verify --minutes 9999",
    "verify --call-timeout never",
    "verify --device x",
    "audit-ops",
    "translate-error --rank x",
    "explain CANN-HOMES",
    "explain --report r.json",
    "man chek",
    "completions bsh",
];

/// The subcommands, with their parents.
pub(super) fn subcommands() -> Vec<String> {
    fn add(command: &clap::Command, path: &str, found: &mut Vec<String>) {
        found.push(path.trim().to_owned());
        let subs = command.get_subcommands().filter(|sub| !sub.is_hide_set());
        for sub in subs {
            add(sub, &format!("{path} {}", sub.get_name()), found);
        }
    }
    let mut found = Vec::new();
    add(&ascend_doctor::cli::command(), "", &mut found);
    found
}

fn program() -> Command {
    let mut program = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    // Errors are wrapped as on a terminal.
    program.env_clear().env("PATH", "/usr/bin:/bin").env("COLUMNS", "80");
    program.env("ASCEND_DOCTOR_NOW", "1795392000");
    program
}

fn text(program: &mut Command) -> String {
    let output = program.stdin(std::process::Stdio::null()).output().unwrap();
    [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap()).concat()
}

/// The output of a command line without a locale.
pub(super) fn plain(line: &str) -> String {
    text(program().args(line.split(' ').filter(|word| !word.is_empty())))
}

/// All runs in a language: help, usage errors, the rows of `json_contract`, and those of `verdicts`
/// with everything that `--verbose` shows.
pub(super) fn all(lang: &str) -> Vec<Run> {
    let mut runs = Vec::new();
    let locale = if lang == "zh" { "zh_CN.UTF-8" } else { "C.UTF-8" };
    let words =
        |line: &str| line.split(' ').filter(|word| !word.is_empty()).map(str::to_owned).collect();
    let dir = files();
    write_reports(dir.path());
    let mut add = |line: &str, more: &[&str]| {
        let words: Vec<String> = words(line);
        let mut program = program();
        program.current_dir(dir.path()).env("LC_ALL", locale).args(words).args(more);
        let name = format!("{line} {}", more.join(" "));
        runs.push(Run { name, text: text(&mut program) });
    };
    for name in subcommands() {
        add(&name, &["-h"]);
        add(&name, &["--help"]);
    }
    for parent in ["", "fleet", "manifest", "data", "--version"] {
        add(parent, &[]);
    }
    for line in USAGE_ERRORS {
        add(line, &[]);
    }
    for (line, _) in ROWS.iter().filter(|(line, _)| !line.contains("--format")) {
        add(line, &["--lang", lang]);
    }
    for (line, variables) in SIMULATED {
        let mut program = simulator::doctor(simulator::RTC.path());
        program.envs(variables.iter().copied()).env("COLUMNS", "80");
        program.args(line.split(' ')).args(["--lang", lang]);
        runs.push(Run { name: line.to_owned(), text: text(&mut program) });
    }
    runs.extend(verdict_rows(lang));
    runs
}

fn verdict_rows(lang: &str) -> Vec<Run> {
    let tables = tables();
    let rows = tables.iter().flat_map(|table| table.row.iter().map(move |row| (table, row)));
    // English is checked only for its width: a part of the rows covers all layouts.
    let rows: Vec<_> = rows.step_by(if lang == "zh" { 1 } else { 4 }).collect();
    let (next, runs) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    let work = || {
        while let Some((table, row)) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
            let text = row.text(&table.command, &["--lang", lang, "--verbose"]);
            runs.lock().unwrap().push(Run { name: format!("row {}", row.name), text });
        }
    };
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(work);
        }
    });
    runs.into_inner().unwrap()
}
