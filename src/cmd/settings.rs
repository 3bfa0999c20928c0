//! `ascend-doctor.toml`: finds and reads the file, and applies it to options that were not given.
#![expect(clippy::disallowed_methods, reason = "finds a file of the user in the working directory")]

use data::{FileError, OrFault as _, faults, ui};
use std::collections::BTreeMap;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use anyhow::bail;

use super::argument_file::read_argument;
use super::standard_streams::print_to_stderr;
use super::usage::choose_language;
use crate::cli::{Cli, Command, OutputArgs};
use crate::config::{Config, Day, ExpectedGoal, NAME, Policy, Skip, Skips};
use base::report::{FailOn, GateSetting};
use base::text::Text;
use checks::site::Expectations;

/// Maximum size of the file, in bytes.
const LIMIT: u64 = 1 << 20;

/// Settings of the file without an equivalent option.
#[derive(Debug, Clone, Default)]
pub(super) struct Settings {
    /// The file in displayed form; `None` if there is none.
    pub(super) file: Option<String>,
    /// Settings that change the gate, with their values and file.
    pub(super) gate: Vec<GateSetting>,
    /// The known and accepted findings.
    pub(super) skips: Skips,
    /// Fail levels of families.
    pub(super) families: BTreeMap<String, FailOn>,
    /// The goal that `check` must prove.
    pub(super) goal: Option<ExpectedGoal>,
    /// The expected state of a machine.
    pub(super) site: Option<Expectations>,
    /// Error codes and causes that overlay the built-in ones.
    pub(super) errors: Option<PathBuf>,
    /// The reason why a file was found but ignored.
    pub(super) ignored: Option<Text>,
}

/// A settings file that was read.
#[derive(Debug)]
pub(super) struct Found {
    /// The file in displayed form.
    pub(super) shown: String,
    /// Whether `--config` names it; otherwise it is in the working directory.
    pub(super) is_named: bool,
    /// Its content.
    pub(super) config: Config,
}

/// The settings file, before any table is read: it may name the data pack.
#[derive(Debug)]
pub(super) enum Located {
    /// There is none.
    Nothing,
    /// It is in the examined root, and the user did not name it. Contains file and root.
    Ignored(String, String),
    /// It is in the working directory, but other users own it or can write to it.
    Foreign(String),
    /// It was read.
    File(Box<Found>),
}

impl Located {
    /// The file that was read.
    pub(super) fn found(&self) -> Option<&Found> {
        match self {
            Self::File(found) => Some(found),
            Self::Nothing | Self::Ignored(..) | Self::Foreign(_) => None,
        }
    }
}

/// Reads the file, if there is one.
pub(super) fn read(cli: &Cli) -> anyhow::Result<Located> {
    let path = match find(cli)? {
        Place::Nothing => return Ok(Located::Nothing),
        Place::Ignored(file, root) => return Ok(Located::Ignored(file, root)),
        Place::Foreign(file) => return Ok(Located::Foreign(file)),
        Place::File(path) => path,
    };
    let shown = path.display().to_string();
    log::info!("settings of {shown}");
    let bytes = read_argument(&path, LIMIT)?;
    let text = std::str::from_utf8(&bytes).or_fault(|| faults::NotUtf8 { path: &shown }.fault())?;
    let dir = path.parent().unwrap_or(Path::new(""));
    let config = Config::parse(text, dir).map_err(|error| in_line(&shown, &error))?;
    let is_named = cli.output.config.is_some();
    Ok(Located::File(Box::new(Found { shown, is_named, config })))
}

fn in_line(file: &str, error: &FileError) -> anyhow::Error {
    super::error_message::in_line(file, error).into()
}

/// Sets the options that were not given.
pub(super) fn apply(cli: &mut Cli, located: Located) -> anyhow::Result<Settings> {
    let Found { shown, config, .. } = match located {
        Located::Nothing => return Ok(Settings::default()),
        Located::Ignored(file, root) => {
            let said = ui::SettingsInRoot { file, root }.text();
            return Ok(ignore(cli, &said));
        }
        Located::Foreign(file) => {
            return Ok(ignore(cli, &ui::SettingsForeign { file }.text()));
        }
        Located::File(found) => *found,
    };
    let skips = config.skips().map_err(|error| in_line(&shown, &error))?;
    let mut policy = config.policy(&shown).map_err(|error| in_line(&shown, &error))?;
    let site = config.expectations(&shown).map_err(|error| in_line(&shown, &error))?;
    let entries = gate_entries(&shown, &config, &skips);
    let output = &mut cli.output;
    output.lang = output.lang.or(config.lang);
    let mut gate = Vec::new();
    if output.fail_on.is_none() {
        gate.extend(name_setting("fail-on", config.fail_on, &shown));
        output.fail_on = config.fail_on;
        gate.append(&mut policy.settings);
    } else {
        // The option is the level of the whole run.
        policy.families.clear();
    }
    if output.on_inconclusive.is_none() {
        gate.extend(name_setting("on-inconclusive", config.on_inconclusive, &shown));
        output.on_inconclusive = config.on_inconclusive;
    }
    let mut skips = Skips::new(shown.clone(), skips, Day::of(SystemTime::now()));
    match &mut cli.command {
        Some(Command::Check(args)) => {
            skips.forget(&args.only);
            gate.extend(policy.goal.as_ref().map(ExpectedGoal::setting));
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
    gate.extend(entries);
    let Policy { families, goal, .. } = policy;
    let errors = config.errors;
    Ok(Settings { file: Some(shown), skips, families, goal, site, errors, gate, ignored: None })
}

/// Reports an ignored file on standard error, and in the following report.
fn ignore(cli: &Cli, why: &Text) -> Settings {
    if !cli.output.quiet {
        print_to_stderr(why.get(choose_language(cli.output.lang)));
    }
    Settings { ignored: Some(why.clone()), ..Settings::default() }
}

/// A setting in displayed form, with its file.
fn name_setting<V: clap::ValueEnum>(
    key: &str,
    value: Option<V>,
    file: &str,
) -> Option<GateSetting> {
    let value = value?.to_possible_value()?;
    Some(GateSetting::setting(key, value.get_name().to_owned(), file, None))
}

/// Returns the settings of a file that change the exit status, except levels.
fn gate_entries(file: &str, config: &Config, skips: &[Skip]) -> Vec<GateSetting> {
    let mut gate = Vec::new();
    for skip in skips {
        gate.push(GateSetting::setting("skip", skip.id.clone(), file, Some(skip.line)));
    }
    let mut path = |name: &str, path: &Option<PathBuf>| {
        let setting = |path: &PathBuf| path.display().to_string();
        let value = path.as_ref().map(setting);
        gate.extend(value.map(|value| GateSetting::setting(name, value, file, None)));
    };
    path("pack", &config.pack);
    path("matrix", &config.matrix);
    path("manifest", &config.manifest);
    path("errors", &config.errors);
    gate
}

/// Whether only the user and root can change a file, by its owner and permissions. Under `sudo` the
/// user is root, and the calling user is not trusted.
const fn is_own(owner: u32, mode: u32, user: u32) -> bool {
    (owner == user || owner == 0) && mode & 0o022 == 0
}

/// Whether only the user and root can replace entries of a directory. With the sticky bit, as in
/// `/tmp`, other users can add entries and replace only their own.
const fn is_own_directory(owner: u32, mode: u32, user: u32) -> bool {
    (owner == user || owner == 0) && (mode & 0o022 == 0 || mode & 0o1000 != 0)
}

/// The location of the file.
enum Place {
    Nothing,
    Ignored(String, String),
    Foreign(String),
    File(PathBuf),
}

/// The file that `--config` names, or the one in the working directory.
fn find(cli: &Cli) -> anyhow::Result<Place> {
    let OutputArgs { config, no_config, .. } = &cli.output;
    if *no_config {
        return Ok(Place::Nothing);
    }
    let asked = config.is_some();
    let path = config.clone().unwrap_or_else(|| PathBuf::from(NAME));
    if !asked && path.symlink_metadata().is_err() {
        return Ok(Place::Nothing);
    }
    // A pipe would appear empty, or block. A pipe named by the user is intentional.
    if !asked && path.metadata().is_ok_and(|about| !about.is_file()) {
        bail!(faults::SettingsNotRegular { name: NAME }.fault());
    }
    // In a shared directory, other users could create a file that lets every gate pass.
    if !asked && !is_trusted(&path) {
        return Ok(Place::Foreign(path.display().to_string()));
    }
    // The examined machine may be hostile: it must not influence its report.
    if let Some(root) = examined_root(cli.command.as_ref())
        && is_inside(&path, root)
    {
        let (file, root) = (path.display().to_string(), root.display().to_string());
        if asked {
            bail!(faults::SettingsInRoot { file, root }.fault());
        }
        return Ok(Place::Ignored(file, root));
    }
    Ok(Place::File(path))
}

/// Whether only the user and root can change a file and the link to it, and replace their parent
/// directories.
fn is_trusted(path: &Path) -> bool {
    let user = rustix::process::geteuid().as_raw();
    let own = |meta: &Metadata| {
        // The mode of a link is always 0777.
        let mode = if meta.is_symlink() { 0 } else { meta.mode() };
        is_own(meta.uid(), mode, user)
    };
    let files = [path.symlink_metadata(), path.metadata()];
    if !files.iter().all(|meta| meta.as_ref().is_ok_and(own)) {
        return false;
    }
    let holder = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    let above = |path: &Path| path.canonicalize().ok();
    // The directories of the file itself, and of the link.
    let dirs = [
        above(path).and_then(|path| path.parent().map(Path::to_owned)),
        above(holder.unwrap_or(Path::new("."))),
    ];
    let own_directory = |dir: &Path| {
        let meta = dir.metadata();
        meta.is_ok_and(|meta| is_own_directory(meta.uid(), meta.mode(), user))
    };
    dirs.iter().all(|dir| dir.as_ref().is_some_and(|dir| dir.ancestors().all(own_directory)))
}

/// The examined root, if it is not that of this machine.
fn examined_root(command: Option<&Command>) -> Option<&Path> {
    match command? {
        Command::Check(args) => args.scan.machine.sysroot.as_deref(),
        Command::Compat(args) => args.machine.sysroot.as_deref(),
        Command::Bundle(args) => args.scan.machine.sysroot.as_deref(),
        _ => None,
    }
}

/// Whether a file is inside a directory, with links resolved. Returns true in doubt.
fn is_inside(file: &Path, dir: &Path) -> bool {
    let Ok(dir) = dir.canonicalize() else { return false };
    let inside = |path: &Path| path.canonicalize().map_or(true, |path| path.starts_with(&dir));
    // A link in the root that leads out of it belongs to the creator of the root.
    let holder = file.parent().filter(|parent| !parent.as_os_str().is_empty());
    inside(file) || inside(holder.unwrap_or(Path::new(".")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_of_others_are_not_trusted() {
        for (owner, mode, user, expected) in [
            (1000, 0o100_644, 1000, true),
            (0, 0o100_644, 1000, true),
            (0, 0o100_600, 0, true),
            (1001, 0o100_644, 1000, false),
            (1001, 0o100_644, 0, false),
            (1000, 0o100_664, 1000, false),
            (0, 0o100_646, 1000, false),
            (0, 0o100_666, 0, false),
        ] {
            assert_eq!(is_own(owner, mode, user), expected, "{owner} {mode:o} {user}");
        }
    }

    #[test]
    fn directories_of_others_are_not_trusted() {
        for (owner, mode, user, expected) in [
            (1000, 0o40_755, 1000, true),
            (0, 0o40_755, 1000, true),
            // `/tmp`
            (0, 0o41_777, 1000, true),
            (1000, 0o40_775, 1000, false),
            (1000, 0o40_777, 1000, false),
            (1001, 0o40_755, 1000, false),
            // A user who runs `sudo` is not root.
            (1000, 0o40_755, 0, false),
            (1001, 0o41_777, 1000, false),
        ] {
            assert_eq!(is_own_directory(owner, mode, user), expected, "{owner} {mode:o} {user}");
        }
    }

    #[test]
    fn settings_in_writable_directories_are_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let inner = dir.path().join("a/b");
        std::fs::create_dir_all(&inner).unwrap();
        std::fs::write(inner.join(NAME), "").unwrap();
        let set = |path: &Path, mode| {
            std::fs::set_permissions(path, PermissionsExt::from_mode(mode)).unwrap();
        };
        for (mode, expected) in [(0o755, true), (0o775, false), (0o757, false), (0o1777, true)] {
            for place in [inner.clone(), dir.path().join("a")] {
                set(&place, mode);
                assert_eq!(is_trusted(&inner.join(NAME)), expected, "{} {mode:o}", place.display());
                set(&place, 0o755);
            }
        }
    }

    #[test]
    fn writable_settings_are_not_trusted() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let (file, link) = (dir.path().join(NAME), dir.path().join("link"));
        std::fs::write(&file, "").unwrap();
        std::os::unix::fs::symlink(NAME, &link).unwrap();
        for (mode, expected) in [(0o644, true), (0o664, false), (0o606, false), (0o600, true)] {
            std::fs::set_permissions(&file, PermissionsExt::from_mode(mode)).unwrap();
            assert_eq!((is_trusted(&file), is_trusted(&link)), (expected, expected), "{mode:o}");
        }
        assert!(!is_trusted(&dir.path().join("absent")));
    }
}
