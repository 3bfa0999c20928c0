//! Writes small ELF shared objects that a dynamic linker would accept, for tests.
//!
//! 64-bit, little-endian, x86_64 or aarch64, with everything that a loader examines: program
//! headers, the dynamic section, both kinds of symbol hash, symbol versions. The dynamic section is
//! in a second segment whose address differs from its offset, as in real libraries, so that a
//! reader which confuses the two fails. Needs nothing but `std`, so that unit tests, integration
//! tests, examples and fuzz targets can all include it by path.
#![allow(dead_code, unreachable_pub, reason = "every user takes what it needs")]
#![allow(clippy::cast_possible_truncation, reason = "what tests write is small")]

// By path, because this file is included from several places.
#[path = "elf_hash.rs"]
mod hash;

use std::collections::BTreeMap;

/// Machine of the object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Machine {
    /// `EM_X86_64`.
    X86_64,
    /// `EM_AARCH64`.
    Aarch64,
}

impl Machine {
    /// The machine for `aarch64` or `x86_64`, the output of `uname -m`.
    pub fn of(arch: &str) -> Self {
        if arch == "aarch64" { Self::Aarch64 } else { Self::X86_64 }
    }

    fn code(self) -> u16 {
        match self {
            Self::X86_64 => 62,
            Self::Aarch64 => 183,
        }
    }
}

/// The table that finds a defined symbol by its name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashStyle {
    /// `DT_GNU_HASH`, written by every current tool chain.
    Gnu,
    /// `DT_HASH`, written by old and some vendor tool chains.
    Sysv,
}

#[derive(Debug, Clone)]
struct Symbol {
    name: String,
    version: Option<String>,
    weak: bool,
}

/// Describes a shared object; [`ElfBuilder::build`] returns its bytes.
#[derive(Debug, Clone)]
pub struct ElfBuilder {
    machine: Machine,
    hash: HashStyle,
    sections: bool,
    pad: usize,
    soname: Option<String>,
    rpath: Option<String>,
    runpath: Option<String>,
    needed: Vec<String>,
    defined: Vec<Symbol>,
    undefined: Vec<Symbol>,
    verneed: Vec<(String, Vec<String>)>,
    verdef: Vec<String>,
}

impl ElfBuilder {
    /// An object without dependencies or symbols.
    pub fn new(machine: Machine) -> Self {
        Self {
            machine,
            hash: HashStyle::Gnu,
            sections: true,
            pad: 0,
            soname: None,
            rpath: None,
            runpath: None,
            needed: Vec::new(),
            defined: Vec::new(),
            undefined: Vec::new(),
            verneed: Vec::new(),
            verdef: Vec::new(),
        }
    }

    /// An object for x86_64.
    pub fn x86_64() -> Self {
        Self::new(Machine::X86_64)
    }

    /// An object for aarch64.
    pub fn aarch64() -> Self {
        Self::new(Machine::Aarch64)
    }

    /// Sets `DT_SONAME`.
    #[must_use]
    pub fn soname(mut self, name: &str) -> Self {
        self.soname = Some(name.to_owned());
        self
    }

    /// Adds `DT_NEEDED` entries.
    #[must_use]
    pub fn needed<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.needed.extend(names.into_iter().map(|name| name.as_ref().to_owned()));
        self
    }

    /// Sets `DT_RPATH`.
    #[must_use]
    pub fn rpath(mut self, path: &str) -> Self {
        self.rpath = Some(path.to_owned());
        self
    }

    /// Sets `DT_RUNPATH`.
    #[must_use]
    pub fn runpath(mut self, path: &str) -> Self {
        self.runpath = Some(path.to_owned());
        self
    }

    /// Adds global functions that the object defines.
    #[must_use]
    pub fn define<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.defined.extend(names.into_iter().map(|name| symbol(name.as_ref(), None, false)));
        self
    }

    /// Adds a function defined under a version of the object (`GLIBC_2.17`).
    #[must_use]
    pub fn define_versioned(mut self, name: &str, version: &str) -> Self {
        self.defined.push(symbol(name, Some(version), false));
        self.provide_versions([version])
    }

    /// Adds undefined symbols, which another object has to define.
    #[must_use]
    pub fn undefined<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.undefined.extend(names.into_iter().map(|name| symbol(name.as_ref(), None, false)));
        self
    }

    /// Adds undefined weak symbols, which may stay undefined.
    #[must_use]
    pub fn undefined_weak<S: AsRef<str>>(mut self, names: impl IntoIterator<Item = S>) -> Self {
        self.undefined.extend(names.into_iter().map(|name| symbol(name.as_ref(), None, true)));
        self
    }

    /// Adds an undefined symbol of a version of a library. The library is not added to `DT_NEEDED`.
    #[must_use]
    pub fn undefined_versioned(mut self, name: &str, library: &str, version: &str) -> Self {
        self.undefined.push(symbol(name, Some(version), false));
        self.require_versions(library, [version])
    }

    /// Adds versions of a library that it requires (`DT_VERNEED`).
    #[must_use]
    pub fn require_versions<S: AsRef<str>>(
        mut self,
        library: &str,
        versions: impl IntoIterator<Item = S>,
    ) -> Self {
        let at = self.verneed.iter().position(|(name, _)| name == library).unwrap_or_else(|| {
            self.verneed.push((library.to_owned(), Vec::new()));
            self.verneed.len() - 1
        });
        let known = &mut self.verneed[at].1;
        for version in versions {
            if !known.iter().any(|name| name == version.as_ref()) {
                known.push(version.as_ref().to_owned());
            }
        }
        self
    }

    /// Adds versions that it defines (`DT_VERDEF`).
    #[must_use]
    pub fn provide_versions<S: AsRef<str>>(
        mut self,
        versions: impl IntoIterator<Item = S>,
    ) -> Self {
        for version in versions {
            if !self.verdef.iter().any(|name| name == version.as_ref()) {
                self.verdef.push(version.as_ref().to_owned());
            }
        }
        self
    }

    /// Selects the hash table; `Gnu` by default.
    #[must_use]
    pub fn hash(mut self, style: HashStyle) -> Self {
        self.hash = style;
        self
    }

    /// Omits the section headers, like `strip --strip-section-headers`.
    #[must_use]
    pub fn no_sections(mut self) -> Self {
        self.sections = false;
        self
    }

    /// Adds this many bytes of data.
    #[must_use]
    pub fn pad(mut self, bytes: usize) -> Self {
        self.pad = bytes;
        self
    }

    /// The bytes of the object.
    pub fn build(&self) -> Vec<u8> {
        let mut strings = Strings::default();
        let versions = self.version_indexes();
        let mut defined = self.defined.clone();
        let buckets = (defined.len() / 2).max(1) as u32;
        if self.hash == HashStyle::Gnu {
            defined.sort_by_key(|symbol| hash::gnu(&symbol.name) % buckets);
        }

        let mut dynsym = vec![0; SYMBOL];
        let mut versym = vec![0, 0];
        for (symbol, is_defined) in self
            .undefined
            .iter()
            .map(|symbol| (symbol, false))
            .chain(defined.iter().map(|symbol| (symbol, true)))
        {
            let bind: u8 = if symbol.weak { 2 } else { 1 };
            dynsym.extend(strings.add(&symbol.name).to_le_bytes());
            dynsym.extend([bind << 4 | 2, 0]);
            dynsym.extend(u16::from(is_defined).to_le_bytes());
            dynsym.extend((if is_defined { 0x40_u64 } else { 0 }).to_le_bytes());
            dynsym.extend(0_u64.to_le_bytes());
            let index = symbol.version.as_ref().map_or(1, |name| versions[name]);
            versym.extend(index.to_le_bytes());
        }
        let first_defined = 1 + self.undefined.len() as u32;
        let names: Vec<&str> = defined.iter().map(|symbol| symbol.name.as_str()).collect();
        let all: Vec<&str> =
            self.undefined.iter().chain(&defined).map(|symbol| symbol.name.as_str()).collect();
        let hash = match self.hash {
            HashStyle::Gnu => hash::gnu_table(&names, first_defined, buckets),
            HashStyle::Sysv => hash::sysv_table(&all),
        };
        let verneed = self.verneed_table(&versions, &mut strings);
        let verdef = self.verdef_table(&versions, &mut strings);
        let has_versions = !self.verneed.is_empty() || !self.verdef.is_empty();

        // The dynamic entries' strings have to be in the table before it is laid out.
        let mut entries: Vec<(u64, u64)> = Vec::new();
        for name in &self.needed {
            entries.push((1, u64::from(strings.add(name))));
        }
        for (tag, text) in [(14, &self.soname), (15, &self.rpath), (29, &self.runpath)] {
            if let Some(text) = text {
                entries.push((tag, u64::from(strings.add(text))));
            }
        }

        let mut image = Image::new();
        let dynsym_at = image.add(".dynsym", 11, &dynsym, SYMBOL as u64);
        let dynstr_at = image.add(".dynstr", 3, &strings.bytes, 0);
        let hash_at = match self.hash {
            HashStyle::Gnu => image.add(".gnu.hash", 0x6fff_fff6, &hash, 0),
            HashStyle::Sysv => image.add(".hash", 5, &hash, 4),
        };
        if has_versions {
            let at = image.add(".gnu.version", 0x6fff_ffff, &versym, 2);
            entries.push((0x6fff_fff0, at));
        }
        if !self.verneed.is_empty() {
            let at = image.add(".gnu.version_r", 0x6fff_fffe, &verneed, 0);
            entries.extend([(0x6fff_fffe, at), (0x6fff_ffff, self.verneed.len() as u64)]);
        }
        if !self.verdef.is_empty() {
            let at = image.add(".gnu.version_d", 0x6fff_fffd, &verdef, 0);
            entries.extend([(0x6fff_fffc, at), (0x6fff_fffd, 1 + self.verdef.len() as u64)]);
        }
        if self.pad > 0 {
            image.add(".rodata", 1, &vec![0x5a; self.pad], 0);
        }
        entries.extend([
            (6, dynsym_at),
            (5, dynstr_at),
            (10, strings.bytes.len() as u64),
            (11, SYMBOL as u64),
            (if self.hash == HashStyle::Gnu { 0x6fff_fef5 } else { 4 }, hash_at),
            (0, 0),
        ]);
        let dynamic: Vec<u8> = entries
            .iter()
            .flat_map(|(tag, value)| [tag.to_le_bytes(), value.to_le_bytes()].concat())
            .collect();
        image.finish(self.machine, &dynamic, self.sections)
    }

    /// Indexes of all versions, defined ones first; 1 is the object itself.
    fn version_indexes(&self) -> BTreeMap<String, u16> {
        let needed = self.verneed.iter().flat_map(|(_, names)| names);
        let mut indexes = BTreeMap::new();
        for name in self.verdef.iter().chain(needed) {
            let next = 2 + indexes.len() as u16;
            indexes.entry(name.clone()).or_insert(next);
        }
        indexes
    }

    fn verneed_table(&self, indexes: &BTreeMap<String, u16>, strings: &mut Strings) -> Vec<u8> {
        let mut out = Vec::new();
        for (at, (library, names)) in self.verneed.iter().enumerate() {
            let last = at + 1 == self.verneed.len();
            let size = 16 + 16 * names.len() as u32;
            out.extend(1_u16.to_le_bytes());
            out.extend((names.len() as u16).to_le_bytes());
            out.extend(strings.add(library).to_le_bytes());
            out.extend(16_u32.to_le_bytes());
            out.extend((if last { 0 } else { size }).to_le_bytes());
            for (at, name) in names.iter().enumerate() {
                out.extend(hash::sysv(name).to_le_bytes());
                out.extend(0_u16.to_le_bytes());
                out.extend(indexes[name].to_le_bytes());
                out.extend(strings.add(name).to_le_bytes());
                let next: u32 = if at + 1 == names.len() { 0 } else { 16 };
                out.extend(next.to_le_bytes());
            }
        }
        out
    }

    fn verdef_table(&self, indexes: &BTreeMap<String, u16>, strings: &mut Strings) -> Vec<u8> {
        let base = self.soname.clone().unwrap_or_else(|| "base".to_owned());
        let mut out = Vec::new();
        let all: Vec<&String> = std::iter::once(&base).chain(&self.verdef).collect();
        for (at, name) in all.iter().enumerate() {
            let index = if at == 0 { 1 } else { indexes[*name] };
            out.extend(1_u16.to_le_bytes());
            out.extend(u16::from(at == 0).to_le_bytes());
            out.extend(index.to_le_bytes());
            out.extend(1_u16.to_le_bytes());
            out.extend(hash::sysv(name).to_le_bytes());
            out.extend(20_u32.to_le_bytes());
            let next: u32 = if at + 1 == all.len() { 0 } else { 28 };
            out.extend(next.to_le_bytes());
            out.extend(strings.add(name).to_le_bytes());
            out.extend(0_u32.to_le_bytes());
        }
        out
    }
}

const HEADER: usize = 64;
const PROGRAM_HEADER: usize = 56;
const PROGRAM_HEADERS: usize = 4;
const SYMBOL: usize = 24;
const PAGE: usize = 0x1000;
/// Distance between address and offset in the second segment.
const SHIFT: u64 = 0x10000;

fn symbol(name: &str, version: Option<&str>, weak: bool) -> Symbol {
    Symbol { name: name.to_owned(), version: version.map(str::to_owned), weak }
}

/// A string table without duplicates.
#[derive(Debug)]
struct Strings {
    bytes: Vec<u8>,
    known: BTreeMap<String, u32>,
}

impl Default for Strings {
    fn default() -> Self {
        Self { bytes: vec![0], known: BTreeMap::new() }
    }
}

impl Strings {
    fn add(&mut self, text: &str) -> u32 {
        if let Some(at) = self.known.get(text) {
            return *at;
        }
        let at = self.bytes.len() as u32;
        self.bytes.extend(text.as_bytes());
        self.bytes.push(0);
        self.known.insert(text.to_owned(), at);
        at
    }
}

struct Section {
    name: &'static str,
    kind: u32,
    address: u64,
    offset: u64,
    size: u64,
    entry_size: u64,
}

/// `sh_link`: the symbols are section 1, their strings section 2.
fn link_of(name: &str) -> u32 {
    match name {
        ".gnu.version" | ".gnu.hash" | ".hash" => 1,
        ".dynsym" | ".gnu.version_r" | ".gnu.version_d" | ".dynamic" => 2,
        _ => 0,
    }
}

/// The layout of the file: consecutive sections in the first segment.
struct Image {
    bytes: Vec<u8>,
    sections: Vec<Section>,
}

impl Image {
    fn new() -> Self {
        Self { bytes: vec![0; HEADER + PROGRAM_HEADERS * PROGRAM_HEADER], sections: Vec::new() }
    }

    /// Appends a section to the first segment, and returns its address (which is its offset).
    fn add(&mut self, name: &'static str, kind: u32, content: &[u8], entry_size: u64) -> u64 {
        self.align(8);
        let offset = self.bytes.len() as u64;
        self.bytes.extend(content);
        let size = content.len() as u64;
        self.sections.push(Section { name, kind, address: offset, offset, size, entry_size });
        offset
    }

    fn align(&mut self, to: usize) {
        self.bytes.resize(self.bytes.len().next_multiple_of(to), 0);
    }

    fn finish(mut self, machine: Machine, dynamic: &[u8], sections: bool) -> Vec<u8> {
        let first = self.bytes.len() as u64;
        self.align(8);
        let offset = self.bytes.len() as u64;
        let size = dynamic.len() as u64;
        self.bytes.extend(dynamic);
        self.sections.push(Section {
            name: ".dynamic",
            kind: 6,
            address: offset + SHIFT,
            offset,
            size,
            entry_size: 16,
        });
        let (table, count) = if sections { self.section_headers() } else { (0, 0) };

        let mut head: Vec<u8> = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0".to_vec();
        head.extend(3_u16.to_le_bytes());
        head.extend(machine.code().to_le_bytes());
        head.extend(1_u32.to_le_bytes());
        head.extend(0_u64.to_le_bytes());
        head.extend((HEADER as u64).to_le_bytes());
        head.extend(table.to_le_bytes());
        head.extend(0_u32.to_le_bytes());
        let last = if count == 0 { 0 } else { count - 1 };
        for half in [HEADER as u16, PROGRAM_HEADER as u16, PROGRAM_HEADERS as u16, 64, count, last]
        {
            head.extend(half.to_le_bytes());
        }
        let segments = [
            (1_u32, 4_u32, 0, 0, first, first, PAGE as u64),
            (1, 6, offset, offset + SHIFT, size, size + 64, PAGE as u64),
            (2, 6, offset, offset + SHIFT, size, size, 8),
            (0x6474_e551, 6, 0, 0, 0, 0, 16),
        ];
        for (kind, flags, offset, address, file_size, memory_size, align) in segments {
            head.extend(kind.to_le_bytes());
            head.extend(flags.to_le_bytes());
            for word in [offset, address, address, file_size, memory_size, align] {
                head.extend(word.to_le_bytes());
            }
        }
        self.bytes[..head.len()].copy_from_slice(&head);
        self.bytes
    }

    /// Appends the section names and headers; returns the offset of the headers and their number.
    fn section_headers(&mut self) -> (u64, u16) {
        let mut names = Strings::default();
        let offset = self.bytes.len() as u64;
        for section in &self.sections {
            names.add(section.name);
        }
        names.add(".shstrtab");
        self.bytes.extend(&names.bytes);
        let size = names.bytes.len() as u64;
        let strings =
            Section { name: ".shstrtab", kind: 3, address: 0, offset, size, entry_size: 0 };
        self.align(8);
        let table = self.bytes.len() as u64;
        self.bytes.extend([0; 64]);
        for section in self.sections.iter().chain([&strings]) {
            self.bytes.extend(names.add(section.name).to_le_bytes());
            self.bytes.extend(section.kind.to_le_bytes());
            self.bytes.extend((if section.address == 0 { 0_u64 } else { 2 }).to_le_bytes());
            self.bytes.extend(section.address.to_le_bytes());
            self.bytes.extend(section.offset.to_le_bytes());
            self.bytes.extend(section.size.to_le_bytes());
            self.bytes.extend(link_of(section.name).to_le_bytes());
            self.bytes.extend(1_u32.to_le_bytes());
            self.bytes.extend(8_u64.to_le_bytes());
            self.bytes.extend(section.entry_size.to_le_bytes());
        }
        (table, 2 + self.sections.len() as u16)
    }
}
