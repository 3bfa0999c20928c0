//! `--query`: values of hosts and NPUs as CSV, in `check` and `fleet merge`.

use std::path::Path;

use anyhow::bail;
use data::{OrFault as _, faults};

use super::output::Output;
use super::standard_streams::print;
use super::{error_message, write_metrics};
use crate::cli::{Command, FleetCommand};
use base::report::{ExitStatus, Report};
use base::text::{escape_line, nearest};
use fleet::{Fleet, QUERY_KEYS, QueryKey, query, read_documents};
use render::{Format, render, write_csv};

/// The word that lists the keys.
const HELP: &str = "help";

/// Allows `--query` to write CSV, and rejects CSV in all other cases.
pub(super) fn settle_format(command: &Command, output: &mut Output) -> anyhow::Result<()> {
    let has_query = match command {
        Command::Check(args) => !args.query.is_empty(),
        Command::Fleet(FleetCommand::Merge(args)) => !args.query.is_empty(),
        _ => false,
    };
    if has_query {
        output.only(Format::Csv, "--query")?;
        output.set_format(Format::Csv);
    } else if output.format() == Format::Csv {
        bail!(faults::CsvNeedsQuery.fault());
    }
    Ok(())
}

/// The keys that the user named.
///
/// # Errors
///
/// If there is no such key, with the nearest ones.
pub(super) fn find_keys(names: &[String]) -> anyhow::Result<Vec<&'static QueryKey>> {
    let find = |name: &String| {
        let wanted = name.trim().to_ascii_lowercase();
        QUERY_KEYS.iter().find(|key| key.name == wanted).ok_or_else(|| unknown(name, &wanted))
    };
    names.iter().map(|name| find(name).map_err(Into::into)).collect()
}

fn unknown(name: &str, wanted: &str) -> data::Fault {
    let near = nearest(wanted, QUERY_KEYS.iter().map(|key| key.name.to_owned()), 3);
    let hint = match near.as_slice() {
        [] => faults::QueryHelp.fault(),
        near => error_message::did_you_mean(near),
    };
    faults::NoSuchKey { name: escape_line(name).as_ref(), why: hint }.fault()
}

/// Whether the user requests the list of keys.
pub(super) fn asks_for_help(names: &[String]) -> bool {
    names.iter().any(|name| name == HELP)
}

/// Prints the keys.
pub(super) fn print_help() -> anyhow::Result<ExitStatus> {
    let width = QUERY_KEYS.iter().map(|key| key.name.len()).max().unwrap_or(0);
    print(|_, out| {
        QUERY_KEYS.iter().try_for_each(|key| writeln!(out, "{:width$}  {}", key.name, key.about))
    })
    .or_fault(|| faults::FailedToWriteReport.fault())?;
    Ok(ExitStatus::Clean)
}

/// Writes the values of one host, from its report.
pub(super) fn finish(
    mut report: Report,
    keys: &[&QueryKey],
    metrics: Option<&Path>,
    output: &Output,
) -> anyhow::Result<ExitStatus> {
    output.settle(&mut report);
    let mut document = Vec::new();
    render(&report, Format::Json, output.style(), &mut document)
        .or_fault(|| faults::FailedToWriteReport.fault())?;
    let mut fleet = Fleet::default();
    for (source, outcome) in read_documents(&document, &report.subject, None, None) {
        fleet.add_outcome(&source, outcome);
    }
    write(&report, &fleet, keys, metrics, output)
}

/// Writes the values of all hosts of a fleet; `report` is the settled comparison.
pub(super) fn write(
    report: &Report,
    fleet: &Fleet,
    keys: &[&QueryKey],
    metrics: Option<&Path>,
    output: &Output,
) -> anyhow::Result<ExitStatus> {
    write_metrics(report, metrics, output)?;
    let head: Vec<&str> = keys.iter().map(|key| key.name).collect();
    let rows = query(fleet, keys);
    output
        .write(|out, _| write_csv(&head, &rows, out))
        .or_fault(|| faults::FailedToWriteReport.fault())?;
    Ok(report.exit_status())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_are_found_in_any_case_and_the_nearest_are_named() {
        let names = |text: &str| -> Vec<String> { text.split(',').map(str::to_owned).collect() };
        let keys = find_keys(&names("Host, npu.health")).unwrap();
        let found: Vec<&str> = keys.iter().map(|key| key.name).collect();
        assert_eq!(found, ["host", "npu.health"]);
        let error = find_keys(&names("host,drivr")).unwrap_err().to_string();
        assert!(error.contains("`drivr`") && error.contains("`driver`"), "{error}");
        let error = find_keys(&names("zzzzzzzzzz")).unwrap_err().to_string();
        assert!(error.contains("--query help"), "{error}");
    }
}
