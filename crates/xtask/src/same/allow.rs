//! Intended differences, each with its reason, from a TOML file:
//!
//! ```toml
//! [[difference]]
//! case = "check/*/text-en"        # a glob if it has `*` or `?`, otherwise a substring
//! text = "^[-+].*NPU [0-9]+"      # optional: a regular expression on changed lines, sign included
//! reason = "titles name the device by its logical ID"
//!
//! [[argument]]                    # the old program has another name for this argument
//! new = "--sysroot"
//! old = "--root"
//! ```

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::{Context as _, Result, ensure};
use regex::Regex;
use serde::Deserialize;

use super::compare::Change;
use super::pattern::Pattern;

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Document {
    #[serde(default)]
    difference: Vec<Entry>,
    #[serde(default)]
    argument: Vec<Argument>,
}

/// An argument with another name in the old program.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Argument {
    new: String,
    old: String,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Entry {
    case: String,
    text: Option<String>,
    reason: String,
}

/// One intended difference.
#[derive(Debug)]
struct Allowed {
    case: Pattern,
    text: Option<Regex>,
    reason: String,
    used: AtomicBool,
}

/// All intended differences.
#[derive(Debug, Default)]
pub(crate) struct AllowList {
    entries: Vec<Allowed>,
    arguments: Vec<(String, String)>,
}

impl AllowList {
    /// Reads a list from a file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let cannot = || format!("cannot use the list of differences `{}`", path.display());
        let text = std::fs::read_to_string(path).with_context(cannot)?;
        Self::parse(&text).with_context(cannot)
    }

    fn parse(text: &str) -> Result<Self> {
        let document: Document = toml::from_str(text)?;
        let mut entries = Vec::new();
        for entry in document.difference {
            let Entry { case, text, reason } = entry;
            ensure!(!case.is_empty(), "an entry has an empty `case`; `*` matches all cases");
            ensure!(!reason.trim().is_empty(), "the entry for `{case}` has no reason");
            entries.push(Allowed {
                case: Pattern::new(&case)?,
                text: text.map(|text| Regex::new(&text)).transpose()?,
                reason: reason.trim().to_owned(),
                used: AtomicBool::new(false),
            });
        }
        let arguments = document.argument.into_iter().map(|Argument { new, old }| (new, old));
        Ok(Self { entries, arguments: arguments.collect() })
    }

    /// Returns the arguments with another name in the old program: new name, old name.
    pub(crate) fn arguments(&self) -> Vec<(String, String)> {
        self.arguments.clone()
    }

    /// Returns the reasons that explain all changed lines of a case, or `None` if a line is
    /// unexplained.
    pub(crate) fn explain(&self, case: &str, changes: &[Change]) -> Option<Vec<&str>> {
        let entries: Vec<&Allowed> =
            self.entries.iter().filter(|entry| entry.case.matches(case)).collect();
        let mut reasons = Vec::new();
        let mut complete = true;
        for line in changes.iter().flat_map(Change::changed_lines) {
            let explains = |entry: &&&Allowed| {
                entry.text.as_ref().is_none_or(|pattern| pattern.is_match(line))
            };
            match entries.iter().find(explains) {
                Some(entry) => {
                    entry.used.store(true, Ordering::Relaxed);
                    if !reasons.contains(&entry.reason.as_str()) {
                        reasons.push(entry.reason.as_str());
                    }
                }
                None => complete = false,
            }
        }
        (complete && !reasons.is_empty()).then_some(reasons)
    }

    /// Returns the entries that explained no line.
    pub(crate) fn unused(&self) -> Vec<String> {
        let unused = self.entries.iter().filter(|entry| !entry.used.load(Ordering::Relaxed));
        unused.map(|entry| format!("`{}`: {}", entry.case.source(), entry.reason)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn change(lines: &[&str]) -> Vec<Change> {
        let lines = lines.iter().map(|&line| line.to_owned()).collect();
        vec![Change { part: "stdout".to_owned(), lines }]
    }

    const LIST: &str = r#"
        [[difference]]
        case = "check/*/text-??"
        text = "colou?r"
        reason = "American spelling"

        [[difference]]
        case = "man"
        reason = "new pages"
    "#;

    #[test]
    fn all_changed_lines_have_to_match() {
        let list = AllowList::parse(LIST).unwrap();
        let both = change(&["@@ -1 +1 @@", " the same", "-a colour", "+a color"]);
        assert_eq!(list.explain("check/a/text-en", &both), Some(vec!["American spelling"]));
        let more = change(&["-a colour", "+a color", "+another line"]);
        assert_eq!(list.explain("check/a/text-en", &more), None);
        assert_eq!(list.explain("check/a/json", &both), None);
    }

    #[test]
    fn entries_without_text_explain_a_whole_case() {
        let list = AllowList::parse(LIST).unwrap();
        assert_eq!(list.unused().len(), 2);
        assert_eq!(list.explain("man/all", &change(&["+x"])), Some(vec!["new pages"]));
        assert_eq!(list.unused(), ["`check/*/text-??`: American spelling"]);
    }

    #[test]
    fn incomplete_entries_are_refused() {
        for text in [
            "[[difference]]\ncase = 'x'",
            "[[difference]]\ncase = 'x'\nreason = ' '",
            "[[difference]]\ncase = ''\nreason = 'r'",
            "[[difference]]\nreason = 'r'",
            "[[difference]]\ncase = 'x'\nreason = 'r'\ntext = '('",
            "[[difference]]\ncase = 'x'\nreason = 'r'\nregex = 'a'",
            "[[differences]]\ncase = 'x'\nreason = 'r'",
        ] {
            assert!(AllowList::parse(text).is_err(), "{text}");
        }
    }
}
