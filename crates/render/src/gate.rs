//! The gate as text and as JSON: the rules that turn verdict and findings into the exit status.

use serde::Serialize;

use super::plain::labeled_sentence;
use base::report::{FailOn, Gate, GateSetting, OnInconclusive, Report};
use base::text::{Lang, Text, escape_line};
use data::ui;

/// The gate in JSON and SARIF.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(super) struct GateJson<'a> {
    fail_on: FailOn,
    on_inconclusive: OnInconclusive,
    exit_status: u8,
    settings: &'a [GateSetting],
}

impl<'a> From<&'a Report> for GateJson<'a> {
    fn from(report: &'a Report) -> Self {
        Self {
            fail_on: report.gate.fail_on,
            on_inconclusive: report.gate.on_inconclusive,
            exit_status: report.exit_status().code(),
            settings: &report.gate.settings,
        }
    }
}

/// The differences from a run without settings; `None` if there are none.
pub(super) fn describe(gate: &Gate) -> Option<Text> {
    if gate.is_default() {
        return None;
    }
    let mut parts = Vec::new();
    match gate.fail_on {
        FailOn::Error => {}
        FailOn::Warning => parts.push(ui::GATE_FAIL_ON_WARNING.text()),
        FailOn::Never => parts.push(ui::GATE_FAIL_ON_NEVER.text()),
    }
    match gate.on_inconclusive {
        OnInconclusive::Report => {}
        OnInconclusive::Fail => parts.push(ui::GATE_INCONCLUSIVE_FAIL.text()),
        OnInconclusive::Allow => parts.push(ui::GATE_INCONCLUSIVE_ALLOW.text()),
    }
    if !gate.settings.is_empty() {
        let list = |glue: &str| {
            let names: Vec<String> = gate.settings.iter().map(ToString::to_string).collect();
            escape_line(&names.join(glue)).into_owned()
        };
        let mut text = ui::GateSettings { settings: list(", ") }.text();
        text.zh = ui::GateSettings { settings: list("、") }.text().zh;
        parts.push(text);
    }
    let join = |lang, glue: &str| {
        let parts: Vec<&str> = parts.iter().map(|part| part.get(lang)).collect();
        labeled_sentence(ui::GATE.text().get(lang), &parts.join(glue), lang)
    };
    Some(Text::new(join(Lang::En, "; "), join(Lang::Zh, "；")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_deviations_are_named() {
        assert_eq!(describe(&Gate::default()), None);
        let gate = Gate {
            fail_on: FailOn::Never,
            on_inconclusive: OnInconclusive::Allow,
            families: std::collections::BTreeMap::new(),
            settings: vec![
                GateSetting::option("--fail-on", Some("never".to_owned())),
                GateSetting::setting("skip", "\u{1b}".to_owned(), "a.toml", Some(1)),
            ],
        };
        let text = describe(&gate).unwrap();
        assert!(text.en.starts_with("Gate: neither findings nor"), "{}", text.en);
        assert!(text.en.ends_with("set by --fail-on never, skip \\x1b (a.toml:1)"), "{}", text.en);
        assert!(text.zh.starts_with("门禁：问题和结论"), "{}", text.zh);
    }
}
