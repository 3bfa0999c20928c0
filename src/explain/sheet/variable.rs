//! Environment variables, with or without a value: `data/env_values.tsv`, and the rules of
//! `convert` for CUDA variables.

use base::report::{Evidence, Finding, Severity};
use base::text::{Lang, Text};
use checks::verdict::run_all_checks;
use data::{EnvVars, VariableTable, ui};
use rules::{Match, Rules};

use facts::Facts;

use super::{Fit, Sheet, SheetKind};

/// The variable of the Ascend stack that a sentence names, with its value.
pub(super) fn find_within(text: &str) -> Option<&str> {
    let is_part = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '=' | '.' | ':' | '/');
    let mut words = text.split(|c: char| !is_part(c)).filter(|word| word.contains('_'));
    let known = |word: &&str| {
        let name = word.split('=').next().unwrap_or_default();
        VariableTable::builtin().find(name).is_some()
    };
    words.find(known)
}

pub(super) fn read(text: &str) -> Vec<Sheet> {
    let text = ["export ", "-e ", "--env ", "set ", "ENV ", "echo "]
        .iter()
        .find_map(|lead| text.strip_prefix(lead))
        .unwrap_or(text)
        .trim();
    let (name, value) = match text.split_once('=') {
        Some((name, value)) => (name.trim(), Some(value.trim().trim_matches(['"', '\'']))),
        None => (text, None),
    };
    let name = name.trim_start_matches('$').trim_matches(['{', '}']);
    let is_name = name.contains('_')
        && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
        && !name.starts_with(|c: char| c.is_ascii_digit());
    let is_value = value.is_none_or(|value| value.len() < 400 && !value.contains('\n'));
    if !is_name || !is_value {
        return Vec::new();
    }
    of_table(name, value).or_else(|| of_rule(name, value)).into_iter().collect()
}

/// The sheet of a variable of the Ascend stack.
fn of_table(name: &str, value: Option<&str>) -> Option<Sheet> {
    let upper = name.to_ascii_uppercase();
    let Some(row) = VariableTable::builtin().find(&upper) else { return of_list(&upper, value) };
    let mut sheet = Sheet::new(SheetKind::Variable, &upper);
    if let Some(other) = row.read_instead() {
        // The name may belong to a script, so setting it is not an error.
        sheet.summary = ui::SheetUnread { name: row.name, other }.text();
        sheet.fact(ui::SHEET_INSTEAD, other);
        sheet.commands.push(format!("ascend-doctor explain {other}"));
        sheet.source(row.source);
        return Some(sheet);
    }
    sheet.summary = row.about();
    sheet.fact(ui::SHEET_SET_TO, value.unwrap_or_default());
    let unit = |text: &Text| match row.unit {
        _ if text.en.is_empty() => Text::default(),
        "" => text.clone(),
        unit => Text::new(format!("{} {unit}", text.en), format!("{} {unit}", text.zh)),
    };
    let parts: Vec<Text> = row.values.split('|').map(describe_value).collect();
    let join =
        |by: &str, lang: Lang| parts.iter().map(|part| part.get(lang)).collect::<Vec<_>>().join(by);
    let values = Text::new(join(", ", Lang::En), join("、", Lang::Zh));
    sheet.push("values", ui::SHEET_VALUES.text(), unit(&values));
    let default = match row.default {
        "unset" => ui::SHEET_UNSET.text(),
        default => unit(&Text::same(default)),
    };
    sheet.push("default", ui::SHEET_DEFAULT.text(), default);
    if let Some(value) = value
        && let Some(finding) = find_fault(&upper, value)
    {
        sheet.judge(Fit::Conflict, finding.title);
        sheet.findings.push(finding.id);
    } else if let Some(value) = value {
        match row.accepts(value) {
            Some(true) => sheet.judge(Fit::Fits, ui::SheetValueFits { value }.text()),
            Some(false) => {
                sheet.judge(
                    Fit::Conflict,
                    ui::SheetValueRefused { name: row.name, value, values }.text(),
                );
            }
            None => sheet.judge(Fit::Unknown, ui::SheetValueUnlisted { name: row.name }.text()),
        }
    }
    sheet.commands.push("ascend-doctor check --only ENV".to_owned());
    sheet.source(row.source);
    Some(sheet)
}

/// A part of the accepted values in words.
fn describe_value(part: &str) -> Text {
    match part {
        "path" => ui::SHEET_ANY_PATH.text(),
        "devices" => ui::SHEET_DEVICE_LIST.text(),
        "interface" => ui::SHEET_ANY_INTERFACE.text(),
        "text" => ui::SHEET_ANY_TEXT.text(),
        part => Text::same(match part.strip_suffix("..") {
            Some(low) => format!("≥ {low}"),
            None => part.to_owned(),
        }),
    }
}

/// The finding of `check` for a machine on which this variable has this value.
fn find_fault(name: &str, value: &str) -> Option<Finding> {
    let mut facts = Facts::default();
    facts.env.known = true;
    facts.env.vars.insert(name.to_owned(), value.to_owned());
    let report = run_all_checks(&facts, None, &|_| None);
    report.findings.into_iter().find(|finding| {
        let is_about = |evidence: &Evidence| evidence == &Evidence::env(name).value(value);
        finding.id.starts_with("ENV-")
            && finding.severity != Severity::Info
            && finding.evidence.iter().any(is_about)
    })
}

/// The sheet of a variable for which only the reader is known.
fn of_list(name: &str, value: Option<&str>) -> Option<Sheet> {
    let known = EnvVars::builtin();
    let (reader, _) = known.names.iter().find(|(_, names)| names.iter().any(|own| own == name))?;
    let mut sheet = Sheet::new(SheetKind::Variable, name);
    sheet.fact(ui::SHEET_SET_TO, value.unwrap_or_default());
    sheet.fact(ui::SHEET_READER, reader);
    if value.is_some() {
        sheet.judge(Fit::Unknown, ui::SheetValueUnlisted { name }.text());
    }
    sheet.source(known.source.get(reader).map_or("", String::as_str));
    Some(sheet)
}

/// The sheet of a CUDA variable: its replacement on an NPU.
fn of_rule(name: &str, value: Option<&str>) -> Option<Sheet> {
    let rule = Rules::builtin().find(Match::Env, name)?;
    let mut sheet = Sheet::new(SheetKind::Variable, name);
    sheet.fact(ui::SHEET_SET_TO, value.unwrap_or_default());
    sheet.fact(ui::SHEET_INSTEAD, rule.to.unwrap_or_default());
    let note = rule.text().note.or(rule.text().advice);
    if let Some(note) = note {
        sheet.summary = note.into();
    }
    sheet.commands.push(format!("ascend-doctor explain {}", rule.id));
    for source in &rule.text().source {
        sheet.source(source);
    }
    Some(sheet)
}
