//! Invalid machines: nothing may panic, hang, be written or be executed.

use std::collections::BTreeMap;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _, symlink};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::contract::run;
use crate::support::machine::Spec;
use crate::support::scan::{Scan, scan, try_scan};
use crate::support::tree::{Entry, Tree};

const DRIVER: &str = "/usr/local/Ascend/driver/version.info";

/// Writes the tree, applies `spoil` to the directory, and scans it.
fn spoiled(tree: &Tree, spoil: impl FnOnce(&Path)) -> Scan {
    let dir = tempfile::tempdir().unwrap();
    tree.write(dir.path());
    spoil(dir.path());
    let start = Instant::now();
    let scan = scan(dir.path(), &[]);
    // A few seconds of work; the rest is for busy machines.
    assert!(start.elapsed() < Duration::from_mins(2), "took {:?}", start.elapsed());
    scan
}

fn at(root: &Path, path: &str) -> PathBuf {
    root.join(path.trim_start_matches('/'))
}

/// Requires that a finding names the file.
fn names(scan: &Scan, path: &str) {
    let named = scan.text.contains(path);
    assert!(named && !scan.findings().is_empty(), "{path} is named nowhere:\n{}", scan.lines());
}

#[test]
fn a_root_that_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("file");
    std::fs::write(&file, "x").unwrap();
    for root in ["/nonexistent", file.to_str().unwrap()] {
        let (code, _, errors) = run(&["check", "--sysroot", root]);
        assert_eq!(code, 2, "{root}");
        assert!(errors.contains(root), "{errors}");
    }
}

/// The Python of the system is in the same directory as another program, but it was not requested.
#[test]
fn a_python_that_is_none() {
    let (code, text, _) = run(&["check", "--only", "PY", "--python", "/bin/ls", "--no-hash"]);
    assert_eq!(code, 1);
    assert!(text.contains("error[PY-INTERP] `/bin/ls` (--python) is not a Python"), "{text}");
}

/// On the live machine, an environment without a program cannot start; for a copy, this is unknown.
#[test]
fn an_environment_whose_python_is_gone() {
    let dir = tempfile::tempdir().unwrap();
    let venv = dir.path().join("venv");
    std::fs::create_dir_all(venv.join("lib/python3.11/site-packages")).unwrap();
    std::fs::create_dir(venv.join("bin")).unwrap();
    std::fs::write(venv.join("pyvenv.cfg"), "home = /usr/bin\nversion = 3.11.4\n").unwrap();
    let args = ["check", "--only", "PY", "--no-hash", "--python", venv.to_str().unwrap()];
    let python = venv.join("bin/python3");
    let expect = |status: i32, words: &str| {
        let (code, text, _) = run(&args);
        assert_eq!(code, status, "{text}");
        let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(text.contains(words), "{text}");
    };
    symlink("/nowhere/python3.11", &python).unwrap();
    expect(1, "points to `/nowhere/python3.11`, which does not exist");
    std::fs::remove_file(&python).unwrap();
    std::fs::write(&python, "").unwrap();
    expect(1, "is neither a program nor a script");
}

/// Python stops before its first line if PYTHONHOME contains no standard library of its version.
#[test]
fn a_home_that_is_none() {
    let dir = tempfile::tempdir().unwrap();
    let bin = dir.path().join("bin");
    std::fs::create_dir_all(&bin).unwrap();
    std::fs::create_dir_all(dir.path().join("lib/python3.11/site-packages")).unwrap();
    std::fs::write(bin.join("python3.11"), b"\x7fELF").unwrap();
    symlink("python3.11", bin.join("python3")).unwrap();
    let env = dir.path().join("env.txt");
    std::fs::write(&env, "PYTHONHOME=/nowhere\n").unwrap();
    let python = bin.join("python3");
    let args = ["--only", "PY", "--no-hash", "--python", python.to_str().unwrap()];
    let args = [&["check", "--env-file", env.to_str().unwrap()], &args[..]].concat();
    let (code, text, _) = run(&args);
    assert_eq!(code, 1, "{text}");
    assert!(text.contains("unset PYTHONHOME"), "{text}");
}

#[test]
fn an_empty_root() {
    let dir = tempfile::tempdir().unwrap();
    let scan = scan(dir.path(), &[]);
    assert_eq!((scan.code, scan.ids("error")), (0, vec![]), "{}", scan.lines());
}

#[test]
fn links_that_dangle_and_loop() {
    let tree = Spec::default().build();
    let scan = spoiled(&tree, |root| {
        std::fs::remove_file(at(root, DRIVER)).unwrap();
        symlink("version.info.2", at(root, DRIVER)).unwrap();
        symlink("version.info", at(root, &format!("{DRIVER}.2"))).unwrap();
        symlink("/nowhere", at(root, "/usr/local/Ascend/nothing")).unwrap();
        symlink(".", at(root, "/usr/local/Ascend/self")).unwrap();
        symlink("/usr/local/Ascend", at(root, "/usr/local/Ascend/up")).unwrap();
    });
    names(&scan, DRIVER);

    let site = tree.places["site"].clone();
    let scan = spoiled(&tree, |root| {
        std::fs::rename(at(root, &site), at(root, &format!("{site}.old"))).unwrap();
        symlink("site-packages", at(root, &site)).unwrap();
    });
    names(&scan, &site);
}

#[test]
fn a_link_never_leaves_the_root() {
    let outside = tempfile::tempdir().unwrap();
    std::fs::write(outside.path().join("version.info"), "Version=99.9.9\n").unwrap();
    let tree = Spec::default().build();
    let scan = spoiled(&tree, |root| {
        std::fs::remove_file(at(root, DRIVER)).unwrap();
        symlink(outside.path().join("version.info"), at(root, DRIVER)).unwrap();
        let up = format!("../../../../../../../../..{}/version.info", outside.path().display());
        symlink(up, at(root, "/usr/local/Ascend/firmware/x.info")).unwrap();
    });
    assert!(!scan.text.contains("99.9.9"), "read through a link to the outside");
}

#[test]
fn a_version_file_of_1_gb() {
    let mut tree = Spec::default().build();
    tree.entries.insert(DRIVER.to_owned(), Entry::Sparse(1 << 30));
    tree.entries.insert("/etc/hccn.conf".to_owned(), Entry::Sparse(1 << 30));
    let scan = spoiled(&tree, |_| {});
    names(&scan, DRIVER);
    names(&scan, "/etc/hccn.conf");
}

#[test]
fn names_that_are_no_utf8() {
    let tree = Spec::default().build();
    let site = tree.places["site"].clone();
    let scan = spoiled(&tree, |root| {
        let name = std::ffi::OsStr::from_bytes(b"bad-\xff\xfe.dist-info");
        std::fs::create_dir(at(root, &site).join(name)).unwrap();
        let name = std::ffi::OsStr::from_bytes(b"lib\xff.so");
        std::fs::write(at(root, &site).join("torch_npu/lib").join(name), "x").unwrap();
        std::fs::create_dir(
            at(root, "/usr/local/Ascend").join(std::ffi::OsStr::from_bytes(b"cann-\xff")),
        )
        .unwrap();
    });
    names(&scan, "UTF-8");
    assert_eq!(scan.ids("error"), Vec::<String>::new(), "{}", scan.lines());
}

#[test]
fn pipes_where_files_are_expected() {
    let tree = Spec::default().build();
    let site = tree.places["site"].clone();
    let paths = [
        DRIVER.to_owned(),
        "/etc/ascend_install.info".to_owned(),
        "/etc/hccn.conf".to_owned(),
        format!("{site}/torch_npu-2.7.1.dist-info/RECORD"),
        format!("{site}/torch_npu/lib/libtorch_npu.so"),
        format!("{}/aarch64-linux/lib64/libhccl.so", tree.places["cann"]),
    ];
    for path in &paths {
        let scan = spoiled(&tree, |root| {
            std::fs::remove_file(at(root, path)).unwrap();
            let mode = rustix::fs::Mode::from_raw_mode(0o644);
            rustix::fs::mkfifoat(rustix::fs::CWD, at(root, path), mode).unwrap();
        });
        // For a library of CANN, the toolkit and the name of the file are reported.
        let library = path.contains("lib64").then(|| path.rsplit('/').next()).flatten();
        names(&scan, library.unwrap_or(path));
    }
}

#[test]
fn directories_where_files_are_expected() {
    let tree = Spec::default().build();
    let site = tree.places["site"].clone();
    for path in [
        DRIVER,
        "/etc/os-release",
        "/etc/ascend_install.info",
        &format!("{site}/torch_npu-2.7.1.dist-info/METADATA"),
        &format!("{site}/torch_npu/version.py"),
        &format!("{site}/torch_npu/lib/libtorch_npu.so"),
    ] {
        let scan = spoiled(&tree, |root| {
            std::fs::remove_file(at(root, path)).unwrap();
            std::fs::create_dir(at(root, path)).unwrap();
        });
        names(&scan, path);
    }
}

#[test]
fn record_with_quotes_and_commas() {
    let mut tree = Spec::default().build();
    let site = tree.places["site"].clone();
    let record = format!("{site}/torch_npu-2.7.1.dist-info/RECORD");
    let mut text = tree.text(&record);
    for name in ["torch_npu/a,b.py", "torch_npu/say \"hi\".py"] {
        tree.file(&format!("{site}/{name}"), "x = 1\n");
        text.push_str(&crate::support::python::record_row(name, b"x = 1\n"));
    }
    tree.file(&record, &text);
    let scan = spoiled(&tree, |_| {});
    assert!(scan.findings().iter().all(|seen| seen.severity == "info"), "{}", scan.lines());

    // An unterminated quote, a row without columns, a path that leads outside.
    text.push_str("torch_npu/x.py\n../../../../../../etc/passwd,sha256=AAAA,1\n\"torch_npu/y.py,sha256=AA,1\n");
    tree.file(&record, &text);
    let scan = spoiled(&tree, |_| {});
    names(&scan, &record);
}

#[test]
fn a_half_installed_package() {
    let mut tree = Spec::default().build();
    let site = tree.places["site"].clone();
    tree.remove(&format!("{site}/torch_npu/lib"));
    let scan = spoiled(&tree, |_| {});
    names(&scan, "torch_npu/lib/libtorch_npu.so");
    assert_eq!(scan.code, 1, "{}", scan.lines());
    assert_eq!(scan.ids("error").len(), 1, "one root cause:\n{}", scan.lines());

    let mut tree = Spec::default().build();
    tree.remove(&format!("{site}/torch_npu-2.7.1.dist-info/METADATA"));
    let scan = spoiled(&tree, |_| {});
    names(&scan, "torch_npu-2.7.1.dist-info");
}

#[test]
fn malformed_sidecars() {
    for name in [".rootmeta.json", ".env.json", ".process.json"] {
        for text in ["", "{", "[]", "{\"a\": {\"b\": []}, \"uid\": \"x\", \"PATH\": 1}", "\u{0}"] {
            let dir = tempfile::tempdir().unwrap();
            Spec::default().build().write(dir.path());
            std::fs::write(dir.path().join(name), text).unwrap();
            let root = dir.path().to_str().unwrap();
            let (code, _, errors) = run(&["check", "--sysroot", root]);
            assert_eq!(code, 2, "{name} {text:?}: {errors}");
            assert!(errors.contains(name), "{errors}");
            let place = errors.contains("line 1, column ");
            assert!(place && errors.contains("expected a JSON object"), "{errors}");
            assert!(errors.contains("Repair the file, or remove it"), "{errors}");
        }
        let dir = tempfile::tempdir().unwrap();
        std::fs::create_dir(dir.path().join(name)).unwrap();
        assert!(try_scan(dir.path(), &[]).is_err(), "{name} is a directory");
    }
}

/// Sidecars with odd but well-formed content.
#[test]
fn odd_sidecars() {
    let mut tree = Spec::default().build();
    tree.node("/dev/davinci99999999999", serde_json::json!({ "type": "char", "mode": "99999" }));
    tree.node("relative/path", serde_json::json!({ "type": "char" }));
    tree.node("/dev/../etc/x", serde_json::json!({ "type": "tea", "mode": "" }));
    tree.set_env("LD_LIBRARY_PATH", &"/x:".repeat(100_000));
    tree.set_env("PATH", "");
    tree.set_env("ASCEND_RT_VISIBLE_DEVICES", &"9,".repeat(100_000));
    let scan = spoiled(&tree, |_| {});
    assert!(scan.text.len() < 4 << 20, "{} bytes of report", scan.text.len());
}

/// One line per file: path, kind, size, mode, times.
fn listing(root: &Path) -> BTreeMap<PathBuf, (u32, u64, i64, i64)> {
    walkdir::WalkDir::new(root)
        .into_iter()
        .map(|entry| {
            let entry = entry.unwrap();
            let meta = entry.path().symlink_metadata().unwrap();
            let times = (meta.mode(), meta.size(), meta.mtime(), meta.mtime_nsec());
            (entry.into_path(), times)
        })
        .collect()
}

#[test]
fn nothing_is_written_or_executed() {
    let mark = tempfile::tempdir().unwrap();
    let mark = mark.path().join("executed");
    let mut tree = Spec::default().build();
    let script = format!("#!/bin/sh\ntouch {}\n", mark.display());
    let python = format!("{}/bin/python3", tree.places["prefix"]);
    let programs = [
        "/usr/local/bin/npu-smi",
        "/usr/local/Ascend/driver/tools/hccn_tool",
        &python,
        "/usr/bin/python3.11",
        "/usr/bin/ldd",
    ];
    for path in programs {
        tree.file(path, &script);
    }
    let dir = tempfile::tempdir().unwrap();
    tree.write(dir.path());
    for path in programs {
        let mode = std::fs::Permissions::from_mode(0o755);
        std::fs::set_permissions(at(dir.path(), path), mode).unwrap();
    }
    let before = listing(dir.path());
    let root = dir.path().to_str().unwrap();
    for args in [&[][..], &["--profile", "multi-node"], &["--facts-only"], &["--no-hash"]] {
        run(&[&["check", "--sysroot", root], args].concat());
    }
    assert_eq!(before, listing(dir.path()), "something was written");
    assert!(!mark.exists(), "a program of the tree was executed");
}

/// A sidecar file is a file of the tree: a link could expose a file of this machine.
#[test]
fn a_sidecar_that_is_a_link() {
    let outside = tempfile::tempdir().unwrap();
    let secret = outside.path().join("env.json");
    std::fs::write(&secret, "{\"ASCEND_HOME_PATH\": \"/from/outside\"}").unwrap();
    for target in [secret.to_str().unwrap(), "/nowhere", ".env.json"] {
        let dir = tempfile::tempdir().unwrap();
        symlink(target, dir.path().join(".env.json")).unwrap();
        let (code, out, errors) = run(&["check", "--sysroot", dir.path().to_str().unwrap()]);
        assert_eq!(code, 2, "{target}: {out}");
        assert!(errors.contains(".env.json") && errors.contains("symbolic link"), "{errors}");
    }
}

#[test]
fn a_recording_into_the_examined_root() {
    let dir = tempfile::tempdir().unwrap();
    std::fs::create_dir(dir.path().join("empty")).unwrap();
    let root = dir.path().to_str().unwrap();
    for inside in ["", "/empty", "/new/deep"] {
        let record = format!("{root}{inside}");
        let (code, _, errors) = run(&["check", "--sysroot", root, "--record", &record]);
        assert_eq!(code, 2, "{inside}: {errors}");
        assert!(errors.contains(&record) && errors.contains("never written"), "{errors}");
    }
    assert_eq!(listing(dir.path()).len(), 2, "something was written");
}

/// An entry of the search path that is not a file counts as missing, not as "installed elsewhere".
#[test]
fn a_pipe_in_place_of_a_library_is_one_finding() {
    let tree = Spec::default().build();
    let library = format!("{}/aarch64-linux/lib64/libhccl.so", tree.places["cann"]);
    let scan = spoiled(&tree, |root| {
        std::fs::remove_file(at(root, &library)).unwrap();
        let mode = rustix::fs::Mode::from_raw_mode(0o644);
        rustix::fs::mkfifoat(rustix::fs::CWD, at(root, &library), mode).unwrap();
    });
    assert_eq!(scan.ids("error"), ["CANN-PARTIAL"], "{}", scan.lines());
    names(&scan, "libhccl.so");
}
