use base::report::CheckState;
use base::text::Text;
use serde_json::Value;

use super::*;
use crate::paint::Paint;
use crate::{Format, render as render_as, sample};

fn style(lang: Lang) -> Style {
    Style { lang, paint: Paint::new(false), width: 80, verbose: false, quiet: false }
}

fn json(report: &Report) -> Value {
    let mut out = Vec::new();
    render_as(report, Format::Json, style(Lang::En), &mut out).unwrap();
    serde_json::from_slice(&out).unwrap()
}

fn sample() -> Report {
    let mut report = sample::rich();
    let versions = serde_json::json!({
        "chip": "910b", "driver": "25.2.0", "firmware": "7.7", "cann": "8.2.RC1", "torch": "2.6.0",
        "torch_npu": "2.6.0"
    });
    report.extra.insert("fingerprint".to_owned(), versions);
    let area = serde_json::json!({"id": "dev", "title": {"en": "Devices", "zh": "设备"}});
    let row = |hosts: &str, count: u32, result: &str, cell: &str| serde_json::json!({"hosts": [hosts], "count": count, "result": result, "cells": [cell]});
    let rows = [row("n4", 1, "fail", "fail"), row("n[1-3]", 3, "pass", "pass")];
    let matrix = serde_json::json!({"areas": [area], "rows": rows, "more_hosts": 7});
    report.extra.insert("fleet".to_owned(), serde_json::json!({"matrix": matrix}));
    let at = |time: &str, offset_ms: i64| serde_json::json!({"time": time, "offset_ms": offset_ms});
    let ranks = serde_json::json!([
        {"rank": 3, "state": "failed", "first_line": at("10:00", 0), "last_line": at("10:09", 540),
            "first_failure": {"at": at("10:05", 300), "cause": "a.b", "file": "rank3.log",
            "title": {"en": "kernel died", "zh": "核函数异常"}}},
        {"rank": 0, "state": "no_failure", "last_line": at("10:04", 240)},
        {"rank": 7, "state": "no_log"},
    ]);
    let timeline = serde_json::json!({"timeline": {"ranks": ranks, "more_ranks": 2}});
    report.extra.insert("diagnosis".to_owned(), timeline);
    report
}

fn shown(documents: &[(String, Document)]) -> String {
    let mut out = Vec::new();
    write_page(documents, Lang::En, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

fn parsed(value: &Value) -> Document {
    read(value.to_string().as_bytes()).unwrap()
}

/// A run and `report`, reading the JSON of the run, write the same page.
#[test]
fn the_json_report_makes_the_same_page() {
    let mut report = sample();
    report.ended = Some(1_795_392_000);
    let mut direct = Vec::new();
    render(&report, style(Lang::En), None, &mut direct).unwrap();
    let direct = String::from_utf8(direct).unwrap();
    let later = shown(&[("check.json".to_owned(), parsed(&json(&report)))]);
    assert!(direct.contains("<time datetime=\"2026-11-23T00:00:00Z\">"));
    let name = "<p class=\"source\">check.json</p>\n";
    assert!(later.contains(name));
    let (later, direct) = (later.replace(name, ""), direct);
    // Blank lines are invisible to a reader.
    let lines = |page: &str| -> Vec<String> {
        page.lines().filter(|line| !line.trim().is_empty()).map(str::to_owned).collect()
    };
    assert_eq!(lines(&later), lines(&direct));
}

const PLANT: &str = "</style></script><img src=x onerror=alert(1)><script>x</script>'\"&";

/// Lists the places of all strings in a report.
fn places(value: &Value, at: &str, out: &mut Vec<String>) {
    match value {
        Value::Object(map) => map.iter().for_each(|(key, inner)| {
            places(inner, &format!("{at}/{}", key.replace('~', "~0").replace('/', "~1")), out);
        }),
        Value::Array(list) => list
            .iter()
            .enumerate()
            .for_each(|(index, inner)| places(inner, &format!("{at}/{index}"), out)),
        Value::String(_) => out.push(at.to_owned()),
        _ => {}
    }
}

/// The names of the tags on a page, in order.
fn tags(page: &str) -> Vec<String> {
    let parts = page.split('<').skip(1);
    parts.map(|part| part.split([' ', '>', '\n']).next().unwrap_or_default().to_owned()).collect()
}

#[test]
fn markup_planted_in_any_string_stays_text() {
    let items = serde_json::json!({
        "schema": "ascend-doctor/codes/1",
        "items": [
            {"kind": "code", "asked": "507035", "meanings": [{
                "family": {"id": "acl_rt", "title": {"en": "t", "zh": "标"}, "says": {"en": "s", "zh": "说"}},
                "code": {"code": "507035", "symbol": "S", "message": {"en": "m", "zh": "信"}, "source": "f.h"},
                "cause": {"id": "a.b", "title": {"en": "t", "zh": "标"}, "text": {"en": "x", "zh": "文"},
                    "steps": [{"text": {"en": "do", "zh": "做"}, "run": "ls"}], "sources": ["thread"]}
            }]},
            {"kind": "unknown", "asked": "1", "similar": ["2"]},
            {"kind": "row", "family": "acl_rt", "code": {"code": "5", "symbol": "T"}}
        ]
    });
    let mut tried = 0;
    for whole in [json(&sample()), items] {
        let clean = tags(&shown(&[("a".to_owned(), parsed(&whole))]));
        let mut all = Vec::new();
        places(&whole, "", &mut all);
        for at in all {
            let mut planted = whole.clone();
            *planted.pointer_mut(&at).unwrap() = Value::String(PLANT.to_owned());
            // In some members, not every string is valid.
            let Ok(document) = read(planted.to_string().as_bytes()) else { continue };
            let page = shown(&[(PLANT.to_owned(), document.clone()), ("b".to_owned(), document)]);
            for bad in ["<img", "<script", "</script", "onerror=alert(1)>"] {
                assert!(!page.contains(bad), "{at}: {bad}");
            }
            assert_eq!(page.matches("</style>").count(), 1, "{at}");
            tried += 1;
        }
        // If both languages are equal, the text is shown once.
        assert!(!clean.is_empty());
    }
    assert!(tried > 60, "only {tried} strings were tried");
}

#[test]
fn a_page_needs_nothing_from_elsewhere() {
    let page = shown(&[("a".to_owned(), Document::from(&sample()))]);
    assert!(page.contains("Content-Security-Policy"));
    for outside in ["src=", "@import", "url(", "<script", "<link", "<base", "javascript:"] {
        assert!(!page.contains(outside), "{outside}");
    }
    // Sources are named without links.
    assert!(page.split("href=").skip(1).all(|link| link.starts_with("\"#")));
}

#[test]
fn every_element_that_is_opened_is_closed() {
    let page = shown(&[
        ("a".to_owned(), Document::from(&sample())),
        ("b".to_owned(), Document::from(&sample())),
    ]);
    let mut open: Vec<String> = Vec::new();
    for tag in tags(&page) {
        let lone = ["!DOCTYPE", "meta", "input", "line", "circle", "wbr"];
        match tag.strip_prefix('/') {
            Some(name) => assert_eq!(open.pop().as_deref(), Some(name), "{open:?}"),
            None if lone.contains(&tag.as_str()) => {}
            None => open.push(tag),
        }
    }
    assert!(open.is_empty(), "{open:?}");
}

#[test]
fn a_pair_shows_what_its_rules_say() {
    let mut document = Document::from(&sample());
    let check = |id: &str, state| document::Check {
        id: id.to_owned(),
        name: Text::same(id),
        state,
        reason: None,
    };
    document.checks = vec![
        check("TNPU-MATRIX", CheckState::Found),
        check("TNPU-SYMBOLS", CheckState::Passed),
        check("TORCH-VERSION", CheckState::Passed),
        check("DRV-CANN", CheckState::NotChecked),
    ];
    let state =
        |document: &Document, ids: &'static [&str]| document.state_of(|id| ids.contains(&id));
    assert_eq!(state(&document, &["TORCH-VERSION", "TNPU-ABI"]), State::Good);
    assert_eq!(state(&document, &["DRV-CANN"]), State::Unknown);
    let mut folded = base::report::Finding::remark("TNPU-MATRIX");
    folded.severity = base::report::Severity::Error;
    document.findings[0].consequences.push(folded);
    assert_eq!(state(&document, &["TNPU-MATRIX", "TNPU-SYMBOLS"]), State::Error);
    assert_eq!(state(&document, &["PY-DUP"]), State::Nothing);
}

#[test]
fn what_is_no_report_is_named() {
    let error = |text: &str| read(text.as_bytes()).unwrap_err().to_string();
    assert!(error("x").contains("not JSON"));
    assert!(error("{}").contains("not an ascend-doctor"));
    assert!(error("[1]").contains("not an ascend-doctor"));
    assert!(error("{\"schema\":\"ascend-doctor/facts/1\"}").contains("check --facts"));
    assert!(error("{\"schema\":\"ascend-doctor/check/3\",\"findings\":[]}").contains("check/3"));
    assert!(error("{\"schema\":\"ascend-doctor/check/1\"}").contains("not an ascend-doctor"));
    let broken = "{\"schema\":\"ascend-doctor/check/1\",\"command\":\"check\",\"findings\":[1]}";
    assert!(error(broken).contains("not an ascend-doctor"));
    let (open, close) = ("[".repeat(5000), "]".repeat(5000));
    assert!(error(&format!("{{\"schema\":{open}1{close}}}")).contains("not an ascend-doctor"));
    let one = "{\"id\":\"A\",\"message\":\"\",\"severity\":\"info\",\"title\":{\"en\":\"\",\"zh\":\"\"},\
        \"cause\":{\"en\":\"\",\"zh\":\"\"},\"fix\":[],\"evidence\":[],\"refs\":[],\"consequences\":[";
    let deep = format!(
        "{{\"schema\":\"ascend-doctor/check/1\",\"command\":\"check\",\"findings\":[{}{}]}}",
        one.repeat(5000),
        "]}".repeat(5000)
    );
    assert!(error(&deep).contains("recursion"), "{}", error(&deep));
}

/// Members that a page does not show are ignored, whatever their content.
#[test]
fn answers_of_the_first_version_are_read() {
    let document = parsed(&serde_json::json!({
        "schema": "ascend-doctor/translate-error/1",
        "items": [{ "kind": "code", "asked": "507035", "meanings": [{
            "family": {
                "id": "acl_rt", "title": { "en": "ACL", "zh": "ACL" },
                "says": { "en": "a call failed", "zh": "调用失败" },
            },
            "code": { "code": "507035", "message": "vector core exception", "zh": "向量核异常" },
            "cause": {
                "id": "aicore.kernel_exception", "title": { "en": "t", "zh": "t" },
                "text": { "en": "t", "zh": "t" },
                "steps": [{ "en": "Read the plog", "zh": "查看 plog", "run": "cat plog" }],
            },
        }] }],
    }));
    let finding = &document.findings[0];
    assert!(finding.title.en.contains("vector core exception"), "{:?}", finding.title);
    assert!(finding.title.zh.contains("向量核异常"), "{:?}", finding.title);
    assert_eq!(finding.fix[0].text.en, "Read the plog");
}

#[test]
fn other_members_are_not_kept() {
    let (open, close) = ("[".repeat(100_000), "]".repeat(100_000));
    let text = format!(
        "{{\"schema\":\"ascend-doctor/check/1\",\"command\":\"check\",\"findings\":[],\"x\":{open}{close}}}"
    );
    assert_eq!(read(text.as_bytes()).unwrap().command, "check");
}

#[test]
fn the_last_of_several_lines_is_the_report() {
    let report = json(&sample()).to_string();
    let lines = format!("{{\"schema\":\"ascend-doctor/verify-stage/1\"}}\n{report}\n\n");
    assert_eq!(read(lines.as_bytes()).unwrap().subject, "node-07");
}

fn page_of(report: &Report) -> String {
    shown(&[("a".to_owned(), Document::from(report))])
}

/// The text between two marks; the first one occurs once.
fn between<'a>(page: &'a str, from: &str, to: &str) -> &'a str {
    let (_, rest) = page.split_once(from).unwrap_or_else(|| panic!("no {from}"));
    assert!(!rest.contains(from), "{from} occurs twice");
    rest.split_once(to).unwrap().0
}

#[test]
fn the_part_at_fault_is_marked_and_no_other() {
    let mut report = sample();
    let mut finding = base::report::Finding::remark("TNPU-MATRIX");
    finding.message = "cann_too_old".to_owned();
    finding.severity = base::report::Severity::Error;
    let mut explained = base::report::Finding::remark("TNPU-SYMBOLS");
    explained.message = "own".to_owned();
    explained.severity = base::report::Severity::Error;
    finding.consequences.push(explained);
    report.findings = vec![finding];
    let page = page_of(&report);
    let part = between(&page, "<li class=\"part error\">", "</li>");
    assert!(part.starts_with("<b>CANN</b> <span class=\"version\">8.2.RC1</span>"), "{part}");
    assert!(part.contains("✗") && part.contains("<a href=\"#r0-f0\">TNPU-MATRIX</a>"), "{part}");
    assert_eq!(page.matches("id=\"r0-f0\"").count(), 1);
    assert_eq!(page.matches("<li class=\"part \">").count(), 4, "{page}");
    assert_eq!(page.matches("<li class=\"joint error\">").count(), 1);
}

#[test]
fn the_matrix_has_a_header_for_each_row_and_column() {
    let page = page_of(&sample());
    let table = between(&page, "<table class=\"matrix\">", "</table>");
    assert_eq!(table.matches("<th scope=\"col\">").count(), 3);
    assert_eq!(table.matches("<th scope=\"row\">").count(), 2);
    let row = between(table, "<th scope=\"row\">n4<wbr></th>", "</tr>");
    assert_eq!(row.matches("<td class=\"error\">").count(), 2);
    assert!(row.contains("✗") && row.contains("fail") && row.contains("失败"), "{row}");
    assert!(table.contains("n[1-3]<wbr> <span class=\"dim\">(3)</span>"), "{table}");
    assert!(page.contains("7 more hosts omitted"));
}

#[test]
fn the_timeline_is_a_table_with_bars() {
    let page = page_of(&sample());
    let table = between(&page, "<table class=\"timeline\">", "</table>");
    assert_eq!(table.matches("<th scope=\"row\">").count(), 3);
    let row = |rank: u32| between(table, &format!("<th scope=\"row\">{rank}</th>"), "</tr>");
    assert!(row(3).contains("10:05") && row(3).contains("kernel died") && row(3).contains("10:09"));
    assert!(row(3).contains("<circle class=\"failure\" cx=\"55%\""), "{}", row(3));
    assert!(row(0).contains("no failure in the log") && !row(0).contains("<circle"), "{}", row(0));
    assert!(row(7).contains("no log") && row(7).contains("<line class=\"silent\""), "{}", row(7));
}

#[test]
fn every_tile_has_a_title() {
    let mut document = Document::from(&sample());
    for check in &mut document.checks {
        check.name = Text::default();
    }
    let page = shown(&[("a".to_owned(), document)]);
    assert!(page.contains("<ul class=\"tiles\">"));
    assert!(!page.contains("<b></b>") && !page.contains("<h3></h3>"), "{page}");
}

#[test]
fn files_come_before_tables() {
    use base::report::{DiffLine, DiffNote, DiffRow, FileDiff, LinePart};
    let line = |number, text: &str, word| DiffLine {
        number,
        changed: true,
        parts: vec![LinePart::Same(text.to_owned()), word],
    };
    let note = DiffNote {
        rule: "CV0001".to_owned(),
        title: Text::new("`x` differs", "`x` 不同"),
        detail: Some("x<y".to_owned()),
        advice: None,
    };
    let files = || -> Box<dyn Iterator<Item = FileDiff>> {
        let old = line(3, "a.", LinePart::Removed("cuda<T>".to_owned()));
        let new = line(4, "a.", LinePart::Added("npu".to_owned()));
        Box::new(std::iter::once(FileDiff {
            path: "a<b>.py".to_owned(),
            counts: Text::same("1"),
            rows: vec![
                DiffRow::Lines { old: Some(old), new: Some(new) },
                DiffRow::Note(note.clone()),
                DiffRow::Gap,
                DiffRow::Lines {
                    old: None,
                    new: Some(line(9, "b", LinePart::Same(String::new()))),
                },
            ],
        }))
    };
    let mut report = sample();
    report.tables.push(base::report::Table {
        title: Text::same("Rules"),
        head: vec![Text::same("Rule")],
        rows: vec![vec![Text::same("CV0001")]],
    });
    let mut out = Vec::new();
    render(&report, style(Lang::En), Some(&files), &mut out).unwrap();
    let page = String::from_utf8(out).unwrap();
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("no {text} in {page}"));
    assert!(place("<table class=\"diff\">") < place("<table class=\"list\">"));
    assert!(page.contains("<td class=\"old\">a.<del>cuda&#60;T&#62;</del></td>"), "{page}");
    assert!(page.contains("<td class=\"new\">a.<ins>npu</ins></td>"));
    assert!(page.contains("<code>x&#60;y</code>") && page.contains("<code>x</code>"));
    assert!(page.contains("<td class=\"n\"></td><td></td>"), "a side without a line");
}

/// A heading is at most one level below the one before it.
#[test]
fn headings_are_in_order() {
    let page = page_of(&sample());
    let mut before = 0;
    for tag in tags(&page) {
        if let Some(level) = tag.strip_prefix('h').and_then(|level| level.parse::<u8>().ok()) {
            assert!(level <= before + 1, "h{level} after h{before}");
            before = level;
        }
    }
    assert_eq!(page.matches("<h1>").count(), 1);
}
