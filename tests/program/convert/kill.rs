//! Killed at any time: every file is the old one or the new one, and the tree can be restored.

use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::process::Stdio;
use std::time::{Duration, Instant};

use super::trees::{AFTER, BEFORE, Content, Tree};

const FILES: usize = 300;

/// The number of trials; the hundred of issue 3 with `ASCEND_DOCTOR_KILLS=100`.
fn trials() -> u32 {
    std::env::var("ASCEND_DOCTOR_KILLS").ok().and_then(|text| text.parse().ok()).unwrap_or(12)
}

fn tree() -> Tree {
    let files: Vec<(String, String)> =
        (0..FILES).map(|n| (format!("d{}/f{n}.py", n % 7), format!("{BEFORE}# {n}\n"))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    Tree::new(&files)
}

/// The file that is replaced first.
const FIRST: &str = "d0/f0.py";

/// Starts a conversion and kills it after `wait`, which begins with the run or, if `late`, when it
/// has replaced its first file. Returns whether it was killed before its end.
fn killed(tree: &Tree, wait: Duration, late: bool) -> bool {
    let number = || std::fs::metadata(tree.path(FIRST)).unwrap().ino();
    let first = number();
    let mut child = tree
        .command()
        .args(["-r", "project", "-q"])
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    while late && number() == first {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
    }
    let begin = Instant::now();
    while begin.elapsed() < wait {
        if child.try_wait().unwrap().is_some() {
            return false;
        }
        std::thread::sleep(Duration::from_micros(if late { 20 } else { 200 }));
    }
    // SIGKILL.
    child.kill().unwrap();
    child.wait().unwrap().code().is_none()
}

fn is_temporary(path: &Path) -> bool {
    let name = path.file_name().unwrap().to_str().unwrap();
    name.starts_with(".ascend-doctor-") && name.ends_with(".tmp")
}

/// The number of new files; all others are old.
fn new_files(before: &Content, now: &Content) -> usize {
    let mut new = 0;
    for (path, (mode, bytes)) in before {
        let (mode_now, bytes_now) =
            now.get(path).unwrap_or_else(|| panic!("{} is gone", path.display()));
        assert_eq!(mode, mode_now, "{}", path.display());
        if bytes == bytes_now {
            continue;
        }
        let old = String::from_utf8(bytes.clone()).unwrap();
        assert_eq!(bytes_now, old.replace(BEFORE, AFTER).as_bytes(), "{}", path.display());
        new += 1;
    }
    let strange: Vec<&PathBuf> =
        now.keys().filter(|path| !before.contains_key(*path) && !is_temporary(path)).collect();
    assert!(strange.is_empty(), "{strange:?}");
    new
}

#[test]
fn a_killed_run_leaves_old_or_new_files_and_is_finished_or_undone() {
    let whole = tree();
    let begin = Instant::now();
    whole.convert(&["-q"]).ended(0);
    let length = begin.elapsed();
    let (mut interrupted, mut in_the_middle) = (0, 0);
    let mut random = 0x2545_f491_4f6c_dd1d_u64;
    for trial in 0..trials() {
        let tree = tree();
        let before = tree.content();
        random ^= random << 13;
        random ^= random >> 7;
        random ^= random << 17;
        let share = f64::from(u32::try_from(random >> 40).unwrap()) / f64::from(1 << 24);
        // The files are replaced within a few milliseconds.
        let late = trial % 4 < 2;
        let wait = if late { Duration::from_millis(4) } else { length };
        if !killed(&tree, wait.mul_f64(share), late) {
            continue;
        }
        interrupted += 1;
        let new = new_files(&before, &tree.content());
        if new > 0 && new < FILES {
            in_the_middle += 1;
        }
        if trial % 2 == 0 {
            let undone = tree.convert(&["--undo"]);
            // Before the journal is written, there is nothing to undo.
            assert!([0, 2].contains(&undone.status), "{}{}", undone.stdout, undone.stderr);
            assert_eq!(tree.content(), before);
        } else {
            tree.convert(&["-q"]).ended(0);
            let now = tree.content();
            assert_eq!(new_files(&before, &now), FILES);
            assert_eq!(now.len(), before.len(), "nothing temporary is left");
            tree.convert(&["--undo"]).ended(0);
            assert_eq!(tree.content(), before);
        }
    }
    println!("{interrupted} runs killed, {in_the_middle} of them between two files");
    assert!(interrupted > 0, "no run was killed before its end");
}
