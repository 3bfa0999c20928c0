//! The explanation of the failure by the versions.

use base::report::Finding;
use base::text::{Lang, Text};
use data::ui;
use serde::Serialize;

use crate::versions::JUDGED;
use crate::{Relation, RelationState};

/// Whether the versions explain the first cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Answer {
    /// The cause is about a contradiction between versions.
    Yes,
    /// All relations that the cause is about hold, or the cause is about no version.
    No,
    /// A fact that the cause is about is not stated, or no table decides it.
    Unknown,
    /// There is no cause to explain.
    NoCause,
}

/// The relation between the versions and the failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Explanation {
    /// The answer.
    pub answer: Answer,
    /// The answer as a sentence.
    pub statement: Text,
}

/// Compares the relations with those that the cause `first` is about.
pub(crate) fn explain(
    first: Option<&str>,
    relations: &[Relation],
    findings: &[Finding],
) -> Explanation {
    let in_state =
        |state: RelationState| relations.iter().filter(move |relation| relation.state == state);
    let conflicts: Vec<&Relation> = in_state(RelationState::Conflict).collect();
    let say = |answer, statement| Explanation { answer, statement };
    let Some(cause) = first.and_then(errcodes::cause) else {
        return match names(&conflicts) {
            Some(list) => say(Answer::NoCause, ui::TriageConflictsNoCause { list }.text()),
            None => say(Answer::NoCause, ui::TRIAGE_NO_CAUSE.text()),
        };
    };
    // The image and a log may have different names for the same cause.
    let concerns = |id: &str| {
        cause.checks.iter().any(|check| check == id)
            || id == "IMAGE-CHIP" && findings.iter().any(|found| found.id == cause.id)
    };
    let about: Vec<&Relation> =
        relations.iter().filter(|relation| concerns(relation.check)).collect();
    let own: Vec<&Relation> = conflicts.iter().copied().filter(|one| concerns(one.check)).collect();
    if let Some(list) = names(&own) {
        return say(Answer::Yes, ui::TriageExplained { list }.text());
    }
    // If none of these checks is related to the cause, versions do not explain it. Variables do not
    // count as versions.
    let mut of_versions = JUDGED.iter().filter(|id| !id.starts_with("ENV-"));
    if !of_versions.any(|&id| concerns(id)) {
        return match names(&conflicts) {
            Some(list) => say(Answer::No, ui::TriageConflictsBeside { list }.text()),
            None => say(Answer::No, ui::TRIAGE_NOT_VERSIONS.text()),
        };
    }
    // Other contradictions between versions may still be the reason.
    if let Some(list) = names(&conflicts) {
        return say(Answer::Unknown, ui::TriageConflictsPerhaps { list }.text());
    }
    let open: Vec<&Relation> =
        about.iter().copied().filter(|one| one.state != RelationState::Fits).collect();
    match names(&open) {
        Some(list) => say(Answer::Unknown, ui::TriageOpen { list }.text()),
        None if about.is_empty() => say(Answer::Unknown, ui::TRIAGE_NO_VERSIONS.text()),
        None => say(Answer::No, ui::TRIAGE_VERSIONS_FIT.text()),
    }
}

fn names(relations: &[&Relation]) -> Option<Text> {
    let join = |by: &str, lang: Lang| {
        // For a conflict, the reason is more specific than the healthy state.
        let said = |one: &&Relation| match &one.reason {
            Some(reason) if one.state == RelationState::Conflict => reason.clone(),
            _ => one.name.clone(),
        };
        let names = relations.iter().map(|one| format!("{} ({})", said(one).get(lang), one.check));
        names.collect::<Vec<_>>().join(by)
    };
    (!relations.is_empty()).then(|| Text::new(join("; ", Lang::En), join("；", Lang::Zh)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn relation(check: &'static str, state: RelationState) -> Relation {
        Relation { check, name: Text::same(check), state, reason: None }
    }

    fn answer(cause: Option<&str>, relations: &[Relation]) -> Answer {
        explain(cause, relations, &[]).answer
    }

    #[test]
    fn only_relations_of_the_cause_explain_it() {
        let abi = Some("env.version_mismatch_abi");
        let conflict = [relation("TNPU-MATRIX", RelationState::Conflict)];
        let fits = [relation("TNPU-MATRIX", RelationState::Fits)];
        let open = [relation("TNPU-MATRIX", RelationState::NotStated)];
        assert_eq!(answer(abi, &conflict), Answer::Yes);
        assert_eq!(answer(abi, &fits), Answer::No);
        assert_eq!(answer(abi, &open), Answer::Unknown);
        assert_eq!(answer(abi, &[]), Answer::Unknown);
        let memory = Some("memory.device_oom");
        assert_eq!(answer(memory, &conflict), Answer::No);
        assert_eq!(answer(None, &conflict), Answer::NoCause);
    }
}
