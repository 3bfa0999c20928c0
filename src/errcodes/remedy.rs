//! Remedies for a cause that apply if a log contains certain words or belongs to a certain program:
//! the tables `data/errors/remedies/`.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use serde::{Deserialize, Serialize};

use base::report::FixStep;
use base::text::Text;
use data::data_pack::{Pack, PackError, invalid};
use data::ui;

use crate::log::mention::{self, Mentions};

const DIR: &str = "errors/remedies";
/// The maximum number of remedies per cause.
const TOLD: usize = 3;

/// A step that solved a failure with this cause and these words.
#[derive(Debug, Deserialize, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Remedy {
    /// The ids of the causes.
    #[serde(skip_serializing)]
    pub causes: Vec<String>,
    /// The program that the log has to name: an id of `data/errors/programs.toml`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub program: Option<String>,
    /// Words that the log must contain, each in this spelling: in a line that supports the cause,
    /// or near its start or end.
    #[serde(default)]
    pub words: Vec<String>,
    /// The step to take.
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

static REMEDIES: LazyLock<Vec<Remedy>> = LazyLock::new(|| {
    data::names_below(DIR).iter().flat_map(|name| data::table::<RemedyFile>(name).remedy).collect()
});

fn is_remedies(table: &str) -> bool {
    table.strip_prefix(DIR).is_some_and(|rest| rest.starts_with('/'))
}

/// Decodes the tables of a pack.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    let programs = mention::ids(pack)?;
    for name in pack.names().filter(|name| is_remedies(name)) {
        let file: RemedyFile = pack.table(name)?;
        for remedy in &file.remedy {
            let cause = remedy.causes.join(", ");
            if remedy.is_unconditional() {
                let why = format!("a remedy of `{cause}` has neither words nor a program");
                return Err(invalid(name, why));
            }
            if let Some(id) = remedy.program.as_ref().filter(|id| !programs.contains(*id)) {
                return Err(invalid(name, format!("`{cause}`: there is no program `{id}`")));
            }
        }
    }
    Ok(())
}

/// The remedies for a cause.
pub fn remedies(cause: &str) -> impl Iterator<Item = &'static Remedy> {
    REMEDIES.iter().filter(move |remedy| remedy.causes.iter().any(|id| id == cause))
}

/// All words of remedies, each once.
pub(crate) fn words() -> impl Iterator<Item = &'static str> {
    let all: BTreeSet<&str> =
        REMEDIES.iter().flat_map(|remedy| &remedy.words).map(String::as_str).collect();
    all.into_iter()
}

/// The remedies for a cause whose words are in `lines` or elsewhere in the log and whose program
/// the log names: those with the most words first, among equals the ones of a program.
pub(crate) fn remedies_for(cause: &str, lines: &[&str], mentions: &Mentions) -> Vec<FixStep> {
    let is_said = |word: &String| {
        mentions.words.contains(word.as_str())
            || lines.iter().any(|line| line.contains(word.as_str()))
    };
    let runs =
        |remedy: &Remedy| remedy.program.as_ref().is_none_or(|id| mentions.programs.contains(id));
    let mut fitting: Vec<&Remedy> =
        remedies(cause).filter(|remedy| runs(remedy) && remedy.words.iter().all(is_said)).collect();
    fitting.sort_by_key(|remedy| {
        let length: usize = remedy.words.iter().map(String::len).sum();
        std::cmp::Reverse((remedy.words.len(), remedy.program.is_some(), length))
    });
    fitting.truncate(TOLD);
    fitting.into_iter().map(Remedy::fix_step).collect()
}

impl Remedy {
    /// Whether it fits every failure of its cause: then it belongs to the steps of the cause.
    fn is_unconditional(&self) -> bool {
        self.words.is_empty() && self.program.is_none()
    }

    /// The step, with a warning if it disturbs others.
    pub fn fix_step(&self) -> FixStep {
        let step = &self.step;
        let text = if self.disruptive { ui::StepDisturbs { step }.text() } else { step.clone() };
        FixStep { text, run: self.run.clone() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cause;

    #[test]
    fn remedies_are_of_causes_and_have_words_and_sources() {
        let mut seen = BTreeSet::new();
        for remedy in REMEDIES.iter() {
            assert!(!remedy.causes.is_empty(), "{remedy:?}");
            for id in &remedy.causes {
                assert!(cause(id).is_some(), "there is no cause {id}");
            }
            assert!(remedy.words.iter().all(|word| word.len() >= 3), "{remedy:?}");
            assert!(!remedy.is_unconditional() && !remedy.source.is_empty(), "{remedy:?}");
            let program = remedy.program.as_deref();
            assert!(program.is_none_or(mention::is_known), "{remedy:?}");
            let key = (program, &remedy.words, &remedy.step.en);
            assert!(seen.insert(key), "{remedy:?} is there twice");
            for text in [&remedy.step.en, &remedy.step.zh] {
                assert!(!text.ends_with(['.', '。']), "a step has no full stop: {text}");
            }
        }
        assert!(seen.len() > 100, "{}", seen.len());
    }

    #[test]
    fn words_and_programs_select_among_remedies() {
        let texts = |lines: &[&str], log: &str| -> Vec<String> {
            let mut mentions = Mentions::default();
            mentions.read(log.as_bytes());
            let found = remedies_for("hccl.sdma_error", lines, &mentions);
            found.into_iter().map(|step| step.run.unwrap_or(step.text.en)).collect()
        };
        let copy = "there is an sdma error, copy_d2d src=0x1, length=4096";
        let off = "export PYTORCH_NPU_ALLOC_CONF=expandable_segments:False";
        assert_eq!(texts(&[copy], ""), [off]);
        assert_eq!(texts(&[], copy), [off], "words elsewhere in the log");
        let full = ["error code is 507013", "EL0004: Failed to allocate memory"];
        assert_eq!(texts(&full, "").len(), 1);
        assert_eq!(texts(&full[..1], ""), [""; 0], "all words have to be there");
    }
}
