//! `explain`: describes a finding id, an error code or a rule of `convert`.

use data::{Catalog, OrFault as _, faults, ui};

use super::finish;
use super::machine::read_facts;
use super::output::Output;
use super::report::read_report;
use super::standard_streams::print_to_stderr;
use crate::cli::ExplainArgs;
use base::report::{ExitStatus, Finding, Report};
use base::text::{Lang, Text, escape_line};
use checks::verdict::run_all_checks;
use explain::document::{ExplainDocument, judge};
use explain::{Item, Topic, find, list_page};
use render::{Format, page_markdown, page_text};

const REPORT_SCHEMA: &str = include_str!("../../docs/schema/report-2.schema.json");

pub(super) fn run(args: &ExplainArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.report_schema {
        output.only_json("explain --report-schema")?;
        output.write(|out, _| out.write_all(REPORT_SCHEMA.as_bytes()))?;
        return Ok(ExitStatus::Clean);
    }
    let run = find_run(args, output)?;
    let mut topics: Vec<Topic> = Vec::new();
    let mut unknown = Vec::new();
    for name in &args.names {
        match find(name) {
            Ok(found) => topics.extend(found.into_iter().map(|topic| with_findings(topic, &run))),
            Err(near) => unknown.push(describe_unknown_name(name, &near)),
        }
    }
    if args.list || !topics.is_empty() {
        write(args, &topics, output).or_fault(|| faults::FailedToWriteExplanation.fault())?;
    }
    if !unknown.is_empty() {
        let join = |lang, by| {
            unknown.iter().map(|text: &Text| text.get(lang)).collect::<Vec<_>>().join(by)
        };
        let why = Text::new(join(Lang::En, "; "), join(Lang::Zh, "；"));
        return Err(faults::Plain { why }.fault().into());
    }
    Ok(output.gated(judge(&topics)))
}

/// Returns the findings of the run that `--facts` or `--report` names, with the name of the file.
fn find_run(args: &ExplainArgs, output: &Output) -> anyhow::Result<Vec<Finding>> {
    let mut findings = if let Some(path) = &args.facts {
        let facts = read_facts(path)?;
        run_all_checks(&facts, output.data().age_days, &|_| None).findings
    } else if let Some(path) = &args.report {
        read_report(path)?.findings
    } else {
        return Ok(Vec::new());
    };
    let mut at = 0;
    while at < findings.len() {
        let consequences = std::mem::take(&mut findings[at].consequences);
        findings.extend(consequences);
        at += 1;
    }
    for name in &args.names {
        let is_finding = matches!(find(name).as_deref(), Ok([Topic::Finding(..)]));
        let seen = findings.iter().any(|finding| finding.id.eq_ignore_ascii_case(name.trim()));
        if is_finding && !seen && !output.quiet() {
            let id = name.trim().to_ascii_uppercase();
            print_to_stderr(ui::ExplainNotFound { id }.text().get(output.lang()));
        }
    }
    Ok(findings)
}

/// Replaces the possible messages by the findings of a run.
fn with_findings(topic: Topic, findings: &[Finding]) -> Topic {
    let Topic::Finding(entry, family) = topic else { return topic };
    let own = findings.iter().filter(|finding| finding.id == entry.id);
    let own: Vec<Finding> = own.cloned().collect();
    if own.is_empty() { topic } else { Topic::Occurred(entry, family, own) }
}

fn write(args: &ExplainArgs, topics: &[Topic], output: &Output) -> anyhow::Result<()> {
    let list = args.list;
    match output.format() {
        Format::Text => output.write(|out, style| {
            let mut first = true;
            let pages = topics.iter().map(|topic| topic.page(style.lang, style.verbose));
            for page in list.then(|| list_page(style.lang)).into_iter().chain(pages) {
                if !std::mem::take(&mut first) {
                    writeln!(out)?;
                }
                page_text(&page, style, out)?;
            }
            Ok(())
        })?,
        Format::Markdown => output.write(|out, style| {
            let pages = topics.iter().map(|topic| topic.page(style.lang, style.verbose));
            for page in list.then(|| list_page(style.lang)).into_iter().chain(pages) {
                page_markdown(&page, 2, out)?;
                writeln!(out)?;
            }
            Ok(())
        })?,
        Format::Json | Format::Jsonl => {
            let all = if list { all_families() } else { Vec::new() };
            let items: Vec<Item<'_>> = all.iter().chain(topics).map(Topic::item).collect();
            output.write_document(&ExplainDocument::new(output.data(), items))?;
        }
        // These formats have no pages: the topics become a report of remarks.
        _ => {
            let mut report = Report::new("explain", args.names.join(" "));
            let all = if list { all_families() } else { Vec::new() };
            report.findings = all.iter().chain(topics).flat_map(Topic::remarks).collect();
            finish(report, output)?;
        }
    }
    Ok(())
}

/// The families for `--list`.
fn all_families() -> Vec<Topic> {
    Catalog::builtin().families().map(Topic::Family).collect()
}

fn describe_unknown_name(name: &str, near: &[String]) -> Text {
    let name = escape_line(name).into_owned();
    let why = match near {
        [] => faults::ExplainListFindings.fault(),
        near => super::error_message::did_you_mean(near),
    };
    faults::NoSuchTopic { name, why }.fault().text()
}
