//! The subcommands: translate arguments and named files to calls of the layers below, and their
//! reports to terminal output and the exit status.

mod argument_file;
mod audit_ops;
pub(crate) mod bundle;
mod check;
mod cleanup;
mod clock;
pub(crate) mod compat;
mod convert;
mod data_pack;
pub(crate) mod data_status;
mod error_message;
pub(crate) mod explain;
mod fleet;
pub(crate) mod from_text;
pub(crate) mod front;
mod gate_settings;
mod input_guard;
mod install;
mod lint;
mod log_files;
mod logger;
mod machine;
mod manifest;
mod matrix;
mod mcp;
pub(crate) mod output;
mod output_file;
mod plan_script;
mod port;
mod progress;
mod query;
mod repeat;
mod report;
pub(crate) mod requested;
mod settings;
mod shell;
mod standard_streams;
pub(crate) mod translate_error;
mod triage;
mod usage;
mod usage_error;
pub(crate) mod verify;

use data::{OrFault as _, faults};
use std::path::Path;

use crate::cli::{Cli, Command, CompatArgs, DataCommand, ManifestCommand};
use base::report::{ExitStatus, Report};
pub use error_message::{format_error, print_error};
pub use front::{Detected, InputType, Refusal};
pub use log_files::MachineFiles;
use output::Output;
use output_file::{ReplaceMode, check_replaceable, replace};
use render::{Format, render};
pub use usage::{Rejection, answer_rejection, parse};

/// Runs the subcommand that `cli` names.
///
/// Afterwards `cli` includes the values of the settings file.
///
/// # Errors
///
/// Any failure that ended the run; [`format_error()`] formats it.
pub fn run(cli: &mut Cli) -> anyhow::Result<ExitStatus> {
    if let Some(level) = cli.output.log {
        logger::start(level);
    }
    log::info!("ascend-doctor {}", env!("CARGO_PKG_VERSION"));
    log::debug!("{cli:?}");
    let status = dispatch(cli);
    progress::stop();
    match &status {
        Ok(status) => log::info!("exit status {}", status.code()),
        Err(error) => log::error!("{error:#}"),
    }
    status
}

fn dispatch(cli: &mut Cli) -> anyhow::Result<ExitStatus> {
    let gate_settings = gate_settings::of_options(cli);
    let located = settings::read(cli)?;
    if uses_tables(cli.command.as_ref()) {
        data_pack::load(&mut cli.output, located.found())?;
    }
    let mut gate = gate_settings;
    let settings = settings::apply(cli, located)?;
    gate.extend(settings.gate.iter().cloned());
    let named = cli.output.output.clone();
    // The output of `bundle` is the bundle, and its report goes to standard output.
    let file = match &cli.command {
        Some(Command::Bundle(_)) => None,
        _ => named.clone().filter(|file| file != Path::new("-")),
    };
    if let Some(command) = &cli.command {
        named
            .as_ref()
            .map_or(Ok(()), |made| input_guard::refuse_overwrite(command, &cli.output, made))?;
    }
    if let Some(file) = &file {
        check_writable(file)?;
    }
    let mut output = Output::new(&cli.output, file, settings, gate);
    output.set_detected(cli.detected.take(), cli.command.as_ref().is_some_and(prints_a_report));
    let Some(command) = &cli.command else { return Ok(ExitStatus::Failure) };
    query::settle_format(command, &mut output)?;
    if let Command::TranslateError(args) = command
        && args.markdown
    {
        output.set_format(Format::Markdown);
    }
    if works_in_parallel(command) {
        guard::threads::prepare();
    }
    if let Some(name) = name_of_work(command) {
        progress::start(name, output.quiet());
    }
    match command {
        Command::Check(args) if args.list_compat => {
            let args = CompatArgs {
                machine: args.scan.machine.clone(),
                facts: args.facts.clone(),
                python: args.scan.python.clone(),
                versions: args.versions.clone(),
                matrix: args.matrix.clone(),
                ..CompatArgs::default()
            };
            compat::run(&args, &output)
        }
        Command::AuditOps(args) => audit_ops::run(args, &output),
        Command::Check(args) if args.every.is_some() => repeat::run(args, &output),
        Command::Check(args) => check::run(args, &output),
        Command::Convert(args) => convert::run(args, &output),
        Command::TranslateError(args) => translate_error::run(args, &output),
        Command::Lint(args) => lint::run(args, &output),
        Command::Port(args) => port::run(args, &output),
        Command::Triage(args) => triage::run(args, &output),
        Command::Verify(args) => verify::run(args, &output),
        Command::VerifyChild { order } => match ::verify::child::run(order)? {},
        Command::Explain(args) => {
            if let Some(errors) = &output.settings().errors {
                translate_error::overlay_error_tables(errors)?;
            }
            explain::run(args, &output)
        }
        Command::Compat(args) => compat::run(args, &output),
        Command::Manifest(ManifestCommand::Create { source }) => manifest::create(source, &output),
        Command::Manifest(ManifestCommand::WheelCheck { sources }) => {
            manifest::wheel_check(sources, &output)
        }
        Command::Fleet(command) => fleet::run(command, &output),
        Command::Report(args) => report::run(args, &output),
        Command::Bundle(args) => bundle::run(args, named.as_deref(), &output),
        Command::Data(DataCommand::Status) => data_status::run(&output),
        Command::Mcp(args) => mcp::run(args, output.lang()),
        Command::Install(args) => install::run(args),
        Command::Completions(args) => shell::completions(args, output.lang()),
        Command::Man(args) => shell::man(args, output.lang()),
    }
}

/// Returns the name of a subcommand that shows its progress. `--follow` prints while it works.
const fn name_of_work(command: &Command) -> Option<&'static str> {
    Some(match command {
        Command::Check(_) => "check",
        Command::Convert(_) => "convert",
        Command::Verify(_) => "verify",
        Command::AuditOps(_) => "audit-ops",
        Command::TranslateError(args) if !args.follow => "translate-error",
        Command::Lint(_) => "lint",
        Command::Port(_) => "port",
        Command::Triage(_) => "triage",
        Command::Explain(_) => "explain",
        Command::Compat(_) => "compat",
        Command::Manifest(_) => "manifest",
        Command::Fleet(_) => "fleet merge",
        Command::Report(_) => "report",
        Command::Bundle(_) => "bundle",
        Command::Data(_) => "data status",
        Command::TranslateError(_)
        | Command::Mcp(_)
        | Command::Completions(_)
        | Command::Install(_)
        | Command::Man(_)
        | Command::VerifyChild { .. } => return None,
    })
}

/// Whether a subcommand prints an answer for people, rather than a file, such as a page, facts or a
/// script.
fn prints_a_report(command: &Command) -> bool {
    match command {
        Command::Check(args) => {
            !args.facts_only
                && args.from_text.is_none()
                && !args.plan
                && args.expect_from.is_none()
                && args.query.is_empty()
        }
        Command::TranslateError(args) => !args.schema && !args.follow,
        Command::Explain(args) => !args.report_schema,
        Command::Convert(args) => !args.diff,
        Command::Report(_) | Command::Bundle(_) => false,
        _ => true,
    }
}

/// Whether a subcommand works in parallel: the others start no threads.
const fn works_in_parallel(command: &Command) -> bool {
    !matches!(
        command,
        Command::Completions(_) | Command::Man(_) | Command::Data(_) | Command::VerifyChild { .. }
    )
}

/// Whether a subcommand uses tables. A damaged data pack must not stop subcommands that only
/// describe the command line.
fn uses_tables(command: Option<&Command>) -> bool {
    use Command::{Completions, Install, Man, VerifyChild};
    !matches!(command, None | Some(Completions(_) | Install(_) | Man(_) | VerifyChild { .. }))
}

/// Fails early if the output cannot be written. A missing directory is accepted, because the run
/// may create it.
fn check_writable(file: &Path) -> anyhow::Result<()> {
    match check_replaceable(file, ReplaceMode::RenameOrWrite) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(faults::CannotWrite { path: file.display() }.fault().because(error).into())
        }
        _ => Ok(()),
    }
}

/// Like [`finish`], but on standard error, for runs that use standard output for other data.
fn finish_on_stderr(mut report: Report, output: &Output) -> anyhow::Result<ExitStatus> {
    output.settle(&mut report);
    output
        .write_to_stderr(|out, style| render(&report, output.format(), style, out))
        .or_fault(|| faults::FailedToWriteReport.fault())?;
    Ok(report.exit_status())
}

/// Like [`finish`], but also writes metrics to another file if one is named.
fn finish_with_metrics(
    mut report: Report,
    metrics: Option<&Path>,
    output: &Output,
) -> anyhow::Result<ExitStatus> {
    output.settle(&mut report);
    write_metrics(&report, metrics, output)?;
    write_settled(&report, output)
}

/// Writes the metrics of a settled report to a file, if one is named.
fn write_metrics(report: &Report, file: Option<&Path>, output: &Output) -> anyhow::Result<()> {
    let Some(path) = file else { return Ok(()) };
    let style = output.style();
    replace(path, ReplaceMode::RenameOnly, |out| render(report, Format::Openmetrics, style, out))
        .or_fault(|| faults::FailedToWrite { path: path.display() }.fault())?;
    Ok(())
}

/// Writes the report to its output and returns its exit status.
fn finish(mut report: Report, output: &Output) -> anyhow::Result<ExitStatus> {
    output.settle(&mut report);
    write_settled(&report, output)
}

fn write_settled(report: &Report, output: &Output) -> anyhow::Result<ExitStatus> {
    output
        .write(|out, style| render(report, output.format(), style, out))
        .or_fault(|| faults::FailedToWriteReport.fault())?;
    Ok(report.exit_status())
}
