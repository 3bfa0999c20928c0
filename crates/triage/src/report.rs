//! The report of a triage.

use std::collections::BTreeMap;

use base::report::{Coverage, Finding, Link, Proof, Report, Severity, Table};
use base::text::{Lang, Text};
use data::{goals, ui};
use errcodes::log::{Diagnosis, ReportOptions};
use serde::Serialize;

use crate::{Answer, Explanation, Relation, RelationState, Stated, Symptom, Triage, Wanted};

/// Maximum number of reasons per link.
const REASONS: usize = 3;

/// The members of the JSON report that only `triage` has.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TriageMember<'a> {
    /// The facts that the texts state.
    pub stated: &'a Stated,
    /// The relations between versions.
    pub relations: &'a [Relation],
    /// Whether the versions explain the first cause.
    pub explanation: &'a Explanation,
    /// A hang or slowness that the text describes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub symptom: Option<&'a Symptom>,
    /// Missing evidence, the cheapest to collect first.
    pub missing: &'a [Wanted],
}

/// Creates the report of a triage about `subject`.
pub fn report(
    triage: &Triage,
    diagnosis: &Diagnosis,
    subject: &str,
    shown: ReportOptions,
) -> Report {
    let mut report = errcodes::log::report(diagnosis, subject, shown);
    let log = report.proof.take();
    report.command = "triage";
    report.document = "triage";
    report.invocation = "triage";
    report
        .overview
        .push((ui::TRIAGE_VERSIONS_EXPLAIN.text(), triage.explanation.statement.clone()));
    join_findings(triage, &mut report);
    report.proof = Some(prove(triage, log.as_ref(), &report.findings));
    report.tables.extend(facts_table(&triage.stated));
    report.tables.extend(relations_table(&triage.relations));
    report.tables.extend(missing_table(&triage.missing));
    if let Some(symptom) = &triage.symptom {
        report.notes.push(symptom.title.clone());
    }
    report.add_members(&TriageMember {
        stated: &triage.stated,
        relations: &triage.relations,
        explanation: &triage.explanation,
        symptom: triage.symptom.as_ref(),
        missing: &triage.missing,
    });
    report
}

/// Adds the findings about versions. A failure that they explain becomes their consequence, so that
/// one root cause is one finding.
fn join_findings(triage: &Triage, report: &mut Report) {
    let mut versions = triage.findings.clone();
    if triage.explanation.answer == Answer::Yes && !report.findings.is_empty() {
        let mut failure = report.findings.remove(0);
        let about = errcodes::cause(&failure.id).map(|cause| cause.checks.clone());
        let about = about.unwrap_or_default();
        let explains = |finding: &Finding| about.contains(&finding.id) || finding.id == failure.id;
        if let Some(at) = versions.iter().position(explains) {
            let mut root = versions.remove(at);
            root.severity = root.severity.max(failure.severity);
            failure.severity = Severity::Info;
            root.evidence.extend(failure.evidence.iter().take(1).cloned());
            root.consequences.push(failure);
            versions.insert(0, root);
            versions.append(&mut report.findings);
            report.findings = versions;
            return;
        }
        report.findings.insert(0, failure);
    }
    // A vague cause, such as an error in a script, is less informative than versions that cannot
    // work.
    let is_vague = |finding: &Finding| {
        errcodes::cause(&finding.id).is_some_and(|cause| cause.layer() == "framework")
    };
    let breaks = |finding: &Finding| finding.severity >= Severity::Error;
    if report.findings.first().is_some_and(is_vague) && versions.iter().any(breaks) {
        versions.append(&mut report.findings);
        report.findings = versions;
        return;
    }
    // Reports list the most severe finding first, and a version must not precede the failure that
    // it does not explain.
    if report.findings.first().is_some_and(breaks) {
        for finding in &mut versions {
            finding.severity = finding.severity.min(Severity::Warning);
        }
    }
    report.findings.append(&mut versions);
}

fn prove(triage: &Triage, log: Option<&Proof>, findings: &[Finding]) -> Proof {
    let of_log = |id: &str| log.and_then(|proof| proof.link(id)).map(|link: &Link| &link.coverage);
    goals::prove("triage", "issue", BTreeMap::new(), |link| {
        let open = |reason: Text| Coverage::NotExamined { reason, settle: link.settle.clone() };
        let coverage = match link.id.as_str() {
            "stated" if triage.collected => Coverage::Shown,
            "stated" if triage.stated.is_empty() => open(ui::TRIAGE_NOTHING_STATED.text()),
            "stated" => Coverage::Shown,
            "relations" => relations(triage, findings, &open),
            // A run that hangs or is slow logs no error.
            "failure" if let Some(symptom) = &triage.symptom => {
                let (reason, settle) = (symptom.reason.clone(), ui::TRIAGE_SYMPTOM_SETTLE.text());
                Coverage::NotExamined { reason, settle }
            }
            id => of_log(id).cloned().unwrap_or(Coverage::Shown),
        };
        let note = (link.id == "stated" && !triage.stated.is_empty())
            .then(|| ui::TriageStated { n: triage.stated.facts.len() }.text());
        (coverage, note)
    })
}

fn relations(triage: &Triage, findings: &[Finding], open: &dyn Fn(Text) -> Coverage) -> Coverage {
    let conflicts: Vec<String> = triage
        .relations
        .iter()
        .filter(|relation| relation.state == RelationState::Conflict)
        .map(|relation| relation.check.to_owned())
        .map(|id| if id == "IMAGE-CHIP" { "env.soc_unsupported".to_owned() } else { id })
        .filter(|id| findings.iter().any(|one| one.id == *id))
        .collect();
    if !conflicts.is_empty() {
        return Coverage::Contradicted { findings: conflicts, reason: None };
    }
    let undecided = triage.relations.iter().filter(|relation| {
        matches!(relation.state, RelationState::Undecided | RelationState::NotStated)
    });
    let undecided: Vec<&Relation> = undecided.take(REASONS).collect();
    let join = |by: &str, lang: Lang| {
        undecided.iter().map(|one| one.name.get(lang)).collect::<Vec<_>>().join(by)
    };
    if !undecided.is_empty() {
        let list = Text::new(join("; ", Lang::En), join("；", Lang::Zh));
        return open(ui::TriageRelationsOpen { list }.text());
    }
    // Variables without versions prove no compatibility.
    if triage.relations.iter().all(|relation| relation.check.starts_with("ENV-")) {
        return open(ui::TRIAGE_NO_VERSIONS.text());
    }
    Coverage::Shown
}

/// The stated facts with their places.
pub fn facts_table(stated: &Stated) -> Option<Table> {
    let chips = stated.chips.first().map(|chip| {
        let name = format!("{} × {}", stated.chips.len(), chip.name);
        ["npu-smi".to_owned(), name, format!("{}", chip.line)]
    });
    let rows = stated.facts.iter().map(|fact| {
        [fact.name.clone(), fact.value.clone(), format!("{}:{}", fact.file, fact.line)]
    });
    let rows: Vec<Vec<Text>> = rows.chain(chips).map(|row| row.map(Text::same).to_vec()).collect();
    (!rows.is_empty()).then(|| Table {
        title: ui::TRIAGE_FACTS.text(),
        head: [ui::TRIAGE_FACT, ui::TRIAGE_VALUE, ui::TRIAGE_PLACE].map(ui::Label::text).to_vec(),
        rows,
    })
}

fn relations_table(relations: &[Relation]) -> Option<Table> {
    let rows = relations.iter().map(|relation| {
        let state = relation.state.label().text();
        let reason = relation.reason.clone().unwrap_or_default();
        vec![state, Text::same(relation.check), relation.name.clone(), reason]
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title: ui::TRIAGE_RELATIONS.text(),
        head: [ui::TRIAGE_STATE, ui::TRIAGE_CHECK, ui::TRIAGE_RELATION, ui::TRIAGE_REASON]
            .map(ui::Label::text)
            .to_vec(),
        rows,
    })
}

fn missing_table(missing: &[Wanted]) -> Option<Table> {
    let rows = missing.iter().map(|wanted| {
        vec![wanted.text.clone(), Text::same(wanted.run.clone().unwrap_or_default())]
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title: ui::TRIAGE_MISSING.text(),
        head: [ui::TRIAGE_WHAT, ui::TRIAGE_COMMAND].map(ui::Label::text).to_vec(),
        rows,
    })
}
