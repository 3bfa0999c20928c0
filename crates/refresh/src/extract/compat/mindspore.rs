//! MindSpore: the CANN versions in its documents and in MindFormers, and the Python versions of its
//! wheels.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Result, ensure};
use regex::Regex;
use toml::Value;

use super::matrix::{list, row};
use super::mind_cluster::preferred;
use super::versions::numbers;
use crate::context::Context;
use crate::document::Row;

const GUIDE: &str = "install/mindspore_ascend_install_pip.md";

#[derive(Debug, Default)]
struct Facts {
    cann: String,
    python: BTreeSet<String>,
    documented: String,
    sources: Vec<String>,
}

pub(super) fn rows(context: &Context) -> Result<Vec<Row>> {
    let mut found: BTreeMap<String, Facts> = BTreeMap::new();
    // Wheels with Ascend support have the platform `any` in their name.
    let name =
        Regex::new(r"^mindspore-(\d+\.\d+\.\d+(?:rc\d+|\.post\d+)?)-cp(\d)(\d+)-none-any\.whl$")?;
    for file in context.packages.files("mindspore")? {
        if let Some(parts) = name.captures(&file.name).filter(|_| !file.yanked) {
            let facts = found.entry(parts[1].to_owned()).or_default();
            facts.python.insert(format!("{}.{}", &parts[2], &parts[3]));
        }
    }
    ensure!(found.len() >= 9, "the index has {} versions of MindSpore", found.len());
    for facts in found.values_mut() {
        facts.sources.push("MindSpore wheels in the package index".to_owned());
    }
    for (version, cann) in preferred(context, "ms")? {
        let facts = found.entry(version).or_default();
        facts.cann = cann;
        facts.sources.push("mindspore-lab/mindformers:mindformers/VERSION_MAP.json".to_owned());
    }
    let community = Regex::new(r"`(\d+\.\d+[\w.]*?(?:alpha|beta)\d+)`")?;
    let python = Regex::new(r"\[Python\][^|]*\|([\d.\- ]+)\|")?;
    context.tree("mindspore-docs")?;
    let repository = context.repository("mindspore-docs")?;
    let mut guides = 0;
    for (branch, commit) in repository.refs(&Regex::new(r"^r\d+\.\d+(\.\d+)?$")?)? {
        let tree = repository.tree(&branch, &commit)?;
        let Ok(text) = tree.text(GUIDE) else { continue };
        let Some(cann) = community.captures(&text) else { continue };
        guides += 1;
        let version = branch.trim_start_matches('r').to_owned();
        let facts = found.entry(version).or_default();
        if facts.cann.is_empty() {
            facts.cann = cann[1].to_owned();
        }
        if let Some(python) = python.captures(&text) {
            facts.documented = python[1].trim().to_owned();
        }
        facts.sources.push(format!("mindspore/docs branch {branch}: install guide"));
    }
    ensure!(guides >= 15, "{} has install guides in {guides} branches", repository.name());
    let rows = found.into_iter().map(|(version, facts)| {
        let mut python: Vec<String> = facts.python.into_iter().collect();
        python.sort_by_key(|version| numbers(version));
        row([
            ("version", Value::from(version)),
            ("level", Value::from(if python.is_empty() { "recommended" } else { "measured" })),
            ("cann", Value::from(facts.cann)),
            ("python", list(python)),
            ("python_documented", Value::from(facts.documented)),
            ("source", Value::from(facts.sources.join("; "))),
        ])
    });
    Ok(rows.collect())
}
