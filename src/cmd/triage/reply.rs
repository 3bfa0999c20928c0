//! The answer as a reply to post below the issue.

use base::report::{DataInUse, Finding, Report, Severity};
use base::text::Lang;
use data::ui;
use render::Block;
use triage::{RelationState, Triage, facts_table};

/// Maximum number of steps of a fix in a reply.
const STEPS: usize = 4;
/// Maximum number of lines of evidence.
const LINES: usize = 3;

/// The blocks of the reply.
pub(super) fn write(triage: &Triage, report: &Report, data: &DataInUse, lang: Lang) -> Vec<Block> {
    let mut page = Vec::new();
    let failures = || report.findings.iter().filter(|one| one.severity > Severity::Info);
    page.push(Block::Heading(ui::TRIAGE_REPLY_CAUSE.get(lang)));
    match report.findings.first() {
        Some(first) => page.extend(cause(first, lang)),
        None => page.push(Block::Paragraph(ui::TRIAGE_REPLY_NO_CAUSE.get(lang))),
    }
    if let Some(symptom) = &triage.symptom {
        page.push(Block::Paragraph(symptom.title.get(lang).to_owned()));
    }
    page.push(Block::Heading(ui::TRIAGE_REPLY_VERSIONS.get(lang)));
    page.push(Block::Paragraph(triage.explanation.statement.get(lang).to_owned()));
    let rows = triage.relations.iter().map(|one| {
        vec![
            one.state.label().get(lang),
            one.name.get(lang).to_owned(),
            one.reason.as_ref().map_or_else(String::new, |reason| reason.get(lang).to_owned()),
        ]
    });
    let rows: Vec<_> = rows.collect();
    if !rows.is_empty() {
        let head = [ui::TRIAGE_STATE, ui::TRIAGE_RELATION, ui::TRIAGE_REASON];
        page.push(Block::Table(head.map(|label| label.get(lang)).to_vec(), rows));
    }
    // Other findings that only the versions contradict.
    let conflict = |one: &&Finding| {
        let own = |id: &str| {
            triage
                .relations
                .iter()
                .any(|relation| relation.check == id && relation.state == RelationState::Conflict)
        };
        own(&one.id)
    };
    for other in failures().skip(1).filter(conflict) {
        page.push(Block::Paragraph(other.title.get(lang).to_owned()));
        page.extend(steps(other, lang));
    }
    if !triage.missing.is_empty() {
        page.push(Block::Heading(ui::TRIAGE_MISSING.get(lang)));
        let wanted = triage.missing.iter();
        let wanted = wanted.map(|one| (one.text.get(lang).to_owned(), one.run.clone()));
        page.push(Block::Steps(wanted.collect()));
    }
    if let Some(table) = facts_table(&triage.stated) {
        page.push(Block::Heading(table.title.get(lang).to_owned()));
        let words = |texts: &[base::text::Text]| {
            texts.iter().map(|text| text.get(lang).to_owned()).collect::<Vec<_>>()
        };
        let rows = table.rows.iter().map(|row| words(row)).collect();
        page.push(Block::Table(words(&table.head), rows));
    }
    let sign = ui::TriageReplySign { version: env!("CARGO_PKG_VERSION"), date: &data.as_of };
    page.push(Block::Paragraph(sign.text().get(lang).to_owned()));
    page
}

fn cause(first: &Finding, lang: Lang) -> Vec<Block> {
    let mut page = vec![
        Block::Paragraph(format!("{} ({})", first.title.get(lang), first.id)),
        Block::Paragraph(first.cause.get(lang).to_owned()),
    ];
    let lines = first.evidence.iter().filter_map(|one| one.value.as_deref()).take(LINES);
    let lines: Vec<&str> = lines.collect();
    if !lines.is_empty() {
        page.push(Block::Code("text", lines.join("\n")));
    }
    page.extend(steps(first, lang));
    page
}

fn steps(finding: &Finding, lang: Lang) -> Vec<Block> {
    if finding.fix.is_empty() {
        return Vec::new();
    }
    let steps = finding.fix.iter().take(STEPS);
    let steps = steps.map(|step| (step.text.get(lang).to_owned(), step.run.clone()));
    vec![Block::Heading(ui::TRIAGE_REPLY_FIX.get(lang)), Block::Steps(steps.collect())]
}
