//! The dynamic section: names of dependencies, search paths, where the tables are.

use super::Error;
use super::header::{Header, malformed};
use super::source::{Source, Window, u16_at, u32_at, u64_at};
use super::symbols::MAX_NAMES;

/// More than any real dynamic section.
const MAX_DYNAMIC: u64 = 1 << 20;
/// Longest name that is read; mangled C++ names reach some thousand bytes.
pub(super) const MAX_NAME: usize = 64 << 10;
/// Most entries in the version tables.
const MAX_VERSIONS: usize = 4096;

/// What the dynamic section says, strings resolved.
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
    /// `DT_VERNEED`: library and the versions that are needed of it, weak ones left out.
    pub version_needs: Vec<(String, Vec<String>)>,
    /// `DT_VERDEF`, without the name of the object itself.
    pub versions: Vec<String>,
}

/// Addresses and sizes of the tables, as the dynamic section gives them.
#[derive(Debug, Default)]
pub(super) struct Tables {
    pub(super) strings: u64,
    pub(super) strings_size: u64,
    pub(super) symbols: Option<u64>,
    pub(super) gnu_hash: Option<u64>,
    pub(super) sysv_hash: Option<u64>,
    pub(super) version_symbols: Option<u64>,
    /// Relocations of functions that are called: address and size.
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
    let table = window.bytes(segment.offset, size)?.map(<[u8]>::to_vec);
    let table = table.ok_or_else(|| malformed("the dynamic section is outside of the file"))?;

    let mut tables = Tables::default();
    let (mut needed, mut soname, mut rpath, mut runpath) = (Vec::new(), None, None, None);
    let (mut verneed, mut verdef, mut needs, mut defs) = (None, None, 0_u64, 0_u64);
    let mut strings = None;
    let (mut jumps, mut jumps_size, mut relocations, mut relocations_size) = (None, 0, None, 0);
    for entry in table.chunks_exact(16) {
        let value = u64_at(entry, 8).unwrap_or(0);
        match u64_at(entry, 0).unwrap_or(0) {
            0 => break,
            1 => needed.push(value),
            4 => tables.sysv_hash = Some(value),
            5 => strings = Some(value),
            2 => jumps_size = value,
            6 => tables.symbols = Some(value),
            7 => relocations = Some(value),
            8 => relocations_size = value,
            23 => jumps = Some(value),
            10 => tables.strings_size = value,
            14 => soname = Some(value),
            15 => rpath = Some(value),
            29 => runpath = Some(value),
            0x6fff_fef5 => tables.gnu_hash = Some(value),
            0x6fff_fff0 => tables.version_symbols = Some(value),
            0x6fff_fffc => verdef = Some(value),
            0x6fff_fffd => defs = value,
            0x6fff_fffe => verneed = Some(value),
            0x6fff_ffff => needs = value,
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

const VERSION_IS_WEAK: u16 = 2;
const VERSION_IS_BASE: u16 = 1;

/// A chain of records that each say how far the next one is; a distance of 0 ends it. Distances
/// are positive, so that it cannot go round in circles.
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
        let Some(record) = walk.bytes(at, 16)?.map(<[u8]>::to_vec) else { break };
        let library = names.get(u32_at(&record, 4).unwrap_or(0).into())?;
        let mut versions = Vec::new();
        let mut aux_at = at.saturating_add(u32_at(&record, 8).unwrap_or(0).into());
        for _ in 0..u16_at(&record, 2).unwrap_or(0) {
            total += 1;
            if total > MAX_VERSIONS {
                return Err(malformed("thousands of versions"));
            }
            let Some(aux) = walk.bytes(aux_at, 16)?.map(<[u8]>::to_vec) else { break };
            indexes.push((u16_at(&aux, 6).unwrap_or(0) & 0x7fff, out.len()));
            if u16_at(&aux, 4).unwrap_or(0) & VERSION_IS_WEAK == 0 {
                versions.push(names.get(u32_at(&aux, 8).unwrap_or(0).into())?);
            }
            let next = u32_at(&aux, 12).unwrap_or(0);
            if next == 0 {
                break;
            }
            aux_at = aux_at.saturating_add(next.into());
        }
        out.push((library, versions));
        let next = u32_at(&record, 12).unwrap_or(0);
        if next == 0 {
            break;
        }
        at = at.saturating_add(next.into());
    }
    Ok(out)
}

fn version_definitions(
    walk: &mut Window<'_>,
    mut at: u64,
    count: u64,
    names: &mut Names<'_>,
) -> Result<Vec<String>, Error> {
    let mut out = Vec::new();
    for _ in 0..count.min(MAX_VERSIONS as u64) {
        let Some(record) = walk.bytes(at, 20)?.map(<[u8]>::to_vec) else { break };
        let aux_at = at.saturating_add(u32_at(&record, 12).unwrap_or(0).into());
        if u16_at(&record, 2).unwrap_or(0) & VERSION_IS_BASE == 0
            && let Some(name) = walk.bytes(aux_at, 8)?.and_then(|aux| u32_at(aux, 0))
        {
            out.push(names.get(name.into())?);
        }
        let next = u32_at(&record, 16).unwrap_or(0);
        if next == 0 {
            break;
        }
        at = at.saturating_add(next.into());
    }
    Ok(out)
}
