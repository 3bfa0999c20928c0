//! The cases of `same`, one module per subcommand.
//!
//! Lists of codes, causes, findings and versions come from the old program, so they are complete
//! and do not depend on the location of the data files.

mod audit;
mod check;
mod compat;
mod convert;
mod errors;
mod explain;
mod fleet;
mod logs;
mod pages;
mod settings;
mod usage;
mod verify;

use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, ensure};
use serde_json::Value;

use super::case::{Case, Plan};
use super::program::Program;
use crate::fixtures::Machine;
use crate::process::Status;

/// Formats of reports in addition to text and JSON.
const OTHER_FORMATS: [&str; 6] = ["junit", "sarif", "markdown", "html", "openmetrics", "line"];

/// The sources of all cases.
#[derive(Debug)]
pub(crate) struct Inputs<'a> {
    /// Root of the work tree.
    pub(crate) root: PathBuf,
    /// The old program, which writes the reports that are inputs of other cases.
    pub(crate) old: &'a Program,
    /// Directory for inputs created during this run.
    pub(crate) dir: PathBuf,
    pub(crate) machines: Vec<Machine>,
    pub(crate) shared: Option<PathBuf>,
    pub(crate) repos: Vec<PathBuf>,
    pub(crate) simulator: Option<PathBuf>,
}

impl Inputs<'_> {
    /// Returns a machine by name; the first one if it was renamed.
    fn machine(&self, name: &str) -> &Machine {
        self.machines.iter().find(|machine| machine.name == name).unwrap_or(&self.machines[0])
    }

    /// Returns a directory for prepared inputs.
    fn subdir(&self, name: &str) -> Result<PathBuf> {
        let dir = self.dir.join(name);
        std::fs::create_dir_all(&dir)?;
        Ok(dir)
    }

    /// Runs the old program and parses its output as JSON.
    fn ask(&self, args: &[String]) -> Result<Value> {
        let output = self.old.prepare(args, &self.dir)?;
        let shown = args.join(" ");
        serde_json::from_slice(&output).with_context(|| format!("`{shown}` prints no JSON"))
    }

    /// Returns whether the old program rejects a command line as wrong usage. Cases of such an
    /// input compare the message.
    fn refuses(&self, args: &[String]) -> Result<bool> {
        let output = self.old.run(&Case::new("probe"), args, &self.dir)?;
        Ok(output.status == Status::Exited(2))
    }

    /// Returns a directory of the shared inputs, or records that its class is not examined.
    fn shared(&self, plan: &mut Plan, dir: &str, class: &str) -> Option<PathBuf> {
        let Some(shared) = &self.shared else {
            plan.skip(format!("{class}: no --shared"));
            return None;
        };
        let path = shared.join(dir);
        if path.is_dir() {
            return Some(path);
        }
        plan.skip(format!("{class}: no directory `{}`", path.display()));
        None
    }
}

/// Lists all cases. Their names are unique.
pub(crate) fn plan(inputs: &Inputs<'_>) -> Result<Plan> {
    let mut plan = Plan::default();
    usage::add(&mut plan);
    check::add(&mut plan, inputs)?;
    compat::add(&mut plan, inputs)?;
    explain::add(&mut plan, inputs)?;
    errors::add(&mut plan, inputs)?;
    logs::add(&mut plan, inputs)?;
    convert::add(&mut plan, inputs)?;
    audit::add(&mut plan, inputs)?;
    verify::add(&mut plan, inputs)?;
    fleet::add(&mut plan, inputs)?;
    pages::add(&mut plan, inputs)?;
    settings::add(&mut plan, inputs);
    let mut names: Vec<&str> = plan.cases.iter().map(|case| case.name.as_str()).collect();
    names.sort_unstable();
    let repeated: Vec<&str> =
        names.windows(2).filter(|pair| pair[0] == pair[1]).map(|pair| pair[0]).collect();
    ensure!(repeated.is_empty(), "several cases are called {}", repeated.join(", "));
    Ok(plan)
}

/// Returns the entries of a directory, sorted.
fn entries(dir: &Path) -> Result<Vec<PathBuf>> {
    let cannot = || format!("cannot read `{}`", dir.display());
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(dir).with_context(cannot)? {
        paths.push(entry.with_context(cannot)?.path());
    }
    paths.sort();
    Ok(paths)
}

/// Returns every `share`-th variant, with a different start for each input.
///
/// This way, every variant is examined on many inputs, and every input with many variants, in a
/// fraction of the time of all pairs.
fn rotate<T: Copy>(variants: &[T], input: usize, share: usize) -> impl Iterator<Item = T> {
    let chosen = move |&(index, _): &(usize, &T)| (index + input).is_multiple_of(share);
    variants.iter().enumerate().filter(chosen).map(|(_, variant)| *variant)
}

/// Returns the last part of a path.
fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// Returns all strings at the end of a path of keys. Lists on the path are searched completely.
fn strings(value: &Value, keys: &[&str]) -> Vec<String> {
    match (value, keys) {
        (Value::Array(items), _) => items.iter().flat_map(|item| strings(item, keys)).collect(),
        (Value::Object(_), [key, rest @ ..]) => strings(&value[*key], rest),
        (Value::String(text), []) => vec![text.clone()],
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn rotation_covers_all_pairs_in_turn() {
        let of = |input| rotate(&["a", "b", "c", "d"], input, 3).collect::<Vec<_>>();
        assert_eq!([of(0), of(1), of(2)], [vec!["a", "d"], vec!["c"], vec!["b"]]);
    }

    #[test]
    fn strings_are_found_through_lists() {
        let value = json!({ "items": [{ "codes": [{ "code": "1" }, { "code": "2" }] }, {}] });
        assert_eq!(strings(&value, &["items", "codes", "code"]), ["1", "2"]);
        assert!(strings(&value, &["items", "none"]).is_empty());
    }
}
