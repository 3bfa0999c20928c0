//! `triage`: one answer to an issue text and the logs next to it.

mod reply;
pub(super) mod texts;

use data::{OrFault as _, faults};

use super::finish;
use super::log_files::MachineFiles;
use super::machine::this_machine;
use super::output::Output;
use crate::cli::TriageArgs;
use base::report::ExitStatus;
use errcodes::log::{Filter, ReportOptions, describe_unreadable, diagnose};
use render::{Format, page_markdown};
use triage::{examine, merge};

pub(super) fn run(args: &TriageArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let sysroot = this_machine();
    let files = MachineFiles(&sysroot);
    let read = texts::read(&args.inputs, &files)?;
    let diagnosis = diagnose(read.reading, &Filter::default());
    if let Some(why) = describe_unreadable(&diagnosis) {
        anyhow::bail!(faults::Plain { why }.fault());
    }
    let triage = examine(merge(read.stated), &diagnosis, &read.prose);
    let subject = args.inputs.join(" ");
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
