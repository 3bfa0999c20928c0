//! Runs commands in the clone with a separate target directory.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, Result, bail};

use super::limits::Step;

/// Variables that `cargo run` sets for xtask and that would affect the measured commands.
const OWN_VARIABLES: [&str; 5] =
    ["CARGO_PKG_", "CARGO_MANIFEST_", "CARGO_BIN_", "CARGO_CRATE_", "CARGO_PRIMARY_"];
/// Exit status of Cargo for its own errors. The programs that it runs use other values.
const CARGO_ERROR: i32 = 101;
/// The number of lines of a failed command that are shown.
const TAIL: usize = 20;

/// Runs commands in a directory.
#[derive(Debug)]
pub(super) struct Runner {
    dir: PathBuf,
    target: PathBuf,
    temp: PathBuf,
}

impl Runner {
    /// Returns a runner for a directory, with a directory for empty caches and logs.
    pub(super) fn new(dir: &Path, target: &Path, temp: &Path) -> Self {
        Self { dir: dir.to_owned(), target: target.to_owned(), temp: temp.to_owned() }
    }

    /// Returns the directory that commands run in.
    pub(super) fn dir(&self) -> &Path {
        &self.dir
    }

    /// Removes the target directory.
    pub(super) fn clean(&self) -> Result<()> {
        match std::fs::remove_dir_all(&self.target) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(error.into()),
            _ => Ok(()),
        }
    }

    /// Runs a command and returns its standard output.
    ///
    /// The command stays in the process group of xtask, so that an interrupt from the terminal ends
    /// it, too.
    pub(super) fn run(&self, step: &Step) -> Result<String> {
        let mut command = Command::new(&step.program);
        command.args(&step.args).current_dir(&self.dir).env("CARGO_TARGET_DIR", &self.target);
        for (name, _) in std::env::vars_os() {
            if OWN_VARIABLES.iter().any(|prefix| name.to_string_lossy().starts_with(prefix)) {
                command.env_remove(name);
            }
        }
        if step.empty_caches {
            self.use_empty_caches(&mut command)?;
        }
        let log = self.temp.join("log");
        let file = std::fs::File::create(&log)?;
        let output = command
            .stdin(Stdio::null())
            .stderr(file)
            .output()
            .with_context(|| format!("cannot start `{}`", step.program))?;
        let code = output.status.code();
        let accepted = if step.any_status {
            code.is_some_and(|code| code != CARGO_ERROR)
        } else {
            code == Some(0)
        };
        let stdout = String::from_utf8_lossy(&output.stdout).into_owned();
        if accepted {
            return Ok(stdout);
        }
        let stderr = std::fs::read(&log)?;
        let text = format!("{stdout}{}", String::from_utf8_lossy(&stderr));
        let lines: Vec<&str> = text.lines().collect();
        let tail = lines[lines.len().saturating_sub(TAIL)..].join("\n");
        bail!("`{step}` fails ({}):\n{tail}", output.status)
    }

    /// Gives a command empty caches. Only the configuration of Cargo is kept, because it may name
    /// the registries that this machine can reach.
    fn use_empty_caches(&self, command: &mut Command) -> Result<()> {
        let home = std::env::var_os("CARGO_HOME").map(PathBuf::from).or_else(|| {
            let user = std::env::var_os("HOME")?;
            Some(Path::new(&user).join(".cargo"))
        });
        let empty = self.temp.join("cargo-home");
        std::fs::create_dir_all(&empty)?;
        if let Some(config) =
            home.map(|home| home.join("config.toml")).filter(|path| path.is_file())
        {
            std::fs::copy(config, empty.join("config.toml"))?;
        }
        command.env("CARGO_HOME", empty).env("CI_CACHE_DIR", self.temp.join("ci-cache"));
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn step(script: &str, any_status: bool) -> Step {
        let args = vec!["-c".to_owned(), script.to_owned()];
        Step { program: "sh".to_owned(), args, any_status, empty_caches: false }
    }

    #[test]
    fn output_and_failures_are_returned() {
        let dir = tempfile::tempdir().unwrap();
        let runner = Runner::new(dir.path(), &dir.path().join("target"), dir.path());
        let target = runner.run(&step("echo $CARGO_TARGET_DIR", false)).unwrap();
        assert_eq!(target.trim(), dir.path().join("target").to_str().unwrap());
        let error = runner.run(&step("echo broken >&2; exit 1", false)).unwrap_err();
        assert!(error.to_string().ends_with("(exit status: 1):\nbroken"), "{error}");
        assert!(runner.run(&step("exit 3", true)).is_ok());
        assert!(runner.run(&step("exit 101", true)).is_err());
        assert!(runner.run(&step("env | grep CARGO_PKG_", false)).is_err());
    }

    #[test]
    fn cleaning_removes_the_target_directory() {
        let dir = tempfile::tempdir().unwrap();
        let target = dir.path().join("target");
        let runner = Runner::new(dir.path(), &target, dir.path());
        runner.clean().unwrap();
        std::fs::create_dir_all(target.join("debug")).unwrap();
        runner.clean().unwrap();
        assert!(!target.exists());
    }
}
