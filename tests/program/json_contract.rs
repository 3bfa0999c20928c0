//! Every JSON document conforms to the schema that its `schema` member names: each subcommand, in
//! each mode that changes the document.
#![expect(clippy::disallowed_methods, clippy::unwrap_used, reason = "a test, and runs the program")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use ascend_doctor::cli::command;
use serde_json::Value;

use super::fleet::site;
use super::verify::simulator;
use crate::support::recipe;

/// A run: its arguments without `--json`, and the ID of its document.
pub(crate) type Row = (&'static str, &'static str);

/// Every subcommand, in every mode. They run in this order, because some read the output of others.
pub(crate) const ROWS: [Row; 73] = [
    ("check --sysroot root", "check/2"),
    ("check --sysroot root --only HOST-SHM --verbose", "check/2"),
    ("check --sysroot root --skip HOST-SHM --fail-on never --on-inconclusive allow", "check/2"),
    ("check --sysroot root --require-npu --host n7 --quiet", "check/2"),
    ("check --sysroot healthy/machine --profile inference --no-hash --no-npu-smi", "check/2"),
    ("check --sysroot broken/machine --profile train --lang zh", "check/2"),
    ("check --sysroot broken/machine --plan --fail-on never", "check/2"),
    ("check --sysroot skipped/machine --config skip.toml", "check/2"),
    ("check --sysroot unreadable/machine", "check/2"),
    ("check --sysroot healthy/machine --record recorded --metrics-file m.prom", "check/2"),
    ("check --sysroot healthy/machine --facts-only", "facts/1"),
    ("check --sysroot broken/machine --facts-only", "facts/1"),
    ("check --sysroot healthy/machine --list-compat --torch 2.7", "compat/2"),
    ("check --facts facts.json", "check/2"),
    ("compat --sysroot root --torch 2.7.1 --python 3.11", "compat/2"),
    ("compat --sysroot root --torch 2.7.1 --cann 7.0.0", "compat/2"),
    ("compat --facts facts.json --vllm-ascend 0.11 --arch aarch64", "compat/2"),
    ("compat --facts facts.json --mindspore 2.7 --driver 25.5.0 --soc a3", "compat/2"),
    ("compat --sysroot root --matrix matrix.toml --torch-npu 2.7.1", "compat/2"),
    ("translate-error 507035", "codes/1"),
    ("translate-error 507035 EI0006 0x7110001 -8005 --explain", "codes/1"),
    ("translate-error no-such-code", "codes/1"),
    ("translate-error --list-codes", "codes/1"),
    ("translate-error --list-codes causes", "codes/1"),
    ("translate-error --list-codes acl_rt", "codes/1"),
    ("translate-error --search heartbeat", "codes/1"),
    ("translate-error --search nothing-has-this-name", "codes/1"),
    ("translate-error gone.log", "translate-error/2"),
    ("translate-error gone.log --why-not --all --top 9", "translate-error/2"),
    ("translate-error gone.log --good-log quiet.log --anonymize", "translate-error/2"),
    ("translate-error quiet.log", "translate-error/2"),
    ("translate-error logs --rank 0 --device 0", "translate-error/2"),
    ("translate-error logs packed.gz", "translate-error/2"),
    ("translate-error --as text RuntimeError:", "translate-error/2"),
    ("triage issue.md", "triage/2"),
    ("triage issue.md gone.log --anonymize", "triage/2"),
    ("check --from-text issue.md", "stated/1"),
    ("lint issue.md", "lint/2"),
    ("lint tree", "lint/2"),
    ("port tree --no-machine", "port/2"),
    ("port tree --torch-npu 2.7.1 --no-machine", "port/2"),
    ("convert x.py", "convert/2"),
    ("convert tree --target 2.7 --also messages", "convert/2"),
    ("convert tree --transfer --dry-run --launch tree/a.py", "convert/2"),
    ("convert -r tree --check", "convert/2"),
    ("convert -r tree --output-dir copy", "convert/2"),
    ("convert -r tree --backup --mark", "convert/2"),
    ("convert -r tree --undo", "convert-undo/2"),
    ("convert nothing", "convert/2"),
    ("audit-ops x.py", "audit-ops/2"),
    ("audit-ops x.py ops.txt --all --all-versions --backward", "audit-ops/2"),
    ("audit-ops norm.py --suggest --soc 910b --cann 8.5 --torch-npu 2.7", "audit-ops/2"),
    ("audit-ops tree --follow-imports --assume-dtype float16", "audit-ops/2"),
    ("audit-ops fallback.log", "audit-ops/2"),
    ("fleet merge reports", "fleet/2"),
    ("fleet merge reports --group-by soc --expect hosts.txt", "fleet/2"),
    ("fleet merge reports broken.json", "fleet/2"),
    ("verify", "verify/2"),
    ("verify --rung load", "verify/2"),
    ("manifest create wheel", "manifest/1"),
    ("manifest wheel-check wheels", "wheel-check/2"),
    ("data status", "data/2"),
    ("explain DEV-ACCESS", "explain/1"),
    ("explain HOST-SHM --facts facts.json", "explain/1"),
    ("explain PY-FRAMEWORK --report report.json", "explain/1"),
    ("explain 507035 EI0006 ERR00100 -8005 7 0x7110001", "explain/1"),
    ("explain scan-read SCAN hccl CV0017 cv0403 hccl.peer_lost", "explain/1"),
    ("explain --list", "explain/1"),
    ("bundle --sysroot healthy/machine --redact hosts -o b.tgz", "bundle/1"),
    ("bundle --sysroot root --add gone.log --limit 1 --no-hash -o c.tgz", "bundle/1"),
    ("bundle --sysroot unreadable/machine --no-npu-smi -o d.tgz", "bundle/1"),
    ("check --sysroot root --format jsonl", "check/2"),
    ("translate-error 507035 --format jsonl", "codes/1"),
];

/// Runs with the simulated libraries: arguments, variables, and the ID of the last line.
pub(crate) const SIMULATED: [(&str, &[(&str, &str)]); 7] = [
    ("verify", &[("ASCSIM_DEVICES", "2")]),
    ("verify --level standard --dtype fp16 --device 0", &[]),
    ("verify --rung fabric", &[("ASCSIM_DEVICES", "2")]),
    ("verify --rung kernel --host n7", &[]),
    ("verify --rung compute", &[("ASCSIM_FAULT", "kernel:flip")]),
    ("verify --rung memory", &[("ASCSIM_FAULT", "aclrtMemcpy:flip")]),
    ("verify --rung runtime", &[("ASCSIM_FAULT", "aclrtSetDevice:ret=507033")]),
];

/// Subcommands that write no JSON.
const NO_JSON: [&str; 5] = ["completions", "install", "man", "mcp", "report"];

/// Options that select the content of a document, never its form, and that no row needs.
const NO_OTHER_SHAPE: [&str; 58] = [
    "--allow",
    "--root-allow",
    "--tool-timeout",
    "--expect-from",
    "--assume-idle",
    "--evidence",
    "--replay",
    "--every",
    "--from",
    "--query",
    "--baseline",
    "--call-timeout",
    "--cann-path",
    "--color",
    "--data",
    "--data-key",
    "--data-older",
    "--data-pack",
    "--data-unsigned",
    "--diff",
    "--env-file",
    "--exclude",
    "--floor",
    "--follow",
    "--force",
    "--interactive",
    "--format",
    "--installed",
    "--json",
    "--keep-logs",
    "--kind",
    "--import",
    "--launch",
    "--log",
    "--manifest",
    "--markdown",
    "--ledger",
    "--max-size",
    "--minutes",
    "--no-config",
    "--no-ignore",
    "--no-kind",
    "--output",
    "--pid",
    "--report-schema",
    "--root",
    "--schema",
    "--since",
    "--site",
    "--timeout",
    "--until",
    "--verbose",
    "--yes",
    "--quiet",
    "--config",
    "--lang",
    "--fail-on",
    "--on-inconclusive",
];

fn write(dir: &Path, name: &str, text: impl AsRef<[u8]>) {
    let path = dir.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, text).unwrap();
}

/// The schemas by ID.
struct Schemas(BTreeMap<String, jsonschema::Validator>);

impl Schemas {
    /// Reads the schemas of the repository, which other programs use.
    fn read() -> Self {
        let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/schema");
        let entries = std::fs::read_dir(dir).unwrap().map(|entry| entry.unwrap().path());
        let schemas = entries.map(|path| {
            let schema: Value = serde_json::from_slice(&std::fs::read(&path).unwrap()).unwrap();
            let id = schema["properties"]["schema"]["const"].as_str().unwrap_or("common");
            (id.to_owned(), jsonschema::validator_for(&schema).unwrap())
        });
        Self(schemas.collect())
    }

    /// The violations of the schema in a document.
    fn violations(&self, document: &Value) -> impl Iterator<Item = String> {
        let id = document["schema"].as_str().unwrap_or("none");
        let own = self.0.get(id);
        let unknown = own.is_none().then(|| format!("no schema has the ID {id}"));
        let report = document.get("findings").map(|_| &self.0["common"]);
        let errors = own.into_iter().chain(report).flat_map(|schema| {
            schema.iter_errors(document).map(|error| {
                let text = format!("{id}: {error} at {}", error.instance_path());
                text.chars().take(600).collect()
            })
        });
        let long = has_long_number(document);
        unknown.into_iter().chain(errors).chain(long).collect::<Vec<_>>().into_iter()
    }
}

/// Measured or computed numbers have no digits from rounding errors.
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

/// The files that the rows name.
pub(crate) fn files() -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let at = dir.path();
    let machine = |name: &str, recipe: &str| {
        let tree = at.join(name).join("machine");
        std::fs::create_dir_all(&tree).unwrap();
        recipe::all().remove(recipe).unwrap().build().write(&tree);
    };
    machine("healthy", "ok-no-npu");
    machine("broken", "f03-torch-upgraded");
    machine("skipped", "f37-small-shm");
    machine("unreadable", "f35-toolkit-unreadable");
    write(at, "root/etc/os-release", "ID=ubuntu\nVERSION_ID=\"22.04\"\n");
    let skip = "[[skip]]\nid = \"HOST-SHM\"\nreason = \"known\"\nuntil = \"2099-01-01\"\n";
    write(at, "skip.toml", format!("fail-on = \"warning\"\n{skip}"));
    write(at, "matrix.toml", "schema = \"ascend-doctor/matrix/1\"\nas_of = \"2030-01-01\"\n");
    let source = "import torch\nx = torch.ones(2).cuda()\ny = torch.cuda.cudart()\n";
    for name in ["x.py", "tree/a.py", "tree/b.py"] {
        write(at, name, source);
    }
    write(
        at,
        "tree/latin.py",
        b"# -*- coding: ascii -*-\n# \xff\nimport torch\ntorch.cuda.is_available()\n",
    );
    std::os::unix::fs::symlink("/nowhere", at.join("tree/gone.py")).unwrap();
    std::fs::create_dir(at.join("nothing")).unwrap();
    let norm = "import torch\ndef f(x, w):\n    v = x.pow(2).mean(-1, keepdim=True)\n    \
        return w * (x * torch.rsqrt(v + 1e-6))\n";
    write(at, "norm.py", norm);
    write(at, "ops.txt", "aten::add.Tensor\naten::nonzero\naten::no_such_op\nnpu::npu_swiglu\n");
    let lost = "RuntimeError: NPU out of memory. Tried to allocate 20.00 MiB\n";
    write(at, "gone.log", lost);
    let fallback = "[W] Warning: CAUTION: The operator 'aten::nonzero' is not currently supported on \
        the NPU backend and will fall back to run on the CPU.\n";
    write(at, "fallback.log", fallback);
    write(at, "quiet.log", "step 1 loss 0.5\n");
    write(at, "issue.md", "```\ntorch        2.6.0\ntorch-npu    2.7.1\n```\nIt hangs.\n");
    write(at, "logs/rank_0/plog.log", format!("[rank0]: {lost}"));
    write(at, "packed.gz", b"\x1f\x8b\x08\x00damaged");
    write(at, "hosts.txt", "node[001-004]\n");
    write(at, "broken.json", "{\"schema\": ");
    let reports = site::reports(3, |number, report| {
        if number == 2 {
            report["fingerprint"]["driver"] = "1.0.0".into();
        }
    });
    for (number, report) in reports.iter().enumerate() {
        write(at, &format!("reports/{number}.json"), report.to_string());
    }
    let record = "torch_npu/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n\
        torch_npu-2.7.1.dist-info/METADATA,,\ntorch_npu-2.7.1.dist-info/RECORD,,\n";
    let metadata = "Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.7.1\n";
    write(at, "wheel/torch_npu/__init__.py", "");
    write(at, "wheel/torch_npu-2.7.1.dist-info/METADATA", metadata);
    write(at, "wheel/torch_npu-2.7.1.dist-info/RECORD", record);
    write(at, "wheels/torch_npu-2.7.1-cp310-cp310-linux_aarch64.whl", "no wheel");
    dir
}

/// Writes the reports that the rows name, next to the files.
pub(crate) fn write_reports(dir: &Path) {
    for (name, words) in [
        ("facts.json", "check --sysroot healthy/machine --facts-only"),
        ("report.json", "check --sysroot healthy/machine --profile train --json"),
    ] {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
        program.env_clear().env("PATH", "/usr/bin:/bin").current_dir(dir);
        write(dir, name, documents(&mut program, words).unwrap()[0].to_string());
    }
}

/// The lines of JSON, or the one document, of a run.
fn documents(program: &mut Command, words: &str) -> Result<Vec<Value>, String> {
    let output = program.args(words.split(' ')).output().unwrap();
    if output.status.code() == Some(2) {
        return Err(String::from_utf8_lossy(&output.stderr).into_owned());
    }
    let text = String::from_utf8(output.stdout).unwrap();
    let read = |text: &str| serde_json::from_str(text).map_err(|error| format!("{error}: {text}"));
    if words.contains("jsonl") {
        text.lines().map(read).collect()
    } else {
        read(&text).map(|document| vec![document])
    }
}

#[test]
fn every_document_keeps_to_the_schema_of_its_id() {
    let schemas = Schemas::read();
    let dir = files();
    let (mut ids, mut failures) = (BTreeSet::new(), Vec::new());
    let mut check = |words: &str, documents: Result<Vec<Value>, String>, id: &str| {
        let documents = documents.unwrap_or_else(|error| {
            failures.push(format!("{words}: {error}"));
            Vec::new()
        });
        for document in &documents {
            failures.extend(schemas.violations(document).map(|error| format!("{words}: {error}")));
            ids.extend(document["schema"].as_str().map(str::to_owned));
        }
        if let Some(last) = documents.last()
            && last["schema"] != format!("ascend-doctor/{id}")
        {
            failures.push(format!("{words}: {} is no {id}", last["schema"]));
        }
        documents
    };
    let program = || {
        let mut program = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
        program.env_clear().env("PATH", "/usr/bin:/bin").current_dir(dir.path());
        program
    };
    write_reports(dir.path());
    for (words, id) in ROWS {
        let line = if words.contains("--format") { "" } else { " --json" };
        let documents = documents(&mut program(), &format!("{words}{line}"));
        check(words, documents, id);
    }
    let mut silent = Vec::new();
    for (words, variables) in SIMULATED {
        let mut program = simulator::doctor(simulator::RTC.path());
        program.envs(variables.iter().copied());
        let lines = documents(&mut program, &format!("{words} --format jsonl"));
        let lines = check(words, lines, "verify/2");
        let stages = &lines[..lines.len().saturating_sub(1)];
        silent.extend(stages.is_empty().then_some(words));
        assert!(stages.iter().all(|line| line["schema"] == "ascend-doctor/verify-stage/1"));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
    assert!(silent.is_empty(), "{silent:?}");
    let known: BTreeSet<String> = schemas.0.into_keys().filter(|id| id != "common").collect();
    assert_eq!(ids, known, "each schema has a run, each run a schema");
}

/// Machines of all kinds together use every member.
#[test]
fn reports_of_many_machines_keep_to_the_schema() {
    let schemas = Schemas::read();
    let mut failures = Vec::new();
    // Every fourth of a hundred machines: the tests of `check` build all of them.
    for (name, recipe) in recipe::all().into_iter().step_by(4) {
        let dir = tempfile::tempdir().unwrap();
        recipe.build().write(dir.path());
        let mut program = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
        program.env_clear().current_dir(dir.path());
        let report =
            documents(&mut program, "check --sysroot . --no-hash --json").unwrap().remove(0);
        assert!(report["facts"].is_object());
        failures.extend(schemas.violations(&report).map(|error| format!("{name}: {error}")));
    }
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Every new subcommand or option requires a row.
#[test]
fn every_subcommand_and_option_has_a_row() {
    fn leaves(command: &clap::Command, path: &str, found: &mut BTreeSet<String>) {
        for sub in command.get_subcommands().filter(|sub| !sub.is_hide_set()) {
            let path = format!("{path} {}", sub.get_name());
            if sub.has_subcommands() {
                leaves(sub, &path, found);
            } else {
                found.insert(path.trim().to_owned());
            }
        }
    }
    let mut subcommands = BTreeSet::new();
    leaves(&command(), "", &mut subcommands);
    assert!(subcommands.len() >= 14, "{subcommands:?}");
    let runs = || ROWS.iter().map(|row| row.0).chain(SIMULATED.iter().map(|row| row.0));
    for name in &subcommands {
        let covered = runs().any(|words| words == name || words.starts_with(&format!("{name} ")));
        let without = NO_JSON.contains(&name.as_str());
        assert!(covered != without, "{name}: add a row, or list it as one without JSON");
    }
    let table = include_str!("options.tsv").lines().map(|line| line.split('\t').next().unwrap());
    let options: BTreeSet<&str> = table.map(|name| &name[name.find("--").unwrap()..]).collect();
    let of_rows: BTreeSet<&str> =
        runs().flat_map(|words| words.split(' ')).filter(|word| word.starts_with("--")).collect();
    let listed: BTreeSet<&str> = NO_OTHER_SHAPE.into_iter().chain(of_rows).collect();
    let missing: Vec<_> = options.difference(&listed).collect();
    assert!(missing.is_empty(), "add rows with {missing:?}, or list them");
    let unknown: Vec<_> = NO_OTHER_SHAPE.iter().filter(|name| !options.contains(*name)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}

/// The validation can fail: each planted change of a document is detected.
#[test]
fn changed_documents_break_their_schema() {
    let schemas = Schemas::read();
    let schema = &schemas.0["ascend-doctor/check/2"];
    let report = site::report(1);
    assert!(schema.is_valid(&report));
    let plant = |pointer: &str, value: Value| {
        let mut document = report.clone();
        *document.pointer_mut(pointer).unwrap() = value;
        document
    };
    let mut extra = report.clone();
    extra["surprise"] = true.into();
    let mut inner = report.clone();
    inner["facts"]["host"]["surprise"] = true.into();
    let mut less = report.clone();
    less.as_object_mut().unwrap().remove("gate");
    for (what, document) in [
        ("another ID", plant("/schema", "ascend-doctor/compat/2".into())),
        ("prose", plant("/coverage/0/name", "in one language".into())),
        ("a verdict", plant("/verdict", "maybe".into())),
        ("a number", plant("/summary/errors", (-1).into())),
        ("a member", extra),
        ("an inner member", inner),
        ("no gate", less),
    ] {
        assert!(!schema.is_valid(&document), "{what}");
    }
}

/// The problem matcher for `--format concise` matches the output of the program.
#[test]
fn the_problem_matcher_matches_concise_lines() {
    let text = include_str!("../../deploy/github/ascend-doctor-matcher.json");
    let matcher: Value = serde_json::from_str(text).unwrap();
    let pattern = &matcher["problemMatcher"][0]["pattern"][0];
    let regex = regex::Regex::new(pattern["regexp"].as_str().unwrap()).unwrap();
    let dir = tempfile::tempdir().unwrap();
    write(dir.path(), "a b.py", "import torch\nx = torch.cuda.cudart()\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
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
