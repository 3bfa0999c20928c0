//! `cargo xtask times`: measures build times in a clean clone against their limits and prints a row
//! of a Markdown table for each.
//!
//! The clone has the last commit and a separate target directory. Both are removed afterwards. The
//! registry cache of Cargo is used unchanged, except by the limit `ci`.

mod commands;
mod edits;
mod limits;
mod machine;
mod table;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;

use self::commands::Runner;
use self::limits::{Edit, Limit, Step};
use self::machine::Machine;
use self::table::Row;
use crate::workspace;

/// Examples for the help text.
pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask times --dry-run
  cargo xtask times --only check-edit
  cargo xtask times --ci --json

Exit status: 0 all limits met, 1 a limit missed, 2 the task failed";

/// Options of `times`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Part of the names of the limits to measure
    #[arg(long, value_name = "NAME")]
    only: Option<String>,

    /// Also measure `.ci/run` with an empty Cargo cache
    #[arg(long)]
    ci: bool,

    /// Package whose tests are run after an edit [default: the one of the edited file]
    #[arg(long, value_name = "PACKAGE")]
    package: Option<String>,

    /// Source file to edit, relative to the workspace [default: the root module of convert]
    #[arg(long, value_name = "FILE")]
    edit: Option<PathBuf>,

    /// Print JSON instead of a table
    #[arg(long)]
    json: bool,

    /// List the commands without running them
    #[arg(long)]
    dry_run: bool,
}

/// Measures the limits. Returns whether all are met.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let root = workspace::root();
    let source = match &options.edit {
        Some(path) => path.clone(),
        None => edits::find_convert(&root)?,
    };
    let package = match &options.package {
        Some(package) => package.clone(),
        None => edits::find_package(&root, &source)?,
    };
    let wanted = |limit: &Limit| match &options.only {
        Some(only) => limit.name.contains(only.as_str()),
        None => options.ci || limit.name != "ci",
    };
    let limits: Vec<Limit> = limits::all(&package).into_iter().filter(wanted).collect();
    ensure!(!limits.is_empty(), "no limit matches `{}`", options.only.as_deref().unwrap_or(""));
    if options.dry_run {
        for limit in &limits {
            print!("{}", limit.describe(&source));
        }
        return Ok(true);
    }
    let machine = Machine::look()?;
    for warning in machine.warnings() {
        eprintln!("warning: {warning}");
    }
    if is_changed(&root)? {
        eprintln!("warning: uncommitted changes are not measured: the last commit is cloned");
    }
    let temp = tempfile::Builder::new().prefix("xtask-times-").tempdir()?;
    let clone = temp.path().join("clone");
    clone_head(&root, &clone)?;
    let mut rows = Vec::new();
    for limit in &limits {
        let target = temp.path().join("target").join(limit.profile);
        let runner = Runner::new(&clone, &target, temp.path());
        let row = measure(limit, &runner, &source)?;
        eprintln!("{}", row.markdown());
        rows.push(row);
    }
    print!(
        "{}",
        if options.json { table::json(&machine, &rows) } else { table::text(&machine, &rows) }
    );
    Ok(rows.iter().all(Row::passed))
}

/// Measures one limit in the clone.
fn measure(limit: &Limit, runner: &Runner, source: &Path) -> Result<Row> {
    // Restores the sources of the commit, which the previous limit may have edited.
    git(runner.dir(), &["checkout", "--quiet", "--", "."])?;
    if limit.clean {
        runner.clean()?;
    }
    for step in &limit.prepare {
        eprintln!("{}: preparing: {step}", limit.name);
        if let Err(error) = runner.run(step) {
            return Ok(Row::failed(limit, &error));
        }
    }
    let expected = match limit.edit {
        Edit::None => None,
        Edit::Source => {
            edits::append_item(&runner.dir().join(source))?;
            None
        }
        Edit::Sentence => Some(edits::change_sentence(runner.dir())?),
    };
    let id = expected.as_ref().map_or("", |edited| &edited.id);
    let steps: Vec<Step> = limit.measure.iter().map(|step| step.with_id(id)).collect();
    let mut output = String::new();
    let start = Instant::now();
    for step in &steps {
        eprintln!("{}: {step}", limit.name);
        match runner.run(step) {
            Ok(text) => output.push_str(&text),
            Err(error) => return Ok(Row::failed(limit, &error)),
        }
    }
    let took = start.elapsed();
    if let Some(edited) = expected
        && !output.contains(&edited.word)
    {
        let error = anyhow::anyhow!("`explain {}` does not print the edited sentence", edited.id);
        return Ok(Row::failed(limit, &error));
    }
    Ok(Row::measured(limit, took))
}

/// Clones the last commit without sharing files with the work tree.
fn clone_head(root: &Path, clone: &Path) -> Result<()> {
    let root = root.to_str().context("the path of the workspace is not UTF-8")?;
    let clone = clone.to_str().context("the path of the clone is not UTF-8")?;
    git(Path::new("/"), &["clone", "--quiet", "--no-hardlinks", root, clone])
}

fn is_changed(root: &Path) -> Result<bool> {
    let output = Command::new("git")
        .args(["status", "--porcelain"])
        .current_dir(root)
        .output()
        .context("cannot start git")?;
    Ok(!output.stdout.is_empty())
}

fn git(dir: &Path, args: &[&str]) -> Result<()> {
    let status = Command::new("git").args(args).current_dir(dir).status();
    let status = status.context("cannot start git")?;
    ensure!(status.success(), "`git {}` fails", args.join(" "));
    Ok(())
}

/// Formats a duration in seconds with one digit.
fn seconds(duration: Duration) -> String {
    format!("{:.1}", duration.as_secs_f64())
}

#[cfg(test)]
mod tests;
