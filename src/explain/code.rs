//! Pages about error codes.

use crate::data::Catalog;
use crate::errcodes::{self, Cause, Family, Match};
use crate::render::Block;
use crate::text::{Lang, sentence, word};

/// As many meanings of one code as are shown in full without `--verbose`.
const IN_FULL: usize = 2;

/// Everything that a code can mean; `matches` is not empty.
pub fn page(asked: &str, matches: &[Match], lang: Lang, verbose: bool) -> Vec<Block> {
    let mut page = Vec::new();
    if matches.len() > 1 {
        let n = matches.len().to_string();
        let text = sentence("ambiguous", &[("code", asked.to_owned()), ("n", n)]);
        page.push(Block::Paragraph(text.get(lang).to_owned()));
    }
    let full = match matches.len() {
        _ if verbose => matches.len(),
        0..=IN_FULL => IN_FULL,
        // Of many, only the most plausible.
        _ => 1,
    };
    for found in matches.iter().take(full) {
        page.extend(meaning(found, lang));
    }
    let rest: Vec<Vec<String>> =
        matches.iter().skip(full).map(|found| brief(found, lang)).collect();
    if !rest.is_empty() {
        page.push(Block::Title(word("other_meanings", lang), String::new()));
        page.push(Block::Table(
            vec![
                word("family", lang),
                word("code", lang),
                word("symbol", lang),
                word("message", lang),
            ],
            rest,
        ));
    }
    page
}

/// In words what two extractions of the headers tell: that of CANN 8.1.RC1 and that of 2026-08.
fn since(cell: &str, lang: Lang) -> String {
    match cell {
        "≤ 8.1.RC1" => word("since_old", lang),
        "≤ 8.1.RC1, < 2026-08" => word("since_old_gone", lang),
        "> 8.1.RC1" => word("since_new", lang),
        other => other.to_owned(),
    }
}

fn meaning(found: &Match, lang: Lang) -> Vec<Block> {
    let Match { family, row, cause, note } = found;
    let mut facts =
        vec![(word("family", lang), format!("{} ({})", family.title.get(lang), family.id))];
    let mut fact = |label: &str, value: &str| {
        if !value.is_empty() {
            facts.push((word(label, lang), value.to_owned()));
        }
    };
    fact("message", &row.message);
    fact("component", &row.component);
    fact("formerly", &row.formerly);
    fact("stands_after", &context(family));
    fact(
        "becomes",
        &row.becomes.iter().map(|code| with_symbol(code)).collect::<Vec<_>>().join(", "),
    );
    fact("cann_versions", &since(&row.since, lang));
    fact("document", &row.doc);
    fact("source", &row.source);
    let mut page = vec![Block::Title(row.code.clone(), row.symbol.clone()), Block::Facts(facts)];
    page.push(Block::Paragraph(family.says.get(lang).to_owned()));
    if let Some(note) = note {
        page.push(Block::Paragraph(note.text.get(lang).to_owned()));
    }
    let Some(cause) = cause else {
        page.push(Block::Paragraph(word("no_explanation", lang)));
        return page;
    };
    page.push(Block::Heading(format!("{} ({})", word("meaning", lang), cause.id)));
    page.extend(about_cause(cause, lang));
    page.push(Block::Heading(word("sources", lang)));
    page.push(Block::Bullets(cause.sources.clone()));
    page
}

/// What a cause means, what to do, and how to look for it.
pub(super) fn about_cause(cause: &Cause, lang: Lang) -> Vec<Block> {
    let mut page = vec![
        Block::Paragraph(cause.text.get(lang).to_owned()),
        Block::Heading(word("what_to_do", lang)),
    ];
    let steps = cause.steps.iter().map(|step| {
        let text = if lang == Lang::Zh { &step.zh } else { &step.en };
        (text.clone(), step.run.clone())
    });
    page.push(Block::Steps(steps.collect()));
    let checks = known_checks(cause);
    if !checks.is_empty() {
        let run = format!("ascend-doctor check --only {}", checks.join(","));
        page.push(Block::Heading(word("look_for_it", lang)));
        page.push(Block::Steps(vec![(word("look_for_it_how", lang), Some(run))]));
    }
    page
}

/// The checks that a cause names and that this version has.
fn known_checks(cause: &Cause) -> Vec<&str> {
    let catalog = Catalog::builtin();
    cause.checks.iter().map(String::as_str).filter(|id| catalog.entry(id).is_some()).collect()
}

fn brief(found: &Match, lang: Lang) -> Vec<String> {
    let Match { family, row, .. } = found;
    let mut message = row.message.clone();
    let context = context(family);
    if !context.is_empty() {
        message = format!("{message} ({}: {context})", word("stands_after", lang));
    }
    vec![family.id.clone(), row.code.clone(), row.symbol.clone(), message]
}

fn context(family: &Family) -> String {
    family.context.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// A code with the name that its own family gives it.
fn with_symbol(code: &str) -> String {
    match errcodes::look_up(code).first() {
        Some(found) if !found.row.symbol.is_empty() => format!("{code} {}", found.row.symbol),
        _ => code.to_owned(),
    }
}

/// All codes of a family.
pub fn family_page(family: &Family, lang: Lang) -> Vec<Block> {
    let rows = errcodes::rows(family);
    let explained = rows.iter().any(|row| !row.becomes.is_empty());
    let mut head = vec![word("code", lang), word("symbol", lang), word("message", lang)];
    if explained {
        head.insert(2, word("becomes", lang));
    }
    let table = rows.iter().map(|row| {
        let code = format!("`{}`", row.code);
        let mut cells = vec![code, row.symbol.clone(), row.message.clone()];
        if explained {
            cells.insert(2, row.becomes.join(", "));
        }
        cells
    });
    let table = table.collect();
    let mut page = vec![
        Block::Title(family.id.clone(), family.title.get(lang).to_owned()),
        Block::Paragraph(family.says.get(lang).to_owned()),
    ];
    let context = context(family);
    if !context.is_empty() {
        page.push(Block::Facts(vec![(word("stands_after", lang), context)]));
    }
    page.push(Block::Table(head, table));
    page
}
