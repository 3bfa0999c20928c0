//! Properties that users and scripts rely on: exit statuses, selections, recordings, facts files,
//! same bytes for the same machine, no secrets.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::support::machine::Spec;
use crate::support::recipe;
use crate::support::scan::{Bench, scan};
use crate::support::tree::Tree;

/// The program, with a separate environment.
pub(crate) fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    command.env_clear().env("LC_ALL", "C.UTF-8").env("PATH", "/usr/bin:/bin");
    // The age of the data is part of the report.
    command.env("ASCEND_DOCTOR_NOW", "1795392000");
    command
}

/// Output and exit status of a run.
pub(crate) fn run(args: &[&str]) -> (i32, String, String) {
    let output = program().args(args).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn written(tree: &Tree) -> (tempfile::TempDir, String) {
    let dir = tempfile::tempdir().unwrap();
    tree.write(dir.path());
    let path = dir.path().to_str().unwrap().to_owned();
    (dir, path)
}

pub(crate) fn machine(name: &str) -> Tree {
    recipe::all().remove(name).unwrap_or_else(|| panic!("no recipe {name}")).build()
}

#[test]
fn exit_codes() {
    let (_healthy_dir, healthy) = written(&Spec::default().build());
    let (_broken_dir, broken) = written(&machine("f02-env-not-sourced"));
    let (_odd_dir, odd) = written(&machine("f37-small-shm"));
    let cases: &[(i32, &[&str])] = &[
        (0, &["check", "--sysroot", &healthy]),
        (0, &["--fail-on", "warning", "check", "--sysroot", &healthy]),
        (1, &["check", "--sysroot", &broken]),
        (0, &["--fail-on", "never", "check", "--sysroot", &broken]),
        (0, &["check", "--sysroot", &odd]),
        (1, &["--fail-on", "warning", "check", "--sysroot", &odd]),
        (0, &["--fail-on", "never", "check", "--sysroot", &odd]),
        // A skipped check cannot fail, a requested one does.
        (0, &["check", "--sysroot", &odd, "--only", "CANN-HOME"]),
        (1, &["--fail-on", "warning", "check", "--sysroot", &odd, "--only", "HOST-SHM"]),
        (0, &["--fail-on", "warning", "check", "--sysroot", &odd, "--skip", "host-shm"]),
        (2, &["check", "--sysroot", "/nonexistent/root"]),
        (2, &["check", "--sysroot", &healthy, "--only", "NO-SUCH-CHECK"]),
        (2, &["check", "--sysroot", &healthy, "--no-such-option"]),
        (2, &["--format", "tea", "check"]),
        (2, &["check", "--facts", "/nonexistent/facts.json"]),
        (2, &["check", "--facts", "/dev/null"]),
        (2, &["check", "--sysroot", &healthy, "--env-file", "/nonexistent"]),
        (2, &["check", "--sysroot", &healthy, "--matrix", "/nonexistent"]),
        (2, &["chekc"]),
        (3, &["nonsense"]),
    ];
    let mut wrong = Vec::new();
    for (wanted, args) in cases {
        let (code, _, errors) = run(args);
        if code != *wanted {
            wrong.push(format!("{args:?}: wanted {wanted}, got {code}\n{errors}"));
        }
        if *wanted == 2 && errors.trim().is_empty() {
            wrong.push(format!("{args:?}: not a word on standard error"));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// A requested check that could not run is not a success.
#[test]
fn no_verdict_is_3() {
    let mut tree = Spec::default().build();
    tree.env = None;
    let (_dir, root) = written(&tree);
    let (code, text, _) = run(&["check", "--sysroot", &root, "--only", "ENV-VISIBLE"]);
    assert_eq!(code, 3, "{text}");
    let (code, text, _) = run(&["check", "--sysroot", &root]);
    assert_eq!(code, 3, "the goal needs the variables of CANN: {text}");
}

#[test]
fn a_machine_without_npu_fails_only_if_one_is_required() {
    let (_dir, root) = written(&machine("ok-no-npu"));
    let (code, text, _) = run(&["check", "--sysroot", &root]);
    assert_eq!(code, 0, "{text}");
    assert!(text.lines().count() <= 20, "a few lines, not {}:\n{text}", text.lines().count());
    for args in [
        &["--require-npu"][..],
        &["--profile", "inference"],
        &["--profile", "train"],
        &["--profile", "multi-node"],
        &["--profile", "container"],
        &["--profile", "node"],
        &["--profile", "build"],
    ] {
        let (code, text, _) = run(&[&["check", "--sysroot", &root], args].concat());
        assert_eq!(code, 1, "{args:?}: {text}");
    }
}

#[test]
fn a_healthy_machine_suits_every_profile() {
    let (_dir, root) = written(&Spec::default().build());
    for profile in ["general", "inference", "train", "multi-node", "node", "build"] {
        let (code, text, _) = run(&["check", "--sysroot", &root, "--profile", profile]);
        assert_eq!(code, 0, "{profile}: {text}");
    }
}

#[test]
fn two_runs_give_the_same_bytes() {
    let (_dir, root) = written(&machine("f19-mixed-cann"));
    for format in ["text", "json", "junit", "sarif", "markdown"] {
        let first = run(&["--format", format, "check", "--sysroot", &root]);
        assert_eq!(first, run(&["--format", format, "check", "--sysroot", &root]), "{format}");
    }
}

#[test]
fn facts_give_the_same_report_elsewhere() {
    let dir = tempfile::tempdir().unwrap();
    for name in ["f03-torch-upgraded", "f09-not-in-group", "ok-vllm-container", "ok-950"] {
        let (_tree, root) = written(&machine(name));
        let facts = dir.path().join(format!("{name}.json"));
        let (code, _, errors) = run(&[
            "--output",
            facts.to_str().unwrap(),
            "check",
            "--sysroot",
            &root,
            "--facts-only",
        ]);
        assert_eq!(code, 0, "{errors}");
        let here = run(&["--format", "json", "check", "--sysroot", &root]);
        let there = run(&["--format", "json", "check", "--facts", facts.to_str().unwrap()]);
        assert_eq!(here, there, "{name}");
    }
}

#[test]
fn a_recording_gives_the_same_findings() {
    for name in [
        "f02-env-not-sourced",
        "f05-device-is-a-directory",
        "f06-nnal-too-old",
        "f22-stub-hal",
        "f25-libstdcxx-too-old",
        "ok-vllm-container",
        "dangling-latest",
    ] {
        let (_tree, root) = written(&machine(name));
        let copy = tempfile::tempdir().unwrap();
        let into = copy.path().join("recording");
        let first = scan(Path::new(&root), &["--record", into.to_str().unwrap()]);
        let again = scan(&into, &[]);
        assert_eq!(first.lines(), again.lines(), "{name}");
        assert_eq!(first.code, again.code, "{name}");
    }
}

/// Facts as JSON, and the recording made in the same run.
fn facts_of(place: &[&str], options: &[&str]) -> Value {
    let (code, text, errors) = run(&[&["check"], place, &["--facts-only"], options].concat());
    assert_eq!(code, 0, "{errors}");
    serde_json::from_str(&text).unwrap()
}

/// The differences between two values, as JSON pointers.
fn differences(at: &str, one: &Value, other: &Value, out: &mut Vec<String>) {
    match (one, other) {
        (Value::Object(a), Value::Object(b)) => {
            for key in a.keys().chain(b.keys().filter(|key| !a.contains_key(*key))) {
                let get = |map: &serde_json::Map<String, Value>| map.get(key).cloned();
                let (a, b) = (get(a).unwrap_or_default(), get(b).unwrap_or_default());
                differences(&format!("{at}/{key}"), &a, &b, out);
            }
        }
        (Value::Array(a), Value::Array(b)) if a.len() == b.len() => {
            for (index, (a, b)) in a.iter().zip(b).enumerate() {
                differences(&format!("{at}/{index}"), a, b, out);
            }
        }
        _ if one == other => {}
        _ => out.push(format!("{at}: {one} is now {other}")),
    }
}

/// The facts of a recording equal those of the machine, except for its location.
#[test]
fn a_recording_gives_the_same_facts() {
    let names = [
        "f02-env-not-sourced",
        "f05-device-is-a-directory",
        "f06-nnal-too-old",
        "f19-mixed-cann",
        "f22-stub-hal",
        "f25-libstdcxx-too-old",
        "ok-vllm-container",
        "ok-950",
        "ok-no-npu",
        "dangling-latest",
    ];
    let mut wrong = Vec::new();
    for name in names {
        let (_tree, root) = written(&machine(name));
        let copy = tempfile::tempdir().unwrap();
        let into = copy.path().join("recording");
        let into = into.to_str().unwrap();
        let first = facts_of(&["--sysroot", &root], &["--record", into]);
        let mut again = facts_of(&["--sysroot", into], &[]);
        again["source"] = first["source"].clone();
        differences(name, &first, &again, &mut wrong);
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// The same for the machine that runs the tests, except for the source of the environment.
#[test]
fn a_recording_of_the_live_machine_gives_the_same_facts() {
    let copy = tempfile::tempdir().unwrap();
    let into = copy.path().join("recording");
    let into = into.to_str().unwrap();
    let first = facts_of(&[], &["--record", into]);
    let mut again = facts_of(&["--sysroot", into], &[]);
    again["source"] = first["source"].clone();
    assert_eq!(
        (&first["env"]["origin"], &again["env"]["origin"]),
        (&"process".into(), &".env.json".into())
    );
    again["env"]["origin"] = first["env"]["origin"].clone();
    // A copy has no creation time.
    assert!(first["taken"].as_u64().is_some_and(|taken| taken > 1_700_000_000));
    again["taken"] = first["taken"].clone();
    let mut wrong = Vec::new();
    differences("", &first, &again, &mut wrong);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn a_recording_directory_has_to_be_empty() {
    let (_tree, root) = written(&Spec::default().build());
    let (_other, full) = written(&Spec::default().build());
    let (code, _, errors) = run(&["check", "--sysroot", &root, "--record", &full]);
    assert_eq!(code, 2);
    assert!(errors.contains("not empty"), "{errors}");
}

/// Words that no output may contain, planted in realistic places.
const SECRETS: &[&str] = &["hunter2", "s3cr3t-token", "AKIAEXAMPLE", "ghp_example"];

#[test]
fn secrets_stay_where_they_are() {
    let mut tree = machine("f02-env-not-sourced");
    tree.set_env("AWS_SECRET_ACCESS_KEY", "AKIAEXAMPLE");
    tree.set_env("VLLM_API_KEY", "s3cr3t-token");
    tree.set_env("ASCEND_AUTH_TOKEN", "s3cr3t-token");
    tree.set_env("GITHUB_PAT", "ghp_example");
    tree.set_env("PIP_INDEX_URL", "https://joe:hunter2@mirror.example/simple");
    tree.set_env(
        "PIP_EXTRA_INDEX_URL",
        "https://joe:hunter2@a.example/x https://t:hunter2@b.example",
    );
    tree.set_env("UV_INDEX_URL", "https://mirror.example/simple?x=1&access_token=hunter2");
    tree.file(
        "/etc/pip.conf",
        "[global]\nindex-url = https://joe:hunter2@mirror.example/simple?token=ghp_example\nextra-index-url =\n    https://bob:s3cr3t-token@other.example/simple\n",
    );
    tree.file("/root/.config/pip/pip.conf", "[global]\nproxy = http://joe:hunter2@proxy:3128\n");
    let (_dir, root) = written(&tree);
    let out = tempfile::tempdir().unwrap();
    let recording = out.path().join("recording");
    let mut outputs = vec![
        run(&["check", "--sysroot", &root, "--record", recording.to_str().unwrap()]).1,
        run(&["check", "--sysroot", &root, "--facts-only"]).1,
    ];
    for format in ["text", "json", "junit", "sarif", "markdown"] {
        outputs.push(run(&["-v", "--format", format, "check", "--sysroot", &root]).1);
    }
    for name in [".env.json", ".process.json", ".commands.json"] {
        outputs.push(std::fs::read_to_string(recording.join(name)).unwrap_or_default());
    }
    for output in &outputs {
        for secret in SECRETS {
            assert!(!output.contains(secret), "{secret} in:\n{output}");
        }
    }
    let recorded = std::fs::read_to_string(recording.join("etc/pip.conf")).unwrap_or_default();
    for secret in SECRETS {
        assert!(!recorded.contains(secret), "{secret} in the recorded pip.conf:\n{recorded}");
    }
}

/// Text of the machine must not control a terminal.
#[test]
fn control_characters_are_escaped() {
    let mut tree = Spec::default().build();
    let evil = "\u{1b}[2J\u{1b}]0;owned\u{7}\u{202e}";
    tree.set_env("ASCEND_RT_VISIBLE_DEVICES", evil);
    tree.set_env("ASCEND_HOME_PATH", &format!("/nonexistent/{evil}"));
    tree.file("/etc/os-release", format!("ID=ubuntu\nPRETTY_NAME=\"{evil}\"\n"));
    tree.file("/usr/local/Ascend/driver/version.info", format!("Version={evil}\n{evil}\n"));
    let (_dir, root) = written(&tree);
    for format in ["text", "json", "junit", "sarif", "markdown"] {
        let (_, text, _) = run(&["-v", "--format", format, "check", "--sysroot", &root]);
        let bad = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(bad), "{format}: {:?}", text.chars().find(|c| bad(*c)));
    }
}

/// `{placeholders}` of the messages are all filled, in both languages and for all machines.
#[test]
fn no_placeholder_is_left() {
    fn look(value: &Value, at: &str, left: &mut Vec<String>) {
        match value {
            Value::String(text) => {
                let pattern = regex::Regex::new(r"\{[a-z_]+\}").unwrap();
                if let Some(found) = pattern.find(text) {
                    left.push(format!("{at}: {} in {text}", found.as_str()));
                }
            }
            Value::Array(list) => list.iter().for_each(|value| look(value, at, left)),
            Value::Object(map) => map.iter().for_each(|(key, value)| {
                if !matches!(key.as_str(), "evidence" | "refs" | "sources") {
                    look(value, &format!("{at}.{key}"), left);
                }
            }),
            _ => {}
        }
    }
    let mut left = Vec::new();
    let mut bench = Bench::new();
    for (name, recipe) in recipe::all() {
        let args: Vec<&str> = recipe.expect.args.iter().map(String::as_str).collect();
        look(&bench.scan(recipe.build(), &args).report, &name, &mut left);
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}

/// A service that a unit file starts by the path of its virtual environment, without variables.
#[test]
fn the_environment_of_a_process_is_found_without_variables() {
    // Not a wrapper, such as those of version managers.
    let real = "import os, sys; print(os.path.realpath(sys.executable))";
    let real = Command::new("python3").args(["-c", real]).output().expect("cannot start python3");
    let python = String::from_utf8(real.stdout).unwrap();
    let python = Path::new(python.trim());
    let home = python.parent().unwrap().display();
    let dir = tempfile::tempdir().unwrap();
    let venv = dir.path().canonicalize().unwrap().join("venv");
    std::fs::create_dir_all(venv.join("bin")).unwrap();
    std::fs::write(venv.join("pyvenv.cfg"), format!("home = {home}\n")).unwrap();
    std::os::unix::fs::symlink(python, venv.join("bin/python3")).unwrap();
    let mut service = Command::new(venv.join("bin/python3"))
        .args(["-S", "-c", "import time; print('up', flush=True); time.sleep(60)"])
        .env_clear()
        .stdout(std::process::Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = [0; 2];
    std::io::Read::read_exact(service.stdout.as_mut().unwrap(), &mut line).unwrap();
    let facts = facts_of(&["--pid", &service.id().to_string()], &[]);
    service.kill().unwrap();
    service.wait().unwrap();
    let interpreter = &facts["python"]["interpreter"];
    assert_eq!(interpreter["prefix"], venv.to_str().unwrap(), "{interpreter}");
}
