//! `tests/fixtures/audit/`: inputs whose correct result is not "fine", and their repaired twins.

use std::path::Path;

use super::text;

#[test]
fn nothing_that_is_not_fine_passes_and_its_twin_does() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/audit");
    let table = std::fs::read_to_string(dir.join("cases.tsv")).unwrap();
    let status = |file: &str| {
        let path = dir.join(file);
        let path = path.to_str().unwrap();
        text(&["--torch-npu", "2.9.0", "--fail-on", "warning", path]).0
    };
    let mut wrong = Vec::new();
    let mut count = 0;
    for row in table.lines().filter(|line| !line.starts_with('#')) {
        let [file, twin, expected, _] =
            row.split('\t').collect::<Vec<_>>().try_into().expect("four columns");
        count += 1;
        if status(file) == 0 {
            wrong.push(format!("{file}: passes, expected {expected}"));
        }
        if twin != "-" && status(twin) != 0 {
            wrong.push(format!("{twin}: {}, expected 0", status(twin)));
        }
    }
    assert_eq!(count, 40);
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

/// One cause is one error: the opset, not each operator.
#[test]
fn a_new_opset_is_one_error() {
    let dir = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/audit");
    let path = dir.join("onnx_04_opset21_conv.onnx");
    let (status, shown, _) = text(&["--torch-npu", "2.9.0", path.to_str().unwrap()]);
    assert_eq!(status, 1);
    assert_eq!(shown.matches("error[").count(), 1, "{shown}");
    assert!(shown.contains("opset_version=18") && shown.contains("E16002"), "{shown}");
}
