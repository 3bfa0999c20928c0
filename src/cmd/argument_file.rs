//! Files that the user named as arguments, read up to a limit.
#![expect(clippy::disallowed_methods, reason = "reads files that the user named")]

use data::{OrFault as _, faults};
use std::io::{self, Read as _};
use std::path::Path;

/// Opens a file without waiting for the other end of a pipe. A pipe without a writer is empty; a
/// pipe that a program holds open (`<(command)`) is read to its end.
pub(super) fn open_argument(path: &Path) -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file.into())
}

/// Reads a file that the user named as an argument, up to `limit` bytes.
pub(super) fn read_argument(path: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    read_argument_by(path, |_| limit)
}

/// Like [`read_argument`], but the first bytes determine the limit. A file that exceeds the limit
/// by its known size is rejected before the rest is read.
pub(super) fn read_argument_by(
    path: &Path,
    limit: impl Fn(&[u8]) -> u64,
) -> anyhow::Result<Vec<u8>> {
    let shown = path.display();
    if path == Path::new("-") {
        let read = read_limited(&mut io::stdin().lock(), 0, limit);
        return read
            .or_fault(|| faults::CannotReadStdin.fault())?
            .map_err(|limit| too_large(path, limit));
    }
    let meta = path.metadata().or_fault(|| faults::CannotRead { path: &shown }.fault())?;
    anyhow::ensure!(!meta.is_dir(), faults::DirectoryNotFile { path: &shown }.fault());
    let size = if meta.is_file() { meta.len() } else { 0 };
    open_argument(path)
        .and_then(|mut file| read_limited(&mut file, size, limit))
        .or_fault(|| faults::CannotRead { path: &shown }.fault())?
        .map_err(|limit| too_large(path, limit))
}

/// Returns all bytes, or the limit that they exceed; `size` is their number, or 0 if unknown.
fn read_limited(
    input: &mut impl io::Read,
    size: u64,
    limit: impl Fn(&[u8]) -> u64,
) -> io::Result<Result<Vec<u8>, u64>> {
    let mut bytes = Vec::new();
    input.take(2).read_to_end(&mut bytes)?;
    let limit = limit(&bytes);
    if size > limit {
        return Ok(Err(limit));
    }
    // Reserves the exact size: growing by doubling would need three times as much memory.
    bytes.reserve_exact(usize::try_from(size).unwrap_or(0));
    input.take((limit + 1).saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > limit { Err(limit) } else { Ok(bytes) })
}

fn too_large(path: &Path, limit: u64) -> anyhow::Error {
    let shown = path.display();
    faults::FileTooLarge { path: shown, limit }.fault().into()
}
