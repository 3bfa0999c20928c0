//! `cargo xtask check-data`: what must hold of every table, checked without network and sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use walkdir::WalkDir;

use crate::extract::{self, Key};
use crate::manifest::{self, Manifest, Owner, TableEntry};
use crate::refresh::{head, parse, rows, workspace};
use crate::{overlay, package};

/// Files below `data/` that are no tables.
const NOT_TABLES: &[&str] = &["Cargo.toml", "build.rs", "pack.rs", manifest::FILE];

/// Options of `check-data`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Directory of the tables [default: data/ of the workspace]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,
}

/// Prints every violated invariant. Returns whether all hold.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let data = options.data.clone().unwrap_or_else(|| workspace().join("data"));
    let manifest = Manifest::read(&data)?;
    let faults = faults(&data, &manifest)?;
    for fault in &faults {
        println!("{fault}");
    }
    println!(
        "{} tables, {} sources: {} faults",
        manifest.tables.len(),
        manifest.sources.len(),
        faults.len()
    );
    Ok(faults.is_empty())
}

fn faults(data: &Path, manifest: &Manifest) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let files = files(data)?;
    let listed: BTreeSet<&str> = manifest.tables.iter().map(|table| table.file.as_str()).collect();
    for file in &files {
        let base = file.contains(".overlay.").then(|| file.replace(".overlay.", "."));
        match base {
            Some(base) if !listed.contains(base.as_str()) => {
                faults.push(format!("{file}: no table `{base}`"))
            }
            None if !listed.contains(file.as_str()) => {
                faults.push(format!("{file}: not listed in {}", manifest::FILE));
            }
            _ => {}
        }
    }
    for extractor in extract::all() {
        if !listed.contains(extractor.file) {
            faults.push(format!(
                "{}: has an extractor, but no entry in {}",
                extractor.file,
                manifest::FILE
            ));
        }
    }
    for table in &manifest.tables {
        let path = data.join(&table.file);
        let Ok(text) = std::fs::read_to_string(&path) else {
            faults.push(format!("{}: listed, but not readable", table.file));
            continue;
        };
        let found = match table.owner {
            Owner::Machine => machine_faults(&text, table, manifest),
            Owner::Hand => hand_faults(&text),
            Owner::Recorded => recorded_faults(&path, table),
        };
        let found = found.with_context(|| table.file.clone())?;
        faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", table.file)));
        faults.extend(overlay_faults(data, table)?);
    }
    Ok(faults)
}

/// A machine-owned file: its header, its commits, its keys, its floor.
fn machine_faults(text: &str, table: &TableEntry, manifest: &Manifest) -> Result<Vec<String>> {
    let mut faults = Vec::new();
    let Some(extractor) = extract::all().find(|extractor| extractor.file == table.file) else {
        return Ok(vec!["machine-owned, but no extractor writes it".to_owned()]);
    };
    for (line, expected) in text.lines().zip(head(table)) {
        if line != format!("# {expected}") {
            faults.push(format!("its first line is not `# {expected}`"));
        }
    }
    match rows(text, extractor.key, table) {
        Ok(rows) if rows.len() < table.floor => {
            faults.push(format!("{} rows are below the floor of {}", rows.len(), table.floor));
        }
        Ok(_) => {}
        Err(error) => faults.push(format!("{error:#}")),
    }
    if !matches!(extractor.key, Key::Toml(_) | Key::Lines(_))
        && let Ok(parsed) = parse(text, extractor.key)
    {
        for remark in &parsed.remarks {
            let source = remark.strip_prefix("source ").and_then(|rest| rest.split_once(": "));
            if let Some((_, source)) = source {
                faults.extend(source.split(" + ").filter_map(|part| origin_fault(part, manifest)));
            }
        }
    }
    Ok(faults)
}

/// A source `OWNER/NAME@COMMIT:PATH` must name a listed repository.
fn origin_fault(source: &str, manifest: &Manifest) -> Option<String> {
    let (name, rest) = source.split_once('@')?;
    let known = manifest.sources.iter().any(|source| source.name == name);
    let commit = rest.split(':').next().unwrap_or_default();
    let is_commit = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!known || !is_commit)
        .then(|| format!("source `{source}` names no listed repository and commit"))
}

/// A manual file says so in a comment at its top, so that nobody looks for its generator.
fn hand_faults(text: &str) -> Result<Vec<String>> {
    let first = text.lines().next().unwrap_or_default();
    let stated = first.starts_with("# Owner: hand.");
    Ok(if stated {
        Vec::new()
    } else {
        vec!["its first line is not `# Owner: hand. …`".to_owned()]
    })
}

/// A recorded file is the one whose hash is recorded.
fn recorded_faults(path: &Path, table: &TableEntry) -> Result<Vec<String>> {
    let found = package::sha256(path)?;
    let recorded = table.recorded.as_ref().map(|recording| recording.sha256.as_str());
    Ok(if recorded == Some(found.as_str()) {
        Vec::new()
    } else {
        vec![format!("has SHA-256 {found}, which is not the recorded one")]
    })
}

/// An overlay belongs to a machine-owned table and can be read.
fn overlay_faults(data: &Path, table: &TableEntry) -> Result<Vec<String>> {
    let file = overlay::file_of(&table.file);
    let Ok(text) = std::fs::read_to_string(data.join(&file)) else { return Ok(Vec::new()) };
    if table.owner != Owner::Machine {
        return Ok(vec![format!("{file}: only machine-owned tables have overlays")]);
    }
    let read = if file.ends_with(".toml") {
        toml::from_str::<toml::Table>(&text).map(drop).map_err(Into::into)
    } else {
        overlay::parse(&text).map(drop)
    };
    Ok(read.err().map(|error| format!("{file}: {error:#}")).into_iter().collect())
}

/// Paths below `data/`, without the crate that is there too.
fn files(data: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let walk = WalkDir::new(data).sort_by_file_name().into_iter();
    for entry in walk.filter_entry(|entry| !(entry.depth() == 1 && entry.file_name() == "src")) {
        let entry = entry?;
        let path = entry.path().strip_prefix(data)?;
        let name = path.to_str().with_context(|| format!("`{}` is not UTF-8", path.display()))?;
        if entry.file_type().is_file() && !NOT_TABLES.contains(&name) {
            files.push(name.to_owned());
        }
    }
    Ok(files)
}
