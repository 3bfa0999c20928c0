//! Which symbols an object defines, asked by name through its hash table, and which it needs.

use super::Error;
use super::dynamic::{MAX_NAME, Tables};
use super::header::{Header, malformed};
use super::source::{Source, Window, u16_at, u32_at};

/// An entry of the symbol table, in bytes.
pub(super) const SYMBOL: u64 = 24;
/// Most symbols of one object. The largest real library (`libtorch_cpu.so`) has some 10^5.
const MAX_SYMBOLS: u64 = 4 << 20;
/// Most bytes of names that are taken from one object: names may lie over each other in the file.
pub(super) const MAX_NAMES: usize = 256 << 20;
/// Largest bloom filter and bucket tables, in entries.
const MAX_TABLE: u64 = 1 << 20;

/// Most steps of one look-up. Real chains have a handful.
const MAX_CHAIN: usize = 1 << 14;

/// An undefined symbol.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undefined {
    /// Mangled name.
    pub name: String,
    /// The library that `DT_VERNEED` names for its version, if it has one.
    pub library: Option<String>,
}

/// The hash table of an object: small beside its symbols and names, which stay in the file.
#[derive(Debug)]
pub(super) struct Symbols {
    hash: Hash,
    /// Offset of the symbol table, and how many symbols fit in its segment.
    table: u64,
    room: u64,
    strings: u64,
    strings_size: u64,
}

#[derive(Debug)]
enum Hash {
    Gnu { bloom: Vec<u8>, shift: u32, buckets: Vec<u8>, first: u32, chain: Vec<u8> },
    Sysv { buckets: Vec<u8>, chain: Vec<u8> },
}

impl Symbols {
    /// Reads the hash table. `None` if the object has none, so that nothing can be said.
    pub(super) fn read(
        source: &dyn Source,
        header: &Header,
        tables: &Tables,
    ) -> Result<Option<Self>, Error> {
        let Some((table, rest)) = tables.symbols.and_then(|address| header.offset_of(address))
        else {
            return Ok(None);
        };
        let place = |address: Option<u64>| address.and_then(|address| header.offset_of(address));
        let hash = if let Some((at, rest)) = place(tables.gnu_hash) {
            gnu_table(source, at, rest)?
        } else if let Some((at, rest)) = place(tables.sysv_hash) {
            sysv_table(source, at, rest)?
        } else {
            return Ok(None);
        };
        Ok(Some(Self {
            hash,
            table,
            room: rest / SYMBOL,
            strings: tables.strings,
            strings_size: tables.strings_size,
        }))
    }

    /// Whether the object defines a symbol of this name.
    pub(super) fn defines(&self, source: &dyn Source, name: &str) -> Result<bool, Error> {
        match &self.hash {
            Hash::Gnu { bloom, shift, buckets, first, chain } => {
                let hash = gnu_hash(name.as_bytes());
                let words = bloom.len() / 8;
                let buckets_count = buckets.len() / 4;
                if words == 0 || buckets_count == 0 {
                    return Ok(false);
                }
                let word = super::source::u64_at(bloom, (hash as usize / 64 % words) * 8);
                let word = word.unwrap_or(0);
                let second = hash.checked_shr(*shift).unwrap_or(0);
                if word >> (hash % 64) & word >> (second % 64) & 1 == 0 {
                    return Ok(false);
                }
                let head = u32_at(buckets, hash as usize % buckets_count * 4).unwrap_or(0);
                let Some(mut at) = head.checked_sub(*first) else { return Ok(false) };
                for _ in 0..MAX_CHAIN {
                    let Some(entry) = u32_at(chain, at as usize * 4) else { break };
                    if entry | 1 == hash | 1
                        && self.is_definition(source, u64::from(*first) + u64::from(at), name)?
                    {
                        return Ok(true);
                    }
                    if entry & 1 == 1 {
                        break;
                    }
                    at += 1;
                }
                Ok(false)
            }
            Hash::Sysv { buckets, chain } => {
                let count = buckets.len() / 4;
                if count == 0 {
                    return Ok(false);
                }
                let bucket = sysv_hash(name.as_bytes()) as usize % count;
                let mut at = u32_at(buckets, bucket * 4).unwrap_or(0);
                // A chain visits no symbol twice, so that one that goes on longer is a circle.
                for _ in 0..MAX_CHAIN.min(chain.len() / 4) {
                    if at == 0 {
                        break;
                    }
                    if self.is_definition(source, at.into(), name)? {
                        return Ok(true);
                    }
                    at = u32_at(chain, at as usize * 4).unwrap_or(0);
                }
                Ok(false)
            }
        }
    }

    /// Whether symbol `index` is a definition of `name`.
    fn is_definition(&self, source: &dyn Source, index: u64, name: &str) -> Result<bool, Error> {
        if index >= self.room {
            return Ok(false);
        }
        let mut symbol = [0; 24];
        if source.read_at(&mut symbol, self.table + index * SYMBOL)? < symbol.len() {
            return Ok(false);
        }
        let at = u64::from(u32_at(&symbol, 0).unwrap_or(0));
        if source.is_partial() && symbol == [0; 24] && matches!(self.hash, Hash::Gnu { .. }) {
            // The recording did not keep this symbol: 31 bits of its hash agree.
            return Ok(true);
        }
        if u16_at(&symbol, 6) == Some(0) || at >= self.strings_size {
            return Ok(false);
        }
        let mut found = vec![0; name.len() + 1];
        let count = source.read_at(&mut found, self.strings.saturating_add(at))?;
        Ok(count == found.len()
            && found[..name.len()] == *name.as_bytes()
            && found[name.len()] == 0)
    }

    /// How many symbols there are, as far as the hash table says.
    fn count(&self) -> u64 {
        let count = match &self.hash {
            Hash::Gnu { first, chain, .. } => u64::from(*first) + chain.len() as u64 / 4,
            Hash::Sysv { chain, .. } => chain.len() as u64 / 4,
        };
        count.min(self.room).min(MAX_SYMBOLS)
    }

    /// Global symbols that are not defined here and must be defined elsewhere. Weak ones may
    /// stay undefined, and are left out.
    pub(super) fn undefined(
        &self,
        source: &dyn Source,
        version_symbols: Option<u64>,
        version_library: impl Fn(u16) -> Option<String>,
    ) -> Result<Vec<Undefined>, Error> {
        let mut found: Vec<(u64, u64)> = Vec::new();
        let mut window = Window::new(source, 96 << 10);
        for index in 1..self.count() {
            let Some(symbol) = window.bytes(self.table + index * SYMBOL, 24)? else { break };
            let global = symbol[4] >> 4 == 1;
            if global && u16_at(symbol, 6) == Some(0) {
                found.push((u32_at(symbol, 0).unwrap_or(0).into(), index));
            }
        }
        // In the order of their names in the file, so that these are read once, front to back.
        found.sort_unstable();
        let mut names = Window::new(source, 64 << 10);
        let mut versions = Window::new(source, 16 << 10);
        let mut out = Vec::with_capacity(found.len());
        let mut taken = 0;
        for (at, index) in found {
            if at == 0 || at >= self.strings_size {
                continue;
            }
            let Some(name) = names.string(self.strings.saturating_add(at), MAX_NAME)? else {
                return Err(malformed("a symbol name without an end"));
            };
            let name = String::from_utf8_lossy(name).into_owned();
            taken += name.len();
            if taken > MAX_NAMES {
                return Err(malformed("more names of symbols than any library has"));
            }
            let version = match version_symbols {
                Some(start) => versions.bytes(start.saturating_add(index * 2), 2)?,
                None => None,
            };
            let version = version.and_then(|bytes| u16_at(bytes, 0)).unwrap_or(0) & 0x7fff;
            let library = if version > 1 { version_library(version) } else { None };
            out.push(Undefined { name, library });
        }
        out.sort_unstable();
        Ok(out)
    }
}

fn table(source: &dyn Source, at: u64, rest: u64, start: u64, len: u64) -> Result<Vec<u8>, Error> {
    let end = start.checked_add(len).filter(|end| *end <= rest);
    let (Some(_), Ok(len)) = (end, usize::try_from(len)) else {
        return Err(malformed("a hash table that is larger than its segment"));
    };
    let mut bytes = vec![0; len];
    let count = source.read_at(&mut bytes, at + start)?;
    if count < len {
        return Err(malformed("a hash table outside of the file"));
    }
    Ok(bytes)
}

fn gnu_table(source: &dyn Source, at: u64, rest: u64) -> Result<Hash, Error> {
    let head = table(source, at, rest, 0, 16)?;
    let word = |index: usize| u64::from(u32_at(&head, index * 4).unwrap_or(0));
    let (count, first, words, shift) = (word(0), word(1), word(2), word(3));
    if count > MAX_TABLE || words > MAX_TABLE {
        return Err(malformed("a hash table of millions of buckets"));
    }
    let bloom = table(source, at, rest, 16, words * 8)?;
    let buckets_at = 16 + words * 8;
    let buckets = table(source, at, rest, buckets_at, count * 4)?;
    let chain_at = buckets_at + count * 4;
    // The length of the chains is not written down: the last chain ends with an odd entry.
    let last = buckets.chunks_exact(4).filter_map(|bytes| u32_at(bytes, 0)).max().unwrap_or(0);
    let Some(mut index) = u64::from(last).checked_sub(first).filter(|_| last != 0) else {
        let first = u32::try_from(first).unwrap_or(0);
        return Ok(Hash::Gnu {
            bloom,
            shift: u32::try_from(shift).unwrap_or(0),
            buckets,
            first,
            chain: Vec::new(),
        });
    };
    let mut window = Window::new(source, 4096);
    loop {
        if index >= MAX_SYMBOLS || chain_at + index * 4 + 4 > rest {
            return Err(malformed("a hash chain without an end"));
        }
        let entry = window.bytes(at + chain_at + index * 4, 4)?.and_then(|bytes| u32_at(bytes, 0));
        index += 1;
        match entry {
            Some(entry) if entry & 1 == 0 => {}
            Some(_) => break,
            None => return Err(malformed("a hash chain outside of the file")),
        }
    }
    Ok(Hash::Gnu {
        bloom,
        shift: u32::try_from(shift).unwrap_or(0),
        buckets,
        first: u32::try_from(first).unwrap_or(0),
        chain: table(source, at, rest, chain_at, index * 4)?,
    })
}

fn sysv_table(source: &dyn Source, at: u64, rest: u64) -> Result<Hash, Error> {
    let head = table(source, at, rest, 0, 8)?;
    let count = u64::from(u32_at(&head, 0).unwrap_or(0));
    let symbols = u64::from(u32_at(&head, 4).unwrap_or(0));
    if count > MAX_TABLE || symbols > MAX_SYMBOLS {
        return Err(malformed("a hash table of millions of entries"));
    }
    Ok(Hash::Sysv {
        buckets: table(source, at, rest, 8, count * 4)?,
        chain: table(source, at, rest, 8 + count * 4, symbols * 4)?,
    })
}

fn gnu_hash(name: &[u8]) -> u32 {
    name.iter().fold(5381_u32, |hash, byte| hash.wrapping_mul(33).wrapping_add((*byte).into()))
}

fn sysv_hash(name: &[u8]) -> u32 {
    name.iter().fold(0_u32, |hash, byte| {
        let hash = (hash << 4).wrapping_add((*byte).into());
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}
