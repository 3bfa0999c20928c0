//! Documents and lines in the forms of carriers.

use std::fmt::Write as _;

use serde_json::Value;

use super::site::{fed, fed_and_weighed, found, reports};

fn merge(input: &str) -> (i32, Value) {
    let (code, text, errors) = fed(&["fleet", "merge", "--json", "-"], input.as_bytes());
    (code, serde_json::from_str(&text).unwrap_or_else(|why| panic!("{why}: {text} {errors}")))
}

fn pretty(report: &Value) -> String {
    serde_json::to_string_pretty(report).unwrap()
}

#[test]
fn documents_and_lines() {
    let all = reports(5, |_, _| ());
    let after_each_other: String = all.iter().map(pretty).collect();
    let lines: String =
        all.iter().flat_map(|report| [report.to_string(), "\n".to_owned()]).collect();
    for input in [after_each_other, lines] {
        let (code, merged) = merge(&input);
        assert_eq!((code, found(&merged)), (0, Vec::new()));
        assert_eq!(merged["fleet"]["hosts"], 5);
    }
}

/// The mixed lines of hosts from `srun --label`, pdsh and clush, with long ones cut.
#[test]
fn lines_of_several_hosts_at_once() {
    let all = reports(3, |_, _| ());
    let texts: Vec<Vec<String>> =
        all.iter().map(|report| pretty(report).lines().map(str::to_owned).collect()).collect();
    let mut mixed = String::from("srun: job 7 queued and waiting for resources\n");
    for number in 0..texts.iter().map(Vec::len).max().unwrap() {
        for (host, lines) in texts.iter().enumerate() {
            let Some(line) = lines.get(number) else { continue };
            for part in line.as_bytes().chunks(40) {
                let part = String::from_utf8_lossy(part);
                writeln!(mixed, "n{host}: {part}").unwrap();
            }
        }
    }
    mixed.push_str("n3: bash: ascend-doctor: command not found\n");
    let (code, merged) = merge(&mixed);
    assert_eq!(merged["fleet"]["hosts"], 3, "{merged}");
    assert_eq!((code, found(&merged)), (3, vec!["FLEET-READ/unreadable".to_owned()]));
    assert_eq!(merged["fleet"]["unreadable"][0]["source"], "n3");
    let why = merged["fleet"]["unreadable"][0]["why"]["en"].as_str().unwrap();
    assert!(why.contains("command not found"), "{why}");
}

#[test]
fn what_breaks_off_costs_only_itself() {
    let all = reports(4, |_, _| ());
    let mut input = String::new();
    for (number, report) in all.iter().enumerate() {
        let text = pretty(report);
        let end = if number == 1 { text.len() / 3 } else { text.len() };
        writeln!(input, "{}", &text[..text.floor_char_boundary(end)]).unwrap();
    }
    let (code, merged) = merge(&input);
    assert_eq!(merged["fleet"]["hosts"], 3);
    assert_eq!((code, found(&merged)), (3, vec!["FLEET-READ/unreadable".to_owned()]));
}

#[test]
fn stages_of_verify_are_passed_over() {
    let report = r#"{"schema":"ascend-doctor/verify/1","subject":"n1","findings":[]}"#;
    let stage = r#"{"schema":"ascend-doctor/verify-stage/1","stage":"load"}"#;
    let (code, merged) = merge(&format!("{stage}\n{stage}\n{report}\n"));
    assert_eq!((code, &merged["fleet"]["hosts"]), (0, &Value::from(1)));
    // Without the report at the end, the run was interrupted.
    assert_eq!(merge(&format!("{stage}\n")).0, 3);
    let (code, merged) = merge(&format!("n1: {stage}\nn2: {report}\n"));
    assert_eq!((code, found(&merged).len()), (3, 1), "{merged}");
}

/// The stream of a failed run is mostly noise, which is counted and not stored.
#[test]
fn noise_takes_no_memory() {
    let lines = 1_500_000_u32;
    let mut noise = b"noise\n".repeat(lines as usize);
    // Invalid documents count as lines, on separate lines or on one.
    noise.extend_from_slice(&b"{}\n".repeat(200_000));
    noise.extend_from_slice(&b"{}".repeat(200_000));
    noise.extend_from_slice(b"\n");
    noise.extend_from_slice(reports(1, |_, _| ())[0].to_string().as_bytes());
    let ((code, text, _), peak) = fed_and_weighed(&["fleet", "merge", "--json", "-"], &noise);
    // Only the noise has 10 MB; each line of it used to take a hundred bytes.
    assert!(peak < 100 << 10, "{peak} KiB for {} bytes", noise.len());
    let merged: Value = serde_json::from_str(&text).unwrap();
    assert_eq!((code, &merged["fleet"]["hosts"]), (3, &Value::from(1)));
    let notes = merged["notes"].to_string();
    assert!(notes.contains(&format!("({lines})")) && notes.contains("noise"), "{notes}");
}
