//! An open regular file with positioned reads, optionally copied into a recording.

use rustix::fs::OFlags;
use rustix::io::Errno;
use std::fs::File;
use std::os::unix::fs::FileExt as _;

use super::record::Sink;
use super::resolve::LocatedFile;
use super::{ReadError, Stat};
use base::hash::{Hasher, Sha256};
use facts::FileKind;

/// Number of bytes read at a time for hashing: large enough that the calls do not matter, and small
/// enough for one buffer per core.
const HASH_CHUNK: usize = 128 << 10;

/// A regular file of the examined machine.
#[derive(Debug)]
pub struct SysFile {
    found: LocatedFile,
    /// `None` while it is closed.
    file: Option<File>,
    size: u64,
    sink: Option<Sink>,
    partial: bool,
}

impl SysFile {
    /// Opens it. Never waits for a FIFO or a terminal.
    pub(super) fn open(found: LocatedFile) -> Result<Self, ReadError> {
        let (file, size) = open(&found)?;
        Ok(Self { found, file: Some(file), size, sink: None, partial: false })
    }

    /// Closes it; each further read opens it again. For files of which many are kept.
    pub fn close(&mut self) {
        self.file = None;
    }

    /// Its logical path without links.
    pub(super) fn real(&self) -> &str {
        &self.found.real
    }

    pub(super) fn with_recording(mut self, sink: Option<Sink>, partial: bool) -> Self {
        self.sink = sink;
        self.partial = partial;
        self
    }

    /// Size in bytes.
    pub fn len(&self) -> u64 {
        self.size
    }

    /// Returns whether it is empty.
    pub fn is_empty(&self) -> bool {
        self.size == 0
    }

    /// Returns whether the examined tree contains only parts of this file's content.
    pub fn is_partial(&self) -> bool {
        self.partial
    }

    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end of the file.
    pub fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
        let opened;
        let file = if let Some(file) = &self.file {
            file
        } else {
            opened = open(&self.found)?.0;
            &opened
        };
        let mut done = 0;
        while done < buffer.len() {
            match file.read_at(&mut buffer[done..], offset + done as u64) {
                Ok(0) => break,
                Ok(count) => done += count,
                Err(error) if error.kind() == std::io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        if let Some(sink) = &self.sink {
            // A recording that cannot be written is reported when it is finished.
            sink.write_at(&buffer[..done], offset);
            if done < buffer.len() {
                sink.ends_at(offset + done as u64);
            }
        }
        Ok(done)
    }

    /// The complete content, if it is at most `limit` bytes. Files of `/proc` have the size 0, so
    /// the limit also applies to the bytes that are read.
    pub fn read_all(&self, limit: u64) -> Result<Vec<u8>, ReadError> {
        if self.size > limit {
            return Err(ReadError::TooLarge { size: self.size, limit });
        }
        if self.partial {
            return Err(ReadError::Partial);
        }
        let mut content = Vec::with_capacity(usize::try_from(self.size).unwrap_or(0) + 1);
        let mut chunk = [0_u8; 16 << 10];
        loop {
            let count = self.read_at(&mut chunk, content.len() as u64)?;
            content.extend_from_slice(&chunk[..count]);
            if content.len() as u64 > limit {
                return Err(ReadError::TooLarge { size: content.len() as u64, limit });
            }
            if count < chunk.len() {
                return Ok(content);
            }
        }
    }

    /// The SHA-256 of the content; `progress` receives the size of each piece.
    pub(super) fn sha256(&self, progress: &dyn Fn(u64)) -> Result<Sha256, ReadError> {
        let mut hasher = Hasher::default();
        let mut chunk = vec![0_u8; HASH_CHUNK.min(usize::try_from(self.size).unwrap_or(0).max(1))];
        let mut offset = 0;
        loop {
            let count = self.read_at(&mut chunk, offset)?;
            hasher.update(&chunk[..count]);
            offset += count as u64;
            progress(count as u64);
            if count < chunk.len() || offset >= self.size {
                return Ok(hasher.finish());
            }
        }
    }
}

/// The open file and its size in bytes.
fn open(found: &LocatedFile) -> Result<(File, u64), ReadError> {
    let file = match found.open(OFlags::RDONLY | OFlags::NONBLOCK | OFlags::NOCTTY) {
        Err(Errno::LOOP) => return Err(ReadError::NotRegular(FileKind::Link)),
        other => other?,
    };
    // The file may have been replaced since its kind was checked.
    let stat = Stat::from_raw(&rustix::fs::fstat(&file)?);
    if stat.kind != FileKind::File {
        return Err(ReadError::NotRegular(stat.kind));
    }
    Ok((file.into(), stat.size))
}

#[cfg(test)]
#[expect(clippy::disallowed_methods, reason = "the test builds the tree that is examined")]
mod tests {
    use super::super::Sysroot;

    #[test]
    fn a_closed_file_is_read_again_but_no_link_in_its_place() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("f");
        std::fs::write(&path, "abc").unwrap();
        let sysroot = Sysroot::tree(dir.path()).unwrap();
        let mut file = sysroot.open("/f").unwrap();
        file.close();
        assert_eq!(file.read_all(10).unwrap(), b"abc");
        std::fs::remove_file(&path).unwrap();
        std::os::unix::fs::symlink("/etc/passwd", &path).unwrap();
        assert!(file.read_all(1 << 20).is_err());
    }
}
