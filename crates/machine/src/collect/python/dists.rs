//! Installed distributions: `*.dist-info` and `*.egg-info`. Only headers are read. RECORD is read
//! only for the packages of the stack, to check whether their files exist.

use data::faults;
use std::collections::BTreeSet;

use rayon::prelude::*;

use super::{metadata, site};
use crate::manifest::record::{self, RECORD_LIMIT};
use crate::sysroot::{ReadError, SysFile, Sysroot};
use facts::{Dist, ProblemKind, is_of_tests, normalize_name};

/// Maximum number of bytes of a METADATA to read up to the end of its header.
const HEADER_LIMIT: usize = 1 << 20;
/// Maximum number of listed missing files.
const SAMPLE: usize = 5;

/// The distributions whose files are counted: the components of the Ascend stack, and the imports
/// of CANN's operator compiler.
const COUNTED: &[&str] = &[
    "absl-py",
    "attrs",
    "cffi",
    "decorator",
    "mindspore",
    "numpy",
    "protobuf",
    "psutil",
    "pyyaml",
    "scipy",
    "sympy",
    "torch",
    "torch-npu",
    "vllm",
    "vllm-ascend",
];

/// Returns whether the files of this distribution are counted. All distributions called triton
/// install into the same directory and overwrite each other.
pub(super) fn is_counted(name: &str) -> bool {
    COUNTED.contains(&name) || name.contains("triton")
}

/// All distributions in these directories, in the order of `sys.path` and then by name.
pub(super) fn read(sysroot: &Sysroot, site_dirs: &[String]) -> Vec<Dist> {
    let mut places: Vec<(&str, String)> = Vec::new();
    for dir in site_dirs {
        let names = match sysroot.list(dir) {
            Ok(names) => names,
            Err(error) => {
                sysroot.read_problem(dir, &error);
                continue;
            }
        };
        for name in names {
            let is_info = site::has_extension(&name, "dist-info")
                || site::has_extension(&name, "egg-info")
                // An egg is a directory on `sys.path` with its metadata inside.
                || (name == "EGG-INFO" && site::has_extension(dir, "egg"));
            if is_info {
                places.push((dir, name));
            }
        }
    }
    places.par_iter().filter_map(|(dir, name)| dist(sysroot, dir, name)).collect()
}

/// The version in the name of a distribution's metadata directory.
pub(super) fn version(sysroot: &Sysroot, site_dir: &str, name: &str) -> Option<String> {
    let names = sysroot.list(site_dir).ok()?;
    names.iter().find_map(|file| {
        let is_info =
            site::has_extension(file, "dist-info") || site::has_extension(file, "egg-info");
        let (found, version) = parts_of_name(file);
        (is_info && normalize_name(found) == name && !version.is_empty())
            .then(|| version.to_owned())
    })
}

fn dist(sysroot: &Sysroot, site_dir: &str, name: &str) -> Option<Dist> {
    let path = format!("{site_dir}/{name}");
    let mut dist = Dist { path: path.clone(), site_dir: site_dir.to_owned(), ..Dist::default() };
    let (by_name, by_version) = parts_of_name(name);
    let files = match sysroot.list(&path) {
        Ok(files) => files,
        // A single file, as created by distutils and Debian.
        Err(ReadError::NotDirectory) if site::has_extension(name, "egg-info") => {
            let bytes = header(sysroot, &path)?;
            dist.metadata = path;
            fill(&mut dist, &bytes, by_name, by_version);
            return Some(dist);
        }
        // The name of the directory identifies the distribution. Treating it as missing would be
        // wrong.
        Err(ReadError::Denied) => {
            sysroot.read_problem(&path, &ReadError::Denied);
            fill(&mut dist, &[], by_name, by_version);
            return Some(dist);
        }
        Err(error) => {
            sysroot.read_problem(&path, &error);
            return None;
        }
    };
    let has = |file: &str| files.binary_search_by(|name| name.as_str().cmp(file)).is_ok();
    let text = |file: &str| {
        has(file).then(|| sysroot.read_text_if_exists(&format!("{path}/{file}"))).flatten()
    };
    let mut metadata = Vec::new();
    if let Some(file) = ["METADATA", "PKG-INFO"].into_iter().find(|file| has(file)) {
        let file = format!("{path}/{file}");
        metadata = header(sysroot, &file).unwrap_or_default();
        dist.metadata = file;
    }
    fill(&mut dist, &metadata, by_name, by_version);
    dist.has_record = has("RECORD");
    dist.entry_points =
        text("entry_points.txt").map(|t| metadata::entry_points(&t)).unwrap_or_default();
    if is_counted(&dist.name) {
        dist.tags = text("WHEEL").map(|text| metadata::wheel_tags(&text)).unwrap_or_default();
    }
    dist.editable = text("direct_url.json").and_then(|text| metadata::editable_dir(&text));
    if dist.has_record && is_counted(&dist.name) && dist.editable.is_none() {
        count_files(sysroot, &mut dist);
    }
    Some(dist)
}

/// Fills in name and version from the metadata, or from the name of its directory.
fn fill(dist: &mut Dist, metadata: &[u8], by_name: &str, by_version: &str) {
    let metadata = metadata::parse(metadata);
    dist.metadata_ok = metadata.name.is_some() && metadata.version.is_some();
    dist.name = normalize_name(metadata.name.as_deref().unwrap_or(by_name));
    dist.version = metadata.version.unwrap_or_else(|| by_version.to_owned());
    dist.requires = metadata.requires;
    dist.requires_python = metadata.requires_python;
    dist.lines = metadata.lines;
}

/// Name and version in `name-version.dist-info` or `name-version-py3.11.egg-info`.
fn parts_of_name(name: &str) -> (&str, &str) {
    let stem = name.rsplit_once('.').map_or(name, |(stem, _)| stem);
    let (name, rest) = stem.split_once('-').unwrap_or((stem, ""));
    (name, rest.split("-py").next().unwrap_or(rest))
}

/// The header of a METADATA: everything up to the first empty line. The body, a README of any
/// length, is not read.
fn header(sysroot: &Sysroot, path: &str) -> Option<Vec<u8>> {
    let file = match sysroot.open(path) {
        Ok(file) => file,
        Err(ReadError::NotFound) => return None,
        Err(error) => {
            sysroot.read_problem(path, &error);
            return None;
        }
    };
    match read_header(&file) {
        Ok(bytes) => Some(bytes),
        Err(error) => {
            sysroot.read_problem(path, &error);
            None
        }
    }
}

fn read_header(file: &SysFile) -> Result<Vec<u8>, ReadError> {
    let mut bytes = Vec::new();
    let mut chunk = [0_u8; 4096];
    while bytes.len() < HEADER_LIMIT {
        let count = file.read_at(&mut chunk, bytes.len() as u64)?;
        let from = bytes.len().saturating_sub(3);
        bytes.extend_from_slice(&chunk[..count]);
        let new = &bytes[from..];
        let ends = |mark: &[u8]| new.windows(mark.len()).any(|window| window == mark);
        if count < chunk.len() || ends(b"\n\n") || ends(b"\n\r\n") {
            break;
        }
    }
    Ok(bytes)
}

/// Counts the `.py` and `.so` files that RECORD lists, and the missing ones.
fn count_files(sysroot: &Sysroot, dist: &mut Dist) {
    let path = format!("{}/RECORD", dist.path);
    let bytes = match sysroot.read(&path, RECORD_LIMIT) {
        Ok(bytes) => bytes,
        Err(error) => return sysroot.read_problem(&path, &error),
    };
    let record = record::parse(&bytes);
    drop(bytes);
    if let Some((line, reason)) = record.bad.first() {
        let detail = faults::InLine { line: *line, why: reason }.value();
        sysroot.problem_at(&path, Some(*line), ProblemKind::Malformed, &detail);
    }
    let mut top_level = BTreeSet::new();
    let mut files = Vec::new();
    for row in &record.rows {
        // Scripts (`../../../bin/x`) may have been moved; imported files cannot be.
        if row.path.starts_with(['/', '.']) {
            continue;
        }
        if let Some((top, _)) = row.path.split_once('/')
            && !site::has_extension(top, "dist-info")
            && !site::has_extension(top, "data")
        {
            top_level.insert(top.to_owned());
        }
        if site::has_extension(&row.path, "py") || site::has_extension(&row.path, "so") {
            files.push((format!("{}/{}", dist.site_dir, row.path), row.line));
        }
    }
    let mut missing: Vec<&(String, u32)> =
        files.par_iter().filter(|(file, _)| !sysroot.exists(file)).collect();
    // Files that an import may need come first in the sample.
    missing.sort_by_key(|(file, _)| is_of_tests(file));
    let count = |len: usize| u32::try_from(len).unwrap_or(u32::MAX);
    dist.listed_files = count(files.len());
    dist.missing_files = count(missing.len());
    (dist.missing_sample, dist.missing_lines) = missing.into_iter().take(SAMPLE).cloned().unzip();
    dist.top_level = top_level.into_iter().collect();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_directories_tell_name_and_version() {
        assert_eq!(parts_of_name("torch_npu-2.9.0.post1.dist-info"), ("torch_npu", "2.9.0.post1"));
        assert_eq!(parts_of_name("PyYAML-6.0-py3.10.egg-info"), ("PyYAML", "6.0"));
        assert_eq!(parts_of_name("te.egg-info"), ("te", ""));
    }
}
