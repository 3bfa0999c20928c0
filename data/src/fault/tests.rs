use super::*;
use crate::{fault_code, faults};
use base::text::placeholders;

/// An edited sentence needs no new code, but a new error or value does: `cargo xtask faults`.
#[test]
fn generated_code_is_current() {
    let new = fault_code::generate(include_str!("../../faults.toml")).unwrap();
    assert!(
        new == include_str!("../faults.rs"),
        "data/src/faults.rs is stale: run `cargo xtask faults`"
    );
}

#[test]
fn generator_reads_placeholders_as_sentences_are_filled() {
    for text in
        include_str!("../../faults.toml").lines().chain(["{n:file|files} {} {A} {a{b} {x_1}"])
    {
        let found: std::collections::BTreeSet<&str> =
            fault_code::placeholders(text).into_keys().collect();
        assert_eq!(found, placeholders(text), "{text}");
    }
}

#[test]
fn missing_translations_are_refused() {
    let error = fault_code::generate("[fault.a]\nen = \"A\"").unwrap_err();
    assert_eq!(error, "data/faults.toml: `a` has no `zh`");
    let error = fault_code::generate("[fault.a]\nen = \"{n}\"\nzh = \"{m}\"").unwrap_err();
    assert!(error.contains("only one language has"), "{error}");
}

#[test]
fn chinese_is_chinese() {
    for (key, words) in &TABLE.fault {
        let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        let quoted =
            ["file_line", "file_because", "path_because", "plain", "with_hint"].contains(key);
        assert!(quoted || chinese(words.zh), "{key}");
        assert!(!chinese(words.en), "{key}");
    }
}

#[test]
fn causes_are_told_once_and_in_both_languages() {
    let cause = io::Error::from_raw_os_error(28);
    let fault = faults::CannotWrite { path: "x" }.fault().because(cause);
    assert_eq!(fault.value().en, "cannot write `x`: No space left on device (os error 28)");
    assert_eq!(fault.value().zh, "无法写入 `x`：磁盘空间不足 (os error 28)");
    let why = io::Error::other(faults::NotText.fault());
    let outer = faults::CannotReadBecause { path: "y", why: &why }.fault().because(why);
    assert_eq!(outer.value().zh, "无法读取 `y`：不是文本");
}

#[test]
fn foreign_words_are_quotations() {
    let error = serde_json::from_str::<u8>("x").unwrap_err();
    assert_eq!(error.value().en, error.to_string());
    assert_eq!(error.value().zh, "第 1 行第 1 列：“expected value”");
    assert_eq!(
        serde_json::from_str::<u8>("").unwrap_err().value().zh,
        "第 1 行第 0 列：内容提前结束（“EOF while parsing a value”）"
    );
    assert_eq!(io::Error::from_raw_os_error(71).value().zh, "“Protocol error (os error 71)”");
}
