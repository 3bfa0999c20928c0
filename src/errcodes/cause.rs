//! What codes mean for the user and what to do: `data/errors/causes.toml`, written by hand.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use super::Family;
use crate::text::Text;

const TEXT: &str = include_str!("../../data/errors/causes.toml");

/// An explanation that several codes share.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Cause {
    /// A stable key.
    pub id: String,
    /// The codes, as `<family>:<code>`.
    #[serde(skip_serializing)]
    pub codes: Vec<String>,
    /// What it means.
    pub text: Text,
    /// Finding ids of `check` that look for the same thing on a machine.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub checks: Vec<String>,
    /// Where this is known from.
    pub sources: Vec<String>,
    /// What to do, in order.
    #[serde(rename(deserialize = "step"))]
    pub steps: Vec<Step>,
}

/// One thing to do.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// English.
    pub en: String,
    /// Chinese.
    pub zh: String,
    /// A command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    cause: Vec<Cause>,
}

static CAUSES: LazyLock<Vec<Cause>> = LazyLock::new(|| {
    let file: File = toml::from_str(TEXT).expect("the built-in causes are proved by a test");
    file.cause
});

static BY_CODE: LazyLock<BTreeMap<&'static str, &'static Cause>> = LazyLock::new(|| {
    CAUSES
        .iter()
        .flat_map(|cause| cause.codes.iter().map(move |code| (code.as_str(), cause)))
        .collect()
});

/// All explanations.
pub fn causes() -> &'static [Cause] {
    &CAUSES
}

/// The explanation of a code. The file is parsed only if it speaks of the code.
pub(super) fn of(family: &Family, code: &str) -> Option<&'static Cause> {
    let key = format!("{}:{code}", family.id);
    TEXT.contains(&format!("\"{key}\"")).then(|| BY_CODE.get(key.as_str()).copied()).flatten()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::errcodes::{families, rows};

    #[test]
    fn every_cause_names_codes_that_exist_and_has_both_languages() {
        let known: BTreeSet<String> = families()
            .iter()
            .flat_map(|family| rows(family).iter().map(|row| format!("{}:{}", family.id, row.code)))
            .collect();
        let mut codes = BTreeSet::new();
        let mut ids = BTreeSet::new();
        let chinese = |text: &str| text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c));
        for cause in causes() {
            assert!(ids.insert(&cause.id), "{} occurs twice", cause.id);
            assert!(!cause.sources.is_empty() && !cause.steps.is_empty(), "{}", cause.id);
            assert!(!cause.text.en.is_empty() && chinese(&cause.text.zh), "{}", cause.id);
            for step in &cause.steps {
                assert!(!step.en.is_empty() && chinese(&step.zh), "{}", cause.id);
            }
            for code in &cause.codes {
                assert!(known.contains(code), "{}: there is no code {code}", cause.id);
                assert!(codes.insert(code), "{code} has two causes");
            }
        }
        assert!(codes.len() >= 60, "only {} codes are explained", codes.len());
    }
}
