//! Conversions in place, twice, and undone.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt as _;
use std::os::unix::fs::PermissionsExt as _;

use super::trees::{AFTER, BEFORE, Tree};

fn tree() -> Tree {
    let tree = Tree::new(&[("a.py", BEFORE), ("sub/b.py", BEFORE), ("c.py", "x = 1\n")]);
    tree.write("crlf.py", BEFORE.replace('\n', "\r\n").as_bytes());
    tree.write("bom.py", format!("\u{feff}{BEFORE}").as_bytes());
    tree.write("gbk.py", &[b"# coding: gbk\n# \xc4\xe3\xba\xc3\n", BEFORE.as_bytes()].concat());
    tree.write("end.py", BEFORE.trim_end().as_bytes());
    let odd = OsStr::from_bytes(b"caf\xe9.py");
    std::fs::write(tree.root().join(odd), BEFORE).unwrap();
    let mode = std::fs::Permissions::from_mode(0o751);
    std::fs::set_permissions(tree.path("a.py"), mode).unwrap();
    tree
}

#[test]
fn a_run_changes_only_what_it_should_and_is_taken_back_whole() {
    let tree = tree();
    let before = tree.content();
    tree.convert(&[]).ended(0).said("7 files written in place");
    assert_eq!(tree.read("a.py"), AFTER);
    assert_eq!(tree.read("crlf.py"), AFTER.replace('\n', "\r\n"));
    assert_eq!(tree.read("bom.py"), format!("\u{feff}{AFTER}"));
    assert_eq!(tree.read("end.py"), AFTER.trim_end());
    let gbk = std::fs::read(tree.path("gbk.py")).unwrap();
    assert!(gbk.starts_with(b"# coding: gbk\n# \xc4\xe3\xba\xc3\nimport"));
    let mode = tree.path("a.py").metadata().unwrap().permissions().mode();
    assert_eq!(mode & 0o7777, 0o751);

    let once = tree.content();
    tree.convert(&[]).ended(0).said("no change needed");
    assert_eq!(tree.content(), once, "a second conversion changes nothing");

    tree.convert(&["--undo"]).ended(0).said("7 files restored to the original content");
    assert_eq!(tree.content(), before);
    assert!(!tree.path(".ascend-doctor").exists(), "nothing is left behind");
    tree.convert(&["--undo"]).ended(2).said("no run to undo");
}

#[test]
fn runs_stack() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    let before = tree.content();
    tree.convert(&[]).ended(0);
    let once = tree.content();
    tree.write("b.py", BEFORE.as_bytes());
    tree.convert(&[]).ended(0);
    tree.convert(&["--undo"]).ended(0);
    assert_eq!((tree.read("a.py"), tree.read("b.py")), (AFTER.to_owned(), BEFORE.to_owned()));
    std::fs::remove_file(tree.path("b.py")).unwrap();
    assert_eq!(tree.content(), once);
    tree.convert(&["--undo"]).ended(0);
    assert_eq!(tree.content(), before);
}

#[test]
fn what_a_person_wrote_since_is_not_lost() {
    let tree = Tree::new(&[("a.py", BEFORE), ("b.py", BEFORE)]);
    let before = tree.content();
    tree.convert(&[]).ended(0);
    tree.write("a.py", b"mine\n");
    let run = tree.convert(&["--undo"]).ended(1).said("`a.py` changed after the conversion");
    assert!(!run.stdout.contains("did not replace it"), "{}", run.stdout);
    assert_eq!((tree.read("a.py"), tree.read("b.py")), ("mine\n".to_owned(), AFTER.to_owned()));
    std::fs::remove_file(tree.path("b.py")).unwrap();
    tree.convert(&["--undo"]).ended(1).said("`b.py` was deleted after the conversion");
    tree.convert(&["--undo", "--force"]).ended(0);
    assert_eq!(tree.content(), before);
}

#[test]
fn several_roots_and_files_are_taken_back_by_the_same_words() {
    let tree = Tree::new(&[("x/a.py", BEFORE), ("y/b.py", BEFORE), ("c.py", BEFORE)]);
    let before = tree.content();
    let roots = ["-r", "project/x", "-r", "project/y", "-r", "project/*.py"];
    tree.run(&roots).ended(0).said("3 files written");
    for name in ["x/a.py", "y/b.py", "c.py"] {
        assert_eq!(tree.read(name), AFTER, "{name}");
    }
    tree.run(&[&roots[..], &["--undo"]].concat()).ended(0);
    let mut after = tree.content();
    after.retain(|path, _| !path.to_string_lossy().contains(".ascend-doctor"));
    assert_eq!(after, before);
}

/// git must not see the journal.
#[test]
fn the_journal_is_ignored_by_git() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    tree.convert(&[]).ended(0);
    assert_eq!(tree.read(".ascend-doctor/.gitignore"), "*\n");
}

#[test]
fn backups_are_never_overwritten() {
    let tree = Tree::new(&[("a.py", BEFORE), ("a.py.bak", "older\n")]);
    tree.convert(&["--backup"]).ended(0);
    assert_eq!(tree.read("a.py.bak"), "older\n");
    assert_eq!(tree.read("a.py.bak.1"), BEFORE);
    assert_eq!(tree.read("a.py"), AFTER);
}
