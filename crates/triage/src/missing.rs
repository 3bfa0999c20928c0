//! Evidence that is still missing.

use base::text::Text;
use data::ui;
use errcodes::log::Diagnosis;
use serde::Serialize;

use crate::symptom::{FactRow, table};
use crate::{Stated, Symptom};

/// Maximum number of kinds of log evidence to request.
const EVIDENCE: usize = 3;

/// Something to collect.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Wanted {
    /// Its description.
    pub text: Text,
    /// A command line that prints or collects it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
}

/// Lists the missing evidence, the cheapest first: facts, then evidence of the symptom or the
/// cause.
pub(crate) fn list(
    stated: &Stated,
    collected: bool,
    diagnosis: &Diagnosis,
    first: Option<&str>,
    symptom: Option<&Symptom>,
) -> Vec<Wanted> {
    let mut all: Vec<Wanted> = Vec::new();
    for row in table().fact.iter().filter(|row| !collected && is_wanted(row, stated)) {
        // One command may print several facts.
        match all.iter_mut().find(|wanted| wanted.run.as_deref() == Some(&row.run)) {
            Some(wanted) => {
                wanted.text.en = format!("{}, {}", wanted.text.en, row.text.en);
                wanted.text.zh = format!("{}、{}", wanted.text.zh, row.text.zh);
            }
            None => {
                all.push(Wanted { text: row.text.clone(), run: Some(row.run.clone()) });
            }
        }
    }
    let evidence = |id: &str| {
        let found = errcodes::evidence(id)?;
        Some(Wanted { text: found.text.clone(), run: found.run.clone() })
    };
    let wanted: Vec<&str> = match (symptom, first) {
        (Some(symptom), _) => symptom.evidence.iter().map(String::as_str).collect(),
        (None, Some(_)) => {
            diagnosis.missing.iter().take(EVIDENCE).map(|one| one.evidence.as_str()).collect()
        }
        (None, None) => vec!["traceback", "plog"],
    };
    for one in wanted.into_iter().filter_map(evidence) {
        let printed = |known: &Wanted| known.run.is_some() && known.run == one.run;
        if !all.iter().any(printed) {
            all.push(one);
        }
    }
    for disputed in &stated.disputed {
        let values: Vec<&str> = disputed.values.iter().map(|one| one.value.as_str()).collect();
        let (name, values) = (&disputed.name, values.join(", "));
        all.push(Wanted { text: ui::TriageDisputed { name, values }.text(), run: None });
    }
    all
}

/// The usual facts that no text states.
pub fn unstated(stated: &Stated) -> Vec<String> {
    let rows = table().fact.iter().filter(|row| is_wanted(row, stated));
    rows.map(|row| row.name.clone()).collect()
}

fn is_wanted(row: &FactRow, stated: &Stated) -> bool {
    let is_stated = |name: &str| match name {
        "npu" => stated.fact(name).is_some() || !stated.chips.is_empty(),
        name => stated.fact(name).is_some(),
    };
    let disputed = stated.disputed.iter().any(|one| one.name == row.name);
    let matters = row.with.is_empty() || row.with.iter().any(|name| is_stated(name));
    matters && !disputed && !is_stated(&row.name)
}
