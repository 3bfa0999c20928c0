//! Says what was done, and what is left to a person.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use serde_json::{Value, json};

use super::effort::{effort, rounded};
use super::encoding::DecodeError;
use super::plan::{FileProblem, Plan, PlannedFile};
use super::proof;
use super::rules::{Match, Rule, Rules};
use super::site::{Certainty, Decision, Site};
use base::report::{Evidence, Finding, FixStep, Report, Severity, Table};
use base::text::Text;
use data::{
    Catalog, RawFinding,
    findings::{convert_check, convert_git, convert_skip},
    ui, words,
};
use treeedit::denial::Denial;
use treeedit::walk::{SkipReason, WalkResult};

/// Longer source lines are cut in reports, in characters.
const MAX_EXCERPT: usize = 200;

/// What became of the plan.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Done {
    /// The files were replaced, so many.
    Written(usize),
    /// A copy was written: so many files, there.
    Copied(usize, PathBuf),
    /// Nothing was to be written.
    Planned,
    /// Something would change, and that is what was asked (`--check`).
    Checked,
    /// Nothing was written, because git does not have these changes.
    Refused(Vec<PathBuf>),
}

/// The report of a run; `in_detail` with every place of every file, which only programs read.
pub fn report(
    found: &WalkResult,
    plan: &Plan,
    done: &Done,
    subject: String,
    in_detail: bool,
) -> Report {
    let mut report = Report::new("convert", subject);
    report.about_sources = true;
    report.findings = rules(plan);
    report.findings.extend(problems(plan));
    report.findings.extend(unexplained(plan));
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
    notes(&mut report, found, done);
    report.provenance.push(("rules".to_owned(), Rules::builtin().rules.len().to_string()));
    report.proof = Some(proof::prove(&report, found, plan));
    if in_detail {
        extra(&mut report, found, plan, done);
    }
    report
}

/// A path as people type it.
pub fn shown(path: &Path) -> String {
    path.strip_prefix(".").unwrap_or(path).display().to_string()
}

/// The same of a directory, which may be the one that people are in.
pub fn shown_directory(dir: &Path) -> String {
    let text = shown(dir);
    if text.is_empty() { ".".to_owned() } else { text }
}

/// One finding for each rule that flags or notes something.
fn rules(plan: &Plan) -> Vec<Finding> {
    let mut groups: BTreeMap<(&str, Decision), (&'static Rule, Vec<Evidence>)> = BTreeMap::new();
    for file in &plan.files {
        let text = file.text();
        let lines: Vec<&str> = text.lines().collect();
        for site in &file.plan.sites {
            if site.decision == Decision::Changed {
                continue;
            }
            let place =
                Evidence::file(shown(&file.file.path)).line(site.line).value(excerpt(&lines, site));
            let group = groups.entry((site.rule.id, site.decision));
            group.or_insert_with(|| (site.rule, Vec::new())).1.push(place);
        }
    }
    groups
        .into_iter()
        .map(|((_, decision), (rule, evidence))| {
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

/// The files that stay as they are although they should not: one finding for each.
fn problems(plan: &Plan) -> Vec<Finding> {
    let problems = plan.files.iter().filter_map(|file| Some((file, file.problem.as_ref()?)));
    problems.map(|(file, problem)| Catalog::builtin().resolve(problem_of(file, problem))).collect()
}

fn problem_of(file: &PlannedFile, problem: &FileProblem) -> RawFinding {
    let path = shown(&file.file.path);
    let place = Evidence::file(path.clone());
    let say = |id, message| RawFinding::error(id, message).arg("path", path.clone());
    // What could not be read may be fine: that leaves the question open.
    let unread = |id, message| RawFinding::warning(id, message).arg("path", path.clone());
    match problem {
        FileProblem::Syntax { line, message } => {
            let text = file.text();
            let text = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
            let text: String = text.trim().chars().take(MAX_EXCERPT).collect();
            say("CONVERT-PARSE", "syntax")
                .arg("line", line.to_string())
                .arg("detail", message.clone())
                .evidence(place.line(*line).value(text))
        }
        FileProblem::Template { line, speaks } => {
            let severity = if *speaks { Severity::Warning } else { Severity::Info };
            convert_skip::Template { detail: line.to_string(), path: &path }
                .at(severity)
                .evidence(place.line(*line))
        }
        FileProblem::Undecodable(error) => {
            let nul = matches!(error, DecodeError::Nul(_));
            let message = if nul { "nul" } else { "undecodable" };
            unread("CONVERT-TEXT", message)
                .arg_words("detail", error.fault().text())
                .evidence(place)
        }
        FileProblem::SelfCheck(detail) => {
            say("CONVERT-SELF", "unsound").arg_words("detail", detail.clone()).evidence(place)
        }
        FileProblem::Changed => say("CONVERT-CHANGED", "during").evidence(place),
        FileProblem::Denied(denied) => {
            let (message, detail) = match denied {
                Denial::ReadOnly => ("read_only", String::new()),
                Denial::Foreign(owner) => ("foreign", owner.to_string()),
                Denial::Directory(dir) => ("directory", shown_directory(dir)),
                Denial::FileSystem => ("file_system", String::new()),
                Denial::Owner(owner) => ("owner", owner.to_string()),
                Denial::Group(group) => ("group", group.to_string()),
                Denial::Refused(words) => {
                    return say("CONVERT-DENIED", "refused")
                        .arg_words("detail", words.clone())
                        .evidence(place);
                }
            };
            say("CONVERT-DENIED", message).arg("detail", detail).evidence(place)
        }
        FileProblem::Uncommitted => say("CONVERT-GIT", "uncommitted").evidence(place),
        FileProblem::Io(detail) => {
            unread("CONVERT-IO", "failed").arg_words("detail", detail.clone()).evidence(place)
        }
    }
}

/// Uses of CUDA that no rule explains, as one finding.
fn unexplained(plan: &Plan) -> Option<Finding> {
    let mut places = Vec::new();
    for file in plan.files.iter().filter(|file| !file.plan.mentions.is_empty()) {
        let text = file.text();
        let lines: Vec<&str> = text.lines().collect();
        for mention in &file.plan.mentions {
            let line = lines.get(mention.line.saturating_sub(1) as usize).map_or("", |line| line);
            let excerpt: String = line.trim().chars().take(MAX_EXCERPT).collect();
            places.push(Evidence::file(shown(&file.file.path)).line(mention.line).value(excerpt));
        }
    }
    let found =
        RawFinding::warning("CONVERT-MENTION", "unexplained").arg("n", places.len().to_string());
    (!places.is_empty()).then(|| {
        let found = places.into_iter().fold(found, RawFinding::evidence);
        Catalog::builtin().resolve(found)
    })
}

fn skipped(found: &WalkResult) -> Vec<Finding> {
    let statements = found.skipped.iter().map(|skipped| {
        let path = shown(&skipped.path);
        let (message, detail, severity) = match &skipped.why {
            SkipReason::LinkLeaves(target) => ("link_leaves", shown(target), Severity::Info),
            SkipReason::LinkDangles => ("link_dangles", String::new(), Severity::Info),
            SkipReason::NotRegular => ("not_regular", String::new(), Severity::Info),
            SkipReason::TooLarge(size) => {
                ("too_large", format!("{:.1}", mebibytes(*size)), Severity::Warning)
            }
            SkipReason::Unreadable(_, error) => {
                return RawFinding::error("CONVERT-SKIP", "unreadable")
                    .arg("path", path.clone())
                    .arg_words("detail", error.clone())
                    .evidence(Evidence::file(path));
            }
        };
        RawFinding::new("CONVERT-SKIP", message, severity)
            .arg("path", path.clone())
            .arg("detail", detail)
            .evidence(Evidence::file(path))
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

/// What is rewritten, by rule.
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
        head: ["convert_rule", "convert_head_places", "convert_head_files", "convert_what"]
            .map(words)
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
        // What was planned for a file that is left alone did not become a change.
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
    let hours = base::text::Rounded(rounded(effort(plan).hours));
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
    let result = match done {
        Done::Written(n) => ui::ConvertWritten { n }.text(),
        Done::Copied(n, dir) => ui::ConvertCopied { dir: shown(dir), n }.text(),
        Done::Planned | Done::Checked => ui::CONVERT_PLANNED.text(),
        Done::Refused(_) => ui::CONVERT_REFUSED.text(),
    };
    let hours = ui::ConvertHours { hours }.text();
    for (label, value) in [
        ("convert_label_files", files),
        ("convert_label_places", places),
        ("convert_label_result", result),
        ("convert_label_effort", hours),
    ] {
        report.overview.push((words(label), value));
    }
}

fn notes(report: &mut Report, found: &WalkResult, done: &Done) {
    for exclude in &found.idle_excludes {
        report.notes.push(ui::ConvertIdleExclude { exclude: &exclude }.text());
    }
    if matches!(done, Done::Written(n) if *n > 0) {
        for root in &found.roots {
            let dir = shown(&root.dir);
            let dir = if dir.is_empty() { "." } else { &dir };
            let dir = base::text::shell_quote(dir).into_owned();
            report.notes.push(ui::ConvertTakeBack { dir }.text());
        }
    }
}

fn extra(report: &mut Report, found: &WalkResult, plan: &Plan, done: &Done) {
    let counts = counts(plan);
    report.extra.insert(
        "counts".to_owned(),
        json!({
            "files_read": plan.read,
            "bytes_read": plan.bytes,
            "files_changed": counts.changed_files,
            "files_left_alone": counts.problems,
            "changes": counts.changes,
            "likely_changes": counts.likely,
            "flagged": counts.flagged,
            "noted": counts.noted,
        }),
    );
    report.extra.insert("effort".to_owned(), json!(effort(plan)));
    let result = match done {
        Done::Written(_) => "written",
        Done::Copied(..) => "copied",
        Done::Planned => "planned",
        Done::Checked => "checked",
        Done::Refused(_) => "refused",
    };
    report.extra.insert("result".to_owned(), json!(result));
    let files: Vec<Value> = plan.files.iter().map(file_extra).collect();
    report.extra.insert("files".to_owned(), json!(files));
    let skipped: Vec<Value> = found
        .skipped
        .iter()
        .map(|skipped| {
            let (why, detail) = match &skipped.why {
                SkipReason::LinkLeaves(target) => ("link_leaves", shown(target)),
                SkipReason::LinkDangles => ("link_dangles", String::new()),
                SkipReason::NotRegular => ("not_regular", String::new()),
                SkipReason::TooLarge(size) => ("too_large", size.to_string()),
                SkipReason::Unreadable(_, error) => ("unreadable", error.en.clone()),
            };
            json!({ "path": shown(&skipped.path), "why": why, "detail": detail })
        })
        .collect();
    report.extra.insert("skipped".to_owned(), json!(skipped));
}

fn file_extra(file: &PlannedFile) -> Value {
    let text = file.text();
    let edits: HashMap<(usize, usize), &str> = file
        .plan
        .edits
        .iter()
        .map(|edit| ((edit.range.start, edit.range.end), edit.text.as_str()))
        .collect();
    let place = |site: &Site| {
        json!({
            "rule": site.rule.id, "line": site.line, "column": site.column,
            "text": text.get(site.range.clone()), "detail": site.detail,
        })
    };
    let of = |decision| file.plan.sites.iter().filter(move |site| site.decision == decision);
    let changed: Vec<Value> = of(Decision::Changed)
        .filter(|_| file.after.is_some())
        .map(|site| {
            json!({
                "rule": site.rule.id, "line": site.line, "column": site.column,
                "old": text.get(site.range.clone()),
                "new": edits.get(&(site.range.start, site.range.end)),
                "certainty": site.certainty,
            })
        })
        .collect();
    let problem = file.problem.as_ref().map(|problem| {
        let statement = problem_of(file, problem);
        json!({ "id": statement.id, "message": statement.message, "detail": statement.args.get("detail") })
    });
    json!({
        "path": shown(&file.file.path),
        "kind": file.file.kind,
        "launch": file.file.launch,
        "changed": changed,
        "flagged": of(Decision::Flagged).map(place).collect::<Vec<_>>(),
        "noted": of(Decision::Noted).map(place).collect::<Vec<_>>(),
        "problem": problem,
    })
}
