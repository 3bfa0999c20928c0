//! An untrusted tree: its content accesses nothing outside, and gains no rights.

use std::os::unix::fs::{PermissionsExt as _, symlink};
use std::path::Path;

use super::trees::{AFTER, BEFORE, Tree, content_of};

/// A journal of an interrupted run, in a tree with this source.
fn interrupted(source: &str, mode: u32) -> Tree {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    tree.convert(&[]).ended(0);
    let journal = tree.path(".ascend-doctor/convert-000001");
    std::fs::remove_file(journal.join("done.json")).unwrap();
    let record = std::fs::read_to_string(journal.join("journal.json")).unwrap();
    assert!(record.contains("\"mode\":420"), "{record}");
    let record = record.replace("\"mode\":420", &format!("\"mode\":{mode}"));
    std::fs::write(journal.join("journal.json"), record).unwrap();
    tree.write("a.py", source.as_bytes());
    tree
}

#[test]
fn a_link_in_a_journal_is_not_written_through() {
    for name in ["convert-000001/done.json.new", "convert-000001/done.json"] {
        let tree = interrupted("mine\n", 0o644);
        let outside = tree.around().join("outside");
        std::fs::write(&outside, "kept\n").unwrap();
        symlink(&outside, tree.path(".ascend-doctor").join(name)).unwrap();
        let run = tree.convert(&[]);
        assert!(run.status != 0, "{name}: {}", run.stdout);
        assert_eq!(std::fs::read_to_string(&outside).unwrap(), "kept\n", "{name}");
        assert_eq!(tree.read("a.py"), "mine\n", "{name}");
    }
}

#[test]
fn a_link_in_place_of_a_lock_or_a_journal_is_refused() {
    for (name, said) in [("lock", "lock`"), ("convert-000001", "not a directory")] {
        let tree = Tree::new(&[("a.py", BEFORE), (".ascend-doctor/.gitignore", "*\n")]);
        let outside = tree.around().join("outside");
        if name != "lock" {
            std::fs::create_dir(&outside).unwrap();
            std::fs::write(outside.join("kept"), "").unwrap();
        }
        symlink(&outside, tree.path(".ascend-doctor").join(name)).unwrap();
        tree.convert(&[]).ended(2).said(said);
        assert_eq!((outside.exists(), tree.read("a.py").as_str()), (name != "lock", BEFORE));
        assert!(name == "lock" || outside.join("kept").exists());
    }
}

#[test]
fn a_journal_gives_nobody_the_rights_of_another() {
    let tree = interrupted(AFTER, 0o4755);
    tree.convert(&["--undo"]).ended(0);
    assert_eq!(tree.read("a.py"), BEFORE);
    let mode = tree.path("a.py").metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!(mode, 0o755, "the permissions come back, and no more");
}

#[test]
fn a_copy_is_never_made_over_a_root() {
    let tree = Tree::new(&[("x.py", BEFORE), ("project/x.py", "import torch\n"), ("b/y.py", "")]);
    let before = content_of(tree.around());
    let args = ["--output-dir", ".", "--force"];
    tree.convert(&args).ended(2).said("`.` contains the root");
    tree.run(&["-r", "project/project", "-r", "project/b", "--output-dir", "project", "--force"])
        .ended(2)
        .said("`project` contains the root");
    assert_eq!(content_of(tree.around()), before);
}

#[test]
fn a_copy_is_not_written_through_links_of_what_was_there() {
    let tree = Tree::new(&[("sub/a.py", BEFORE), ("sub/data.txt", "data\n")]);
    let out = tree.around().join("out");
    let other = tree.around().join("other");
    for dir in [&out, &other] {
        std::fs::create_dir(dir).unwrap();
    }
    std::fs::write(other.join("a.py"), "foreign\n").unwrap();
    std::fs::write(other.join("data.txt"), "foreign\n").unwrap();
    for roots in [&["-r", "project"][..], &["-r", "project/sub/a.py", "-r", "project/sub"]] {
        let inner = if roots.len() == 2 { "sub" } else { "" };
        let place = out.join(inner);
        if !inner.is_empty() {
            symlink(&other, &place).unwrap();
        }
        let run = tree.run(&[roots, &["--output-dir", "out", "--force"]].concat());
        if roots.len() == 2 {
            run.ended(0);
            assert!(!place.is_symlink());
            assert_eq!(std::fs::read_to_string(place.join("a.py")).unwrap(), AFTER);
        } else {
            run.ended(2);
        }
        assert_eq!(std::fs::read_to_string(other.join("a.py")).unwrap(), "foreign\n");
    }
    assert_eq!(tree.read("sub/a.py"), BEFORE);
}

#[test]
fn a_root_that_is_a_link_is_copied() {
    let tree = Tree::new(&[("a.py", BEFORE), ("sub/b.txt", "b\n")]);
    symlink("project", tree.around().join("link")).unwrap();
    tree.run(&["-r", "link", "--output-dir", "out"]).ended(0);
    let read = |name: &str| std::fs::read_to_string(tree.around().join(name)).unwrap();
    assert_eq!((read("out/a.py").as_str(), read("out/sub/b.txt").as_str()), (AFTER, "b\n"));
    assert_eq!(tree.read("a.py"), BEFORE);
}

#[test]
fn a_file_and_its_directory_are_converted_together() {
    for roots in [["project/a.py", "project"], ["project", "project/a.py"]] {
        let tree = Tree::new(&[("a.py", BEFORE), ("b.py", BEFORE)]);
        let roots = ["-r", roots[0], "-r", roots[1]];
        tree.run(&roots).ended(0);
        assert_eq!((tree.read("a.py").as_str(), tree.read("b.py").as_str()), (AFTER, AFTER));
        tree.run(&[&roots[..], &["--undo"]].concat()).ended(0);
        assert_eq!((tree.read("a.py").as_str(), tree.read("b.py").as_str()), (BEFORE, BEFORE));
    }
}

/// No root is undone if the journal of another is unusable.
#[test]
fn an_undo_looks_at_all_roots_first() {
    let tree = Tree::new(&[("a/x.py", BEFORE), ("b/x.py", BEFORE)]);
    let roots = ["-r", "project/a", "-r", "project/b"];
    tree.run(&roots).ended(0);
    let record = Path::new(".ascend-doctor/convert-000001/journal.json");
    tree.write(&format!("b/{}", record.display()), b"{");
    tree.run(&[&roots[..], &["--undo"]].concat()).ended(2).said("is not a journal of `convert`");
    assert_eq!((tree.read("a/x.py").as_str(), tree.read("b/x.py").as_str()), (AFTER, AFTER));
}
