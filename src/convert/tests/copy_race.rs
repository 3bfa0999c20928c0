//! `convert -o DIR` while directories of the output are replaced by links.
#![expect(clippy::disallowed_methods, reason = "builds the tree that is copied")]

use convert::copy::copy;
use convert::plan::Plan;
use race::Race;
use treeedit::kind::FileKind;
use treeedit::walk::{Scope, walk};

#[test]
fn copying_writes_nothing_outside() {
    let source = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(source.path().join("d/e")).unwrap();
    for file in ["a.py", "d/b.py", "d/e/c.py"] {
        std::fs::write(source.path().join(file), "import torch\n").unwrap();
    }
    std::os::unix::fs::symlink("b.py", source.path().join("d/link.py")).unwrap();
    let scope = Scope {
        roots: vec![source.path().to_owned()],
        launch: Vec::new(),
        exclude: Vec::new(),
        kinds: FileKind::ALL.to_vec(),
        ignore_files: true,
        max_size: 1 << 20,
        linked_files: false,
    };
    let found = walk(&scope).unwrap();
    let race = Race::start("d");
    let (mut whole, mut failed) = (0, 0);
    for number in race.rounds() {
        // The output is the root, in which `d` is exchanged, or a directory inside the exchanged
        // one.
        let output = if number % 2 == 0 { race.root() } else { race.root().join("d/out") };
        match copy(&scope, &found, &Plan::default(), &output, true) {
            Ok(_) => whole += 1,
            Err(_) => failed += 1,
        }
        race.assert_outside(None);
        // Recreates a link that was replaced by a directory.
        let outside = race.outside();
        for name in ["d", "d.other"] {
            let path = race.root().join(name);
            if !path.exists() {
                let _ = std::os::unix::fs::symlink(&outside, path);
            }
        }
        let both = ["d", "d.other"].map(|name| race.root().join(name));
        let is_link =
            |path: &std::path::Path| path.symlink_metadata().is_ok_and(|meta| meta.is_symlink());
        if !both.iter().any(|path| is_link(path)) && !both.iter().any(|path| is_link(path)) {
            let _ = std::fs::remove_dir_all(&both[1]);
            let _ = std::os::unix::fs::symlink(&outside, &both[1]);
        }
    }
    let swaps = race.finish();
    println!("{swaps} exchanges, {whole} copied, {failed} refused");
    assert!(whole > 0, "{swaps} {whole} {failed}");
}
