//! Pages about finding ids.

use base::report::Finding;
use base::text::{Lang, described};
use data::{Catalog, Entry, Family, MessageTemplate, ui};
use render::Block;

/// The meaning of a finding id, its detection and its fix.
pub fn page(entry: &Entry, family: &Family, lang: Lang) -> Vec<Block> {
    page_with(entry, family, &[], lang)
}

/// Like [`page`], with the findings of a run instead of the possible messages.
pub(super) fn page_with(
    entry: &Entry,
    family: &Family,
    seen: &[Finding],
    lang: Lang,
) -> Vec<Block> {
    let mut page = vec![
        Block::Title(entry.id.clone(), entry.name.get(lang).to_owned()),
        Block::Facts(vec![
            (ui::FAMILY.get(lang), format!("{} ({})", family.title.get(lang), family.family)),
            (ui::GRAVEST.get(lang), ui::severity(entry.severity).get(lang)),
            (ui::SINCE.get(lang), entry.since.clone()),
        ]),
        Block::Heading(ui::MEANING.get(lang)),
        Block::Paragraph(entry.why.get(lang).to_owned()),
        Block::Heading(ui::DETECTION.get(lang)),
        Block::Paragraph(entry.detects.get(lang).to_owned()),
    ];
    for finding in seen {
        page.extend(finding_blocks(finding, lang));
    }
    for (key, message) in entry.message.iter().filter(|_| seen.is_empty()) {
        let heading = ui::MessageHeading { key }.text();
        page.push(Block::Heading(heading.get(lang).to_owned()));
        page.extend(message_blocks(message, lang));
    }
    page.push(Block::Heading(ui::SOURCES.get(lang)));
    page.push(Block::Bullets(entry.sources.clone()));
    page
}

/// A finding with its values.
fn finding_blocks(finding: &Finding, lang: Lang) -> Vec<Block> {
    let mut blocks = vec![
        Block::Heading(ui::OCCURRED.get(lang)),
        Block::Paragraph(finding.title.get(lang).to_owned()),
        Block::Paragraph(finding.cause.get(lang).to_owned()),
    ];
    let evidence = finding.evidence.iter().map(|evidence| {
        let said = evidence.said.as_ref().map(|said| said.get(lang));
        let value = said.or(evidence.value.as_deref()).unwrap_or_default();
        format!("{} {value}", evidence.source).trim().to_owned()
    });
    let evidence: Vec<String> = evidence.collect();
    if !evidence.is_empty() {
        blocks.push(Block::Heading(ui::SEEN.get(lang)));
        blocks.push(Block::Bullets(evidence));
    }
    if !finding.fix.is_empty() {
        blocks.push(Block::Heading(ui::FIX.get(lang)));
        let steps = finding.fix.iter();
        let steps = steps.map(|step| (step.text.get(lang).to_owned(), step.run.clone()));
        blocks.push(Block::Steps(steps.collect()));
    }
    blocks
}

fn message_blocks(message: &MessageTemplate, lang: Lang) -> Vec<Block> {
    let mut blocks = vec![Block::Paragraph(described(message.title.get(lang)))];
    if let Some(cause) = &message.cause {
        blocks.push(Block::Paragraph(described(cause.get(lang))));
    }
    if !message.fix.is_empty() {
        let steps = message.fix.iter().map(|step| {
            let text = if lang == Lang::Zh { &step.zh } else { &step.en };
            (described(text), step.run.as_deref().map(described))
        });
        blocks.push(Block::Steps(steps.collect()));
    }
    blocks
}

/// The ids of a family.
pub fn family_page(family: &Family, lang: Lang) -> Vec<Block> {
    vec![
        Block::Title(family.family.to_ascii_uppercase(), family.title.get(lang).to_owned()),
        ids(family, lang),
    ]
}

/// All ids by family, and the families of error codes.
pub fn list_page(lang: Lang) -> Vec<Block> {
    let mut page = Vec::new();
    for family in Catalog::builtin().families() {
        if !family.entries.is_empty() {
            page.extend(family_page(family, lang));
        }
    }
    page.push(Block::Title(ui::CODE_FAMILIES.get(lang), String::new()));
    let rows = errcodes::families().iter().map(|family| {
        vec![
            family.id.clone(),
            errcodes::rows(family).len().to_string(),
            family.title.get(lang).to_owned(),
        ]
    });
    page.push(Block::Table(
        vec![ui::FAMILY.get(lang), ui::CODES.get(lang), ui::NAME.get(lang)],
        rows.collect(),
    ));
    page
}

fn ids(family: &Family, lang: Lang) -> Block {
    let rows = family.entries.iter().map(|entry| {
        vec![
            entry.id.clone(),
            ui::severity(entry.severity).get(lang),
            entry.name.get(lang).to_owned(),
        ]
    });
    Block::Table(
        vec![ui::FINDING.get(lang), ui::GRAVEST.get(lang), ui::NAME.get(lang)],
        rows.collect(),
    )
}
