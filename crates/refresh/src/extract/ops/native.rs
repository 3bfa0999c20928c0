//! `aten.tsv`, `sync.tsv`: the properties of each aten overload in `native_functions.yaml`.
//!
//! Published PyTorch versions do not change, and their wheels are large. So rows of known versions
//! are kept, and only new versions are read, from their wheels. `--verify VERSION` reads a known
//! version again and compares it.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;

use anyhow::{Context as _, Result, anyhow, ensure};
use audit::ops::installed::{native_functions, yaml};
use pep440_rs::Version;

use super::release::numbers;
use super::{recorded, runs, unnamed};
use crate::context::Context;
use crate::extract::Content;
use crate::package::IndexFile;
use crate::refresh::own_table;
use crate::remote_zip::RemoteZip;

pub(super) const ATEN: &str = "ops/aten.tsv";
const SYNC: &str = "ops/sync.tsv";
const MEMBER: &str = "torchgen/packaged/ATen/native/native_functions.yaml";
/// Tags that make the host wait for the device.
const TAGS: [&str; 2] = ["data_dependent_output", "dynamic_output_shape"];

/// How PyTorch runs an overload on a device that registers nothing.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Native {
    source: Option<String>,
    flags: String,
}

/// The content of `native_functions.yaml` of one version.
#[derive(Debug)]
struct Functions {
    overloads: BTreeMap<String, Native>,
    /// Overload and tag.
    tags: BTreeSet<(String, String)>,
}

impl Functions {
    fn parse(text: &str) -> Result<Self> {
        let found = native_functions(text).map_err(|error| anyhow!(error))?;
        ensure!(found.len() >= 2800, "{} overloads, expected at least 2800", found.len());
        let names: BTreeSet<String> = found.keys().cloned().collect();
        let overloads = found.into_iter().map(|(name, (delegate, flags))| {
            let source = match (flags.contains('d'), flags.contains('a')) {
                (true, _) => delegate,
                (_, true) => Some(
                    generated_from(&name, &names)
                        .with_context(|| format!("no overload that generated `{name}` calls"))?,
                ),
                _ => None,
            };
            Ok((name, Native { source, flags }))
        });
        let overloads = overloads.collect::<Result<_>>()?;
        Ok(Self { overloads, tags: tags(text)? })
    }
}

/// Returns the overload that a generated one calls: the functional form if there is one, or else
/// the in-place form. The entry that lists the generated overload under `autogen` may be a
/// different one.
fn generated_from(name: &str, names: &BTreeSet<String>) -> Option<String> {
    let (base, overload) = name.split_once('.').unwrap_or((name, ""));
    let dot = if overload.is_empty() { String::new() } else { format!(".{overload}") };
    let mut guesses = Vec::new();
    if let Some(stem) = base.strip_suffix("_functional") {
        guesses.extend([format!("{stem}_{dot}"), format!("{stem}{dot}")]);
    }
    if overload == "out" {
        guesses.extend([base.to_owned(), format!("{base}_")]);
    } else if let Some(stem) = overload.strip_suffix("_out") {
        guesses.extend([format!("{base}.{stem}"), base.to_owned(), format!("{base}_.{stem}")]);
    }
    guesses.push(format!("{base}_{dot}"));
    guesses.into_iter().find(|guess| guess != name && names.contains(guess))
}

/// Returns the overloads with one of [`TAGS`].
fn tags(text: &str) -> Result<BTreeSet<(String, String)>> {
    let mut found = BTreeSet::new();
    let Some(root) = yaml::read(text).map_err(|error| anyhow!(error))? else { return Ok(found) };
    for entry in root.list().map_err(|error| anyhow!(error))? {
        let mut entry = entry.map().map_err(|error| anyhow!(error))?;
        let func = entry.remove("func").and_then(|node| node.text().ok()).unwrap_or_default();
        let name = func.split('(').next().unwrap_or_default().trim().to_owned();
        let Some(node) = entry.remove("tags") else { continue };
        let words: Vec<String> = match node.value {
            yaml::Value::Text(text, _) => {
                text.split(',').map(|tag| tag.trim().to_owned()).collect()
            }
            yaml::Value::List(all) => all.into_iter().filter_map(|tag| tag.text().ok()).collect(),
            _ => Vec::new(),
        };
        let known = words.into_iter().filter(|tag| TAGS.contains(&tag.as_str()));
        found.extend(known.map(|tag| (name.clone(), tag)));
    }
    Ok(found)
}

/// Returns the version in the name of a torch wheel.
fn version_of(file: &IndexFile) -> Option<&str> {
    let (package, rest) = file.name.strip_suffix(".whl")?.split_once('-')?;
    (package == "torch").then(|| rest.split('-').next()).flatten()
}

/// Returns the smallest wheel of a version, because all of them contain the same file.
fn wheel<'f>(files: &'f [IndexFile], version: &str) -> Result<&'f IndexFile> {
    let mut same: Vec<&IndexFile> =
        files.iter().filter(|file| !file.yanked && version_of(file) == Some(version)).collect();
    same.sort_by_key(|file| !file.name.contains("macosx"));
    same.first().copied().with_context(|| format!("the index has no wheel of torch {version}"))
}

fn read(context: &Context, files: &[IndexFile], version: &str) -> Result<Functions> {
    let file = wheel(files, version)?;
    let mut archive = RemoteZip::open(&context.packages, file)?;
    let member = archive.by_name(MEMBER).with_context(|| format!("{}: {MEMBER}", file.name))?;
    let mut text = String::new();
    member.take(16 << 20).read_to_string(&mut text).with_context(|| file.name.clone())?;
    Functions::parse(&text).with_context(|| format!("{}:{MEMBER}", file.name))
}

/// Returns the first two numbers of a version.
fn minor(version: &str) -> Vec<u32> {
    numbers(version).into_iter().take(2).collect()
}

/// Returns the first torch release of each minor version after that of `known`.
fn later(files: &[IndexFile], known: &str) -> Vec<String> {
    let mut versions: Vec<(Version, String)> = files
        .iter()
        .filter(|file| !file.yanked)
        .filter_map(version_of)
        .filter_map(|text| Some((text.parse::<Version>().ok()?, text.to_owned())))
        .filter(|(version, _)| !version.any_prerelease() && !version.is_local())
        .filter(|(_, text)| minor(text) > minor(known))
        .collect();
    versions.sort();
    versions.dedup_by_key(|(_, text)| minor(text));
    versions.into_iter().map(|(_, text)| text).collect()
}

/// Returns the PyTorch versions of a table, and its rows.
fn known(context: &Context) -> Result<(Vec<String>, Vec<Vec<String>>)> {
    let table = own_table(context, ATEN, &["overload", "source", "runs"])?;
    let versions = table.remarks.iter().find_map(|remark| remark.strip_prefix("Versions: "));
    let versions = versions.with_context(|| format!("{ATEN} names no versions"))?;
    Ok((versions.split(' ').map(str::to_owned).collect(), table.rows))
}

/// Returns the PyTorch versions that the table will have.
pub(super) fn versions(context: &Context) -> Result<Vec<String>> {
    let (mut versions, _) = known(context)?;
    let last = versions.last().cloned().unwrap_or_default();
    if !context.pinned() {
        versions.extend(later(&context.packages.files("torch")?, &last));
    }
    Ok(versions)
}

/// Returns the version in the table that has the overloads of a PyTorch version. A patch release
/// changes no overloads: `2.9.1` has those of `2.9.0`.
pub(super) fn overloads_of(versions: &[String], torch: &str) -> Option<String> {
    let same = versions.iter().filter(|known| minor(known) == minor(torch));
    let before = same.filter(|known| numbers(known) <= numbers(torch));
    before.max_by_key(|known| numbers(known)).cloned()
}

/// Returns the versions to read, with their content.
fn new_versions(context: &Context, known: &str) -> Result<Vec<(String, Functions)>> {
    if context.pinned() {
        return Ok(Vec::new());
    }
    let files = context.packages.listed("torch")?;
    let versions = later(&files, known).into_iter();
    versions.map(|version| Ok((version.clone(), read(context, &files, &version)?))).collect()
}

/// Extracts `aten.tsv`.
pub(super) fn aten(context: &Context) -> Result<Content> {
    let (mut versions, rows) = known(context)?;
    let last = versions.last().cloned().unwrap_or_default();
    let mut table: BTreeMap<String, (Option<String>, Vec<Option<String>>)> = BTreeMap::new();
    for row in rows {
        let [name, source, cell] = &row[..] else { continue };
        let values = runs::values(cell, versions.len());
        let values = values.with_context(|| format!("{ATEN}: {name}: `{cell}`"))?;
        let source = (source != "-").then(|| source.clone());
        table.insert(name.clone(), (source, values));
    }
    for (version, functions) in new_versions(context, &last)? {
        let index = versions.len();
        versions.push(version);
        for (name, native) in functions.overloads {
            let (source, values) = table.entry(name).or_default();
            values.resize(index, None);
            values.push(Some(native.flags));
            if native.source.is_some() {
                *source = native.source;
            }
        }
        // Overloads that the dispatcher has without an entry in the file.
        for (name, classes) in recorded::read(context)?.aten {
            if classes.iter().flatten().any(|class| class != "K")
                && let Some((_, values)) = table.get_mut(&name)
                && values.len() == index
            {
                let before = values.last().cloned().flatten();
                values.push(before);
            }
        }
        for (_, values) in table.values_mut() {
            values.resize(index + 1, None);
        }
    }
    let rows = table
        .into_iter()
        .map(|(name, (source, values))| {
            vec![name, source.unwrap_or_else(|| "-".to_owned()), runs::runs(&values)]
        })
        .collect();
    let remarks = format!(
        "How PyTorch itself would run each overload of aten on a device that registers no kernel.\n\
         source 0: wheels of torch:{MEMBER}\n\
         source 1: ops/recorded/wheel_dispatch.tsv\n\
         Versions: {}\n\
         Columns: overload, overload that the generated code calls, runs FIRST-LAST:FLAGS of version\n\
         numbers. Flags: d generated, structured_delegate; a generated, autogen; E or N\n\
         CompositeExplicitAutograd(NonFunctional); C CompositeImplicitAutograd; c has a kernel for the CPU;\n\
         - none of these.",
        versions.join(" ")
    );
    Ok(unnamed(&["overload", "source", "runs"], &remarks, rows).into())
}

/// Extracts `sync.tsv`. Rows of previously read versions are kept.
pub(super) fn sync(context: &Context) -> Result<Content> {
    let (versions, _) = known(context)?;
    let last = versions.last().cloned().unwrap_or_default();
    let before = own_table(context, SYNC, &["overload", "tag"])?.rows;
    let mut rows: BTreeSet<(String, String)> = before
        .into_iter()
        .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
        .collect();
    for (_, functions) in new_versions(context, &last)? {
        rows.extend(functions.tags);
    }
    let rows = rows.into_iter().map(|(name, tag)| vec![name, tag]).collect();
    let remarks = format!(
        "Overloads of aten that make the host wait for the device, or whose output shape depends on\n\
         values: their tags.\n\
         source 0: wheels of torch:{MEMBER}\n\
         Columns: overload, tag."
    );
    Ok(unnamed(&["overload", "tag"], &remarks, rows).into())
}

/// Reads a known version from its wheel again, and lists the differences.
pub(super) fn verify(context: &Context, version: &str) -> Result<Vec<String>> {
    let (versions, rows) = known(context)?;
    let at = versions.iter().position(|known| known == version);
    let at =
        at.with_context(|| format!("{ATEN} has no version {version}: {}", versions.join(" ")))?;
    let files = context.packages.listed("torch")?;
    let found = read(context, &files, version)?;
    let unlisted = recorded::read(context)?.aten;
    let unlisted = |name: &str| {
        unlisted.get(name).is_some_and(|all| all.iter().flatten().any(|class| class != "K"))
    };
    let mut table: BTreeMap<String, Native> = BTreeMap::new();
    for row in rows {
        let [name, source, cell] = &row[..] else { continue };
        let values = runs::values(cell, versions.len());
        let values = values.with_context(|| format!("{ATEN}: {name}: `{cell}`"))?;
        let Some(Some(flags)) = values.into_iter().nth(at) else { continue };
        // The table has one source for all versions.
        let made = flags.contains(['d', 'a']);
        let source = (made && source != "-").then(|| source.clone());
        table.insert(name.clone(), Native { source, flags });
    }
    let mut differences = Vec::new();
    let names: BTreeSet<&String> = table.keys().chain(found.overloads.keys()).collect();
    for name in names {
        let (old, new) = (table.get(name), found.overloads.get(name));
        if old != new && !(new.is_none() && unlisted(name)) {
            let show = |native: Option<&Native>| {
                native.map_or_else(
                    || "nothing".to_owned(),
                    |native| {
                        format!("{} {}", native.source.as_deref().unwrap_or("-"), native.flags)
                    },
                )
            };
            differences.push(format!(
                "{name}: {} in the table, {} in the wheel",
                show(old),
                show(new)
            ));
        }
    }
    let listed: BTreeSet<(String, String)> = own_table(context, SYNC, &["overload", "tag"])?
        .rows
        .into_iter()
        .filter_map(|row| Some((row.first()?.clone(), row.get(1)?.clone())))
        .collect();
    let missing = found.tags.difference(&listed);
    differences.extend(missing.map(|(name, tag)| format!("{name}: {tag} is not in {SYNC}")));
    Ok(differences)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, yanked: bool) -> IndexFile {
        let (sha256, url) = (String::new(), String::new());
        IndexFile { name: name.to_owned(), sha256, url, yanked, requires_python: None }
    }

    #[test]
    fn first_release_of_each_later_minor_version_is_read() {
        let files = [
            file("torch-2.15.0-cp312-none-macosx_11_0_arm64.whl", false),
            file("torch-2.16.0rc1-cp312-none-any.whl", false),
            file("torch-2.16.1-cp312-cp312-manylinux_2_28_x86_64.whl", false),
            file("torch-2.16.1-cp312-none-macosx_11_0_arm64.whl", false),
            file("torch-2.16.0-cp312-none-any.whl", true),
            file("torch-2.16.2-cp312-none-any.whl", false),
            file("torch-2.17.0-cp312-none-any.whl", false),
            file("torch-2.17.0.tar.gz", false),
        ];
        assert_eq!(later(&files, "2.15.0"), ["2.16.1", "2.17.0"]);
        assert!(later(&files, "2.17.0").is_empty());
        assert_eq!(wheel(&files, "2.16.1").unwrap().name, files[3].name);
        assert!(wheel(&files, "2.16.0").is_err());
    }

    #[test]
    fn patches_have_the_overloads_of_their_release() {
        let versions = ["2.3.1", "2.9.0", "2.10.0"].map(str::to_owned);
        let of = |torch| overloads_of(&versions, torch);
        assert_eq!(of("2.9.1").as_deref(), Some("2.9.0"));
        assert_eq!(of("2.3.1").as_deref(), Some("2.3.1"));
        assert_eq!((of("2.3.0"), of("2.1.0"), of("3.9.0")), (None, None, None));
    }

    #[test]
    fn generated_overloads_call_the_functional_form() {
        let names = ["zero", "zero_", "zero.out", "x_.a", "x.a_out", "y_", "y_functional"];
        let names: BTreeSet<String> = names.into_iter().map(str::to_owned).collect();
        let of = |name: &str| generated_from(name, &names);
        assert_eq!(of("zero.out").as_deref(), Some("zero"));
        assert_eq!(of("x.a_out").as_deref(), Some("x_.a"));
        assert_eq!(of("y_functional").as_deref(), Some("y_"));
        assert_eq!(of("zero_"), None);
    }

    #[test]
    fn tags_are_a_text_or_a_list() {
        let text = "- func: a(Tensor x) -> Tensor\n  tags: [core, dynamic_output_shape]\n\
                    - func: b.out(Tensor x) -> Tensor\n  tags: data_dependent_output\n\
                    - func: c(Tensor x) -> Tensor\n  tags: pointwise\n- func: d(Tensor x) -> Tensor\n";
        let found: Vec<String> =
            tags(text).unwrap().into_iter().map(|(name, tag)| name + " " + &tag).collect();
        assert_eq!(found, ["a dynamic_output_shape", "b.out data_dependent_output"]);
        assert!(Functions::parse(text).is_err(), "a file with few overloads is not whole");
    }
}
