//! The command line: common properties of all subcommands, the settings file, the log, completions
//! and manual pages.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and makes files")]

use std::path::Path;
use std::process::Output;

use assert_cmd::Command;

fn program() -> Command {
    let mut program = Command::cargo_bin("ascend-doctor").unwrap();
    program.env_clear().env("ASCEND_DOCTOR_NOW", "1795392000");
    program
}

fn run(dir: &Path, args: &[&str]) -> (i32, String, String) {
    let Output { status, stdout, stderr } = program().current_dir(dir).args(args).output().unwrap();
    (status.code().unwrap(), String::from_utf8(stdout).unwrap(), String::from_utf8(stderr).unwrap())
}

fn empty() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

#[test]
fn a_report_does_not_take_the_place_of_its_input() {
    let dir = empty();
    let source = "import torch\nx = torch.zeros(1).cuda()\n";
    for name in ["model.py", "train.log", "facts.json"] {
        std::fs::write(dir.path().join(name), source).unwrap();
        std::os::unix::fs::symlink(name, dir.path().join(format!("{name}.link"))).unwrap();
    }
    for args in [
        "audit-ops model.py -o model.py",
        "audit-ops model.py -o ./model.py.link",
        "convert model.py --output model.py",
        "translate-error train.log -o train.log",
        "translate-error train.log.link -o train.log",
        "check --facts facts.json -o facts.json",
        "report facts.json -o facts.json",
        "fleet merge facts.json -o facts.json",
        "bundle --add train.log -o train.log",
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let (code, _, err) = run(dir.path(), &words);
        assert_eq!(code, 2, "{args}: {err}");
        assert!(err.contains("would overwrite input"), "{args}: {err}");
    }
    for name in ["model.py", "train.log", "facts.json"] {
        assert_eq!(std::fs::read_to_string(dir.path().join(name)).unwrap(), source);
    }
}

#[test]
fn mistakes_are_answered_with_what_was_meant() {
    let dir = empty();
    std::fs::write(dir.path().join("train.log"), "x").unwrap();
    std::fs::write(dir.path().join("model.onnx"), "x").unwrap();
    for (args, wanted) in [
        (&["chek"][..], "did you mean `check`?"),
        (&["check", "--fail-on", "eror"], "did you mean `error`?"),
        (&["check", "--requir-npu"], "did you mean `--require-npu`?"),
        (&["check", "--only", "cann-hmoe"], "did you mean `CANN-HOME`?"),
        (&["check", "--skip", "TORHC"], "did you mean `TORCH`?"),
        (&["check", "--profile", "trian"], "did you mean `train`?"),
        (&["explain", "CANN-HOMES"], "did you mean `CANN-HOME`"),
        (&["translate-error", "--list-codes", "acl_rtt"], "did you mean `acl_rt`"),
        (&["verify", "--rung", "computer"], "did you mean `compute`?"),
        (&["man", "chek"], "did you mean `check`?"),
        (&["completions", "bsh"], "did you mean `bash`?"),
    ] {
        let (code, out, err) = run(dir.path(), args);
        assert_eq!((code, out.as_str()), (2, ""), "{args:?}");
        assert!(err.contains(wanted), "{args:?}: {err}");
    }
}

#[test]
fn the_version_says_how_old_the_data_is() {
    let dir = empty();
    let (code, long, _) = run(dir.path(), &["--version"]);
    assert_eq!(code, 0);
    assert!(long.starts_with(&format!("ascend-doctor {}\n", env!("CARGO_PKG_VERSION"))), "{long}");
    assert!(long.contains("compatibility matrix") && long.contains("error tables"), "{long}");
    assert_eq!(run(dir.path(), &["-V"]).1, long);
    assert_eq!(run(dir.path(), &["check", "--version"]).1, long);
    // Users are first asked for the version, so it must be available even with invalid settings.
    for (broken, wanted) in [
        ("x = [", "ascend-doctor.toml:1: unclosed array"),
        ("[data]\npack = \"none.data\"\n", "none.data"),
    ] {
        std::fs::write(dir.path().join("ascend-doctor.toml"), broken).unwrap();
        let (code, out, err) = run(dir.path(), &["--version"]);
        assert_eq!((code, &out), (0, &long), "{err}");
        assert!(err.contains(wanted), "{err}");
        assert_eq!(run(dir.path(), &["explain", "507035"]).0, 2, "other commands need them");
    }
}

/// The common options exist in all subcommands, with the same meaning.
#[test]
fn every_subcommand_has_the_common_options() {
    let mut whole = ascend_doctor::cli::command();
    whole.build();
    let common = [
        "format",
        "json",
        "output",
        "lang",
        "color",
        "fail-on",
        "config",
        "no-config",
        "quiet",
        "verbose",
        "log",
        "help",
    ];
    let mut count = 0;
    let silent = ["help", "completions", "install", "man"];
    for sub in whole.get_subcommands().filter(|sub| !sub.is_hide_set()) {
        if silent.contains(&sub.get_name()) || sub.has_subcommands() {
            continue;
        }
        let options: Vec<&str> = sub.get_arguments().filter_map(clap::Arg::get_long).collect();
        for name in common {
            assert!(options.contains(&name), "`{}` lacks --{name}", sub.get_name());
        }
        count += 1;
    }
    assert!(count >= 8);
}

#[test]
fn json_is_short_for_its_format() {
    let dir = crate::support::recipe::beside("ok-host-910b");
    for args in [
        &["check", "--sysroot", "machine"][..],
        &["explain", "CANN-HOME"],
        &["translate-error", "507035"],
    ] {
        let long = run(dir.path(), &[args, &["--format", "json"]].concat());
        assert_eq!(run(dir.path(), &[args, &["--json"]].concat()), long, "{args:?}");
        assert!(serde_json::from_str::<serde_json::Value>(&long.1).is_ok());
    }
    assert_eq!(run(dir.path(), &["check", "--json", "--format", "text"]).0, 2);
}

#[test]
fn completions_and_pages_are_written() {
    let dir = empty();
    for shell in ["bash", "elvish", "fish", "powershell", "zsh"] {
        let (code, script, _) = run(dir.path(), &["completions", shell]);
        assert_eq!(code, 0, "{shell}");
        assert!(script.contains("translate-error"), "{shell}");
    }
    let (code, page, _) = run(dir.path(), &["man", "manifest", "create"]);
    assert!(code == 0 && page.contains(".TH ascend-doctor-manifest-create 1"), "{page}");
    for _ in 0..2 {
        assert_eq!(run(dir.path(), &["man", "--output-dir", "share/pages"]).0, 0);
    }
    std::fs::write(dir.path().join("file"), "").unwrap();
    let (code, _, err) = run(dir.path(), &["man", "--output-dir", "file"]);
    assert!(code == 2 && err.contains("cannot create the directory `file`"), "{err}");
    let dir = dir.path().join("share");
    let main = std::fs::read_to_string(dir.join("pages/ascend-doctor.1")).unwrap();
    assert!(main.contains("ascend\\-doctor\\-check(1)"), "{main}");
    assert!(dir.join("pages/ascend-doctor-verify.1").is_file());
    assert_eq!(run(&dir, &["man", "--json"]).0, 2);
}

/// bash itself parses the completions, and completes with them.
#[test]
fn bash_completes() {
    let dir = empty();
    let script = run(dir.path(), &["completions", "bash"]).1;
    std::fs::write(dir.path().join("c.bash"), script).unwrap();
    let ask = "source ./c.bash; COMP_WORDS=(ascend-doctor check --req); COMP_CWORD=2; \
               of=$(complete -p ascend-doctor); of=${of#*-F }; \
               ${of%% *} ascend-doctor --req check; echo ${COMPREPLY[@]}";
    let output = std::process::Command::new("bash")
        .current_dir(dir.path())
        .args(["--norc", "-c", ask])
        .output()
        .expect("cannot start bash");
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(said.trim(), "--require-npu", "{output:?}");
}

/// A job that passes on a variable of its caller may set it to an empty value.
#[test]
fn an_empty_variable_is_one_that_is_not_set() {
    let dir = crate::support::recipe::beside("ok-host-910b");
    let with = |vars: &[(&str, &str)], args: &[&str]| {
        let mut program = program();
        program.envs(vars.iter().copied()).current_dir(dir.path()).args(args);
        let output = program.output().unwrap();
        (output.status.code(), String::from_utf8(output.stdout).unwrap())
    };
    let check = ["check", "--sysroot", "machine", "--json"];
    let plain = with(&[], &check);
    assert_eq!(plain.0, Some(0));
    let host = |(_, text): &(Option<i32>, String)| {
        let report: serde_json::Value = serde_json::from_str(text).unwrap();
        report["subject"].clone()
    };
    let empty = [("ASCEND_DOCTOR_LANG", ""), ("ASCEND_DOCTOR_HOST", ""), ("LC_ALL", "")];
    let also = with(&empty, &check);
    assert_eq!((also.0, host(&also)), (Some(0), host(&plain)));
    let (_, text) = with(&[("ASCEND_DOCTOR_LANG", ""), ("LANG", "zh_CN.UTF-8")], &check[..3]);
    assert!(text.contains("个错误"), "the locale decides: {text}");
    let named = with(&[("ASCEND_DOCTOR_HOST", "pod-7")], &check);
    assert_eq!(host(&named), "pod-7");
    assert_eq!(with(&[("ASCEND_DOCTOR_LANG", "xx")], &check).0, Some(2));
}

/// Errors are reported in the language of the user, set by option, variable or settings.
#[test]
fn errors_are_told_in_both_languages() {
    let dir = empty();
    std::fs::write(dir.path().join("zh.toml"), "lang = \"zh\"\n").unwrap();
    for (args, english, chinese) in [
        (&["report", "none.json"][..], "cannot read `none.json`", "无法读取 `none.json`"),
        (&["check", "--sysroot", "/none"], "cannot read the root", "无法读取根目录"),
        (&["check", "--only", "cann-hmoe"], "did you mean", "您是否要找"),
        (&["fleet", "merge", "."], "cannot merge", "无法汇总"),
        (&["convert", "-r", "none"], "no such file", "文件或目录不存在"),
    ] {
        let (code, out, err) = run(dir.path(), args);
        assert!(code == 2 && out.is_empty() && err.starts_with("error: "), "{args:?}: {err}");
        assert!(err.contains(english) && err.lines().count() == 1, "{args:?}: {err}");
        for zh in [["--lang", "zh"], ["--config", "zh.toml"]] {
            let (code, _, err) = run(dir.path(), &[args, &zh].concat());
            assert!(code == 2 && err.starts_with("错误："), "{args:?}: {err}");
            assert!(err.contains(chinese), "{args:?}: {err}");
        }
        let mut program = program();
        let output = program.current_dir(dir.path()).env("LANG", "zh_CN.UTF-8").args(args);
        let err = String::from_utf8(output.output().unwrap().stderr).unwrap();
        assert!(err.contains(chinese), "{args:?}: {err}");
    }
}

#[test]
fn an_argument_that_is_no_text_is_named() {
    use std::os::unix::ffi::OsStrExt as _;
    let odd = std::ffi::OsStr::from_bytes(b"caf\xe9.log");
    let output = program().arg("translate-error").arg(odd).output().unwrap();
    let err = String::from_utf8(output.stderr).unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err.contains("`caf\\xe9.log` is not valid UTF-8"), "{err}");
}

const SETTINGS: &str = "[[skip]]\nid = \"DEV-ACCESS\"\nreason = \"known, OPS-112\"\nuntil = ";

#[test]
fn a_skip_of_the_settings_leaves_out_and_says_so() {
    let dir = crate::support::recipe::beside("f09-not-in-group");
    let settings = dir.path().join("ascend-doctor.toml");
    let check = ["check", "--sysroot", "machine"];
    let (code, before, _) = run(dir.path(), &check);
    assert!(code == 1 && before.contains("error[DEV-ACCESS]"), "{before}");

    std::fs::write(&settings, format!("{SETTINGS}2999-12-31\n")).unwrap();
    let (_, out, _) = run(dir.path(), &check);
    assert!(!out.contains("error[DEV-ACCESS]"), "{out}");
    let one_line = out.split_whitespace().collect::<Vec<_>>().join(" ");
    assert!(one_line.contains("skipped by ascend-doctor.toml:1 until 2999-12-31"), "{out}");
    assert!(one_line.contains("(waived: Access to the device files)"), "{out}");
    assert!(out.contains("OPS-112"), "{out}");
    let (_, json, _) = run(dir.path(), &[&check[..], &["--json", "--lang", "zh"]].concat());
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    let row = json["checks"].as_array().unwrap().iter().find(|row| row["id"] == "DEV-ACCESS");
    assert_eq!(row.unwrap()["state"], "not_checked");
    let provenance = json["provenance"].as_array().unwrap();
    assert!(provenance.iter().any(|part| part["value"]["en"] == "ascend-doctor.toml"));

    // A check selected by name, or a run without settings, reports the finding.
    for more in [&["--only", "DEV-ACCESS"][..], &["--no-config"]] {
        let (code, out, _) = run(dir.path(), &[&check[..], more].concat());
        assert!(code == 1 && out.contains("error[DEV-ACCESS]"), "{more:?}: {out}");
    }

    std::fs::write(&settings, format!("{SETTINGS}2020-01-31\n")).unwrap();
    let (code, out, _) = run(dir.path(), &check);
    assert!(code == 1 && out.contains("error[DEV-ACCESS]"), "{out}");
    assert!(out.contains("expired on 2020-01-31"), "{out}");
}

#[test]
fn settings_give_what_no_option_says() {
    let dir = crate::support::recipe::beside("ok-host-910b");
    let check = ["check", "--sysroot", "machine", "--config", "site.toml"];
    let settings = |text: &str| std::fs::write(dir.path().join("site.toml"), text).unwrap();
    settings("lang = \"zh\"\n");
    assert!(run(dir.path(), &check).1.contains("个错误"));
    let (_, out, _) = run(dir.path(), &[&check[..], &["--lang", "en"]].concat());
    assert!(out.contains("0 errors"), "{out}");

    settings("[data]\nmatrix = \"none.toml\"\n");
    let (code, _, err) = run(dir.path(), &check);
    assert!(code == 2 && err.contains("none.toml"), "{err}");

    settings("\n\nskips = []\n");
    let (code, _, err) = run(dir.path(), &check);
    assert!(code == 2 && err.contains("site.toml:3:") && err.contains("`skips`"), "{err}");
    assert_eq!(run(dir.path(), &["check", "--config", "absent.toml"]).0, 2);
    assert_eq!(run(dir.path(), &["check", "--config", "site.toml", "--no-config"]).0, 2);
}

#[test]
fn the_examined_root_does_not_decide_how_it_is_judged() {
    let dir = crate::support::recipe::beside("f09-not-in-group");
    let machine = dir.path().join("machine");
    let text = format!("{SETTINGS}2999-12-31\n");
    std::fs::write(machine.join("ascend-doctor.toml"), &text).unwrap();
    let (code, out, err) = run(&machine, &["check", "--sysroot", "."]);
    assert!(code == 1 && out.contains("error[DEV-ACCESS]"), "{out}");
    assert!(err.contains("are not trusted"), "{err}");
    let asked = ["check", "--sysroot", ".", "--config", "ascend-doctor.toml"];
    assert_eq!(run(&machine, &asked).0, 2);
    // Nor does a link inside the root.
    std::fs::write(dir.path().join("own.toml"), &text).unwrap();
    std::fs::remove_file(machine.join("ascend-doctor.toml")).unwrap();
    std::os::unix::fs::symlink("../own.toml", machine.join("ascend-doctor.toml")).unwrap();
    let (code, _, err) = run(&machine, &["check", "--sysroot", "../machine"]);
    assert!(code == 1 && err.contains("are not trusted"), "{err}");
}

#[test]
fn the_log_is_on_standard_error_and_changes_nothing_else() {
    let dir = crate::support::recipe::beside("ok-host-910b");
    let check = ["check", "--sysroot", "machine"];
    let (code, quiet, none) = run(dir.path(), &check);
    assert!(none.is_empty(), "{none}");
    let mut last = 0;
    for level in ["error", "info", "debug", "trace"] {
        let (with, out, log) = run(dir.path(), &[&check[..], &["--log", level]].concat());
        assert_eq!((with, &out), (code, &quiet), "{level}");
        assert!(log.len() >= last, "{level} says less than the level before");
        last = log.len();
        match level {
            "error" => assert!(log.is_empty(), "{log}"),
            "info" => assert!(log.contains("CANN: ") && log.contains("exit status"), "{log}"),
            "debug" => assert!(log.contains("open /etc/os-release: "), "{log}"),
            _ => assert!(log.contains("stat /"), "{log}"),
        }
    }
}

/// A gate with such a mistake would always pass.
#[test]
fn checks_that_cancel_out_and_settings_that_are_a_pipe_are_refused() {
    let dir = empty();
    let (code, out, err) = run(dir.path(), &["check", "--only", "dev", "--skip", "dev"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("`--skip` excludes every check that `--only` selects"), "{err}");
    let (_, _, err) = run(dir.path(), &["check", "--lang", "zh", "--only", "dev", "--skip", "dev"]);
    assert!(err.contains("没有可执行的检查"), "{err}");
    let settings = dir.path().join("ascend-doctor.toml");
    rustix::fs::mkfifoat(rustix::fs::CWD, &settings, rustix::fs::Mode::RWXU).unwrap();
    let (code, out, err) = run(dir.path(), &["check", "--only", "scan"]);
    assert_eq!((code, out.as_str()), (2, ""));
    assert!(err.contains("`ascend-doctor.toml` is not a regular file"), "{err}");
    assert_ne!(run(dir.path(), &["check", "--only", "scan", "--no-config"]).0, 2);
}

/// Finding IDs, rules, chips and versions come from the tables.
#[test]
fn bash_completes_known_values() {
    let dir = empty();
    let script = run(dir.path(), &["completions", "bash"]).1;
    std::fs::write(dir.path().join("c.bash"), script).unwrap();
    for (words, wanted) in [
        ("explain CANN-HO", "CANN-HOME"),
        ("explain CV001", "CV0017"),
        ("check --only DEV-ACC", "DEV-ACCESS"),
        ("audit-ops --soc Ascend910B3", "Ascend910B3"),
        ("convert --target 2.7.1.post1", "2.7.1.post11"),
        ("compat --cann 8.3", "8.3.RC1"),
    ] {
        let list: Vec<&str> = words.split(' ').collect();
        let (last, before) = (list[list.len() - 1], list[list.len() - 2]);
        let ask = format!(
            "source ./c.bash; COMP_WORDS=(ascend-doctor {words}); COMP_CWORD={}; \
             of=$(complete -p ascend-doctor); of=${{of#*-F }}; \
             ${{of%% *}} ascend-doctor {last} {before}; echo ${{COMPREPLY[@]}}",
            list.len()
        );
        let output = std::process::Command::new("bash")
            .current_dir(dir.path())
            .args(["--norc", "-c", &ask])
            .output()
            .expect("cannot start bash");
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(said.split_whitespace().any(|word| word == wanted), "{words}: {output:?}");
    }
}

#[test]
fn versions_and_chips_may_be_shortened() {
    let dir = crate::support::recipe::beside("ok-host-910b");
    std::fs::write(dir.path().join("model.py"), "import torch\n").unwrap();
    for (args, option, resolved) in [
        ("compat --sysroot machine --torch 2.7", "torch", "2.7.1"),
        ("compat --sysroot machine --cann 8.3", "cann", "8.3.RC2"),
        ("check --sysroot machine --list-compat --torch 2.7", "torch", "2.7.1"),
        ("audit-ops model.py --torch-npu 2.7", "torch_npu", "2.7.1.post11"),
        ("audit-ops model.py --soc 910b3", "soc", "Ascend 910B (Atlas A2)"),
        ("audit-ops model.py --soc A2", "soc", "Ascend 910B (Atlas A2)"),
        ("convert model.py --target 2.7", "target", "2.7.1.post11"),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let (_, json, err) = run(dir.path(), &[&words[..], &["--json"]].concat());
        let report: serde_json::Value = serde_json::from_str(&json).expect(&err);
        assert_eq!(
            report["resolved"][option]["resolved"], resolved,
            "{args}: {}",
            report["resolved"]
        );
        for (lang, word) in [("en", "means"), ("zh", "即")] {
            let (_, text, _) = run(dir.path(), &[&words[..], &["--lang", lang]].concat());
            let text = text.split_whitespace().collect::<Vec<_>>().join(" ");
            assert!(text.contains(&format!("{word} {resolved}")), "{args}: {text}");
        }
    }
    for (args, near) in [
        ("compat --torch 2.77", "`2.14.0`"),
        ("compat --cann 8.4", "`8."),
        ("audit-ops model.py --torch-npu 77", "nearest"),
        ("audit-ops model.py --soc 910X", "`910b`"),
        ("audit-ops model.py --cann 99", "nearest"),
        ("convert model.py --target 9.9", "nearest"),
    ] {
        let words: Vec<&str> = args.split(' ').collect();
        let (code, out, err) = run(dir.path(), &words);
        assert_eq!((code, out.as_str()), (2, ""), "{args}: {err}");
        assert!(err.contains("unknown value") && err.contains(near), "{args}: {err}");
        let (_, _, err) = run(dir.path(), &[&words[..], &["--lang", "zh"]].concat());
        assert!(err.contains("未知"), "{args}: {err}");
    }
}

#[test]
fn explain_shows_the_variant_that_occurred() {
    let dir = crate::support::recipe::beside("f09-not-in-group");
    let check = ["check", "--sysroot", "machine"];
    run(dir.path(), &[&check[..], &["--json", "-o", "r.json"]].concat());
    run(dir.path(), &[&check[..], &["--facts-only", "-o", "f.json"]].concat());
    let (_, general, _) = run(dir.path(), &["explain", "dev-access"]);
    assert!(!general.contains('{') && general.contains('…'), "{general}");
    for source in [["--report", "r.json"], ["--facts", "f.json"]] {
        let args = [&["explain", "dev-access"][..], &source].concat();
        let (code, text, err) = run(dir.path(), &args);
        assert_eq!((code, err.as_str()), (0, ""));
        assert!(text.contains("/dev/davinci") && !text.contains("Message `"), "{text}");
        let (_, text, _) = run(dir.path(), &[&args[..], &["--lang", "zh"]].concat());
        assert!(text.contains("本次运行中") && text.contains("/dev/davinci"), "{text}");
        let (_, json, _) = run(dir.path(), &[&args[..], &["--json"]].concat());
        let json: serde_json::Value = serde_json::from_str(&json).unwrap();
        let occurred = json["items"][0]["occurred"].as_array().unwrap();
        assert!(occurred[0]["title"]["en"].as_str().unwrap().contains("/dev/"), "{occurred:?}");
        let absent = [&["explain", "CANN-HOME"][..], &source].concat();
        let (code, text, err) = run(dir.path(), &absent);
        assert!(code == 0 && err.contains("no finding CANN-HOME"), "{err}");
        assert!(text.contains("Message `"), "{text}");
    }
}

#[test]
fn settings_that_others_can_write_are_ignored_and_the_gate_is_named() {
    use std::os::unix::fs::PermissionsExt as _;
    let dir = crate::support::recipe::beside("f09-not-in-group");
    let file = dir.path().join("ascend-doctor.toml");
    std::fs::write(&file, format!("fail-on = \"never\"\n{SETTINGS}2999-12-31\n")).unwrap();
    let check = ["check", "--sysroot", "machine"];
    let (code, out, _) = run(dir.path(), &check);
    assert!(code == 0, "{out}");
    let (_, out, _) = run(dir.path(), &[&check[..], &["--json"]].concat());
    let json: serde_json::Value = serde_json::from_str(&out).unwrap();
    let file_name = "ascend-doctor.toml";
    let expected = serde_json::json!([
        { "name": "fail-on", "value": "never", "file": file_name },
        { "name": "skip", "value": "DEV-ACCESS", "file": file_name, "line": 2 },
    ]);
    assert_eq!(json["gate"]["settings"], expected);
    std::fs::set_permissions(&file, std::fs::Permissions::from_mode(0o666)).unwrap();
    let (code, out, err) = run(dir.path(), &check);
    assert!(code == 1 && out.contains("error[DEV-ACCESS]"), "{out}");
    assert!(err.contains("another user can change or replace it"), "{err}");
    assert!(out.contains("ignored `ascend-doctor.toml`"), "{out}");
    let named = [&check[..], &["--config", "ascend-doctor.toml"]].concat();
    assert_eq!(run(dir.path(), &named).0, 0);
}

/// Work of more than a second shows a progress line on a terminal, and only there.
#[test]
fn long_work_shows_progress_on_a_terminal() {
    let script = "\
import os, pty, subprocess, sys, time
main, side = pty.openpty()
child = subprocess.Popen(sys.argv[1:], stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, stderr=side)
os.close(side)
time.sleep(2)
child.stdin.close()
shown = b''
try:
    while True:
        part = os.read(main, 4096)
        if not part: break
        shown += part
except OSError: pass
child.wait()
sys.stdout.write(shown.decode(errors='replace'))
";
    let program = assert_cmd::cargo::cargo_bin!("ascend-doctor");
    for (args, wanted) in [
        (&["fleet", "merge", "-"][..], Some("fleet merge")),
        (&["translate-error", "-"], Some("translate-error")),
        (&["translate-error", "-", "-q"], None),
    ] {
        let mut python = std::process::Command::new("python3");
        let output = python.args(["-c", script]).arg(program).args(args).env("TERM", "xterm");
        let output = output.output().expect("cannot start python3");
        let shown = String::from_utf8_lossy(&output.stdout).into_owned();
        match wanted {
            Some(name) => assert!(shown.contains(&format!("s {name}")), "{args:?}: {shown:?}"),
            None => assert!(!shown.contains("translate-error"), "{args:?}: {shown:?}"),
        }
    }
}
