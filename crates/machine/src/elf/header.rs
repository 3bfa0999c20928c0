//! The file header and the program headers: what kind of object it is, and whether it is whole.

use super::Error;
use super::source::{Source, Window, u16_at, u32_at, u64_at};
use facts::ElfDefect;

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const SECTION_HEADER: u64 = 64;
/// More than any real object has.
const MAX_SEGMENTS: u16 = 1024;

const PT_LOAD: u32 = 1;
const PT_DYNAMIC: u32 = 2;

/// A part of the file that is mapped to memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) size: u64,
    flags: u32,
}

impl Segment {
    /// Whether there is code in it (`PF_X`).
    pub(super) fn is_executable(&self) -> bool {
        self.flags & 1 != 0
    }
}

/// What the headers say.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) machine: u16,
    pub(super) kind: u16,
    pub(super) loads: Vec<Segment>,
    pub(super) dynamic: Option<Segment>,
}

impl Header {
    /// Reads the headers, and compares the sizes they name with the size of the file.
    pub(super) fn read(source: &dyn Source) -> Result<Self, Error> {
        let size = source.size();
        if size == 0 {
            return Err(Error::Defect(ElfDefect::Empty));
        }
        let mut window = Window::new(source, HEADER + 16 * PROGRAM_HEADER);
        let head = window.bytes(0, HEADER.min(usize::try_from(size).unwrap_or(HEADER)))?;
        let head = head.unwrap_or_default().to_vec();
        if !head.starts_with(b"\x7fELF") {
            // A file that ends inside the magic number is cut off as much as one that ends later.
            let cut = !head.is_empty() && head.len() < 4 && b"\x7fELF".starts_with(&head);
            return Err(Error::Defect(if cut {
                ElfDefect::Truncated { size, expected: HEADER as u64 }
            } else {
                ElfDefect::NotElf
            }));
        }
        if head.len() < HEADER {
            return Err(Error::Defect(ElfDefect::Truncated { size, expected: HEADER as u64 }));
        }
        if head[4] != 2 || head[5] != 1 {
            return Err(Error::Defect(ElfDefect::Class));
        }
        let half = |at| u16_at(&head, at).unwrap_or(0);
        let word = |at| u64_at(&head, at).unwrap_or(0);
        let (kind, machine) = (half(16), half(18));
        let (segments_at, sections_at) = (word(32), word(40));
        let (entry, count, sections) = (half(54), half(56), half(60));
        if usize::from(entry) != PROGRAM_HEADER || count == 0 || count > MAX_SEGMENTS {
            return Err(malformed(&format!("{count} program headers of {entry} bytes")));
        }

        let table = usize::from(count) * PROGRAM_HEADER;
        let mut expected = end(segments_at, table as u64)?;
        if sections_at != 0 && sections != 0 {
            expected = expected.max(end(sections_at, u64::from(sections) * SECTION_HEADER)?);
        }
        let table = window.bytes(segments_at, table)?.map(<[u8]>::to_vec);
        let mut header = Self { machine, kind, loads: Vec::new(), dynamic: None };
        for entry in table.iter().flat_map(|table| table.chunks_exact(PROGRAM_HEADER)) {
            let segment = Segment {
                offset: u64_at(entry, 8).unwrap_or(0),
                address: u64_at(entry, 16).unwrap_or(0),
                size: u64_at(entry, 32).unwrap_or(0),
                flags: u32_at(entry, 4).unwrap_or(0),
            };
            match u32_at(entry, 0) {
                Some(PT_LOAD) => {
                    expected = expected.max(end(segment.offset, segment.size)?);
                    header.loads.push(segment);
                }
                Some(PT_DYNAMIC) => header.dynamic = Some(segment),
                _ => {}
            }
        }
        if expected > size {
            return Err(Error::Defect(ElfDefect::Truncated { size, expected }));
        }
        Ok(header)
    }

    /// The offset in the file of a memory address, and how many bytes of the file follow it in
    /// its segment.
    pub(super) fn offset_of(&self, address: u64) -> Option<(u64, u64)> {
        self.loads.iter().find_map(|segment| {
            let skip = address.checked_sub(segment.address)?;
            let rest = segment.size.checked_sub(skip)?;
            (rest > 0).then_some((segment.offset.checked_add(skip)?, rest))
        })
    }
}

fn end(offset: u64, size: u64) -> Result<u64, Error> {
    offset
        .checked_add(size)
        .ok_or_else(|| malformed(&format!("offset {offset:#x} and size {size:#x} overflow")))
}

pub(super) fn malformed(reason: &str) -> Error {
    Error::Defect(ElfDefect::Malformed { reason: reason.to_owned() })
}

/// The name of a machine code as `uname -m` says it, or its number.
pub fn machine_name(code: u16) -> String {
    match code {
        3 => "i386".to_owned(),
        21 => "ppc64le".to_owned(),
        22 => "s390x".to_owned(),
        40 => "arm".to_owned(),
        62 => "x86_64".to_owned(),
        183 => "aarch64".to_owned(),
        243 => "riscv64".to_owned(),
        258 => "loongarch64".to_owned(),
        _ => format!("machine {code}"),
    }
}

/// The machine code of an architecture, for the two that Ascend hosts have.
pub fn machine_code(arch: &str) -> Option<u16> {
    match arch {
        "x86_64" | "amd64" => Some(62),
        "aarch64" | "arm64" => Some(183),
        _ => None,
    }
}
