//! The end of a report: the written files with the command that undoes the run, and the kept
//! places.

use base::report::{Evidence, Finding, Report, Table};
use base::text::{Text, shell_quote};
use data::{
    Catalog, RawFinding,
    findings::{convert_keep, convert_written},
    ui,
};
use treeedit::walk::WalkResult;

use super::members::{KeptMember, OutcomeMembers};
use super::plan::{Plan, PlannedFile};
use super::report::{shown, shown_directory};
use super::site::{Decision, KeptBecause, KeptSite};

/// The command that undoes a run in place on these roots.
pub fn undo_command(found: &WalkResult) -> String {
    let mut dirs: Vec<String> = Vec::new();
    for root in &found.roots {
        let dir = argument(&shown_directory(&root.dir));
        if !dirs.contains(&dir) {
            dirs.push(dir);
        }
    }
    format!("ascend-doctor convert -r {} --undo", dirs.join(" "))
}

/// A path as an argument of a command: quoted, and never an option.
pub fn argument(path: &str) -> String {
    let path = if path.starts_with('-') { format!("./{path}") } else { path.to_owned() };
    shell_quote(&path).into_owned()
}

/// Ends the report of a run that wrote files: a finding, a table and the command.
pub(super) fn add_written(report: &mut Report, found: &WalkResult, plan: &Plan) {
    let command = undo_command(found);
    let files: Vec<&PlannedFile> = plan.files.iter().filter(|file| file.after.is_some()).collect();
    let written = convert_written::Written { n: files.len(), command: &command }.info();
    let written = files.iter().fold(written, |written, file| {
        let first = file.plan.sites.iter().find(|site| site.decision == Decision::Changed);
        let place = Evidence::file(shown(&file.file.path));
        written.evidence(place.line(first.map_or(1, |site| site.line)))
    });
    report.findings.push(Catalog::builtin().resolve(written));
    let rows = files.iter().map(|file| {
        let changes = file.plan.sites.iter().filter(|site| site.decision == Decision::Changed);
        [changes.count().to_string(), shown(&file.file.path)].map(Text::same).to_vec()
    });
    report.tables.push(Table {
        title: ui::CONVERT_WRITTEN_FILES.text(),
        head: [ui::CONVERT_HEAD_CHANGES, ui::CONVERT_HEAD_FILE].map(ui::Label::text).to_vec(),
        rows: rows.collect(),
    });
    report.notes.push(ui::ConvertTakeBack { command: &command }.text());
    report.add_members(&OutcomeMembers {
        written: files.iter().map(|file| shown(&file.file.path)).collect(),
        undo: command,
    });
}

/// Places that stay although a rule applies, as findings: those with a keep comment, and those that
/// the user excluded.
pub(super) fn kept(plan: &Plan) -> Vec<Finding> {
    let all = || plan.files.iter().flat_map(|file| file.plan.kept.iter().map(move |at| (file, at)));
    let is_comment = |kept: &KeptSite| kept.why == KeptBecause::Comment;
    let n = |comment: bool| all().filter(|(_, kept)| is_comment(kept) == comment).count();
    let (comments, left) = (n(true), n(false));
    let by_comment = convert_keep::Comment { n: comments }.info();
    let left_out = convert_keep::Left { n: left }.info();
    [(comments, true, by_comment), (left, false, left_out)]
        .into_iter()
        .filter(|(n, ..)| *n > 0)
        .map(|(_, comment, finding)| {
            let places = all().filter(|(_, kept)| is_comment(kept) == comment);
            let finding = places.fold(finding, |finding: RawFinding, (file, kept)| {
                let place = Evidence::file(shown(&file.file.path)).line(kept.line);
                finding.evidence(place.value(kept.rule.id))
            });
            Catalog::builtin().resolve(finding)
        })
        .collect()
}

/// The kept places of a file, for machine-readable output.
pub(super) fn kept_members<'a>(file: &'a PlannedFile, text: &str) -> Vec<KeptMember<'a>> {
    let member = |kept: &'a KeptSite| KeptMember {
        rule: kept.rule.id,
        line: kept.line,
        column: kept.column,
        text: text.get(kept.range.clone()).map(str::to_owned),
        why: kept.why,
    };
    file.plan.kept.iter().map(member).collect()
}

/// Number of changes that the user excluded.
pub(super) fn left_out(plan: &Plan) -> usize {
    let all = plan.files.iter().flat_map(|file| &file.plan.kept);
    all.filter(|kept| kept.why != KeptBecause::Comment).count()
}
