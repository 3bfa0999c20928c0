//! The commands in README.md and docs/*.md run as they are written there.
//!
//! Every command line of `ascend-doctor` has to be accepted. A block of code after the comment
//! `<!-- run: MACHINE STATUS -->` is executed beside a tree `machine` that the recipe MACHINE makes
//! (`-`: without one), has to end with STATUS, and prints what the block shows, if it shows any.
#![allow(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "reads the documents of this project, and may fail"
)]

use std::path::{Path, PathBuf};

use assert_cmd::Command;

#[path = "support/mod.rs"]
mod support;

/// A block of code and the comment before it.
struct Block {
    place: String,
    mark: Option<String>,
    lines: Vec<String>,
}

impl Block {
    /// The command in a line of this block.
    fn command(&self, line: &str) -> Option<Vec<String>> {
        arguments(line, self.lines.iter().any(|line| line.starts_with("$ ")))
    }
}

fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files = vec![root.join("README.md")];
    for entry in std::fs::read_dir(root.join("docs")).unwrap() {
        files.push(entry.unwrap().path());
    }
    files.retain(|path| path.extension().is_some_and(|ext| ext == "md"));
    files.sort();
    files
}

fn blocks() -> Vec<Block> {
    let mut blocks = Vec::new();
    for file in documents() {
        let text = std::fs::read_to_string(&file).unwrap();
        let name = file.file_name().unwrap().to_str().unwrap();
        let mut mark = None;
        let mut open: Option<Block> = None;
        for (number, line) in (1..).zip(text.lines()) {
            if let Some(mut block) = open.take() {
                if line.trim() != "```" {
                    block.lines.push(line.to_owned());
                    open = Some(block);
                } else if !block.lines.is_empty() {
                    blocks.push(block);
                }
            } else if line.trim_start().starts_with("```") {
                let place = format!("{name}:{number}");
                open = Some(Block { place, mark: mark.take(), lines: Vec::new() });
            } else if let Some(rest) = line.strip_prefix("<!-- run: ") {
                mark = rest.strip_suffix(" -->").map(str::to_owned);
            }
        }
    }
    blocks
}

/// The arguments, if the line is a command of this program. Where a block has prompts, a line
/// without one is output: reports begin with the name of the program, too.
fn arguments(line: &str, prompts: bool) -> Option<Vec<String>> {
    let line = if prompts { line.strip_prefix("$ ")? } else { line };
    let rest = line.strip_prefix("ascend-doctor ")?;
    let words = rest.split_whitespace().take_while(|word| !["#", ">", "|"].contains(word));
    Some(words.map(str::to_owned).collect())
}

fn program() -> Command {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    program.env_clear();
    program
}

#[test]
fn every_command_line_is_accepted() {
    let mut count = 0;
    for block in blocks() {
        for args in block.lines.iter().filter_map(|line| block.command(line)) {
            let output = program().args(&args).arg("--help").output().unwrap();
            assert_eq!(output.status.code(), Some(0), "{}: {args:?}", block.place);
            count += 1;
        }
    }
    assert!(count > 20, "only {count} commands: the blocks are no longer found");
}

#[test]
fn marked_blocks_do_what_they_show() {
    let mut count = 0;
    for block in blocks() {
        let Some(mark) = &block.mark else { continue };
        let (machine, status) = mark.split_once(' ').unwrap();
        let dir = tempfile::tempdir().unwrap();
        if machine != "-" {
            let recipe = support::recipe::all().remove(machine);
            let tree = dir.path().join("machine");
            std::fs::create_dir(&tree).unwrap();
            recipe.unwrap_or_else(|| panic!("{}: no {machine}", block.place)).build().write(&tree);
        }
        let starts: Vec<usize> = (0..block.lines.len())
            .filter(|&at| block.command(&block.lines[at]).is_some())
            .collect();
        assert!(!starts.is_empty(), "{} has no command", block.place);
        for (number, &at) in starts.iter().enumerate() {
            let end = starts.get(number + 1).copied().unwrap_or(block.lines.len());
            let args = block.command(&block.lines[at]).unwrap();
            let output = program().current_dir(dir.path()).args(&args).output().unwrap();
            let place = format!("{}: {args:?}", block.place);
            assert_eq!(output.status.code().unwrap().to_string(), status, "{place}");
            let shown = block.lines[at + 1..end].join("\n");
            if !shown.trim().is_empty() {
                let printed = String::from_utf8(output.stdout).unwrap();
                assert_eq!(printed.trim_end(), shown.trim_end(), "{place}");
            }
            count += 1;
        }
    }
    assert!(count >= 5, "only {count} commands are marked");
}
