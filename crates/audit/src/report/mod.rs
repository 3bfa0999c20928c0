//! Builds the report of an audit: overview, tables, findings and JSON data.

mod api_limits;
mod findings;
mod hint_findings;
mod input;
pub(crate) mod members;
mod proof;
mod releases;
mod shares;
mod suggestions;

use data::{Fault, faults, ui};

use base::chip::ChipFamily;
use base::report::{Report, Table};
use base::text::Text;

use self::input::{AuditTarget, AuditedInput, attention};
use self::members::InputMember;
use self::shares::Shares;
use crate::cann::Cann;
use crate::class::SupportClass;
use crate::classify::{ClassifiedOperator, classify};
use crate::documented_limits::limited_apis;
use crate::environment::{CannFunctions, TargetEnvironment};
use crate::inputs::{Directory, Inputs, Unread};
use crate::model::{Format, Note};
use crate::ops::dispatch::{Registrations, Shipped};
use crate::ops::documents::Documents;
use crate::ops::{Match, Tables};
use crate::place::Place;
use crate::release::SelectedRelease;

pub use self::members::{AuditMembers, PatchMembers, SuggestionMembers};
pub use self::suggestions::ChangedSource;

/// The target and the contents of a report.
pub struct Request<'a> {
    /// The subject of the report.
    pub subject: String,
    /// The torch_npu.
    pub release: &'a SelectedRelease,
    /// The chip, if it is known.
    pub chip: Option<ChipFamily>,
    /// The CANN, if it is known.
    pub cann: Option<&'a Cann>,
    /// The data type of untyped inputs.
    pub dtype: Option<&'a str>,
    /// Tables list all operators and APIs.
    pub all: bool,
    /// The report lists the releases that have a kernel.
    pub all_versions: bool,
    /// The report suggests fused operators.
    pub suggest: bool,
    /// The report contains the data of all operators.
    pub data: bool,
}

/// Classifies all operators of the inputs and returns the report, with the sources that suggestions
/// change.
///
/// # Errors
///
/// Returns a fault with the reason if no input was read.
pub fn build(
    request: &Request<'_>,
    inputs: Inputs,
    tables: &'static Tables,
) -> Result<(Report, Vec<ChangedSource>), Fault> {
    let Request { release, chip, cann, .. } = *request;
    let shipped = Shipped { tables, target: &release.target };
    let registered: &dyn Registrations = match &release.installation {
        Some(found) => &found.installed,
        None => &shipped,
    };
    let against = TargetEnvironment {
        registered,
        tables,
        target: &release.target,
        chip,
        cann: cann.map(|cann| cann as &dyn CannFunctions),
        dtype: request.dtype,
    };
    let mut report = Report::new("audit-ops", request.subject.clone());
    let column = &tables.columns[release.target.column];
    let documents = Documents::of(column.torch, tables.release_of(column));
    if inputs.read.is_empty() {
        return Err(nothing(&inputs));
    }
    findings::unread(&mut report, &inputs.unread);
    let read: Vec<AuditedInput> = inputs
        .read
        .into_iter()
        .map(|(path, model)| {
            let limited = || documents.map(|documents| limited_apis(&model, documents, against));
            let judged = || classify(&model, against);
            // Models are small and contain no API calls.
            let (judged, documented) =
                if model.apis.is_empty() { (judged(), None) } else { rayon::join(judged, limited) };
            AuditedInput { judged, documented: documented.unwrap_or_default(), path, model }
        })
        .collect();
    report.notes.extend(inputs.directories.iter().map(of_directory));
    let gaps = proof::gaps(&inputs.unread, &inputs.directories, &read);
    let place = AuditTarget { release, chip, cann, documents };
    tell(&mut report, &read, &place, tables, request);
    if request.data {
        data(&mut report, &read, &place, tables, request.all_versions);
    }
    findings::installation(&mut report, release);
    findings::findings(&mut report, &read, &place, against);
    if let Some(documents) = documents {
        api_limits::findings(&mut report, &read, documents.name, chip);
    }
    report.proof = Some(proof::prove(&report, &read, gaps));
    let changed = if request.suggest {
        suggestions::suggest(&mut report, &read, against)
    } else {
        Vec::new()
    };
    // Dropping the data of a large tree is slow, so it happens in the background.
    rayon::spawn(move || drop(read));
    Ok((report, changed))
}

fn tell(
    report: &mut Report,
    read: &[AuditedInput],
    place: &AuditTarget<'_>,
    tables: &Tables,
    request: &Request<'_>,
) {
    let release = place.release;
    let column = &tables.columns[release.target.column];
    report.overview.push((ui::OPS_LABEL_TARGET.text(), release.description.clone()));
    if release.installation.is_none() && release.target.how == Match::Nearest {
        let nearest = ui::OpsTargetNearest { release: column.release, torch: column.torch };
        report.overview.push((Text::same(""), nearest.text()));
    }
    if let Some(chip) = place.chip {
        report.overview.push((ui::VERIFY_CHIP.text(), Text::same(chip.label())));
    }
    if let Some(cann) = place.cann {
        report.overview.push((ui::OPS_LABEL_CANN.text(), cann.description()));
    }
    for input in read {
        report.overview.push((ui::OPS_LABEL_INPUT.text(), describe(input)));
        for (what, text) in &input.model.says {
            let said = Text::same(text.clone());
            report.overview.push((statement_label(what), said));
        }
        for note in &input.model.notes {
            let said = describe_note(*note, &input.path);
            if !note.is_gap() {
                report.notes.push(said);
            }
        }
    }
    if let Some(shares) = Shares::of(read) {
        report.overview.push((ui::OPS_LABEL_OPERATORS.text(), shares.describe()));
        report.notes.push(ui::OPS_NOTE_LIMITS.text());
    }
    report.tables.extend(operators(read, request.all));
    if request.all {
        report.tables.extend(api_limits::table(read));
    }
    if request.all_versions {
        report.tables.extend(releases::table(read, tables));
    }
    report.provenance.push(("operators", release.provenance(column)));
}

/// Describes a note about an input.
fn describe_note(note: Note, path: &str) -> Text {
    match note {
        Note::NoOperators => ui::OpsNoteNoOperators { path }.text(),
        Note::NoOverloads => ui::OpsNoteNoOverloads { path }.text(),
        Note::NotFollowed => ui::OpsNoteNotFollowed { path }.text(),
        Note::TooDeep => ui::OpsNoteTooDeep { path }.text(),
        Note::TooMany => ui::OpsNoteTooMany { path }.text(),
        Note::Hints => ui::OpsNoteHints { path }.text(),
        Note::OncePerProcess => ui::OpsNoteOncePerProcess { path }.text(),
        Note::NotParsed => ui::OpsNoteNotParsed { path }.text(),
    }
}

/// Returns the label of a metadata value of an input.
fn statement_label(what: &str) -> Text {
    match what {
        "architecture" => ui::OPS_SAYS_ARCHITECTURE.text(),
        "model_type" => ui::OPS_SAYS_MODEL_TYPE.text(),
        "quantization" => ui::OPS_SAYS_QUANTIZATION.text(),
        other => Text::same(other),
    }
}

const fn format_label(format: Format) -> ui::Label {
    match format {
        Format::Torchscript => ui::OPS_FORMAT_TORCHSCRIPT,
        Format::Export => ui::OPS_FORMAT_EXPORT,
        Format::Onnx => ui::OPS_FORMAT_ONNX,
        Format::Trace => ui::OPS_FORMAT_TRACE,
        Format::List => ui::OPS_FORMAT_LIST,
        Format::Safetensors => ui::OPS_FORMAT_SAFETENSORS,
        Format::StateDict => ui::OPS_FORMAT_STATE_DICT,
        Format::Log => ui::OPS_FORMAT_LOG,
        Format::Config => ui::OPS_FORMAT_CONFIG,
        Format::Python => ui::OPS_FORMAT_PYTHON,
    }
}

/// Adds the data of the JSON report: all operators with all places. For a large tree, building it
/// takes longer than the rest of the report.
fn data(
    report: &mut Report,
    read: &[AuditedInput],
    place: &AuditTarget<'_>,
    tables: &Tables,
    all_versions: bool,
) {
    let column = &tables.columns[place.release.target.column];
    let inputs = read.iter().map(|input| InputMember {
        path: &input.path,
        model: &input.model,
        operators: &input.judged,
        apis: &input.documented,
    });
    let releases = || {
        let missing = attention(read);
        missing.map(|judged| (judged.op.to_string(), releases::releases(judged, tables))).collect()
    };
    report.add_members(&AuditMembers {
        target: place.member(column),
        shares: Shares::of(read),
        inputs: inputs.collect(),
        releases: all_versions.then(releases),
    });
}

/// Returns the reason why no input was read.
fn nothing(inputs: &Inputs) -> Fault {
    let escaped = base::text::escape_line;
    if let Some(Unread { path, why, .. }) = inputs.unread.first() {
        let (path, why) = (escaped(path).into_owned(), why.fault());
        return match inputs.unread.len() - 1 {
            0 => faults::CannotAudit { path, why }.fault(),
            n => faults::CannotAuditSeveral { n, path, why }.fault(),
        };
    }
    let Some(dir) = inputs.directories.first() else { return faults::NothingToAudit.fault() };
    let path = escaped(&dir.path).into_owned();
    faults::NothingToAuditIn { path, other: dir.other, pickles: dir.pickles }.fault()
}

/// Returns the note about skipped files of a directory.
fn of_directory(dir: &Directory) -> Text {
    let Directory { path, audited, other, pickles, .. } = dir;
    ui::OpsNoteDirectory { audited, other, path, pickles }.text()
}

fn describe(input: &AuditedInput) -> Text {
    let (format, path) = (format_label(input.model.format).text(), &input.path);
    let operators = input.judged.len();
    let uses: u64 = input.judged.iter().map(|judged| judged.used.count).sum();
    match &input.model.torch {
        Some(torch) => ui::OpsInputTorch { format, operators, path, torch, uses }.text(),
        None => ui::OpsInput { format, operators, path, uses }.text(),
    }
}

/// Returns the first place of an operator.
fn first_place(judged: &ClassifiedOperator) -> String {
    judged.used.places.first().map_or_else(String::new, Place::to_string)
}

fn operators(read: &[AuditedInput], all: bool) -> Option<Table> {
    let rows: Vec<Vec<Text>> = read
        .iter()
        .flat_map(|input| &input.judged)
        .filter(|judged| all || judged.class > SupportClass::PartlyKnown)
        .map(|judged| {
            vec![
                Text::same(judged.op.to_string()),
                judged.class.label().text(),
                Text::same(judged.used.count.to_string()),
                Text::same(judged.through.join(", ")),
                Text::same(first_place(judged)),
            ]
        })
        .collect();
    let head = [
        ui::OPS_HEAD_OPERATOR,
        ui::OPS_HEAD_CLASS,
        ui::OPS_HEAD_USES,
        ui::OPS_HEAD_THROUGH,
        ui::OPS_HEAD_PLACE,
    ];
    (!rows.is_empty()).then(|| Table {
        title: if all { ui::OPS_TABLE_ALL } else { ui::OPS_TABLE }.text(),
        head: head.map(ui::Label::text).to_vec(),
        rows,
    })
}
