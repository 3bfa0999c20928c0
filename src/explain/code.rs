//! Pages about error codes.

use base::text::{Lang, Text};
use data::{Catalog, ui};
use errcodes::{self, Answer, Cause, Family, Match, Row};
use render::Block;

/// Maximum number of meanings of one code to show in full without `--verbose`.
const IN_FULL: usize = 2;

/// Maximum number of codes of lower layers to name without `--verbose`.
const FEW: usize = 6;

/// The level of detail.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Detail {
    /// The meaning and the fix.
    Short,
    /// Also the data needed to confirm the cause, and related causes.
    Long,
}

/// The page about a known code.
pub fn page(answer: &Answer, lang: Lang, detail: Detail, verbose: bool) -> Vec<Block> {
    let mut page = Vec::new();
    let matches = &answer.matches;
    if matches.len() > 1 {
        let n = matches.len();
        let text = ui::Ambiguous { code: &answer.asked, n }.text();
        page.push(Block::Paragraph(text.get(lang).to_owned()));
    }
    let full = match matches.len() {
        _ if verbose => matches.len(),
        0..=IN_FULL => IN_FULL,
        // If there are many, only the most plausible one.
        _ => 1,
    };
    for found in matches.iter().take(full) {
        page.extend(meaning(found, lang, detail, verbose));
    }
    page.extend(parts(answer, lang, detail));
    let rest: Vec<Vec<String>> =
        matches.iter().skip(full).map(|found| brief(found, lang)).collect();
    if !rest.is_empty() {
        page.push(Block::Title(ui::OTHER_MEANINGS.get(lang), String::new()));
        page.push(Block::Table(
            vec![
                ui::FAMILY.get(lang),
                ui::CODE.get(lang),
                ui::SYMBOL.get(lang),
                ui::MESSAGE.get(lang),
            ],
            rest,
        ));
    }
    page
}

/// The meanings of the parts of a code, and the fix if no table has the whole code.
fn parts(answer: &Answer, lang: Lang, detail: Detail) -> Vec<Block> {
    let mut page = Vec::new();
    for decoding in &answer.decodings {
        // For a known code the digits add nothing new, so they are shown only in detailed pages.
        let whole = answer.matches.is_empty();
        if !whole && detail == Detail::Short && decoding.scheme != ui::SCHEME_EVENT {
            continue;
        }
        let title = decoding.scheme.get(lang);
        if whole {
            page.push(Block::Title(answer.asked.clone(), title));
        } else {
            page.push(Block::Heading(title));
        }
        let facts = decoding.parts.iter().map(|part| {
            let meaning = part
                .meaning
                .as_ref()
                .map_or_else(|| ui::PART_UNKNOWN.get(lang), |meaning| meaning.get(lang).to_owned());
            (format!("{} {}", part.name.get(lang), part.value), meaning)
        });
        page.push(Block::Facts(facts.collect()));
        if whole {
            if decoding.scheme != ui::SCHEME_REGISTERS {
                page.push(Block::Paragraph(ui::NOT_IN_TABLES.get(lang)));
            }
            for link in &decoding.links {
                page.push(Block::Heading(format!(
                    "{} ({})",
                    link.cause.title.get(lang),
                    link.cause.id
                )));
                page.extend(about_cause(link.cause, None, lang));
                page.extend(more_about(link.cause, lang, detail));
            }
        }
    }
    page
}

/// The message of a row, in Chinese if requested and available.
fn message(row: &Row, lang: Lang) -> &str {
    match lang {
        Lang::Zh if !row.zh.is_empty() => &row.zh,
        _ if row.message.is_empty() && row.symbol.is_empty() => &row.zh,
        _ => &row.message,
    }
}

/// The reactions of the cluster management to a fault: words for the names in the source.
const LEVELS: [(&str, ui::Label); 9] = [
    ("NotHandle", ui::LEVEL_NOTHANDLE),
    ("SubHealth", ui::LEVEL_SUBHEALTH),
    ("RestartRequest", ui::LEVEL_RESTARTREQUEST),
    ("RestartBusiness", ui::LEVEL_RESTARTBUSINESS),
    ("FreeRestartNPU", ui::LEVEL_FREERESTARTNPU),
    ("RestartNPU", ui::LEVEL_RESTARTNPU),
    ("PreSeparateNPU", ui::LEVEL_PRESEPARATENPU),
    ("SeparateNPU", ui::LEVEL_SEPARATENPU),
    ("SeparateDPU", ui::LEVEL_SEPARATEDPU),
];

/// The reaction to a fault in words, followed by the name in the source.
pub(super) fn level(level: &str, lang: Lang) -> String {
    let levels = level.split_whitespace().map(|name| {
        let short = name.trim_end_matches("Codes").trim_end_matches("Fault");
        match LEVELS.iter().find(|(known, _)| *known == short) {
            Some((_, known)) => format!("{} ({name})", known.get(lang)),
            None => name.to_owned(),
        }
    });
    levels.collect::<Vec<_>>().join(", ")
}

/// The first version that has a code, in words: a version, or bounds for codes that are older than
/// the public sources, such as `≤ 8.1.RC1` and `> 8.1.RC1, ≤ 8.5.0`.
fn since(cell: &str, lang: Lang) -> String {
    let after = cell.strip_prefix("> ");
    if cell == "master" {
        ui::SINCE_UNRELEASED.get(lang)
    } else if let Some((after, by)) = after.and_then(|after| after.split_once(", ≤ ")) {
        ui::SinceBetween { after, by }.text().get(lang).to_owned()
    } else if let Some(after) = after {
        ui::SinceAfter { version: after }.text().get(lang).to_owned()
    } else if let Some(by) = cell.strip_prefix("≤ ") {
        ui::SinceBy { version: by }.text().get(lang).to_owned()
    } else {
        cell.to_owned()
    }
}

fn meaning(found: &Match, lang: Lang, detail: Detail, verbose: bool) -> Vec<Block> {
    let Match { family, row, cause, through, note, also } = found;
    let mut facts =
        vec![(ui::FAMILY.get(lang), format!("{} ({})", family.title.get(lang), family.id))];
    let mut fact = |label: ui::Label, value: &str| {
        if !value.is_empty() {
            facts.push((label.get(lang), value.to_owned()));
        }
    };
    fact(ui::MESSAGE, &row.message);
    fact(ui::MESSAGE, if lang == Lang::Zh { &row.zh } else { "" });
    fact(ui::COMPONENT, &row.component);
    fact(ui::HANDLING, &level(&row.level, lang));
    fact(ui::FORMERLY, &row.formerly);
    fact(ui::STANDS_AFTER, &context(family));
    fact(ui::BECOMES, &codes(&found.find_targets(), usize::MAX));
    let few = if verbose || detail == Detail::Long { usize::MAX } else { FEW };
    fact(ui::COMES_OF, &codes(&found.find_sources(), few));
    fact(ui::CANN_VERSIONS, &since(&row.since, lang));
    fact(ui::CANN_UNTIL, &row.until);
    fact(ui::DOCUMENT, &row.doc);
    fact(ui::SOURCE, &row.source);
    for (other, row) in also {
        let said = [message(row, lang), &row.formerly];
        let own = message(&found.row, lang);
        let new: Vec<&str> =
            said.into_iter().filter(|words| !words.is_empty() && *words != own).collect();
        if !new.is_empty() {
            facts.push((other.title.get(lang).to_owned(), new.join(" / ")));
        }
    }
    let mut page = vec![Block::Title(row.code.clone(), row.symbol.clone()), Block::Facts(facts)];
    page.push(Block::Paragraph(family.says.get(lang).to_owned()));
    if let Some(note) = note {
        page.push(Block::Paragraph(note.text.get(lang).to_owned()));
        if note.status {
            page.push(Block::Paragraph(ui::CODE_IS_STATUS.get(lang)));
        }
    }
    let own_step = note.and_then(|note| note.step.as_ref());
    let Some(cause) = cause else {
        match own_step {
            Some(step) => {
                page.push(Block::Heading(ui::WHAT_TO_DO.get(lang)));
                page.push(Block::Steps(vec![(step.get(lang).to_owned(), None)]));
            }
            None if note.is_none() => page.push(Block::Paragraph(ui::NO_EXPLANATION.get(lang))),
            None => {}
        }
        if let Some(note) = note {
            page.push(Block::Heading(ui::SOURCES.get(lang)));
            page.push(Block::Bullets(note.sources.clone()));
        }
        return page;
    };
    let about = match through {
        None => cause.id.clone(),
        Some(code) => format!("{}, {} {code}", cause.id, ui::THROUGH.get(lang)),
    };
    page.push(Block::Heading(format!("{} ({about})", cause.title.get(lang))));
    page.extend(about_cause(cause, own_step, lang));
    page.extend(more_about(cause, lang, detail));
    page.push(Block::Heading(ui::SOURCES.get(lang)));
    let mut sources = note.map(|note| note.sources.clone()).unwrap_or_default();
    sources.extend(cause.sources.iter().cloned());
    page.push(Block::Bullets(sources));
    page
}

/// The data needed to confirm the cause, and related causes, for detailed pages.
fn more_about(cause: &Cause, lang: Lang, detail: Detail) -> Vec<Block> {
    if detail == Detail::Short {
        return Vec::new();
    }
    let mut page = Vec::new();
    let mut facts = vec![
        (ui::LAYER.get(lang), cause.layer().to_owned()),
        (ui::ROLE.get(lang), cause.role.label().get(lang)),
        (ui::LEVEL.get(lang), ui::severity(cause.severity).get(lang)),
    ];
    facts.retain(|(_, value)| !value.is_empty());
    page.push(Block::Facts(facts));
    let remedies = errcodes::remedies(&cause.id).map(|remedy| {
        let step = remedy.fix_step();
        (format!("`{}`: {}", remedy.words.join("` + `"), step.text.get(lang)), step.run)
    });
    let remedies: Vec<_> = remedies.collect();
    if !remedies.is_empty() {
        page.push(Block::Heading(ui::KNOWN_REMEDIES.get(lang)));
        page.push(Block::Steps(remedies));
    }
    let needed = cause.evidence.iter().filter_map(|id| errcodes::evidence(id));
    let needed: Vec<_> =
        needed.map(|needed| (needed.text.get(lang).to_owned(), needed.run.clone())).collect();
    if !needed.is_empty() {
        page.push(Block::Heading(ui::TO_BE_SURE.get(lang)));
        page.push(Block::Steps(needed));
    }
    let related: Vec<String> = cause
        .related
        .iter()
        .filter_map(|id| errcodes::cause(id))
        .map(|related| format!("{}: {}", related.id, related.title.get(lang)))
        .collect();
    if !related.is_empty() {
        page.push(Block::Heading(ui::RELATED.get(lang)));
        page.push(Block::Bullets(related));
    }
    page
}

/// A separate page for a cause, with the codes that indicate it.
pub fn cause_page(cause: &Cause, lang: Lang) -> Vec<Block> {
    let mut page = vec![Block::Title(cause.id.clone(), cause.title.get(lang).to_owned())];
    let spoken: Vec<&str> = errcodes::links()
        .filter(|(_, _, link)| link.cause.id == cause.id)
        .map(|(_, code, _)| code)
        .collect();
    if !spoken.is_empty() {
        page.push(Block::Facts(vec![(ui::CODE.get(lang), spoken.join(", "))]));
    }
    page.extend(about_cause(cause, None, lang));
    page.extend(more_about(cause, lang, Detail::Long));
    page.push(Block::Heading(ui::SOURCES.get(lang)));
    page.push(Block::Bullets(cause.sources.clone()));
    page
}

/// The meaning of a cause and its fix. The first step is `own_step`, which is specific to the
/// requested code.
pub(super) fn about_cause(cause: &Cause, own_step: Option<&Text>, lang: Lang) -> Vec<Block> {
    let mut page = vec![
        Block::Paragraph(cause.text.get(lang).to_owned()),
        Block::Heading(ui::WHAT_TO_DO.get(lang)),
    ];
    let steps = cause.steps.iter().map(|step| {
        let step = step.fix_step();
        (step.text.get(lang).to_owned(), step.run)
    });
    let own_step = own_step.map(|step| (step.get(lang).to_owned(), None));
    page.push(Block::Steps(own_step.into_iter().chain(steps).collect()));
    let checks = known_checks(cause);
    if !checks.is_empty() {
        let run = format!("ascend-doctor check --only {}", checks.join(","));
        page.push(Block::Heading(ui::LOOK_FOR_IT.get(lang)));
        page.push(Block::Steps(vec![(ui::LOOK_FOR_IT_HOW.get(lang), Some(run))]));
    }
    page
}

/// The checks that a cause names and that exist in this version.
fn known_checks(cause: &Cause) -> Vec<&str> {
    let catalog = Catalog::builtin();
    cause.checks.iter().map(String::as_str).filter(|id| catalog.entry(id).is_some()).collect()
}

fn brief(found: &Match, lang: Lang) -> Vec<String> {
    let Match { family, row, .. } = found;
    let mut message = message(row, lang).to_owned();
    let context = context(family);
    if !context.is_empty() {
        message = format!("{message} ({}: {context})", ui::STANDS_AFTER.get(lang));
    }
    vec![family.id.clone(), row.code.clone(), row.symbol.clone(), message]
}

fn context(family: &Family) -> String {
    family.context.iter().map(|key| format!("`{key}`")).collect::<Vec<_>>().join(", ")
}

/// Codes with their names, at most `limit` of them.
fn codes(rows: &[(&Family, Row)], limit: usize) -> String {
    let mut named: Vec<String> = rows
        .iter()
        .take(limit)
        .map(|(_, row)| format!("{} {}", row.code, row.symbol).trim().to_owned())
        .collect();
    if rows.len() > limit {
        named.push(format!("… (+{})", rows.len() - limit));
    }
    named.join(", ")
}

/// All codes of a family.
pub fn family_page(family: &Family, lang: Lang) -> Vec<Block> {
    let rows = errcodes::rows(family);
    let explained = rows.iter().any(|row| !row.becomes.is_empty());
    let mut head = vec![ui::CODE.get(lang), ui::SYMBOL.get(lang), ui::MESSAGE.get(lang)];
    if explained {
        head.insert(2, ui::BECOMES.get(lang));
    }
    let table = rows.iter().map(|row| {
        let code = format!("`{}`", row.code);
        let mut cells = vec![code, row.symbol.clone(), message(row, lang).to_owned()];
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
        page.push(Block::Facts(vec![(ui::STANDS_AFTER.get(lang), context)]));
    }
    page.push(Block::Table(head, table));
    page
}
