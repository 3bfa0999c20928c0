//! The proof of an audit: every operator of the model has a known path.

use std::collections::BTreeMap;

use base::report::{Coverage, Proof, Report};
use base::text::Text;
use data::{
    findings::{ops_library, ops_read},
    goals::{self, LinkDefinition},
    ui,
};

use super::describe_note;
use super::input::AuditedInput;
use super::shares::Shares;
use crate::inputs::{Directory, Unread};
use crate::model::Format;
use crate::place::Place;
use crate::source_notes::HintKind;
use pysyntax::dotted;

/// The maximum share, by weight, of unknown operators in a pass: 2% (docs/contract.md).
const UNKNOWN_SHARE: f64 = 0.02;
/// The maximum number of unknown operators in the reason.
const MOST_NAMES: usize = 4;

/// Returns the reasons why the inputs were not read completely.
pub(super) fn gaps(
    unread: &[Unread],
    directories: &[Directory],
    read: &[AuditedInput],
) -> Vec<Text> {
    let mut gaps = Vec::new();
    if !unread.is_empty() {
        gaps.push(ui::OpsUnread { n: unread.len() }.text());
    }
    let cut = directories.iter().filter(|dir| dir.cut);
    gaps.extend(cut.map(|dir| ui::OpsNoteDirectoryCut { path: &dir.path }.text()));
    for input in read {
        let notes = input.model.notes.iter().filter(|note| note.is_gap());
        gaps.extend(notes.map(|note| describe_note(*note, &input.path)));
    }
    gaps
}

/// Proves that every operator has a known path.
pub(super) fn prove(report: &Report, read: &[AuditedInput], gaps: Vec<Text>) -> Proof {
    let shares = Shares::of(read);
    let share = shares.map(|shares| shares.describe()).unwrap_or_default();
    // An audit reports only problems of inputs and of operators.
    let is_input = |id: &str| ops_read::ID == id;
    let is_library = |id: &str| ops_library::ID == id;
    let errors = |ids: &dyn Fn(&str) -> bool| {
        let found = goals::contradictions(&report.findings, ids);
        (!found.is_empty()).then_some(Coverage::Contradicted { findings: found, reason: None })
    };
    let gap = gaps.into_iter().next();
    let none = read.iter().all(|input| input.judged.is_empty());
    let packaged = hints(read, HintKind::PackagedModel).find(|call| !is_followed(read, call));
    goals::prove("audit-ops", "operators", BTreeMap::from([("share", share)]), |link| {
        let coverage = match link.id.as_str() {
            "inputs" => errors(&is_input).or_else(|| Some(open(gap.clone()?, link))),
            "model" if packaged.is_some() => {
                packaged.map(|call| open(ui::OpsPackagedModel { call }.text(), link))
            }
            "model" if none => Some(open(ui::OPS_NO_OPERATORS.text(), link)),
            // Without operators, a statement about all of them would be empty.
            "known" | "supported" if none => {
                Some(Coverage::NotApplicable { reason: ui::OPS_NO_OPERATORS.text() })
            }
            "known" => {
                shares.and_then(|shares| unknown(read, shares)).map(|reason| open(reason, link))
            }
            "supported" => errors(&|id| !is_input(id) && !is_library(id)),
            "kernels" => errors(&is_library).or_else(|| unexamined_kernels(read, link)),
            "libraries" => Some(libraries(read, link)),
            _ => None,
        };
        (coverage.unwrap_or(Coverage::Shown), None)
    })
}

/// Returns the coverage of imported libraries. Only sources import libraries whose kernels are not
/// torch operators. All other inputs list every operator that runs.
fn libraries(read: &[AuditedInput], link: &LinkDefinition) -> Coverage {
    if read.iter().any(|input| input.model.format == Format::Python) {
        return open(ui::OPS_LIBRARIES_UNEXAMINED.text(), link);
    }
    Coverage::NotApplicable { reason: ui::OPS_LIBRARIES_NONE.text() }
}

/// Returns the names of the hints of a kind, as written in the sources.
fn hints(read: &[AuditedInput], kind: HintKind) -> impl Iterator<Item = &str> {
    let all = read.iter().flat_map(|input| &input.model.hints);
    all.filter(move |(hint, _)| hint.kind == kind).map(|(hint, _)| hint.name.as_str())
}

/// Returns whether operators were read from the package of a loaded model (`--follow-imports`).
fn is_followed(read: &[AuditedInput], call: &str) -> bool {
    let package = format!("/{}/", dotted::first(call));
    let places = read.iter().flat_map(|input| &input.judged).flat_map(|one| &one.used.places);
    let mut files = places.filter_map(|place| match place {
        Place::Line(path, _) => Some(&**path),
        Place::Named(_) => None,
    });
    files.any(|path| path.contains(&package))
}

/// Reports kernels that are not operators and may or may not be part of the model.
fn unexamined_kernels(read: &[AuditedInput], link: &LinkDefinition) -> Option<Coverage> {
    let kinds = [HintKind::CudaModule, HintKind::MaybeCudaModule, HintKind::Triton];
    let mut names: Vec<&str> =
        kinds.into_iter().chain([HintKind::Extension]).flat_map(|kind| hints(read, kind)).collect();
    names.sort_unstable();
    names.dedup();
    let more = names.len() > MOST_NAMES;
    names.truncate(MOST_NAMES);
    if more {
        names.push("…");
    }
    let names = names.join(", ");
    (!names.is_empty()).then(|| open(ui::OpsKernelsUnexamined { names }.text(), link))
}

fn open(reason: Text, link: &LinkDefinition) -> Coverage {
    Coverage::NotExamined { reason, settle: link.settle.clone() }
}

/// Returns why too much of the model is unknown, with its names.
fn unknown(read: &[AuditedInput], shares: Shares) -> Option<Text> {
    let part = shares.unknown_part();
    (part > UNKNOWN_SHARE).then(|| {
        let names = Shares::name_unknown(read, MOST_NAMES);
        // The limit is 2%, so an integer would hide small differences.
        let percent = format!("{:.1}", part * 100.0);
        ui::OpsUnknownShare { names, percent }.text()
    })
}
