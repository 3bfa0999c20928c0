//! A diagnosis as a report: the first cause as an error, other candidates as warnings.

use super::diagnosis::{
    Diagnosis, FaultLocation, FoldedConsequence, Line, MissingEvidence, RejectReason, Suspect,
};
use serde::Serialize;

use super::codes::is_return_code;
use super::gravity::Gravity;
use super::mention::Mentions;
use super::source::{Problem, ProblemKind};
use crate::remedy::remedies_for;
use crate::{Note, cause, cause_of, evidence, note, rows, steps_with_facts};
use base::report::{Evidence, Finding, FixStep, Report, Severity, Table};
use base::text::{Lang, Text};
use data::causes;
use data::ui;

/// The member of the JSON report that only logs have.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct DiagnosisMember<'a> {
    /// The diagnosis.
    pub diagnosis: &'a Diagnosis,
}

/// The maximum number of kinds of missing evidence in a report.
const MISSING: usize = 2;
/// The maximum number of codes in the evidence of a cause that are shown with their registered
/// meaning.
const NAMED: usize = 2;
/// The minimum confidence of a cause that is shown without being the first.
const SURE: f64 = 0.4;
/// The maximum number of unreadable files named in a report.
const PROBLEMS: usize = 8;

/// The shown parts of a diagnosis.
#[derive(Debug, Clone, Copy)]
pub struct ReportOptions {
    /// The number of causes.
    pub top: usize,
    /// Also improbable causes.
    pub all: bool,
    /// The rejected causes, with the reasons.
    pub why_not: bool,
    /// The language of the rows of tables.
    pub lang: Lang,
}

impl Default for ReportOptions {
    fn default() -> Self {
        Self { top: 3, all: false, why_not: false, lang: Lang::En }
    }
}

/// The report on `diagnosis`; `subject` names the input.
pub fn report(diagnosis: &Diagnosis, subject: &str, shown: ReportOptions) -> Report {
    let mut report = Report::new("translate-error", subject);
    report.overview = list_overview(diagnosis);
    let said = list_lines(diagnosis);
    for (index, suspect) in diagnosis.causes.iter().enumerate() {
        let first = index == 0;
        let worth = first || shown.all || (index < shown.top && suspect.confidence >= SURE);
        if worth {
            let asked: &[MissingEvidence] = if first { &diagnosis.missing } else { &[] };
            let mut found = build_finding(suspect, first, asked);
            add_remedies(&mut found, &suspect.cause, &said, &diagnosis.mentions);
            if is_survived(suspect, diagnosis) {
                found.severity = found.severity.min(Severity::Warning);
            }
            report.findings.push(found);
        }
    }
    if !diagnosis.fallbacks.is_empty() {
        report.tables.push(fallback_table(diagnosis));
        report.notes.push(ui::LOG_FALLBACKS_NEXT.text());
    }
    if shown.why_not {
        report.tables.push(rejected_table(diagnosis));
    }
    report.notes.extend(list_problems(diagnosis));
    report.proof = Some(super::proof::prove(diagnosis, &report.findings));
    report.add_members(&DiagnosisMember { diagnosis });
    report
}

/// All kept lines, of any cause.
fn list_lines(diagnosis: &Diagnosis) -> Vec<&str> {
    let of_causes = diagnosis.causes.iter().flat_map(|suspect| {
        let consequences = suspect.consequences.iter().map(|folded| &folded.line);
        suspect.evidence.iter().chain(consequences)
    });
    let rejected = diagnosis.rejected.iter().map(|rejected| &rejected.line);
    of_causes.chain(rejected).map(|line| line.text.as_str()).collect()
}

/// Remedies from logs with the same words come before general steps.
fn add_remedies(finding: &mut Finding, cause: &str, said: &[&str], mentions: &Mentions) {
    let remedies = remedies_for(cause, said, mentions);
    let is_told =
        |step: &FixStep| step.run.is_some() && remedies.iter().any(|remedy| remedy.run == step.run);
    finding.fix.retain(|step| !is_told(step));
    finding.fix.splice(0..0, remedies);
}

fn list_overview(diagnosis: &Diagnosis) -> Vec<(Text, Text)> {
    let read = &diagnosis.read;
    let size = format_megabytes(read.bytes);
    let size = ui::LogSize { files: read.files, lines: read.lines, size }.text();
    let mut overview = vec![(ui::LOG_READ.text(), size)];
    if read.left_out > 0 {
        let files = ui::LogLeftOutFiles { n: read.left_out }.text();
        overview.push((ui::LOG_LEFT_OUT.text(), files));
    }
    if !diagnosis.silent_ranks.is_empty() {
        overview.push((ui::LOG_SILENT.text(), Text::same(format_numbers(&diagnosis.silent_ranks))));
    }
    overview
}

fn format_megabytes(bytes: u64) -> String {
    format!("{}.{} MB", bytes / 1_000_000, bytes / 100_000 % 10)
}

/// `0-3,7`: long lists of ranks are mostly ranges.
pub(super) fn format_numbers(list: &[u32]) -> String {
    let mut text = String::new();
    let mut rest = list;
    while let Some(&first) = rest.first() {
        let run = rest.iter().zip(first..).take_while(|(one, expected)| *one == expected).count();
        let comma = if text.is_empty() { "" } else { "," };
        text += &match run {
            1 => format!("{comma}{first}"),
            2 => format!("{comma}{first},{}", rest[1]),
            _ => format!("{comma}{first}-{}", rest[run - 1]),
        };
        rest = &rest[run..];
    }
    text
}

/// Whether the run survives it: its lines are only warnings, it is only operators on the CPU, or an
/// unknown error in a log that ends like that of a finished run.
fn is_survived(suspect: &Suspect, diagnosis: &Diagnosis) -> bool {
    let slow = || suspect.count <= diagnosis.fallbacks.values().sum();
    suspect.gravity < Gravity::Failure
        || suspect.cause == causes::op::NOT_SUPPORTED_ON_NPU && slow()
        || suspect.cause == causes::vague::UNKNOWN_ERROR && diagnosis.read.finished > 0
}

fn build_finding(suspect: &Suspect, first: bool, missing: &[MissingEvidence]) -> Finding {
    let known = cause(&suspect.cause);
    let severity = known.map_or(Severity::Error, |cause| cause.severity);
    // A function that returned an error failed, whatever other evidence there is.
    let severity = if is_returned(suspect) { Severity::Error } else { severity };
    // Reports show the most severe finding first: no other cause may precede the first.
    let severity =
        if first { severity.max(Severity::Warning) } else { severity.min(Severity::Info) };
    let mut finding = new_finding(&suspect.cause, severity);
    if suspect.cause == causes::vague::UNKNOWN_ERROR
        && let Some(title) = describe_code(suspect)
    {
        finding.title = title;
    }
    if let Some(place) = format_location(&suspect.culprit) {
        finding.title = ui::LogWhere { more: &place, text: &finding.title }.text();
    }
    let own = suspect.evidence.first().and_then(|line| speak_of(&line.rule));
    if let Some(note) = own {
        finding.cause.en = format!("{} {}", note.text.en, finding.cause.en);
        finding.cause.zh = format!("{}{}", note.text.zh, finding.cause.zh);
    }
    let sure = format!("{:.0} %", suspect.confidence * 100.0);
    finding.cause = ui::LogSure { more: sure, text: &finding.cause }.text();
    finding.evidence = suspect.evidence.iter().map(line_evidence).collect();
    finding.evidence.extend(name_codes(&suspect.evidence));
    finding.fix =
        known.map(|cause| steps_with_facts(&cause.steps, &suspect.known)).unwrap_or_default();
    if let Some(step) = own.and_then(|note| note.step.as_ref()) {
        finding.fix.insert(0, FixStep { text: step.clone(), run: None });
    }
    for step in missing.iter().take(MISSING).filter_map(collect) {
        // An existing step already collects it.
        if step.run.is_none() || finding.fix.iter().all(|other| other.run != step.run) {
            finding.fix.push(step);
        }
    }
    finding.consequences = suspect.consequences.iter().map(folded_finding).collect();
    finding
}

/// Whether a function of ACL returned an error for the cause.
fn is_returned(suspect: &Suspect) -> bool {
    let is_acl =
        |rule: &str| rule.split_once(':').is_some_and(|(family, _)| is_return_code(family));
    suspect.gravity == Gravity::Failure
        && suspect.evidence.first().is_some_and(|line| is_acl(&line.rule))
}

/// The note on the code of a rule, if the code is more specific than a wrapper.
fn speak_of(rule: &str) -> Option<&'static Note> {
    let (family, code) = rule.split_once(':')?;
    cause_of(family, code).filter(|link| link.weight > 1)?;
    note(family, code)
}

/// The code that identifies a failure, with its registered meaning.
fn describe_code(suspect: &Suspect) -> Option<Text> {
    let (code, meaning) = registered_meaning(&suspect.evidence.first()?.rule)?;
    Some(Text::new(format!("{code} {}", meaning.en), format!("{code} {}", meaning.zh)))
}

/// Registered name and message of the code of a rule.
fn registered_meaning(rule: &str) -> Option<(&str, Text)> {
    let (family, code) = rule.split_once(':')?;
    let row = rows(crate::family(family)?).iter().find(|row| row.code == code)?;
    let chinese = if row.zh.is_empty() { &row.message } else { &row.zh };
    let join = |message: &str| {
        let parts = [row.symbol.as_str(), message].into_iter().filter(|part| !part.is_empty());
        parts.collect::<Vec<_>>().join(" ")
    };
    Some((code, Text::new(join(&row.message), join(chinese))))
}

/// The registered meanings of the codes in the evidence.
fn name_codes(evidence: &[Line]) -> Vec<Evidence> {
    let mut named: Vec<Evidence> = Vec::new();
    for (code, meaning) in evidence.iter().filter_map(|line| registered_meaning(&line.rule)) {
        if !meaning.en.is_empty() && named.iter().all(|other| other.source != code) {
            named.push(Evidence::data(code).says(meaning));
        }
    }
    named.truncate(NAMED);
    named
}

/// A finding with the texts of a cause.
fn new_finding(id: &str, severity: Severity) -> Finding {
    let mut finding = Finding::remark(id);
    finding.message = "log".to_owned();
    finding.severity = severity;
    if let Some(cause) = cause(id) {
        finding.title = cause.title.clone();
        finding.cause = cause.text.clone();
        finding.refs = cause.sources.clone();
    } else {
        finding.title = Text::same(id);
    }
    finding
}

fn format_location(culprit: &FaultLocation) -> Option<Text> {
    let mut said: Vec<Text> = Vec::new();
    if !culprit.ranks.is_empty() {
        let ranks = format_numbers(&culprit.ranks);
        said.push(match culprit.by {
            "no_log" => ui::LogRankNoLog { ranks }.text(),
            "does_not_wait" => ui::LogRankQuiet { ranks }.text(),
            "named_by_others" => ui::LogRankNamed { ranks }.text(),
            _ => ui::LogRank { ranks }.text(),
        });
    }
    if !culprit.devices.is_empty() {
        said.push(ui::LogDevice { devices: format_numbers(&culprit.devices) }.text());
    }
    if !culprit.hosts.is_empty() && culprit.by != "line" {
        said.push(ui::LogHost { hosts: culprit.hosts.join(", ") }.text());
    }
    if culprit.ranks.is_empty()
        && let Some(worker) = &culprit.worker
    {
        said.push(ui::LogProcess { process: worker }.text());
    }
    if let Some(operator) = &culprit.operator {
        said.push(ui::LogOperator { operator }.text());
    }
    (!said.is_empty()).then(|| {
        let join =
            |of: fn(&Text) -> &str, by: &str| said.iter().map(of).collect::<Vec<_>>().join(by);
        Text::new(join(|text| &text.en, ", "), join(|text| &text.zh, "，"))
    })
}

fn line_evidence(line: &Line) -> Evidence {
    let number = u32::try_from(line.line).unwrap_or(u32::MAX);
    let rank = line.rank.filter(|rank| !line.text.contains(&format!("rank{rank}]")));
    let rank = rank.map_or_else(String::new, |rank| format!("[rank {rank}] "));
    let text = line.text.trim();
    Evidence::file(line.file.clone())
        .line(number)
        .value(format!("{rank}{text}"))
        .matched(line.matched.trim())
}

fn collect(missing: &MissingEvidence) -> Option<FixStep> {
    let wanted = evidence(&missing.evidence)?;
    let more = if missing.ranks.is_empty() {
        Text::same("")
    } else {
        let ranks = ui::LogRank { ranks: format_numbers(&missing.ranks) }.text();
        Text::new(format!(" ({})", ranks.en), format!("（{}）", ranks.zh))
    };
    let what = Text::new(
        format!("{}{}", wanted.text.en, more.en),
        format!("{}{}", wanted.text.zh, more.zh),
    );
    let said = |what: &String| ui::LogMissing { what: &what }.text();
    let text = Text::new(said(&what.en).en, said(&what.zh).zh);
    Some(FixStep { text, run: wanted.run.clone() })
}

fn folded_finding(folded: &FoldedConsequence) -> Finding {
    let mut finding = new_finding(&folded.cause, Severity::Info);
    finding.evidence = vec![line_evidence(&folded.line)];
    finding.values = folded.values.clone();
    let of = |name: &str, numbers: &[u32]| {
        (!numbers.is_empty()).then(|| (name.to_owned(), format_numbers(numbers)))
    };
    finding.values.extend(of("ranks", &folded.ranks));
    finding.values.extend(of("devices", &folded.devices));
    finding
}

fn fallback_table(diagnosis: &Diagnosis) -> Table {
    let mut rows: Vec<(&String, &u64)> = diagnosis.fallbacks.iter().collect();
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(**count), (*name).clone()));
    Table {
        title: ui::LOG_FALLBACKS.text(),
        head: vec![ui::LOG_TIMES.text(), ui::LOG_OPERATOR_HEAD.text()],
        rows: rows
            .into_iter()
            .map(|(name, count)| [count.to_string(), name.clone()].map(Text::same).to_vec())
            .collect(),
    }
}

fn reason_label(why: RejectReason) -> ui::Label {
    match why {
        RejectReason::Consequence => ui::LOG_CONSEQUENCE,
        RejectReason::Stale => ui::LOG_STALE,
        RejectReason::LessSpecific => ui::LOG_LESS_SPECIFIC,
        RejectReason::Later => ui::LOG_LATER,
        RejectReason::InBaseline => ui::LOG_IN_BASELINE,
        RejectReason::Waits => ui::LOG_WAITS,
    }
}

fn rejected_table(diagnosis: &Diagnosis) -> Table {
    let rows = diagnosis.rejected.iter().map(|rejected| {
        let why = reason_label(rejected.why).text();
        let by = rejected.by.clone().unwrap_or_default();
        let at =
            format!("{}:{} {}", rejected.line.file, rejected.line.line, rejected.line.text.trim());
        vec![Text::same(rejected.cause.clone()), why, Text::same(by), Text::same(at)]
    });
    Table {
        title: ui::LOG_WHY_NOT.text(),
        head: [ui::LOG_CAUSE, ui::LOG_REASON, ui::LOG_BECAUSE_OF, ui::LOG_LINE]
            .map(ui::Label::text)
            .to_vec(),
        rows: rows.collect(),
    }
}

/// Describes the defect of an input.
pub fn describe_problem(problem: &Problem) -> Text {
    let (path, detail) = (&problem.name, &problem.detail);
    match problem.kind {
        ProblemKind::Unreadable => ui::LogUnreadable { detail, path }.text(),
        ProblemKind::NotRegular => ui::LogNotRegular { detail, path }.text(),
        ProblemKind::Damaged => ui::LogDamaged { detail, path }.text(),
        ProblemKind::TooLarge => ui::LogTooLarge { detail, path }.text(),
        ProblemKind::Unsupported => ui::LogUnsupported { detail, path }.text(),
        ProblemKind::Empty => ui::LogEmpty { detail, path }.text(),
    }
}

fn list_problems(diagnosis: &Diagnosis) -> Vec<Text> {
    let mut notes: Vec<Text> =
        diagnosis.problems.iter().take(PROBLEMS).map(describe_problem).collect();
    if diagnosis.problems.len() > PROBLEMS {
        let more = diagnosis.problems.len() - PROBLEMS;
        notes.push(ui::More { n: more }.text());
    }
    notes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_of_numbers_are_short() {
        assert_eq!(format_numbers(&[0, 1, 2, 3, 7, 9, 10]), "0-3,7,9,10");
        assert_eq!(format_numbers(&[]), "");
    }
}
