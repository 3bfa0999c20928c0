//! `install`: copies the program to a directory.
#![expect(clippy::disallowed_methods, reason = "copies a program that the user named")]

use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;

use data::{OrFault as _, faults};

use super::argument_file::open_argument;
use super::output_file::{ReplaceMode, replace};
use crate::cli::InstallArgs;
use base::report::ExitStatus;

/// The name of the program in the directory.
const NAME: &str = "ascend-doctor";
/// Maximum size of a program, in bytes.
const LIMIT: u64 = 256 << 20;

pub(super) fn run(args: &InstallArgs) -> anyhow::Result<ExitStatus> {
    let own = match &args.from {
        Some(program) => program.clone(),
        None => std::env::current_exe().or_fault(|| faults::NoOwnProgram.fault())?,
    };
    let target = args.dir.join(NAME);
    std::fs::create_dir_all(&args.dir)
        .or_fault(|| faults::CannotMakeDirectory { path: args.dir.display() }.fault())?;
    let program =
        open_argument(&own).or_fault(|| faults::CannotRead { path: own.display() }.fault())?;
    copy(program, &target).or_fault(|| faults::CannotWrite { path: target.display() }.fault())?;
    Ok(ExitStatus::Clean)
}

/// Copies a program as a whole or not at all.
fn copy(from: impl io::Read, to: &Path) -> io::Result<()> {
    let mut program = from.take(LIMIT);
    replace(to, ReplaceMode::RenameOnly, |out| io::copy(&mut program, out).map(drop))?;
    std::fs::set_permissions(to, std::fs::Permissions::from_mode(0o755))
}
