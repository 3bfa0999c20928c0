use std::process::Command;

use super::*;

/// A repository with `a.py` and `b.py` committed.
fn repository() -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let top = dir.path().canonicalize().unwrap();
    assert!(find_git(&top).is_some(), "git is not installed");
    std::fs::write(top.join("a.py"), "1\n").unwrap();
    std::fs::write(top.join("b.py"), "2\n").unwrap();
    git(&top, &["init", "-q"]);
    git(&top, &["add", "."]);
    git(&top, &["-c", "user.name=n", "-c", "user.email=e@x", "commit", "-qm", "m"]);
    (dir, top)
}

fn asked(files: &[PathBuf]) -> Answer {
    let dirs: Vec<PathBuf> =
        files.iter().filter_map(|file| file.parent()).map(Path::to_owned).collect();
    let answer = Question::ask(&dirs).uncommitted(files);
    // The result is the same if git is queried later.
    assert_eq!(Question::ask(&[]).uncommitted(files), answer);
    answer
}

fn git(top: &Path, args: &[&str]) {
    let status = Command::new("git").arg("-C").arg(top).args(args).status().unwrap();
    assert!(status.success(), "{args:?}");
}

#[test]
fn reports_uncommitted_changes() {
    let (_dir, top) = repository();
    let files = ["a.py", "b.py", "new.py"].map(|name| top.join(name));
    assert_eq!(asked(&files), Answer::default());
    std::fs::write(top.join("a.py"), "mine\n").unwrap();
    std::fs::write(top.join("new.py"), "cuda\n").unwrap();
    assert_eq!(asked(&files).uncommitted, [top.join("a.py")]);
    // Staged is not committed.
    git(&top, &["add", "a.py"]);
    assert_eq!(asked(&files).uncommitted, [top.join("a.py")]);
    assert_eq!(asked(&files[1..]), Answer::default());
    // If git fails, the state is unknown, and its message is the reason.
    std::fs::write(top.join(".git/index"), "no index").unwrap();
    let (unknown, why) = asked(&files).trouble.unwrap();
    assert!(unknown == top && why.en.contains("fatal:"), "{why:?}");
}

/// Line endings that the repository converts are not a change.
#[test]
fn settings_of_line_ends_count() {
    let (_dir, top) = repository();
    git(&top, &["config", "core.autocrlf", "true"]);
    std::fs::remove_file(top.join("a.py")).unwrap();
    git(&top, &["checkout", "--", "a.py"]);
    assert_eq!(std::fs::read(top.join("a.py")).unwrap(), b"1\r\n");
    // Without the times in the index, git has to compare the contents.
    let time = std::time::SystemTime::now() - Duration::from_secs(100);
    std::fs::File::options()
        .write(true)
        .open(top.join("a.py"))
        .unwrap()
        .set_modified(time)
        .unwrap();
    assert_eq!(asked(&[top.join("a.py")]), Answer::default());
}

/// A change of the same size at the same time as the index is detected.
#[test]
fn changes_as_old_as_the_index_are_seen() {
    for _ in 0..20 {
        let (_dir, top) = repository();
        std::fs::write(top.join("a.py"), "3\n").unwrap();
        assert_eq!(asked(&[top.join("a.py")]).uncommitted, [top.join("a.py")]);
    }
}

#[test]
fn work_trees_and_packed_branches_are_known() {
    let (_dir, top) = repository();
    git(&top, &["pack-refs", "--all"]);
    git(&top, &["gc", "-q"]);
    assert_eq!(asked(&[top.join("a.py")]), Answer::default());
    let other = tempfile::tempdir().unwrap();
    let linked = other.path().canonicalize().unwrap().join("linked");
    git(&top, &["worktree", "add", "-q", linked.to_str().unwrap()]);
    assert_eq!(asked(&[linked.join("a.py")]), Answer::default());
    std::fs::write(linked.join("a.py"), "mine\n").unwrap();
    assert_eq!(asked(&[linked.join("a.py"), top.join("a.py")]).uncommitted, [linked.join("a.py")]);
    git(&linked, &["checkout", "-q", "--detach"]);
    assert_eq!(asked(&[linked.join("a.py")]).uncommitted, [linked.join("a.py")]);
    git(&linked, &["update-index", "--split-index"]);
    assert_eq!(asked(&[linked.join("a.py")]).uncommitted, [linked.join("a.py")]);
}

/// A pipe in place of a file of git does not block.
#[test]
fn pipes_in_the_repository_end_the_question() {
    use rustix::fs::{CWD, FileType, Mode};
    let pipe = |path: &Path| {
        let _ = std::fs::remove_file(path);
        rustix::fs::mknodat(CWD, path, FileType::Fifo, Mode::from_raw_mode(0o600), 0).unwrap();
    };
    let start = std::time::Instant::now();
    for name in ["HEAD", "index", "config", "packed-refs", "commondir", "objects/info/alternates"] {
        let (_dir, top) = repository();
        pipe(&top.join(".git").join(name));
        let trouble = asked(&[top.join("a.py")]).trouble;
        assert!(trouble.is_some_and(|(_, why)| why.en.contains("not a regular file")), "{name}");
    }
    let (_dir, top) = repository();
    let branch = std::fs::read_to_string(top.join(".git/HEAD")).unwrap();
    pipe(&top.join(".git").join(branch.trim_start_matches("ref: ").trim()));
    assert!(asked(&[top.join("a.py")]).trouble.is_some());
    assert!(start.elapsed() < Duration::from_mins(1));
    // The time limit handles a pipe that only git itself opens.
    let (_dir, top) = repository();
    std::fs::write(top.join("a.py"), "3\n").unwrap();
    pipe(&top.join(".gitattributes"));
    let git = find_git(&top).unwrap();
    let start = std::time::Instant::now();
    let _ = changed_by(&git, &top, Duration::from_millis(500));
    assert!(start.elapsed() < Duration::from_secs(30));
}
