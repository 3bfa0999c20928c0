//! Undoes runs: the last one for `--undo`, an interrupted one before the next is written.

use data::{Fault, OrFault as _, faults};
use std::path::PathBuf;

use super::links;
use super::members::UndoMembers;
use super::report::{shown, shown_directory};
use base::report::{Evidence, Finding, Report};
use base::text::Text;
use data::{Catalog, RawFinding, findings::convert_changed, ui};
use treeedit::journal::Journals;
use treeedit::undo::{UndoReport, recover, undo};
use treeedit::walk::{WalkResult, root_directories};

/// Restores the files of interrupted runs, before any file is read.
///
/// # Errors
///
/// A journal cannot be used, or restoring a file failed.
pub fn restore_interrupted(found: &WalkResult) -> anyhow::Result<Vec<UndoReport>> {
    let mut recovered = Vec::new();
    for root in &found.roots {
        let journals = Journals::existing(&root.dir).or_fault(|| faults::NoJournal.fault())?;
        let Some(journals) = journals else { continue };
        recovered.extend(recover(&journals).map_err(Fault::from)?);
        journals.tidy();
    }
    Ok(recovered)
}

/// Returns a note for each root with an interrupted run, for runs that write nothing.
pub fn note_interrupted(found: &WalkResult) -> Vec<Text> {
    let interrupted = found.roots.iter().filter(|root| Journals::has_interrupted_run(&root.dir));
    let note = |dir| ui::ConvertWouldRecover { dir: shown(dir) }.text();
    interrupted.map(|root| note(&root.dir)).collect()
}

/// Adds restored runs to the report of the next run.
pub fn add_recovered(report: &mut Report, recovered: &[UndoReport]) {
    for undone in recovered {
        let n = undone.restored.len();
        report.notes.push(ui::ConvertRecovered { n }.text());
        report.findings.extend(changed_since(
            undone,
            [
                |path| convert_changed::Interrupted { path }.error(),
                |path| convert_changed::InterruptedGone { path }.error(),
            ],
        ));
    }
}

/// Undoes the last run in each of the `roots`, and reports the restored files. With `force`, files
/// that were changed since then are restored, too.
///
/// # Errors
///
/// A journal cannot be used, restoring a file failed, or no root has a run.
pub fn undo_last(roots: &[PathBuf], force: bool, subject: String) -> anyhow::Result<Report> {
    let mut report = Report::new("convert", subject);
    let mut restored = 0;
    let mut without_run = Vec::new();
    let mut unlinked = Vec::new();
    // All journals are opened before the first run is undone.
    let mut all = Vec::new();
    for dir in root_directories(roots).map_err(Fault::from)? {
        let journals = Journals::existing(&dir).or_fault(|| faults::JournalUnusable.fault())?;
        if let Some(journals) = &journals {
            journals.latest().or_fault(|| faults::JournalUnusable.fault())?;
        }
        all.push((dir, journals));
    }
    for (dir, journals) in all {
        let undone = match journals {
            Some(journals) => {
                let undone = undo(&journals, force).map_err(Fault::from)?;
                journals.tidy();
                undone
            }
            None => None,
        };
        let Some(undone) = undone else {
            without_run.push(dir);
            continue;
        };
        restored += undone.restored.len();
        report.findings.extend(changed_since(
            &undone,
            [
                |path| convert_changed::Since { path }.error(),
                |path| convert_changed::SinceGone { path }.error(),
            ],
        ));
        unlinked.extend(undone.unlinked);
    }
    if let Some(first) = without_run.first()
        && restored == 0
        && report.findings.is_empty()
    {
        let dirs: Vec<String> = without_run.iter().map(|dir| shown_directory(dir)).collect();
        let dirs = dirs.join("`, `");
        match Journals::above(first) {
            Some(above) => {
                let above = shown_directory(&above);
                return Err(faults::NothingToUndoButAbove { path: dirs, above }.fault().into());
            }
            None => return Err(faults::NothingToUndo { path: dirs }.fault().into()),
        }
    }
    report.findings.extend(links::restored(&unlinked));
    let result = ui::ConvertUndone { n: restored }.text();
    report.overview.push((ui::CONVERT_LABEL_RESULT.text(), result));
    report.document = "convert-undo";
    report.add_members(&UndoMembers { restored });
    Ok(report)
}

/// A message about a file.
type PathMessage = fn(&str) -> RawFinding;

/// Returns a finding for each file that was changed or removed since the run.
fn changed_since(undone: &UndoReport, messages: [PathMessage; 2]) -> Vec<Finding> {
    let [changed, gone] = messages;
    let changed = undone.changed.iter().map(|path| (path, changed));
    let all = changed.chain(undone.gone.iter().map(|path| (path, gone)));
    let findings = all.map(|(path, message)| {
        let path = shown(path);
        message(&path).evidence(Evidence::file(path))
    });
    findings.map(|finding| Catalog::builtin().resolve(finding)).collect()
}
