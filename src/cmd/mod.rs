//! One file per subcommand: gather, decide, hand a report to the renderer.

mod audit_ops;
mod check;
mod compat;
mod convert;
mod explain;
mod machine;
mod manifest;
mod matrix;
mod output;
mod progress;
mod translate_error;
mod verify;

use anyhow::Context as _;

use crate::cli::{Cli, Command, CompatArgs, ManifestCommand};
use crate::render::{Format, render};
use crate::report::{ExitStatus, Report};
use output::Output;

/// Runs the subcommand that `cli` names.
pub fn run(cli: &Cli) -> anyhow::Result<ExitStatus> {
    let file = match &cli.command {
        // There `--output` is the place of the converted tree.
        Command::Convert(args) => args.report.clone(),
        _ => cli.output.output.clone(),
    };
    let mut output = Output::new(&cli.output, file);
    match &cli.command {
        Command::TranslateError(args) if args.json => output.set_format(Format::Json),
        Command::TranslateError(args) if args.markdown => output.set_format(Format::Markdown),
        _ => {}
    }
    match &cli.command {
        Command::Check(args) if args.list_compat => {
            let args = CompatArgs {
                root: args.root.clone(),
                env_file: args.env_file.clone(),
                pid: args.pid,
                facts: args.facts.clone(),
                interpreter: args.python.clone(),
                torch: args.torch.clone(),
                torch_npu: args.torch_npu.clone(),
                cann: args.cann,
                vllm_ascend: args.vllm_ascend.clone(),
                matrix: args.matrix.clone(),
                ..CompatArgs::default()
            };
            compat::run(&args, &output)
        }
        Command::AuditOps(args) => audit_ops::run(args, &output),
        Command::Check(args) => check::run(args, &output),
        Command::Convert(args) => convert::run(args, &output),
        Command::TranslateError(args) => translate_error::run(args, &output),
        Command::Verify(args) => verify::run(args, &output),
        Command::VerifyChild { order } => match crate::verify::child::run(order)? {},
        Command::Explain(args) => explain::run(args, &output),
        Command::Compat(args) => compat::run(args, &output),
        Command::Manifest(ManifestCommand::Create { source }) => manifest::create(source, &output),
        Command::Manifest(ManifestCommand::WheelCheck { sources }) => {
            manifest::wheel_check(sources, &output)
        }
    }
}

/// As [`finish`], on standard error, where standard output carries something else.
fn finish_aside(mut report: Report, output: &Output) -> anyhow::Result<ExitStatus> {
    report.fail_on = output.fail_on();
    report.sort();
    output
        .write_aside(|out, style| render(&report, output.format(), style, out))
        .context("failed to write the report")?;
    Ok(report.exit_status())
}

/// Writes the report where the options say and returns the exit status that it stands for.
fn finish(mut report: Report, output: &Output) -> anyhow::Result<ExitStatus> {
    report.fail_on = output.fail_on();
    report.sort();
    output
        .write(|out, style| render(&report, output.format(), style, out))
        .context("failed to write the report")?;
    Ok(report.exit_status())
}
