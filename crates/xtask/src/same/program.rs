//! A build of `ascend-doctor`, started in a fixed environment.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context as _, Result, ensure};

use super::case::Case;
use crate::process::{self, Limits, Output, Status};

/// Inherited variables. Programs that the product starts (git, npu-smi) are found by `PATH`.
const INHERITED: [&str; 1] = ["PATH"];

/// A build to run.
#[derive(Debug)]
pub(crate) struct Program {
    path: PathBuf,
    /// The version in the output of `--version`.
    pub(crate) version: String,
    limits: Limits,
    /// Arguments with another name in this program: the name in the cases, the own name.
    arguments: Vec<(String, String)>,
}

impl Program {
    /// Finds a program and its version.
    pub(crate) fn new(path: &Path, limits: Limits) -> Result<Self> {
        let path = std::path::absolute(path)?;
        let path = path
            .canonicalize()
            .with_context(|| format!("cannot read the program `{}`", path.display()))?;
        let mut program = Self { path, version: String::new(), limits, arguments: Vec::new() };
        let output =
            program.run(&Case::new("version"), &["--version".to_owned()], Path::new("/"))?;
        let text = String::from_utf8_lossy(&output.stdout.bytes).into_owned();
        let version = text.split_whitespace().nth(1).unwrap_or_default();
        ensure!(
            output.status == Status::Exited(0) && !version.is_empty(),
            "`{}` --version fails: {}",
            program.path.display(),
            output.status
        );
        program.version = version.to_owned();
        Ok(program)
    }

    /// Returns the program with other limits.
    #[cfg(test)]
    pub(crate) fn with_limits(self, limits: Limits) -> Self {
        Self { limits, ..self }
    }

    /// Returns the program with its own argument names.
    pub(crate) fn with_arguments(self, arguments: Vec<(String, String)>) -> Self {
        Self { arguments, ..self }
    }

    /// Returns the name of an argument in this program.
    fn own_name<'a>(&'a self, arg: &'a str) -> &'a str {
        let renamed = self.arguments.iter().find(|(name, _)| name == arg);
        renamed.map_or(arg, |(_, own)| own)
    }

    /// Runs one command line of a case.
    pub(crate) fn run(&self, case: &Case, args: &[String], work: &Path) -> Result<Output> {
        let mut command = Command::new(&self.path);
        command.env_clear();
        for name in INHERITED {
            if let Some(value) = std::env::var_os(name) {
                command.env(name, value);
            }
        }
        command
            .env("HOME", work)
            .env("LANG", "C.UTF-8")
            .env("TZ", "UTC")
            .envs(case.env.iter().map(|(name, value)| (name, value)))
            .args(args.iter().map(|arg| self.own_name(arg)))
            .current_dir(work);
        // Usage messages contain the name by which the program was started.
        std::os::unix::process::CommandExt::arg0(&mut command, "ascend-doctor");
        process::run(&mut command, &case.stdin, self.limits)
    }

    /// Runs a command line whose output is an input of other cases. Accepts any exit status except
    /// that of wrong usage.
    pub(crate) fn prepare(&self, args: &[String], work: &Path) -> Result<Vec<u8>> {
        let output = self.run(&Case::new("prepare"), args, work)?;
        ensure!(
            matches!(output.status, Status::Exited(0 | 1 | 3)),
            "cannot prepare inputs by `{} {}`: {}: {}",
            self.path.display(),
            args.join(" "),
            output.status,
            String::from_utf8_lossy(&output.stderr.bytes).trim()
        );
        ensure!(output.stdout.rest.is_none(), "output of `{}` is too large", args.join(" "));
        Ok(output.stdout.bytes)
    }
}
