//! Graphs and lists, in every format of the report; files that are not models.

use serde_json::json;

use super::{export, json_of, text, zip};

#[test]
fn a_fallback_is_a_warning_and_what_cannot_run_an_error() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor", "torch.ops.aten.mode.default"]);
    let model = model.to_str().unwrap();
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", model]);
    assert_eq!(status, 0, "{shown}");
    assert!(shown.contains("warning[OPS-FALLBACK] `aten::mode` falls back"), "{shown}");
    assert!(shown.contains("/net.py:7") && !shown.contains("aten::add"), "{shown}");
    assert_eq!(text(&["--torch-npu", "2.9.0", "--fail-on", "fallback", model]).0, 1);
    assert_eq!(text(&["--torch-npu", "2.9.0", "--fail-on", "unsupported", model]).0, 0);
    let (status, report) = json_of(&["--torch-npu", "2.9.0", "--all-versions", model]);
    assert_eq!((status, report["target"]["table"]["match"].as_str()), (0, Some("wheel")));
    let operators = report["inputs"][0]["operators"].as_array().unwrap();
    assert_eq!(operators[0]["op"], "aten::mode");
    assert_eq!(
        (&operators[0]["class"], &operators[1]["class"]),
        (&json!("fallback"), &json!("native"))
    );
    assert_eq!(report["releases"]["aten::mode"], json!([]));
}

/// The result depends on the release: `isin` has a kernel since 6.0.rc3.
#[test]
fn the_answer_depends_on_the_release() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.isin.Tensor_Tensor"]);
    let model = model.to_str().unwrap();
    let class = |version: &str| {
        json_of(&["--torch-npu", version, model]).1["inputs"][0]["operators"][0]["class"].clone()
    };
    assert_eq!(class("2.1.0-6.0.rc1"), "fallback");
    assert_ne!(class("2.9.0"), "fallback");
    let (status, shown, _) = text(&["--torch-npu", "2.1.0-6.0.rc1", "--all-versions", model]);
    assert!(status == 0 && shown.contains("2.1.0: 6.0.rc3–"), "{shown}");
}

#[test]
fn bfloat16_is_an_error_on_chips_without_it() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor"]);
    let model = model.to_str().unwrap();
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", "--soc", "Ascend310P3", model]);
    assert!(status == 1 && shown.contains("OPS-DTYPE"), "{shown}");
    assert_eq!(text(&["--torch-npu", "2.9.0", "--soc", "Ascend910B3", model]).0, 0);
    let (status, _, error) = text(&["--soc", "H100", model]);
    assert!(status == 2 && error.contains("Ascend910B3"), "{error}");
}

#[test]
fn every_format_is_written() {
    let dir = tempfile::tempdir().unwrap();
    let model = export(dir.path(), &["torch.ops.aten.mode.default"]);
    for format in ["text", "json", "junit", "sarif", "markdown", "html"] {
        let (status, shown, error) =
            text(&["--format", format, "--torch-npu", "2.9.0", model.to_str().unwrap()]);
        assert_eq!(status, 0, "{format}: {error}");
        assert!(shown.contains("OPS-FALLBACK"), "{format}");
    }
    let (_, shown, _) = text(&["--lang", "zh", "--torch-npu", "2.9.0", model.to_str().unwrap()]);
    assert!(shown.contains("回退到 CPU"), "{shown}");
}

#[test]
fn what_is_no_model_is_told_and_nothing_is_unpickled() {
    let dir = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &[u8]| {
        let path = dir.path().join(name);
        std::fs::write(&path, content).unwrap();
        path.to_str().unwrap().to_owned()
    };
    let pickle = dir.path().join("pickle.pt");
    zip(&pickle, &[("m/data.pkl", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00id\x85R.")]);
    let pipe = dir.path().join("pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, rustix::fs::Mode::RUSR).unwrap();
    let cases = [
        (pickle.to_str().unwrap().to_owned(), "never unpickled"),
        (file("old.pt", b"\x80\x02\x8a\nl\xfc\x9cF\xf9 j\xa8P\x19.\x80\x02M"), "never unpickled"),
        (file("cut.pt2", b"PK\x03\x04\x00\x00"), "incomplete"),
        (file("empty", b""), "the file is empty"),
        (file("noise", &[0xff, 0xfe, 0xfd, 0x01].repeat(50)), "unknown format;"),
        (file("prose.txt", b"this is not a model\n"), "known formats: Python sources"),
        (
            file("ops.txt", b"aten::add\naten::mul\nrelu?\naten::mm\n"),
            "line 3 of the list is not an operator: `relu?`",
        ),
        (file("cut.json", b"{\"traceEvents\": [{\"name\""), "valid JSON"),
        ("/dev/null".to_owned(), "not a regular file"),
        (pipe.to_str().unwrap().to_owned(), "not a regular file"),
        (dir.path().join("gone").to_str().unwrap().to_owned(), "No such file"),
    ];
    for (path, why) in &cases {
        let (status, shown, error) = text(&["--torch-npu", "2.9.0", path]);
        assert!(status == 2 && shown.is_empty() && error.contains(why), "{path}: {status} {error}");
        assert!(!error.contains('\u{1b}'));
    }
    // Next to a readable one it is a finding, and the other is audited.
    let model = export(dir.path(), &["torch.ops.aten.add.Tensor"]);
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", &cases[0].0, model.to_str().unwrap()]);
    assert!(status == 1 && shown.contains("OPS-READ") && shown.contains("100 %"), "{shown}");
}

#[test]
fn names_of_hostile_files_stay_text() {
    let dir = tempfile::tempdir().unwrap();
    let model =
        export(dir.path(), &["torch.ops.aten.evil\u{1b}[31m.default", "torch.ops.evil.op.default"]);
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", model.to_str().unwrap()]);
    assert_eq!(status, 3, "nothing is known of its operators: {shown}");
    assert!(
        shown.contains("OPS-UNKNOWN") && shown.contains("evil::op") && !shown.contains('\u{1b}')
    );
}

/// Weights are skipped: a sparse archive of ten gigabytes takes no longer than a small one.
#[test]
fn the_weights_are_not_read() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("large.onnx");
    // ModelProto.graph with one node and an initializer of 10 GB of raw data.
    let node = [&[0x0a, 6, 0x22, 4][..], b"Relu"].concat();
    let data: u64 = 10 << 30;
    let varint = |mut value: u64| {
        let mut bytes = Vec::new();
        while value >= 0x80 {
            bytes.push(u8::try_from(value & 0x7f).unwrap() | 0x80);
            value >>= 7;
        }
        bytes.push(u8::try_from(value).unwrap());
        bytes
    };
    let raw = [vec![0x4a], varint(data)].concat();
    let tensor = [vec![0x2a], varint(raw.len() as u64 + data), raw].concat();
    let graph = node.len() as u64 + tensor.len() as u64 + data;
    let head = [vec![0x08, 0x09, 0x3a], varint(graph), node, tensor].concat();
    std::fs::write(&path, &head).unwrap();
    let file = std::fs::File::options().write(true).open(&path).unwrap();
    file.set_len(head.len() as u64 + data).unwrap();
    let (status, report) = json_of(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    assert_eq!((status, &report["inputs"][0]["operators"][0]["op"]), (0, &json!("onnx::Relu")));
}
