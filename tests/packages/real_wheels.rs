//! The report on published torch_npu wheels. `scripts/fetch_wheels.py DIR` fetches them; the
//! variable ASCEND_DOCTOR_WHEELS names that directory. It must contain at least one wheel.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    reason = "a test reads its own variables and trees, and may fail"
)]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use assert_cmd::Command;
use serde_json::Value;

/// Known properties of a wheel (measured with other tools: readelf, and Python's hashlib).
struct Wheel {
    name: &'static str,
    /// C++11 ABI: 0 or 1.
    abi: u64,
    glibc: &'static str,
    glibcxx: &'static str,
    /// Rows in the RECORD of the wheel.
    rows: u64,
    /// Whether METADATA contradicts RECORD, as in the published 2.6.0.
    metadata_defect: bool,
}

const WHEELS: &[Wheel] = &[
    Wheel {
        name: "2.6.0-cp310-x86_64",
        abi: 0,
        glibc: "2.17",
        glibcxx: "3.4.19",
        rows: 1533,
        metadata_defect: true,
    },
    Wheel {
        name: "2.6.0-cp310-aarch64",
        abi: 1,
        glibc: "2.28",
        glibcxx: "3.4.22",
        rows: 1533,
        metadata_defect: true,
    },
    Wheel {
        name: "2.9.0-cp311-x86_64",
        abi: 1,
        glibc: "2.28",
        glibcxx: "3.4.22",
        rows: 1574,
        metadata_defect: false,
    },
    Wheel {
        name: "2.9.0-cp311-aarch64",
        abi: 1,
        glibc: "2.28",
        glibcxx: "3.4.22",
        rows: 1574,
        metadata_defect: false,
    },
];

/// The CANN and NNAL libraries required by all four.
const CANN: &[&str] = &[
    "libacl_op_compiler.so",
    "libacl_tdt_channel.so",
    "libascend_protobuf.so",
    "libascendcl.so",
    "libatb.so",
    "libfmk_parser.so",
    "libge_runner.so",
    "libgraph.so",
    "libhccl.so",
];

fn check(root: &Path, args: &[&str]) -> (i32, Value) {
    let output = Command::cargo_bin("ascend-doctor")
        .unwrap()
        .arg("check")
        .arg("--sysroot")
        .arg(root)
        .args(args)
        .output()
        .unwrap();
    let value = serde_json::from_slice(&output.stdout).unwrap();
    (output.status.code().unwrap(), value)
}

/// The highest of versions such as `2.17`.
fn highest(versions: &[&str]) -> String {
    let numbers = |text: &str| -> Vec<u32> {
        text.split('.').map(|number| number.parse().unwrap_or(0)).collect()
    };
    versions.iter().max_by_key(|text| numbers(text)).map(|text| (*text).to_owned()).unwrap()
}

fn examine(wheel: &Wheel, root: &Path) {
    let only = ["--only", "TNPU-RECORD,TNPU-MANIFEST,TNPU-UNLISTED", "--format", "json"];
    let (code, report) = check(root, &only);
    assert_eq!(code, 0, "{}: {report:#}", wheel.name);
    let found: Vec<(&str, &str)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| (f["severity"].as_str().unwrap(), f["message"].as_str().unwrap()))
        .collect();
    let expected: &[_] = if wheel.metadata_defect { &[("info", "metadata")] } else { &[] };
    assert_eq!(found, expected, "{}", wheel.name);

    let (_, facts) = check(root, &["--facts-only"]);
    let package = &facts["integrity"]["packages"][0];
    // The installation adds INSTALLER and REQUESTED, and the script is in another directory.
    assert_eq!(package["rows"], wheel.rows + 2, "{}", wheel.name);
    assert_eq!(package["outside"], 1);
    assert_eq!(package["upstream"]["verdict"], "match");
    assert_eq!(package["upstream"]["record_matches"], true);

    let objects = facts["link"]["objects"].as_array().unwrap();
    let objects: Vec<&Value> = objects.iter().filter(|o| o["owner"] == "torch-npu").collect();
    assert!(objects.len() >= 8, "{}: {} libraries", wheel.name, objects.len());
    let mut needed = BTreeSet::new();
    let mut versions: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut abis = BTreeSet::new();
    for object in objects {
        assert!(object["defect"].is_null(), "{object:#}");
        assert!(wheel.name.ends_with(object["arch"].as_str().unwrap()));
        needed.extend(object["needed"].as_array().unwrap().iter().filter_map(Value::as_str));
        abis.extend(object["cxx11_abi"].as_u64());
        for (family, version) in object["max_versions"].as_object().unwrap() {
            versions.entry(family).or_default().extend(version.as_str());
        }
    }
    assert_eq!(abis, BTreeSet::from([wheel.abi]), "{}", wheel.name);
    for library in CANN {
        assert!(needed.contains(library), "{} needs {library}", wheel.name);
    }
    assert_eq!(highest(&versions["GLIBC"]), wheel.glibc, "{}", wheel.name);
    assert_eq!(highest(&versions["GLIBCXX"]), wheel.glibcxx, "{}", wheel.name);
}

#[test]
fn published_wheels_are_what_they_are_known_to_be() {
    let dir = std::env::var_os("ASCEND_DOCTOR_WHEELS");
    let dir = dir.expect("ASCEND_DOCTOR_WHEELS does not name the directory of fetch_wheels.py");
    let dir = PathBuf::from(dir);
    let mut examined = 0;
    for wheel in WHEELS {
        let root = dir.join(wheel.name);
        if root.join(".process.json").exists() {
            examine(wheel, &root);
            examined += 1;
        }
    }
    assert!(examined > 0, "no wheel in {}", dir.display());
}
