//! Gates and their inputs: the policy of a site, `--query`, `--format gcc`, and the program in
//! containers without a shell.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::support::recipe;

/// The program in a directory with the tree `machine`.
fn command(dir: &Path, args: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    command.env_clear().current_dir(dir).args(args);
    command
}

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let output = command(dir, args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn check(dir: &Path, settings: &str, more: &[&str]) -> (i32, Value, String) {
    std::fs::write(dir.join("gate.toml"), settings).unwrap();
    let args = ["check", "--sysroot", "machine", "--config", "gate.toml", "--json"];
    let (code, text, errors) = run(dir, &[&args[..], more].concat());
    (code, serde_json::from_str(&text).unwrap_or_default(), errors)
}

#[test]
fn a_family_has_its_own_level() {
    let dir = recipe::beside("f09-not-in-group");
    let (code, plain, _) = check(dir.path(), "", &[]);
    assert_eq!((code, &plain["verdict"]), (1, &"fail".into()));
    let (code, report, _) = check(dir.path(), "[fail-on-family]\nDEV = \"never\"\n", &[]);
    assert_eq!(code, 0, "{}", report["gate"]);
    assert_eq!(report["verdict"], "fail", "the verdict stays");
    assert_eq!(report["gate"]["exit_status"], 0);
    let setting = &report["gate"]["settings"][0];
    assert_eq!(setting["name"], "fail-on-family.DEV");
    assert_eq!(setting["line"], 1);
    // The option sets the level of the complete run.
    let never = "[fail-on-family]\nDEV = \"never\"\n";
    assert_eq!(check(dir.path(), never, &["--fail-on", "error"]).0, 1);
    let (code, _, errors) = check(dir.path(), "[fail-on-family]\nDEVV = \"never\"\n", &[]);
    assert_eq!(code, 2);
    assert!(errors.contains("gate.toml:1") && errors.contains("`DEV`"), "{errors}");
}

#[test]
fn another_goal_than_the_expected_one_closes_the_gate() {
    let dir = recipe::beside("ok-no-npu");
    assert_eq!(check(dir.path(), "", &[]).0, 0);
    let (code, report, _) = check(dir.path(), "goal = \"torch\"\n", &[]);
    assert_eq!((code, &report["verdict"]), (1, &"fail".into()));
    let links = report["coverage"].as_array().unwrap();
    let link = links.iter().find(|link| link["id"] == "goal").unwrap();
    assert!(link["reason"]["en"].as_str().unwrap().contains("`torch`"), "{link}");
    // Named checks are a request for their result.
    assert_eq!(check(dir.path(), "goal = \"torch\"\n", &["--only", "host"]).0, 0);
    let dir = recipe::beside("ok-host-910b");
    let (code, report, _) = check(dir.path(), "goal = \"torch\"\n", &[]);
    assert_eq!((code, &report["verdict"]), (0, &"pass".into()));
    let (code, _, errors) = check(dir.path(), "goal = \"torhc\"\n", &[]);
    assert!(code == 2 && errors.contains("did you mean `torch`?"), "{errors}");
}

#[test]
fn values_are_queried_as_csv() {
    let dir = recipe::beside("ok-host-910b");
    let query =
        |more: &[&str]| run(dir.path(), &[&["check", "--sysroot", "machine"], more].concat());
    let (code, text, _) = query(&["--query", "host,verdict,driver,vllm", "--format", "csv"]);
    assert_eq!(
        (code, text.as_str()),
        (0, "host,verdict,driver,vllm\nnode-910b,pass,25.3.rc1,none\n")
    );
    let (code, text, _) = query(&["--query", "npu.index,npu.health"]);
    assert_eq!(code, 0);
    assert!(text.starts_with("npu.index,npu.health\n"), "{text}");
    let (code, text, errors) = query(&["--query", "host,drivr"]);
    assert_eq!((code, text.as_str()), (2, ""));
    assert!(errors.contains("`drivr`") && errors.contains("`driver`"), "{errors}");
    let (code, keys, _) = query(&["--query", "help"]);
    assert_eq!(code, 0);
    // The page lists each key.
    let page = include_str!("../../docs/options.md");
    for line in keys.lines() {
        let key = line.split("  ").next().unwrap();
        assert!(page.contains(&format!("`{key}`")), "docs/options.md lacks {key}");
    }
    for wrong in [&["--format", "csv"][..], &["--query", "host", "--format", "json"]] {
        let (code, text, errors) = query(wrong);
        assert_eq!((code, text.as_str()), (2, ""), "{errors}");
    }
    let (code, _, errors) = run(dir.path(), &["explain", "507035", "--format", "csv"]);
    assert!(code == 2 && errors.contains("--query"), "{errors}");
}

#[test]
fn a_fleet_is_queried_by_the_same_keys() {
    let dir = recipe::beside("ok-host-910b");
    for host in ["n1", "n2"] {
        let args = ["check", "--sysroot", "machine", "--host", host, "--json", "-o"];
        let file = format!("{host}.json");
        assert_eq!(run(dir.path(), &[&args[..], &[&file]].concat()).0, 0);
    }
    let args =
        ["fleet", "merge", "n1.json", "n2.json", "--query", "host,verdict,cann", "--format", "csv"];
    let (code, text, errors) = run(dir.path(), &args);
    assert_eq!(text, "host,verdict,cann\nn1,pass,8.3.RC1\nn2,pass,8.3.RC1\n", "{errors}");
    let merged = run(dir.path(), &["fleet", "merge", "n1.json", "n2.json", "-q"]);
    assert_eq!(code, merged.0, "the exit status is that of the comparison");
}

/// The regular expression of the editors matches every line of a finding.
#[test]
fn editors_read_the_gcc_format() {
    let tasks: Value =
        serde_json::from_str(include_str!("../../deploy/vscode/tasks.json")).unwrap();
    let pattern = &tasks["tasks"][0]["problemMatcher"]["pattern"];
    let regex = regex::Regex::new(pattern["regexp"].as_str().unwrap()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    std::fs::write(dir.path().join("a b.py"), "import torch\nx = torch.cuda.cudart()\n").unwrap();
    let (code, text, _) = run(dir.path(), &["convert", "a b.py", "--format", "gcc"]);
    assert_eq!(code, 1, "{text}");
    let (lines, rest): (Vec<&str>, Vec<&str>) =
        text.lines().partition(|line| line.starts_with("a b.py"));
    assert!(
        !lines.is_empty() && rest.iter().all(|line| line.starts_with("ascend-doctor: error: "))
    );
    for line in lines {
        let found = regex.captures(line).unwrap_or_else(|| panic!("no match: {line}"));
        let part = |name: &str| &found[usize::try_from(pattern[name].as_u64().unwrap()).unwrap()];
        assert_eq!((part("file"), part("line"), part("column")), ("a b.py", "2", "1"));
        assert!(part("code").starts_with("CV"), "{line}");
    }
    // A finding without a file, and an inconclusive result, stay readable.
    let (code, text, _) = run(dir.path(), &["audit-ops", "a b.py", "--format", "gcc"]);
    assert!(code != 3 || text.contains("ascend-doctor: error: "), "{text}");
}

#[test]
fn the_program_copies_itself() {
    let dir = tempfile::tempdir().unwrap();
    for _ in 0..2 {
        let (code, text, errors) = run(dir.path(), &["install", "tools/bin"]);
        assert_eq!((code, text.as_str(), errors.as_str()), (0, "", ""));
    }
    let copy = dir.path().join("tools/bin/ascend-doctor");
    let version = Command::new(&copy).env_clear().arg("--version").output().unwrap();
    assert!(version.status.success());
    let names = std::fs::read_dir(dir.path().join("tools/bin")).unwrap().count();
    assert_eq!(names, 1, "nothing else is left");
    std::fs::write(dir.path().join("other"), "#!/bin/sh\nexit 7\n").unwrap();
    assert_eq!(run(dir.path(), &["install", "tools/bin", "--from", "other"]).0, 0);
    assert_eq!(Command::new(&copy).status().unwrap().code(), Some(7));
    let (code, _, errors) = run(dir.path(), &["install", "tools", "--from", "gone"]);
    assert!(code == 2 && errors.contains("gone"), "{errors}");
}

#[test]
fn a_check_repeats_until_a_signal() {
    let dir = recipe::beside("ok-host-910b");
    let args = ["check", "--sysroot", "machine", "--format", "line", "--every", "1"];
    let mut child = command(dir.path(), &args).stdout(Stdio::piped()).spawn().unwrap();
    let lines = child.stdout.take().unwrap();
    let mut lines = std::io::BufRead::lines(std::io::BufReader::new(lines));
    let (first, second) = (lines.next().unwrap().unwrap(), lines.next().unwrap().unwrap());
    assert!(first == second && first.starts_with("OK"), "{first} {second}");
    let pid = rustix::process::Pid::from_child(&child);
    rustix::process::kill_process(pid, rustix::process::Signal::TERM).unwrap();
    let end = Instant::now() + Duration::from_mins(1);
    let status = loop {
        if let Some(status) = child.try_wait().unwrap() {
            break status;
        }
        assert!(Instant::now() < end, "it goes on");
        std::thread::sleep(Duration::from_millis(20));
    };
    assert_eq!(status.code(), Some(0));
    // A run with an invalid input is not repeated.
    let args = ["check", "--sysroot", "gone", "--every", "1"];
    let (code, _, errors) = run(dir.path(), &args);
    assert!(code == 2 && errors.contains("gone"), "{errors}");
}
