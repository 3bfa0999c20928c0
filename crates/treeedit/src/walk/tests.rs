use std::os::unix::fs::symlink;

use super::*;

fn tree(files: &[&str]) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    for file in files {
        let path = dir.path().join(file);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, "import torch\n").unwrap();
    }
    dir
}

fn scope(root: &Path) -> Scope {
    Scope {
        roots: vec![root.to_owned()],
        launch: Vec::new(),
        exclude: Vec::new(),
        kinds: FileKind::ALL.to_vec(),
        ignore_files: true,
        linked_files: false,
        max_size: 1 << 20,
    }
}

fn names(found: &WalkResult) -> Vec<String> {
    found.files.iter().map(|file| file.relative.display().to_string()).collect()
}

#[test]
fn only_the_project_is_walked() {
    let dir = tree(&[
        "a.py",
        ".git/hooks/x.py",
        "b/__pycache__/x.py",
        "node_modules/x.py",
        "env/pyvenv.cfg",
        "env/lib/x.py",
        "lib/site-packages/torch/x.py",
        "build/x.py",
        "sub/keep.py",
        "sub/drop.py",
        ".hidden/x.py",
        "notes.txt",
    ]);
    std::fs::write(dir.path().join(".gitignore"), "build/\n").unwrap();
    std::fs::write(dir.path().join("sub/.ignore"), "drop.py\n").unwrap();
    let mut told = Vec::new();
    let found = walk_and(&scope(dir.path()), &mut |file| told.push(file.clone())).unwrap();
    assert_eq!(names(&found), [".hidden/x.py", "a.py", "sub/keep.py"]);
    assert_eq!(told, found.files);
    let all = walk(&Scope { ignore_files: false, ..scope(dir.path()) }).unwrap();
    assert_eq!(names(&all), [".hidden/x.py", "a.py", "build/x.py", "sub/drop.py", "sub/keep.py"]);
    // The user explicitly names a root that is such a directory.
    let packages = walk(&scope(&dir.path().join("lib/site-packages"))).unwrap();
    assert_eq!(names(&packages), ["torch/x.py"]);
}

#[test]
fn excludes_are_paths_patterns_and_lists() {
    let dir = tree(&["a.py", "b.py", "t/x_test.py", "u/t/y.py", "u/z.py"]);
    let with = |exclude: &[&str]| {
        let exclude = exclude.iter().map(|&text| text.to_owned()).collect();
        walk(&Scope { exclude, ..scope(dir.path()) }).unwrap()
    };
    assert_eq!(names(&with(&["a.py,b.py"])), ["t/x_test.py", "u/t/y.py", "u/z.py"]);
    // An existing path means only itself; another text is a pattern at any depth.
    assert_eq!(names(&with(&["t"])), ["a.py", "b.py", "u/t/y.py", "u/z.py"]);
    assert_eq!(names(&with(&["*_test.py", "{a,b}.py"])), ["u/t/y.py", "u/z.py"]);
    let here = dir.path().join("u").display().to_string();
    let found = with(&[&here, "nothing*"]);
    assert_eq!(names(&found), ["a.py", "b.py", "t/x_test.py"]);
    assert_eq!(found.idle_excludes, ["nothing*"]);
}

#[test]
fn links_are_followed_only_inside() {
    let dir = tree(&["in/a.py", "out/b.py", "out/c/d.py"]);
    let root = dir.path().join("in");
    symlink("a.py", root.join("again.py")).unwrap();
    symlink("../out/b.py", root.join("b.py")).unwrap();
    symlink("../out/c", root.join("c")).unwrap();
    symlink("nothing", root.join("gone.py")).unwrap();
    let found = walk(&scope(&root)).unwrap();
    assert_eq!(names(&found), ["a.py"]);
    let said: Vec<_> = found
        .skipped
        .iter()
        .map(|skipped| (skipped.path.file_name().unwrap().to_str().unwrap(), &skipped.why))
        .collect();
    assert!(matches!(
        said[..],
        [
            ("b.py", SkipReason::LinkLeaves(_)),
            ("c", SkipReason::LinkLeaves(_)),
            ("gone.py", SkipReason::LinkDangles)
        ]
    ));
}

#[test]
fn rejects_special_and_oversized_files() {
    let dir = tree(&["a.py", "big.py"]);
    std::fs::write(dir.path().join("big.py"), vec![b'#'; 2 << 20]).unwrap();
    rustix::fs::mknodat(
        rustix::fs::CWD,
        dir.path().join("pipe.py"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let found = walk(&scope(dir.path())).unwrap();
    assert_eq!(names(&found), ["a.py"]);
    let whys: Vec<_> = found.skipped.iter().map(|skipped| &skipped.why).collect();
    assert_eq!(whys, [&SkipReason::TooLarge(2 << 20), &SkipReason::NotRegular]);
    let named = scope(&dir.path().join("pipe.py"));
    assert!(matches!(walk(&named), Err(WalkError::NotRegular(_))));
}

#[test]
fn roots_are_files_patterns_and_may_overlap() {
    let dir = tree(&["a.py", "b.py", "sub/c.py", "sub/d.txt"]);
    let mut scope = scope(dir.path());
    scope.roots = vec![dir.path().join("[ab].py"), dir.path().join("b.py")];
    assert_eq!(names(&walk(&scope).unwrap()), ["a.py", "b.py"]);
    scope.roots = vec![dir.path().join("sub"), dir.path().to_owned()];
    assert_eq!(names(&walk(&scope).unwrap()), ["c.py", "a.py", "b.py"]);
    scope.roots = vec![dir.path().join("**/*.py")];
    assert_eq!(walk(&scope).unwrap().files.len(), 3);
    scope.roots = vec![dir.path().join("x*")];
    assert!(matches!(walk(&scope), Err(WalkError::NoMatch(_))));
    scope.roots = vec![dir.path().join("x")];
    assert!(matches!(walk(&scope), Err(WalkError::NoRoot(_))));
    scope.roots = vec![dir.path().join("sub/d.txt")];
    assert!(matches!(walk(&scope), Err(WalkError::UnknownKind(_))));
}

#[test]
fn launch_file_must_be_in_scope() {
    let dir = tree(&["in/train.py", "out.py"]);
    let mut scope = scope(&dir.path().join("in"));
    scope.launch = vec![dir.path().join("in/../in/train.py")];
    assert!(walk(&scope).unwrap().files[0].launch);
    scope.launch = vec![dir.path().join("out.py")];
    assert!(matches!(walk(&scope), Err(WalkError::LaunchOutside(_))));
    scope.launch = vec![dir.path().join("none.py")];
    assert!(matches!(walk(&scope), Err(WalkError::NoLaunch(_))));
}
