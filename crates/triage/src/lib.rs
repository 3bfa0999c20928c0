//! Evaluates the description of a failure: the stated versions, the log next to them, and whether
//! the versions explain the failure.
//!
//! Must not touch: files, the environment, the terminal. The caller reads the texts
//! ([`pasted::read`]) and the logs ([`errcodes::log`]).
//!
//! ```text
//! texts -> stated (facts with their lines) -> facts (in the form of `check`) -> versions (checks)
//! logs  -> Diagnosis ----------------------------------------------------\         |
//!                                     explanation (do the versions explain it) <---+
//!                                     missing (what would settle the rest)     <---+
//! ```
//!
//! A fact that no text states is unknown. Only checks whose every input is stated decide.

mod collect;
mod explanation;
mod facts_of_text;
mod image;
mod missing;
mod report;
mod stated;
mod symptom;
mod versions;

pub use collect::Collector;
pub use explanation::{Answer, Explanation};
pub use facts_of_text::facts_of;
pub use missing::{Wanted, unstated};
pub use report::{TriageMember, facts_table, report};
pub use stated::{Disputed, FactOfText, Stated, Unchosen, merge};
pub use symptom::{Symptom, SymptomTable};
pub use versions::{Relation, RelationState, judge};

use data::data_pack::{Pack, PackError};
use errcodes::log::Diagnosis;
use facts::Facts;

/// Everything that follows from the texts and logs of an issue.
#[derive(Debug)]
pub struct Triage {
    /// The facts that the texts state.
    pub stated: Stated,
    /// The same facts in the form of `check`, or the facts of the machine, if a bundle has them.
    /// All other facts are unknown.
    pub facts: Facts,
    /// Whether the facts are those of a machine.
    pub collected: bool,
    /// The relations between versions, each with its result.
    pub relations: Vec<Relation>,
    /// The findings about versions.
    pub findings: Vec<base::report::Finding>,
    /// Whether the versions explain the first cause.
    pub explanation: Explanation,
    /// A hang or slowness that the text describes, if no log names a failure.
    pub symptom: Option<Symptom>,
    /// Missing evidence, the cheapest to collect first.
    pub missing: Vec<Wanted>,
}

/// Evaluates stated facts together with the diagnosis of the logs next to them. `machine` contains
/// facts that `check` collected, from a bundle: they are complete, and replace the stated ones.
/// `text` is searched for descriptions of a symptom.
pub fn examine(
    stated: Stated,
    machine: Option<Facts>,
    diagnosis: &Diagnosis,
    text: &str,
) -> Triage {
    let collected = machine.is_some();
    let facts = machine.unwrap_or_else(|| facts_of(&stated));
    let (mut relations, mut findings) = judge(&facts);
    if let Some((relation, found)) = image::judge(&stated, &facts) {
        relations.push(relation);
        findings.extend(found);
    }
    let first = first_failure(diagnosis);
    let first = first.as_deref();
    let symptom = if first.is_some() { None } else { symptom::find(text) };
    let explanation = explanation::explain(first, &relations, &findings);
    let missing = missing::list(&stated, collected, diagnosis, first, symptom.as_ref());
    Triage { stated, facts, collected, relations, findings, explanation, symptom, missing }
}

/// The first cause in the logs, unless the run survived it.
fn first_failure(diagnosis: &Diagnosis) -> Option<String> {
    let report = errcodes::log::report(diagnosis, "", errcodes::log::ReportOptions::default());
    let first = report.findings.into_iter().next()?;
    (first.severity >= base::report::Severity::Error).then_some(first.id)
}

/// Decodes the tables of a data pack that this layer reads.
///
/// # Errors
///
/// If a table is damaged or names evidence that does not exist.
pub fn check_pack(pack: &'static Pack) -> Result<(), PackError> {
    symptom::check(pack)
}
