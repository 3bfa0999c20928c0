//! Reads the entries of a PyTorch zip archive, up to a size limit.

use data::fault::{Value as _, quote};
use data::faults;
use std::borrow::Cow;

use zip::ZipArchive;
use zip::result::ZipError;

use super::bounded;
use super::source::Source;
use super::unreadable::{Unreadable, damaged};

/// The maximum unpacked size of one entry. The graph of the largest examined model (torch.export,
/// 40,000 nodes) takes 60 MB.
const ENTRY_LIMIT: u64 = 256 << 20;
/// The maximum number of entries of an archive. A model has one per tensor, and a few others.
const MOST_ENTRIES: usize = 1_000_000;
/// The number of trailing bytes that contain the entry count of an archive: the end record and the
/// longest possible comment.
const TAIL: u64 = (64 << 10) + 256;

/// A zip archive of PyTorch.
pub(super) struct Archive<'a> {
    zip: ZipArchive<&'a mut dyn Source>,
}

impl<'a> Archive<'a> {
    pub(super) fn open(source: &'a mut dyn Source) -> Result<Self, Unreadable> {
        let listed = listed(source)?;
        let zip = ZipArchive::new(source).map_err(unreadable)?;
        if zip.len() > MOST_ENTRIES {
            return Err(Unreadable::TooLarge {
                what: faults::PartEntries.value(),
                limit: MOST_ENTRIES as u64,
            });
        }
        // The zip reader keeps one of several entries with the same name, and other readers may
        // keep a different one.
        if listed.is_some_and(|listed| listed > zip.len() as u64) {
            return Err(damaged(faults::DuplicateEntries.value()));
        }
        Ok(Self { zip })
    }

    /// Returns the names of the entries, in the order of the archive. PyTorch writes UTF-8, so
    /// other names are left out.
    pub(super) fn names(&self) -> impl Iterator<Item = Cow<'_, str>> {
        self.zip.file_names().filter_map(Result::ok)
    }

    /// Returns the content of an entry.
    pub(super) fn entry(&mut self, name: &str) -> Result<Vec<u8>, Unreadable> {
        let entry = self.zip.by_name(name).map_err(unreadable)?;
        // An entry with a declared size above the limit is rejected before it is unpacked. The zip
        // reader rejects entries that unpack to more than their declared size.
        if entry.size() > ENTRY_LIMIT {
            let what = faults::PartEntry { name }.value();
            return Err(Unreadable::TooLarge { what, limit: ENTRY_LIMIT });
        }
        bounded::read(entry, ENTRY_LIMIT, &format!("entry `{name}`"))
    }

    /// Returns the first bytes of an entry.
    pub(super) fn head(&mut self, name: &str, most: u64) -> Result<Vec<u8>, Unreadable> {
        use std::io::Read as _;
        let mut bytes = Vec::new();
        let entry = self.zip.by_name(name).map_err(unreadable)?;
        entry.take(most).read_to_end(&mut bytes).map_err(|error| damaged(error.value()))?;
        Ok(bytes)
    }
}

/// Returns the number of entries that the end record of an archive declares; `None` if there is no
/// end record in the last [`TAIL`] bytes.
fn listed(source: &mut dyn Source) -> Result<Option<u64>, Unreadable> {
    use std::io::{Read as _, SeekFrom};
    let end = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(end.saturating_sub(TAIL)))?;
    let mut tail = Vec::new();
    (&mut *source).take(TAIL).read_to_end(&mut tail)?;
    let number = |at: usize| tail.get(at..at + 2).and_then(|two| two.first_chunk::<2>());
    let Some(at) = memchr::memmem::rfind(&tail, b"PK\x05\x06") else { return Ok(None) };
    let few = number(at + 10).map(|bytes| u64::from(u16::from_le_bytes(*bytes)));
    if few != Some(u64::from(u16::MAX)) {
        return Ok(few);
    }
    // A count that does not fit into two bytes is in the zip64 record before the end record.
    let wide = memchr::memmem::rfind(&tail[..at], b"PK\x06\x06");
    let many = wide.and_then(|at| tail.get(at + 32..at + 40)?.first_chunk::<8>());
    Ok(many.map(|bytes| u64::from_le_bytes(*bytes)))
}

fn unreadable(error: ZipError) -> Unreadable {
    match error {
        ZipError::Io(error) if error.kind() != std::io::ErrorKind::UnexpectedEof => error.into(),
        ZipError::UnsupportedArchive(why) if why == ZipError::PASSWORD_REQUIRED => {
            Unreadable::Encrypted
        }
        other => damaged(faults::ArchiveUnreadable { why: quote(&other.to_string()) }.value()),
    }
}
