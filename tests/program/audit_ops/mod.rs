//! `audit-ops` from outside: models in, operators and exit statuses out.
//!
//! - `models`: graphs, lists, formats, files that are not models;
//! - `installed`: the torch_npu of the audit;
//! - `mixed`: directories, logs, tensors, limits of kernels;
//! - `not_fine`: inputs that must not pass, and repaired twins;
//! - `sources`: Python;
//! - `documented`: limits in the documents;
//! - `hostile`: damaged and hostile inputs;
//! - `unread`: files that this user may not read.
#![expect(clippy::unwrap_used, reason = "a test stops at the first surprise")]
#![expect(clippy::disallowed_methods, reason = "writes models")]

mod documented;
mod hostile;
mod installed;
mod linked;
mod mixed;
mod models;
mod not_fine;
mod sources;
mod unread;

use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Output;

use assert_cmd::Command;
use serde_json::{Value, json};

fn run(args: &[&str]) -> Output {
    let mut command = Command::cargo_bin("ascend-doctor").unwrap();
    command.env_clear().arg("audit-ops").args(args).output().unwrap()
}

fn text(args: &[&str]) -> (i32, String, String) {
    let output = run(args);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn json_of(args: &[&str]) -> (i32, Value) {
    let output = run(&[&["--format", "json"], args].concat());
    let report = serde_json::from_slice(&output.stdout).unwrap();
    // Every report that a test examines conforms to both schemas.
    for schema in [
        include_str!("../../../docs/schema/report-2.schema.json"),
        include_str!("../../../docs/schema/audit-ops-2.schema.json"),
    ] {
        let schema = jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap();
        let errors: Vec<String> =
            schema.iter_errors(&report).map(|e| format!("{e} at {}", e.instance_path())).collect();
        assert!(errors.is_empty(), "{args:?}: {errors:#?}");
    }
    (output.status.code().unwrap(), report)
}

fn zip(path: &Path, entries: &[(&str, &[u8])]) {
    let mut zip = zip::ZipWriter::new(std::fs::File::create(path).unwrap());
    for (name, content) in entries {
        zip.start_file(*name, zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(content).unwrap();
    }
    zip.finish().unwrap();
}

/// An exported program with these targets.
pub(crate) fn export(dir: &Path, targets: &[&str]) -> PathBuf {
    let nodes: Vec<Value> = targets
        .iter()
        .map(|target| {
            json!({"target": target, "inputs": [], "outputs": [], "metadata":
            {"stack_trace": "File \"/net.py\", line 7, in forward\n    x"}})
        })
        .collect();
    let program = json!({"graph_module": {"graph": {"inputs": [], "outputs": [], "nodes": nodes,
        "tensor_values": {"x": {"dtype": 13}}}}, "torch_version": "2.9.0"});
    let path = dir.join("model.pt2");
    zip(
        &path,
        &[
            ("model/data/weights/weight_0", &[0; 100]),
            ("model/models/model.json", program.to_string().as_bytes()),
            ("model/archive_format", b"pt2"),
        ],
    );
    path
}
