//! Files that this user may not replace: each is unchanged, with the reason and the fix.

use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::trees::{AFTER, BEFORE, Run};
use crate::support::unprivileged::{NOBODY, Place, give, is_root, mode, own};

fn write(path: &Path) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, BEFORE).unwrap();
}

fn read(path: &Path) -> String {
    std::fs::read_to_string(path).unwrap()
}

fn convert(place: &Place, args: &[&str]) -> Run {
    Run::of(place.program().arg("convert").args(args).output().unwrap())
}

/// Shared trees: files of other users and groups keep their owner. Only root can create such a
/// tree; other users convert their own files, which keep owner, group and mode.
#[test]
fn nobody_loses_a_file_by_its_conversion() {
    if is_root() {
        converts_a_shared_tree();
    } else {
        converts_own_files();
    }
}

fn converts_own_files() {
    let place = Place::new();
    let files = ["a.py", "b.py"].map(|name| place.work().join(name));
    for (file, bits) in files.iter().zip([0o664, 0o600]) {
        write(file);
        mode(file, bits);
    }
    let state = |file: &Path| {
        let meta = file.metadata().unwrap();
        (meta.uid(), meta.gid(), meta.mode())
    };
    let before = files.each_ref().map(|file| state(file));
    convert(&place, &["-r", "."]).ended(0).said("2 files written in place");
    assert_eq!(files.each_ref().map(|file| state(file)), before);
    assert_eq!(files.each_ref().map(|file| read(file)), [AFTER, AFTER]);
}

fn converts_a_shared_tree() {
    let place = Place::new();
    let work = place.work();
    for name in ["mine.py", "owner.py", "group.py", "foreign.py"] {
        write(&work.join(name));
    }
    give(&work);
    own(&work.join("owner.py"), 1, NOBODY);
    mode(&work.join("owner.py"), 0o664);
    own(&work.join("group.py"), NOBODY, 7);
    mode(&work.join("group.py"), 0o664);
    own(&work.join("foreign.py"), 0, 0);
    let run = convert(&place, &["-r", ".", "-v"]).ended(1).said("1 file written in place");
    let run = run.said("`owner.py` was not converted: the new file cannot keep its owner");
    let run = run.said("another user (uid 1)");
    let run = run.said("`group.py` was not converted: the new file cannot keep its group");
    let run = run.said("chgrp \"$(id -gn)\" group.py");
    let run = run.said("`foreign.py` was not converted: owned by another user");
    assert!(!run.stdout.contains("chmod"), "{}", run.stdout);
    for (name, user, group) in
        [("owner.py", 1, NOBODY), ("group.py", NOBODY, 7), ("foreign.py", 0, 0)]
    {
        let meta = work.join(name).metadata().unwrap();
        assert_eq!((meta.uid(), meta.gid()), (user, group), "{name}");
        assert_eq!(read(&work.join(name)), BEFORE, "{name}");
    }
    assert_eq!(read(&work.join("mine.py")), AFTER);
    // No temporary files remain next to them, and the written files are undone.
    convert(&place, &["-r", ".", "--undo"]).ended(0);
    assert_eq!(std::fs::read_dir(&work).unwrap().count(), 4);
    assert_eq!(read(&work.join("mine.py")), BEFORE);
}

#[test]
fn what_is_read_only_is_told_apart() {
    let place = Place::new();
    let work = place.work();
    for name in ["a.py", "locked.py", "dir/b.py"] {
        write(&work.join(name));
    }
    give(&work);
    mode(&work.join("locked.py"), 0o444);
    mode(&work.join("dir"), 0o555);
    let run = convert(&place, &["-r", "."]);
    mode(&work.join("dir"), 0o755);
    let run = run.ended(1).said("`locked.py` was not converted: it is read-only");
    let run = run.said("chmod u+w locked.py");
    let run = run.said("`dir/b.py` was not converted: no write access to its directory");
    run.said("ls -ld dir");
    let names = ["a.py", "locked.py", "dir/b.py"].map(|name| read(&work.join(name)));
    assert_eq!(names, [AFTER, BEFORE, BEFORE]);
}
