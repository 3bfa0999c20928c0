//! Every subcommand that writes JSON keeps to the schema that its `schema` member names, and the
//! schemas keep to what was promised: programs outside of the repository read these documents.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and runs the program")]

use std::path::Path;

use assert_cmd::Command;
use serde_json::Value;

const SCHEMAS: [(&str, &str); 6] = [
    ("audit-ops-2", include_str!("../../docs/schema/audit-ops-2.schema.json")),
    ("codes-1", include_str!("../../docs/schema/codes-1.schema.json")),
    ("explain-1", include_str!("../../docs/schema/explain-1.schema.json")),
    ("report-1", include_str!("../../docs/schema/report-1.schema.json")),
    ("report-2", include_str!("../../docs/schema/report-2.schema.json")),
    ("verify-stage-1", include_str!("../../docs/schema/verify-stage-1.schema.json")),
];

fn schema(name: &str) -> Value {
    let (_, text) = SCHEMAS.iter().find(|(known, _)| *known == name).unwrap();
    serde_json::from_str(text).unwrap()
}

/// The schemas of a document, by its ID: `audit-ops` adds to the report.
fn schemas_of(id: &str) -> Vec<&'static str> {
    let (command, version) = id.strip_prefix("ascend-doctor/").unwrap().split_once('/').unwrap();
    match (command, version) {
        ("codes", "1") => vec!["codes-1"],
        ("explain", "1") => vec!["explain-1"],
        ("audit-ops", "2") => vec!["report-2", "audit-ops-2"],
        (_, "2") => vec!["report-2"],
        _ => panic!("no schema has the ID {id}"),
    }
}

fn validate(document: &Value, what: &str) {
    let id = document["schema"].as_str().unwrap_or_else(|| panic!("{what} has no ID"));
    for name in schemas_of(id) {
        let schema = jsonschema::validator_for(&schema(name)).unwrap();
        let errors: Vec<String> = schema
            .iter_errors(document)
            .map(|error| format!("{error} at {}", error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{what}: {name}: {errors:#?}");
    }
}

/// Numbers that were measured or computed have no digits of rounding errors.
fn has_long_number(value: &Value) -> Option<String> {
    match value {
        Value::Number(number) => {
            let text = number.to_string();
            let digits = text.split_once('.').map_or(0, |(_, part)| part.len());
            (digits > 8 && !text.contains('e')).then_some(text)
        }
        Value::Array(list) => list.iter().find_map(has_long_number),
        Value::Object(map) => map.values().find_map(has_long_number),
        _ => None,
    }
}

fn write(dir: &Path, name: &str, text: &str) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

#[test]
fn every_subcommand_keeps_to_the_schema_of_its_id() {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    write(at, "root/etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n");
    write(at, "x.py", "import torch\nx = torch.ones(2).cuda()\n");
    write(at, "gone.log", "RuntimeError: NPU out of memory. Tried to allocate 20.00 MiB\n");
    write(at, "quiet.log", "step 1 loss 0.5\n");
    let run = |words: &str| {
        let mut command = Command::cargo_bin("ascend-doctor").unwrap();
        let args: Vec<&str> = words.split(' ').collect();
        let output = command.env_clear().current_dir(at).args(&args).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(output.status.code() != Some(2), "{words}: {said}");
        let document: Value =
            serde_json::from_str(&text).unwrap_or_else(|error| panic!("{words}: {error}: {text}"));
        assert_eq!(has_long_number(&document), None, "{words}");
        document
    };
    let check = run("check --sysroot root --profile train --json");
    write(at, "reports/a.json", &check.to_string());
    for (words, id) in [
        ("check --sysroot root --json", "check/2"),
        ("check --sysroot root --json --only HOST-SHM", "check/2"),
        ("check --sysroot root --json --fail-on never --on-inconclusive allow", "check/2"),
        ("compat --sysroot root --torch 2.7.1 --json", "compat/2"),
        ("translate-error 507035 --json", "codes/1"),
        ("translate-error no-such-code --json", "codes/1"),
        ("translate-error --list-codes --json", "codes/1"),
        ("translate-error --list-codes causes --json", "codes/1"),
        ("translate-error --search heartbeat --json", "codes/1"),
        ("translate-error gone.log --json", "translate-error/2"),
        ("translate-error gone.log --json --why-not", "translate-error/2"),
        ("translate-error quiet.log --json", "translate-error/2"),
        ("convert x.py --json", "convert/2"),
        ("convert -r x.py --check --json", "convert/2"),
        ("audit-ops x.py --json", "audit-ops/2"),
        ("audit-ops x.py --all --json", "audit-ops/2"),
        ("fleet merge reports --json", "fleet/2"),
        ("verify --json", "verify/2"),
        ("data status --json", "data/2"),
        ("explain DEV-ACCESS --json", "explain/1"),
        ("explain 507035 --json", "explain/1"),
        ("explain --list --json", "explain/1"),
    ] {
        let document = run(words);
        assert_eq!(document["schema"], format!("ascend-doctor/{id}"), "{words}");
        validate(&document, words);
    }
}

/// A member of a schema may be added, none removed and none required anew: within a version every
/// document that was valid stays valid. Whoever changes a frozen schema changes its hash here on
/// purpose, and gives a new version to what is no addition.
#[test]
fn schemas_do_not_change_by_accident() {
    let hashes: Vec<String> = SCHEMAS
        .iter()
        .map(|(name, text)| format!("{name} {}", base::hash::Sha256::of(text.as_bytes()).hex()))
        .collect();
    insta::assert_snapshot!(hashes.join("\n"));
    for (name, text) in SCHEMAS {
        let schema: Value = serde_json::from_str(text).unwrap();
        assert_eq!(schema["$id"], format!("urn:ascend-doctor:schema:{name}"));
    }
}

/// The problem matcher for `--format concise` reads what the program writes.
#[test]
fn the_problem_matcher_matches_concise_lines() {
    let text = include_str!("../../deploy/github/ascend-doctor-matcher.json");
    let matcher: Value = serde_json::from_str(text).unwrap();
    let pattern = &matcher["problemMatcher"][0]["pattern"][0];
    let regex = regex::Regex::new(pattern["regexp"].as_str().unwrap()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a b.py", "import torch\nx = torch.cuda.cudart()\n");
    let mut command = Command::cargo_bin("ascend-doctor").unwrap();
    command.env_clear().current_dir(dir.path());
    let output = command.args(["convert", "a b.py", "--format", "concise"]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    let group = |line: &str, name: &str| {
        let number = usize::try_from(pattern[name].as_u64().unwrap()).unwrap();
        let found = regex.captures(line).unwrap_or_else(|| panic!("no match: {line}"));
        found.get(number).map_or("", |part| part.as_str()).to_owned()
    };
    let line = lines.lines().next().expect("a finding in a b.py");
    assert_eq!((group(line, "file"), group(line, "line")), ("a b.py".into(), "2".into()));
    for (line, expected) in [
        ("/x/a.py:7: error PY-DUP two: torch", ["/x/a.py", "7", "error", "PY-DUP", "two: torch"]),
        ("PATH: warning ENV-X text", ["PATH", "", "warning", "ENV-X", "text"]),
        ("info acl_rt/507035 text", ["", "", "info", "acl_rt/507035", "text"]),
    ] {
        let found = ["file", "line", "severity", "code", "message"].map(|name| group(line, name));
        assert_eq!(found, expected, "{line}");
    }
    assert!(!regex.is_match("Inconclusive: no NPU"));
}
