//! `audit-ops`: which operators of a model have a kernel, before it runs.
#![expect(clippy::disallowed_methods, reason = "looks at directories that the user named")]

mod chosen;
mod documented;
mod found;
mod hints;
mod inputs;
mod links;
mod machine;
mod suggest;
mod versions;

use anyhow::{Context as _, bail, ensure};
use serde_json::json;

use super::finish;
use super::machine::this_machine;
use super::output::Output;
use crate::cli::AuditOpsArgs;
use audit::class::Class;
use audit::classify::{Judged, judge};
use audit::documented_limits::{Documented, documented};
use audit::environment::Against;
use audit::environment::CannFunctions;
use audit::ops::dispatch::{Registrations, Shipped};
use audit::ops::documents::Documents;
use audit::ops::tables::Column;
use audit::ops::{Match, Tables};
use audit::python;
use audit::{self, Model};
use base::chip::ChipFamily;

use base::report::{ExitStatus, Report, Table};
use base::text::Text;
use chosen::Chosen;
use data::{sentence, words};
use inputs::{Directory, Inputs, Unread};
use machine::Cann;
use render::Format;

/// What is judged for.
struct Place<'a> {
    chosen: &'a Chosen,
    chip: Option<ChipFamily>,
    cann: Option<&'a Cann>,
    /// The documents of torch_npu that speak for it.
    documents: Option<Documents>,
}

impl Place<'_> {
    fn json(&self, column: &Column) -> serde_json::Value {
        let mut target = self.chosen.json(column);
        target["soc"] = json!(self.chip.map(ChipFamily::as_str));
        target["cann"] = json!(self.cann.map(Cann::json));
        target["documents"] = json!(self.documents.map(|documents| documents.name));
        target
    }
}

/// An input that was read, with what was found out.
struct Audited {
    path: String,
    model: Model,
    judged: Vec<Judged>,
    /// What the documents of torch_npu limit of what it calls.
    documented: Vec<Documented>,
}

/// What the inputs are judged for, by the command line and the machine.
struct About {
    chip: Option<ChipFamily>,
    cann: Option<Cann>,
    chosen: Chosen,
}

impl About {
    fn find(args: &AuditOpsArgs, tables: &'static Tables) -> anyhow::Result<Self> {
        let this = this_machine();
        Ok(Self {
            chip: machine::chip(args, &this)?,
            cann: Cann::find(args.cann.as_deref(), &this)?,
            chosen: Chosen::new(args, &this, tables)?,
        })
    }
}

pub(super) fn run(args: &AuditOpsArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    for site in &args.site {
        // Where nothing is found, nothing would be followed, and nobody told.
        let shown = site.display();
        let meta =
            std::fs::metadata(site).with_context(|| format!("cannot read `{shown}` (--site)"))?;
        ensure!(meta.is_dir(), "cannot read `{shown}` (--site): it is no directory");
    }
    let dtype = args.dtype.as_deref().map(dtype).transpose()?;
    let tables = Tables::get;
    let options = python::Options {
        follow: args.follow_imports,
        site: args.site.clone(),
        backward: args.backward,
        suggest: args.suggest,
    };
    let open = || Inputs::open(&args.inputs, &options);
    // A single model is read before other threads have begun. Of a directory files are read and parsed
    // while the tables are unpacked and the machine is looked at.
    let (about, inputs) = if args.inputs.iter().any(|path| path.is_dir()) {
        inputs::prepare();
        let (about, inputs) = rayon::join(|| About::find(args, tables()), open);
        (about?, inputs)
    } else {
        (About::find(args, tables())?, open())
    };
    let About { chip, cann, chosen } = about;
    let tables = tables();
    let shipped = Shipped { tables, target: &chosen.target };
    let registered: &dyn Registrations = match &chosen.found {
        Some(found) => &found.installed,
        None => &shipped,
    };
    let against = Against {
        registered,
        tables,
        target: &chosen.target,
        chip,
        cann: cann.as_ref().map(|cann| cann as &dyn CannFunctions),
        dtype,
    };
    let subject = args.inputs.iter().map(|path| path.display().to_string()).collect::<Vec<_>>();
    let mut report = Report::new("audit-ops", subject.join(" "));
    let column = &tables.columns[chosen.target.column];
    let documents = Documents::of(column.torch, column.release);
    if inputs.read.is_empty() {
        bail!(nothing(&inputs));
    }
    found::unread(&mut report, &inputs.unread);
    let read: Vec<Audited> = inputs
        .read
        .into_iter()
        .map(|(path, model)| {
            let limited = || documents.map(|documents| documented(&model, documents, against));
            let judged = || judge(&model, against);
            // Of models no calls are known, and they are small.
            let (judged, documented) =
                if model.apis.is_empty() { (judged(), None) } else { rayon::join(judged, limited) };
            Audited { judged, documented: documented.unwrap_or_default(), path, model }
        })
        .collect();
    report.notes.extend(inputs.directories.iter().map(of_directory));
    let cut = inputs.directories.iter().filter(|dir| dir.cut);
    let cut = cut.map(|dir| sentence("ops_note_directory_cut", &[("path", dir.path.clone())]));
    report.no_verdict.extend(cut);
    let place = Place { chosen: &chosen, chip, cann: cann.as_ref(), documents };
    tell(&mut report, &read, &place, tables, args);
    if output.format() == Format::Json {
        data(&mut report, &read, &place, tables, args.all_versions);
    }
    found::installation(&mut report, &chosen);
    found::findings(&mut report, &read, &place, against);
    if let Some(documents) = documents {
        documented::findings(&mut report, &read, documents.name, chip);
    }
    if args.suggest {
        suggest::suggest(&mut report, &read, against);
    }
    // What a large tree said takes its time to be forgotten, for which nobody has to wait.
    rayon::spawn(move || drop(read));
    finish(report, output)
}

fn tell(
    report: &mut Report,
    read: &[Audited],
    place: &Place<'_>,
    tables: &Tables,
    args: &AuditOpsArgs,
) {
    let chosen = place.chosen;
    let column = &tables.columns[chosen.target.column];
    report.overview.push((words("ops_label_target"), chosen.said.clone()));
    if chosen.found.is_none() && chosen.target.how == Match::Nearest {
        let args = [("release", column.release.to_owned()), ("torch", column.torch.to_owned())];
        report.overview.push((Text::same(""), sentence("ops_target_nearest", &args)));
    }
    if let Some(chip) = place.chip {
        report.overview.push((words("verify_chip"), Text::same(chip.label())));
    }
    if let Some(cann) = place.cann {
        report.overview.push((words("ops_label_cann"), cann.said()));
    }
    for input in read {
        report.overview.push((words("ops_label_input"), describe(input)));
        for (what, text) in &input.model.says {
            let said = Text::same(text.clone());
            report.overview.push((words(&format!("ops_says_{what}")), said));
        }
        for note in &input.model.notes {
            let key =
                serde_json::to_value(note).ok().and_then(|key| key.as_str().map(str::to_owned));
            let key = format!("ops_note_{}", key.unwrap_or_default());
            let said = sentence(&key, &[("path", input.path.clone())]);
            if note.is_gap() { report.no_verdict.push(said) } else { report.notes.push(said) }
        }
    }
    if read.iter().all(|input| input.judged.is_empty()) {
        report.no_verdict.push(words("ops_no_operators"));
    }
    if let Some(share) = share(read) {
        report.overview.push((words("ops_label_operators"), share));
        report.notes.push(words("ops_note_limits"));
    }
    report.tables.extend(operators(read, args.all));
    if args.all {
        report.tables.extend(documented::table(read));
    }
    if args.all_versions {
        report.tables.extend(versions::table(read, tables));
    }
    report.provenance.push(("operators".to_owned(), chosen.provenance(column)));
}

/// What only the JSON report has: all operators with all their places, which for a large tree takes
/// longer to put together than all that is told in text.
fn data(
    report: &mut Report,
    read: &[Audited],
    place: &Place<'_>,
    tables: &Tables,
    all_versions: bool,
) {
    let column = &tables.columns[place.chosen.target.column];
    report.extra.insert("target".to_owned(), place.json(column));
    let inputs: Vec<_> = read
        .iter()
        .map(|input| {
            let mut row = serde_json::to_value(&input.model).unwrap_or_default();
            if let Some(row) = row.as_object_mut() {
                row.insert("path".to_owned(), json!(input.path));
                row.insert("operators".to_owned(), json!(input.judged));
                if !input.documented.is_empty() {
                    row.insert("apis".to_owned(), json!(input.documented));
                }
            }
            row
        })
        .collect();
    report.extra.insert("inputs".to_owned(), json!(inputs));
    if all_versions {
        let all: serde_json::Map<_, _> = attention(read)
            .map(|judged| (judged.op.to_string(), json!(versions::releases(judged, tables))))
            .collect();
        report.extra.insert("releases".to_owned(), json!(all));
    }
}

/// A data type by the name of PyTorch or of CANN's documents.
fn dtype(name: &str) -> anyhow::Result<&str> {
    const KNOWN: [&str; 16] = [
        "float16",
        "bfloat16",
        "float32",
        "float64",
        "complex64",
        "complex128",
        "int8",
        "int16",
        "int32",
        "int64",
        "uint8",
        "bool",
        "fp16",
        "bf16",
        "fp32",
        "fp64",
    ];
    let name = name.strip_prefix("torch.").unwrap_or(name);
    if !KNOWN.contains(&name) {
        bail!("`{name}` is no data type that is known: expected one of {}", KNOWN.join(", "));
    }
    Ok(name)
}

/// Why there is nothing to audit.
fn nothing(inputs: &Inputs) -> String {
    let escaped = base::text::escape_line;
    if let Some(Unread { path, why, .. }) = inputs.unread.first() {
        let rest = inputs.unread.len() - 1;
        let more = if rest > 0 { format!(" (and {rest} more)") } else { String::new() };
        return format!("cannot audit `{}`: {why}{more}", escaped(path));
    }
    let Some(dir) = inputs.directories.first() else {
        return "there is nothing to audit".to_owned();
    };
    format!(
        "there is nothing to audit in `{}`: {} files of no known format, {} pickles of torch.save \
         (never unpickled: export the model with torch.export)",
        escaped(&dir.path),
        dir.other,
        dir.pickles
    )
}

/// What was left out of a directory.
fn of_directory(dir: &Directory) -> Text {
    let args = [
        ("path", dir.path.clone()),
        ("audited", dir.audited.to_string()),
        ("other", dir.other.to_string()),
        ("pickles", dir.pickles.to_string()),
    ];
    sentence("ops_note_directory", &args)
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

/// Where an operator is used first, as it is shown.
fn first_place(judged: &Judged) -> String {
    judged.used.places.first().map_or_else(String::new, audit::Place::to_string)
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
                Text::same(first_place(judged)),
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
