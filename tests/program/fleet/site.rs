//! A small cluster: the report of one real run, once for each host.

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;

use serde_json::{Value, json};

use crate::support::machine::Spec;

/// A report of `check` of a healthy machine.
static BASE: LazyLock<Value> = LazyLock::new(|| {
    let dir = tempfile::tempdir().unwrap();
    Spec::default().build().write(dir.path());
    let (code, text, errors) = run(&["check", "--sysroot", dir.path().to_str().unwrap(), "--json"]);
    assert_eq!(code, 0, "{errors}");
    serde_json::from_str(&text).unwrap()
});

fn program() -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    command.env_clear().env("LC_ALL", "C.UTF-8").env("PATH", "/usr/bin:/bin");
    command
}

/// Exit status and output of a run.
pub(crate) fn run(args: &[&str]) -> (i32, String, String) {
    fed(args, b"")
}

/// The same with standard input.
pub(crate) fn fed(args: &[&str], input: &[u8]) -> (i32, String, String) {
    fed_and_weighed(args, input).0
}

/// The same, with the peak memory after it had read its input, in KiB.
pub(crate) fn fed_and_weighed(args: &[&str], input: &[u8]) -> ((i32, String, String), u64) {
    let mut child = program()
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = input.to_vec();
    let status = format!("/proc/{}/status", child.id());
    let feeder = std::thread::spawn(move || {
        // The program may end before it has read everything.
        let _ = stdin.write_all(&input);
        // The rest in the pipe is small; the program waits for more.
        let status = std::fs::read_to_string(status).unwrap_or_default();
        let peak = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
        peak.and_then(|peak| peak.trim().strip_suffix(" kB")?.trim().parse().ok()).unwrap_or(0)
    });
    let output = child.wait_with_output().unwrap();
    let peak = feeder.join().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    ((output.status.code().unwrap(), text(output.stdout), text(output.stderr)), peak)
}

/// Seconds since 1970.
pub(crate) fn now() -> i64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    i64::try_from(since.as_secs()).unwrap()
}

/// The report of a healthy host of a cluster.
pub(crate) fn report(number: u32) -> Value {
    renamed(&BASE, number)
}

/// A report, changed to that of another host of a cluster.
pub(crate) fn renamed(report: &Value, number: u32) -> Value {
    let mut report = report.clone();
    let host = format!("node{number:03}");
    report["subject"] = json!(host);
    report["host"]["name"] = json!(host);
    report["host"]["machine"] = json!(format!("{number:016x}"));
    report["host"]["boot"] = json!(format!("{number:015x}b"));
    report["taken"] = json!(now() - 1);
    let addresses: serde_json::Map<String, Value> =
        (0..8).map(|d| (d.to_string(), json!(format!("10.20.{number}.{}", d + 1)))).collect();
    let masks: serde_json::Map<String, Value> =
        (0..8).map(|d| (d.to_string(), json!("255.255.0.0"))).collect();
    // A container has none.
    if let Some(hccn) = report["facts"]["net"]["hccn"].as_object_mut() {
        hccn.insert("addresses".to_owned(), Value::Object(addresses));
        hccn.insert("netmasks".to_owned(), Value::Object(masks));
    }
    report["facts"]["net"]["ranktable"] = Value::Null;
    report
}

/// Reports of `count` hosts, changed by `change`.
pub(crate) fn reports(count: u32, change: impl Fn(u32, &mut Value)) -> Vec<Value> {
    (1..=count)
        .map(|number| {
            let mut one = report(number);
            change(number, &mut one);
            one
        })
        .collect()
}

/// Writes each report into a file named after its host.
pub(crate) fn written(reports: &[Value]) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("reports");
    std::fs::create_dir(&path).unwrap();
    for report in reports {
        put(&path, report["subject"].as_str().unwrap(), report);
    }
    (dir, path)
}

/// Writes one report.
pub(crate) fn put(dir: &Path, name: &str, report: &Value) {
    let text = serde_json::to_string_pretty(report).unwrap();
    std::fs::write(dir.join(format!("{name}.json")), text).unwrap();
}

/// Exit status and report of a merge.
pub(crate) fn merge(reports: &[Value], more: &[&str]) -> (i32, Value) {
    let (_dir, path) = written(reports);
    let args = [&["fleet", "merge", "--json", path.to_str().unwrap()], more].concat();
    let (code, text, errors) = run(&args);
    let value = serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text} {errors}"));
    (code, value)
}

/// Ids and messages of the findings above info.
pub(crate) fn found(report: &Value) -> Vec<String> {
    let findings = report["findings"].as_array().unwrap().iter();
    let grave = findings.filter(|finding| finding["severity"] != "info");
    let name = |finding: &Value| {
        let (id, message) = (finding["id"].as_str().unwrap(), finding["message"].as_str().unwrap());
        format!("{id}/{message}")
    };
    let mut found: Vec<String> = grave.map(name).collect();
    found.sort();
    found
}

/// The title of the finding with this id and message.
pub(crate) fn title(report: &Value, id: &str) -> String {
    let findings = report["findings"].as_array().unwrap();
    let finding = findings.iter().find(|finding| finding["id"] == id);
    finding.unwrap_or_else(|| panic!("no {id}"))["title"]["en"].as_str().unwrap().to_owned()
}
