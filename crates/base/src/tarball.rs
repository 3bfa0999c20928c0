//! Reads the members of an untrusted tar archive in order.

use std::cell::Cell;
use std::io::{self, Read};
use std::ops::{ControlFlow, Range};
use std::rc::Rc;

use tar::{Archive, Entry};

/// Maximum size of the headers of a member, in bytes. The library keeps them in memory.
const HEADS: u64 = 1 << 20;

/// Position of the format name in the first block of an archive.
pub const MAGIC: Range<usize> = 257..262;

/// Returns whether the first block of a file is that of an archive.
pub fn is_tar(head: &[u8]) -> bool {
    head.get(MAGIC) == Some(b"ustar")
}

/// Passes each member to `visit` until it returns an answer.
///
/// # Errors
///
/// A header cannot be read, is damaged, or is too long.
pub fn each<R: Read, Answer>(
    source: R,
    mut visit: impl FnMut(&mut Entry<'_, LimitedReader<R>>) -> ControlFlow<Answer>,
) -> io::Result<Option<Answer>> {
    let left = Rc::new(Cell::new(HEADS));
    let mut archive = Archive::new(LimitedReader { source, left: Rc::clone(&left) });
    let mut entries = archive.entries()?;
    loop {
        left.set(HEADS);
        let Some(entry) = entries.next() else { return Ok(None) };
        let mut entry = entry?;
        left.set(u64::MAX);
        if let ControlFlow::Break(answer) = visit(&mut entry) {
            return Ok(Some(answer));
        }
        // The rest of the member is skipped. If that fails, reading the next header fails too.
        let _ = io::copy(&mut entry, &mut io::sink());
    }
}

/// A stream with a limit of bytes to read.
pub struct LimitedReader<R> {
    source: R,
    left: Rc<Cell<u64>>,
}

impl<R: Read> Read for LimitedReader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = self.left.get();
        if left == 0 {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "a name in it is too long"));
        }
        let most = usize::try_from(left).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.source.read(&mut buffer[..most])?;
        self.left.set(left - count as u64);
        Ok(count)
    }
}
