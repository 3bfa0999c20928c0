//! `port`: checks whether a project will run on NPUs, and lists the necessary work.
#![expect(clippy::disallowed_methods, reason = "looks at the directory that the user named")]

use clap::Parser as _;
use data::{OrFault as _, fault::describe_chain, faults};

use super::argument_file::read_argument;
use super::machine::this_machine;
use super::output::Output;
use super::{audit_ops, convert, finish};
use crate::cli::{Cli, Command, PortArgs};
use crate::port::{Sources, combine, judge_requirements, read_requirements};
use base::report::{ExitStatus, Report};
use checks::verdict::run_all_checks;
use machine::collect::{self, Options};

/// Maximum size of a requirements file, in bytes.
const REQUIREMENTS: u64 = 1 << 20;
/// Files of requirements at the top of a project.
const FILES: [&str; 6] = [
    "requirements.txt",
    "requirements/requirements.txt",
    "requirements/base.txt",
    "pyproject.toml",
    "setup.py",
    "environment.yml",
];

pub(super) fn run(args: &PortArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    let dir = args.dir.display().to_string();
    let is_dir = args.dir.metadata().or_fault(|| faults::CannotRead { path: &dir }.fault())?;
    anyhow::ensure!(is_dir.is_dir(), faults::PortNotDirectory { path: &dir }.fault());
    let convert = convert::preview(&convert_args(&dir, args)?)?;
    // Sources without a model have nothing to audit: the result is unknown, not good.
    let audit = audit_ops::report_of(&audit_args(&dir, args)?, output.format().is_json());
    let audit = audit.map(|(report, _)| report).map_err(|error| describe_chain(error.chain()));
    let mut found = Vec::new();
    for name in FILES {
        let path = args.dir.join(name);
        if path.is_file()
            && let Ok(bytes) = read_argument(&path, REQUIREMENTS)
        {
            let shown = path.display().to_string();
            found.extend(read_requirements(&shown, &String::from_utf8_lossy(&bytes)));
        }
    }
    let requirements = judge_requirements(&found);
    let machine = if args.no_machine { None } else { examine_machine(output) };
    finish(combine(Sources { dir, convert, audit, requirements, machine }), output)
}

/// The report on this machine, if it has NPUs or Ascend software.
fn examine_machine(output: &Output) -> Option<Report> {
    let options = Options { hash: false, npu_smi: false, ..Options::default() };
    let facts = collect::collect(&this_machine(), &options);
    let has_stack = !facts.devices.davinci_ids().is_empty()
        || facts.devices.pci_count() > 0
        || !facts.cann.installs.is_empty();
    has_stack.then(|| run_all_checks(&facts, output.data().age_days, &|_| None))
}

fn convert_args(dir: &str, args: &PortArgs) -> anyhow::Result<crate::cli::ConvertArgs> {
    let mut words = vec!["ascend-doctor".to_owned(), "convert".to_owned()];
    words.extend(args.torch_npu.iter().map(|version| format!("--target={version}")));
    words.extend(["--".to_owned(), dir.to_owned()]);
    let cli = Cli::try_parse_from(words)?;
    match cli.command {
        Some(Command::Convert(args)) => Ok(*args),
        _ => anyhow::bail!(faults::PortNotDirectory { path: dir }.fault()),
    }
}

fn audit_args(dir: &str, args: &PortArgs) -> anyhow::Result<crate::cli::AuditOpsArgs> {
    let mut words = vec!["ascend-doctor".to_owned(), "audit-ops".to_owned()];
    words.extend(args.torch_npu.iter().map(|version| format!("--torch-npu={version}")));
    words.extend(["--".to_owned(), dir.to_owned()]);
    let cli = Cli::try_parse_from(words)?;
    match cli.command {
        Some(Command::AuditOps(args)) => Ok(*args),
        _ => anyhow::bail!(faults::PortNotDirectory { path: dir }.fault()),
    }
}
