//! `triage`: one answer to the text of an issue and its logs.

mod reply;
pub(super) mod texts;

use data::{OrFault as _, faults};
use std::path::Path;

use super::finish;
use super::log_files::MachineFiles;
use super::machine::{read_facts, this_machine};
use super::output::Output;
use crate::cli::TriageArgs;
use base::report::ExitStatus;
use errcodes::log::{Filter, ReportOptions, describe_unreadable, diagnose, redact, redact_text};
use facts::Facts;
use render::{Format, page_markdown};
use triage::{examine, merge};

pub(super) fn run(args: &TriageArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let sysroot = this_machine();
    let files = MachineFiles(&sysroot);
    let read = texts::read(&args.inputs, &files)?;
    let mut diagnosis = diagnose(read.reading, &Filter::default());
    if let Some(why) = describe_unreadable(&diagnosis) {
        anyhow::bail!(faults::Plain { why }.fault());
    }
    let mut stated = merge(read.stated);
    let mut subject: String = first_lines(&args.inputs);
    let machine = args.inputs.iter().find_map(|input| facts_of_bundle(input));
    if args.anonymize {
        redact(&mut diagnosis);
        stated.redact(&|text| redact_text(text));
        subject = redact_text(&subject);
    }
    let triage = examine(stated, machine, &diagnosis, &read.prose);
    let shown = ReportOptions { lang: output.lang(), ..ReportOptions::default() };
    let mut report = triage::report(&triage, &diagnosis, &subject, shown);
    if output.format() != Format::Markdown {
        return finish(report, output);
    }
    output.settle(&mut report);
    output
        .write(|out, style| {
            page_markdown(&reply::write(&triage, &report, output.data(), style.lang), 2, out)
        })
        .or_fault(|| faults::FailedToWriteReport.fault())?;
    Ok(report.exit_status())
}

/// The facts in a bundle. Other archives contain none.
fn facts_of_bundle(input: &str) -> Option<Facts> {
    let endings = [".tar.gz", ".tgz"];
    let is_archive = endings.iter().any(|ending| input.ends_with(ending));
    if is_archive { read_facts(Path::new(input)).ok() } else { None }
}

/// The inputs in one line: a text by its first line.
fn first_lines(inputs: &[String]) -> String {
    let lines = inputs.iter().map(|input| input.lines().next().unwrap_or_default());
    lines.collect::<Vec<_>>().join(" ")
}
