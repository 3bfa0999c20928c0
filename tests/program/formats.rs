//! The binary from outside: formats, languages, colors, `explain`, exit statuses.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "builds a small root on disk")]

use std::path::PathBuf;
use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

/// The program in an environment without variables that change its output.
fn program() -> Command {
    let mut command = Command::cargo_bin("ascend-doctor").unwrap();
    command.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000");
    command
}

fn run(args: &[&str]) -> Output {
    program().args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

/// A root with samples: a version file, an environment, an unusual name.
fn tree() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let write = |path: &str, text: &str| {
        let path: PathBuf = dir.path().join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    };
    write("etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n");
    write(
        "usr/local/Ascend/driver/version.info",
        "Version=25.2.0\nInnerversion=\x1b[31m\u{9b}1mV100\n",
    );
    write(".env.json", "{\"ASCEND_HOME_PATH\": \"/usr/local/Ascend/\\u001b[2Jgone\"}");
    write(".process.json", "{\"uid\": 0, \"gid\": 0, \"groups\": [0], \"caps\": \"all\"}");
    dir
}

const FORMATS: [&str; 6] = ["text", "json", "junit", "sarif", "markdown", "html"];

fn check(root: &tempfile::TempDir, more: &[&str]) -> Output {
    let root = root.path().to_str().unwrap();
    let mut args = vec!["check", "--sysroot", root];
    args.extend_from_slice(more);
    run(&args)
}

#[test]
fn two_runs_give_the_same_bytes_in_every_format() {
    let root = tree();
    for format in FORMATS {
        let once = check(&root, &["--format", format]);
        let twice = check(&root, &["--format", format]);
        assert!(!once.stdout.is_empty(), "{format}");
        assert_eq!(stdout(&once), stdout(&twice), "{format}");
        assert_eq!(once.status.code(), twice.status.code());
    }
}

#[test]
fn no_format_lets_the_machine_speak_to_the_terminal() {
    let root = tree();
    for format in FORMATS {
        for more in [&["--verbose"][..], &["--facts-only"], &["--lang", "zh"]] {
            let mut args = vec!["--format", if more == ["--facts-only"] { "json" } else { format }];
            args.extend_from_slice(more);
            let shown = stdout(&check(&root, &args));
            let bad: Vec<char> = shown.chars().filter(|&c| c.is_control() && c != '\n').collect();
            assert!(bad.is_empty(), "{format} {more:?}: {bad:?}");
        }
    }
}

fn validator(schema: &str) -> jsonschema::Validator {
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
}

#[test]
fn json_of_the_binary_keeps_to_the_schema_that_the_binary_prints() {
    let printed = stdout(&run(&["explain", "--report-schema"]));
    assert_eq!(printed, include_str!("../../docs/schema/report-2.schema.json"));
    let schema = validator(&printed);
    let root = tree();
    for more in [&[][..], &["--require-npu"], &["--only", "scan"], &["--profile", "node"]] {
        let mut args = vec!["--format", "json"];
        args.extend_from_slice(more);
        let output = check(&root, &args);
        let json: Value = serde_json::from_slice(&output.stdout).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&json).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{more:?}: {errors:#?}");
        assert_eq!(json["gate"]["exit_status"].as_i64(), output.status.code().map(i64::from));
    }
}

#[test]
fn explain_json_keeps_to_its_schema() {
    let schema = validator(include_str!("../../docs/schema/explain-1.schema.json"));
    for args in [
        &["--list"][..],
        &["507035", "EI0006", "ERR00100", "-8005", "7", "0x7110001"],
        &["scan-read", "SCAN", "hccl"],
        &["CV0017", "cv0403", "CV0266", "CV0520"],
    ] {
        let mut all = vec!["explain", "--format", "json"];
        all.extend_from_slice(args);
        let json: Value = serde_json::from_slice(&run(&all).stdout).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&json).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:#?}");
    }
}

#[test]
fn junit_is_well_formed_and_its_counts_are_true() {
    let root = tree();
    for more in [&[][..], &["--require-npu"], &["--fail-on", "warning"]] {
        let mut args = vec!["--format", "junit"];
        args.extend_from_slice(more);
        let output = check(&root, &args);
        let text = stdout(&output);
        let document = roxmltree::Document::parse(&text).unwrap();
        let count = |node: roxmltree::Node<'_, '_>, tag: &str| {
            node.descendants().filter(|inner| inner.has_tag_name(tag)).count().to_string()
        };
        let top = document.root_element();
        assert!(top.has_tag_name("testsuites"));
        assert_eq!(top.attribute("tests").unwrap(), count(top, "testcase"));
        assert_eq!(top.attribute("failures").unwrap(), count(top, "failure"));
        for suite in top.children().filter(roxmltree::Node::is_element) {
            assert_eq!(suite.attribute("tests").unwrap(), count(suite, "testcase"));
            assert_eq!(suite.attribute("failures").unwrap(), count(suite, "failure"));
            assert_eq!(suite.attribute("skipped").unwrap(), count(suite, "skipped"));
            assert_eq!(suite.attribute("errors").unwrap(), count(suite, "error"));
        }
        // The color of the job and the exit status agree.
        let bad = count(top, "failure") != "0" || count(top, "error") != "0";
        assert_eq!(bad, output.status.code() != Some(0), "{more:?}");
    }
}

#[test]
fn sarif_of_the_binary_is_complete() {
    let sarif: Value =
        serde_json::from_slice(&check(&tree(), &["--format", "sarif"]).stdout).unwrap();
    let run = &sarif["runs"][0];
    assert_eq!(sarif["version"], "2.1.0");
    for rule in run["tool"]["driver"]["rules"].as_array().unwrap() {
        assert!(rule["fullDescription"]["text"].is_string(), "{rule} has no words");
    }
}

#[test]
fn language_by_option_then_variable_then_locale() {
    let chinese = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = program();
        command.args(["explain", "507035"]).args(args).envs(env.iter().copied());
        stdout(&command.output().unwrap()).contains("处理方法")
    };
    assert!(!chinese(&[], &[]));
    assert!(chinese(&["--lang", "zh"], &[]));
    assert!(chinese(&[], &[("ASCEND_DOCTOR_LANG", "zh")]));
    assert!(!chinese(&["--lang", "en"], &[("ASCEND_DOCTOR_LANG", "zh")]));
    assert!(chinese(&[], &[("LANG", "zh_CN.UTF-8")]));
    assert!(!chinese(&[], &[("LANG", "zh_CN.UTF-8"), ("LC_ALL", "C")]));
    assert!(!chinese(&[], &[("ASCEND_DOCTOR_LANG", "en"), ("LC_ALL", "zh_CN.UTF-8")]));
    let report = check(&tree(), &["--lang", "zh"]);
    assert!(stdout(&report).contains("项检查通过"));
}

#[test]
fn colour_only_where_it_is_wanted() {
    let coloured = |args: &[&str], env: &[(&str, &str)]| {
        let mut command = program();
        command.args(["explain", "507035"]).args(args).envs(env.iter().copied());
        stdout(&command.output().unwrap()).contains('\x1b')
    };
    assert!(!coloured(&[], &[]), "standard output is no terminal here");
    assert!(coloured(&["--color", "always"], &[]));
    assert!(coloured(&[], &[("CLICOLOR_FORCE", "1")]));
    assert!(!coloured(&[], &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]));
    assert!(!coloured(&["--color", "never"], &[("CLICOLOR_FORCE", "1")]));
}

#[test]
fn a_report_file_is_written_as_a_whole() {
    let root = tree();
    let out = tempfile::tempdir().unwrap();
    let file = out.path().join("report.json");
    let output = check(&root, &["--format", "json", "--output", file.to_str().unwrap()]);
    assert!(output.stdout.is_empty());
    let json: Value = serde_json::from_slice(&std::fs::read(&file).unwrap()).unwrap();
    assert_eq!(json["command"], "check");
    assert_eq!(std::fs::read_dir(out.path()).unwrap().count(), 1, "nothing is left beside it");
}

#[test]
fn explain_has_the_statuses_that_all_subcommands_have() {
    assert_eq!(run(&["explain", "SCAN-READ"]).status.code(), Some(0));
    assert_eq!(run(&["explain", "--list"]).status.code(), Some(0));
    let unknown = run(&["explain", "SCAN-REED"]);
    assert_eq!(unknown.status.code(), Some(2));
    let message = String::from_utf8(unknown.stderr).unwrap();
    assert!(message.contains("did you mean `SCAN-READ`?"), "{message}");
    assert_eq!(run(&["explain"]).status.code(), Some(2));
    // Known codes are explained even next to an unknown one.
    let partly = run(&["explain", "507035", "nonsense"]);
    assert_eq!(partly.status.code(), Some(2));
    assert!(stdout(&partly).contains("VECTOR_CORE_EXCEPTION"));
    let hostile = run(&["explain", "\x1b[31m"]);
    assert!(!hostile.stderr.contains(&0x1b));
}

#[test]
fn lists_name_every_id() {
    let list = stdout(&run(&["explain", "--list"]));
    let json: Value =
        serde_json::from_slice(&run(&["explain", "--list", "--format", "json"]).stdout).unwrap();
    for family in json["items"].as_array().unwrap() {
        for finding in family["findings"].as_array().unwrap() {
            let id = finding["id"].as_str().unwrap();
            assert!(list.contains(id), "{id}");
        }
    }
}

/// Documents for programs are always JSON; another format is immediately rejected as wrong usage.
#[test]
fn what_is_no_report_is_json_alone() {
    let root = tree();
    let root = root.path().to_str().unwrap();
    let wheel = tempfile::tempdir().unwrap();
    let nothing = wheel.path().join("gone");
    for (what, args) in [
        ("check --facts-only", vec!["check", "--sysroot", root, "--facts-only"]),
        ("explain --report-schema", vec!["explain", "--report-schema"]),
        ("manifest create", vec!["manifest", "create", nothing.to_str().unwrap()]),
    ] {
        for format in FORMATS.into_iter().filter(|format| *format != "json") {
            let output = run(&[&args[..], &["--format", format]].concat());
            let said = String::from_utf8(output.stderr.clone()).unwrap();
            assert_eq!(output.status.code(), Some(2), "{what} {format}");
            let want = format!(
                "error: `{what}` writes JSON and cannot be used with `--format {format}`; \
                 omit `--format`\n"
            );
            assert_eq!(said, want);
            assert!(output.stdout.is_empty(), "{what} {format}");
        }
    }
    for args in [&["check", "--sysroot", root, "--facts-only"][..], &["explain", "--report-schema"]]
    {
        let bare = run(args);
        assert_eq!(bare.status.code(), Some(0), "{args:?}");
        assert_eq!(bare.stdout, run(&[args, &["--format", "json"]].concat()).stdout);
        assert!(serde_json::from_slice::<Value>(&bare.stdout).unwrap().is_object());
    }
}

#[test]
fn explain_speaks_every_format() {
    for names in [&["507035"][..], &["-8005", "7"], &["SCAN-READ", "hccl", "scan"], &["--list"]] {
        for format in FORMATS {
            let output = run(&[&["explain"][..], names, &["--format", format]].concat());
            assert_eq!(output.status.code(), Some(0), "{names:?} {format}");
            assert!(output.stderr.is_empty() && !output.stdout.is_empty(), "{names:?} {format}");
        }
    }
    let junit = stdout(&run(&["explain", "-8005", "SCAN-READ", "--format", "junit"]));
    let document = roxmltree::Document::parse(&junit).unwrap();
    let names: Vec<&str> = document
        .descendants()
        .filter(|node| node.has_tag_name("testcase"))
        .filter_map(|node| node.attribute("name"))
        .collect();
    assert!(names.contains(&"SCAN-READ") && names.contains(&"dcmi/-8005"), "{names:?}");
    assert!(junit.contains("DCMI_ERR_CODE_INNER_ERR"));
    let sarif = run(&["explain", "507035", "--format", "sarif"]);
    let sarif: Value = serde_json::from_slice(&sarif.stdout).unwrap();
    let result = &sarif["runs"][0]["results"][0];
    assert_eq!((&result["ruleId"], &result["level"]), (&"acl_rt/507035".into(), &"note".into()));
    // An unknown name is wrong usage in every format.
    for format in FORMATS {
        assert_eq!(run(&["explain", "nonsense", "--format", format]).status.code(), Some(2));
    }
}

#[test]
fn compat_speaks_every_format() {
    let root = tree();
    let root = root.path().to_str().unwrap();
    let ask = |more: &[&str]| {
        run(&[&["compat", "--sysroot", root, "--arch", "aarch64", "--python", "3.11"][..], more]
            .concat())
    };
    for (wish, status) in [("2.7.1", 0), ("2.7.1 --cann 7.0.0", 3)] {
        for format in FORMATS {
            let mut wish: Vec<&str> = wish.split(' ').collect();
            wish.extend(["--format", format]);
            let output = ask(&[&["--torch"], wish.as_slice()].concat());
            assert_eq!(output.status.code(), Some(status), "{wish:?} {format}");
            let said = stdout(&output);
            let advised = said.contains("pip install torch==2.7.1");
            assert_eq!(advised, status == 0, "{wish:?} {format}: {said}");
            match format {
                "json" | "sarif" => {
                    assert!(serde_json::from_str::<Value>(&said).unwrap().is_object());
                }
                "junit" => {
                    let document = roxmltree::Document::parse(&said).unwrap();
                    let errors = document.descendants().filter(|node| node.has_tag_name("error"));
                    assert_eq!(errors.count() > 0, status == 3, "{said}");
                }
                _ => {}
            }
        }
    }
}
