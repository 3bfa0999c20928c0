//! A collapsible finding: defect, cause, evidence and fix.

use askama::Template;

use super::document::Document;
use super::words::{Words, verbatim, words};
use crate::plain::{list_explained, show_evidence};
use base::report::{Evidence, Finding, Severity};
use base::text::{Lang, Text};
use data::ui;

/// The number of pieces of evidence shown at once; the rest is collapsed.
const SHOWN: usize = 8;

/// The maximum number of answers of a lookup that are shown expanded.
const OPEN: usize = 5;

/// The view of a finding, or of an answer to a lookup.
#[derive(Template)]
#[template(path = "finding.html")]
pub(super) struct FindingView<'a> {
    finding: &'a Finding,
    anchor: String,
    level: &'static str,
    open: bool,
    /// `None` for answers.
    severity: Option<Words>,
    title: Words,
    cause: Option<Words>,
    steps_heading: Words,
    evidence_heading: Words,
    more: Option<Words>,
    explained_label: Words,
    explained: String,
    sources_label: Words,
}

/// A step of a fix.
struct Step<'a> {
    text: Words,
    run: Option<&'a str>,
}

impl<'a> FindingView<'a> {
    /// The view of a finding of `document`.
    pub(super) fn new(document: &Document, finding: &'a Finding, anchor: String) -> Self {
        let answers = document.answer && document.findings.len() <= OPEN;
        let severity = || words(&ui::severity(finding.severity).text());
        let more = finding.evidence.len().saturating_sub(SHOWN);
        Self {
            finding,
            anchor,
            level: finding.severity.as_str(),
            // Content that must be read is expanded.
            open: finding.severity == Severity::Error || answers,
            severity: (!document.answer).then(severity),
            title: words(&finding.title),
            cause: (finding.cause != Text::default()).then(|| words(&finding.cause)),
            steps_heading: words(&ui::WHAT_TO_DO.text()),
            evidence_heading: words(&ui::PAGE_EVIDENCE.text()),
            more: (more > 0).then(|| words(&ui::More { n: more }.text())),
            explained_label: words(&ui::EXPLAINS.text()),
            explained: list_explained(finding).join(", "),
            sources_label: words(&ui::SOURCES.text()),
        }
    }

    fn steps(&self) -> impl Iterator<Item = Step<'a>> {
        let step = |step: &'a base::report::FixStep| Step {
            text: words(&step.text),
            run: step.run.as_deref(),
        };
        self.finding.fix.iter().map(step)
    }

    /// The evidence that is shown at once.
    fn evidence(&self) -> impl Iterator<Item = Words> {
        self.finding.evidence.iter().take(SHOWN).map(quote)
    }

    /// The collapsed evidence.
    fn more_evidence(&self) -> impl Iterator<Item = Words> {
        self.finding.evidence.iter().skip(SHOWN).map(quote)
    }
}

fn quote(evidence: &Evidence) -> Words {
    let said = |lang| show_evidence(evidence, lang);
    verbatim(&Text::new(said(Lang::En), said(Lang::Zh)))
}
