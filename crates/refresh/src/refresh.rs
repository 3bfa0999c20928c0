//! `cargo xtask refresh`: runs extractors and replaces the tables that differ.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, Result, bail, ensure};
use clap::Args;

use crate::context::{Context, Places};
use crate::diff::{self, Difference, Rows};
use crate::extract::{self, Content, Extractor, Key, Vanished};
use crate::manifest::{self, Manifest, Owner, TableEntry};
use crate::package::Packages;
use crate::publish::Batch;
use crate::table::Table;
use crate::{overlay, package_lock, report};

/// Examples for the help text.
pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask refresh
  cargo xtask refresh errors/acl_rt.tsv --repos ~/clones --dry-run
  cargo xtask refresh --pinned --offline --repos ~/clones
  cargo xtask refresh ops/aten.tsv --verify 2.15.0
  cargo xtask refresh ops/kernels.tsv --verify 2.14.0

Exit status: 0 done, 1 --verify found differences, 2 a source or a table is at fault and nothing was written";

/// Options of `refresh`.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "options of a command line")]
pub(crate) struct Options {
    /// Tables below data/, such as `errors/acl_rt.tsv` or `errors` [default: all]
    #[arg(value_name = "TABLE")]
    tables: Vec<String>,

    /// Directory with local clones: OWNER/NAME or OWNER+NAME, bare or with a work tree
    #[arg(long, value_name = "DIR")]
    repos: Option<PathBuf>,

    /// Directory with downloaded wheels and index pages [default: a cache in target/]
    #[arg(long, value_name = "DIR")]
    wheels: Option<PathBuf>,

    /// Read nothing from the network
    #[arg(long)]
    offline: bool,

    /// Read the recorded commits and files of packages instead of the newest ones
    #[arg(long)]
    pinned: bool,

    /// Report differences without writing
    #[arg(long)]
    dry_run: bool,

    /// Print JSON
    #[arg(long, conflicts_with = "markdown")]
    json: bool,

    /// Print Markdown for a pull request
    #[arg(long)]
    markdown: bool,

    /// Package index [default: the one that pip is configured for]
    #[arg(long, value_name = "URL")]
    index: Option<String>,

    /// Address of the repositories, without OWNER/NAME
    #[arg(long, value_name = "URL", default_value = "https://github.com")]
    git_base: String,

    /// Directory of the tables [default: data/ of the workspace]
    #[arg(long, value_name = "DIR")]
    data: Option<PathBuf>,

    /// Only compare the rows of a wheel with it: of PyTorch in ops/aten.tsv, of torch_npu in
    /// ops/kernels.tsv
    #[arg(long, value_name = "VERSION", requires = "tables")]
    verify: Option<String>,
}

/// Runs the extractors. Nothing is written unless all succeed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let root = workspace();
    let data = options.data.clone().unwrap_or_else(|| root.join("data"));
    let manifest = Manifest::read(&data)?;
    let selected = select(&options.tables, &manifest)?;
    let cache = std::env::var_os("CARGO_TARGET_DIR")
        .map_or_else(|| root.join("target"), PathBuf::from)
        .join("refresh");
    let wheels = options.wheels.clone().unwrap_or_else(|| cache.join("wheels"));
    let packages = Packages::new(&wheels, options.offline, options.index.clone());
    let lock = std::fs::read_to_string(data.join(package_lock::FILE)).unwrap_or_default();
    let pins = package_lock::parse(&lock)?;
    let packages = if options.pinned { packages.pinned(pins.clone()) } else { packages };
    let places = Places {
        repos: options.repos.clone(),
        cache,
        offline: options.offline,
        pinned: options.pinned,
        git_base: options.git_base.clone(),
    };
    let context = Context::new(manifest, &data, places, packages);
    if let Some(version) = &options.verify {
        return verify(&context, &selected, version);
    }
    let mut batch = Batch::default();
    let mut differences = Vec::new();
    for extractor in selected {
        let refreshed = refresh(extractor, &context).with_context(|| extractor.file.to_owned())?;
        if refreshed.changed {
            batch.add(&data.join(extractor.file), &refreshed.text)?;
        }
        differences.push(refreshed.difference);
    }
    check_references(&data, &differences)?;
    let before = std::fs::read_to_string(data.join(manifest::FILE))?;
    let after = crate::manifest_edit::record(&before, &context);
    if after != before {
        batch.add(&data.join(manifest::FILE), &after)?;
    }
    let mut pins = pins;
    pins.extend(context.packages.read());
    let after = package_lock::render(&pins);
    if after != lock {
        batch.add(&data.join(package_lock::FILE), &after)?;
    }
    if !options.dry_run {
        batch.commit()?;
    }
    let form = match (options.json, options.markdown) {
        (true, _) => report::json(&differences)?,
        (_, true) => report::markdown(&differences),
        _ => report::text(&differences),
    };
    print!("{form}");
    Ok(true)
}

/// Compares the rows of a released version with its wheel. Returns whether they are equal.
fn verify(context: &Context, selected: &[&Extractor], version: &str) -> Result<bool> {
    let [extractor] = selected else { bail!("--verify is for one table") };
    let differences = extract::ops::verify(context, extractor.file, version)?;
    for difference in &differences {
        println!("{difference}");
    }
    println!("{}: {version}: {} differences", extractor.file, differences.len());
    Ok(differences.is_empty())
}

/// Returns the root of the workspace that this program was built in.
pub(crate) fn workspace() -> PathBuf {
    let manifest = Path::new(env!("CARGO_MANIFEST_DIR"));
    manifest.ancestors().nth(2).unwrap_or(manifest).to_owned()
}

/// Returns the extractors of the named tables or directories.
fn select(names: &[String], manifest: &Manifest) -> Result<Vec<&'static Extractor>> {
    let mut selected = Vec::new();
    let matches = |file: &str, name: &str| {
        file == name || file.starts_with(&format!("{}/", name.trim_end_matches('/')))
    };
    for name in names {
        let name = name.strip_prefix("data/").unwrap_or(name);
        if extract::all().any(|extractor| matches(extractor.file, name)) {
            continue;
        }
        match manifest.tables.iter().find(|table| table.file == name).map(|table| table.owner) {
            Some(Owner::Hand) => bail!("`{name}` is edited by hand"),
            Some(Owner::Recorded) => {
                bail!("`{name}` is recorded: see its entry in {}", manifest::FILE)
            }
            _ => bail!("no table `{name}`"),
        }
    }
    for extractor in extract::all() {
        let name =
            |name: &String| matches(extractor.file, name.strip_prefix("data/").unwrap_or(name));
        if names.is_empty() || names.iter().any(name) {
            let owner = manifest.table(extractor.file)?.owner;
            ensure!(
                owner == Owner::Machine,
                "`{}` has an extractor, but is not machine-owned",
                extractor.file
            );
            selected.push(extractor);
        }
    }
    Ok(selected)
}

struct Refreshed {
    text: String,
    changed: bool,
    difference: Difference,
}

/// Extracts one table, adds its overlay, and compares it with the file.
fn refresh(extractor: &Extractor, context: &Context) -> Result<Refreshed> {
    let entry = context.manifest.table(extractor.file)?;
    let head = head(entry);
    let before = context.own(extractor.file)?;
    // A damaged file is restored, so its rows need not be readable.
    let old_rows = before.as_ref().and_then(|text| rows(text, extractor.key, entry).ok());
    let mut stale = Vec::new();
    let mut kept = Vec::new();
    let text = match (extractor.extract)(context)? {
        Content::Toml(body) | Content::Lines(body) => {
            format!("# {}\n{body}", head.join("\n# "))
        }
        Content::Document(mut document) => {
            let overlay_file = overlay::file_of(extractor.file);
            if let Some(text) = context.own(&overlay_file)? {
                stale = document.apply(&text).with_context(|| overlay_file.clone())?;
            }
            document.finish()?;
            document.render(&head)
        }
        Content::Table(mut table) => {
            let key: Vec<&str> = match extractor.key {
                Key::Columns(key) => key.to_vec(),
                Key::Unnamed(columns, keys) => columns[..keys].to_vec(),
                Key::Toml(_) | Key::Lines(_) => {
                    bail!("the extractor returns a table for a file of another kind")
                }
            };
            ensure!(!table.rows.is_empty(), "the sources gave no row");
            let sorted = table.rows.is_sorted_by(|a, b| a.first() <= b.first());
            let overlay_file = overlay::file_of(extractor.file);
            if let Some(text) = context.own(&overlay_file)? {
                let parsed = overlay::parse(&text).with_context(|| overlay_file.clone())?;
                stale = overlay::apply(&mut table, &parsed, &key)
                    .with_context(|| overlay_file.clone())?;
            }
            if extractor.vanished == Vanished::Keep
                && let Some(before) = &before
                && let Ok(old) = parse(before, extractor.key)
            {
                kept = keep_vanished(&mut table, &old, &key)?;
            }
            if sorted && !table.named {
                // Readers of operator tables search in sorted rows.
                table.rows.sort();
            }
            table.render(&head)
        }
    };
    let new_rows = rows(&text, extractor.key, entry)?;
    let (count, floor) = (new_rows.len(), entry.floor);
    ensure!(count >= floor, "{count} rows are below the floor of {floor}");
    let mut difference =
        Difference::between(extractor.file, &old_rows.unwrap_or_default(), &new_rows);
    difference.kept = kept;
    difference.stale = stale;
    Ok(Refreshed { changed: before.as_deref() != Some(text.as_str()), text, difference })
}

/// Returns the rows of a file below `data/` without column names, as input of an extractor.
pub(crate) fn own_table(context: &Context, file: &str, columns: &[&str]) -> Result<Table> {
    let text = context.own(file)?.with_context(|| format!("`{file}` is missing"))?;
    Table::parse(&text, Some(columns)).with_context(|| file.to_owned())
}

/// Returns the comment lines about the owner, which every machine-owned file begins with.
pub(crate) fn head(entry: &TableEntry) -> Vec<String> {
    let file = &entry.file;
    let manual = if file.ends_with(".tsv") {
        format!("; manual rows: {}", overlay::file_of(file))
    } else {
        String::new()
    };
    vec![format!("Owner: machine. Written by `cargo xtask refresh {file}`{manual}.")]
}

/// Reads a table file.
pub(crate) fn parse(text: &str, key: Key) -> Result<Table> {
    match key {
        Key::Columns(_) => Table::parse(text, None),
        Key::Unnamed(columns, _) => Table::parse(text, Some(columns)),
        Key::Toml(_) | Key::Lines(_) => bail!("not a table of tab-separated values"),
    }
}

/// Returns the rows of a file by key.
pub(crate) fn rows(text: &str, key: Key, entry: &TableEntry) -> Result<Rows> {
    match key {
        Key::Toml(keys) => diff::toml_rows(text, keys),
        Key::Lines(read) => read(text),
        Key::Columns(columns) => diff::table_rows(&parse(text, key)?, columns, &entry.conflicts),
        Key::Unnamed(columns, keys) => {
            diff::table_rows(&parse(text, key)?, &columns[..keys], &entry.conflicts)
        }
    }
}

/// Appends rows of the old file that no source has any more. Their source keeps its old commit.
///
/// A row vanished only if no source has its code, nor its symbol with another code: otherwise the
/// old file is damaged, and the sources are right.
fn keep_vanished(table: &mut Table, old: &Table, key: &[&str]) -> Result<Vec<String>> {
    let mut have: Vec<(usize, BTreeSet<String>)> = Vec::new();
    for name in key {
        let (at, column) = (old.column(name)?, table.column(name)?);
        let cells = table.rows.iter().map(|row| row[column].clone());
        have.push((at, cells.filter(|cell| !cell.is_empty()).collect()));
    }
    let mut kept = Vec::new();
    for row in &old.rows {
        if have.iter().any(|(at, cells)| cells.contains(&row[*at])) {
            continue;
        }
        let key = have.iter().map(|(at, _)| row[*at].as_str()).collect::<Vec<_>>().join(" ");
        let mut cells = Vec::with_capacity(table.columns.len());
        for column in &table.columns.clone() {
            let cell = old.column(column).map(|at| row[at].clone()).unwrap_or_default();
            cells.push(if column == "source" { carry_source(table, old, &cell) } else { cell });
        }
        table.rows.push(cells);
        kept.push(key);
    }
    Ok(kept)
}

/// Returns the reference of an old row to its source, renumbered for the new list of sources.
fn carry_source(table: &mut Table, old: &Table, cell: &str) -> String {
    let (number, line) =
        cell.split_once('#').map_or((cell, String::new()), |(n, line)| (n, format!("#{line}")));
    let of = |remark: &String| {
        remark
            .strip_prefix("source ")
            .and_then(|rest| rest.split_once(": "))
            .map(|(n, s)| (n.to_owned(), s.to_owned()))
    };
    let sources: Vec<(String, String)> = old.remarks.iter().filter_map(of).collect();
    let source = sources.iter().find(|(known, _)| known == number).or(sources.first());
    let Some((_, source)) = source else { return String::new() };
    let mut known = table.remarks.iter().filter_map(of);
    let index = known.find(|(_, known)| known == source).map(|(number, _)| number);
    let index = index.unwrap_or_else(|| {
        let number = table.remarks.iter().filter_map(of).count().to_string();
        table.remarks.push(format!("source {number}: {source}"));
        number
    });
    index + &line
}

/// Rejects the loss of a code that manual tables refer to.
fn check_references(data: &Path, differences: &[Difference]) -> Result<()> {
    let path = data.join("errors/code_causes.tsv");
    let Ok(text) = std::fs::read_to_string(&path) else { return Ok(()) };
    for difference in differences {
        let family =
            difference.file.strip_prefix("errors/").and_then(|file| file.strip_suffix(".tsv"));
        let Some(family) = family else { continue };
        for (key, row) in &difference.removed {
            let code = row.get("code").map_or(key.as_str(), String::as_str);
            let wanted = format!("{family}\t{code}\t");
            let referred = text.lines().any(|line| line.starts_with(&wanted));
            ensure!(
                !referred,
                "{}: code `{code}` vanished, but errors/code_causes.tsv refers to it",
                difference.file
            );
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn vanished_codes_are_kept_and_damaged_rows_are_not() {
        let old =
            "# source 0: o/a@1:x\ncode\tsymbol\tsource\n1\tA\t0\n7\tGONE\t0#L3\n9\tB\t0\n2\tX\t0\n";
        let new = "# source 0: o/a@2:x\ncode\tsymbol\tsource\n1\tA\t0\n2\tB\t0\n";
        let mut table = Table::parse(new, None).unwrap();
        let old = Table::parse(old, None).unwrap();
        // 9 is not lost: its symbol has another code. 2 is not lost: it has another symbol.
        assert_eq!(keep_vanished(&mut table, &old, &["code", "symbol"]).unwrap(), ["7 GONE"]);
        assert_eq!(
            table.render(&[]),
            "# source 0: o/a@2:x\n# source 1: o/a@1:x\ncode\tsymbol\tsource\n1\tA\t0\n2\tB\t0\n7\tGONE\t1#L3\n"
        );
    }
}
