//! Obstacles to a conversion: each has a clear message, and nothing is lost.

use std::os::unix::fs::symlink;
use std::process::Command;

use super::trees::{AFTER, BEFORE, Run, Tree, content_of};
use crate::support::unprivileged::{Place, give, mode};

#[test]
fn paths_that_are_not_there() {
    let tree = Tree::new(&[("a.py", BEFORE), ("b.txt", "x")]);
    std::fs::write(tree.around().join("outside.py"), BEFORE).unwrap();
    tree.run(&["-r", "nowhere"]).ended(2).said("`nowhere`: no such file");
    tree.run(&["-r", "project/*.pyx"]).ended(2).said("no file matches");
    tree.convert(&["-l", "outside.py"]).ended(2).said("is not below a root");
    tree.convert(&["-l", "none.py"]).ended(2).said("`none.py` does not exist");
    tree.run(&["-r", "project/b.txt"]).ended(2).said("does not support the file type");
    assert_eq!(tree.read("a.py"), BEFORE);
}

#[test]
fn a_run_over_a_link_to_a_file_is_taken_back_over_it() {
    let tree = Tree::new(&[("real/a.py", BEFORE)]);
    symlink("project/real/a.py", tree.around().join("a.py")).unwrap();
    tree.run(&["-r", "a.py"]).ended(0);
    assert_eq!(tree.read("real/a.py"), AFTER);
    tree.run(&["-r", "a.py", "--undo"]).ended(0);
    assert_eq!(tree.read("real/a.py"), BEFORE);
}

#[test]
fn a_patch_is_in_no_format_of_reports() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    tree.convert(&["--diff", "--json"]).ended(2).said("`--diff` prints a patch");
    tree.convert(&["--diff", "--json", "--output", "r.json"]).ended(0);
}

#[test]
fn a_tree_without_sources_is_no_failure() {
    let tree = Tree::new(&[("notes.txt", "cuda\n")]);
    tree.convert(&[]).ended(3).said("no file of a known kind");
    assert!(!tree.path(".ascend-doctor").exists());
}

#[test]
fn files_that_cannot_be_understood_do_not_keep_the_others() {
    let tree = Tree::new(&[("a.py", BEFORE), ("py2.py", "print 'cuda'\n")]);
    tree.write("bytes.py", b"# cuda caf\xe9\n");
    tree.write("nul.py", b"cuda\0\n");
    let before = tree.content();
    let run = tree.convert(&[]).ended(1);
    let run = run.said("`project/py2.py` was not converted: line 1 does not parse");
    let run = run.said("`project/bytes.py` was not converted: not valid UTF-8");
    run.said("`project/nul.py` was not converted: a NUL byte").said("contain no NUL bytes");
    assert_eq!(tree.read("a.py"), AFTER);
    for name in ["py2.py", "bytes.py", "nul.py"] {
        assert_eq!(tree.content()[std::path::Path::new(name)], before[std::path::Path::new(name)]);
    }
    tree.convert(&["--fail-on", "never"]).ended(0);
}

#[test]
fn links_pipes_and_large_files_are_told() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    let outside = tree.around().join("outside.py");
    std::fs::write(&outside, BEFORE).unwrap();
    symlink(&outside, tree.path("link.py")).unwrap();
    symlink("a.py", tree.path("inside.py")).unwrap();
    tree.write("big.py", &vec![b'#'; 2 << 20]);
    rustix::fs::mknodat(
        rustix::fs::CWD,
        tree.path("pipe.py"),
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::from_raw_mode(0o644),
        0,
    )
    .unwrap();
    let run = tree.convert(&["--max-size", "1"]).ended(3);
    let run = run.said("`project/link.py` was skipped: the symlink points outside the root");
    let run = run.said("`project/pipe.py` was skipped: not a regular file");
    run.said("`project/big.py` was skipped: its size of 2.0 MiB");
    assert_eq!(tree.read("a.py"), AFTER);
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), BEFORE);
    assert!(tree.path("inside.py").symlink_metadata().unwrap().is_symlink());
}

#[test]
fn a_generated_file_of_ten_megabytes_works() {
    let tree = Tree::new(&[]);
    let line = "x = [1, 2, 3]  # generated\n";
    tree.write("gen.py", (BEFORE.to_owned() + &line.repeat((10 << 20) / line.len())).as_bytes());
    tree.convert(&[]).ended(0).said("1 file written");
    assert!(tree.read("gen.py").starts_with(AFTER));
}

/// A report that cannot be written does not hide that the files were.
#[test]
fn a_report_that_cannot_be_written_is_told_beside_what_was() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    tree.convert(&["--output", "/dev/full"]).ended(2).said("the files were converted");
    assert_eq!(tree.read("a.py"), AFTER);
    tree.convert(&["--undo"]).ended(0);
    assert_eq!(tree.read("a.py"), BEFORE);
}

/// A file with two names in the tree is converted under both, and a name outside keeps its content.
#[test]
fn hard_links_are_replaced_one_by_one() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    let outside = tree.around().join("outside.py");
    std::fs::hard_link(tree.path("a.py"), tree.path("b.py")).unwrap();
    std::fs::hard_link(tree.path("a.py"), &outside).unwrap();
    // One of its three names is not converted: that is reported once, without naming it.
    let run = tree.convert(&["--json"]).ended(0);
    assert_eq!((tree.read("a.py"), tree.read("b.py")), (AFTER.to_owned(), AFTER.to_owned()));
    assert_eq!(std::fs::read_to_string(&outside).unwrap(), BEFORE);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    let told = |report: &serde_json::Value| {
        let found = report["findings"].as_array().unwrap().iter();
        let links = found.filter(|one| one["id"] == "CONVERT-LINKS");
        links
            .map(|one| (one["message"].to_string(), one["evidence"].as_array().unwrap().len()))
            .collect::<Vec<_>>()
    };
    assert_eq!(told(&report), [("\"elsewhere\"".to_owned(), 2)]);
    let run = tree.convert(&["--undo", "--json"]).ended(0);
    let report: serde_json::Value = serde_json::from_str(&run.stdout).unwrap();
    assert_eq!(told(&report), [("\"undone\"".to_owned(), 2)]);
    // If both names are converted, none keeps the old content.
    std::fs::remove_file(&outside).unwrap();
    std::fs::remove_file(tree.path("b.py")).unwrap();
    std::fs::hard_link(tree.path("a.py"), tree.path("b.py")).unwrap();
    tree.convert(&[]).ended(0).said("2 hard-linked names are converted");
    tree.convert(&["--undo"]).ended(0).said("2 files were restored without");
    // A file with one name needs no message.
    let run = tree.convert(&[]).ended(0);
    assert!(!run.stdout.contains("CONVERT-LINKS"), "{}", run.stdout);
}

#[test]
fn excludes_take_the_forms_of_musa_converter() {
    let tree =
        Tree::new(&[("a.py", BEFORE), ("b.py", BEFORE), ("d/c.py", BEFORE), ("e.py", BEFORE)]);
    tree.convert(&["-e", "project/a.py,project/b.py", "-e", "d", "-e", "nothing.py"])
        .ended(0)
        .said("`-e nothing.py` excluded nothing");
    let names = ["a.py", "b.py", "d/c.py", "e.py"].map(|name| tree.read(name));
    assert_eq!(names, [BEFORE, BEFORE, BEFORE, AFTER]);
    // The patch stays on standard output; an exclude without effect is reported on standard error.
    let run = tree.convert(&["--diff", "-e", "nothing.py"]).ended(0);
    assert!(!run.stdout.contains("nothing.py"), "{}", run.stdout);
    assert!(run.stderr.contains("`-e nothing.py` excluded nothing"), "{}", run.stderr);
}

fn git(tree: &Tree, args: &[&str]) -> bool {
    Command::new("git")
        .args(["-c", "user.name=n", "-c", "user.email=e@x"])
        .args(args)
        .current_dir(tree.root())
        .stdout(std::process::Stdio::null())
        .status()
        .is_ok_and(|status| status.success())
}

#[test]
fn what_git_does_not_have_is_not_overwritten_unasked() {
    let tree = Tree::new(&[("a.py", BEFORE), ("b.py", BEFORE)]);
    assert!(git(&tree, &["init", "-q"]), "git is not installed");
    assert!(git(&tree, &["add", "."]) && git(&tree, &["commit", "-qm", "m"]));
    tree.write("a.py", format!("{BEFORE}# mine\n").as_bytes());
    let before = tree.content();
    tree.convert(&[]).ended(1).said("1 file to convert has uncommitted changes");
    assert_eq!(tree.content(), before);
    tree.convert(&["--force"]).ended(0).said("2 files written");
    tree.convert(&["--undo"]).ended(0);
    assert_eq!(tree.content(), before);
    // A clean tree is converted; git sees the files, not the journal.
    assert!(git(&tree, &["checkout", "-q", "a.py"]));
    tree.convert(&[]).ended(0);
    let status = Command::new("git").args(["status", "-s"]).current_dir(tree.root()).output();
    assert_eq!(String::from_utf8(status.unwrap().stdout).unwrap(), " M a.py\n M b.py\n");
    // Uncommitted results of a conversion are no obstacle: there is nothing more to change.
    tree.convert(&[]).ended(0);
}

/// A work tree with an unknown state does not count as clean.
#[test]
fn what_git_cannot_say_is_not_overwritten_unasked() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    assert!(git(&tree, &["init", "-q"]), "git is not installed");
    assert!(git(&tree, &["add", "."]) && git(&tree, &["commit", "-qm", "m"]));
    tree.write("a.py", format!("{BEFORE}# mine\n").as_bytes());
    let before = tree.content();
    // The reported path is the one that the user named.
    let run = tree.convert(&[]).ended(1);
    assert!(!run.stdout.contains(tree.around().to_str().unwrap()), "{}", run.stdout);
    let without_git = |args: &[&str]| {
        let mut command = tree.command();
        Run::of(command.env("PATH", "/nope").args(["-r", "project"]).args(args).output().unwrap())
    };
    without_git(&[]).ended(2).said("git is not installed").said("`--force`");
    assert_eq!(tree.content(), before);
    without_git(&["--dry-run"]).ended(0);
    std::fs::write(tree.path(".git/index"), "no index").unwrap();
    let before = tree.content();
    tree.convert(&[]).ended(2).said("git status ended").said("(fatal:").said("`--force`");
    assert_eq!(tree.content(), before);
    without_git(&["--force"]).ended(0).said("1 file written");
}

#[test]
fn journals_that_cannot_be_used_say_what_to_do() {
    let tree = Tree::new(&[("a.py", BEFORE), ("s/b.py", BEFORE)]);
    tree.convert(&[]).ended(0);
    tree.run(&["-r", "project/s", "--undo"])
        .ended(2)
        .said("no run to undo in `project/s`, but one in `project`");
    let journal = tree.path(".ascend-doctor/convert-000001");
    std::fs::write(journal.join("originals.zip"), "no zip").unwrap();
    tree.convert(&["--undo"]).ended(2).said("is not a journal of `convert`").said("move it away");
    std::fs::write(journal.join("journal.json"), "{").unwrap();
    tree.write("c.py", BEFORE.as_bytes());
    tree.convert(&[]).ended(2).said("`--output-dir DIR`").said("move it away");
    std::fs::remove_dir_all(&journal).unwrap();
    tree.convert(&[]).ended(0).said("1 file written");
}

/// A failed copy is reported with the name of its target.
#[test]
fn a_copy_that_does_not_fit_names_its_target() {
    let tree = Tree::new(&[("a.py", BEFORE)]);
    tree.write("data.bin", &vec![0; 256 << 10]);
    let binary = assert_cmd::cargo::cargo_bin("ascend-doctor");
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" convert -r project --output-dir copy";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(&binary)
        .current_dir(tree.around())
        .output()
        .unwrap();
    Run::of(output).ended(2).said("`copy/data.bin`: File too large");
    assert!(!tree.around().join("copy").exists());
    let run = tree.convert(&["--output-dir", "/proc/copy"]).ended(2).said("`/proc/copy`");
    assert!(!run.stderr.contains(".ascend-doctor-"), "{}", run.stderr);
}

#[test]
fn a_root_that_is_read_only_is_refused() {
    let place = Place::new();
    let source = place.work().join("project/a.py");
    std::fs::create_dir(source.parent().unwrap()).unwrap();
    std::fs::write(&source, BEFORE).unwrap();
    give(&place.work());
    mode(source.parent().unwrap(), 0o555);
    let run = Run::of(place.program().args(["convert", "-r", "project"]).output().unwrap());
    mode(source.parent().unwrap(), 0o755);
    run.ended(2).said("cannot write here without a journal").said("`--output-dir DIR`");
    assert_eq!(std::fs::read_to_string(&source).unwrap(), BEFORE);
}

/// A file that grows to five times its size, so that its original fits where the result does not.
fn growing() -> String {
    "from torch import fork_rng as f\n".to_owned() + &"f()\n".repeat(5_000)
}

/// A full disk, simulated by a limit on the size of files: the third file does not fit.
#[test]
fn a_full_disk_leaves_everything_as_it_was() {
    let tree = Tree::new(&[("a.py", BEFORE), ("b.py", BEFORE)]);
    tree.write("big.py", growing().as_bytes());
    let before = content_of(tree.around());
    let binary = assert_cmd::cargo::cargo_bin("ascend-doctor");
    // `ulimit -f` counts blocks of 512 or 1024 bytes; the signal would kill the program.
    let script = "trap '' XFSZ; ulimit -f 64; exec \"$0\" convert -r project";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(&binary)
        .current_dir(tree.around())
        .output()
        .unwrap();
    Run::of(output).ended(2).said("no file was changed");
    assert_eq!(content_of(tree.around()), before);
}

/// Without the trap, the limit kills the program during the run.
#[test]
fn a_limit_that_kills_is_undone() {
    let tree = Tree::new(&[("a.py", BEFORE), ("b.py", BEFORE)]);
    tree.write("big.py", growing().as_bytes());
    let before = tree.content();
    let binary = assert_cmd::cargo::cargo_bin("ascend-doctor");
    let script = "ulimit -c 0; ulimit -f 64; exec \"$0\" convert -r project";
    let output = Command::new("sh")
        .args(["-c", script])
        .arg(&binary)
        .current_dir(tree.around())
        .output()
        .unwrap();
    assert_ne!(output.status.code(), Some(0));
    let undone = tree.convert(&["--undo"]);
    assert!([0, 2].contains(&undone.status), "{}{}", undone.stdout, undone.stderr);
    assert_eq!(tree.content(), before);
}

/// A file that another program writes all the time ends with either content, never with a mixture.
#[test]
fn a_file_that_changes_meanwhile_is_left_alone() {
    let files: Vec<(String, String)> =
        (0..40).map(|n| (format!("f{n}.py"), format!("{BEFORE}# {n}\n"))).collect();
    let files: Vec<(&str, &str)> =
        files.iter().map(|(name, text)| (name.as_str(), text.as_str())).collect();
    let tree = Tree::new(&files);
    let path = tree.path("f20.py");
    let stop = std::sync::Arc::new(std::sync::atomic::AtomicBool::new(false));
    let writer = {
        let (path, stop) = (path.clone(), stop.clone());
        std::thread::spawn(move || {
            let mut last = 0_u32;
            while !stop.load(std::sync::atomic::Ordering::Relaxed) {
                last += 1;
                let beside = path.with_extension("tmp");
                std::fs::write(&beside, format!("{BEFORE}# written {last}\n")).unwrap();
                std::fs::rename(&beside, &path).unwrap();
                std::thread::sleep(std::time::Duration::from_millis(1));
            }
            last
        })
    };
    let run = tree.convert(&[]);
    stop.store(true, std::sync::atomic::Ordering::Relaxed);
    let last = writer.join().unwrap();
    assert!([0, 1].contains(&run.status), "{}{}", run.stdout, run.stderr);
    let text = std::fs::read_to_string(&path).unwrap();
    assert!(text == format!("{BEFORE}# written {last}\n") || text.starts_with(AFTER), "{text}");
    if run.status == 1 {
        run.said("`project/f20.py` was not converted: it was changed or deleted");
    }
    assert!(tree.read("f21.py").starts_with(AFTER));
}
