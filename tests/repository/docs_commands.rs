//! The commands in README.md, the other documents at the root and docs/ run as written.
//!
//! Every command line of `ascend-doctor` has to be accepted; steps of recipes for CI systems are
//! run in an empty directory. A block of code after the comment `<!-- run: MACHINE STATUS -->` is
//! executed next to a tree `machine` that the recipe MACHINE builds (`-`: without one), has to exit
//! with STATUS, and has to print the output in the block, if there is any. A block after
//! `<!-- file: NAME -->` is the content of that file for later commands of the document.
//! `UPDATE_DOCS=1 cargo test --test repository docs_commands` writes the current output of the
//! commands into the blocks.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "reads the documents of this project, and may fail"
)]

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use assert_cmd::Command;

/// The mark in the comment before a block.
#[derive(Debug, PartialEq, Eq)]
enum Mark {
    None,
    Run { machine: String, status: String },
    File(String),
}

impl Mark {
    fn of(line: &str) -> Option<Self> {
        let inner = line.trim().strip_prefix("<!-- ")?.strip_suffix(" -->")?;
        match inner.split_once(": ")? {
            ("run", rest) => {
                let (machine, status) = rest.split_once(' ').unwrap();
                Some(Self::Run { machine: machine.to_owned(), status: status.to_owned() })
            }
            ("file", name) => Some(Self::File(name.to_owned())),
            _ => None,
        }
    }
}

/// A block of code: its mark, and its lines in the document.
struct Block {
    mark: Mark,
    lines: Range<usize>,
}

struct Document {
    path: PathBuf,
    lines: Vec<String>,
    blocks: Vec<Block>,
}

impl Document {
    fn read(path: PathBuf) -> Self {
        let text = std::fs::read_to_string(&path).unwrap();
        let lines: Vec<String> = text.lines().map(str::to_owned).collect();
        let mut blocks = Vec::new();
        let mut mark = Mark::None;
        let mut open = None;
        for (at, line) in lines.iter().enumerate() {
            if let Some(begin) = open {
                if line.trim() == "```" {
                    let mark = std::mem::replace(&mut mark, Mark::None);
                    blocks.push(Block { mark, lines: begin..at });
                    open = None;
                }
            } else if line.trim_start().starts_with("```") {
                open = Some(at + 1);
            } else if let Some(found) = Mark::of(line) {
                mark = found;
            } else if !line.trim().is_empty() {
                mark = Mark::None;
            }
        }
        Self { path, lines, blocks }
    }

    fn place(&self, line: usize) -> String {
        format!("{}:{}", self.path.file_name().unwrap().display(), line + 1)
    }

    /// The commands of a block, by their lines.
    fn commands(&self, block: &Block) -> BTreeMap<usize, Vec<String>> {
        let prompts = self.lines[block.lines.clone()].iter().any(|line| line.starts_with("$ "));
        let command = |at: usize| Some((at, arguments(&self.lines[at], prompts)?));
        block.lines.clone().filter_map(command).collect()
    }
}

fn documents() -> Vec<Document> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let listed = ["", "docs", "docs/zh", "skills/ascend-doctor"]
        .map(|dir| std::fs::read_dir(root.join(dir)));
    let mut files: Vec<PathBuf> =
        listed.into_iter().flatten().flatten().map(|entry| entry.unwrap().path()).collect();
    files.retain(|path| path.extension().is_some_and(|ext| ext == "md"));
    files.sort();
    files.into_iter().map(Document::read).collect()
}

/// The arguments, if the line is a command of this program. In a block with prompts, a line without
/// one is output, because reports also begin with the name of the program.
fn arguments(line: &str, prompts: bool) -> Option<Vec<String>> {
    let line = if prompts { line.strip_prefix("$ ")? } else { line };
    let rest = line.trim_start().strip_prefix("ascend-doctor ")?;
    // A line of the crate graph in ARCHITECTURE.md.
    if rest.trim_start().starts_with("->") {
        return None;
    }
    let words = rest
        .split_whitespace()
        .take_while(|word| !["#", ">", "|", "||", "&&", ";", "\\", "2>&1"].contains(word));
    Some(words.map(str::to_owned).collect())
}

/// Like [`arguments`], for a step in a recipe for a CI system: `run: …` and `- …` in YAML, `sh '…'`
/// in Groovy.
fn step(line: &str) -> Option<Vec<String>> {
    let line = line.trim();
    let item = line.strip_prefix("- ").map(str::trim_start);
    let rest = item.unwrap_or(line);
    let command = rest
        .strip_prefix("run: ")
        .or_else(|| rest.strip_prefix("sh '").and_then(|quoted| quoted.strip_suffix('\'')))
        .or(item)?;
    arguments(command, false)
}

/// Replaces the number of passed checks, which grows with each new check.
fn without_counts(output: &str) -> String {
    let counts = regex::Regex::new(r"\d+ (checks passed|项检查通过)").unwrap();
    counts.replace_all(output, "N $1").into_owned()
}

fn program() -> Command {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    // The age of the data is part of reports.
    program.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000");
    program
}

#[test]
fn every_command_line_is_accepted() {
    let mut count = 0;
    for document in documents() {
        for block in &document.blocks {
            for (at, args) in document.commands(block) {
                let output = program().args(&args).arg("--help").output().unwrap();
                assert_eq!(output.status.code(), Some(0), "{}: {args:?}", document.place(at));
                count += 1;
            }
        }
    }
    assert!(count > 20, "only {count} commands: the blocks are no longer found");
}

/// Runs the steps unchanged in an empty directory: `--help` would hide options that exclude each
/// other. The exit status may be 0, 1 or 3, depending on the machine of the test; 2 means wrong
/// usage.
#[test]
fn steps_of_recipes_are_run() {
    let mut count = 0;
    for document in documents() {
        for at in document.blocks.iter().flat_map(|block| block.lines.clone()) {
            let Some(args) = step(&document.lines[at]) else { continue };
            let dir = tempfile::tempdir().unwrap();
            let output = program().current_dir(dir.path()).args(&args).output().unwrap();
            let said = String::from_utf8_lossy(&output.stderr);
            let place = document.place(at);
            assert!(matches!(output.status.code(), Some(0 | 1 | 3)), "{place}: {args:?}\n{said}");
            count += 1;
        }
    }
    assert!(count >= 4, "only {count} steps: they are no longer found");
}

#[test]
fn marked_blocks_do_what_they_show() {
    let update = std::env::var_os("UPDATE_DOCS").is_some();
    let mut count = 0;
    for document in documents() {
        let dir = tempfile::tempdir().unwrap();
        let mut lines = document.lines.clone();
        // From the last to the first, so that insertions do not move lines that are still needed.
        let mut shown: Vec<(Range<usize>, Vec<String>)> = Vec::new();
        for block in &document.blocks {
            let (machine, status) = match &block.mark {
                Mark::None => continue,
                Mark::File(name) => {
                    let place = dir.path().join(name);
                    std::fs::create_dir_all(place.parent().unwrap()).unwrap();
                    let text = document.lines[block.lines.clone()].join("\n") + "\n";
                    std::fs::write(place, text).unwrap();
                    continue;
                }
                Mark::Run { machine, status } => (machine, status),
            };
            let tree = dir.path().join("machine");
            let _ = std::fs::remove_dir_all(&tree);
            if machine != "-" {
                std::fs::create_dir(&tree).unwrap();
                let recipe = crate::support::recipe::all().remove(machine.as_str());
                let place = document.place(block.lines.start);
                recipe.unwrap_or_else(|| panic!("{place}: no {machine}")).build().write(&tree);
            }
            let commands = document.commands(block);
            assert!(!commands.is_empty(), "{} has no command", document.place(block.lines.start));
            let ends = commands.keys().copied().skip(1).chain([block.lines.end]);
            for ((&at, args), end) in commands.iter().zip(ends) {
                let output = program().current_dir(dir.path()).args(args).output().unwrap();
                let place = format!("{}: {args:?}", document.place(at));
                let said = String::from_utf8_lossy(&output.stderr);
                assert_eq!(output.status.code().unwrap().to_string(), *status, "{place}\n{said}");
                count += 1;
                let shows = document.lines[at + 1..end].join("\n");
                if shows.trim().is_empty() {
                    continue;
                }
                let printed = String::from_utf8(output.stdout).unwrap();
                if update {
                    let new = printed.trim_end().lines().map(str::to_owned).collect();
                    shown.push((at + 1..end, new));
                } else {
                    assert_eq!(
                        without_counts(printed.trim_end()),
                        without_counts(shows.trim_end()),
                        "{place}"
                    );
                }
            }
        }
        for (range, new) in shown.into_iter().rev() {
            lines.splice(range, new);
        }
        if lines != document.lines {
            std::fs::write(&document.path, lines.join("\n") + "\n").unwrap();
        }
    }
    assert!(count >= 5, "only {count} commands are marked");
}
