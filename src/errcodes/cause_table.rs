//! Hand-written tables of causes with their steps, `data/errors/causes/<layer>.toml`, and of the
//! evidence that a diagnosis needs, `data/errors/evidence.toml`.

use std::collections::BTreeMap;
use std::sync::{LazyLock, OnceLock};

use serde::Deserialize;

use super::cause::{Cause, Evidence, split_layer};
use super::overlay::overlay;
use data::data_pack::{Pack, PackError};

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct LayerFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    #[cfg_attr(not(test), expect(dead_code, reason = "read so that the file may carry it"))]
    layer: String,
    cause: Vec<Cause>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct EvidenceFile {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    evidence: Vec<Evidence>,
}

/// The causes of one layer, parsed on first use because a lookup needs only one layer.
struct Layer {
    name: &'static str,
    causes: OnceLock<Vec<Cause>>,
}

macro_rules! layers {
    ($($name:literal),* $(,)?) => {
        [$(Layer {
            name: $name,
            causes: OnceLock::new(),
        }),*]
    };
}

static LAYERS: [Layer; 15] = layers![
    "hw",
    "driver",
    "aicore",
    "aicpu",
    "memory",
    "runtime",
    "op",
    "hccl",
    "framework",
    "env",
    "model",
    "tool",
    "host",
    "service",
    "vague",
];

impl Layer {
    fn causes(&'static self) -> &'static [Cause] {
        self.causes.get_or_init(|| self.file().cause)
    }

    fn file(&self) -> LayerFile {
        data::table(&format!("errors/causes/{}", self.name))
    }
}

/// Decodes the tables of a pack.
pub(super) fn check(pack: &'static Pack) -> Result<(), PackError> {
    for layer in &LAYERS {
        pack.table::<LayerFile>(&format!("errors/causes/{}", layer.name))?;
    }
    pack.table::<EvidenceFile>("errors/evidence").map(drop)
}

/// All causes, from the hardware upward, then the user's own.
pub fn causes() -> impl Iterator<Item = &'static Cause> {
    let own = &overlay().causes;
    LAYERS
        .iter()
        .flat_map(Layer::causes)
        .filter(|cause| own.iter().all(|own| own.id != cause.id))
        .chain(own)
}

/// The cause with this id.
pub fn cause(id: &str) -> Option<&'static Cause> {
    overlay().causes.iter().find(|cause| cause.id == id).or_else(|| find_built_in(id))
}

/// The built-in cause with this id.
pub(super) fn find_built_in(id: &str) -> Option<&'static Cause> {
    let layer = LAYERS.iter().find(|layer| layer.name == split_layer(id))?;
    layer.causes().iter().find(|cause| cause.id == id)
}

static EVIDENCE: LazyLock<BTreeMap<String, Evidence>> = LazyLock::new(|| {
    let file: EvidenceFile = data::table("errors/evidence");
    file.evidence.into_iter().map(|evidence| (evidence.id.clone(), evidence)).collect()
});

/// A kind of evidence that a diagnosis can need, by id.
pub fn evidence(id: &str) -> Option<&'static Evidence> {
    EVIDENCE.get(id)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::super::cause::Role;
    use super::*;
    use data::Catalog;

    fn chinese(text: &str) -> bool {
        text.chars().any(|c| ('\u{4e00}'..='\u{9fff}').contains(&c))
    }

    #[test]
    fn every_cause_is_whole_and_in_both_languages() {
        let mut ids = BTreeSet::new();
        for layer in &LAYERS {
            assert_eq!(layer.file().layer, layer.name);
            for cause in layer.causes() {
                let id = &cause.id;
                assert!(ids.insert(id), "{id} occurs twice");
                assert_eq!(cause.layer(), layer.name, "{id}");
                assert!(!cause.sources.is_empty() && !cause.steps.is_empty(), "{id}");
                for text in [&cause.title, &cause.text] {
                    assert!(!text.en.is_empty() && chinese(&text.zh), "{id}");
                    assert!(!chinese(&text.en), "{id}");
                }
                assert!(!cause.title.en.ends_with('.') && !cause.title.zh.ends_with('。'), "{id}");
                for step in &cause.steps {
                    assert!(!step.en.is_empty() && chinese(&step.zh), "{id}");
                }
            }
        }
    }

    #[test]
    fn what_causes_refer_to_exists() {
        let catalog = Catalog::builtin();
        let mut used = BTreeSet::new();
        for cause in causes() {
            for id in &cause.related {
                assert!(super::cause(id).is_some(), "{}: there is no cause {id}", cause.id);
                assert_ne!(id, &cause.id);
            }
            for id in &cause.evidence {
                assert!(evidence(id).is_some(), "{}: there is no evidence {id}", cause.id);
                used.insert(id);
            }
            for id in &cause.checks {
                assert!(catalog.entry(id).is_some(), "{}: there is no check {id}", cause.id);
            }
        }
        // `triage` asks for evidence of failures without an error.
        let triage = include_str!("../../data/triage.toml");
        for evidence in EVIDENCE.values() {
            let asked = triage.contains(&format!("\"{}\"", evidence.id));
            assert!(asked || used.contains(&evidence.id), "nothing needs {}", evidence.id);
            assert!(chinese(&evidence.text.zh) && !evidence.text.en.is_empty());
        }
    }

    #[test]
    fn steps_ask_for_facts_that_a_log_can_show() {
        let signatures = crate::log::signatures().iter();
        let groups: BTreeSet<String> = signatures
            .filter_map(crate::log::Signature::regex)
            .flat_map(|regex| regex.capture_names().flatten())
            .map(|name| name.trim_end_matches(|c: char| c.is_ascii_digit()).to_owned())
            .collect();
        let mut asked = BTreeSet::new();
        for cause in causes() {
            for fact in cause.steps.iter().flat_map(crate::Step::facts) {
                let known = matches!(fact, "op" | "pid")
                    || groups.contains(fact)
                    || evidence(fact).is_some();
                assert!(known, "{}: no log shows `{fact}`", cause.id);
                asked.insert(fact);
            }
        }
        assert!(asked.is_superset(&BTreeSet::from(["need", "op", "pid", "plog"])), "{asked:?}");
    }

    #[test]
    fn a_cause_is_found_by_its_id_alone() {
        assert_eq!(cause("hccl.socket_timeout").unwrap().layer(), "hccl");
        assert_eq!(cause("vague.inner").unwrap().role, Role::Wrapper);
        for id in ["", "hccl", "hccl.", "nothing.at_all", "hccl.socket_timeout.x"] {
            assert!(cause(id).is_none(), "{id}");
        }
    }
}
