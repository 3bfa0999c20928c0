//! Writes output files that the user named.
//!
//! A regular file is written next to its place and renamed, so that readers see the old or the new
//! content. Both happen in one directory, which is opened once: see [`guard::named`]. Pipes and
//! devices are written directly.
#![expect(clippy::disallowed_methods, reason = "writes files that the user named")]

use data::faults;
use std::ffi::OsString;
use std::fs::{File, Metadata, OpenOptions};
use std::io::{self, BufWriter, Seek as _, Write};
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};

use guard::named;
use guard::tree::Place;
use rustix::fs::{FileType, Gid, Mode, Stat, Uid};
use rustix::io::Errno;

use super::cleanup::SignalGuard;

/// Prefix of the names of temporary files.
const TEMPORARY: &str = ".ascend-doctor-";

/// The method of replacing a file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum ReplaceMode {
    /// By renaming if possible, else by writing into the file.
    RenameOrWrite,
    /// Only by renaming, because other programs may read the file at any time.
    RenameOnly,
}

/// The kind of file at an output path.
#[derive(Debug)]
enum Destination {
    /// Standard output under another name.
    Stdout,
    /// A device or a pipe.
    Stream(Metadata),
    /// A regular file, with all links resolved.
    Existing(Place, Stat),
    /// No file yet, with all links resolved.
    New(Place),
}

/// Replaces the content of the file at `path` by the output of `fill`. If `fill` fails, the old
/// content remains where renaming is possible.
///
/// # Errors
///
/// With the reason why it cannot be written, without its name.
pub(super) fn replace(
    path: &Path,
    mode: ReplaceMode,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    match find_destination(path)? {
        Destination::Stdout => write_buffered(io::stdout().lock(), fill),
        Destination::Stream(meta) => write_buffered(open_stream(path, &meta)?, fill),
        Destination::New(place) => {
            let mut file = TemporaryFile::create(&place, 0o666)
                .map_err(|error| explain_missing_temp_file(error, path))?;
            write_buffered(&mut file.get_mut().file, fill)?;
            persist(file, &place)
        }
        Destination::Existing(place, stat) => {
            // A file without write permission is not replaced, even if its directory allows it.
            let mut old = place.dir.open_for_writing(&place.name, None)?;
            match create_replacement(path, &place, &stat, mode)? {
                Some(mut file) => {
                    write_buffered(&mut file.get_mut().file, fill)?;
                    let bits = Mode::from_raw_mode(stat.st_mode & 0o7777);
                    rustix::fs::fchmod(&file.get().file, bits)?;
                    persist(file, &place)
                }
                None => overwrite(&mut old, fill),
            }
        }
    }
}

/// Checks that [`replace`] can write to `path`, before the work for its content starts.
///
/// # Errors
///
/// With the reason, as [`replace`].
pub(super) fn check_replaceable(path: &Path, mode: ReplaceMode) -> io::Result<()> {
    match find_destination(path)? {
        Destination::Stdout | Destination::Stream(_) => Ok(()),
        Destination::New(place) => TemporaryFile::create(&place, 0o600)
            .map(drop)
            .map_err(|error| explain_missing_temp_file(error, path)),
        Destination::Existing(place, stat) => {
            place.dir.open_for_writing(&place.name, None)?;
            create_replacement(path, &place, &stat, mode).map(drop)
        }
    }
}

fn find_destination(path: &Path) -> io::Result<Destination> {
    let meta = match std::fs::metadata(path) {
        Ok(meta) => meta,
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            return Ok(Destination::New(named::place(path)?));
        }
        Err(error) => return Err(error),
    };
    let stdout = rustix::fs::fstat(io::stdout());
    if meta.is_dir() {
        return Err(Errno::ISDIR.into());
    }
    // Opening it again would start at its beginning, and a socket cannot be opened.
    if stdout.is_ok_and(|own| (own.st_dev, own.st_ino) == (meta.dev(), meta.ino())) {
        return Ok(Destination::Stdout);
    }
    if !meta.is_file() {
        return Ok(Destination::Stream(meta));
    }
    // With all links resolved, so that a symbolic link stays a link.
    let place = named::place(path)?;
    let stat = place.dir.stat(&place.name)?;
    match FileType::from_raw_mode(stat.st_mode) {
        FileType::RegularFile => Ok(Destination::Existing(place, stat)),
        _ => Err(guard::file::not_regular()),
    }
}

/// Opens a device or a pipe, if it is still the one that was found.
fn open_stream(path: &Path, found: &Metadata) -> io::Result<File> {
    let file = OpenOptions::new().write(true).open(path)?;
    let meta = file.metadata()?;
    let same = (meta.dev(), meta.ino()) == (found.dev(), found.ino());
    if same && !meta.is_file() { Ok(file) } else { Err(Errno::STALE.into()) }
}

/// Creates a temporary file with the owner and group of the file at `place`. Returns `None` if the
/// file itself has to be overwritten.
fn create_replacement(
    path: &Path,
    place: &Place,
    stat: &Stat,
    mode: ReplaceMode,
) -> io::Result<Option<SignalGuard<TemporaryFile>>> {
    let file = match TemporaryFile::create(place, 0o600) {
        Ok(file) => file,
        Err(error) if !is_forbidden(&error) => return Err(error),
        Err(_) if mode == ReplaceMode::RenameOrWrite => return Ok(None),
        Err(error) => {
            let error = explain_missing_temp_file(error, path);
            return Err(io::Error::new(
                error.kind(),
                faults::ReplacedByRenaming { why: &error }.fault(),
            ));
        }
    };
    let own = rustix::fs::fstat(&file.get().file)?;
    if (own.st_uid, own.st_gid) == (stat.st_uid, stat.st_gid) {
        return Ok(Some(file));
    }
    let (uid, gid) = (Uid::from_raw(stat.st_uid), Gid::from_raw(stat.st_gid));
    let own = &file.get().file;
    let kept = rustix::fs::fchown(own, Some(uid), Some(gid)).is_ok();
    if !kept && mode == ReplaceMode::RenameOnly {
        let _ = rustix::fs::fchown(own, None, Some(gid));
    }
    Ok((kept || mode == ReplaceMode::RenameOnly).then_some(file))
}

fn is_forbidden(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem)
}

/// A file next to the one that it replaces. It is removed on drop, unless it was renamed.
#[derive(Debug)]
struct TemporaryFile {
    place: Place,
    file: File,
}

impl TemporaryFile {
    /// Creates a file in the directory of `place`.
    fn create(place: &Place, bits: u32) -> io::Result<SignalGuard<Self>> {
        let make = || {
            let (name, file) = place.dir.create_temporary(TEMPORARY, bits)?;
            Ok(Self { place: place.sibling(name), file })
        };
        SignalGuard::new(make, |made| made.place.clone())
    }
}

impl Drop for TemporaryFile {
    fn drop(&mut self) {
        let _ = self.place.dir.remove_if_present(&self.place.name);
    }
}

/// Names the directory of `path` in an error that it caused.
fn explain_missing_temp_file(error: io::Error, path: &Path) -> io::Error {
    if !is_forbidden(&error) {
        return error;
    }
    let dir = parent_dir(path).display();
    io::Error::new(error.kind(), faults::NoNewFileIn { dir, why: &error }.fault())
}

fn parent_dir(path: &Path) -> &Path {
    path.parent().filter(|dir| !dir.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

fn persist(file: SignalGuard<TemporaryFile>, place: &Place) -> io::Result<()> {
    file.end(|file| place.dir.rename(&file.place.name, &place.name))
}

fn write_buffered(
    out: impl Write,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut out = BufWriter::new(out);
    fill(&mut out)?;
    out.flush()
}

/// Overwrites the content of a file. The new content is generated first, so that a failure keeps
/// the old one.
fn overwrite(
    old: &mut File,
    fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    let mut made = tempfile::tempfile().map_err(strip_temp_path)?;
    write_buffered(&mut made, fill)?;
    made.rewind()?;
    old.set_len(0)?;
    io::copy(&mut made, old)?;
    Ok(())
}

/// A directory that is removed with everything in it on drop.
#[derive(Debug)]
pub(super) struct PrivateDir {
    place: Place,
    path: PathBuf,
}

impl PrivateDir {
    /// Its path.
    pub(super) fn path(&self) -> &Path {
        &self.path
    }
}

impl Drop for PrivateDir {
    fn drop(&mut self) {
        let _ = self.place.dir.remove_all(&self.place.name);
    }
}

/// Creates a temporary directory with access only for its owner. It is removed on drop and at a
/// signal.
pub(super) fn create_private_dir() -> anyhow::Result<SignalGuard<PrivateDir>> {
    let above = std::env::temp_dir();
    let make = || {
        let dir = std::sync::Arc::new(named::open_dir(&above)?);
        let (name, _): (OsString, _) = dir.create_temporary_dir(TEMPORARY, 0o700)?;
        let path = above.join(&name);
        Ok(PrivateDir { place: Place { dir, name }, path })
    };
    SignalGuard::new(make, |made| made.place.clone()).map_err(|error| {
        let dir = above.display();
        faults::CannotMakeRecordingDirectory { dir }.fault().because(error).into()
    })
}

/// Removes the random file name that `tempfile` adds to an error.
fn strip_temp_path(error: io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => Errno::NOENT.into(),
        io::ErrorKind::NotADirectory => Errno::NOTDIR.into(),
        io::ErrorKind::PermissionDenied => Errno::ACCESS.into(),
        io::ErrorKind::ReadOnlyFilesystem => Errno::ROFS.into(),
        io::ErrorKind::StorageFull => Errno::NOSPC.into(),
        _ => error,
    }
}

#[cfg(test)]
mod tests {
    use race::Race;

    use super::*;

    /// Reports, bundles, metrics and manual pages: everything that the user names.
    #[test]
    fn outputs_are_not_written_outside() {
        named::note_start();
        std::thread::sleep(std::time::Duration::from_millis(50));
        let race = Race::start("d");
        let path = race.root().join("d/report.json");
        let (mut written, mut refused) = (0, 0);
        for number in race.rounds() {
            let mode =
                if number % 2 == 0 { ReplaceMode::RenameOrWrite } else { ReplaceMode::RenameOnly };
            let done = check_replaceable(&path, mode)
                .and_then(|()| replace(&path, mode, |out| out.write_all(b"report")));
            match done {
                Ok(()) => written += 1,
                Err(_) => refused += 1,
            }
            race.assert_outside(None);
        }
        let swaps = race.finish();
        println!("{swaps} exchanges, {written} written, {refused} refused");
        assert!(written > 0 && refused > 0, "{swaps} {written} {refused}");
    }

    use std::fs::Permissions;
    use std::os::unix::fs::PermissionsExt as _;

    fn permissions(bits: u32) -> Permissions {
        Permissions::from_mode(bits)
    }

    fn bits(path: &Path) -> u32 {
        path.metadata().unwrap().mode() & 0o7777
    }

    fn write(path: &Path, text: &str) {
        replace(path, ReplaceMode::RenameOrWrite, |out| out.write_all(text.as_bytes())).unwrap();
    }

    #[test]
    fn replaced_file_keeps_its_mode() {
        named::note_start();
        // The file system clock advances only every few milliseconds.
        std::thread::sleep(std::time::Duration::from_millis(20));
        let dir = tempfile::tempdir().unwrap();
        let at = |name: &str| dir.path().join(name);
        std::fs::write(at("f"), "old").unwrap();
        for bits_wanted in [0o600, 0o640, 0o664] {
            std::fs::set_permissions(at("f"), permissions(bits_wanted)).unwrap();
            write(&at("f"), "new");
            assert_eq!(bits(&at("f")), bits_wanted);
        }
        write(&at("new"), "there");
        assert_eq!(std::fs::read_to_string(at("new")).unwrap(), "there");
        // Links that existed before the start are followed: see the tests of the program.
        std::os::unix::fs::symlink("f", at("link")).unwrap();
        let replaced = replace(&at("link"), ReplaceMode::RenameOrWrite, |_| Ok(()));
        assert!(named::is_young_link(&replaced.unwrap_err()));
        assert!(
            replace(dir.path(), ReplaceMode::RenameOrWrite, |_| Ok(())).is_err(),
            "a directory"
        );
    }

    #[test]
    fn failed_write_leaves_old_file_and_no_temp_file() {
        let dir = tempfile::tempdir().unwrap();
        let file = dir.path().join("f");
        std::fs::write(&file, "old").unwrap();
        assert!(
            replace(&file, ReplaceMode::RenameOrWrite, |_| Err(io::Error::other("no"))).is_err()
        );
        let place = named::place(&file).unwrap();
        let mut opened = place.dir.open_for_writing(&place.name, None).unwrap();
        assert!(overwrite(&mut opened, |_| Err(io::Error::other("no"))).is_err());
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "old");
        overwrite(&mut opened, |out| out.write_all(b"n")).unwrap();
        assert_eq!(std::fs::read_to_string(&file).unwrap(), "n");
        assert_eq!(dir.path().read_dir().unwrap().count(), 1);
    }
}
