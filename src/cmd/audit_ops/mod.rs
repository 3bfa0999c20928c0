//! `audit-ops`: which operators of a model have a kernel, before it runs.
#![expect(
    clippy::disallowed_methods,
    reason = "opens the files that the user named; of the machine only torch_npu is looked for"
)]

mod chosen;
mod found;

use std::fs::File;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;

use super::finish;
use super::output::Output;
use crate::audit::judge::{Against, Class, Judged, judge};
use crate::audit::{self, Model};
use crate::checks::chip::ChipFamily;
use crate::cli::AuditOpsArgs;
use crate::ops::dispatch::{Registrations, Shipped};
use crate::ops::tables::{Column, Origin};
use crate::ops::{Match, Tables};

use crate::report::{ExitStatus, Report, Table};
use crate::text::{Text, sentence, words};
use chosen::Chosen;

/// An input that was read, with what was found out.
struct Audited {
    path: String,
    model: Model,
    judged: Vec<Judged>,
}

pub(super) fn run(args: &AuditOpsArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let tables = Tables::get();
    let chip = args.soc.as_deref().map(chip).transpose()?;
    let chosen = Chosen::new(args, tables)?;
    let shipped = Shipped { tables, target: &chosen.target };
    let registered: &dyn Registrations = match &chosen.found {
        Some(found) => &found.installed,
        None => &shipped,
    };
    let against = Against { registered, tables, target: &chosen.target, chip };
    let subject = args.inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let mut report = Report::new("audit-ops", subject.join(" "));
    let mut read = Vec::new();
    let mut unread = Vec::new();
    for input in &args.inputs {
        let path = input.display().to_string();
        match open(input) {
            Ok(model) => {
                let judged = judge(&model, against);
                read.push(Audited { path, model, judged });
            }
            Err(error) => unread.push((path, error)),
        }
    }
    if read.is_empty()
        && let Some((path, error)) = unread.first()
    {
        let rest = unread.len() - 1;
        let more = if rest > 0 { format!(" (and {rest} more)") } else { String::new() };
        bail!("cannot audit `{}`: {error:#}{more}", crate::text::escape_line(path));
    }
    for (path, error) in &unread {
        found::unreadable(&mut report, path, &format!("{error:#}"));
    }
    tell(&mut report, &read, &chosen, tables, args);
    found::installation(&mut report, &chosen);
    found::findings(&mut report, &read, &chosen.version, against);
    finish(report, output)
}

fn chip(name: &str) -> anyhow::Result<ChipFamily> {
    ChipFamily::from_soc(name).with_context(|| {
        format!(
            "`{name}` is no chip that is known: expected a name as `npu-smi info` and ATC use it, \
             such as Ascend910B3, Ascend310P3, Ascend910_9391 or Ascend950PR_9579"
        )
    })
}

fn open(path: &Path) -> anyhow::Result<Model> {
    let file = File::open(path)?;
    let kind = file.metadata()?.file_type();
    if kind.is_dir() {
        bail!("it is a directory; name the files in it");
    }
    if !kind.is_file() {
        bail!("it is no regular file");
    }
    Ok(audit::read(&mut { file })?)
}

fn tell(
    report: &mut Report,
    read: &[Audited],
    chosen: &Chosen,
    tables: &Tables,
    args: &AuditOpsArgs,
) {
    let column = &tables.columns[chosen.target.column];
    report.overview.push((words("ops_label_target"), chosen.said.clone()));
    if chosen.found.is_none() && chosen.target.how == Match::Nearest {
        let args = [("release", column.release.to_owned()), ("torch", column.torch.to_owned())];
        report.overview.push((Text::same(""), sentence("ops_target_nearest", &args)));
    }
    for input in read {
        report.overview.push((words("ops_label_input"), describe(input)));
        for note in &input.model.notes {
            let key =
                serde_json::to_value(note).ok().and_then(|key| key.as_str().map(str::to_owned));
            let key = format!("ops_note_{}", key.unwrap_or_default());
            report.notes.push(sentence(&key, &[("path", input.path.clone())]));
        }
    }
    if let Some(share) = share(read) {
        report.overview.push((words("ops_label_operators"), share));
        report.notes.push(words("ops_note_limits"));
    }
    report.tables.extend(operators(read, args.all));
    if args.all_versions {
        report.tables.extend(versions(read, tables));
    }
    report.provenance.push(("operators".to_owned(), chosen.provenance(column)));
    report.extra.insert("target".to_owned(), chosen.json(column, args.soc.as_deref()));
    let inputs: Vec<_> = read
        .iter()
        .map(|input| {
            let mut row = serde_json::to_value(&input.model).unwrap_or_default();
            if let Some(row) = row.as_object_mut() {
                row.insert("path".to_owned(), json!(input.path));
                row.insert("operators".to_owned(), json!(input.judged));
            }
            row
        })
        .collect();
    report.extra.insert("inputs".to_owned(), json!(inputs));
    if args.all_versions {
        let all: serde_json::Map<_, _> = attention(read)
            .map(|judged| (judged.op.to_string(), json!(releases(judged, tables))))
            .collect();
        report.extra.insert("releases".to_owned(), json!(all));
    }
}

fn describe(input: &Audited) -> Text {
    let format = serde_json::to_value(input.model.format).ok();
    let format =
        format.and_then(|name| name.as_str().map(|name| words(&format!("ops_format_{name}"))));
    let format = format.unwrap_or_else(|| Text::same(""));
    let uses: u64 = input.judged.iter().map(|judged| judged.used.count).sum();
    let key = if input.model.torch.is_some() { "ops_input_torch" } else { "ops_input" };
    let fill = |format: &str| {
        sentence(
            key,
            &[
                ("path", input.path.clone()),
                ("format", format.to_owned()),
                ("torch", input.model.torch.clone().unwrap_or_default()),
                ("operators", input.judged.len().to_string()),
                ("uses", uses.to_string()),
            ],
        )
    };
    Text { en: fill(&format.en).en, zh: fill(&format.zh).zh }
}

#[expect(clippy::cast_precision_loss, reason = "whole percent are shown")]
/// The share of uses, and of the time where it is known, that stays on the device.
fn share(read: &[Audited]) -> Option<Text> {
    let all = || read.iter().flat_map(|input| &input.judged);
    let good = |judged: &&Judged| judged.class <= Class::Composed;
    let count = |judged: &Judged| judged.used.count;
    let uses: u64 = all().map(count).sum();
    if uses == 0 {
        return None;
    }
    let time = |judged: &Judged| judged.used.micros.unwrap_or_default();
    let whole: f64 = all().map(time).sum();
    let share = percent(all().filter(good).map(count).sum::<u64>() as f64, uses as f64);
    let mut args = vec![("share", share), ("uses", uses.to_string())];
    if whole > 0.0 {
        args.push(("time", percent(all().filter(good).map(time).sum(), whole)));
        return Some(sentence("ops_share_time", &args));
    }
    Some(sentence("ops_share", &args))
}

/// A share in whole percent; neither 0 nor 100 is said of what is not all or nothing.
fn percent(part: f64, whole: f64) -> String {
    let exact = part / whole * 100.0;
    let shown =
        if part <= 0.0 || part >= whole { exact.round() } else { exact.round().clamp(1.0, 99.0) };
    format!("{shown} %")
}

/// Operators that are worth a row: what does not run on the device for all that is known.
fn attention(read: &[Audited]) -> impl Iterator<Item = &Judged> {
    read.iter().flat_map(|input| &input.judged).filter(|judged| judged.class > Class::PartlyKnown)
}

fn operators(read: &[Audited], all: bool) -> Option<Table> {
    let rows: Vec<Vec<Text>> = read
        .iter()
        .flat_map(|input| &input.judged)
        .filter(|judged| all || judged.class > Class::PartlyKnown)
        .map(|judged| {
            vec![
                Text::same(judged.op.to_string()),
                words(judged.class.word()),
                Text::same(judged.used.count.to_string()),
                Text::same(judged.through.join(", ")),
                Text::same(judged.used.places.first().cloned().unwrap_or_default()),
            ]
        })
        .collect();
    let head = [
        "ops_head_operator",
        "ops_head_class",
        "ops_head_uses",
        "ops_head_through",
        "ops_head_place",
    ];
    (!rows.is_empty()).then(|| Table {
        title: words(if all { "ops_table_all" } else { "ops_table" }),
        head: head.map(words).to_vec(),
        rows,
    })
}

fn versions(read: &[Audited], tables: &Tables) -> Option<Table> {
    let mut rows: Vec<Vec<Text>> = attention(read)
        .filter(|judged| judged.op.namespace == "aten" || judged.op.namespace == "npu")
        .map(|judged| {
            let releases = releases(judged, tables);
            let said = if releases.is_empty() {
                words("ops_no_release")
            } else {
                Text::same(releases.join("; "))
            };
            vec![Text::same(judged.op.to_string()), said]
        })
        .collect();
    rows.dedup();
    (!rows.is_empty()).then(|| Table {
        title: words("ops_table_versions"),
        head: ["ops_head_operator", "ops_head_releases"].map(words).to_vec(),
        rows,
    })
}

/// The releases in which what decides about an operator has a kernel, by version of PyTorch:
/// `2.1.0: 6.0.rc3–7.2.0`.
fn releases(judged: &Judged, tables: &Tables) -> Vec<String> {
    let own = vec![judged.op.to_string()];
    let names = if judged.through.is_empty() { &own } else { &judged.through };
    let there = |at: usize| {
        names.iter().all(|name| {
            let runs = match name.split_once("::") {
                Some(("npu", name)) => tables.custom(name),
                Some((_, name)) => tables.kernel(name),
                None => None,
            };
            runs.is_some_and(|runs| runs.at(at).is_some())
        })
    };
    let is_release = |column: &Column| {
        column.origin == Origin::Release
            && !column.release.starts_with("branch")
            && column.release != "master"
    };
    let mut all: Vec<(&str, Vec<&str>)> = Vec::new();
    for (at, column) in tables.columns.iter().enumerate() {
        if !is_release(column) || !there(at) {
            continue;
        }
        match all.last_mut() {
            Some((torch, list)) if *torch == column.torch => list.push(column.release),
            _ => all.push((column.torch, vec![column.release])),
        }
    }
    let said = all.into_iter().map(|(torch, list)| match list.as_slice() {
        [one] => format!("{torch}: {one}"),
        [first, .., last] => format!("{torch}: {first}–{last}"),
        [] => torch.to_owned(),
    });
    said.collect()
}
