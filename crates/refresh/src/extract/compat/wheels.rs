//! `known_wheels.tsv`: the content of published torch_npu wheels. The format is described in its
//! reader, `data/src/known_wheels.rs`.
//!
//! The list has the SHA-256 of every wheel of the index. Selected wheels also have the digest of
//! their RECORD and the hashes of their libraries. RECORD is read once, because a wheel never
//! changes.

use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, Result, bail, ensure};
use base::hash::Sha256;
use data::{is_of_package, record_digest};
use pep440_rs::Version;

use super::versions::package;
use super::vllm_ascend;
use crate::context::Context;
use crate::diff::Rows;
use crate::extract::Content;
use crate::package::{IndexFile, Packages};
use crate::remote_zip::RemoteZip;

const FILE: &str = "known_wheels.tsv";
const PACKAGE: &str = "torch_npu";
/// The maximum size of the list, which ships with the program.
const LIMIT: usize = 1_000_000;
/// Interpreters of the wheels whose files are listed.
const PYTHONS: &[&str] = &["cp310", "cp311", "cp312"];
/// The maximum size of RECORD.
const MAX_RECORD: u64 = 16 << 20;

/// One wheel.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Wheel {
    sha256: String,
    /// Digest of its RECORD, if that was read.
    record: Option<String>,
    /// Path, size and hash of libraries and version files.
    files: Vec<(String, String, String)>,
}

/// The list: wheels by file name without the name of the package and `.whl`.
#[derive(Debug, Default)]
struct List {
    as_of: String,
    wheels: BTreeMap<String, Wheel>,
}

pub(super) fn extract(context: &Context) -> Result<Content> {
    let old = context.own(FILE)?.unwrap_or_default();
    let mut list = List::parse(&old).context("the list of known wheels")?;
    let files = context.packages.files("torch-npu")?;
    let mut published: BTreeMap<&str, &IndexFile> = BTreeMap::new();
    for file in files.iter().filter(|file| !file.yanked) {
        let tags = file.name.strip_prefix("torch_npu-").and_then(|name| name.strip_suffix(".whl"));
        let Some(tags) = tags else { continue };
        published.insert(tags, file);
        let hash = Sha256::from_hex(&file.sha256).with_context(|| file.name.clone())?.base64url();
        let known = list.wheels.entry(tags.to_owned()).or_default();
        if known.sha256.is_empty() {
            known.sha256 = hash;
        } else if known.sha256 != hash {
            bail!("{}: the index has SHA-256 {hash}, the list {}", file.name, known.sha256);
        }
    }
    ensure!(published.len() >= 500, "the index has {} wheels of torch_npu", published.len());
    let pinned = vllm_ascend::pinned_torch_npu(context)?;
    for tags in select(published.keys().copied(), &pinned) {
        let known = list.wheels.get_mut(&tags).context("selected wheels are listed")?;
        if known.record.is_none()
            && let Some(file) = published.get(tags.as_str())
        {
            let record = read_record(&context.packages, file).with_context(|| file.name.clone())?;
            let (digest, files) = describe(&record).with_context(|| file.name.clone())?;
            (known.record, known.files) = (Some(digest), files);
        }
    }
    // The day changes only with other content, so that two refreshes give the same file.
    let unchanged = old.contains(&list.render()?);
    if !unchanged {
        list.as_of = today()?;
    }
    let text = list.render()?;
    ensure!(text.len() <= LIMIT, "{} bytes are more than the {LIMIT} that may ship", text.len());
    Ok(Content::Lines(text))
}

/// Selects the first and the newest final version of each release line, and the versions that
/// vllm-ascend pins, for three interpreters and both architectures.
fn select<'a>(
    published: impl Iterator<Item = &'a str> + Clone,
    pinned: &BTreeSet<Version>,
) -> BTreeSet<String> {
    let version = |tags: &str| tags.split('-').next().and_then(package);
    let mut lines: BTreeMap<Vec<u64>, BTreeSet<Version>> = BTreeMap::new();
    for found in published.clone().filter_map(version).filter(|found| !found.any_prerelease()) {
        lines.entry(found.release().to_vec()).or_default().insert(found);
    }
    let mut chosen = pinned.clone();
    for versions in lines.values() {
        chosen.extend(versions.first().into_iter().chain(versions.last()).cloned());
    }
    let wanted = |tags: &&str| {
        let python = tags.split('-').nth(1).unwrap_or_default();
        PYTHONS.contains(&python) && version(tags).is_some_and(|found| chosen.contains(&found))
    };
    published.filter(wanted).map(str::to_owned).collect()
}

fn read_record(packages: &Packages, file: &IndexFile) -> Result<String> {
    let mut archive = RemoteZip::open(packages, file)?;
    let is_record = |name: &str| {
        name.split_once('/')
            .is_some_and(|(dir, rest)| dir.ends_with(".dist-info") && rest == "RECORD")
    };
    let mut names = Vec::new();
    for name in archive.file_names() {
        names.push(name?.into_owned());
    }
    let mut names = names.into_iter().filter(|name| is_record(name));
    let (Some(name), None) = (names.next(), names.next()) else { bail!("not one RECORD") };
    let mut text = String::new();
    archive.by_name(&name)?.take(MAX_RECORD).read_to_string(&mut text)?;
    Ok(text)
}

/// Path, size and SHA-256 of a file in a wheel.
type Listed = (String, String, String);

/// Returns the digest of a RECORD and the listed files.
fn describe(record: &str) -> Result<(String, Vec<Listed>)> {
    let mut rows: Vec<[String; 3]> = Vec::new();
    let mut reader =
        csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(record.as_bytes());
    for row in reader.records() {
        let row = row.context("RECORD")?;
        let cells: Vec<&str> = row.iter().collect();
        let [path, hash, size] = cells[..] else { bail!("RECORD has the line `{row:?}`") };
        if is_of_package(path) {
            rows.push([path, hash, size].map(str::to_owned));
        }
    }
    rows.sort();
    let mut files = Vec::new();
    for [path, hash, size] in rows.iter().filter(|[path, ..]| is_listed(path)) {
        let hash = hash.strip_prefix("sha256=").filter(|hash| hash.len() == 43);
        let hash = hash.with_context(|| format!("{path} has no SHA-256"))?;
        files.push((path.clone(), size.clone(), hash.to_owned()));
    }
    ensure!(!files.is_empty(), "RECORD has no library");
    let fields = rows.iter().map(|[path, hash, size]| {
        let hash = hash.strip_prefix("sha256=").and_then(Sha256::from_base64url);
        (path.as_str(), hash, size.parse().ok())
    });
    Ok((record_digest(fields).base64url(), files))
}

fn is_listed(path: &str) -> bool {
    let library = path.rsplit_once(".so").is_some_and(|(_, rest)| {
        rest.is_empty()
            || rest.starts_with('.') && rest.bytes().all(|b| b == b'.' || b.is_ascii_digit())
    });
    library || path == "torch_npu/__init__.py" || path == "torch_npu/version.py"
}

impl List {
    fn parse(text: &str) -> Result<Self> {
        let mut list = Self::default();
        let mut paths: Vec<&str> = Vec::new();
        let mut last: Option<String> = None;
        for (number, line) in (1..).zip(text.lines()) {
            let cells: Vec<&str> = line.split('\t').collect();
            match cells[..] {
                ["known-wheels", "1"] | ["wheels", ..] | ["package", PACKAGE] => {}
                ["as_of", day] => day.clone_into(&mut list.as_of),
                ["p", path] => paths.push(path),
                ["w", tags, sha256, ref record @ ..] if record.len() < 2 => {
                    let record = record.first().map(|&digest| digest.to_owned());
                    let wheel = Wheel { sha256: sha256.to_owned(), record, files: Vec::new() };
                    last = Some(tags.to_owned());
                    let before = list.wheels.insert(tags.to_owned(), wheel);
                    ensure!(before.is_none(), "line {number}: {tags} twice");
                }
                ["f", path, size, sha256] => {
                    let path = path.parse().ok().and_then(|at: usize| paths.get(at));
                    let wheel = last.as_ref().and_then(|tags| list.wheels.get_mut(tags));
                    let (Some(path), Some(wheel)) = (path, wheel) else {
                        bail!("line {number}: a file without a path or a wheel")
                    };
                    wheel.files.push(((*path).to_owned(), size.to_owned(), sha256.to_owned()));
                }
                _ if line.starts_with('#') => {}
                _ => bail!("line {number}: `{line}`"),
            }
        }
        Ok(list)
    }

    fn render(&self) -> Result<String> {
        let mut order: Vec<(Version, Vec<&str>, &String)> = Vec::new();
        for tags in self.wheels.keys() {
            let parts: Vec<&str> = tags.split('-').collect();
            let [version, python, _, platform] = parts[..] else { bail!("wheel `{tags}`") };
            let version = package(version).with_context(|| format!("wheel `{tags}`"))?;
            order.push((version, vec![python, platform], tags));
        }
        order.sort();
        let mut paths: Vec<&str> = Vec::new();
        let mut lines = String::new();
        let mut with_files = 0;
        for (.., tags) in &order {
            let wheel = &self.wheels[*tags];
            lines.push_str(&format!("w\t{tags}\t{}", wheel.sha256));
            if let Some(record) = &wheel.record {
                with_files += 1;
                lines.push_str(&format!("\t{record}"));
            }
            lines.push('\n');
            for (path, size, sha256) in &wheel.files {
                let at = paths.iter().position(|known| known == path).unwrap_or_else(|| {
                    paths.push(path);
                    paths.len() - 1
                });
                lines.push_str(&format!("f\t{at}\t{size}\t{sha256}\n"));
            }
        }
        let mut text = format!(
            "known-wheels\t1\npackage\t{PACKAGE}\nas_of\t{}\nwheels\t{}\t{with_files}\n",
            self.as_of,
            order.len()
        );
        for path in paths {
            text.push_str(&format!("p\t{path}\n"));
        }
        Ok(text + &lines)
    }
}

/// Returns the wheels of the file by name.
pub(super) fn rows(text: &str) -> Result<Rows> {
    let list = List::parse(text)?;
    let rows = list.wheels.into_iter().map(|(tags, wheel)| {
        let files: Vec<String> =
            wheel.files.iter().map(|(path, size, hash)| format!("{path} {size} {hash}")).collect();
        let cells = [
            ("sha256", wheel.sha256),
            ("record", wheel.record.unwrap_or_default()),
            ("files", files.join("\n")),
        ];
        (tags, cells.map(|(name, cell)| (name.to_owned(), cell)).into_iter().collect())
    });
    Ok(rows.collect())
}

/// Returns the current day in UTC, `YYYY-MM-DD`.
fn today() -> Result<String> {
    let seconds = SystemTime::now().duration_since(UNIX_EPOCH)?.as_secs();
    let now = jiff::Timestamp::from_second(i64::try_from(seconds)?)?;
    Ok(now.strftime("%Y-%m-%d").to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "known-wheels\t1\npackage\ttorch_npu\nas_of\t2026-11-21\nwheels\t2\t1\np\ttorch_npu/a.so\n\
                        w\t2.1.0-cp39-cp39-x\tAA\nw\t2.10.0-cp310-cp310-y\tBB\tRR\nf\t0\t12\tHH\n";

    #[test]
    fn a_list_is_written_as_it_was_read() {
        let list = List::parse(&format!("# Owner: machine.\n{TEXT}")).unwrap();
        assert_eq!(list.render().unwrap(), TEXT);
        assert_eq!(rows(TEXT).unwrap()["2.10.0-cp310-cp310-y"]["files"], "torch_npu/a.so 12 HH");
        for bad in ["w\ta\n", "f\t0\t1\tx\n", "x\n", "w\ta\tb\nw\ta\tb\n"] {
            assert!(List::parse(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn a_record_gives_a_digest_and_its_libraries() {
        let hash = "s".repeat(43);
        let record = format!(
            "torch_npu/b.py,sha256={hash},2\r\n\"torch_npu/a,b.so\",sha256={hash},1\ntorch_npu/lib/libx.so.1.2,sha256={hash},3\n\
             torch_npu-1.dist-info/RECORD,,\n../../bin/x,sha256={hash},4\n"
        );
        let (digest, files) = describe(&record).unwrap();
        assert_eq!(
            files.iter().map(|(path, ..)| path.as_str()).collect::<Vec<_>>(),
            ["torch_npu/a,b.so", "torch_npu/lib/libx.so.1.2"]
        );
        assert_eq!(digest.len(), 43);
        assert!(describe("torch_npu/a.so,,\n").is_err() && describe("x\n").is_err());
    }

    #[test]
    fn first_newest_and_pinned_versions_are_selected() {
        let names = [
            "2.1.0-cp310-cp310-x",
            "2.1.0.post3-cp310-cp310-x",
            "2.1.0.post8-cp310-cp310-x",
            "2.1.0.post8-cp39-cp39-x",
            "2.2.0rc1-cp310-cp310-x",
        ];
        let pinned = BTreeSet::from(["2.1.0.post3".parse().unwrap()]);
        let chosen = select(names.into_iter(), &BTreeSet::new());
        assert_eq!(chosen.into_iter().collect::<Vec<_>>(), [names[0], names[2]]);
        assert_eq!(select(names.into_iter(), &pinned).len(), 3);
    }
}
