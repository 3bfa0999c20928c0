//! Prevents an output from overwriting an input of the same run.
#![expect(clippy::disallowed_methods, reason = "compares files that the user named")]

use data::faults;
use std::os::unix::fs::MetadataExt as _;
use std::path::Path;

use super::data_pack::signature_of;
use crate::cli::{Command, FleetCommand, ManifestCommand, OutputArgs};

/// Fails if `output` is a file that `command` reads, under any name.
///
/// # Errors
///
/// With both names.
pub(super) fn refuse_overwrite(
    command: &Command,
    args: &OutputArgs,
    output: &Path,
) -> anyhow::Result<()> {
    let identity = |path: &Path| {
        let meta = std::fs::metadata(path).ok().filter(std::fs::Metadata::is_file)?;
        Some((meta.dev(), meta.ino()))
    };
    let Some(own) = identity(output) else { return Ok(()) };
    let signature = args.data_pack.as_deref().map(signature_of);
    let mut inputs = list_inputs(command);
    inputs.extend(args.data_pack.as_deref().into_iter().chain(signature.as_deref()));
    inputs.extend(args.data_key.as_deref().map(Path::new));
    for input in inputs {
        anyhow::ensure!(
            identity(input) != Some(own),
            faults::OutputIsInput { input, output }.fault()
        );
    }
    Ok(())
}

/// Returns the files and directories named as inputs of a subcommand.
fn list_inputs(command: &Command) -> Vec<&Path> {
    let mut inputs: Vec<&Path> = Vec::new();
    match command {
        Command::Check(args) => {
            inputs.extend(args.facts.as_deref());
            inputs.extend(args.from_text.as_deref());
            inputs.extend(args.matrix.as_deref());
            inputs.extend(args.manifest.as_deref());
            inputs.extend(args.scan.machine.env_file.as_deref());
        }
        Command::Compat(args) => {
            inputs.extend(args.facts.as_deref());
            inputs.extend(args.matrix.as_deref());
        }
        Command::AuditOps(args) => inputs.extend(args.inputs.iter().map(|path| &**path)),
        Command::Convert(args) => {
            inputs.extend(args.selected().iter().chain(&args.launch).map(|path| &**path));
        }
        Command::TranslateError(args) => {
            inputs.extend(args.inputs.iter().map(Path::new));
            inputs.extend(args.good_log.iter().map(|path| &**path));
            inputs.extend(args.data.as_deref());
        }
        Command::Lint(args) => inputs.extend(args.files.iter().map(|path| &**path)),
        Command::Port(args) => inputs.push(&args.dir),
        Command::Triage(args) => inputs.extend(args.inputs.iter().map(Path::new)),
        Command::Verify(args) => {
            inputs.extend(args.env_file.as_deref());
            inputs.extend(args.baseline.as_deref());
        }
        Command::Manifest(ManifestCommand::Create { source }) => inputs.push(source),
        Command::Manifest(ManifestCommand::WheelCheck { sources }) => {
            inputs.extend(sources.iter().map(|path| &**path));
        }
        Command::Fleet(FleetCommand::Merge(args)) => {
            inputs.extend(args.inputs.iter().map(|path| &**path));
            inputs.extend(args.expect.as_deref());
        }
        Command::Report(args) => inputs.extend(args.files.iter().map(|path| &**path)),
        Command::Bundle(args) => inputs.extend(args.add.iter().map(|path| &**path)),
        Command::Explain(args) => {
            inputs.extend(args.facts.as_deref().into_iter().chain(args.report.as_deref()));
        }
        Command::VerifyChild { .. }
        | Command::Mcp(_)
        | Command::Install(_)
        | Command::Data(_)
        | Command::Completions(_)
        | Command::Man(_) => {}
    }
    inputs
}
