//! `translate-error` from outside: codes in, meanings and exit statuses out.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "writes a data file")]

use std::process::Output;

use assert_cmd::Command;
use serde_json::Value;

fn run(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("ascend-doctor").unwrap();
    command.env_clear().arg("translate-error").args(args).output().unwrap()
}

fn stdout(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn text(args: &[&str]) -> (i32, String) {
    let output = run(args);
    (output.status.code().unwrap(), stdout(&output))
}

const FORMATS: [&str; 6] = ["text", "json", "junit", "sarif", "markdown", "html"];

/// One code of each kind.
const MANY: [&str; 12] = [
    "507035",
    "0x7020016",
    "117571606",
    "EI0006",
    "ACL_ERROR_RT_VECTOR_CORE_EXCEPTION",
    "ERR02200",
    "-8005",
    "errcode:(0x800000, 0x4000, 0)",
    "0x80E01801",
    "80E01955",
    "errNo[0x000000000500000b]",
    "EI0777",
];

/// Not an unknown code: the name was misspelled, or the file is in another directory.
#[test]
fn a_log_that_is_not_there_is_said_to_be_a_file() {
    for name in ["gone.log", "rank0.LOG", "logs.tar.gz"] {
        let output = run(&[name]);
        let error = String::from_utf8(output.stderr).unwrap();
        assert_eq!(output.status.code(), Some(2), "nothing was examined");
        assert!(error.contains("no such file or directory"), "{error}");
    }
}

#[test]
fn a_known_code_is_0_an_unknown_one_3_and_wrong_usage_2() {
    assert_eq!(text(&["507035"]).0, 0);
    assert_eq!(text(&MANY).0, 0);
    let (status, shown) = text(&["99999"]);
    assert_eq!(status, 3);
    assert!(shown.contains("unknown code"), "{shown}");
    let (status, shown) = text(&["507O35"]);
    assert_eq!(status, 3);
    assert!(shown.contains("did you mean  507035"), "the letter O for a nought: {shown}");
    let (status, shown) = text(&["507035", "EI00066"]);
    assert_eq!(status, 3, "one of two");
    assert!(shown.contains("VECTOR_CORE_EXCEPTION") && shown.contains("did you mean"), "{shown}");
    for wrong in [&[][..], &["--list-codes", "nonsense"], &["--no-such-option"]] {
        assert_eq!(text(wrong).0, 2, "{wrong:?}");
    }
    for format in FORMATS {
        assert_eq!(text(&["--format", format, "507035"]).0, 0, "{format}");
        assert_eq!(text(&["--format", format, "99999"]).0, 3, "{format}");
    }
}

#[test]
fn a_code_says_what_it_is_where_it_comes_from_and_what_to_do() {
    let (_, shown) = text(&["507015"]);
    for words in ["ACL_ERROR_RT_AICORE_EXCEPTION", "0x26", "aicore.kernel_exception", "$ grep"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let (_, chinese) = text(&["--lang", "zh", "507015"]);
    assert!(chinese.contains("处理方法"), "{chinese}");
    let (_, long) = text(&["--explain", "507015"]);
    assert!(long.len() > shown.len() && long.contains("To confirm, collect"), "{long}");
}

/// From the driver's code through the runtime's to that of ACL, and back.
#[test]
fn the_chain_is_shown_both_ways() {
    let (_, up) = text(&["DRV_ERROR_OUT_OF_MEMORY"]);
    assert!(up.contains("207001"), "{up}");
    let (_, down) = text(&["--explain", "207001"]);
    assert!(down.contains("DRV_ERROR_OUT_OF_MEMORY"), "{down}");
}

#[test]
fn codes_of_parts_are_never_just_unknown() {
    let (status, shown) = text(&["errcode:(0x800010, 0, 0)"]);
    assert_eq!(status, 0);
    for words in ["MTE_BIU_RDWR_RESP", "CCU_ILLEGAL_INSTR", "aicore.illegal_gm_access"] {
        assert!(shown.contains(words), "{words}: {shown}");
    }
    let (status, shown) = text(&["0x80E01955"]);
    assert!(status == 0 && shown.contains("HBM"), "{shown}");
    let (status, shown) = text(&["EI0777"]);
    assert!(status == 0 && shown.contains("HCCL"), "{shown}");
    let (status, shown) = text(&["507777"]);
    assert!(status == 0 && shown.contains("internal failure"), "{shown}");
}

#[test]
fn ambiguity_is_shown() {
    let (_, shown) = text(&["7"]);
    assert!(shown.contains("meanings") && shown.contains("HCCL_E_UNAVAIL"), "{shown}");
    assert!(shown.contains("Other meanings"), "{shown}");
}

#[test]
fn families_and_causes_are_listed_and_searched() {
    let (status, families) = text(&["--list-codes"]);
    assert!(status == 0 && families.contains("acl_rt") && families.contains("chip"), "{families}");
    let (_, hccl) = text(&["--list-codes", "hccl"]);
    assert!(hccl.contains("HCCL_E_TIMEOUT"), "{hccl}");
    let (_, causes) = text(&["--list-codes", "causes"]);
    assert!(causes.contains("hccl.socket_timeout"), "{causes}");
    let (status, found) = text(&["--search", "hartbeat", "lost"]);
    assert!(status == 0 && found.contains("hccl.peer_lost"), "{found}");
    let (_, found) = text(&["--lang", "zh", "--search", "设备内存不足"]);
    assert!(found.contains("memory.device_oom"), "{found}");
    assert_eq!(text(&["--search", "zzzzzzzz"]).0, 3);
}

#[test]
fn json_keeps_to_its_schema() {
    let (_, printed) = text(&["--schema"]);
    let schema = include_str!("../../docs/schema/codes-1.schema.json");
    assert_eq!(printed, schema);
    let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
    let mut all = vec!["--json"];
    all.extend(MANY);
    for args in [
        &all[..],
        &["--json", "99999", "7", "hccl.peer_lost"],
        &["--format", "json", "--list-codes"],
        &["--json", "--list-codes", "chip"],
        &["--json", "--list-codes", "causes"],
        &["--json", "--search", "heartbeat"],
    ] {
        let json: Value = serde_json::from_str(&text(args).1).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&json).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:#?}");
    }
}

#[test]
fn no_format_lets_the_question_speak_to_the_terminal() {
    for format in FORMATS {
        let (_, shown) = text(&["--format", format, "50\x1b[31m7035\u{9b}1m", "507035"]);
        let bad: Vec<char> = shown.chars().filter(|&c| c.is_control() && c != '\n').collect();
        assert!(bad.is_empty(), "{format}: {bad:?}");
    }
}

/// `explain` uses the same data.
#[test]
fn explain_says_the_same() {
    for code in ["507035", "EI0006", "-8005", "0x80E01801"] {
        let mut explain = Command::cargo_bin("ascend-doctor").unwrap();
        let explained = explain.env_clear().args(["explain", code]).output().unwrap();
        assert_eq!(stdout(&explained), text(&[code]).1, "{code}");
    }
}

const OWN: &str = r#"
schema = 1
[[family]]
id = "house"
kind = "decimal"
title = { en = "House", zh = "自有" }
says = { en = "Printed by our launcher", zh = "由启动器打印" }
context = ["launcher says"]
[[cause]]
id = "house.disk_full"
title = { en = "The scratch disk is full", zh = "临时盘已满" }
text = { en = "The scratch disk of the node is full.", zh = "节点的临时盘已满。" }
sources = ["our wiki"]
[[cause.step]]
en = "Clean it"
zh = "清理"
[[code]]
family = "house"
code = "4711"
symbol = "NO_SPACE"
cause = "house.disk_full"
becomes = ["507015"]
source = "our wiki"
[[code]]
family = "acl_rt"
code = "507015"
symbol = "ACL_ERROR_RT_AICORE_EXCEPTION"
message = "seen here when the disk was full"
cause = "house.disk_full"
source = "our wiki"
[[signature]]
id = "house.scratch"
cause = "house.disk_full"
role = "root"
weight = 80
literals = ["no space on scratch"]
regex = "no space on scratch"
example = "launcher: no space on scratch"
counter = "space on scratch"
source = "our wiki"
"#;

#[test]
fn data_of_ones_own_lies_over_the_tables() {
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("own.toml");
    let path = file.to_str().unwrap();
    std::fs::write(&file, OWN).unwrap();
    let (status, own) = text(&["--data", path, "4711"]);
    assert!(status == 0 && own.contains("NO_SPACE") && own.contains("Clean it"), "{own}");
    let (_, over) = text(&["--data", path, "507015"]);
    assert!(over.contains("disk was full") && over.contains("house.disk_full"), "{over}");
    assert!(over.contains("4711 NO_SPACE"), "what becomes of it is known, too: {over}");
    assert_eq!(text(&["4711"]).0, 3, "without the file");
    // Logs are also read with it: by the context of the codes, and by the texts.
    for log in ["x launcher says 4711", "launcher: no space on scratch"] {
        let (status, found) = text(&["--data", path, log]);
        assert!(status == 1 && found.contains("house.disk_full"), "{log}: {found}");
        assert_eq!(text(&[log]).0, 3, "{log}");
    }
    let (_, listed) = text(&["--data", path, "--list-codes", "house"]);
    assert!(listed.contains("4711"), "{listed}");
    let (_, found) = text(&["--data", path, "--search", "scratch"]);
    assert!(found.contains("house.disk_full"), "{found}");

    std::fs::write(&file, OWN.replace("family = \"house\"", "family = \"hous\"")).unwrap();
    let bad = run(&["--data", path, "4711"]);
    let said = String::from_utf8(bad.stderr).unwrap();
    assert_eq!(bad.status.code(), Some(2));
    assert!(said.contains(&format!("{path}:17: unknown family `hous`")), "{said}");
    assert_eq!(text(&["--data", "/nowhere.toml", "4711"]).0, 2);
}
