//! Files that this user may not read are not audited: each is reported once, and the result is
//! inconclusive.

use std::path::Path;

use serde_json::Value;

use crate::support::unprivileged::{Place, give, mode};

const SOURCE: &[u8] = b"import torch\ndef f(x):\n    return torch.add(x, x)\n";

fn write(path: &Path, content: &[u8]) {
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    std::fs::write(path, content).unwrap();
}

fn told(place: &Place, args: &[&str]) -> (i32, String, String) {
    let output =
        place.program().args(["audit-ops", "--torch-npu", "2.9.0"]).args(args).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

#[test]
fn what_may_not_be_read_leaves_no_verdict() {
    let place = Place::new();
    let work = place.work();
    write(&work.join("d/ok.py"), SOURCE);
    write(&work.join("d/bad.py"), SOURCE);
    write(&work.join("d/bad.pt"), b"PK\x03\x04");
    write(&work.join("d/closed/more.py"), SOURCE);
    give(&work);
    for closed in ["d/bad.py", "d/bad.pt", "d/closed"] {
        mode(&work.join(closed), 0);
    }
    let (status, shown, _) = told(&place, &["--format", "json", "d"]);
    mode(&work.join("d/closed"), 0o755);
    let report: Value = serde_json::from_str(&shown).unwrap();
    let mut unread: Vec<(&str, &str)> = report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["id"] == "OPS-READ")
        .map(|finding| {
            let place = finding["evidence"][0]["source"].as_str().unwrap_or_default();
            (place, finding["message"].as_str().unwrap())
        })
        .collect();
    unread.sort_unstable();
    assert_eq!(
        unread,
        [("d/bad.pt", "denied"), ("d/bad.py", "denied"), ("d/closed", "denied")],
        "{shown}"
    );
    assert_eq!((status, report["verdict"].as_str()), (3, Some("inconclusive")), "{shown}");
    // The line for a health check must not be a success.
    let (status, shown, _) = told(&place, &["--format", "line", "d"]);
    assert!(status == 3 && !shown.contains("OK"), "{shown}");
    // No message of the directory walker, and none about formats.
    mode(&work.join("d/closed"), 0);
    let (_, shown, _) = told(&place, &["d"]);
    mode(&work.join("d/closed"), 0o755);
    assert!(!shown.contains("IO error") && !shown.contains("of a type listed"), "{shown}");
}

#[test]
fn what_alone_is_named_and_closed_is_told_once() {
    let place = Place::new();
    let work = place.work();
    write(&work.join("d/bad.py"), SOURCE);
    give(&work);
    mode(&work.join("d/bad.py"), 0);
    for input in ["d", "d/bad.py"] {
        let (status, _, error) = told(&place, &[input]);
        assert_eq!(status, 2, "{error}");
        assert!(error.contains("cannot audit `d/bad.py`"), "{error}");
        assert_eq!(error.matches("Permission denied").count(), 1, "{error}");
    }
    mode(&work.join("d"), 0);
    let (status, _, error) = told(&place, &["d"]);
    mode(&work.join("d"), 0o755);
    assert!(status == 2 && error.contains("cannot audit `d`: Permission denied"), "{error}");
}
