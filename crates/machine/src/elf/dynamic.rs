//! The dynamic section: names of dependencies, search paths, locations of the tables.

use object::elf::{
    DT_GNU_HASH, DT_HASH, DT_JMPREL, DT_NEEDED, DT_NULL, DT_PLTRELSZ, DT_RELA, DT_RELASZ, DT_RPATH,
    DT_RUNPATH, DT_SONAME, DT_STRSZ, DT_STRTAB, DT_SYMTAB, DT_VERDEF, DT_VERDEFNUM, DT_VERNEED,
    DT_VERNEEDNUM, DT_VERSYM, Dyn64, VER_FLG_BASE, VER_FLG_WEAK, VERSYM_VERSION, Verdaux, Verdef,
    Vernaux, Verneed,
};
use object::{LittleEndian, pod};

use super::error::{Error, malformed};
use super::header::Header;
use super::source::{LE, Source, Window};

/// Maximum size of the dynamic section, in bytes; larger than any real one.
const MAX_DYNAMIC: u64 = 1 << 20;
/// Maximum length of a name; mangled C++ names reach some thousand bytes.
pub(super) const MAX_NAME: usize = 64 << 10;
/// Maximum number of bytes of names read from one object, because names in a file may overlap.
pub(super) const MAX_NAMES: usize = 256 << 20;
/// Maximum number of entries in the version tables.
const MAX_VERSIONS: usize = 4096;

/// The contents of the dynamic section, with resolved strings.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Dynamic {
    /// `DT_SONAME`.
    pub soname: Option<String>,
    /// `DT_NEEDED`, in order.
    pub needed: Vec<String>,
    /// `DT_RPATH`, as written.
    pub rpath: Option<String>,
    /// `DT_RUNPATH`, as written.
    pub runpath: Option<String>,
    /// `DT_VERNEED`: libraries and their required versions, without weak ones.
    pub version_needs: Vec<(String, Vec<String>)>,
    /// `DT_VERDEF`, without the name of the object itself.
    pub versions: Vec<String>,
}

/// Addresses and sizes of the tables, from the dynamic section.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) strings: u64,
    pub(super) strings_size: u64,
    pub(super) symbols: Option<u64>,
    pub(super) gnu_hash: Option<u64>,
    pub(super) sysv_hash: Option<u64>,
    pub(super) version_symbols: Option<u64>,
    /// Relocations of called functions: address and size.
    pub(super) jumps: Option<(u64, u64)>,
    /// All other relocations: address and size.
    pub(super) relocations: Option<(u64, u64)>,
    /// Version index -> library of `DT_VERNEED`.
    pub(super) version_library: Vec<(u16, usize)>,
}

pub(super) fn read(source: &dyn Source, header: &Header) -> Result<(Dynamic, Tables), Error> {
    let Some(segment) = header.dynamic else {
        return Err(malformed("no dynamic section"));
    };
    if segment.size > MAX_DYNAMIC {
        return Err(malformed(&format!("a dynamic section of {} bytes", segment.size)));
    }
    let size = usize::try_from(segment.size).unwrap_or(0);
    let mut window = Window::new(source, size.max(16));
    let table = window.bytes(segment.offset, size)?;
    let table = table.ok_or_else(|| malformed("the dynamic section is outside of the file"))?;
    let count = size / size_of::<Dyn64<LittleEndian>>();
    let entries = pod::slice_from_bytes::<Dyn64<LittleEndian>>(table, count);
    let entries = entries.map_or(&[][..], |(entries, _)| entries);

    let mut tables = Tables::default();
    let (mut needed, mut soname, mut rpath, mut runpath) = (Vec::new(), None, None, None);
    let (mut verneed, mut verdef, mut needs, mut defs) = (None, None, 0_u64, 0_u64);
    let mut strings = None;
    let (mut jumps, mut jumps_size, mut relocations, mut relocations_size) = (None, 0, None, 0);
    for entry in entries {
        let value = entry.d_val.get(LE);
        match entry.d_tag.get(LE) {
            DT_NULL => break,
            DT_NEEDED => needed.push(value),
            DT_HASH => tables.sysv_hash = Some(value),
            DT_STRTAB => strings = Some(value),
            DT_PLTRELSZ => jumps_size = value,
            DT_SYMTAB => tables.symbols = Some(value),
            DT_RELA => relocations = Some(value),
            DT_RELASZ => relocations_size = value,
            DT_JMPREL => jumps = Some(value),
            DT_STRSZ => tables.strings_size = value,
            DT_SONAME => soname = Some(value),
            DT_RPATH => rpath = Some(value),
            DT_RUNPATH => runpath = Some(value),
            DT_GNU_HASH => tables.gnu_hash = Some(value),
            DT_VERSYM => tables.version_symbols = Some(value),
            DT_VERDEF => verdef = Some(value),
            DT_VERDEFNUM => defs = value,
            DT_VERNEED => verneed = Some(value),
            DT_VERNEEDNUM => needs = value,
            _ => {}
        }
    }
    tables.jumps = jumps.map(|address| (address, jumps_size));
    tables.relocations = relocations.map(|address| (address, relocations_size));
    if needed.len() > MAX_VERSIONS {
        return Err(malformed("thousands of dependencies"));
    }
    let strings = strings.and_then(|address| header.offset_of(address));
    let (at, rest) = strings.ok_or_else(|| malformed("no string table"))?;
    tables.strings = at;
    tables.strings_size = tables.strings_size.min(rest);

    let mut text = Names { window: Window::new(source, 4096), tables: &tables, taken: 0 };
    let mut dynamic = Dynamic::default();
    for offset in needed {
        dynamic.needed.push(text.get(offset)?);
    }
    dynamic.soname = soname.map(|offset| text.get(offset)).transpose()?;
    dynamic.rpath = rpath.map(|offset| text.get(offset)).transpose()?;
    dynamic.runpath = runpath.map(|offset| text.get(offset)).transpose()?;
    let mut indexes = Vec::new();
    if let Some((at, _)) = verneed.and_then(|address| header.offset_of(address)) {
        let mut walk = Window::new(source, 4096);
        dynamic.version_needs = version_needs(&mut walk, at, needs, &mut text, &mut indexes)?;
    }
    if let Some((at, _)) = verdef.and_then(|address| header.offset_of(address)) {
        let mut walk = Window::new(source, 4096);
        dynamic.versions = version_definitions(&mut walk, at, defs, &mut text)?;
    }
    tables.version_library = indexes;
    Ok((dynamic, tables))
}

struct Names<'a> {
    window: Window<'a>,
    tables: &'a Tables,
    /// Bytes of names so far.
    taken: usize,
}

impl Names<'_> {
    fn get(&mut self, offset: u64) -> Result<String, Error> {
        let at = (offset < self.tables.strings_size)
            .then(|| self.tables.strings.checked_add(offset))
            .flatten()
            .ok_or_else(|| malformed("a name outside of the string table"))?;
        let name = self.window.string(at, MAX_NAME)?;
        let name = name.ok_or_else(|| malformed("a name without an end"))?;
        self.taken += name.len();
        if self.taken > MAX_NAMES {
            return Err(malformed("more names than any library has"));
        }
        Ok(String::from_utf8_lossy(name).into_owned())
    }
}

/// Reads `DT_VERNEED`: a chain of records that contain the distance to the next one, or 0 at the
/// end. Distances are positive, so the chain cannot form a loop.
fn version_needs(
    walk: &mut Window<'_>,
    mut at: u64,
    count: u64,
    names: &mut Names<'_>,
    indexes: &mut Vec<(u16, usize)>,
) -> Result<Vec<(String, Vec<String>)>, Error> {
    let mut out: Vec<(String, Vec<String>)> = Vec::new();
    let mut total = 0;
    for _ in 0..count.min(MAX_VERSIONS as u64) {
        let Some(record) = walk.record::<Verneed<LittleEndian>>(at)? else { break };
        let library = names.get(record.vn_file.get(LE).into())?;
        let mut versions = Vec::new();
        let mut aux_at = at.saturating_add(record.vn_aux.get(LE).into());
        for _ in 0..record.vn_cnt.get(LE) {
            total += 1;
            if total > MAX_VERSIONS {
                return Err(malformed("thousands of versions"));
            }
            let Some(aux) = walk.record::<Vernaux<LittleEndian>>(aux_at)? else { break };
            indexes.push((aux.vna_other.get(LE) & VERSYM_VERSION, out.len()));
            if aux.vna_flags.get(LE) & VER_FLG_WEAK == 0 {
                versions.push(names.get(aux.vna_name.get(LE).into())?);
            }
            let next = aux.vna_next.get(LE);
            if next == 0 {
                break;
            }
            aux_at = aux_at.saturating_add(next.into());
        }
        out.push((library, versions));
        let next = record.vn_next.get(LE);
        if next == 0 {
            break;
        }
        at = at.saturating_add(next.into());
    }
    Ok(out)
}

/// Reads `DT_VERDEF`, a chain like `DT_VERNEED`.
fn version_definitions(
    walk: &mut Window<'_>,
    mut at: u64,
    count: u64,
    names: &mut Names<'_>,
) -> Result<Vec<String>, Error> {
    let mut out = Vec::new();
    for _ in 0..count.min(MAX_VERSIONS as u64) {
        let Some(record) = walk.record::<Verdef<LittleEndian>>(at)? else { break };
        let aux_at = at.saturating_add(record.vd_aux.get(LE).into());
        if record.vd_flags.get(LE) & VER_FLG_BASE == 0
            && let Some(aux) = walk.record::<Verdaux<LittleEndian>>(aux_at)?
        {
            out.push(names.get(aux.vda_name.get(LE).into())?);
        }
        let next = record.vd_next.get(LE);
        if next == 0 {
            break;
        }
        at = at.saturating_add(next.into());
    }
    Ok(out)
}
