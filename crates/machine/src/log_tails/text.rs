//! Decompresses logs and rejects content other than text, in which secrets could not be redacted.

use base::text::Text;
use data::faults;
use std::io::{self, Read};

use flate2::read::MultiGzDecoder;

use crate::sysroot::SysFile;
use base::tarball;

/// Limit of decompressed data over all logs, in bytes.
const UNPACKED: u64 = 1 << 30;
/// Size of the samples at both ends that distinguish text from other content, in bytes.
const SAMPLE: usize = 4096;

/// Remaining decompressed data, in bytes.
#[derive(Debug)]
pub(super) struct UnpackBudget(u64);

impl Default for UnpackBudget {
    fn default() -> Self {
        Self(UNPACKED)
    }
}

/// A file of the examined machine, from its beginning on.
struct Bytes<'a> {
    file: &'a SysFile,
    at: u64,
}

impl Read for Bytes<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.at).map_err(io::Error::other)?;
        self.at += count as u64;
        Ok(count)
    }
}

/// Returns the last `most` bytes of the decompressed file, and its decompressed size.
pub(super) fn unpack_end(
    file: &SysFile,
    most: u64,
    unpacking: &mut UnpackBudget,
) -> Result<(Vec<u8>, u64), Text> {
    read_last(MultiGzDecoder::new(Bytes { file, at: 0 }), most, unpacking)
}

fn read_last(
    mut from: impl Read,
    most: u64,
    unpacking: &mut UnpackBudget,
) -> Result<(Vec<u8>, u64), Text> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    // Surplus bytes are dropped in large steps, because moving the rest is expensive.
    let full = most.saturating_add(most.clamp(64 << 10, 64 << 20));
    let (mut kept, mut size) = (Vec::new(), 0_u64);
    let mut piece = vec![0; 64 << 10];
    loop {
        let count = from.read(&mut piece).map_err(|error| {
            // For an unreadable file, `error` has the message of the operating system.
            faults::CannotUnpack { why: &error }.value()
        })?;
        if count == 0 {
            break;
        }
        if size == 0 && is_archive(&piece[..count]) {
            return Err(faults::IsArchive.value());
        }
        size += count as u64;
        if count as u64 > unpacking.0 {
            return Err(faults::LogsUnpackToTooMuch { limit: UNPACKED }.value());
        }
        unpacking.0 -= count as u64;
        kept.extend_from_slice(&piece[..count]);
        if kept.len() > full {
            kept.drain(..kept.len() - most);
        }
    }
    if kept.len() > most {
        kept.drain(..kept.len() - most);
    }
    Ok((kept, size))
}

fn is_archive(head: &[u8]) -> bool {
    tarball::is_tar(head) || head.starts_with(b"PK\x03\x04")
}

/// Removes NUL bytes from a text and returns their number, or the reason why it is not text.
///
/// A log that was truncated while a process wrote to it begins with NUL bytes. A log in UTF-16 has
/// them between its letters, where no secret would be recognized.
pub(super) fn strip_nul_bytes(text: &mut Vec<u8>) -> Result<u64, Text> {
    if is_archive(text) {
        return Err(faults::IsArchive.value());
    }
    let before = text.len();
    if memchr::memchr(0, text).is_some() {
        text.retain(|&byte| byte != 0);
        if text.is_empty() {
            return Err(faults::OnlyNulBytes.value());
        }
    }
    let control = |byte: &&u8| matches!(**byte, 1..=6 | 0x0e..=0x1a | 0x1c..=0x1f | 0x7f);
    let odd = |part: &[u8]| part.iter().filter(control).count() * 20 > part.len();
    let (head, end) = (&text[..text.len().min(SAMPLE)], &text[text.len().saturating_sub(SAMPLE)..]);
    if odd(head) || odd(end) {
        return Err(faults::NotText.value());
    }
    Ok((before - text.len()) as u64)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::*;

    fn packed(text: &[u8]) -> Vec<u8> {
        let mut packer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        packer.write_all(text).unwrap();
        packer.finish().unwrap()
    }

    fn end_of(bytes: &[u8], most: u64) -> Result<(Vec<u8>, u64), Text> {
        read_last(MultiGzDecoder::new(bytes), most, &mut UnpackBudget::default())
    }

    #[test]
    fn end_of_compressed_log_is_kept() {
        let text: Vec<u8> = (0..400_000_u32).map(|n| b'a' + (n % 26) as u8).collect();
        for most in [10, 70_000, 1 << 30] {
            let (kept, size) = end_of(&packed(&text), most).unwrap();
            assert_eq!(size, 400_000);
            assert!(text.ends_with(&kept) && kept.len() as u64 == most.min(400_000), "{most}");
        }
        let whole = packed(&text);
        assert!(
            end_of(&whole[..whole.len() / 2], 10).unwrap_err().en.contains("cannot be unpacked")
        );
        let mut little = UnpackBudget(1000);
        let error = read_last(MultiGzDecoder::new(&whole[..]), 10, &mut little).unwrap_err();
        assert!(error.en.contains("more than"), "{error:?}");
        let mut tar = vec![b'x'; 512];
        tar[tarball::MAGIC].copy_from_slice(b"ustar");
        assert_eq!(end_of(&packed(&tar), 10).unwrap_err(), faults::IsArchive.value());
    }

    #[test]
    fn nul_bytes_are_removed_and_binary_content_is_rejected() {
        let read = |bytes: &[u8]| {
            let mut text = bytes.to_vec();
            strip_nul_bytes(&mut text).map(|nul| (text, nul))
        };
        assert_eq!(read(b""), Ok((vec![], 0)));
        assert_eq!(read(b"\0\0\0a\nb\n"), Ok((b"a\nb\n".to_vec(), 3)));
        assert_eq!(read(b"t\0o\0k\0e\0n\0"), Ok((b"token".to_vec(), 5)), "UTF-16");
        assert!(read("\u{1b}[31m错误\u{1b}[0m\r\n".as_bytes()).is_ok());
        assert!(read(b"\0\0\0\0").is_err());
        assert!(read(b"\x7fELF\x02\x01\x01\0\0\0\0\x03\0\x3e\0\x01").is_err());
        assert!(read(b"PK\x03\x04 and more").is_err());
        let mixed = [vec![b'a'; 10_000], (0..=255).collect::<Vec<u8>>().repeat(40)].concat();
        assert!(read(&mixed).is_err(), "text before it is no help");
    }
}
