//! Hangs and slowness: failures without an error, recognized by common descriptions.

use std::sync::LazyLock;

use base::text::Text;
use data::data_pack::{Pack, PackError, invalid};
use serde::{Deserialize, Serialize};

const TABLE: &str = "triage";

/// A failure without an error.
#[derive(Debug, Clone, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Symptom {
    /// `hang` or `slow`.
    pub id: &'static str,
    /// The symptom as part of a sentence.
    pub title: &'static Text,
    /// The symptom as the reason for a missing diagnosis.
    #[serde(skip)]
    pub reason: &'static Text,
    /// The evidence to collect, by the IDs of `data/errors/evidence.toml`, the cheapest first.
    pub evidence: &'static [String],
}

/// The symptoms, and the facts to request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SymptomTable {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    symptom: Vec<SymptomRow>,
    pub(crate) fact: Vec<FactRow>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct SymptomRow {
    id: String,
    title: Text,
    reason: Text,
    /// Words in lower case, of which at least one must occur.
    words: Vec<String>,
    evidence: Vec<String>,
    #[expect(dead_code, reason = "read so that the file may carry it")]
    source: String,
}

/// A fact and the command that finds it.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FactRow {
    /// The name of the fact.
    pub(crate) name: String,
    /// Packages that make it relevant; always relevant if empty.
    #[serde(default)]
    pub(crate) with: Vec<String>,
    /// Its description.
    pub(crate) text: Text,
    /// A command line that prints it.
    pub(crate) run: String,
}

static TABLE_OF: LazyLock<SymptomTable> = LazyLock::new(|| data::table(TABLE));

pub(crate) fn table() -> &'static SymptomTable {
    &TABLE_OF
}

/// Decodes the table of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let table: SymptomTable = pack.table(TABLE)?;
    match table.symptom.iter().find(|row| row.words.is_empty() || row.evidence.is_empty()) {
        Some(row) => Err(invalid(TABLE, format!("`{}` has no words or no evidence", row.id))),
        None => Ok(()),
    }
}

/// Returns the symptom whose words occur most often in a text.
pub(crate) fn find(text: &str) -> Option<Symptom> {
    let text = text.to_lowercase();
    let count =
        |row: &SymptomRow| -> usize { row.words.iter().map(|word| occurrences(&text, word)).sum() };
    let rows = table().symptom.iter().map(|row| (count(row), row));
    // Of two with the same count, the first of the table.
    let (count, row) = rows.rev().max_by_key(|(count, _)| *count)?;
    (count > 0).then(|| Symptom {
        id: &row.id,
        title: &row.title,
        reason: &row.reason,
        evidence: &row.evidence,
    })
}

/// Counts the occurrences of a word in a text, without those inside a longer word.
fn occurrences(text: &str, word: &str) -> usize {
    let is_letter = |c: Option<char>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == '_');
    text.match_indices(word)
        .filter(|(at, _)| {
            // Chinese has no spaces between words.
            !word.is_ascii()
                || !is_letter(text[..*at].chars().next_back())
                    && !is_letter(text[at + word.len()..].chars().next())
        })
        .count()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symptoms_are_found_in_both_languages_and_not_within_words() {
        for (text, expected) in [
            ("Training hangs after the first step", Some("hang")),
            ("程序卡住了，没有报错", Some("hang")),
            ("Inference is very slow on 910B", Some("slow")),
            ("推理很慢，只有 2 token/s", Some("slow")),
            ("I changed the learning rate", None),
            ("", None),
        ] {
            assert_eq!(find(text).map(|found| found.id), expected, "{text}");
        }
    }

    #[test]
    fn evidence_of_symptoms_exists() {
        for row in &table().symptom {
            for id in &row.evidence {
                assert!(errcodes::evidence(id).is_some(), "{}: {id}", row.id);
            }
            assert!(row.words.iter().all(|word| *word == word.to_lowercase()), "{}", row.id);
        }
    }
}
