//! The source of an object's bytes: a file of the examined machine, or memory.

use object::LittleEndian;
use object::pod::{self, Pod};

use crate::sysroot::{ReadError, SysFile};

/// The byte order of all objects.
pub(super) const LE: LittleEndian = LittleEndian;

/// Bytes with positioned reads.
pub trait Source: Sync {
    /// Size in bytes.
    fn size(&self) -> u64;
    /// Reads up to `buffer.len()` bytes at `offset`; fewer only at the end.
    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError>;
    /// Returns whether only parts of the content are available; the rest reads as zeros.
    fn is_partial(&self) -> bool {
        false
    }
}

impl Source for SysFile {
    fn size(&self) -> u64 {
        self.len()
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
        Self::read_at(self, buffer, offset)
    }

    fn is_partial(&self) -> bool {
        Self::is_partial(self)
    }
}

impl Source for &[u8] {
    fn size(&self) -> u64 {
        self.len() as u64
    }

    fn read_at(&self, buffer: &mut [u8], offset: u64) -> Result<usize, ReadError> {
        let rest = usize::try_from(offset).ok().and_then(|at| self.get(at..)).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        Ok(count)
    }
}

/// Reads through a block of the source, so that neighboring small reads cost one call.
pub(super) struct Window<'a> {
    source: &'a dyn Source,
    block: Vec<u8>,
    start: u64,
    size: usize,
}

impl<'a> Window<'a> {
    /// `size` is the size of a block, in bytes.
    pub(super) fn new(source: &'a dyn Source, size: usize) -> Self {
        Self { source, block: Vec::new(), start: 0, size }
    }

    /// `len` bytes at `offset`, or `None` beyond the end of the source.
    pub(super) fn bytes(&mut self, offset: u64, len: usize) -> Result<Option<&[u8]>, ReadError> {
        let held = self.upto(offset, len)?;
        Ok(held.get(..len))
    }

    /// Returns the structure at `offset`, or `None` if it extends beyond the end of the source.
    pub(super) fn record<T: Pod>(&mut self, offset: u64) -> Result<Option<T>, ReadError> {
        let bytes = self.bytes(offset, size_of::<T>())?;
        Ok(bytes.and_then(|bytes| pod::from_bytes(bytes).ok()).map(|(record, _)| *record))
    }

    /// A NUL-terminated string of at most `limit` bytes; `None` if there is none.
    pub(super) fn string(&mut self, offset: u64, limit: usize) -> Result<Option<&[u8]>, ReadError> {
        let mut len = 128;
        loop {
            let held = self.upto(offset, len.min(limit + 1))?;
            // The borrow checker does not accept returning from a borrow inside a loop.
            let end = held.iter().position(|byte| *byte == 0);
            let whole = held.len() < len;
            if let Some(end) = end {
                let held = self.upto(offset, end)?;
                return Ok((end <= limit).then(|| &held[..end]));
            }
            if whole || len > limit {
                return Ok(None);
            }
            len *= 4;
        }
    }

    /// The bytes of the block from `offset` on: at least `len`, if the source has them.
    fn upto(&mut self, offset: u64, len: usize) -> Result<&[u8], ReadError> {
        let held = offset
            .checked_sub(self.start)
            .and_then(|skip| usize::try_from(skip).ok())
            .filter(|skip| self.block.len().checked_sub(*skip).is_some_and(|rest| rest >= len));
        if let Some(skip) = held {
            return Ok(&self.block[skip..]);
        }
        if offset >= self.source.size() {
            return Ok(&[]);
        }
        self.block.resize(len.max(self.size), 0);
        self.start = offset;
        let count = self.source.read_at(&mut self.block, offset);
        self.block.truncate(*count.as_ref().unwrap_or(&0));
        count?;
        Ok(&self.block)
    }
}
