//! The file header and the program headers: the kind of the object, and whether the file is
//! complete.

use object::elf::{
    ELFCLASS64, ELFDATA2LSB, ELFMAG, EM_386, EM_AARCH64, EM_ARM, EM_LOONGARCH, EM_PPC64, EM_RISCV,
    EM_S390, EM_X86_64, FileHeader64, PF_X, PT_DYNAMIC, PT_LOAD, ProgramHeader64, SectionHeader64,
};
use object::{LittleEndian, pod};

use facts::ElfDefect;

use super::error::{Error, malformed};
use super::source::{LE, Source, Window};

const HEADER: usize = size_of::<FileHeader64<LittleEndian>>();
const PROGRAM_HEADER: usize = size_of::<ProgramHeader64<LittleEndian>>();
const SECTION_HEADER: u64 = size_of::<SectionHeader64<LittleEndian>>() as u64;
/// Maximum number of segments; more than any real object has.
const MAX_SEGMENTS: u16 = 1024;

/// A part of the file that is mapped to memory.
#[derive(Debug, Clone, Copy)]
pub(super) struct Segment {
    pub(super) offset: u64,
    pub(super) address: u64,
    pub(super) size: u64,
    flags: u32,
}

impl Segment {
    /// Returns whether the segment contains code.
    pub(super) fn is_executable(&self) -> bool {
        self.flags & PF_X != 0
    }
}

/// The fields of the headers that a dynamic linker uses.
#[derive(Debug)]
pub(super) struct Header {
    pub(super) machine: u16,
    pub(super) kind: u16,
    pub(super) loads: Vec<Segment>,
    pub(super) dynamic: Option<Segment>,
}

impl Header {
    /// Reads the headers, and compares their sizes with the size of the file.
    pub(super) fn read(source: &dyn Source) -> Result<Self, Error> {
        let size = source.size();
        if size == 0 {
            return Err(Error::Defect(ElfDefect::Empty));
        }
        let truncated = || Error::Defect(ElfDefect::Truncated { size, expected: HEADER as u64 });
        let mut window = Window::new(source, HEADER + 16 * PROGRAM_HEADER);
        let head = window.bytes(0, HEADER.min(usize::try_from(size).unwrap_or(HEADER)))?;
        let head = head.unwrap_or_default();
        if !head.starts_with(&ELFMAG) {
            // A file that ends inside the magic number is truncated like one that ends later.
            let is_cut = !head.is_empty() && head.len() < ELFMAG.len() && ELFMAG.starts_with(head);
            return Err(if is_cut { truncated() } else { Error::Defect(ElfDefect::NotElf) });
        }
        let Ok((file, _)) = pod::from_bytes::<FileHeader64<LittleEndian>>(head) else {
            return Err(truncated());
        };
        let file = *file;
        if file.e_ident.class != ELFCLASS64 || file.e_ident.data != ELFDATA2LSB {
            return Err(Error::Defect(ElfDefect::Class));
        }
        let (segments_at, sections_at) = (file.e_phoff.get(LE), file.e_shoff.get(LE));
        let (entry, count) = (file.e_phentsize.get(LE), file.e_phnum.get(LE));
        let sections = file.e_shnum.get(LE);
        if usize::from(entry) != PROGRAM_HEADER || count == 0 || count > MAX_SEGMENTS {
            return Err(malformed(&format!("{count} program headers of {entry} bytes")));
        }

        let table = usize::from(count) * PROGRAM_HEADER;
        let mut expected = end(segments_at, table as u64)?;
        if sections_at != 0 && sections != 0 {
            expected = expected.max(end(sections_at, u64::from(sections) * SECTION_HEADER)?);
        }
        let table = window.bytes(segments_at, table)?.unwrap_or_default();
        let table = pod::slice_from_all_bytes::<ProgramHeader64<LittleEndian>>(table);
        let mut header = Self {
            machine: file.e_machine.get(LE),
            kind: file.e_type.get(LE),
            loads: Vec::new(),
            dynamic: None,
        };
        for entry in table.unwrap_or_default() {
            let segment = Segment {
                offset: entry.p_offset.get(LE),
                address: entry.p_vaddr.get(LE),
                size: entry.p_filesz.get(LE),
                flags: entry.p_flags.get(LE),
            };
            match entry.p_type.get(LE) {
                PT_LOAD => {
                    expected = expected.max(end(segment.offset, segment.size)?);
                    header.loads.push(segment);
                }
                PT_DYNAMIC => header.dynamic = Some(segment),
                _ => {}
            }
        }
        if expected > size {
            return Err(Error::Defect(ElfDefect::Truncated { size, expected }));
        }
        Ok(header)
    }

    /// Returns the file offset of a memory address, and the number of bytes of the file that
    /// follow it in its segment.
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

/// Returns the name of a machine code as printed by `uname -m`, or its number.
pub fn machine_name(code: u16) -> String {
    match code {
        EM_386 => "i386".to_owned(),
        EM_PPC64 => "ppc64le".to_owned(),
        EM_S390 => "s390x".to_owned(),
        EM_ARM => "arm".to_owned(),
        EM_X86_64 => "x86_64".to_owned(),
        EM_AARCH64 => "aarch64".to_owned(),
        EM_RISCV => "riscv64".to_owned(),
        EM_LOONGARCH => "loongarch64".to_owned(),
        _ => format!("machine {code}"),
    }
}

/// Returns the machine code of an architecture, for the two architectures of Ascend hosts.
pub fn machine_code(arch: &str) -> Option<u16> {
    match arch {
        "x86_64" | "amd64" => Some(EM_X86_64),
        "aarch64" | "arm64" => Some(EM_AARCH64),
        _ => None,
    }
}
