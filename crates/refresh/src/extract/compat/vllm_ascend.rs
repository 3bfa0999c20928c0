//! vllm-ascend: the version table in its documents, and the files of its tags and source archives.

use std::collections::{BTreeMap, BTreeSet};

use anyhow::{Context as _, Result, ensure};
use pep440_rs::Version;
use regex::Regex;
use toml::Value;

use super::matrix::{list, row};
use super::source_archive;
use super::versions::cann;
use crate::context::Context;
use crate::document::Row;
use crate::markup::{Grid, markdown_tables};
use crate::package::IndexFile;

const POLICY: &str = "docs/source/community/versioning_policy.md";
/// Requirements that are checked in installations. The others are only for building.
const PINNED: &[&str] = &[
    "arctic-inference",
    "compressed-tensors",
    "fastapi",
    "fastokens",
    "memcache-hybrid",
    "memfabric-hybrid",
    "numpy",
    "opencv-python-headless",
    "setuptools",
    "torch",
    "torch-npu",
    "torchaudio",
    "torchvision",
    "transformers",
    "triton-ascend",
    "xgrammar",
];
const FILES: &[&str] = &["Dockerfile", "requirements.txt", "setup.py", POLICY];

/// The documented requirements of one version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Documented {
    vllm: Vec<String>,
    python: String,
    cann: String,
    torch: String,
    torch_npu: String,
    triton: String,
    mooncake: String,
    source: String,
}

/// The requirements in the files of one version.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
struct Built {
    cann: String,
    vllm: String,
    image_python: String,
    python: String,
    pins: BTreeMap<String, String>,
    source: String,
}

pub(super) fn rows(context: &Context) -> Result<Vec<Row>> {
    let head = context.tree("vllm-ascend")?;
    let mut documented = policy(&head.text(POLICY)?, "vllm-ascend:versioning_policy.md");
    ensure!(documented.len() >= 30, "{} has {} versions", head.place(POLICY), documented.len());
    let of_repository: BTreeSet<Version> = documented.keys().cloned().collect();
    let repository = context.repository("vllm-ascend")?;
    let mut built: BTreeMap<Version, Built> = BTreeMap::new();
    let tags = repository.refs(&Regex::new(r"^v\d+\.\d+\.\d+((rc|\.post)\d+)?$")?)?;
    let files =
        tags.iter().flat_map(|(_, commit)| FILES.iter().map(|path| (commit.as_str(), *path)));
    repository.prefetch(&files.collect::<Vec<_>>())?;
    for (tag, commit) in tags {
        let tree = repository.tree(&tag, &commit)?;
        let files: BTreeMap<String, String> = FILES
            .iter()
            .filter_map(|path| Some(((*path).to_owned(), tree.text(path).ok()?)))
            .collect();
        let source = format!("vllm-ascend@{tag}:Dockerfile,requirements.txt,setup.py");
        let version: Version = tag.parse().with_context(|| format!("tag {tag}"))?;
        built.insert(version, read_files(&files, &source)?);
    }
    ensure!(built.len() >= 40, "{} has {} release tags", head.origin(), built.len());
    // Source archives of the index may be newer than the clone of the repository.
    let newest_tag = built.keys().max().cloned();
    let mut archives: BTreeMap<Version, IndexFile> = BTreeMap::new();
    for file in context.packages.files("vllm-ascend")? {
        let version =
            file.name.strip_prefix("vllm_ascend-").and_then(|n| n.strip_suffix(".tar.gz"));
        let version = version.and_then(|version| version.parse::<Version>().ok());
        if let Some(version) =
            version.filter(|version| !file.yanked && !built.contains_key(version))
        {
            archives.insert(version, file);
        }
    }
    for (version, file) in archives {
        let files = source_archive::texts(&context.packages.download(&file)?, FILES)?;
        let source =
            format!("package index: {}: Dockerfile, requirements.txt, setup.py", file.name);
        built.insert(version.clone(), read_files(&files, &source)?);
        if newest_tag.as_ref().is_some_and(|newest| version > *newest) {
            let policy_text = files.get(POLICY).map(String::as_str).unwrap_or_default();
            let source = format!("package index: {}: versioning_policy.md", file.name);
            // The newest policy counts, but versions in the repository keep their row there.
            let newer = policy(policy_text, &source).into_iter();
            documented.extend(newer.filter(|(version, _)| !of_repository.contains(version)));
        }
    }
    let mut versions: Vec<&Version> = documented.keys().chain(built.keys()).collect();
    versions.sort();
    versions.dedup();
    versions
        .into_iter()
        .map(|version| merge(version, documented.get(version), built.get(version)))
        .collect()
}

/// Returns the torch_npu versions that releases pin.
pub(super) fn pinned_torch_npu(context: &Context) -> Result<BTreeSet<Version>> {
    let rows = rows(context)?;
    let first = |row: &Row| row.get("torch_npu")?.as_array()?.first()?.as_str()?.parse().ok();
    Ok(rows.iter().filter_map(first).collect())
}

/// Returns the rows of a versioning policy by version.
fn policy(text: &str, source: &str) -> BTreeMap<Version, Documented> {
    let mut found = BTreeMap::new();
    for table in markdown_tables(text) {
        let (Some(name), Some(stack)) =
            (table.column(&["vLLMAscend"]), table.column(&["PyTorch/torch_npu"]))
        else {
            continue;
        };
        let [vllm, python, cann, triton, mooncake] =
            ["vLLM", "Python", "StableCANN", "TritonAscend", "Mooncake"]
                .map(|heading| table.column(&[heading]));
        for cells in &table.rows {
            let Ok(version) = Grid::cell(cells, Some(name)).parse::<Version>() else { continue };
            let stack = Grid::cell(cells, Some(stack));
            let (torch, torch_npu) = stack.split_once('/').unwrap_or((stack.as_str(), ""));
            let known = |column| Some(Grid::cell(cells, column)).filter(|cell| cell != "N/A");
            let vllm = Grid::cell(cells, vllm);
            found.insert(
                version,
                Documented {
                    vllm: vllm.split('/').map(|each| each.trim().replace('v', "")).collect(),
                    python: Grid::cell(cells, python).replace(' ', ""),
                    cann: Grid::cell(cells, cann),
                    torch: torch.trim().to_owned(),
                    torch_npu: torch_npu.trim().to_owned(),
                    triton: known(triton).unwrap_or_default(),
                    mooncake: known(mooncake).unwrap_or_default().replace('v', ""),
                    source: source.to_owned(),
                },
            );
        }
    }
    found
}

/// Returns the CANN of the image, and the vLLM, Python and pins of a version.
fn read_files(files: &BTreeMap<String, String>, source: &str) -> Result<Built> {
    let text = |path: &str| files.get(path).map(String::as_str).unwrap_or_default();
    let docker = text("Dockerfile");
    let first = |patterns: &[&str], text: &str| -> Result<String> {
        for pattern in patterns {
            if let Some(found) = Regex::new(pattern)?.captures(text) {
                return Ok(found[1].to_owned());
            }
        }
        Ok(String::new())
    };
    // An image may append a date to the version: 9.2.0_20260930220649.
    let version = r"(\d+\.\d+\.[A-Za-z]*\d+(?:\.\w+)??)(?:_\d+)?";
    let image = first(
        &[
            &format!(r"/ascend/cann:{version}-"),
            &format!(r#"CANN_VERSION="?{version}["\s]"#),
            &format!(r"/cann:{version}-"),
        ],
        docker,
    )?;
    let mut pins = BTreeMap::new();
    let pin = Regex::new(r"^([A-Za-z][\w.-]*)\s*([<>=!~].*)$")?;
    for line in text("requirements.txt").lines() {
        let line = line.split(['#', ';']).next().unwrap_or_default().trim();
        if let Some(found) = pin.captures(line) {
            let name = found[1].to_ascii_lowercase().replace(['_', '.'], "-");
            if PINNED.contains(&name.as_str()) {
                pins.insert(name, found[2].replace(' ', ""));
            }
        }
    }
    let built = Built {
        cann: cann(&image),
        vllm: first(&[r"ARG VLLM_TAG=v?(\S+)"], docker)?,
        image_python: first(&[r"py(3\.\d+)", r#"PYTHON_VERSION="?(3\.\d+)"#], docker)?,
        python: first(&[r#"python_requires="([^"]+)""#], text("setup.py"))?.replace(' ', ""),
        pins,
        source: source.to_owned(),
    };
    ensure!(!built.cann.is_empty(), "{source}: no CANN");
    ensure!(!built.python.is_empty(), "{source}: no Python");
    Ok(built)
}

fn merge(version: &Version, documented: Option<&Documented>, built: Option<&Built>) -> Result<Row> {
    let nothing = (Documented::default(), Built::default());
    let (doc, tag) = (documented.unwrap_or(&nothing.0), built.unwrap_or(&nothing.1));
    let mut notes = Vec::new();
    let pinned = |package: &str| {
        tag.pins.get(package).and_then(|pin| pin.strip_prefix("==")).unwrap_or_default()
    };
    let mut choices = |package: &str, listed: &str| {
        let pin = pinned(package);
        if !pin.is_empty() && !listed.is_empty() && pin != listed {
            notes.push(format!(
                "versioning_policy.md says {package} {listed}, requirements.txt {pin}: the tag \
                 wins, both are accepted"
            ));
        }
        let both = [pin, if listed == pin { "" } else { listed }];
        list(both.into_iter().filter(|each| !each.is_empty()))
    };
    let torch_npu = choices("torch-npu", &doc.torch_npu);
    let triton = choices("triton-ascend", &doc.triton);
    let mut vllm = doc.vllm.clone();
    if !tag.vllm.is_empty() && !vllm.contains(&tag.vllm) {
        vllm.push(tag.vllm.clone());
    }
    let differs = !doc.cann.is_empty() && !tag.cann.is_empty() && cann(&doc.cann) != tag.cann;
    if differs {
        notes.push(format!("versioning_policy.md says CANN {}, Dockerfile {}", doc.cann, tag.cann));
    }
    if documented.is_none() {
        notes.push("the documentation has no row for this version; taken from its tag".to_owned());
    }
    let or = |first: &str, second: &str| if first.is_empty() { second } else { first }.to_owned();
    let sources = [doc.source.as_str(), tag.source.as_str()].into_iter().filter(|s| !s.is_empty());
    ensure!(!vllm.is_empty(), "vllm-ascend {version}: no vLLM");
    let pins = tag.pins.iter().map(|(name, spec)| (name.clone(), Value::from(spec.as_str())));
    Ok(row([
        ("version", Value::from(version.to_string())),
        ("vllm", list(vllm)),
        (
            "level",
            Value::from(if documented.is_some() { "recommended" } else { "derived-from-tag" }),
        ),
        ("python", Value::from(or(&doc.python, &tag.python))),
        // Documents are corrected after a release, but images keep the version that they were built
        // with.
        (
            "cann",
            Value::from(cann(&if differs {
                or(&doc.cann, &tag.cann)
            } else {
                or(&tag.cann, &doc.cann)
            })),
        ),
        ("torch", Value::from(or(&doc.torch, pinned("torch")))),
        ("torch_npu", torch_npu),
        ("triton_ascend", triton),
        ("mooncake", Value::from(doc.mooncake.as_str())),
        ("image_python", Value::from(tag.image_python.as_str())),
        ("pins", Value::Table(pins.collect())),
        ("note", Value::from(notes.join("; "))),
        ("source", Value::from(sources.collect::<Vec<_>>().join("; "))),
    ]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_policy_has_a_row_per_version() {
        let text = "| vLLM Ascend | vLLM | Python | Stable CANN | PyTorch/torch_npu | Triton Ascend | Mooncake |\n|--|--|--|--|--|--|--|\n\
                    | v0.10.1rc1 | v0.10.1/v0.10.1.1 | >= 3.9, < 3.12 | 8.2.RC1 | 2.7.1 / 2.7.1.dev20250724 | N/A | v0.3.9 |\n\
                    | main | {{tag}} | x | x | {{y}} | x | x |\n";
        let found = policy(text, "s");
        let row = &found[&"0.10.1rc1".parse().unwrap()];
        assert_eq!(found.len(), 1);
        assert_eq!(row.vllm, ["0.10.1", "0.10.1.1"]);
        assert_eq!((row.torch.as_str(), row.torch_npu.as_str()), ("2.7.1", "2.7.1.dev20250724"));
        assert_eq!((row.triton.as_str(), row.mooncake.as_str()), ("", "0.3.9"));
        assert_eq!(row.python, ">=3.9,<3.12");
    }

    #[test]
    fn images_name_their_cann_in_several_ways() {
        for (docker, version) in [
            (
                "FROM quay.io/ascend/cann:8.3.rc2-910b-ubuntu22.04-py3.11\nARG VLLM_TAG=v0.11.0\n",
                "8.3.RC2",
            ),
            ("ARG CANN_VERSION=9.1.0\nFROM x/cann:${CANN_VERSION}-910b-py3.12\n", "9.1.0"),
            ("ARG CANN_VERSION=\"9.2.0_20260930220649\"\n", "9.2.0"),
            ("FROM a.b/cann:8.2.rc1.alpha001-a3-py3.11\n", "8.2.RC1.alpha001"),
        ] {
            let files = BTreeMap::from([
                ("Dockerfile".to_owned(), docker.to_owned()),
                ("setup.py".to_owned(), "python_requires=\">= 3.10\"".to_owned()),
                (
                    "requirements.txt".to_owned(),
                    "torch-npu==2.7.1 # x\nmemcache_hybrid==1\ncmake>=3\nfastapi\n".to_owned(),
                ),
            ]);
            let built = read_files(&files, "s").unwrap();
            assert_eq!(built.cann, version, "{docker}");
            assert_eq!(built.pins.keys().collect::<Vec<_>>(), ["memcache-hybrid", "torch-npu"]);
        }
        assert!(read_files(&BTreeMap::new(), "s").is_err());
    }

    #[test]
    fn differences_of_documents_and_tags_are_noted() {
        let version = "0.30.0rc1".parse().unwrap();
        let doc = Documented {
            cann: "9.2.0".to_owned(),
            torch_npu: "2.10.0.post5".to_owned(),
            ..Documented::default()
        };
        let tag = Built {
            cann: "9.1.0".to_owned(),
            vllm: "0.30.0".to_owned(),
            pins: BTreeMap::from([("torch-npu".to_owned(), "==2.10.0.post4".to_owned())]),
            ..Built::default()
        };
        let row = merge(&version, Some(&doc), Some(&tag)).unwrap();
        assert_eq!(row["cann"].as_str(), Some("9.2.0"));
        assert_eq!(row["torch_npu"].as_array().map(Vec::len), Some(2));
        assert!(row["note"].as_str().unwrap().contains("says CANN 9.2.0, Dockerfile 9.1.0"));
    }
}
