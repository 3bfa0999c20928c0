//! Output elsewhere, as a patch, or none.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::process::{Command, Stdio};

use super::trees::{AFTER, BEFORE, Tree, content_of};

#[test]
fn nothing_is_written_unless_it_is_asked_for() {
    let tree = Tree::new(&[("a.py", BEFORE), ("b.py", "x = 1\n")]);
    let before = content_of(tree.around());
    tree.convert(&["--dry-run"]).ended(0).said("2 read, 1 to change");
    tree.convert(&["--diff"]).ended(0).said("+++ b/a.py");
    tree.convert(&["--check"]).ended(1).said("1 file would change");
    tree.run(&["-r", "project/b.py", "--check"]).ended(0);
    assert_eq!(content_of(tree.around()), before);
}

#[test]
fn git_applies_the_patch_of_a_tree() {
    applies_patch_of_a_tree(&["git", "apply", "-p1"]);
}

#[test]
#[ignore = "needs patch"]
fn patch_applies_the_patch_of_a_tree() {
    applies_patch_of_a_tree(&["patch", "-s", "-p1", "--binary"]);
}

/// The patch of a tree produces the same files as the conversion.
fn applies_patch_of_a_tree(program: &[&str]) {
    let tree =
        Tree::new(&[("a.py", BEFORE), ("sub dir/b.py", BEFORE), ("old.py", "print 'cuda'\n")]);
    tree.write("crlf.py", BEFORE.replace('\n', "\r\n").as_bytes());
    tree.write("end.py", BEFORE.trim_end().as_bytes());
    tree.write("latin.py", &[b"# coding: latin-1\n# \xe9\n", BEFORE.as_bytes()].concat());
    let run = Command::new(assert_cmd::cargo::cargo_bin("ascend-doctor"))
        .args(["convert", "-r", "project", "--diff"])
        .current_dir(tree.around())
        .output()
        .unwrap();
    assert_eq!(run.status.code(), Some(1), "one file does not parse");
    assert!(String::from_utf8_lossy(&run.stderr).contains("old.py"));
    tree.convert(&[]).ended(1);
    let converted = tree.content();
    tree.convert(&["--undo"]).ended(0);
    let mut command = Command::new(program[0]);
    command.args(&program[1..]).current_dir(tree.root()).stdin(Stdio::piped());
    let child = command.spawn();
    let mut child = child.unwrap_or_else(|error| panic!("cannot start {}: {error}", program[0]));
    std::io::Write::write_all(&mut child.stdin.take().unwrap(), &run.stdout).unwrap();
    assert!(child.wait().unwrap().success(), "{program:?}");
    assert_eq!(tree.content(), converted, "{program:?}");
}

#[test]
fn a_copy_leaves_the_input_alone_and_is_whole() {
    let tree = Tree::new(&[
        ("a.py", BEFORE),
        ("sub/data.bin", "cuda\0"),
        ("left.py", BEFORE),
        ("build/x.py", BEFORE),
        (".gitignore", "build/\n"),
    ]);
    let mode = std::fs::Permissions::from_mode(0o700);
    std::fs::set_permissions(tree.path("a.py"), mode).unwrap();
    symlink("a.py", tree.path("link.py")).unwrap();
    let before = content_of(tree.around());
    tree.convert(&["--output-dir", "out/new", "-e", "left.py"]).ended(0).said("written to out/new");
    let mut after = content_of(tree.around());
    let copy = content_of(&tree.around().join("out/new"));
    after.retain(|path, _| !path.starts_with("out"));
    assert_eq!(after, before, "the input is not touched");
    let text = |name: &str| String::from_utf8(copy[std::path::Path::new(name)].1.clone()).unwrap();
    assert_eq!(text("a.py"), AFTER);
    assert_eq!(text("left.py"), BEFORE);
    assert_eq!(text("sub/data.bin"), "cuda\0");
    assert_eq!(text("link.py"), "a.py");
    assert_eq!(copy[std::path::Path::new("a.py")].0 & 0o7777, 0o700);
    assert!(!copy.keys().any(|path| path.starts_with("build")));

    tree.convert(&["--output-dir", "out/new"]).ended(2).said("is not empty");
    tree.convert(&["--output-dir", "out/new", "--force"]).ended(0);
    tree.convert(&["--output-dir", "project/new"]).ended(2).said("is inside the root");
    assert!(!tree.path("new").exists());
}

#[test]
fn two_roots_are_copied_side_by_side() {
    let tree = Tree::new(&[("x/a.py", BEFORE), ("y/a.py", BEFORE)]);
    tree.run(&["-r", "project/x", "-r", "project/y", "--output-dir", "out"]).ended(0);
    for name in ["out/x/a.py", "out/y/a.py"] {
        assert_eq!(std::fs::read_to_string(tree.around().join(name)).unwrap(), AFTER, "{name}");
    }
}

#[test]
fn contradictions_are_refused() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    for args in [
        &["--diff", "--check"][..],
        &["--undo", "--dry-run"],
        &["--output-dir", "x", "--backup"],
        &["--undo", "-l", "project/a.py"],
        &["--target", "torch==2.1"],
    ] {
        tree.convert(args).ended(2);
    }
    // Rejected as by audit-ops, because an unknown version has no data.
    for unknown in ["torch_npu==99", "2.3.0"] {
        tree.convert(&["--target", unknown]).ended(2).said("unknown value");
    }
    assert_eq!(tree.read("a.py"), BEFORE);
    for known in ["torch_npu==2.6", "2.7.1rc1", "2.1.0.post17", "torch-npu==2.9.0.post2"] {
        tree.convert(&["--dry-run", "--target", known]).ended(0);
    }
}
