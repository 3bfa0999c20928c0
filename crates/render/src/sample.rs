//! A report that uses everything, and the required output of every format.

use super::{Format, Paint, Style, render};
use base::report::{
    CheckState, Coverage, Evidence, FailOn, Finding, FixStep, Report, RuleResult, Severity,
    fold_consequences,
};
use base::text::{Lang, Text};

fn finding(id: &str, severity: Severity, title: Text) -> Finding {
    Finding {
        id: id.to_owned(),
        message: "sample".to_owned(),
        severity,
        title,
        cause: Text::new("It matters because of this", "其影响如下"),
        fix: Vec::new(),
        evidence: Vec::new(),
        refs: vec!["https://example.org/thread".to_owned()],
        because: Vec::new(),
        consequences: Vec::new(),
        values: std::collections::BTreeMap::new(),
    }
}

fn result(id: &'static str, state: CheckState, reason: Option<Text>) -> RuleResult {
    let name = Text::new(format!("Rule {id}"), format!("规则 {id}"));
    RuleResult { reason, ..RuleResult::new(id, name, state) }
}

/// A goal with an open required link.
fn open_goal(reason: &Text, settle: &Text) -> base::report::Proof {
    let values = std::collections::BTreeMap::new();
    data::goals::prove("check", "node", values, |link| match link.id.as_str() {
        "driver" | "process" => {
            (Coverage::NotExamined { reason: reason.clone(), settle: settle.clone() }, None)
        }
        "cann" => (Coverage::contradicted("ONE-ENV"), None),
        "network" => (Coverage::NotApplicable { reason: reason.clone() }, None),
        _ => (Coverage::Shown, Some(reason.clone())),
    })
}

/// A report that uses every member of the model.
pub(super) fn rich() -> Report {
    let mut report = Report::new("check", "node-07");
    let mut env = finding(
        "ONE-ENV",
        Severity::Error,
        Text::new(
            "`/usr/local/Ascend/ascend-toolkit/set_env.sh` was not sourced in this environment, so that CANN cannot be found",
            "当前环境未执行 `/usr/local/Ascend/ascend-toolkit/set_env.sh`，因此找不到 CANN，后续加载动态库都会失败",
        ),
    );
    env.evidence = vec![
        Evidence::env("LD_LIBRARY_PATH").value("/usr/lib:/opt/lib"),
        Evidence::file("/usr/local/Ascend/ascend-toolkit/set_env.sh").line(12),
        Evidence::command("npu-smi info").value("DrvMngGetConsoleLogLevel failed"),
        Evidence::data("compat_matrix.toml torch_npu 2.6.0"),
        Evidence::option("--profile").value("train"),
        Evidence::file("/etc/profile"),
        Evidence::file("/root/.bashrc"),
    ];
    env.fix = vec![
        FixStep {
            text: Text::new("Source the script", "执行环境脚本"),
            run: Some("source /usr/local/Ascend/ascend-toolkit/set_env.sh".to_owned()),
        },
        FixStep {
            text: Text::new("Put the line into `~/.bashrc`", "写入 `~/.bashrc`"), run: None
        },
    ];
    let mut lib =
        finding("TWO-LIB", Severity::Error, Text::new("A library is missing", "缺少库文件"));
    lib.because = vec!["ONE-ENV"];
    let mut shm = finding(
        "ONE-SHM",
        Severity::Warning,
        Text::new("`/dev/shm` has 64 MiB", "`/dev/shm` 只有 64 MiB"),
    );
    shm.evidence = vec![Evidence::file("/dev/shm").value("67108864 bytes")];
    let mut new = finding(
        "TWO-NEW",
        Severity::Info,
        Text::new("torch_npu 9.9 is newer", "torch_npu 9.9 更新"),
    );
    new.cause = Text::default();
    report.findings = fold_consequences(vec![lib, new, shm, env]);
    report.results = vec![
        result("ONE-ENV", CheckState::Found, None),
        result("ONE-SHM", CheckState::Found, None),
        result("ONE-OK", CheckState::Passed, None),
        result("TWO-LIB", CheckState::Folded, None),
        result("TWO-NEW", CheckState::Found, None),
        result("TWO-HASH", CheckState::NotChecked, Some(Text::new("switched off", "已关闭"))),
        result("TWO-SUM", CheckState::NotChecked, Some(Text::new("switched off", "已关闭"))),
        result("TWO-MS", CheckState::NotApplicable, Some(Text::new("not installed", "未安装"))),
    ];
    report.overview = vec![
        (Text::new("driver", "驱动"), Text::same("25.2.0")),
        (Text::same("CANN"), Text::same("8.2.RC1")),
    ];
    report.notes = vec![Text::new("A remark about the next step.", "关于下一步的说明。")];
    report.tables = vec![base::report::Table {
        title: Text::new("Devices", "设备"),
        head: vec![Text::same("NPU"), Text::new("state", "状态")],
        rows: vec![vec![Text::same("0"), Text::new("well", "正常")]],
    }];
    report.provenance = vec![("compat_matrix.toml", Text::same("2026-08-01"))];
    report.proof = Some(open_goal(
        &Text::new("no permission to read X", "没有读取 X 的权限"),
        &Text::new("Run it as root", "以 root 用户运行"),
    ));
    report.sort();
    report
}

/// A report whose every text from the machine is hostile.
fn hostile() -> Report {
    let bad =
        "a\x1b[31m\u{9b}2J\u{202e}b\r\n|<script>&\"'`````</details>]]>\u{fffe}\u{7}\t\u{2028}";
    let mut report = Report::new("check", bad);
    let mut found = finding(
        "ONE-BAD",
        Severity::Error,
        Text::new(format!("`{bad}` is wrong"), format!("`{bad}` 错误")),
    );
    found.cause = Text::new(bad, bad);
    found.evidence = vec![
        Evidence::file(format!("/{bad}")).value(bad).line(0),
        Evidence::env(bad).value(bad),
        Evidence::file(bad),
    ];
    found.fix = vec![FixStep { text: Text::new(bad, bad), run: Some(bad.to_owned()) }];
    found.refs = vec![bad.to_owned()];
    report.findings = vec![found];
    report.results = vec![result("ONE-BAD", CheckState::NotChecked, Some(Text::new(bad, bad)))];
    report.overview = vec![(Text::same("x"), Text::same(bad))];
    report.notes = vec![Text::same(bad)];
    report.provenance = vec![("matrix", Text::same(bad))];
    report.proof = Some(open_goal(&Text::same(bad), &Text::same(bad)));
    report.unanswered = vec![Text::same(bad)];
    report
}

fn acts(c: char) -> bool {
    c != '\n' && base::text::acts_on_terminal(c)
}

fn style(lang: Lang) -> Style {
    Style { lang, paint: Paint::new(false), width: 80, verbose: false, quiet: false }
}

fn show(report: &Report, format: Format, style: Style) -> String {
    let mut out = Vec::new();
    render(report, format, style, &mut out).unwrap();
    String::from_utf8(out).unwrap()
}

#[test]
fn text() {
    insta::assert_snapshot!("text-en", show(&rich(), Format::Text, style(Lang::En)));
    insta::assert_snapshot!("text-zh", show(&rich(), Format::Text, style(Lang::Zh)));
    let verbose = Style { verbose: true, ..style(Lang::En) };
    insta::assert_snapshot!("text-verbose", show(&rich(), Format::Text, verbose));
    let quiet = Style { quiet: true, ..style(Lang::En) };
    insta::assert_snapshot!("text-quiet", show(&rich(), Format::Text, quiet));
}

#[test]
fn markdown() {
    insta::assert_snapshot!("markdown-en", show(&rich(), Format::Markdown, style(Lang::En)));
    insta::assert_snapshot!("markdown-zh", show(&rich(), Format::Markdown, style(Lang::Zh)));
}

#[test]
fn junit() {
    insta::assert_snapshot!("junit-en", show(&rich(), Format::Junit, style(Lang::En)));
}

#[test]
fn sarif() {
    insta::assert_snapshot!("sarif-en", show(&rich(), Format::Sarif, style(Lang::En)));
}

#[test]
fn json() {
    insta::assert_snapshot!("json", show(&rich(), Format::Json, style(Lang::En)));
}

#[test]
fn text_keeps_to_its_width() {
    use unicode_width::UnicodeWidthStr as _;
    for lang in [Lang::En, Lang::Zh] {
        for width in 50..=120 {
            let style = Style { width, ..style(lang) };
            for line in show(&rich(), Format::Text, style).lines() {
                // A command is not broken, so that it can be pasted; neither is a long word.
                let indent = line.len() - line.trim_start().len();
                let word =
                    line.split(' ').map(unicode_width::UnicodeWidthStr::width).max().unwrap_or(0);
                let fits = line.width() <= width || indent + 6 + word > width;
                assert!(fits || line.contains("$ "), "{} columns of {width}: {line}", line.width());
            }
        }
    }
}

#[test]
fn without_colour_there_is_no_escape_sequence_and_with_colour_only_ours() {
    assert!(!show(&rich(), Format::Text, style(Lang::En)).contains('\x1b'));
}

#[test]
fn the_fail_level_decides_what_junit_calls_a_failure() {
    let mut report = rich();
    let failures =
        |report: &Report| show(report, Format::Junit, style(Lang::En)).matches("<failure").count();
    assert_eq!(failures(&report), 1);
    report.gate.fail_on = FailOn::Warning;
    assert_eq!(failures(&report), 2);
    report.gate.fail_on = FailOn::Never;
    assert_eq!(failures(&report), 0);
}

#[test]
fn every_format_gives_the_same_bytes_twice() {
    let formats = <Format as clap::ValueEnum>::value_variants().iter();
    // Only values of `--query` are written as CSV.
    for format in formats.filter(|format| **format != Format::Csv) {
        let once = show(&rich(), *format, style(Lang::En));
        assert_eq!(once, show(&rich(), *format, style(Lang::En)), "{format:?}");
    }
}

#[test]
fn nothing_from_the_machine_acts_on_a_terminal_or_a_page() {
    for lang in [Lang::En, Lang::Zh] {
        for verbose in [false, true] {
            let style = Style { verbose, ..style(lang) };
            for format in [Format::Text, Format::Markdown, Format::Junit] {
                let shown = show(&hostile(), format, style);
                let bad: Vec<char> = shown.chars().filter(|&c| acts(c)).collect();
                assert!(bad.is_empty(), "{format:?}: {bad:?} in {shown}");
            }
        }
    }
    let markdown = show(&hostile(), Format::Markdown, style(Lang::En));
    let mut fence: Option<String> = None;
    for line in markdown.lines() {
        let ticks: String = line.trim_start().chars().take_while(|&c| c == '`').collect();
        match &fence {
            Some(open) if line.trim() == open => fence = None,
            Some(_) => {}
            None if ticks.len() >= 3 && !line.trim_start()[ticks.len()..].contains('`') => {
                fence = Some(ticks);
            }
            None => {
                let outside: String = code_spans_removed(line);
                assert!(!outside.contains("<script"), "{line}");
                assert!(!outside.contains("</details>") || line == "</details>", "{line}");
            }
        }
    }
    assert_eq!(fence, None, "a fence is open at the end");
}

/// A line without its code spans, as parsed by a Markdown reader.
fn code_spans_removed(line: &str) -> String {
    let mut out = String::new();
    let mut rest = line;
    while let Some(at) = rest.find('`') {
        if rest[..at].ends_with('\\') {
            out.push_str(&rest[..=at]);
            rest = &rest[at + 1..];
            continue;
        }
        out.push_str(&rest[..at]);
        let run = rest[at..].chars().take_while(|&c| c == '`').count();
        let fence = "`".repeat(run);
        let after = &rest[at + run..];
        let close = after
            .match_indices(&fence)
            .find(|(at, _)| !after[..*at].ends_with('`') && !after[at + run..].starts_with('`'));
        if let Some((at, _)) = close {
            rest = &after[at + run..];
        } else {
            out.push_str(&fence);
            rest = after;
        }
    }
    out + rest
}

#[test]
fn machine_formats_of_hostile_text_parse() {
    for format in [Format::Json, Format::Sarif] {
        let shown = show(&hostile(), format, style(Lang::En));
        let parsed: serde_json::Value = serde_json::from_str(&shown).unwrap();
        assert!(parsed.is_object());
        let bad: Vec<char> = shown.chars().filter(|&c| acts(c)).collect();
        assert!(bad.is_empty(), "{format:?}: {bad:?}");
    }
}

fn schema() -> jsonschema::Validator {
    let schema = include_str!("../../../docs/schema/report-2.schema.json");
    jsonschema::validator_for(&serde_json::from_str(schema).unwrap()).unwrap()
}

#[test]
fn json_keeps_to_its_schema() {
    let schema = schema();
    for report in [rich(), hostile(), Report::new("check", "")] {
        let json: serde_json::Value =
            serde_json::from_str(&show(&report, Format::Json, style(Lang::En))).unwrap();
        let errors: Vec<String> = schema
            .iter_errors(&json)
            .map(|error| format!("{} at {}", error, error.instance_path()))
            .collect();
        assert!(errors.is_empty(), "{errors:#?}");
    }
}

/// The schema is useful only if it rejects invalid reports: every removed member, and every member
/// with another type, must be detected.
#[test]
fn the_schema_refuses_mutated_reports() {
    use serde_json::Value;
    fn pointers(value: &Value, at: &str, out: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, inner) in map {
                    let path = format!("{at}/{key}");
                    pointers(inner, &path, out);
                    out.push(path);
                }
            }
            Value::Array(list) => {
                for (index, inner) in list.iter().enumerate() {
                    pointers(inner, &format!("{at}/{index}"), out);
                }
            }
            _ => {}
        }
    }
    let schema = schema();
    let json: Value = serde_json::from_str(&show(&rich(), Format::Json, style(Lang::En))).unwrap();
    let mut paths = Vec::new();
    pointers(&json, "", &mut paths);
    assert!(paths.len() > 100, "the sample is too poor: {}", paths.len());
    let optional =
        ["line", "value", "matched", "said", "run", "consequences", "reason", "note", "warnings"];
    for path in &paths {
        let mut wrong = json.clone();
        *wrong.pointer_mut(path).unwrap() = Value::Bool(true);
        assert!(!schema.is_valid(&wrong), "another type at {path} is accepted");

        let (parent, key) = path.rsplit_once('/').unwrap();
        if optional.contains(&key) {
            continue;
        }
        let mut wrong = json.clone();
        wrong.pointer_mut(parent).unwrap().as_object_mut().unwrap().remove(key);
        assert!(!schema.is_valid(&wrong), "the absence of {path} is accepted");
    }
}

/// The members that SARIF 2.1.0 requires, and those that readers of it rely on.
#[test]
fn sarif_has_what_the_standard_requires() {
    let sarif: serde_json::Value =
        serde_json::from_str(&show(&rich(), Format::Sarif, style(Lang::En))).unwrap();
    assert_eq!(sarif["version"], "2.1.0");
    let run = &sarif["runs"][0];
    let rules = run["tool"]["driver"]["rules"].as_array().unwrap();
    assert_eq!(run["tool"]["driver"]["name"], "ascend-doctor");
    assert_eq!(run["invocations"][0]["executionSuccessful"], true);
    assert_eq!(run["invocations"][0]["exitCode"], 1);
    let results = run["results"].as_array().unwrap();
    assert_eq!(results.len(), 3, "consequences are no results of their own");
    for result in results {
        let rule = &rules[usize::try_from(result["ruleIndex"].as_u64().unwrap()).unwrap()];
        assert_eq!(rule["id"], result["ruleId"]);
        assert!(!result["message"]["text"].as_str().unwrap().is_empty());
        assert!(["error", "warning", "note"].contains(&result["level"].as_str().unwrap()));
        for location in result["locations"].as_array().unwrap() {
            let place = &location["physicalLocation"]["artifactLocation"];
            assert!(
                location["logicalLocations"].is_array()
                    || (place["uri"].as_str().is_some_and(|uri| !uri.starts_with('/'))
                        && place["uriBaseId"] == "ROOT")
            );
            let line = &location["physicalLocation"]["region"]["startLine"];
            assert!(line.is_null() || line.as_u64() >= Some(1));
        }
    }
    let base = run["originalUriBaseIds"]["ROOT"]["uri"].as_str().unwrap();
    assert!(base.ends_with('/'));
}

#[test]
fn sarif_rules_carry_the_words_of_the_catalogue() {
    let mut report = Report::new("check", "x");
    report.results = vec![result("SCAN-READ", CheckState::Passed, None)];
    let sarif: serde_json::Value =
        serde_json::from_str(&show(&report, Format::Sarif, style(Lang::Zh))).unwrap();
    let rule = &sarif["runs"][0]["tool"]["driver"]["rules"][0];
    let entry = data::Catalog::builtin().entry("SCAN-READ").unwrap();
    assert_eq!(rule["help"]["text"], entry.detects.zh);
    assert_eq!(rule["properties"]["why"]["en"], entry.why.en);
}

#[test]
fn two_results_never_share_a_fingerprint() {
    let mut report = rich();
    let twin = report.findings[0].clone();
    report.findings.push(twin);
    let sarif: serde_json::Value =
        serde_json::from_str(&show(&report, Format::Sarif, style(Lang::En))).unwrap();
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    let prints: std::collections::BTreeSet<String> =
        results.iter().map(|result| result["partialFingerprints"].to_string()).collect();
    assert_eq!(prints.len(), results.len());
}
