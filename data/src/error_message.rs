//! Why something could not be done, in both languages.
//!
//! Such sentences are made where something fails, by many kinds of errors, in English. The Chinese
//! comes from `data/faults.toml`, whose keys are those sentences: so errors stay plain values, and
//! what a library or the operating system says can be told too.

use std::collections::BTreeMap;
use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError};
use base::text::{Part, Text, fill, parts};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct File {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    #[serde(borrow)]
    fault: Vec<Fault<'static>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fault<'a> {
    en: &'a str,
    zh: &'a str,
    /// Whether the words are those of somebody else.
    #[serde(default)]
    #[cfg_attr(not(test), expect(dead_code, reason = "a test looks for our own in the sources"))]
    foreign: bool,
}

static FAULTS: LazyLock<Vec<Fault<'static>>> = LazyLock::new(|| {
    let file: File = super::table("faults");
    file.fault
});

/// Decodes the table of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    pack.table::<File>("faults").map(drop)
}

/// The placeholder that is a sentence of its own.
const WHY: &str = "why";
/// How many sentences may stand in each other.
const DEPTH: usize = 4;

/// A sentence that says in English why something could not be done, in both languages.
pub fn localize_error(en: &str) -> Text {
    Text::new(en, translate_error(en, DEPTH))
}

fn translate_error(en: &str, depth: usize) -> String {
    let found = FAULTS.iter().find_map(|fault| Some((fault.zh, match_template(fault.en, en)?)));
    let Some((zh, mut values)) = found else { return en.to_owned() };
    if let Some(why) = values.get_mut(WHY)
        && depth > 0
    {
        *why = translate_error(why, depth - 1);
    }
    if let Some(what) = values.get_mut("what") {
        *what = translate_error(what, 0);
    }
    fill(zh, &values)
}

/// What stands at the placeholders, if a text is the template with something there.
fn match_template(template: &'static str, text: &str) -> Option<BTreeMap<&'static str, String>> {
    let mut values = BTreeMap::new();
    let mut open = None;
    let mut rest = text;
    let mut parts = parts(template).peekable();
    while let Some(part) = parts.next() {
        match part {
            Part::Name(name) => open = Some(name),
            Part::Text(literal) => {
                let at = match (open, parts.peek()) {
                    (None, _) => rest.starts_with(literal).then_some(0)?,
                    (_, None) => rest.strip_suffix(literal)?.len(),
                    _ => rest.find(literal)?,
                };
                if let Some(name) = open.take() {
                    values.insert(name, rest[..at].to_owned());
                }
                rest = &rest[at + literal.len()..];
            }
        }
    }
    match open {
        Some(name) => {
            values.insert(name, rest.to_owned());
        }
        None if !rest.is_empty() => return None,
        None => {}
    }
    Some(values)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::text::placeholders;

    #[test]
    fn every_fault_has_the_same_parts_in_both_languages_and_one_row() {
        let mut seen = std::collections::BTreeSet::new();
        for fault in FAULTS.iter() {
            assert!(!fault.zh.is_empty() && fault.zh != fault.en, "{}", fault.en);
            assert_eq!(placeholders(fault.en), placeholders(fault.zh), "{}", fault.en);
            assert!(seen.insert(fault.en), "twice: {}", fault.en);
            // A row that stands behind one which takes all that it fits is never used.
            assert_eq!(localize_error(fault.en).zh, fault.zh, "{}", fault.en);
        }
    }

    /// The rows are keys: where a sentence is put otherwise, its row has to follow.
    #[test]
    #[expect(clippy::disallowed_methods, reason = "reads the sources of the program")]
    fn every_sentence_of_ours_is_in_the_sources() {
        let mut sources = String::new();
        let home = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap();
        let trees =
            ["src", "crates", "data/src"].map(|tree| walkdir::WalkDir::new(home.join(tree)));
        for entry in trees.into_iter().flatten() {
            let entry = entry.unwrap();
            if entry.path().extension().is_some_and(|ending| ending == "rs") {
                sources.push_str(&std::fs::read_to_string(entry.path()).unwrap());
            }
        }
        sources.push_str(include_str!("../ui.toml"));
        // Sentences go on in the next line of a source.
        let joined = regex::Regex::new(r"\\\n\s*").unwrap().replace_all(&sources, "");
        let joined = joined.replace("\\\"", "\"");
        for fault in FAULTS.iter().filter(|fault| !fault.foreign) {
            for part in parts(fault.en) {
                if let Part::Text(literal) = part {
                    let literal = literal.trim();
                    assert!(joined.contains(literal), "no source says `{literal}`: {}", fault.en);
                }
            }
        }
    }

    #[test]
    fn sentences_within_sentences() {
        let zh = |en: &str| localize_error(en).zh;
        assert_eq!(
            zh("cannot read the root `/x`: no such file or directory"),
            "无法读取根目录 `/x`：文件或目录不存在"
        );
        assert_eq!(zh("cannot read `a: b`"), "无法读取 `a: b`");
        assert_eq!(
            zh("cannot audit `m.pt`: it is no regular file (and 3 more)"),
            "无法分析 `m.pt`：不是普通文件（另有 3 个）"
        );
        assert_eq!(zh("not a regular file but a named pipe"), "不是普通文件，而是命名管道");
        assert_eq!(zh("something that nobody translated"), "something that nobody translated");
        assert_eq!(zh(""), "");
    }
}
