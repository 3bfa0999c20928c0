//! Tests of the collector with small trees.
#![expect(clippy::disallowed_methods, reason = "the tests build the trees that are examined")]

use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use super::*;
use crate::manifest::Manifest;
use base::hash::Sha256;
use base::progress::Progress;
use facts::PthCode;

const SITE: &str = "/venv/lib/python3.11/site-packages";
const INFO: &str = "torch_npu-2.9.0.dist-info";

fn collect(sysroot: &Sysroot, python: &Python, link: &Link, options: &Options) -> Integrity {
    finish(sysroot, python, link, options, begin(sysroot, python, options))
}

/// A tree with an installed torch_npu. Its RECORD is written before the tree is read.
struct Tree {
    dir: tempfile::TempDir,
    record: String,
    python: Python,
}

impl Tree {
    fn new() -> Self {
        let dist = Dist {
            name: PACKAGE.to_owned(),
            version: "2.9.0".to_owned(),
            path: format!("{SITE}/{INFO}"),
            site_dir: SITE.to_owned(),
            tags: vec!["cp311-cp311-manylinux_2_28_x86_64".to_owned()],
            ..Dist::default()
        };
        Self {
            dir: tempfile::tempdir().unwrap(),
            record: String::new(),
            python: Python { dists: vec![dist], ..Python::default() },
        }
    }

    fn at(&self, path: &str) -> PathBuf {
        self.dir.path().join(SITE.trim_start_matches('/')).join(path)
    }

    /// Adds a file that RECORD does not list.
    fn stray(self, path: &str, content: &[u8]) -> Self {
        let at = self.at(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, content).unwrap();
        self
    }

    fn row(mut self, path: &str, content: &[u8]) -> Self {
        let hash = Sha256::of(content).base64url();
        self.record += &format!("{path},sha256={hash},{}\r\n", content.len());
        self
    }

    /// Adds a file that RECORD lists.
    fn file(self, path: &str, content: &[u8]) -> Self {
        self.row(path, content).stray(path, content)
    }

    /// Three files, and the rows that pip adds.
    fn installed() -> Self {
        Self::new()
            .file("torch_npu/__init__.py", b"import os\n")
            .file("torch_npu/lib/libtorch_npu.so", &vec![7; 200_000])
            .file("torch_npu/_C.cpython-311-x86_64-linux-gnu.so", b"\x7fELF")
            .file(&format!("{INFO}/INSTALLER"), b"pip\n")
            .row("../../../bin/torch_npu_run", b"#!/usr/bin/python")
            .line("torch_npu/__pycache__/__init__.cpython-311.pyc,,")
    }

    fn line(mut self, row: &str) -> Self {
        self.record += row;
        self.record += "\r\n";
        self
    }

    fn with(&self, options: &Options) -> PackageIntegrity {
        let path = self.at(INFO).join("RECORD");
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, format!("{}{INFO}/RECORD,,\r\n", self.record)).unwrap();
        self.read(options)
    }

    fn read(&self, options: &Options) -> PackageIntegrity {
        let sysroot = Sysroot::tree(self.dir.path()).unwrap();
        let facts = collect(&sysroot, &self.python, &Link::default(), options);
        facts.packages.into_iter().next().unwrap()
    }

    fn hashed(&self) -> PackageIntegrity {
        self.with(&Options { hash: true, ..Options::default() })
    }
}

/// Kind and path below site-packages of the files that differ.
fn kinds(facts: &PackageIntegrity) -> Vec<(&str, &str)> {
    let short = |path: &'_ str| path.len() - path.trim_start_matches(SITE).len() + 1;
    facts
        .differing
        .iter()
        .map(|file| (file.kind.as_str(), &file.path[short(&file.path)..]))
        .collect()
}

#[test]
fn an_untouched_installation_has_no_difference() {
    let facts = Tree::installed().hashed();
    assert_eq!(kinds(&facts), []);
    assert_eq!(facts.unlisted, [""; 0]);
    // Three files, INSTALLER and RECORD itself; RECORD has no hash.
    assert_eq!((facts.rows, facts.hashed, facts.without_hash, facts.outside), (5, 4, 0, 1));
    assert_eq!(facts.bytes, 10 + 200_000 + 4 + 4);
    assert_eq!(facts.hash_skipped, None);
}

#[test]
fn every_kind_of_damage_is_named() {
    let tree = Tree::installed()
        .file("torch_npu/gone.py", b"x")
        .file("torch_npu/short.so", b"0123456789")
        .file("torch_npu/edited.py", b"safe()")
        .file("torch_npu/pipe.py", b"x");
    std::fs::remove_file(tree.at("torch_npu/gone.py")).unwrap();
    std::fs::remove_file(tree.at("torch_npu/pipe.py")).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tree.at("torch_npu/pipe.py"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o600),
        0,
    )
    .unwrap();
    let tree = tree.stray("torch_npu/short.so", b"0123").stray("torch_npu/edited.py", b"evil()");
    let facts = tree.hashed();
    assert_eq!(
        kinds(&facts),
        [
            ("hash", "torch_npu/edited.py"),
            ("missing", "torch_npu/gone.py"),
            ("type", "torch_npu/pipe.py"),
            ("size", "torch_npu/short.so"),
        ]
    );
    let size = &facts.differing[3];
    assert_eq!((size.expected.as_str(), size.found.as_str()), ("10", "4"));
    assert_eq!(facts.differing_total, 4);
}

#[test]
fn without_hashing_only_sizes_are_compared() {
    let tree = Tree::installed().stray("torch_npu/__init__.py", b"import io\n");
    let facts = tree.with(&Options::default());
    assert_eq!(facts.hash_skipped.as_deref(), Some("no_hash"));
    assert_eq!((facts.hashed, facts.bytes, kinds(&facts).len()), (0, 0, 0));
    assert_eq!(facts.upstream.verdict, "not_checked");
    let tree = tree.stray("torch_npu/__init__.py", b"import");
    assert_eq!(kinds(&tree.with(&Options::default())), [("size", "torch_npu/__init__.py")]);
}

#[test]
fn rows_never_lead_out_of_the_package_directory() {
    let tree = Tree::installed()
        .line("/etc/shadow,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0")
        .line("../../../../etc/passwd,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0")
        .line("torch_npu/../../x,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0");
    let facts = tree.hashed();
    assert_eq!(facts.outside, 4);
    assert_eq!(kinds(&facts), []);
}

#[test]
fn a_link_is_followed_inside_the_root_only() {
    let tree = Tree::installed().row("torch_npu/a.py", b"x").row("torch_npu/b.py", b"x");
    let cache = tree.dir.path().join("cache.py");
    std::fs::write(&cache, b"x").unwrap();
    symlink("/cache.py", tree.at("torch_npu/a.py")).unwrap();
    // A link to the same file by its path on this host. Below the root, that path does not exist.
    symlink(&cache, tree.at("torch_npu/b.py")).unwrap();
    assert_eq!(kinds(&tree.hashed()), [("missing", "torch_npu/b.py")]);
}

#[test]
fn quoted_names_and_other_algorithms() {
    let hash = Sha256::of(b"x").base64url();
    let tree = Tree::installed()
        .stray("torch_npu/a, \"b\".py", b"x")
        .line(&format!("\"torch_npu/a, \"\"b\"\".py\",sha256={hash},1"))
        .stray("torch_npu/c.py", b"x")
        .line("torch_npu/c.py,sha384=OLBgp1GsljhM2TJ-sbHjaiH9txEUvgdDTAzHv2P24donTt6_529l-9Ua0vFImLlb,1");
    let facts = tree.hashed();
    assert_eq!(kinds(&facts), []);
    assert_eq!(facts.unlisted, [""; 0]);
    assert_eq!(facts.without_hash, 1);
}

#[test]
fn files_that_no_row_lists_are_found() {
    let tree = Tree::installed()
        .stray("torch_npu/lib/libextra.so", b"x")
        .stray("torch_npu/evil.py", b"x")
        .stray("torch_npu/notes.txt", b"x")
        .stray("torch_npu/__pycache__/evil.py", b"x")
        .stray("other/evil.py", b"x");
    // A directory that contains itself.
    symlink("..", tree.at("torch_npu/lib/loop")).unwrap();
    let facts = tree.hashed();
    let site = SITE;
    assert_eq!(
        facts.unlisted,
        [format!("{site}/torch_npu/evil.py"), format!("{site}/torch_npu/lib/libextra.so")]
    );
}

#[test]
fn a_pth_file_that_runs_code_needs_an_owner() {
    let mut tree = Tree::installed().file("listed.pth", b"import a\n");
    tree.python.pth_imports = ["listed.pth", "stray.pth", "_virtualenv.pth"]
        .map(|name| PthCode {
            path: format!("{SITE}/{name}"),
            code: "import a".to_owned(),
            line: Some(3),
        })
        .to_vec();
    let _ = tree.hashed();
    let sysroot = Sysroot::tree(tree.dir.path()).unwrap();
    let facts = collect(&sysroot, &tree.python, &Link::default(), &Options::default());
    assert_eq!(facts.stray_pth, [tree.python.pth_imports[1].clone()]);
}

#[test]
fn no_record_and_a_damaged_record() {
    let tree = Tree::installed();
    let facts = tree.read(&Options { hash: true, ..Options::default() });
    assert_eq!((facts.record, facts.hash_skipped.as_deref()), (None, Some("no_record")));
    let facts = Tree::installed().line("torch_npu/x.py,sha256=short,1").hashed();
    assert_eq!(facts.bad_rows.len(), 1);
    assert_eq!(facts.upstream.record_matches, None);
}

#[test]
fn long_lists_are_cut_and_counted() {
    let mut tree = Tree::installed();
    for number in 0..120 {
        tree = tree.row(&format!("torch_npu/m{number}.py"), b"x");
    }
    let facts = tree.hashed();
    assert_eq!((facts.differing.len(), facts.differing_total), (MAX_LISTED, 120));
}

#[test]
fn progress_ends_at_the_total() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let sink = Arc::clone(&seen);
    let progress = Progress::new(move |done, total| sink.lock().unwrap().push((done, total)));
    Tree::installed().with(&Options { hash: true, progress, ..Options::default() });
    let last = seen.lock().unwrap().iter().copied().max();
    assert_eq!(last, Some((200_018, 200_018)));
}

/// The manifest of [`Tree::installed`], with different content for the files in `change`.
fn manifest(change: &[(&str, &[u8])]) -> Options {
    let mut files = vec![
        ("torch_npu/__init__.py", b"import os\n".to_vec()),
        ("torch_npu/lib/libtorch_npu.so", vec![7; 200_000]),
        ("torch_npu/_C.cpython-311-x86_64-linux-gnu.so", b"\x7fELF".to_vec()),
    ];
    for (path, content) in change {
        for file in files.iter_mut().filter(|file| file.0 == *path) {
            file.1 = content.to_vec();
        }
    }
    let row = |(path, content): (&str, Vec<u8>)| {
        (path.to_owned(), content.len() as u64, Sha256::of(&content))
    };
    let files: Vec<_> = files.into_iter().map(row).collect();
    let record =
        record_digest(files.iter().map(|(path, size, hash)| (&**path, Some(*hash), Some(*size))));
    let manifest = Manifest {
        origin: "m.json".to_owned(),
        package: PACKAGE.to_owned(),
        version: "2.9.0".to_owned(),
        wheel: None,
        record: Some(record),
        files,
    };
    Options { hash: true, manifest: Some(Arc::new(manifest)), ..Options::default() }
}

#[test]
fn what_the_manifest_says_is_a_match() {
    let upstream = Tree::installed().with(&manifest(&[])).upstream;
    assert_eq!((upstream.verdict.as_str(), upstream.compared), ("match", 3));
    assert_eq!(upstream.record_matches, Some(true));
}

#[test]
fn one_library_that_record_vouches_for_but_the_manifest_does_not() {
    let options = manifest(&[("torch_npu/lib/libtorch_npu.so", &vec![8; 200_000])]);
    let facts = Tree::installed().with(&options);
    assert_eq!(kinds(&facts), [], "RECORD is consistent");
    assert_eq!(facts.upstream.verdict, "differs");
    assert_eq!(facts.upstream.differing[0].kind, "hash");
    assert_eq!(facts.upstream.differing.len(), 1);
}

#[test]
fn a_python_file_that_was_changed_with_its_row_shows_in_the_digest() {
    let facts = Tree::installed().file("torch_npu/extra.py", b"x").with(&manifest(&[]));
    assert_eq!(facts.upstream.record_matches, Some(false));
    assert_eq!(facts.upstream.verdict, "differs");
    assert!(facts.upstream.differing.is_empty());
}

#[test]
fn another_build_has_no_library_in_common() {
    // Compared with the published 2.9.0, with which it shares only the version number.
    let facts = Tree::installed().hashed();
    assert_eq!(facts.upstream.verdict, "other_build");
    assert!(facts.upstream.wheel.unwrap().contains("cp311-manylinux_2_28_x86_64"));
    // A manifest requires a specific build.
    let options = manifest(&[
        ("torch_npu/lib/libtorch_npu.so", b"x"),
        ("torch_npu/_C.cpython-311-x86_64-linux-gnu.so", b"x"),
    ]);
    assert_eq!(Tree::installed().with(&options).upstream.verdict, "differs");
    // Damage is not reported as another build.
    let mut tree = Tree::installed();
    for path in ["lib/libtorch_npu.so", "_C.cpython-311-x86_64-linux-gnu.so"] {
        tree = tree.stray(&format!("torch_npu/{path}"), b"");
    }
    let facts = tree.with(&manifest(&[]));
    assert_eq!(facts.upstream.verdict, "differs");
}

#[test]
fn versions_that_nobody_published_are_unknown() {
    for version in ["2.9.0+git1234567", "99.0"] {
        let mut tree = Tree::installed();
        tree.python.dists[0].version = version.to_owned();
        assert_eq!(tree.hashed().upstream.verdict, "unknown_version");
        assert_eq!(tree.with(&manifest(&[])).upstream.verdict, "other_version");
    }
    let mut tree = Tree::installed();
    tree.python.dists[0].tags.clear();
    assert_eq!(tree.hashed().upstream.verdict, "unknown_version");
}

#[test]
fn a_partial_recording_is_not_checked() {
    let tree = Tree::installed();
    let path = format!("[\"{SITE}/torch_npu/lib/libtorch_npu.so\"]");
    std::fs::write(tree.dir.path().join(".partial.json"), path).unwrap();
    let facts = tree.with(&manifest(&[]));
    assert_eq!(facts.hash_skipped.as_deref(), Some("partial"));
    assert_eq!(facts.upstream.verdict, "not_checked");
    assert_eq!(kinds(&facts), []);
}

#[test]
fn what_a_cut_record_may_list_is_not_called_unlisted() {
    let mut tree = Tree::installed().stray("torch_npu/other.py", b"");
    assert_eq!(tree.hashed().unlisted_total, 1);
    tree.record += &"../a,,\n".repeat(record::MAX_ROWS);
    let facts = tree.hashed();
    assert!(facts.record_cut);
    assert_eq!(facts.unlisted_total, 0);
}

/// Of the other packages, code and libraries are compared: of the known packages, and of those with
/// a library that the linker examined.
#[test]
fn other_packages_are_compared_with_their_records() {
    let tree = tempfile::tempdir().unwrap();
    let write = |path: &str, content: &[u8]| {
        let at = tree.path().join(SITE.trim_start_matches('/')).join(path);
        std::fs::create_dir_all(at.parent().unwrap()).unwrap();
        std::fs::write(at, content).unwrap();
    };
    let mut python = Python::default();
    for name in ["mindspore", "numpy", "sgl_kernel_npu", "torch"] {
        let info = format!("{name}-1.0.dist-info");
        let row = |path: &str, content: &[u8]| {
            format!("{name}/{path},sha256={},{}\n", Sha256::of(content).base64url(), content.len())
        };
        let rows = [row("a.py", b"a"), row("lib/b.so.2", b"b"), row("c.json", b"c")].concat();
        write(&format!("{info}/RECORD"), rows.as_bytes());
        write(&format!("{name}/a.py"), b"other");
        write(&format!("{name}/lib/b.so.2"), b"x");
        write(&format!("{name}/c.json"), b"x");
        python.dists.push(Dist {
            name: name.replace('_', "-"),
            path: format!("{SITE}/{info}"),
            site_dir: SITE.to_owned(),
            has_record: true,
            ..Dist::default()
        });
    }
    // conda moves libraries after RECORD was written.
    write("torch-1.0.dist-info/INSTALLER", b"conda\n");
    let object = facts::LinkedObject {
        path: format!("{SITE}/sgl_kernel_npu/lib/b.so.2"),
        ..facts::LinkedObject::default()
    };
    let link = Link { objects: vec![object], ..Link::default() };
    let sysroot = Sysroot::tree(tree.path()).unwrap();
    let compared = |hash: bool| {
        let options = Options { hash, ..Options::default() };
        let facts = collect(&sysroot, &python, &link, &options);
        let kinds = |package: PackageIntegrity| {
            let kinds = package.differing.iter().map(|file| file.kind.as_str());
            (package.name, kinds.collect::<Vec<_>>().join(" "))
        };
        facts.packages.into_iter().map(kinds).collect::<Vec<_>>()
    };
    let of_both = |kinds: &str| {
        ["mindspore", "sgl-kernel-npu"].map(|name| (name.to_owned(), kinds.to_owned())).to_vec()
    };
    assert_eq!(compared(true), of_both("size broken"));
    assert_eq!(compared(false), of_both("size"));
    // Files with the right size that contain NUL bytes.
    for name in ["mindspore", "sgl_kernel_npu"] {
        write(&format!("{name}/a.py"), b"\0");
    }
    assert_eq!(compared(true), of_both("nul broken"));
}
