//! The content of published torch_npu wheels: `data/known_wheels.tsv`, written by
//! `cargo xtask refresh known_wheels.tsv` from the package index.
//!
//! Lines with fields separated by tabs:
//!
//! | first field | others |
//! |---|---|
//! | `known-wheels` | version of the format: 1 |
//! | `package`, `as_of` | name of the package; the day on which the index was read |
//! | `wheels` | number of `w` lines; number of those with files |
//! | `p` | a path; the lines count from 0 |
//! | `w` | file name without the package's name and `.whl`; SHA-256 of the wheel; where its RECORD was read, the [`record_digest`] |
//! | `f` | of the wheel above: number of the path, size in bytes, SHA-256 |
//!
//! Hashes are URL-safe base64 without padding. Only ELF files, `__init__.py` and `version.py` have
//! lines. The digest covers all other files.

use std::sync::LazyLock;

use crate::data_pack::{Pack, PackError, invalid};
use crate::text;
use base::hash::{Hasher, Sha256};

static BUILTIN: LazyLock<KnownWheels> = LazyLock::new(|| {
    KnownWheels::parse(text("known_wheels.tsv")).expect("the built-in list is proved by a test")
});

/// Parses the table of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    const NAME: &str = "known_wheels.tsv";
    let list = KnownWheels::parse(pack.text(NAME)?).map_err(|why| invalid(NAME, why))?;
    if list.wheels.is_empty() { Err(invalid(NAME, "it lists no wheels")) } else { Ok(()) }
}

/// The published wheels.
#[derive(Debug)]
pub struct KnownWheels {
    /// The day on which the index was read, `YYYY-MM-DD`.
    pub as_of: &'static str,
    package: &'static str,
    paths: Vec<&'static str>,
    wheels: Vec<Wheel>,
}

#[derive(Debug)]
struct Wheel {
    /// For example `2.6.0-cp310-cp310-manylinux_2_28_aarch64`.
    tags: &'static str,
    sha256: &'static str,
    record: Option<&'static str>,
    /// Path number, size, hash.
    files: Vec<(usize, u64, &'static str)>,
}

/// A published wheel whose RECORD is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct KnownWheel {
    /// File name.
    pub name: String,
    /// [`record_digest`] of its RECORD.
    pub record: Sha256,
    /// Path, size in bytes and hash of ELF and version files.
    pub files: Vec<(String, u64, Sha256)>,
}

impl KnownWheels {
    /// Returns the built-in list.
    pub fn builtin() -> &'static Self {
        &BUILTIN
    }

    fn parse(text: &'static str) -> Result<Self, String> {
        let mut list = Self { as_of: "", package: "", paths: Vec::new(), wheels: Vec::new() };
        for (number, line) in (1..).zip(text.lines()) {
            let bad = || format!("line {number}: `{line}`");
            let fields: Vec<&'static str> = line.split('\t').collect();
            match fields[..] {
                ["known-wheels", "1"] | ["wheels", _, _] => {}
                ["package", name] => list.package = name,
                ["as_of", day] => list.as_of = day,
                ["p", path] => list.paths.push(path),
                ["w", tags, sha256] => {
                    list.wheels.push(Wheel { tags, sha256, record: None, files: Vec::new() });
                }
                ["w", tags, sha256, record] => {
                    let record = Some(record);
                    list.wheels.push(Wheel { tags, sha256, record, files: Vec::new() });
                }
                ["f", path, size, sha256] => {
                    let path = path.parse().map_err(|_| bad())?;
                    let size = size.parse().map_err(|_| bad())?;
                    let wheel = list.wheels.last_mut().ok_or_else(bad)?;
                    wheel.files.push((path, size, sha256));
                }
                _ if line.starts_with('#') => {}
                _ => return Err(bad()),
            }
        }
        Ok(list)
    }

    /// Returns the published wheels of this version for the interpreter tag (`cp311`) and
    /// architecture whose RECORD is known. There is nearly always one.
    pub fn find(&self, version: &str, python: &str, arch: &str) -> Vec<KnownWheel> {
        self.wheels
            .iter()
            .filter(|wheel| wheel.is_for(version, python, arch))
            .filter_map(|wheel| self.find_known(wheel))
            .collect()
    }

    /// Returns the number of listed wheels, and the number of those with known files.
    pub fn counts(&self) -> (usize, usize) {
        (self.wheels.len(), self.wheels.iter().filter(|wheel| wheel.record.is_some()).count())
    }

    /// Returns the SHA-256 of the published wheel with this file name.
    pub fn wheel_sha256(&self, file_name: &str) -> Option<Sha256> {
        let tags = file_name.strip_suffix(".whl")?.strip_prefix(self.package)?.strip_prefix('-')?;
        let wheel = self.wheels.iter().find(|wheel| wheel.tags == tags)?;
        Sha256::from_base64url(wheel.sha256)
    }

    fn find_known(&self, wheel: &Wheel) -> Option<KnownWheel> {
        let files = wheel.files.iter().filter_map(|&(path, size, hash)| {
            Some(((*self.paths.get(path)?).to_owned(), size, Sha256::from_base64url(hash)?))
        });
        Some(KnownWheel {
            name: format!("{}-{}.whl", self.package, wheel.tags),
            record: Sha256::from_base64url(wheel.record?)?,
            files: files.collect(),
        })
    }
}

impl Wheel {
    fn is_for(&self, version: &str, python: &str, arch: &str) -> bool {
        let mut parts = self.tags.split('-');
        parts.next() == Some(version)
            && parts.next() == Some(python)
            && parts.nth(1).is_some_and(|platforms| {
                platforms.split('.').any(|platform| {
                    platform.strip_suffix(arch).is_some_and(|rest| rest.ends_with('_'))
                })
            })
    }
}

/// Returns whether installers keep a row of RECORD unchanged from the wheel: nothing in
/// `.dist-info` and `.data`, nothing outside of the package directory, no byte code.
pub fn is_of_package(path: &str) -> bool {
    let top = path.split('/').next().unwrap_or_default();
    !(path.starts_with('/')
        || top == ".."
        || top.ends_with(".dist-info")
        || top.ends_with(".data")
        || path.ends_with(".pyc"))
}

/// Returns one value for all rows of a RECORD that [`is_of_package`] keeps: the SHA-256 over the
/// sorted lines `path NUL hash NUL size LF`, with each field as in RECORD (`sha256=` and unpadded
/// base64; empty if missing).
///
/// An installation with the digest of a published wheel has the RECORD of that wheel, so a file
/// that matches RECORD is a published file.
pub fn record_digest<'a>(
    rows: impl Iterator<Item = (&'a str, Option<Sha256>, Option<u64>)>,
) -> Sha256 {
    let mut lines: Vec<String> = rows
        .filter(|(path, ..)| is_of_package(path))
        .map(|(path, hash, size)| {
            let hash = hash.map(|hash| format!("sha256={}", hash.base64url())).unwrap_or_default();
            let size = size.map(|size| size.to_string()).unwrap_or_default();
            format!("{path}\0{hash}\0{size}\n")
        })
        .collect();
    lines.sort_unstable();
    let mut hasher = Hasher::default();
    for line in lines {
        hasher.update(line.as_bytes());
    }
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    #[test]
    fn the_list_is_whole_and_small_enough_to_ship() {
        let table = text("known_wheels.tsv");
        assert!(table.len() < 1_000_000, "{} bytes", table.len());
        let list = KnownWheels::parse(table).unwrap();
        let (all, with_files) = list.counts();
        assert!(table.contains(&format!("wheels\t{all}\t{with_files}\n")));
        assert!(all >= 500 && with_files >= 30);
        assert_eq!((list.package, list.as_of.len()), ("torch_npu", 10));
        let mut names = BTreeSet::new();
        for wheel in &list.wheels {
            assert!(names.insert(wheel.tags), "{} twice", wheel.tags);
            assert_eq!(wheel.tags.split('-').count(), 4, "{}", wheel.tags);
            assert!(Sha256::from_base64url(wheel.sha256).is_some(), "{}", wheel.tags);
            let Some(known) = list.find_known(wheel) else {
                assert!(wheel.record.is_none() && wheel.files.is_empty(), "{}", wheel.tags);
                continue;
            };
            assert_eq!(known.files.len(), wheel.files.len(), "{}", wheel.tags);
            let has = |end: &str| known.files.iter().any(|(path, ..)| path.ends_with(end));
            assert!(has("/libtorch_npu.so") && has("/__init__.py") && has("/version.py"));
        }
    }

    #[test]
    fn the_newest_and_oldest_lines_are_there_for_both_architectures() {
        for version in ["2.1.0", "2.5.1", "2.6.0", "2.7.1", "2.8.0", "2.9.0", "2.14.0"] {
            for arch in ["x86_64", "aarch64"] {
                let found = KnownWheels::builtin().find(version, "cp310", arch);
                assert_eq!(found.len(), 1, "{version} {arch}");
                assert!(found[0].name.contains(arch), "{}", found[0].name);
            }
        }
    }

    #[test]
    fn only_the_exact_version_and_tag_is_found() {
        let list = KnownWheels::builtin();
        assert!(list.find("2.9.0+git1234567", "cp311", "aarch64").is_empty());
        assert!(list.find("2.9", "cp311", "aarch64").is_empty());
        assert!(list.find("2.9.0", "cp3", "aarch64").is_empty());
        assert!(list.find("2.9.0", "cp311", "arch64").is_empty());
    }

    #[test]
    fn a_file_of_a_published_wheel_is_as_its_record_says() {
        // The row of libtorch_npu.so in the RECORD of the 2.9.0 wheel for x86_64, CPython 3.11.
        let hash = Sha256::from_base64url("BzA8osD7e2leZrq2ohWZWYdJEwLkPWQaeYJDOVBt9Vc");
        let wheel = &KnownWheels::builtin().find("2.9.0", "cp311", "x86_64")[0];
        assert_eq!(wheel.name, "torch_npu-2.9.0-cp311-cp311-manylinux_2_28_x86_64.whl");
        let row = wheel.files.iter().find(|(path, ..)| path == "torch_npu/lib/libtorch_npu.so");
        assert_eq!(row.map(|(_, size, hash)| (*size, Some(*hash))), Some((64_839_529, hash)));
    }

    #[test]
    fn a_whole_wheel_is_known_by_its_name() {
        let list = KnownWheels::builtin();
        let name = "torch_npu-2.1.0-cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64.whl";
        let hash = "aeb3f44bbf68fb38bc771cecccf7d39d7e95cdafbfdb553990c69b0a8bcf2fd2";
        assert_eq!(list.wheel_sha256(name), Sha256::from_hex(hash));
        assert_eq!(list.wheel_sha256("torch-2.1.0-cp39-cp39-linux_x86_64.whl"), None);
    }

    #[test]
    fn the_digest_does_not_depend_on_order_or_on_what_installers_add() {
        let hash = Some(Sha256::of(b"x"));
        let a = ("torch_npu/a.py", hash, Some(1));
        let b = ("torch_npu/b.py", hash, Some(2));
        let wheel = record_digest([a, b].into_iter());
        let installed = [
            b,
            ("torch_npu-1.dist-info/INSTALLER", hash, Some(4)),
            ("../../bin/torch_npu_run", hash, Some(4)),
            ("torch_npu/__pycache__/a.cpython-311.pyc", None, None),
            a,
        ];
        assert_eq!(record_digest(installed.into_iter()), wheel);
        assert_ne!(record_digest([a, ("torch_npu/b.py", hash, Some(3))].into_iter()), wheel);
    }
}
