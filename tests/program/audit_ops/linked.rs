//! A snapshot in the form of Hugging Face's cache: links to blobs next to it.

use std::os::unix::fs::symlink;
use std::path::Path;

use serde_json::{Value, json};

use super::json_of;

const SOURCE: &str = "import torch\ndef f(x):\n    return torch.abs(x)\n";

fn safetensors() -> Vec<u8> {
    let header = json!({"w": {"dtype": "BF16", "shape": [1], "data_offsets": [0, 2]}}).to_string();
    [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &[0, 0]].concat()
}

/// `models--me--x` below `cache`: files named by their hashes, and a snapshot that links to them.
fn snapshot(cache: &Path) -> String {
    let model = cache.join("models--me--x");
    let revision = model.join("snapshots/0123abc");
    std::fs::create_dir_all(&revision).unwrap();
    std::fs::create_dir_all(model.join("blobs")).unwrap();
    let config = json!({"model_type": "llama", "hidden_act": "silu"}).to_string();
    for (name, sum, content) in [
        ("config.json", "aa", config.as_bytes()),
        ("modeling_x.py", "bb", SOURCE.as_bytes()),
        ("model-00001-of-00002.safetensors", "cc", &safetensors()),
        ("model-00002-of-00002.safetensors", "dd", &safetensors()),
    ] {
        std::fs::write(model.join("blobs").join(sum), content).unwrap();
        symlink(format!("../../blobs/{sum}"), revision.join(name)).unwrap();
    }
    revision.display().to_string()
}

/// The formats of the inputs, and the number of counted tensors.
fn told(path: &str) -> (i32, Vec<String>, Value) {
    let (status, report) = json_of(&["--torch-npu", "2.9.0", path]);
    let inputs = report["inputs"].as_array().unwrap();
    let mut formats: Vec<String> =
        inputs.iter().map(|input| input["format"].as_str().unwrap().to_owned()).collect();
    formats.sort();
    let tensors = inputs.iter().find(|input| input["format"] == "safetensors");
    (status, formats, tensors.map_or(Value::Null, |input| input["dtypes"]["bfloat16"].clone()))
}

#[test]
fn what_links_of_a_snapshot_name_is_audited_once() {
    let cache = tempfile::tempdir().unwrap();
    let revision = snapshot(cache.path());
    let expected = ["config", "python", "safetensors"].map(str::to_owned).to_vec();
    let (status, formats, tensors) = told(&revision);
    assert_eq!((status, formats, tensors), (0, expected.clone(), json!(2)));
    // Links to audited files, to directories and to pipes add nothing.
    symlink("config.json", Path::new(&revision).join("again.json")).unwrap();
    symlink("modeling_x.py", Path::new(&revision).join("again.py")).unwrap();
    symlink("..", Path::new(&revision).join("up")).unwrap();
    symlink("/dev/zero", Path::new(&revision).join("endless.onnx")).unwrap();
    let (status, formats, tensors) = told(&revision);
    assert_eq!((status, formats, tensors), (0, expected.clone(), json!(2)));
    // The complete cache also contains the files themselves.
    let (status, formats, tensors) = told(cache.path().to_str().unwrap());
    assert_eq!((status, formats, tensors), (0, expected, json!(2)));
}

#[test]
fn a_part_of_a_model_that_is_not_there_leaves_no_verdict() {
    let cache = tempfile::tempdir().unwrap();
    let revision = snapshot(cache.path());
    std::fs::remove_file(cache.path().join("models--me--x/blobs/dd")).unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", &revision]);
    let findings = report["findings"].as_array().unwrap();
    let unread: Vec<_> = findings.iter().filter(|finding| finding["id"] == "OPS-READ").collect();
    assert_eq!(unread.len(), 1, "{report}");
    let place = unread[0]["evidence"][0]["source"].as_str().unwrap();
    assert!(place.ends_with("model-00002-of-00002.safetensors"), "{place}");
    assert_eq!(status, 3);
}

#[test]
fn a_source_that_is_not_there_leaves_no_verdict() {
    let cache = tempfile::tempdir().unwrap();
    let revision = snapshot(cache.path());
    symlink("../../blobs/none", Path::new(&revision).join("configuration_x.py")).unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", &revision]);
    assert_eq!(status, 3, "{report}");
    assert!(report["findings"].to_string().contains("configuration_x.py"), "{report}");
}

#[test]
fn a_link_to_a_source_that_is_left_out_is_read() {
    let dir = tempfile::tempdir().unwrap();
    let home = dir.path();
    std::fs::create_dir(home.join("build")).unwrap();
    std::fs::write(home.join(".gitignore"), "build/\n").unwrap();
    std::fs::write(home.join("build/model.py"), SOURCE).unwrap();
    std::fs::write(home.join("main.py"), SOURCE.replace("abs", "neg")).unwrap();
    symlink("build/model.py", home.join("model.py")).unwrap();
    symlink("main.py", home.join("again.py")).unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", home.to_str().unwrap()]);
    let uses = &report["inputs"][0];
    assert_eq!((status, &uses["files"]), (0, &2.into()), "{report}");
    assert!(uses["operators"].to_string().contains("aten::abs"), "{report}");
}
