//! Reports the changes, and the places that need manual work.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use super::effort::effort;
use super::encoding::DecodeError;
use super::ledger::blocker::Blocker;
use super::members::{
    self, Change, ConvertMembers, ConvertResult, FileMember, PlaceMember, ProblemMember, Skipped,
    SkippedBecause,
};
use super::outcome;
use super::plan::{FileProblem, Plan, PlannedFile};
use super::proof;
use super::rules::{Match, Rule, Rules};
use super::site::{Certainty, Decision, Site};
use super::work::{NpuSupport, Work};
use base::report::{Evidence, Finding, FixStep, Report, Severity, Table};
use base::text::Text;
use data::{
    Catalog, RawFinding,
    findings::{
        convert_changed, convert_check, convert_denied, convert_git, convert_io, convert_mention,
        convert_parse, convert_self, convert_skip, convert_text,
    },
    ui,
};
use treeedit::denial::Denial;
use treeedit::walk::{SkipReason, WalkResult};

/// Maximum length of a source line in reports, in characters.
const MAX_EXCERPT: usize = 200;
/// Maximum number of unexplained places in the report; the ledger lists all of them.
const MAX_UNEXPLAINED: usize = 1000;

/// The outcome of a plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// This number of files was replaced.
    Written(usize),
    /// A copy with this number of files was written to this directory.
    Copied(usize, PathBuf),
    /// No files were to be written.
    Planned,
    /// Something would change; the run only checked this (`--check`).
    Checked,
    /// The run wrote no file, because these have uncommitted changes.
    Refused(Vec<PathBuf>),
}

/// The report of a run; with `in_detail`, it lists every place of every file, for machine-readable
/// output.
pub fn report(
    found: &WalkResult,
    plan: &Plan,
    done: &Done,
    subject: String,
    in_detail: bool,
) -> Report {
    let mut report = Report::new("convert", subject);
    report.about_sources = true;
    // Sites without an explanation come first: they may hide a blocker.
    report.findings.extend(unexplained(plan));
    report.findings.extend(rules(plan));
    report.findings.extend(problems(plan));
    report.findings.extend(outcome::kept(plan));
    report.findings.extend(skipped(found));
    let changed = plan.files.iter().filter(|file| file.after.is_some()).count();
    match done {
        Done::Refused(files) => report.findings.push(refused(files)),
        Done::Checked if changed > 0 => {
            let mut statement = convert_check::WouldChange { n: changed }.error();
            for file in plan.files.iter().filter(|file| file.after.is_some()) {
                statement = statement.evidence(Evidence::file(shown(&file.file.path)));
            }
            report.findings.push(Catalog::builtin().resolve(statement));
        }
        _ => {}
    }
    report.tables.extend(changes(plan));
    overview(&mut report, plan, done);
    for exclude in &found.idle_excludes {
        report.notes.push(ui::ConvertIdleExclude { exclude: &exclude }.text());
    }
    if matches!(done, Done::Written(n) if *n > 0) {
        outcome::add_written(&mut report, found, plan);
    }
    report.provenance.push(("rules", Text::same(Rules::builtin().rules.len().to_string())));
    report.proof = Some(proof::prove(&report, found, plan));
    if in_detail {
        report.add_members(&members(found, plan, done));
    }
    report
}

/// A path as typed by users.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// The same for a directory, which may be the current one.
pub fn shown_directory(dir: &Path) -> String {
    let text = shown(dir);
    if text.is_empty() { ".".to_owned() } else { text }
}

/// One finding for each rule that flags or notes something.
fn rules(plan: &Plan) -> Vec<Finding> {
    // The places that block most come first.
    type Key = (Decision, Blocker, &'static str);
    let mut groups: BTreeMap<Key, (&'static Rule, Vec<Evidence>)> = BTreeMap::new();
    for file in &plan.files {
        let text = file.text();
        let lines: Vec<&str> = text.lines().collect();
        for site in &file.plan.sites {
            if site.decision == Decision::Changed {
                continue;
            }
            let place =
                Evidence::file(shown(&file.file.path)).line(site.line).value(excerpt(&lines, site));
            let key = (site.decision, Blocker::of(site.rule), site.rule.id);
            let group = groups.entry(key);
            group.or_insert_with(|| (site.rule, Vec::new())).1.push(place);
        }
    }
    groups
        .into_iter()
        .map(|((decision, ..), (rule, evidence))| {
            let flagged = decision == Decision::Flagged;
            let fix = FixStep { text: rule.fix(), run: None };
            Finding {
                id: rule.id.to_owned(),
                message: if flagged { "flagged" } else { "noted" }.to_owned(),
                severity: if flagged { Severity::Warning } else { Severity::Info },
                title: counted(&rule.title(), evidence.len()),
                cause: rule.cause_beyond_title(),
                fix: if flagged { vec![fix] } else { Vec::new() },
                evidence,
                refs: rule.text().source.iter().map(|&source| source.to_owned()).collect(),
                because: Vec::new(),
                consequences: Vec::new(),
                values: BTreeMap::new(),
            }
        })
        .collect()
}

/// A title with the number of its places, if there are several.
fn counted(title: &Text, places: usize) -> Text {
    if places == 1 {
        return title.clone();
    }
    let n = ui::ConvertPlaces { n: places }.text();
    Text::new(format!("{} ({})", title.en, n.en), format!("{}（{}）", title.zh, n.zh))
}

fn excerpt(lines: &[&str], site: &Site) -> String {
    let line = lines.get(site.line.saturating_sub(1) as usize).map_or("", |line| line.trim());
    let mut text: String = line.chars().take(MAX_EXCERPT).collect();
    if let Some(detail) = &site.detail
        && !text.contains(detail.as_str())
    {
        text = format!("{text}  ({detail})");
    }
    text
}

/// The files that stay unchanged although they should not: one finding for each.
fn problems(plan: &Plan) -> Vec<Finding> {
    let problems = plan.files.iter().filter_map(|file| Some((file, file.problem.as_ref()?)));
    problems.map(|(file, problem)| Catalog::builtin().resolve(problem_of(file, problem))).collect()
}

fn problem_of(file: &PlannedFile, problem: &FileProblem) -> RawFinding {
    let path = shown(&file.file.path);
    let place = Evidence::file(path.clone());
    let path = &path;
    match problem {
        FileProblem::Syntax { line, message } => {
            let text = file.text();
            let text = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
            let text: String = text.trim().chars().take(MAX_EXCERPT).collect();
            convert_parse::Syntax { path, line, detail: message }
                .error()
                .evidence(place.line(*line).value(text))
        }
        FileProblem::Template { line, speaks } => {
            let severity = if *speaks { Severity::Warning } else { Severity::Info };
            convert_skip::Template { detail: line, path }.at(severity).evidence(place.line(*line))
        }
        FileProblem::Undecodable(error) => {
            let nul = matches!(error, DecodeError::Nul(_));
            let detail = error.fault().text();
            // An unreadable file may be fine, so its result is open.
            let found = if nul {
                convert_text::Nul { detail, path }.warning()
            } else {
                convert_text::Undecodable { detail, path }.warning()
            };
            found.evidence(place)
        }
        FileProblem::SelfCheck(detail) => {
            convert_self::Unsound { detail, path }.error().evidence(place)
        }
        FileProblem::Changed => convert_changed::During { path }.error().evidence(place),
        FileProblem::Denied(denied) => {
            let found = match denied {
                Denial::ReadOnly => convert_denied::ReadOnly { path }.error(),
                Denial::Foreign(owner) => convert_denied::Foreign { path, detail: owner }.error(),
                Denial::Directory(dir) => {
                    convert_denied::Directory { path, detail: shown_directory(dir) }.error()
                }
                Denial::FileSystem => convert_denied::FileSystem { path }.error(),
                Denial::Owner(owner) => convert_denied::Owner { path, detail: owner }.error(),
                Denial::Group(group) => convert_denied::Group { path, detail: group }.error(),
                Denial::Refused(words) => convert_denied::Refused { path, detail: words }.error(),
            };
            found.evidence(place)
        }
        FileProblem::Uncommitted => convert_git::Uncommitted { path }.error().evidence(place),
        FileProblem::Io(detail) => convert_io::Failed { detail, path }.warning().evidence(place),
    }
}

/// Tokens without an explanation, as one finding.
fn unexplained(plan: &Plan) -> Option<Finding> {
    let totals = plan.ledger.totals();
    if totals.unexplained == 0 {
        return None;
    }
    let mut found = convert_mention::Unexplained { n: totals.unexplained }.warning();
    let places = plan.ledger.files.iter().flat_map(|file| {
        file.unexplained().map(|(line, excerpt)| {
            Evidence::file(file.path.clone()).line(line).value(excerpt.to_owned())
        })
    });
    for place in places.take(MAX_UNEXPLAINED) {
        found = found.evidence(place);
    }
    for file in plan.ledger.files.iter().filter(|file| file.beyond > 0).take(MAX_UNEXPLAINED) {
        found = found.evidence(Evidence::file(file.path.clone()));
    }
    Some(Catalog::builtin().resolve(found))
}

fn skipped(found: &WalkResult) -> Vec<Finding> {
    let statements = found.skipped.iter().map(|skipped| {
        let path = shown(&skipped.path);
        let found = match &skipped.why {
            SkipReason::LinkLeaves(target) => {
                convert_skip::LinkLeaves { path: &path, detail: shown(target) }.info()
            }
            SkipReason::LinkDangles => convert_skip::LinkDangles { path: &path }.info(),
            SkipReason::NotRegular => convert_skip::NotRegular { path: &path }.info(),
            SkipReason::TooLarge(size) => {
                let detail = format!("{:.1}", mebibytes(*size));
                convert_skip::TooLarge { path: &path, detail }.warning()
            }
            SkipReason::Unreadable(_, error) => {
                convert_skip::Unreadable { path: &path, detail: error }.error()
            }
        };
        found.evidence(Evidence::file(path))
    });
    statements.map(|statement| Catalog::builtin().resolve(statement)).collect()
}

#[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
fn mebibytes(size: u64) -> f64 {
    size as f64 / f64::from(1 << 20)
}

fn refused(files: &[PathBuf]) -> Finding {
    let mut statement = convert_git::Refused { n: files.len() }.error();
    for file in files {
        statement = statement.evidence(Evidence::file(shown(file)));
    }
    Catalog::builtin().resolve(statement)
}

/// The rewritten places, by rule.
fn changes(plan: &Plan) -> Option<Table> {
    let mut counts: BTreeMap<&str, (&'static Rule, usize, usize)> = BTreeMap::new();
    for file in plan.files.iter().filter(|file| file.after.is_some()) {
        let mut met: Vec<&str> = Vec::new();
        for site in file.plan.sites.iter().filter(|site| site.decision == Decision::Changed) {
            let count = counts.entry(site.rule.id).or_insert((site.rule, 0, 0));
            count.1 += 1;
            if !met.contains(&site.rule.id) {
                met.push(site.rule.id);
                count.2 += 1;
            }
        }
    }
    let mut rows: Vec<_> = counts.into_iter().collect();
    rows.sort_by(|a, b| b.1.1.cmp(&a.1.1).then(a.0.cmp(b.0)));
    let rows: Vec<Vec<Text>> = rows
        .into_iter()
        .map(|(id, (rule, places, files))| {
            let what = match (rule.how, &rule.to) {
                (Match::Site | Match::File, _) | (_, None) => rule.subject(),
                (_, Some(to)) => format!("{} -> {to}", rule.subject()),
            };
            [id.to_owned(), places.to_string(), files.to_string(), what].map(Text::same).to_vec()
        })
        .collect();
    (!rows.is_empty()).then(|| Table {
        title: ui::CONVERT_CHANGES.text(),
        head: [ui::CONVERT_RULE, ui::CONVERT_HEAD_PLACES, ui::CONVERT_HEAD_FILES, ui::CONVERT_WHAT]
            .map(ui::Label::text)
            .to_vec(),
        rows,
    })
}

/// Counts of a plan.
pub(super) struct Counts {
    pub(super) changed_files: usize,
    pub(super) changes: usize,
    likely: usize,
    flagged: usize,
    noted: usize,
    problems: usize,
}

pub(super) fn counts(plan: &Plan) -> Counts {
    let sites = |decision| {
        let files = plan.files.iter();
        // Edits that were planned for a file that stays unchanged are not changes.
        let counted =
            files.filter(move |file| decision != Decision::Changed || file.after.is_some());
        counted.flat_map(|file| &file.plan.sites).filter(move |site| site.decision == decision)
    };
    Counts {
        changed_files: plan.files.iter().filter(|file| file.after.is_some()).count(),
        changes: sites(Decision::Changed).count(),
        likely: sites(Decision::Changed).filter(|site| site.certainty == Certainty::Likely).count(),
        flagged: sites(Decision::Flagged).count(),
        noted: sites(Decision::Noted).count(),
        problems: plan.files.iter().filter(|file| file.problem.is_some()).count(),
    }
}

fn overview(report: &mut Report, plan: &Plan, done: &Done) {
    let counts = counts(plan);
    let files = ui::ConvertFilesLine {
        changed: counts.changed_files.to_string(),
        left: counts.problems.to_string(),
        read: plan.read.to_string(),
    }
    .text();
    let places = ui::ConvertPlacesLine {
        changed: counts.changes,
        flagged: counts.flagged.to_string(),
        likely: counts.likely.to_string(),
    }
    .text();
    let totals = plan.ledger.totals();
    let tokens = ui::ConvertLedgerLine {
        changed: totals.changed.to_string(),
        kept: totals.kept.to_string(),
        manual: totals.manual.to_string(),
        n: totals.tokens,
        unexplained: totals.unexplained.to_string(),
    }
    .text();
    let result = match done {
        Done::Written(n) => ui::ConvertWritten { n }.text(),
        Done::Copied(n, dir) => ui::ConvertCopied { dir: shown(dir), n }.text(),
        Done::Planned | Done::Checked => ui::CONVERT_PLANNED.text(),
        Done::Refused(_) => ui::CONVERT_REFUSED.text(),
    };
    let Work { start, training, speed, cosmetic } = Work::of(plan);
    let work = ui::ConvertWork {
        cosmetic: cosmetic.to_string(),
        n: start + training + speed + cosmetic,
        speed: speed.to_string(),
        start: start.to_string(),
        training: training.to_string(),
    };
    for (label, value) in [
        (ui::CONVERT_LABEL_FILES, files),
        (ui::CONVERT_LABEL_PLACES, places),
        (ui::CONVERT_LABEL_LEDGER, tokens),
        (ui::CONVERT_LABEL_RESULT, result),
        (ui::CONVERT_LABEL_WORK, work.text()),
    ] {
        report.overview.push((label.text(), value));
    }
    if let Some(NpuSupport { files, path, line, text }) = NpuSupport::of(plan) {
        let value = ui::ConvertNpuSupport { line, n: files, path, text }.text();
        report.overview.push((ui::CONVERT_LABEL_NPU.text(), value));
    }
}

fn members<'a>(found: &'a WalkResult, plan: &'a Plan, done: &Done) -> ConvertMembers<'a> {
    let counts = counts(plan);
    let skipped = found.skipped.iter().map(|skipped| Skipped {
        path: shown(&skipped.path),
        why: match &skipped.why {
            SkipReason::LinkLeaves(target) => SkippedBecause::LinkLeaves { target: shown(target) },
            SkipReason::LinkDangles => SkippedBecause::LinkDangles,
            SkipReason::NotRegular => SkippedBecause::NotRegular,
            SkipReason::TooLarge(size) => SkippedBecause::TooLarge { bytes: *size },
            SkipReason::Unreadable(_, error) => SkippedBecause::Unreadable { error },
        },
    });
    ConvertMembers {
        counts: members::Counts {
            files_read: plan.read,
            bytes_read: plan.bytes,
            files_changed: counts.changed_files,
            files_left_alone: counts.problems,
            changes: counts.changes,
            likely_changes: counts.likely,
            flagged: counts.flagged,
            noted: counts.noted,
        },
        effort: effort(plan),
        work: Work::of(plan),
        npu_support: NpuSupport::of(plan),
        ledger: plan.ledger.totals(),
        result: match done {
            Done::Written(_) => ConvertResult::Written,
            Done::Copied(..) => ConvertResult::Copied,
            Done::Planned => ConvertResult::Planned,
            Done::Checked => ConvertResult::Checked,
            Done::Refused(_) => ConvertResult::Refused,
        },
        files: plan.files.iter().map(file_member).collect(),
        skipped: skipped.collect(),
    }
}

fn file_member<'a>(file: &'a PlannedFile) -> FileMember<'a> {
    let text = file.text();
    let edits: HashMap<(usize, usize), &str> = file
        .plan
        .edits
        .iter()
        .map(|edit| ((edit.range.start, edit.range.end), edit.text.as_str()))
        .collect();
    let place = |site: &'a Site| PlaceMember {
        rule: site.rule.id,
        line: site.line,
        column: site.column,
        text: text.get(site.range.clone()).map(str::to_owned),
        detail: site.detail.as_deref(),
    };
    let of = |decision| file.plan.sites.iter().filter(move |site| site.decision == decision);
    let changed = of(Decision::Changed).filter(|_| file.after.is_some()).map(|site| Change {
        rule: site.rule.id,
        line: site.line,
        column: site.column,
        old: text.get(site.range.clone()).map(str::to_owned),
        new: edits.get(&(site.range.start, site.range.end)).copied(),
        certainty: site.certainty,
    });
    let problem = file.problem.as_ref().map(|problem| {
        let RawFinding { id, message, args, args_zh, .. } = problem_of(file, problem);
        let detail =
            args.get("detail").map(|en| Text::new(en, args_zh.get("detail").unwrap_or(en)));
        ProblemMember { id: id.as_str(), message, detail }
    });
    FileMember {
        path: shown(&file.file.path),
        kind: file.file.kind,
        launch: file.file.launch,
        changed: changed.collect(),
        flagged: of(Decision::Flagged).map(place).collect(),
        noted: of(Decision::Noted).map(place).collect(),
        kept: outcome::kept_members(file, &text),
        problem,
    }
}
