//! `cargo xtask check-data`: checks the invariants of every table, without network and sources.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result};
use clap::Args;
use walkdir::WalkDir;

use crate::extract::{self, Key};
use crate::manifest::{self, Manifest, Owner, Recording, TableEntry};
use crate::refresh::{head, parse, rows, workspace};
use crate::table::Table;
use crate::{overlay, package, package_lock};

/// Files below `data/` that are not tables.
const NOT_TABLES: &[&str] =
    &["Cargo.toml", "build.rs", "pack.rs", manifest::FILE, package_lock::FILE];

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
                faults.push(format!("{file}: no table `{base}`"));
            }
            None if !listed.contains(file.as_str()) => {
                faults.push(format!("{file}: not listed in {}", manifest::FILE));
            }
            _ => {}
        }
    }
    let lock = std::fs::read_to_string(data.join(package_lock::FILE)).unwrap_or_default();
    let pins = package_lock::parse(&lock)?;
    for source in manifest.sources.iter().filter(|source| source.files.is_some()) {
        let files = pins.get(&source.name).map(|files| package_lock::describe(&source.name, files));
        if files != source.files {
            let file = package_lock::FILE;
            faults.push(format!("{file}: not the files of `{}` in {}", source.id, manifest::FILE));
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
        if table.file.contains(".overlay.") {
            // Listed separately, it would count as a manually edited table that the product reads.
            faults.push(format!("{}: an overlay is listed with its table only", table.file));
            continue;
        }
        let path = data.join(&table.file);
        let Ok(text) = std::fs::read_to_string(&path) else {
            faults.push(format!("{}: listed, but not readable", table.file));
            continue;
        };
        let found = match table.owner {
            Owner::Machine => machine_faults(&text, table, manifest),
            Owner::Hand => hand_fault(&text).into_iter().collect(),
            Owner::Recorded => recorded_faults(&path, table)?,
        };
        faults.extend(found.into_iter().map(|fault| format!("{}: {fault}", table.file)));
        faults.extend(overlay_fault(data, table));
    }
    faults.extend(extract::convert::rule_faults(data)?);
    Ok(faults)
}

/// Checks a machine-owned file: its header, commits, keys and floor.
fn machine_faults(text: &str, table: &TableEntry, manifest: &Manifest) -> Vec<String> {
    let mut faults = Vec::new();
    let Some(extractor) = extract::all().find(|extractor| extractor.file == table.file) else {
        return vec!["machine-owned, but no extractor writes it".to_owned()];
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
        faults.extend(license_faults(&parsed, manifest));
    }
    faults
}

/// Checks that rows of files whose license forbids texts have no text. One word, such as
/// `occurred`, does not count as text.
fn license_faults(table: &Table, manifest: &Manifest) -> Vec<String> {
    let Ok(message) = table.column("message") else { return Vec::new() };
    let restricted = |source: &str| {
        let Some((name, path)) = source.split_once('@') else { return false };
        let path = path.split_once(':').map_or("", |(_, path)| path);
        let of = manifest.sources.iter().filter(|source| source.name == name);
        of.flat_map(|source| &source.numbers_only).any(|prefix| path.starts_with(prefix.as_str()))
    };
    let remarks = table.remarks.iter().filter_map(|remark| remark.strip_prefix("source "));
    let sources: Vec<(&str, &str)> = remarks.filter_map(|rest| rest.split_once(": ")).collect();
    let column = table.column("source").ok();
    let source_of = |row: &[String]| -> Option<&str> {
        let number = column.map_or("0", |at| row[at].split('#').next().unwrap_or_default());
        sources.iter().find(|(known, _)| *known == number).map(|(_, source)| *source)
    };
    let has_text = |row: &&Vec<String>| row[message].split_whitespace().count() > 1;
    let texts = table.rows.iter().filter(has_text).filter_map(|row| {
        let source = source_of(row)?;
        // A row of several files may have the text of the unrestricted one.
        source.split(" + ").all(restricted).then(|| format!("text of `{source}`: {}", row[message]))
    });
    texts.collect()
}

/// Checks that a source `OWNER/NAME@COMMIT:PATH` names a listed repository.
fn origin_fault(source: &str, manifest: &Manifest) -> Option<String> {
    let (name, rest) = source.split_once('@')?;
    let known = manifest.sources.iter().any(|source| source.name == name);
    let commit = rest.split(':').next().unwrap_or_default();
    let is_commit = commit.len() == 12 && commit.bytes().all(|byte| byte.is_ascii_hexdigit());
    (!known || !is_commit)
        .then(|| format!("source `{source}` names no listed repository and commit"))
}

/// Checks that a manual file states its owner in a comment at its top, so that maintainers do not
/// look for a generator.
fn hand_fault(text: &str) -> Option<String> {
    let stated = text.starts_with("# Owner: hand.");
    (!stated).then(|| "its first line is not `# Owner: hand. …`".to_owned())
}

/// Checks that a recorded file has the recorded hash.
fn recorded_faults(path: &Path, table: &TableEntry) -> Result<Vec<String>> {
    let found = package::sha256(path)?;
    let recorded = table.recorded.as_ref().filter(|recording| recording.sha256 != found);
    let fault = recorded.map(|Recording { script, date, environment, .. }| {
        format!("has SHA-256 {found}, not the one of {date}: made by {script} on {environment}")
    });
    Ok(fault.into_iter().collect())
}

/// Checks that an overlay belongs to a machine-owned table and can be parsed.
fn overlay_fault(data: &Path, table: &TableEntry) -> Option<String> {
    let file = overlay::file_of(&table.file);
    let text = std::fs::read_to_string(data.join(&file)).ok()?;
    if table.owner != Owner::Machine {
        return Some(format!("{file}: only machine-owned tables have overlays"));
    }
    let read = if file.ends_with(".toml") {
        toml::from_str::<toml::Table>(&text).map(drop).map_err(Into::into)
    } else {
        overlay::parse(&text).map(drop)
    };
    read.err().map(|error| format!("{file}: {error:#}"))
}

/// Returns the paths below `data/`, without the crate in the same directory.
fn files(data: &Path) -> Result<Vec<String>> {
    let mut files = Vec::new();
    let walk = WalkDir::new(data).sort_by_file_name().into_iter();
    let is_code = |entry: &walkdir::DirEntry| {
        let name = entry.file_name();
        // The maintainer commands share the generator of the typed errors.
        entry.depth() == 1
            && (name == "src" || name == "examples" || name == "faults.rs" || name == "messages.rs")
    };
    for entry in walk.filter_entry(|entry| !is_code(entry)) {
        let entry = entry?;
        let path = entry.path().strip_prefix(data)?;
        let name = path.to_str().with_context(|| format!("`{}` is not UTF-8", path.display()))?;
        if entry.file_type().is_file() && !NOT_TABLES.contains(&name) {
            files.push(name.to_owned());
        }
    }
    Ok(files)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_of_this_tree_have_no_fault() {
        let data = workspace().join("data");
        let manifest = Manifest::read(&data).unwrap();
        assert_eq!(faults(&data, &manifest).unwrap(), Vec::<String>::new());
    }

    /// Copies `data/` with one file changed, and returns the faults of the copy.
    fn faults_with(file: &str, change: impl Fn(&str) -> String) -> Vec<String> {
        let home = workspace().join("data");
        let dir = tempfile::tempdir().unwrap();
        for name in files(&home).unwrap().iter().map(String::as_str).chain([manifest::FILE]) {
            let to = dir.path().join(name);
            std::fs::create_dir_all(to.parent().unwrap()).unwrap();
            std::fs::copy(home.join(name), to).unwrap();
        }
        let path = dir.path().join(file);
        let text = std::fs::read_to_string(&path).unwrap_or_default();
        std::fs::write(&path, change(&text)).unwrap();
        faults(dir.path(), &Manifest::read(&home).unwrap()).unwrap()
    }

    #[test]
    fn an_overlay_is_no_table() {
        let data = workspace().join("data");
        let mut manifest = Manifest::read(&data).unwrap();
        let mut entry = manifest.table("errors/notes.toml").unwrap().clone();
        entry.file = "errors/knowledge.overlay.toml".to_owned();
        manifest.tables.push(entry);
        let found = faults(&data, &manifest).unwrap();
        let expected = "errors/knowledge.overlay.toml: an overlay is listed with its table only";
        assert!(found.iter().any(|fault| fault == expected), "{found:?}");
    }

    #[test]
    fn violations_are_found() {
        let cut =
            |text: &str| text.lines().take(9).fold(String::new(), |all, line| all + line + "\n");
        for (file, change, expected) in [
            ("errors/acl_rt.tsv", &cut as &dyn Fn(&str) -> String, "below the floor"),
            (
                "errors/acl_rt.tsv",
                &|text| text.replace("Owner: machine", "Owner: nobody"),
                "first line",
            ),
            (
                "errors/acl_rt.tsv",
                &|text| format!("{text}{}\n", text.lines().last().unwrap()),
                "has 2 values",
            ),
            (
                "errors/acl_rt.tsv",
                &|text| text.replace("hicann/runtime@", "some/fork@"),
                "no listed repository",
            ),
            (
                "errors/dms_sensor.tsv",
                &|text| text.replace("\tTEMPERATURE\t", "\tTEMPERATURE\ttoo hot"),
                "text of",
            ),
            ("errors/notes.toml", &|text| text.replace("# Owner: hand.", "#"), "Owner: hand"),
            ("ops/api.tsv", &|text| text.to_owned() + "x", "has SHA-256"),
            (
                "convert/torch_cuda.toml",
                &|text| text.replacen("\"2.6.0\", ", "", 1),
                "CV0001: torch_npu = {\"2.1.0.post17\", \"2.14.0\", \"2.7.1\"",
            ),
            (
                "torch_npu_names.tsv",
                &|text| text.replace("torch.npu.amp\t", "torch.npu.other\t"),
                "CV0035: torch_npu_names.tsv lacks torch.npu.amp",
            ),
            (
                "convert_rules.toml",
                &|text| text.replace("\"2.6.0\"", "\"2.8.0\""),
                "its versions are not those of",
            ),
            ("stray.tsv", &|_| "x\n".to_owned(), "not listed"),
            ("errors/none.overlay.tsv", &|_| "x\n".to_owned(), "no table `errors/none.tsv`"),
        ] {
            let found = faults_with(file, change);
            assert!(found.iter().any(|fault| fault.contains(expected)), "{expected}: {found:?}");
        }
    }
}
