//! `torch_npu_names.tsv`: the torch_npu versions that have the names inserted by rules of
//! `convert`.
//!
//! Rules are written manually, and their versions must match this table. The checked versions are
//! those of `convert_rules.toml`: wheels, and `master@COMMIT` of the repository. Neither ever
//! changes, so the table is read again only if a name or a version is missing.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;

use super::python_names::{Modules, has};
use crate::context::Context;
use crate::extract::Content;
use crate::remote_zip::RemoteZip;
use crate::table::Table;

pub(super) const FILE: &str = "torch_npu_names.tsv";
const RULES: &str = "convert_rules.toml";
const REPOSITORY: &str = "ascend-pytorch";
/// The prefix of the package in rules, and the directory of its modules.
const PREFIX: &str = "torch.npu.";
const HOME: &str = "torch_npu/npu";
/// The maximum size of a module.
const MAX_MODULE: u64 = 4 << 20;

#[derive(Deserialize)]
struct Surveyed {
    torch_npu: Vec<String>,
}

#[derive(Deserialize)]
struct Rules {
    #[serde(default)]
    rule: Vec<Rule>,
}

#[derive(Deserialize)]
struct Rule {
    id: String,
    to: Option<String>,
    torch_npu: Option<BTreeSet<String>>,
}

impl Rule {
    /// Returns the name below `torch.npu` that the rule inserts, if it declares versions.
    fn name(&self) -> Option<&str> {
        self.torch_npu.as_ref()?;
        self.to.as_deref()?.strip_prefix(PREFIX)?.split('(').next()
    }
}

/// Returns the rules of all files, and the versions to check.
fn rules(data: &Path) -> Result<(Vec<Rule>, Vec<String>)> {
    let read = |path: &Path| {
        std::fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
    };
    let surveyed: Surveyed = toml::from_str(&read(&data.join(RULES))?).context(RULES)?;
    let dir = data.join("convert");
    let mut files = Vec::new();
    for entry in std::fs::read_dir(&dir).with_context(|| dir.display().to_string())? {
        files.push(entry?.path());
    }
    files.sort();
    let mut all = Vec::new();
    for path in files.iter().filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
    {
        let rules: Rules =
            toml::from_str(&read(path)?).with_context(|| path.display().to_string())?;
        all.extend(rules.rule);
    }
    Ok((all, surveyed.torch_npu))
}

fn columns(versions: &[String]) -> Vec<&str> {
    std::iter::once("name").chain(versions.iter().map(String::as_str)).collect()
}

pub(super) fn extract(context: &Context) -> Result<Content> {
    let (rules, versions) = rules(&context.data)?;
    let names: BTreeSet<&str> = rules.iter().filter_map(Rule::name).collect();
    ensure!(names.len() >= 140, "{} names, expected 140", names.len());
    if let Some(text) = context.own(FILE)? {
        let known = Table::parse(&text, None)?;
        let same = known
            .rows
            .iter()
            .map(|row| row[0].trim_start_matches(PREFIX))
            .eq(names.iter().copied());
        if same && known.columns == columns(&versions) {
            return Ok(known.into());
        }
    }
    let mut table = Table::with_columns(&columns(&versions));
    let mut found = Vec::new();
    for (at, version) in versions.iter().enumerate() {
        let (modules, source) = modules(context, version).with_context(|| version.clone())?;
        ensure!(modules.len() >= 20, "{version}: {} modules, expected 20", modules.len());
        table.remarks.push(format!("source {at}: {source}"));
        found.push(modules);
    }
    for name in names {
        let mut row = vec![format!("{PREFIX}{name}")];
        let cell = |modules: &Modules| if has(modules, HOME, name) { "yes" } else { "no" };
        row.extend(found.iter().map(|modules| cell(modules).to_owned()));
        table.rows.push(row);
    }
    Ok(table.into())
}

/// Returns the modules of a version, and their source.
fn modules(context: &Context, version: &str) -> Result<(Modules, String)> {
    if let Some((branch, commit)) = version.split_once('@') {
        let tree = context.repository(REPOSITORY)?.tree(branch, commit)?;
        let mut modules = Modules::new();
        for path in tree.find(&format!("^{HOME}/.*\\.py$"))? {
            modules.insert(path.to_owned(), tree.text(path)?);
        }
        return Ok((modules, format!("{}:{HOME}", tree.origin())));
    }
    let files = context.packages.files("torch-npu")?;
    let start = format!("torch_npu-{version}-");
    let file =
        files.iter().find(|file| file.name.starts_with(&start) && file.name.ends_with(".whl"));
    let file = file.context("the index has no wheel")?;
    let mut archive = RemoteZip::open(&context.packages, file)?;
    let mut wanted = Vec::new();
    for name in archive.file_names() {
        let name = name?.into_owned();
        if name.starts_with(&format!("{HOME}/")) && name.ends_with(".py") {
            wanted.push(name);
        }
    }
    let mut modules = Modules::new();
    for name in wanted {
        let mut text = String::new();
        let member = archive.by_name(&name).with_context(|| name.clone())?;
        member.take(MAX_MODULE).read_to_string(&mut text).with_context(|| name.clone())?;
        modules.insert(name, text);
    }
    Ok((modules, format!("wheel of torch_npu {version}:{HOME}")))
}

/// Returns the rules whose versions differ from the table.
pub(crate) fn rule_faults(data: &Path) -> Result<Vec<String>> {
    let (rules, versions) = rules(data)?;
    let text = std::fs::read_to_string(data.join(FILE)).with_context(|| FILE.to_owned())?;
    let table = Table::parse(&text, None).context(FILE)?;
    if table.columns != columns(&versions) {
        return Ok(vec![format!("{FILE}: its versions are not those of {RULES}: refresh it")]);
    }
    let known: BTreeMap<&str, BTreeSet<&str>> = table
        .rows
        .iter()
        .map(|row| {
            let cells = table.columns.iter().zip(row).skip(1).filter(|(_, cell)| *cell == "yes");
            (
                row[0].trim_start_matches(PREFIX),
                cells.map(|(version, _)| version.as_str()).collect(),
            )
        })
        .collect();
    let mut faults = Vec::new();
    for rule in &rules {
        let (Some(name), Some(stated)) = (rule.name(), &rule.torch_npu) else { continue };
        let stated: BTreeSet<&str> = stated.iter().map(String::as_str).collect();
        match known.get(name) {
            None => faults.push(format!("{}: {FILE} lacks {PREFIX}{name}: refresh it", rule.id)),
            Some(found) if *found != stated => faults.push(format!(
                "{}: torch_npu = {stated:?}, but {PREFIX}{name} is in {found:?} ({FILE})",
                rule.id
            )),
            Some(_) => {}
        }
    }
    Ok(faults)
}
