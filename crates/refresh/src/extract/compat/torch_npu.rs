//! torch_npu: versions with their CANN, wheels and Python, and the CANN ranges of its releases.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use pep440_rs::Version;
use regex::Regex;
use toml::Value;

use super::matrix::{list, row};
use super::versions::{numbers, package};
use crate::context::Context;
use crate::document::Row;
use crate::markup::{Grid, html_tables, markdown_tables};
use crate::repository::Tree;

const TABLE: &str = "COMPATIBILITY.md";
/// Release notes of a branch: the path since 26.1, and the earlier path.
const NOTES: &[&str] = &["docs/zh/release_notes.md", "docs/zh/release_notes/release_notes.md"];
/// All branches of a release have the same notes, and every release has a branch for this torch.
const NOTES_BRANCH: &str = r"^v2\.7\.1-\d+\.\d+\.\d+$";

/// The facts about one version.
#[derive(Debug)]
struct Release {
    version: Version,
    torch: String,
    /// Release of the product, such as `26.1.0`.
    product: String,
    cann: String,
    level: &'static str,
    python: Vec<String>,
    triton: String,
    source: String,
}

/// The Python versions of a wheel and their C library, by architecture.
type Wheels = BTreeMap<String, Builds>;
/// The C library by Python version.
type Builds = BTreeMap<(u32, u32), (u32, u32)>;

pub(super) fn rows(context: &Context) -> Result<Vec<Row>> {
    let tree = context.tree("ascend-pytorch")?;
    let compatibility = tree.text(TABLE)?;
    let mut releases = table_releases(&compatibility, &format!("Ascend/pytorch@master:{TABLE}"));
    ensure!(releases.len() >= 60, "{} has {} versions", tree.place(TABLE), releases.len());
    let pythons = documented_pythons(&compatibility);
    ensure!(pythons.len() >= 10, "{} has {} rows of Python", tree.place(TABLE), pythons.len());
    for (place, text) in notes(context, &tree)? {
        for release in table_releases(&text, &place) {
            if !releases.iter().any(|known| known.version == release.version) {
                releases.push(release);
            }
        }
    }
    add_tags(context, &mut releases)?;
    let wheels = wheels(context)?;
    for version in wheels.keys() {
        if !releases.iter().any(|known| known.version == *version) {
            releases.push(Release {
                torch: Version::new(version.release().iter().copied()).to_string(),
                version: version.clone(),
                product: String::new(),
                cann: String::new(),
                level: "published",
                python: Vec::new(),
                triton: String::new(),
                source: "wheels in the package index".to_owned(),
            });
        }
    }
    Ok(releases.iter().map(|release| release_row(release, &wheels, &pythons)).collect())
}

fn release_row(
    release: &Release,
    wheels: &BTreeMap<Version, Wheels>,
    pythons: &BTreeMap<String, Vec<String>>,
) -> Row {
    let none = Wheels::new();
    let built = wheels.get(&release.version).unwrap_or(&none);
    let show = |(major, minor): &(u32, u32)| format!("{major}.{minor}");
    let by_arch = |value: &dyn Fn(&Builds) -> Value| {
        let pairs = built.iter().map(|(arch, builds)| (arch.clone(), value(builds)));
        Value::Table(pairs.collect())
    };
    let documented = if release.python.is_empty() {
        pythons.get(&release.torch).cloned().unwrap_or_default()
    } else {
        release.python.clone()
    };
    row([
        ("version", Value::from(release.version.to_string())),
        ("torch", Value::from(release.torch.as_str())),
        ("release", Value::from(release.product.as_str())),
        ("cann", Value::from(release.cann.as_str())),
        ("level", Value::from(release.level)),
        ("wheels", by_arch(&|builds| list(builds.keys().map(show)))),
        (
            "glibc",
            by_arch(&|builds| Value::from(builds.values().max().map(show).unwrap_or_default())),
        ),
        ("abi", abi(&release.version)),
        ("python_documented", list(documented)),
        ("triton_ascend", Value::from(release.triton.as_str())),
        ("source", Value::from(release.source.as_str())),
    ])
}

/// Returns `_GLIBCXX_USE_CXX11_ABI` of the wheels. Determined from their symbols: wheels up to
/// 2.5.1, and those of 2.6.0 for x86_64, use the old ABI.
fn abi(version: &Version) -> Value {
    let release = version.release();
    if release.first().is_none_or(|major| *major < 2) {
        return Value::Table(toml::Table::new());
    }
    let old = release <= [2, 5, 1].as_slice();
    let six = release == [2, 6, 0];
    let pairs = [("aarch64", i64::from(!old)), ("x86_64", i64::from(!old && !six))];
    Value::Table(pairs.map(|(arch, abi)| (arch.to_owned(), Value::from(abi))).into_iter().collect())
}

/// Returns the versions in the tables of `COMPATIBILITY.md` and of release notes. Columns are
/// identified by heading, because their order differs.
fn table_releases(text: &str, source: &str) -> Vec<Release> {
    let mut found = Vec::new();
    for table in markdown_tables(text) {
        let version = ["TorchNPU安装包版本", "TorchNPU版本", "AscendExtensionforPyTorch安装包版本"]
            .iter()
            .find_map(|name| table.column(&[name]));
        let branch = table.column(&[
            "GitCode分支",
            "TorchNPU代码分支名称",
            "AscendExtensionforPyTorch代码分支名称",
        ]);
        let (torch, cann) = (table.column(&["PyTorch版本"]), table.column(&["CANN版本"]));
        let (Some(version), Some(branch), Some(_), Some(_)) = (version, branch, torch, cann) else {
            continue;
        };
        let (python, triton) = (table.column(&["Python版本"]), table.column(&["TritonAscend版本"]));
        for cells in &table.rows {
            let name = Grid::cell(cells, Some(version)).replace("（beta）", "");
            let Some(version) = package(&name) else { continue };
            let branch = Grid::cell(cells, Some(branch));
            let release = branch.split_once('-').map_or(branch.as_str(), |(_, release)| release);
            let cann = Grid::cell(cells, cann);
            let mut words = cann.split([' ', '：']).map(str::trim);
            let cann = words.rfind(|word| word.starts_with(|c: char| c.is_ascii_digit()));
            let triton = Grid::cell(cells, triton);
            found.push(Release {
                version,
                torch: Grid::cell(cells, torch),
                product: release.to_owned(),
                cann: cann.unwrap_or_default().to_owned(),
                level: "recommended",
                python: python_versions(&Grid::cell(cells, python)),
                triton: triton.strip_prefix('v').unwrap_or_default().to_owned(),
                source: source.to_owned(),
            });
        }
    }
    found
}

/// Returns the Python versions of each torch in `COMPATIBILITY.md`.
fn documented_pythons(text: &str) -> BTreeMap<String, Vec<String>> {
    let mut found = BTreeMap::new();
    for table in markdown_tables(text) {
        let (torch, python) = (table.column(&["PyTorch版本"]), table.column(&["Python版本"]));
        for cells in &table.rows {
            if let Some(torch) = Grid::cell(cells, torch).strip_prefix("PyTorch ") {
                found.insert(torch.to_owned(), python_versions(&Grid::cell(cells, python)));
            }
        }
    }
    found
}

/// Parses `3.7` and `3.10` from `Python3.7(>=3.7.5)、Python3.10.*x*`.
fn python_versions(cell: &str) -> Vec<String> {
    let mut found = Vec::new();
    for part in cell.split("Python").skip(1) {
        let word: String =
            part.trim_start().chars().take_while(|c| c.is_ascii_digit() || *c == '.').collect();
        let mut numbers = word.split('.').filter(|number| !number.is_empty());
        if let (Some(major), Some(minor)) = (numbers.next(), numbers.next()) {
            found.push(format!("{major}.{minor}"));
        }
    }
    found
}

/// Returns the release notes of each release and of the default branch, by name.
fn notes(context: &Context, head: &Tree<'_>) -> Result<Vec<(String, String)>> {
    let repository = context.repository("ascend-pytorch")?;
    let mut found = Vec::new();
    let mut branches = repository.refs(&Regex::new(NOTES_BRANCH)?)?;
    branches.sort_by_key(|(name, _)| name.split_once('-').map(|(_, release)| numbers(release)));
    for (name, commit) in branches {
        let tree = repository.tree(&name, &commit)?;
        if let Some((path, text)) = read_notes(&tree) {
            found.push((format!("Ascend/pytorch@{name}:{path}"), text));
        }
    }
    let (path, text) = read_notes(head).context("the default branch has no release notes")?;
    found.push((format!("Ascend/pytorch@master:{path}"), text));
    Ok(found)
}

fn read_notes(tree: &Tree<'_>) -> Option<(&'static str, String)> {
    NOTES.iter().find_map(|path| Some((*path, tree.text(path).ok()?)))
}

/// Adds versions that only a tag has. Final versions have the CANN of their release.
fn add_tags(context: &Context, releases: &mut Vec<Release>) -> Result<()> {
    let repository = context.repository("ascend-pytorch")?;
    let tag = Regex::new(r"^v([\w.\-]+)-pytorch([\d.]+)$")?;
    let assigned = Regex::new(r"(?m)^VERSION = '([^']+)'")?;
    let base = Regex::new(r"^\d+\.\d+\.(?:rc\d+|\d+)")?;
    let plain = Regex::new(r"^\d+\.\d+(\.\d+)?(\.?rc\d+)?(\.post\d+)?$")?;
    let mut cann_of: BTreeMap<String, String> = BTreeMap::new();
    for release in releases.iter() {
        cann_of.insert(release.product.to_ascii_lowercase(), release.cann.clone());
    }
    let mut known: BTreeSet<Version> =
        releases.iter().map(|release| release.version.clone()).collect();
    let tags = repository.refs(&tag)?;
    ensure!(tags.len() >= 200, "Ascend/pytorch has {} release tags", tags.len());
    let mut derived = Vec::new();
    let mut early = Vec::new();
    for (name, commit) in tags {
        let Some(parts) = tag.captures(&name) else { continue };
        let tree = repository.tree(&name, &commit)?;
        let setup = tree.text("setup.py").unwrap_or_default();
        let written = if let Some(found) = assigned.captures(&setup) {
            found[1].to_owned()
        } else {
            let text = tree.text("version.txt").unwrap_or_default();
            let lines = text.lines().map(str::trim);
            let lines: Vec<&str> =
                lines.filter(|line| !line.is_empty() && !line.starts_with('#')).collect();
            let [line] = lines[..] else { continue };
            line.to_owned()
        };
        let Some(version) = package(&written) else { continue };
        let release = parts[1].to_owned();
        let lower = release.to_ascii_lowercase();
        let prerelease = lower.contains("alpha") || lower.contains("beta");
        let line = base.find(&lower).map_or(lower.as_str(), |found| found.as_str());
        // Since 7.3, a patch release has the CANN of the first release of its line. Earlier patch
        // releases had their own.
        let first = line.rsplit_once('.').map(|(line, _)| format!("{line}.0"));
        let first = first.filter(|first| numbers(first) >= vec![7, 3, 0]);
        let cann = [Some(lower.clone()), Some(line.to_owned()), first];
        let cann = cann.iter().flatten().find_map(|name| cann_of.get(name));
        let entry = Release {
            version,
            torch: parts[2].to_owned(),
            product: release,
            cann: cann.filter(|_| !prerelease).cloned().unwrap_or_default(),
            level: if prerelease { "prerelease" } else { "derived-from-tag" },
            python: Vec::new(),
            triton: String::new(),
            source: format!("Ascend/pytorch tag {name}"),
        };
        if !prerelease {
            derived.push(entry);
        } else if plain.is_match(&written) {
            early.push(entry);
        }
    }
    for entry in derived.into_iter().chain(early) {
        if known.insert(entry.version.clone()) {
            releases.push(entry);
        }
    }
    Ok(())
}

/// Returns the published wheels by version.
fn wheels(context: &Context) -> Result<BTreeMap<Version, Wheels>> {
    let name = Regex::new(r"^torch_npu-([^-]+)-cp(\d)(\d+)-cp\d+-(.+)\.whl$")?;
    let library = Regex::new(r"manylinux_(\d+)_(\d+)")?;
    let mut found: BTreeMap<Version, Wheels> = BTreeMap::new();
    for file in context.packages.files("torch-npu")? {
        let Some(parts) = name.captures(&file.name).filter(|_| !file.yanked) else { continue };
        let version = package(&parts[1]).with_context(|| file.name.clone())?;
        let python = (parts[2].parse()?, parts[3].parse()?);
        let builds = found.entry(version).or_default();
        for arch in ["aarch64", "x86_64"].into_iter().filter(|arch| parts[4].ends_with(arch)) {
            let tags = library.captures_iter(&parts[4]);
            let mut oldest: Option<(u32, u32)> = None;
            for tag in tags {
                let tag = (tag[1].parse()?, tag[2].parse()?);
                oldest = Some(oldest.map_or(tag, |old| old.min(tag)));
            }
            let oldest = oldest.with_context(|| format!("{}: no C library", file.name))?;
            // Of two builds with the same tag, the one that runs on more machines counts.
            let build = builds.entry(arch.to_owned()).or_default().entry(python).or_insert(oldest);
            *build = oldest.min(*build);
        }
    }
    ensure!(found.len() >= 60, "the index has {} versions of torch_npu", found.len());
    Ok(found)
}

/// Returns the CANN versions that the release notes list for each release.
pub(super) fn windows(context: &Context) -> Result<Vec<Row>> {
    let tree = context.tree("ascend-pytorch")?;
    let mut found: Vec<(String, Vec<String>, Vec<String>)> = Vec::new();
    for (place, text) in notes(context, &tree)? {
        for (release, accepted) in note_windows(&text) {
            let at = found.iter().position(|(known, ..)| *known == release).unwrap_or(found.len());
            if at == found.len() {
                found.push((release, Vec::new(), Vec::new()));
            }
            let (_, cann, sources) = &mut found[at];
            cann.extend(
                accepted.into_iter().filter(|each| !cann.contains(each)).collect::<Vec<_>>(),
            );
            if !sources.contains(&place) {
                sources.push(place.clone());
            }
        }
    }
    ensure!(found.len() >= 8, "release notes of Ascend/pytorch have {} windows", found.len());
    let rows = found.into_iter().map(|(release, cann, sources)| {
        row([
            ("release", Value::from(release)),
            ("cann", list(cann)),
            ("level", Value::from("compatible")),
            ("source", Value::from(sources.join("; "))),
        ])
    });
    Ok(rows.collect())
}

/// Returns the CANN ranges of one document: a row per release with a list of CANN versions, or a
/// matrix of `Y`.
fn note_windows(text: &str) -> Vec<(String, Vec<String>)> {
    let mut found = Vec::new();
    for table in markdown_tables(text) {
        let release = table.column(&["AscendExtensionforPyTorch版本", "TorchNPU版本"]);
        let (Some(release), Some(cann)) = (release, table.column(&["CANN版本"])) else {
            continue;
        };
        for cells in &table.rows {
            let listed: Option<Vec<String>> = cells.get(cann).map(|items| {
                items
                    .iter()
                    .filter_map(|item| Some(item.strip_prefix("CANN")?.trim().to_owned()))
                    .collect()
            });
            if let Some(listed) = listed.filter(|listed| !listed.is_empty()) {
                found.push((Grid::cell(cells, Some(release)), listed));
            }
        }
    }
    for table in html_tables(text) {
        let Some(heads) = table.head.last().filter(|_| table.column(&["TorchNPU"]) == Some(0))
        else {
            continue;
        };
        for cells in &table.rows {
            let accepted = heads.iter().zip(cells).skip(1).filter(|(_, cell)| cell.concat() == "Y");
            let accepted: Vec<String> = accepted.map(|(head, _)| head.concat()).collect();
            if !accepted.is_empty() {
                found.push((Grid::cell(cells, Some(0)), accepted));
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_are_found_by_their_headings() {
        let old = "|TorchNPU安装包版本|GitCode分支|PyTorch版本|CANN版本|\n|:--:|--|--|--|\n\
                   | 1.11.0.rc2（beta） | v1.11.0-3.0.0 | 1.11.0 | CANN 6.0.1 |\n| 1.5.0.post4 | 2.0.4.tr5 | 1.5.0 | CANN 5.0.4 |\n";
        let found = table_releases(old, "x");
        assert_eq!(
            (found[0].version.to_string(), found[0].cann.as_str()),
            ("1.11.0rc2".to_owned(), "6.0.1")
        );
        assert_eq!((found[0].product.as_str(), found[1].product.as_str()), ("3.0.0", "2.0.4.tr5"));
        let new = "|TorchNPU代码分支名称|PyTorch版本|TorchNPU版本|TorchNPU安装包版本|CANN版本|Python版本|Triton Ascend版本|\n|--|--|--|--|--|--|--|\n\
                   |v2.10.0-26.2.0|2.10.0|26.2.0|2.10.0.post7|9.2.0|Python3.9.*x*、Python3.14.*x*|v3.6.0|\n|v2.9.0-26.2.0|2.9.0|26.2.0|2.9.0.post9|9.2.0||无配套版本|\n";
        let found = table_releases(new, "x");
        assert_eq!(
            (found[0].version.to_string(), found[0].product.as_str()),
            ("2.10.0.post7".to_owned(), "26.2.0")
        );
        assert_eq!(
            (found[0].python.clone(), found[0].triton.as_str()),
            (vec!["3.9".to_owned(), "3.14".to_owned()], "3.6.0")
        );
        assert_eq!(found[1].triton, "");
        let two = "|CANN版本|PyTorch版本|Ascend Extension for PyTorch版本|Ascend Extension for PyTorch代码分支名称|Ascend Extension for PyTorch安装包版本|\n|--|--|--|--|--|\n\
                   |商用版：9.0.0<br>社区版：9.0.0|2.7.1|26.0.0|v2.7.1-26.0.0|2.7.1.post4|\n";
        assert_eq!(table_releases(two, "x")[0].cann, "9.0.0");
    }

    #[test]
    fn windows_are_lists_or_matrices() {
        let text = "|Ascend Extension for PyTorch版本|CANN版本|x|\n|--|--|--|\n|26.0.0|CANN 9.0.0<br>CANN 8.3.RC1|-|\n\n\
                    <table><tr><th rowspan=\"2\">TorchNPU</th><th colspan=\"2\">CANN版本</th></tr><tr><th>8.5.X</th><th>9.0.X</th></tr>\
                    <tr><td>7.3.X</td><td>Y</td><td></td></tr></table>";
        assert_eq!(
            note_windows(text),
            [
                ("26.0.0".to_owned(), vec!["9.0.0".to_owned(), "8.3.RC1".to_owned()]),
                ("7.3.X".to_owned(), vec!["8.5.X".to_owned()])
            ]
        );
    }

    #[test]
    fn python_versions_are_cut_from_text() {
        assert_eq!(
            python_versions("Python3.7(>=3.7.5), Python 3.10, Python3.11.*x*"),
            ["3.7", "3.10", "3.11"]
        );
    }
}
