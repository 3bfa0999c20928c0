//! `knowledge.toml`: words that identify faults in logs, from the knowledge base of
//! ascend-faultdiag.
//!
//! Programs print these words. Causes and weights are manual, in `knowledge.overlay.toml`. A fault
//! is left out if it maps to no cause of this project, or if its words are too common to identify
//! it.

use std::collections::{BTreeSet, HashSet};
use std::sync::LazyLock;

use anyhow::{Context as _, Result, ensure};
use regex::Regex;
use serde::Deserialize;

use super::knowledge_base::{self, Fault, SOURCE};
use crate::context::Context;
use crate::extract::Content;

/// Manually recorded causes of faults.
const RULES: &str = "errors/knowledge.overlay.toml";
/// Minimum length of the longest word, which readers search for.
const SEARCHED: usize = 6;
/// Minimum length of the longest word that is not common, and of all words of a group together.
const LONGEST: usize = 11;
const TOGETHER: usize = 16;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RuleFile {
    #[serde(rename = "schema")]
    _schema: u32,
    common: BTreeSet<String>,
    rules: Vec<(String, String, String, u32)>,
}

/// Assigns a cause to the faults with matching code and title. The first matching rule decides.
struct Rule {
    code: Regex,
    title: Regex,
    /// The cause; empty for faults that are left out.
    cause: String,
    weight: u32,
}

/// Extracts `knowledge.toml`.
pub(super) fn table(context: &Context) -> Result<Content> {
    let text = context.own(RULES)?.with_context(|| format!("{RULES} is missing"))?;
    let (rules, common) = rules(&text).context(RULES)?;
    let (place, faults) = knowledge_base::read(context)?;
    let mut body = String::from(
        "# Words of faults in logs: key, cause, weight, and the words of a line in their order.\n",
    );
    let source = format!("{}:{}", context.repository(SOURCE)?.name(), knowledge_base::PATH);
    body.push_str(&format!("# source 0: {place}\nschema = 1\nsource = {}\n", quoted(&source)?));
    body.push_str("rows = [\n");
    for row in rows(&faults, &rules, &common) {
        let words: Vec<String> =
            row.words.iter().map(|word| quoted(word)).collect::<Result<_>>()?;
        let (key, cause) = (quoted(&row.key)?, quoted(row.cause)?);
        body.push_str(&format!("  [{key}, {cause}, {}, [{}]],\n", row.weight, words.join(", ")));
    }
    body.push_str("]\n");
    Ok(Content::Toml(body))
}

/// Quotes a text. A JSON string is also a TOML string.
fn quoted(text: &str) -> Result<String> {
    ensure!(!text.contains('\u{7f}'), "{text:?} has a control character");
    Ok(serde_json::to_string(text)?)
}

fn rules(text: &str) -> Result<(Vec<Rule>, BTreeSet<String>)> {
    let file: RuleFile = toml::from_str(text)?;
    let rule = |(code, title, cause, weight): (String, String, String, u32)| {
        let code = Regex::new(&format!("^(?:{code})"))?;
        Ok(Rule { code, title: Regex::new(&title)?, cause, weight })
    };
    Ok((file.rules.into_iter().map(rule).collect::<Result<_>>()?, file.common))
}

/// A group of words and its cause.
#[derive(Debug, PartialEq, Eq)]
struct Row<'a> {
    key: String,
    cause: &'a str,
    weight: u32,
    words: Vec<&'a str>,
}

fn rows<'a>(
    faults: &'a [(String, Fault)],
    rules: &'a [Rule],
    common: &BTreeSet<String>,
) -> Vec<Row<'a>> {
    let mut seen: HashSet<Vec<&str>> = HashSet::new();
    let mut rows = Vec::new();
    for (code, fault) in faults {
        let matches = |rule: &&Rule| {
            rule.code.is_match(code) && rule.title.is_match(&fault.attribute.cause_en)
        };
        let Some(rule) = rules.iter().find(matches).filter(|rule| !rule.cause.is_empty()) else {
            continue;
        };
        let groups = telling_groups(fault, common);
        for (number, words) in groups.into_iter().enumerate() {
            let longest = longest(&words);
            if common.contains(longest)
                || longest.chars().count() < SEARCHED
                || !seen.insert(words.clone())
            {
                continue;
            }
            let code = code.strip_prefix("AISW_").unwrap_or(code);
            rows.push(Row {
                key: format!("kb.{code}.{}", number + 1),
                cause: &rule.cause,
                weight: rule.weight,
                words,
            });
        }
    }
    rows
}

/// Returns the first of the longest words.
fn longest<'a>(words: &[&'a str]) -> &'a str {
    let length = |word: &str| word.chars().count();
    words.iter().rev().max_by_key(|word| length(word)).copied().unwrap_or_default()
}

/// Returns the groups of words of a fault that are not too common.
fn telling_groups<'a>(fault: &'a Fault, common: &BTreeSet<String>) -> Vec<Vec<&'a str>> {
    static CODE: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^(?:MIE\w{9}|0x[0-9A-F]{8})$").expect("a pattern of codes"));
    // A function name without other words is also on lines without errors.
    static FUNCTION: LazyLock<Regex> =
        LazyLock::new(|| Regex::new(r"^[a-z]\w*_\w+$").expect("a pattern of functions"));
    let length = |word: &str| word.chars().count();
    let mut groups = Vec::new();
    for group in fault.groups() {
        let group: Vec<&str> =
            group.into_iter().map(str::trim).filter(|word| !word.is_empty()).collect();
        let rare = group.iter().filter(|word| !common.contains(**word));
        let longest = rare.map(|word| length(word)).max().unwrap_or_default();
        let together: usize = group.iter().map(|word| length(word)).sum();
        let code = group.last().is_some_and(|last| CODE.is_match(last));
        let telling = code || (longest >= LONGEST && together >= TOGETHER);
        if telling && (group.len() > 1 || !FUNCTION.is_match(group[0])) {
            groups.push(group);
        }
    }
    groups
}

#[cfg(test)]
mod tests {
    use super::super::knowledge_base::tests::fault;
    use super::*;

    const RULES: &str = r#"schema = 1
common = ["No such file or directory"]
rules = [
  ["AISW_A_0[12]", "OOM|memory", "memory.device_oom", 34],
  ["AISW_A", "", "", 0],
  ["AISW", "", "env.permission", 20],
]
"#;

    fn found(code: &str, title: &str, words: &str) -> Vec<String> {
        let (rules, common) = rules(RULES).unwrap();
        let faults = [(code.to_owned(), fault(title, words))];
        let found = rows(&faults, &rules, &common);
        found
            .iter()
            .map(|row| format!("{} {} {}", row.key, row.cause, row.words.join("+")))
            .collect()
    }

    #[test]
    fn the_first_rule_that_matches_decides() {
        let words = r#"["cannot allocate the buffer"]"#;
        assert_eq!(
            found("AISW_A_01", "device OOM", words),
            ["kb.A_01.1 memory.device_oom cannot allocate the buffer"]
        );
        assert!(found("AISW_A_03", "device OOM", words).is_empty(), "no cause");
        assert_eq!(
            found("AISW_B", "x", words)[0],
            "kb.B.1 env.permission cannot allocate the buffer"
        );
        assert!(found("Comp", "x", words).is_empty(), "no rule");
    }

    #[test]
    fn common_and_short_words_are_left_out() {
        for words in [
            r#"["No such file or directory"]"#,
            r#"["too short"]"#,
            r#"["call_of_a_function"]"#,
            r#"[" ", ""]"#,
        ] {
            assert!(found("AISW_B", "x", words).is_empty(), "{words}");
        }
        let several =
            r#"[["short"], ["error code", "MIE04E000001"], ["call_of_a_function", "failed"]]"#;
        assert_eq!(
            found("AISW_B", "x", several),
            [
                "kb.B.1 env.permission error code+MIE04E000001",
                "kb.B.2 env.permission call_of_a_function+failed",
            ]
        );
    }

    #[test]
    fn malformed_rules_are_rejected() {
        for (from, to) in [("[\"AISW\"", "[\"(\""), ("schema = 1", "x = 1"), (", 20]", "]")] {
            assert!(rules(&RULES.replacen(from, to, 1)).is_err(), "{to}");
        }
    }
}
