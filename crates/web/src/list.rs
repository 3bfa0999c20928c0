//! Searches names, and lists the tables.

use base::chip_name;
use base::text::Lang;
use data::{Catalog, EnvVars, Matrix, VariableTable};
use errcodes::{Cause, Hit, Row};
use explain::{Sheet, Topic};

use crate::reply::{Entry, EntryKind, Outcome, Reply};

/// The most hits of a search.
const SHOWN: usize = 60;
/// The most hits of one kind, except codes and causes.
const OF_KIND: usize = 12;

/// Finds codes, causes, findings, rules, variables, chips and versions of packages that have all words.
pub(crate) fn search(words: &str, lang: Lang) -> Reply {
    let words = words.trim();
    let mut hits = Vec::new();
    if !words.is_empty() {
        hits.extend(named(words, lang));
        let wanted: Vec<String> = words.split_whitespace().map(str::to_lowercase).collect();
        let fits = |entry: &Entry| {
            let text = format!("{} {}", entry.name, entry.title).to_lowercase();
            wanted.iter().all(|word| text.contains(word))
        };
        let few = |entries: Vec<Entry>| entries.into_iter().filter(fits).take(OF_KIND);
        let found = errcodes::search(words);
        let (causes, codes): (Vec<Entry>, Vec<Entry>) = found
            .iter()
            .map(|hit| of_hit(hit, lang))
            .partition(|entry| entry.kind == EntryKind::Cause);
        hits.extend(causes);
        hits.extend(few(versions()));
        hits.extend(few(chips()));
        hits.extend(few(variables(lang)));
        hits.extend(few(findings(lang)));
        hits.extend(codes);
    }
    let mut known: Vec<(EntryKind, String)> = Vec::new();
    hits.retain(|hit| {
        let key = (hit.kind, hit.ask.clone() + &hit.title);
        let new = !known.contains(&key);
        known.push(key);
        new
    });
    of_entries(hits, SHOWN)
}

/// Lists a table.
pub(crate) fn list(of: &str, lang: Lang) -> Reply {
    let entries = match of {
        "families" => families(lang),
        "causes" => errcodes::causes().map(|cause| of_cause(cause, lang)).collect(),
        "findings" => findings(lang),
        "variables" => variables(lang),
        "versions" => versions(),
        family => match errcodes::family(family) {
            Some(family) => {
                errcodes::rows(family).iter().map(|row| of_row(&family.id, row, lang)).collect()
            }
            None => return Reply::of(Outcome::Unknown),
        },
    };
    of_entries(entries, usize::MAX)
}

fn of_entries(mut hits: Vec<Entry>, most: usize) -> Reply {
    let more = hits.len().saturating_sub(most);
    hits.truncate(most);
    let outcome = if hits.is_empty() { Outcome::Unknown } else { Outcome::Listed };
    Reply { hits, more, status: if more == 0 { 0 } else { 3 }, ..Reply::of(outcome) }
}

/// What has exactly this name.
pub(crate) fn named(name: &str, lang: Lang) -> Option<Entry> {
    let topics = explain::find(name).ok()?;
    let entry = |kind, name: &str, title: &str| Entry {
        kind,
        name: name.to_owned(),
        title: title.to_owned(),
        ask: name.to_owned(),
    };
    Some(match topics.first()? {
        Topic::Finding(found, _) | Topic::Occurred(found, ..) => {
            entry(EntryKind::Finding, &found.id, found.name.get(lang))
        }
        Topic::Family(family) => entry(EntryKind::Finding, &family.family, family.title.get(lang)),
        Topic::CodeFamily(family) => of_family(family, lang),
        Topic::Code(answer) => {
            let first = answer.matches.first();
            let title = first.map(|first| title_of_row(&first.row, lang)).unwrap_or_default();
            entry(EntryKind::Code, &answer.asked, &title)
        }
        Topic::Cause(cause) => of_cause(cause, lang),
        Topic::Rule(rule) => entry(EntryKind::Rule, rule.id, rule.title().get(lang)),
        Topic::Sheet(sheet) => of_sheet(sheet, name, lang),
    })
}

fn of_sheet(sheet: &Sheet, asked: &str, lang: Lang) -> Entry {
    use explain::SheetKind::{Chip, DeviceRow, Variable};
    let kind = match sheet.about {
        Variable => EntryKind::Variable,
        Chip | DeviceRow => EntryKind::Chip,
        _ => EntryKind::Version,
    };
    let title = sheet.summary.get(lang).to_owned();
    Entry { kind, name: sheet.name.clone(), title, ask: asked.to_owned() }
}

fn of_hit(hit: &Hit, lang: Lang) -> Entry {
    match hit {
        Hit::Cause(cause) => of_cause(cause, lang),
        Hit::Code(family, row) => of_row(&family.id, row, lang),
    }
}

fn of_cause(cause: &Cause, lang: Lang) -> Entry {
    Entry {
        kind: EntryKind::Cause,
        name: cause.id.clone(),
        title: cause.title.get(lang).to_owned(),
        ask: cause.id.clone(),
    }
}

fn title_of_row(row: &Row, lang: Lang) -> String {
    let message = match lang {
        Lang::Zh if !row.zh.is_empty() => &row.zh,
        _ => &row.message,
    };
    format!("{} {message}", row.symbol).trim().to_owned()
}

fn of_row(family: &str, row: &Row, lang: Lang) -> Entry {
    Entry {
        kind: EntryKind::Code,
        name: row.code.clone(),
        title: format!("{} ({family})", title_of_row(row, lang)),
        ask: row.code.clone(),
    }
}

fn of_family(family: &errcodes::Family, lang: Lang) -> Entry {
    Entry {
        kind: EntryKind::Family,
        name: family.id.clone(),
        title: format!("{} ({})", family.title.get(lang), errcodes::rows(family).len()),
        ask: family.id.clone(),
    }
}

fn families(lang: Lang) -> Vec<Entry> {
    errcodes::families().iter().map(|family| of_family(family, lang)).collect()
}

fn findings(lang: Lang) -> Vec<Entry> {
    let entries = Catalog::builtin().entries();
    let entry = |found: &data::Entry| Entry {
        kind: EntryKind::Finding,
        name: found.id.clone(),
        title: found.name.get(lang).to_owned(),
        ask: found.id.clone(),
    };
    entries.map(entry).collect()
}

fn variables(lang: Lang) -> Vec<Entry> {
    let table = VariableTable::builtin();
    let entry = |name: &str| Entry {
        kind: EntryKind::Variable,
        name: name.to_owned(),
        title: table.find(name).map(|row| row.about().get(lang).to_owned()).unwrap_or_default(),
        ask: name.to_owned(),
    };
    let mut entries: Vec<Entry> = EnvVars::builtin().all().map(entry).collect();
    entries.sort_by(|one, other| one.name.cmp(&other.name));
    entries.dedup_by(|one, other| one.name == other.name);
    entries
}

fn chips() -> Vec<Entry> {
    let entry = |name: &str| Entry {
        kind: EntryKind::Chip,
        name: name.to_owned(),
        title: chip_name::family(name).map(|family| family.label().to_owned()).unwrap_or_default(),
        ask: name.to_owned(),
    };
    chip_name::NAMES.iter().map(|name| entry(name)).collect()
}

/// The releases of the compatibility matrix.
fn versions() -> Vec<Entry> {
    let matrix = Matrix::builtin();
    let entry = |package: &str, version: String, with: &[(&str, Option<String>)]| {
        let with = with.iter().filter_map(|(name, version)| {
            version.as_ref().map(|version| format!("{name} {version}"))
        });
        Entry {
            kind: EntryKind::Version,
            name: format!("{package} {version}"),
            title: with.collect::<Vec<_>>().join(", "),
            ask: format!("{package} {version}"),
        }
    };
    let text = |version: Option<&dyn ToString>| version.map(ToString::to_string);
    let torch_npu = matrix.torch_npu.iter().map(|row| {
        let cann = row.cann.as_ref().map(ToString::to_string);
        let torch = text(Some(&row.torch));
        entry("torch_npu", row.version.to_string(), &[("torch", torch), ("CANN", cann)])
    });
    let vllm = matrix.vllm_ascend.iter().map(|row| {
        let torch_npu = row.torch_npu.first().map(ToString::to_string);
        let cann = Some(row.cann.to_string());
        entry("vllm-ascend", row.version.to_string(), &[("torch_npu", torch_npu), ("CANN", cann)])
    });
    let mindspore = matrix.mindspore.iter().map(|row| {
        let cann = row.cann.as_ref().map(ToString::to_string);
        entry("mindspore", row.version.clone(), &[("CANN", cann)])
    });
    let cann = matrix.cann.iter().map(|row| entry("CANN", row.version.to_string(), &[]));
    let mut entries: Vec<Entry> = torch_npu.chain(vllm).chain(mindspore).chain(cann).collect();
    entries.dedup_by(|one, other| one.name == other.name);
    entries
}
