//! `ascend-doctor.toml`: found, read, and put where the options do not say otherwise.
#![expect(clippy::disallowed_methods, reason = "finds a file of the user in the working directory")]

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::{Context as _, anyhow, bail};

use super::argument_file::read_argument;
use super::standard_streams::print_to_stderr;
use crate::cli::{Cli, Command, OutputArgs};
use crate::config::{Config, Day, NAME, Skips};
use base::text::{Lang, escape_line};
use data::sentence;

/// The most that is read of the file, in bytes.
const LIMIT: u64 = 1 << 20;

/// What the file says that no option can.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    /// The file, as it is shown; `None` where there is none.
    pub(super) file: Option<String>,
    /// The findings that are known and accepted.
    pub(super) skips: Skips,
    /// Error codes and causes over the built-in ones.
    pub(super) errors: Option<PathBuf>,
}

/// Reads the file, if there is one, and fills the options that were not given.
pub(super) fn apply(cli: &mut Cli) -> anyhow::Result<Settings> {
    let Some(path) = find(cli)? else { return Ok(Settings::default()) };
    let shown = path.display().to_string();
    log::info!("settings of {shown}");
    let bytes = read_argument(&path, LIMIT)?;
    let text = std::str::from_utf8(&bytes).with_context(|| format!("`{shown}` is not UTF-8"))?;
    let dir = path.parent().unwrap_or(Path::new(""));
    let config = Config::parse(text, dir)
        .map_err(|error| anyhow!("{shown}:{}: {}", error.line, escape_line(&error.what)))?;
    let output = &mut cli.output;
    output.lang = output.lang.or(config.lang);
    output.fail_on = output.fail_on.or(config.fail_on);
    let mut skips = Skips::new(shown.clone(), config.skips, Day::of(SystemTime::now()));
    match &mut cli.command {
        Some(Command::Check(args)) => {
            skips.forget(&args.only);
            args.matrix = args.matrix.take().or(config.matrix);
            if !args.scan.no_hash {
                args.manifest = args.manifest.take().or(config.manifest);
            }
        }
        Some(Command::Compat(args)) => args.matrix = args.matrix.take().or(config.matrix),
        Some(Command::TranslateError(args)) => {
            args.data = args.data.take().or_else(|| config.errors.clone());
        }
        _ => {}
    }
    Ok(Settings { file: Some(shown), skips, errors: config.errors })
}

/// The file that `--config` names, or the one in the working directory.
fn find(cli: &Cli) -> anyhow::Result<Option<PathBuf>> {
    let OutputArgs { config, no_config, .. } = &cli.output;
    if *no_config {
        return Ok(None);
    }
    let asked = config.is_some();
    let path = config.clone().unwrap_or_else(|| PathBuf::from(NAME));
    if !asked && path.symlink_metadata().is_err() {
        return Ok(None);
    }
    // A pipe would read as no settings at all, or wait; one that is named is meant.
    if !asked && path.metadata().is_ok_and(|about| !about.is_file()) {
        bail!("`{NAME}` is no regular file: remove it, or leave it aside with --no-config");
    }
    // What is examined may be hostile: it does not decide what is said about it.
    if let Some(root) = examined_root(cli.command.as_ref())
        && is_inside(&path, root)
    {
        let (file, root) = (path.display().to_string(), root.display().to_string());
        let said = sentence("settings_in_root", &[("file", file), ("root", root)]);
        if asked {
            bail!("{}", said.en);
        }
        if !cli.output.quiet {
            print_to_stderr(said.get(cli.output.lang.unwrap_or(Lang::En)));
        }
        return Ok(None);
    }
    Ok(Some(path))
}

/// The root that is examined, if it is not that of this machine.
fn examined_root(command: Option<&Command>) -> Option<&Path> {
    match command? {
        Command::Check(args) => args.scan.machine.root.as_deref(),
        Command::Compat(args) => args.machine.root.as_deref(),
        Command::Bundle(args) => args.scan.machine.root.as_deref(),
        _ => None,
    }
}

/// Whether a file lies in a directory, links resolved. In doubt it does.
fn is_inside(file: &Path, dir: &Path) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    let inside = |path: &Path| path.canonicalize().map_or(true, |path| path.starts_with(&dir));
    // A link in the root that leads out of it was put there by whoever made the root.
    let holder = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    inside(file) || inside(holder.unwrap_or(Path::new(".")))
}
