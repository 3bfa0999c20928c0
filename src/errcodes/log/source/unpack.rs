//! Unpacks compressed streams: gzip, zstd, xz and bzip2.
//!
//! All of it is bounded: memory that a stream requests before it has returned any data is refused
//! above a limit, and the caller limits the output.

use std::io::{self, BufRead, BufReader, Read};

use bzip2::read::MultiBzDecoder;
use data::faults;
use flate2::read::MultiGzDecoder;
use lzma_rust2::XzReader;
use ruzstd::decoding::errors::{FrameDecoderError, FrameHeaderError, ReadFrameHeaderError};
use ruzstd::decoding::{BlockDecodingStrategy, FrameDecoder};

/// The maximum memory for a window of zstd, in bytes: `zstd -19` needs 8 MiB.
const WINDOW: u64 = 32 << 20;
/// The maximum memory for xz, in KiB: `xz -9` needs 65 MiB.
const XZ_MEMORY: u32 = 80 << 10;

/// The compression of a stream.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Packing {
    Gzip,
    Zstd,
    Xz,
    Bzip2,
}

impl Packing {
    /// Detects the compression by the first bytes.
    pub(super) fn detect(head: &[u8]) -> Option<Self> {
        if head.starts_with(&[0x1f, 0x8b]) {
            Some(Self::Gzip)
        } else if head.starts_with(&[0x28, 0xb5, 0x2f, 0xfd]) {
            Some(Self::Zstd)
        } else if head.starts_with(b"\xfd7zXZ\0") {
            Some(Self::Xz)
        } else if head.starts_with(b"BZh") && head.get(4..10) == Some(b"1AY&SY") {
            Some(Self::Bzip2)
        } else {
            None
        }
    }

    /// The name of the program for this compression.
    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Gzip => "gzip",
            Self::Zstd => "zstd",
            Self::Xz => "xz",
            Self::Bzip2 => "bzip2",
        }
    }

    /// The name of a file without the extension of this compression.
    pub(super) fn inner_name(self, name: &str) -> &str {
        let endings: &[&str] = match self {
            Self::Gzip => &[".gz", ".tgz"],
            Self::Zstd => &[".zst", ".tzst"],
            Self::Xz => &[".xz", ".txz"],
            Self::Bzip2 => &[".bz2", ".tbz2", ".tbz"],
        };
        endings.iter().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name)
    }

    /// The unpacked stream.
    pub(super) fn unpack<'a>(self, source: impl Read + 'a) -> Box<dyn Read + 'a> {
        let source = BufReader::new(source);
        match self {
            Self::Gzip => Box::new(MultiGzDecoder::new(source)),
            Self::Zstd => Box::new(Zstd::new(source)),
            Self::Xz => Box::new(XzReader::new_mem_limit(source, true, XZ_MEMORY)),
            Self::Bzip2 => Box::new(MultiBzDecoder::new(source)),
        }
    }
}

/// The frames of a zstd stream, one after the other: files may be appended to each other.
struct Zstd<R> {
    source: R,
    decoder: FrameDecoder,
    in_frame: bool,
}

impl<R: BufRead> Zstd<R> {
    fn new(source: R) -> Self {
        let mut decoder = FrameDecoder::new();
        decoder.set_max_window_size(WINDOW);
        Self { source, decoder, in_frame: false }
    }

    /// Begins the next frame, or skips one without content. Returns whether there was one.
    fn begin(&mut self) -> io::Result<bool> {
        if self.source.fill_buf()?.is_empty() {
            return Ok(false);
        }
        match self.decoder.init(&mut self.source) {
            Ok(()) => self.in_frame = true,
            Err(FrameDecoderError::ReadFrameHeaderError(ReadFrameHeaderError::SkipFrame {
                length,
                ..
            })) => {
                io::copy(&mut self.source.by_ref().take(length.into()), &mut io::sink())?;
            }
            Err(
                FrameDecoderError::WindowSizeTooBig { .. }
                | FrameDecoderError::FrameHeaderError(FrameHeaderError::WindowTooBig { .. }),
            ) => {
                let limit = WINDOW;
                return Err(io::Error::other(faults::UnpackingNeedsMemory { limit }.fault()));
            }
            Err(error) => return Err(io::Error::other(error)),
        }
        Ok(true)
    }
}

impl<R: BufRead> Read for Zstd<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if buffer.is_empty() {
            return Ok(0);
        }
        loop {
            if self.in_frame {
                let decoder = &mut self.decoder;
                while decoder.can_collect() == 0 && !decoder.is_finished() {
                    decoder
                        .decode_blocks(&mut self.source, BlockDecodingStrategy::UptoBlocks(1))
                        .map_err(io::Error::other)?;
                }
                let count = decoder.read(buffer)?;
                if count > 0 {
                    return Ok(count);
                }
                self.in_frame = false;
            }
            if !self.begin()? {
                return Ok(0);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `RuntimeError: NPU out of memory\n`, compressed by the program of each name.
    const PACKED: [(Packing, &[u8]); 3] = [
        (Packing::Zstd, include_bytes!("packed/line.zst")),
        (Packing::Xz, include_bytes!("packed/line.xz")),
        (Packing::Bzip2, include_bytes!("packed/line.bz2")),
    ];
    const LINE: &str = "RuntimeError: NPU out of memory\n";

    fn unpacked(packing: Packing, bytes: &[u8]) -> io::Result<Vec<u8>> {
        let mut out = Vec::new();
        packing.unpack(bytes).take(1 << 20).read_to_end(&mut out)?;
        Ok(out)
    }

    #[test]
    fn what_the_programs_pack_is_unpacked() {
        for (packing, bytes) in PACKED {
            assert_eq!(Packing::detect(bytes), Some(packing));
            assert_eq!(unpacked(packing, bytes).unwrap(), LINE.as_bytes(), "{packing:?}");
            // Two compressed logs, one appended to the other.
            let twice = unpacked(packing, &[bytes, bytes].concat()).unwrap();
            assert_eq!(twice, LINE.repeat(2).as_bytes(), "{packing:?}");
            assert!(unpacked(packing, &bytes[..bytes.len() - 9]).is_err(), "{packing:?} cut");
        }
    }

    /// A skippable frame contains data that only its writer reads.
    #[test]
    fn frames_without_content_are_skipped() {
        let (packing, bytes) = PACKED[0];
        let skippable = [&0x184d_2a50_u32.to_le_bytes()[..], &3_u32.to_le_bytes(), b"abc"].concat();
        let between = [bytes, &skippable, bytes].concat();
        assert_eq!(unpacked(packing, &between).unwrap(), LINE.repeat(2).as_bytes());
    }

    #[test]
    fn damaged_bytes_never_make_it_panic() {
        for (packing, bytes) in PACKED {
            for at in 0..bytes.len() {
                for change in [1, 0x10, 0x80, 0xff] {
                    let mut damaged = bytes.to_vec();
                    damaged[at] ^= change;
                    // Any result is fine: it must end, and not panic.
                    drop(unpacked(packing, &damaged));
                }
            }
        }
    }

    /// A header of a few bytes that requests gigabytes.
    #[test]
    fn a_window_of_gigabytes_is_refused() {
        let header = [0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xa8, 0x01, 0x00, 0x00];
        let error = unpacked(Packing::Zstd, &header).expect_err("it asks for gigabytes");
        let inner = error.get_ref().expect("it says why");
        assert!(inner.is::<data::Fault>(), "{error:?}");
    }
}
