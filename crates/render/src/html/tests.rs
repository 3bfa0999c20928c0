use base::text::escape_html;
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

#[test]
fn nothing_becomes_markup() {
    assert_eq!(escape_html("<b a='x' b=\"y\">&"), "&lt;b a=&#39;x&#39; b=&quot;y&quot;&gt;&amp;");
    assert_eq!(escape_html("\u{202e}x\x1b"), "\\u{202e}x\\x1b");
}

/// What a run shows at once is what `report` shows of its JSON.
#[test]
fn the_json_report_makes_the_same_page() {
    let report = sample();
    let mut direct = Vec::new();
    render(&report, style(Lang::En), None, &mut direct).unwrap();
    let direct = String::from_utf8(direct).unwrap();
    let later = shown(&[("check.json".to_owned(), parsed(&json(&report)))]);
    assert_eq!(later.replace("<p class=\"source\">check.json</p>\n", ""), direct);
}

const PLANT: &str = "</style></script><img src=x onerror=alert(1)><script>x</script>'\"&";

/// Puts the plant into a string of a report, found by its place.
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
            // Of some members not every string is a value.
            let Ok(document) = read(planted.to_string().as_bytes()) else { continue };
            let page = shown(&[(PLANT.to_owned(), document.clone()), ("b".to_owned(), document)]);
            for bad in ["<img", "<script", "</script", "onerror=alert(1)>"] {
                assert!(!page.contains(bad), "{at}: {bad}");
            }
            assert_eq!(page.matches("</style>").count(), 1, "{at}");
            tried += 1;
        }
        // Where both languages are the same there is no need for two.
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
    // Sources are named; nothing leads to them.
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
        let lone = ["!DOCTYPE", "meta", "input", "line", "circle", "rect"];
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
    assert!(error("x").contains("no JSON"));
    assert!(error("{}").contains("no report"));
    assert!(error("[1]").contains("no report"));
    assert!(error("{\"schema\":\"ascend-doctor/facts/1\"}").contains("check --facts"));
    assert!(error("{\"schema\":\"ascend-doctor/check/3\",\"findings\":[]}").contains("check/3"));
    assert!(error("{\"schema\":\"ascend-doctor/check/1\"}").contains("no report"));
    let broken = "{\"schema\":\"ascend-doctor/check/1\",\"command\":\"check\",\"findings\":[1]}";
    assert!(error(broken).contains("no report"));
    let (open, close) = ("[".repeat(5000), "]".repeat(5000));
    assert!(error(&format!("{{\"schema\":{open}1{close}}}")).contains("no report"));
    let one = "{\"id\":\"A\",\"message\":\"\",\"severity\":\"info\",\"title\":{\"en\":\"\",\"zh\":\"\"},\
        \"cause\":{\"en\":\"\",\"zh\":\"\"},\"fix\":[],\"evidence\":[],\"refs\":[],\"consequences\":[";
    let deep = format!(
        "{{\"schema\":\"ascend-doctor/check/1\",\"command\":\"check\",\"findings\":[{}{}]}}",
        one.repeat(5000),
        "]}".repeat(5000)
    );
    assert!(error(&deep).contains("recursion"), "{}", error(&deep));
}

/// What a page does not show is for programs: it is passed over, whatever it is.
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
