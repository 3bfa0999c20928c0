//! Copies the parts of a repository that git needs to compare files with the last commit into a
//! separate directory: the index, the branch, and settings that start no program. Objects are read
//! in place.
//!
//! Each file is opened without waiting and must be regular, so that a pipe cannot block.

use std::ffi::{OsStr, OsString};
use std::io::{self, Write as _};
use std::os::unix::ffi::{OsStrExt as _, OsStringExt as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use base::text::Text;
use data::fault::Value as _;
use data::faults;
use guard::dir::{Dir, names};
use guard::file::{open_regular, read_bounded};
use guard::process::Program;
use rustix::fs::{Timespec, Timestamps};

/// The largest index, list of branches or file of settings, in bytes.
const MAX_FILE: u64 = 512 << 20;
const MAX_CONFIG: u64 = 4 << 20;
/// The largest file that holds one path or one commit, in bytes.
const MAX_LINE: u64 = 8 << 10;
/// The maximum number of copied parts of an index or of a table of branches.
const MAX_PARTS: usize = 64;
/// The time limit for git to read settings.
const LIMIT: Duration = Duration::from_secs(10);
/// Settings for the comparison of files and the names of objects.
const SETTINGS: &str = r"^(core\.(autocrlf|eol|filemode|symlinks|ignorecase|precomposeunicode)|extensions\.(objectformat|refstorage))$";

/// A directory of git without the settings of the repository. It is removed on drop.
#[derive(Debug)]
pub(super) struct Copy {
    above: Dir,
    name: OsString,
    path: PathBuf,
    objects: PathBuf,
}

impl Drop for Copy {
    fn drop(&mut self) {
        let _ = self.above.remove_all(&self.name);
    }
}

/// The directories of a repository.
struct Layout {
    /// The directory with the index and the branch of the work tree.
    own: PathBuf,
    /// The directory with everything else.
    common: PathBuf,
}

impl Copy {
    /// Copies the needed parts of the repository of the work tree `top`.
    pub(super) fn of(top: &Path, git: &Path) -> Result<Self, Text> {
        let layout = Layout::of(top)?;
        let temporary = std::env::temp_dir();
        let made = guard::named::open_dir(&temporary).and_then(|above| {
            let (name, dir) = above.create_temporary_dir("ascend-doctor-git-", 0o700)?;
            let path = std::path::absolute(temporary.join(&name))?;
            Ok((Self { above, name, path, objects: layout.common.join("objects") }, dir))
        });
        let (copy, dir) = made.map_err(|error| refuse(&temporary, &error))?;
        copy.fill(&layout, &dir, git)?;
        Ok(copy)
    }

    fn fill(&self, layout: &Layout, dir: &Dir, git: &Path) -> Result<(), Text> {
        let failed = |error: io::Error| refuse(&self.path, &error);
        for path in ["objects/info", "refs"] {
            dir.descend_or_create(Path::new(path), 0o700).map_err(failed)?;
        }
        self.write_settings(layout, dir, git)?;
        // Further locations of objects; git opens the file itself.
        let alternates = self.objects.join("info/alternates");
        read(&alternates, MAX_CONFIG)?;
        copy_file(&layout.own, "index", dir)?;
        copy_parts(&layout.own, "", "sharedindex.", dir)?;
        let Some(head) = copy_file(&layout.own, "HEAD", dir)? else {
            return Err(refuse(&layout.own.join("HEAD"), &io::ErrorKind::NotFound.into()));
        };
        copy_file(&layout.common, "packed-refs", dir)?;
        copy_parts(&layout.common, "reftable", "", dir)?;
        copy_parts(&layout.own, "reftable", "", dir)?;
        let branch = head.strip_prefix(b"ref: ").map(<[u8]>::trim_ascii);
        if let Some(branch) = branch {
            let branch = OsStr::from_bytes(branch);
            let is_inside = branch.as_bytes().starts_with(b"refs/")
                && names(Path::new(branch)).is_ok_and(|names| names.len() < 64);
            if !is_inside {
                return Err(refuse(&layout.own.join("HEAD"), &io::ErrorKind::InvalidData.into()));
            }
            if let Some(bytes) = read(&layout.common.join(branch), MAX_LINE)? {
                let path = Path::new(branch);
                let parent = path.parent().unwrap_or(Path::new(""));
                dir.descend_or_create(parent, 0o700)
                    .and_then(|dir| write(&dir, path.file_name().unwrap_or_default(), &bytes))
                    .map_err(failed)?;
            }
        }
        Ok(())
    }

    /// Writes the settings that are known to be harmless. Git reads them from a copy of the file,
    /// without included files.
    fn write_settings(&self, layout: &Layout, dir: &Dir, git: &Path) -> Result<(), Text> {
        let failed = |error: io::Error| refuse(&self.path, &error);
        let mut settings = String::from("[core]\n\tbare = false\n\trepositoryformatversion = 1\n");
        if let Some(config) = read(&layout.common.join("config"), MAX_CONFIG)? {
            write(dir, OsStr::new("their-config"), &config).map_err(failed)?;
            // Without settings, git would not recognize the directory.
            write(dir, OsStr::new("config"), settings.as_bytes()).map_err(failed)?;
            write(dir, OsStr::new("HEAD"), b"ref: refs/heads/none\n").map_err(failed)?;
            let theirs = self.path.join("their-config");
            let arguments: [&OsStr; 7] = [
                OsStr::new("config"),
                OsStr::new("--no-includes"),
                OsStr::new("-z"),
                OsStr::new("-f"),
                theirs.as_os_str(),
                OsStr::new("--get-regexp"),
                OsStr::new(SETTINGS),
            ];
            let ended = self
                .program(git)
                .args(arguments)
                .limit(LIMIT)
                .run()
                .map_err(|error| error.value())?;
            // 1: none of them is set.
            let known = ended.status.and_then(|status| status.code());
            if !matches!(known, Some(0 | 1)) || ended.cut {
                let config = layout.common.join("config");
                return Err(refuse(&config, &io::ErrorKind::InvalidData.into()));
            }
            for entry in ended.output.split(|&byte| byte == 0) {
                settings.push_str(&setting(entry).unwrap_or_default());
            }
            dir.remove_if_present(OsStr::new("config")).map_err(failed)?;
            dir.remove_if_present(OsStr::new("HEAD")).map_err(failed)?;
        }
        write(dir, OsStr::new("config"), settings.as_bytes()).map_err(failed)
    }

    /// Replaces the path of the copy by that of the repository in a message of git.
    pub(super) fn name_original(&self, words: &str, top: &Path) -> String {
        words.replace(&*self.path.to_string_lossy(), &top.join(".git").to_string_lossy())
    }

    /// A git command with this directory instead of the one in the work tree.
    pub(super) fn command(&self, git: &Path, top: &Path) -> Program {
        self.program(git).env("GIT_WORK_TREE", top).env("GIT_OBJECT_DIRECTORY", &self.objects)
    }

    /// A git command without the settings of the system, of the user and of the repository, and
    /// without any protocol.
    fn program(&self, git: &Path) -> Program {
        let mut program = Program::new(git)
            .env("GIT_DIR", &self.path)
            .env("GIT_CONFIG_NOSYSTEM", "1")
            .env("GIT_CONFIG_SYSTEM", "/dev/null")
            .env("GIT_CONFIG_GLOBAL", "/dev/null")
            .env("GIT_ATTR_NOSYSTEM", "1")
            // Before 2.32, git has no other way to ignore the settings of the user.
            .env("HOME", &self.path)
            .env("XDG_CONFIG_HOME", &self.path)
            .env("GIT_OPTIONAL_LOCKS", "0")
            .env("GIT_NO_LAZY_FETCH", "1")
            .env("GIT_NO_REPLACE_OBJECTS", "1")
            .env("GIT_ALLOW_PROTOCOL", "none")
            .env("GIT_PROTOCOL_FROM_USER", "0")
            .env("GIT_TERMINAL_PROMPT", "0")
            .env("GIT_ASKPASS", "/bin/false")
            .env("GIT_SSH_COMMAND", "/bin/false")
            .env("GIT_EDITOR", "/bin/false")
            .env("GIT_PAGER", "cat");
        for setting in [
            "protocol.allow=never",
            "core.fsmonitor=false",
            "core.hooksPath=/dev/null",
            "core.attributesFile=/dev/null",
            "core.untrackedCache=false",
            "status.submoduleSummary=false",
        ] {
            program = program.args(["-c", setting]);
        }
        program
    }
}

/// A line of settings, if its value is a word.
fn setting(entry: &[u8]) -> Option<String> {
    let entry = std::str::from_utf8(entry).ok()?;
    let (name, value) = entry.split_once('\n')?;
    let (section, name) = name.split_once('.')?;
    let is_word =
        |text: &str| !text.is_empty() && text.bytes().all(|byte| byte.is_ascii_alphanumeric());
    let known = [section, name, value].into_iter().all(is_word);
    known.then(|| format!("[{section}]\n\t{name} = {value}\n"))
}

impl Layout {
    fn of(top: &Path) -> Result<Self, Text> {
        let git = top.join(".git");
        let own = match read(&git, MAX_LINE) {
            // A linked work tree, or a submodule.
            Ok(Some(bytes)) => {
                let path = bytes.strip_prefix(b"gitdir: ").map(<[u8]>::trim_ascii_end);
                let path = path.ok_or_else(|| refuse(&git, &io::ErrorKind::InvalidData.into()))?;
                top.join(OsString::from_vec(path.to_vec()))
            }
            _ => git,
        };
        let common = read(&own.join("commondir"), MAX_LINE)?;
        let common = common.map_or_else(
            || own.clone(),
            |path| own.join(OsString::from_vec(path.trim_ascii_end().to_vec())),
        );
        Ok(Self { own, common })
    }
}

fn refuse(path: &Path, error: &io::Error) -> Text {
    faults::GitFile { path: path.display(), why: error }.value()
}

/// The content of a file; `None` if it does not exist.
fn read(path: &Path, limit: u64) -> Result<Option<Vec<u8>>, Text> {
    let read = open_regular(path).and_then(|file| {
        read_bounded(&file, limit)?.ok_or_else(|| io::ErrorKind::FileTooLarge.into())
    });
    match read {
        Ok(bytes) => Ok(Some(bytes)),
        Err(error)
            if matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory) =>
        {
            Ok(None)
        }
        Err(error) => Err(refuse(path, &error)),
    }
}

fn write(dir: &Dir, name: &OsStr, bytes: &[u8]) -> io::Result<()> {
    dir.create_new(name, 0o600)?.write_all(bytes)
}

/// Copies a file with its modification time, by which git decides which entries of an index to
/// trust.
fn copy_file(from: &Path, name: &str, to: &Dir) -> Result<Option<Vec<u8>>, Text> {
    let path = from.join(name);
    let Some(bytes) = read(&path, MAX_FILE)? else { return Ok(None) };
    let copied = (|| {
        let stat = rustix::fs::stat(&path)?;
        let mut file = to.create_new(OsStr::new(name), 0o600)?;
        file.write_all(&bytes)?;
        let time =
            Timespec { tv_sec: stat.st_mtime, tv_nsec: stat.st_mtime_nsec.try_into().unwrap_or(0) };
        let times = Timestamps { last_access: time, last_modification: time };
        rustix::fs::futimens(&file, &times)?;
        Ok(())
    })();
    copied.map_err(|error| refuse(&path, &error))?;
    Ok(Some(bytes))
}

/// Copies the files of a directory whose names begin with `prefix`.
fn copy_parts(from: &Path, below: &str, prefix: &str, to: &Dir) -> Result<(), Text> {
    let from = if below.is_empty() { from.to_owned() } else { from.join(below) };
    let Ok(entries) = guard::named::open_dir(&from).and_then(|dir| dir.entries()) else {
        return Ok(());
    };
    let parts = entries.iter().filter_map(|(name, _)| name.to_str());
    let parts: Vec<&str> = parts.filter(|name| name.starts_with(prefix)).take(MAX_PARTS).collect();
    if parts.is_empty() {
        return Ok(());
    }
    let dir =
        to.descend_or_create(Path::new(below), 0o700).map_err(|error| refuse(&from, &error))?;
    for name in parts {
        if dir.kind(OsStr::new(name)).is_none() {
            copy_file(&from, name, &dir)?;
        }
    }
    Ok(())
}
