//! The knowledge base of ascend-faultdiag (Ascend/mind-cluster): faults with the words that
//! identify them in logs.

use anyhow::{Context as _, Result, ensure};
use serde::Deserialize;
use serde_json::Value;

use super::ordered_json::Members;
use crate::context::Context;

/// ID of the source.
pub(super) const SOURCE: &str = "mind-cluster";
/// Path in that repository.
pub(super) const PATH: &str =
    "component/ascend-faultdiag/src/ascend_fd/configuration/kg-config.json";

/// A fault, without the descriptions and remedies of the knowledge base.
#[derive(Debug, Deserialize)]
pub(super) struct Fault {
    pub(super) attribute: Attribute,
    #[serde(default)]
    regex: Option<Pattern>,
}

/// Names of a fault.
#[derive(Debug, Deserialize)]
pub(super) struct Attribute {
    pub(super) class: String,
    pub(super) component: String,
    pub(super) module: String,
    pub(super) cause_en: String,
    pub(super) cause_zh: String,
}

#[derive(Debug, Deserialize)]
struct Pattern {
    #[serde(rename = "in", default)]
    words: Value,
}

#[derive(Deserialize)]
struct File {
    #[serde(rename = "knowledge-repository")]
    faults: Members<Fault>,
}

/// Returns the place of the knowledge base, and its faults by code in the order of the file.
pub(super) fn read(context: &Context) -> Result<(String, Vec<(String, Fault)>)> {
    let tree = context.tree(SOURCE)?;
    let place = tree.place(PATH);
    let File { faults: Members(faults) } =
        serde_json::from_str(&tree.text(PATH)?).with_context(|| place.clone())?;
    let count = faults.len();
    ensure!(count >= 1000, "{place} has {count} faults, expected at least 1000");
    Ok((place, faults))
}

impl Fault {
    /// Returns the groups of words that must be on a line: a list of words, or a list of such
    /// lists.
    pub(super) fn groups(&self) -> Vec<Vec<&str>> {
        let Some(Value::Array(list)) = self.regex.as_ref().map(|regex| &regex.words) else {
            return Vec::new();
        };
        if list.first().is_some_and(Value::is_array) {
            list.iter().filter_map(Value::as_array).map(|group| strings(group)).collect()
        } else {
            vec![strings(list)]
        }
    }
}

fn strings(list: &[Value]) -> Vec<&str> {
    list.iter().filter_map(Value::as_str).collect()
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;

    /// Returns a fault with this title and these words.
    pub(in super::super) fn fault(title: &str, words: &str) -> Fault {
        let json = format!(
            r#"{{"attribute": {{"class": "a", "component": "b", "module": "c", "cause_en": "{title}",
            "cause_zh": ""}}, "rule": [{{"dst_code": "x"}}], "regex": {{"in": {words}}}}}"#
        );
        serde_json::from_str(&json).unwrap()
    }

    #[test]
    fn one_group_and_several_groups_of_words_are_read() {
        assert_eq!(fault("", r#"["a", "b"]"#).groups(), [["a", "b"]]);
        assert_eq!(fault("", r#"[["a"], ["b"]]"#).groups(), [["a"], ["b"]]);
        assert!(fault("", "null").groups().is_empty());
    }

    #[test]
    fn faults_without_words_are_read() {
        let json = r#"{"attribute": {"class": "a", "component": "b", "module": "c",
            "cause_en": "", "cause_zh": ""}, "source_file": "", "regex": {}}"#;
        assert!(serde_json::from_str::<Fault>(json).unwrap().groups().is_empty());
    }
}
