//! The files of a machine, for the log reader.

use std::io::{self, Read, Seek};

use errcodes::log::{Content, EntryKind, Files, OpenError, ProblemKind};
use facts::FileKind;
use machine::sysroot::{ReadError, SysFile, Sysroot};

/// Logs that are read through a [`Sysroot`].
#[derive(Debug)]
pub struct MachineFiles<'a>(pub &'a Sysroot);

impl Files for MachineFiles<'_> {
    fn kind(&self, path: &str) -> Result<EntryKind, OpenError> {
        self.0.stat(path).map(|stat| entry_kind(stat.kind)).map_err(|error| unopened(&error))
    }

    fn entries(&self, dir: &str) -> Result<Vec<(String, EntryKind)>, OpenError> {
        let entries = self.0.entries(dir).map_err(|error| unopened(&error))?;
        Ok(entries.into_iter().map(|(name, kind)| (name, entry_kind(kind))).collect())
    }

    fn open(&self, path: &str) -> Result<(Box<dyn Content>, u64), OpenError> {
        let file = self.0.open(path).map_err(|error| unopened(&error))?;
        let size = file.len();
        Ok((Box::new(FileReader { file, offset: 0 }), size))
    }
}

fn entry_kind(kind: FileKind) -> EntryKind {
    match kind {
        FileKind::File => EntryKind::File,
        FileKind::Directory => EntryKind::Directory,
        FileKind::Link => EntryKind::Link,
        _ => EntryKind::Other,
    }
}

fn unopened(error: &ReadError) -> OpenError {
    let kind = match error {
        ReadError::NotRegular(_) | ReadError::NotDirectory => ProblemKind::NotRegular,
        ReadError::TooLarge { .. } => ProblemKind::TooLarge,
        _ => ProblemKind::Unreadable,
    };
    OpenError { kind, detail: error.text() }
}

/// A file, from its start to its end.
struct FileReader {
    file: SysFile,
    offset: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset).map_err(io::Error::other)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl Seek for FileReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let target = match to {
            io::SeekFrom::Start(offset) => Some(offset),
            io::SeekFrom::End(offset) => self.file.len().checked_add_signed(offset),
            io::SeekFrom::Current(offset) => self.offset.checked_add_signed(offset),
        };
        self.offset = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.offset)
    }
}
