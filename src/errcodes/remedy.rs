//! What helped with a cause where a log has certain words: `data/errors/remedies.toml`.

use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use base::report::FixStep;
use base::text::Text;
use data::data_pack::{Pack, PackError, invalid};
use data::ui;

const TABLE: &str = "errors/remedies";
/// How many remedies are told of one cause.
const TOLD: usize = 2;

/// A step that solved a failure of this cause and these words.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Remedy {
    /// The id of the cause.
    #[serde(skip_serializing)]
    pub cause: String,
    /// What the lines of the log that speak for a cause have to hold, each as it is written.
    pub words: Vec<String>,
    /// What to do.
    pub step: Text,
    /// A command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// Whether it restarts, resets or installs parts of the system, or stops other jobs.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disruptive: bool,
    /// Where it helped.
    pub source: String,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RemedyFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    remedy: Vec<Remedy>,
}

static REMEDIES: LazyLock<Vec<Remedy>> = LazyLock::new(|| data::table::<RemedyFile>(TABLE).remedy);

/// Decodes the table of a pack.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let file: RemedyFile = pack.table(TABLE)?;
    match file.remedy.iter().find(|remedy| remedy.words.is_empty()) {
        Some(remedy) => Err(invalid(TABLE, format!("a remedy of `{}` has no words", remedy.cause))),
        None => Ok(()),
    }
}

/// What helped with a cause.
pub fn remedies(cause: &str) -> impl Iterator<Item = &'static Remedy> {
    REMEDIES.iter().filter(move |remedy| remedy.cause == cause)
}

/// What helped with a cause where `lines` hold the words: those with the most words first.
pub fn remedies_for(cause: &str, lines: &[&str]) -> Vec<FixStep> {
    let is_said = |word: &String| lines.iter().any(|line| line.contains(word.as_str()));
    let mut fitting: Vec<&Remedy> =
        remedies(cause).filter(|remedy| remedy.words.iter().all(is_said)).collect();
    fitting.sort_by_key(|remedy| {
        let length: usize = remedy.words.iter().map(String::len).sum();
        std::cmp::Reverse((remedy.words.len(), length))
    });
    fitting.truncate(TOLD);
    fitting.into_iter().map(Remedy::fix_step).collect()
}

impl Remedy {
    /// The step, with a warning where it disturbs others.
    pub fn fix_step(&self) -> FixStep {
        let step = &self.step;
        let text = if self.disruptive { ui::StepDisturbs { step }.text() } else { step.clone() };
        FixStep { text, run: self.run.clone() }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;
    use crate::cause;

    #[test]
    fn remedies_are_of_causes_and_have_words_and_sources() {
        let mut seen = BTreeSet::new();
        for remedy in REMEDIES.iter() {
            assert!(cause(&remedy.cause).is_some(), "there is no cause {}", remedy.cause);
            assert!(remedy.words.iter().all(|word| word.len() >= 3), "{remedy:?}");
            assert!(!remedy.words.is_empty() && !remedy.source.is_empty(), "{remedy:?}");
            assert!(seen.insert((&remedy.cause, &remedy.words)), "{remedy:?} is there twice");
            for text in [&remedy.step.en, &remedy.step.zh] {
                assert!(!text.ends_with(['.', '。']), "a step has no full stop: {text}");
            }
        }
        assert!(seen.len() > 100, "{}", seen.len());
    }

    #[test]
    fn words_select_among_remedies() {
        let texts = |lines: &[&str]| -> Vec<String> {
            let found = remedies_for("hccl.sdma_error", lines);
            found.into_iter().map(|step| step.run.unwrap_or(step.text.en)).collect()
        };
        let copy = "there is an sdma error, copy_d2d src=0x1, length=4096";
        assert_eq!(texts(&[copy]), ["export PYTORCH_NPU_ALLOC_CONF=expandable_segments:False"]);
        let full = ["error code is 507013", "EL0004: Failed to allocate memory"];
        assert_eq!(texts(&full).len(), 1);
        assert_eq!(texts(&full[..1]), [""; 0], "all words have to be there");
    }
}
