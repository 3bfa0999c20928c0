//! Malicious reports: an author of one must not deceive the users who merge it.

use serde_json::json;

use super::site::{fed, found, merge, now, put, reports, run, title, written};

const FORMATS: [&str; 8] =
    ["text", "json", "junit", "sarif", "markdown", "html", "openmetrics", "line"];

#[test]
fn control_characters_and_markup_stay_harmless() {
    let evil = "n\u{1b}[2Jx<script>alert(1)</script>\"} 1\n# EOF\u{202e}|`";
    let all = reports(3, |number, report| {
        if number == 2 {
            report["host"]["name"] = json!(evil);
            report["fingerprint"]["cann"] = json!(evil);
            report["findings"] = json!([{ "id": evil, "message": evil, "severity": "error",
                "title": { "en": evil, "zh": evil },
                "fix": [{ "text": { "en": evil, "zh": evil }, "run": evil }] }]);
        }
    });
    let (dir, path) = written(&[]);
    for (number, report) in all.iter().enumerate() {
        put(&path, &format!("file{number}"), report);
    }
    for format in FORMATS {
        let (code, text, _) =
            run(&["fleet", "merge", path.to_str().unwrap(), "--format", format, "-v"]);
        assert_eq!(code, 1, "{format}");
        let bad = |c: char| matches!(c, '\u{1b}' | '\u{202e}');
        assert!(!text.contains(bad), "{format}: {text}");
        assert!(!(format == "html" && text.contains("<script")), "{text}");
    }
    drop(dir);
}

#[test]
fn huge_values_are_cut() {
    let all = reports(2, |number, report| {
        if number == 2 {
            report["fingerprint"]["cann"] = json!("长".repeat(2_000_000));
            let finding = |n: u32| {
                json!({ "id": "DEV-ACCESS", "message": format!("m{n}"), "severity": "info",
                        "title": { "en": format!("{n}").repeat(3000), "zh": "" } })
            };
            report["findings"] = (0..2000).map(finding).collect();
        }
    });
    let (code, merged) = merge(&all, &[]);
    assert!(merged.to_string().len() < 8_000_000, "{}", merged.to_string().len());
    // Omitted reports are listed and leave their link open; a host with another CANN fails anyway.
    assert_eq!(code, 1);
    let links = merged["coverage"].as_array().unwrap();
    let state = |id: &str| links.iter().find(|link| link["id"] == id).unwrap()["state"].clone();
    assert_eq!((state("reports"), state("alike")), (json!("not_examined"), json!("contradicted")));
    assert!(found(&merged).contains(&"FLEET-READ/cut".to_owned()));
}

#[test]
fn a_document_without_end_is_given_up() {
    let mut input = b"{\"schema\":\"ascend-doctor/check/1\",\"x\":\"".to_vec();
    input.resize(40 << 20, b'x');
    let (code, text, _) = fed(&["fleet", "merge", "--json", "-"], &input);
    assert_eq!(code, 3);
    assert!(text.contains("FLEET-READ"));
    let deep = "{\"a\":".repeat(100_000);
    assert_eq!(fed(&["fleet", "merge", "-"], deep.as_bytes()).0, 3);
}

#[test]
fn machines_with_one_name() {
    let (_dir, path) = written(&reports(3, |_, _| ()));
    let mut other = reports(2, |_, _| ()).remove(1);
    other["host"]["machine"] = json!("f".repeat(16));
    other["host"]["boot"] = json!("e".repeat(16));
    put(&path, "second", &other);
    let (code, text, _) = run(&["fleet", "merge", "--json", path.to_str().unwrap()]);
    let merged = serde_json::from_str(&text).unwrap();
    assert_eq!((code, found(&merged)), (0, vec!["FLEET-NAME/double".to_owned()]));
    assert!(title(&merged, "FLEET-NAME").contains("node002"));
}

#[test]
fn clocks_from_the_future_and_the_past() {
    let all = reports(8, |number, report| match number {
        2 => report["taken"] = json!(now() + 86_400),
        5 => report["taken"] = json!(now() - 3_600),
        6 => report["taken"] = json!(i64::MAX),
        7 => report["taken"] = json!(i64::MIN),
        _ => {}
    });
    let (code, merged) = merge(&all, &[]);
    assert_eq!(found(&merged), ["FLEET-CLOCK/ahead", "FLEET-CLOCK/behind"]);
    assert_eq!(code, 0);
    assert!(merged.to_string().contains("behind by up to"));
    // Reports with old times are no evidence about clocks.
    let old =
        reports(6, |number, report| report["taken"] = json!(now() - 1000 * i64::from(number)));
    assert_eq!(found(&merge(&old, &[]).1), [""; 0]);
}

#[test]
fn lists_of_hosts_without_end() {
    let dir = tempfile::tempdir().unwrap();
    let hosts = dir.path().join("hosts");
    for text in ["n[0-999999999]", "n[0-9999][0-9999]", "n[1-", "\u{0}", "[]"] {
        std::fs::write(&hosts, text).unwrap();
        let code = run(&["fleet", "merge", "-", "--expect", hosts.to_str().unwrap()]).0;
        assert!([2, 3].contains(&code), "{text:?}: {code}");
    }
}

/// A file named as a report that is not one is reported; a pipe without a writer does not block.
#[test]
fn pipes_and_links_that_lead_nowhere() {
    let (_dir, path) = written(&reports(2, |_, _| ()));
    std::os::unix::fs::symlink("gone.json", path.join("node003.json")).unwrap();
    std::os::unix::fs::symlink("node001.json", path.join("latest.json")).unwrap();
    let pipe = path.join("node004.json");
    assert!(std::process::Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let (code, text, _) = run(&["fleet", "merge", "--json", path.to_str().unwrap()]);
    let merged: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, found(&merged)), (3, vec!["FLEET-READ/unreadable".to_owned()]));
    assert_eq!(merged["fleet"]["hosts"], 2);
    assert_eq!(merged["notes"], json!([]), "a second name of a report is no second report");
    let unread = merged["fleet"]["unreadable"].as_array().unwrap();
    let why = |host: &str| {
        let one = unread.iter().find(|one| one["source"] == host);
        one.map(|one| one["why"]["en"].as_str().unwrap().to_owned()).unwrap_or_default()
    };
    assert!(why("node003").contains("broken symbolic link to `gone.json`"), "{unread:?}");
    assert!(why("node004").contains("pipe"), "{unread:?}");
    assert_eq!(unread.len(), 2);
    let (_, text, _) = run(&["fleet", "merge", "--lang", "zh", path.to_str().unwrap()]);
    assert!(text.contains("不是普通文件，而是管道"), "{text}");
}
