//! Symbols that an object defines, found by name through its hash table, and symbols that it
//! needs from other objects.
//!
//! The structures are those of the crate `object`. Its readers are not used: they hold the whole
//! symbol and string tables in memory and report neither the reason of a failed read nor the
//! defect of a table.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::Mutex;

use object::elf::{
    self, GnuHashHeader, HashHeader, SHN_UNDEF, STB_GLOBAL, Sym64, VER_NDX_GLOBAL, VERSYM_VERSION,
    Versym,
};
use object::pod::{self, Pod};
use object::{LittleEndian, U32, U64};

use super::dynamic::{MAX_NAME, MAX_NAMES, Tables};
use super::error::{Error, malformed};
use super::header::Header;
use super::source::{LE, Source, Window};

/// The size of an entry of the symbol table, in bytes.
pub(super) const SYMBOL: u64 = size_of::<Sym64<LittleEndian>>() as u64;
/// The size of an entry of the hash tables, in bytes.
const WORD: u64 = size_of::<Word>() as u64;
/// Maximum number of symbols of one object. The largest real library (`libtorch_cpu.so`) has some
/// 10^5.
const MAX_SYMBOLS: u64 = 4 << 20;
/// Maximum size of bloom filter and bucket tables, in entries.
const MAX_TABLE: u64 = 1 << 20;

/// Maximum number of cached symbols of one object. Lookups in `libtorch_cpu.so` need some 10^3.
const MAX_READ: usize = 1 << 14;
/// Number of bytes read at once for a name: most are shorter.
const NAME: usize = 256;
/// Maximum number of steps of one lookup. Real chains have a handful.
const MAX_CHAIN: usize = 1 << 14;

/// An undefined symbol.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Undefined {
    /// Mangled name.
    pub name: String,
    /// The library of its version in `DT_VERNEED`, if it has one.
    pub library: Option<String>,
}

/// The hash table of an object. The symbols and names, which are much larger, stay in the file.
#[derive(Debug)]
pub(super) struct Symbols {
    hash: Hash,
    /// Cached symbols: the keyed hash of the name that each defines. Many objects look up the same
    /// ones, and chains of a SysV table, which the libraries of MindSpore have, contain symbols
    /// with other names. Without the cache, each is read 2.4 times.
    read: Mutex<HashMap<u64, Option<u64>>>,
    keys: RandomState,
    /// Offset of the symbol table, and the number of symbols that fit in its segment.
    table: u64,
    room: u64,
    strings: u64,
    strings_size: u64,
}

type Word = U32<LittleEndian>;

#[derive(Debug)]
enum Hash {
    Gnu {
        bloom: Vec<U64<LittleEndian>>,
        shift: u32,
        buckets: Vec<Word>,
        first: u32,
        chain: Vec<Word>,
    },
    Sysv {
        buckets: Vec<Word>,
        chain: Vec<Word>,
    },
}

impl Symbols {
    /// Reads the hash table. Returns `None` if the object has none, so that its definitions are
    /// unknown.
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
            read_gnu_table(source, at, rest)?
        } else if let Some((at, rest)) = place(tables.sysv_hash) {
            read_sysv_table(source, at, rest)?
        } else {
            return Ok(None);
        };
        Ok(Some(Self {
            hash,
            read: Mutex::default(),
            keys: RandomState::new(),
            table,
            room: rest / SYMBOL,
            strings: tables.strings,
            strings_size: tables.strings_size,
        }))
    }

    /// Returns whether the object defines a symbol of this name.
    pub(super) fn defines(&self, source: &dyn Source, name: &str) -> Result<bool, Error> {
        match &self.hash {
            Hash::Gnu { bloom, shift, buckets, first, chain } => {
                let hash = elf::gnu_hash(name.as_bytes());
                if bloom.is_empty() || buckets.is_empty() {
                    return Ok(false);
                }
                let word = bloom[hash as usize / 64 % bloom.len()].get(LE);
                let second = hash.checked_shr(*shift).unwrap_or(0);
                if word >> (hash % 64) & word >> (second % 64) & 1 == 0 {
                    return Ok(false);
                }
                let head = buckets[hash as usize % buckets.len()].get(LE);
                let Some(mut at) = head.checked_sub(*first) else { return Ok(false) };
                for _ in 0..MAX_CHAIN {
                    let Some(entry) = chain.get(at as usize).map(|entry| entry.get(LE)) else {
                        break;
                    };
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
                if buckets.is_empty() {
                    return Ok(false);
                }
                let bucket = elf::hash(name.as_bytes()) as usize % buckets.len();
                let mut at = buckets[bucket].get(LE);
                // A chain visits no symbol twice, so a longer chain is a loop.
                for _ in 0..MAX_CHAIN.min(chain.len()) {
                    if at == 0 {
                        break;
                    }
                    if self.is_definition(source, at.into(), name)? {
                        return Ok(true);
                    }
                    at = chain.get(at as usize).map_or(0, |next| next.get(LE));
                }
                Ok(false)
            }
        }
    }

    /// Returns whether symbol `index` is a definition of `name`.
    fn is_definition(&self, source: &dyn Source, index: u64, name: &str) -> Result<bool, Error> {
        if index >= self.room {
            return Ok(false);
        }
        let wanted = self.keys.hash_one(name.as_bytes());
        if let Ok(read) = self.read.lock()
            && let Some(known) = read.get(&index)
        {
            return Ok(*known == Some(wanted));
        }
        let mut symbol = Sym64::<LittleEndian>::default();
        let bytes = pod::bytes_of_mut(&mut symbol);
        let count = source.read_at(bytes, self.table + index * SYMBOL)?;
        if count < bytes.len() {
            return Ok(false);
        }
        let is_empty = bytes.iter().all(|byte| *byte == 0);
        let at = u64::from(symbol.st_name.get(LE));
        if source.is_partial() && is_empty && matches!(self.hash, Hash::Gnu { .. }) {
            // The recording does not contain this symbol: 31 bits of its hash agree.
            return Ok(true);
        }
        if symbol.st_shndx.get(LE) == SHN_UNDEF || at >= self.strings_size {
            self.remember(index, None);
            return Ok(false);
        }
        let mut found = vec![0; NAME.max(name.len() + 1)];
        let count = source.read_at(&mut found, self.strings.saturating_add(at))?;
        // A longer name is a different one.
        let Some(end) = memchr::memchr(0, &found[..count]) else { return Ok(false) };
        let found = self.keys.hash_one(&found[..end]);
        self.remember(index, Some(found));
        Ok(found == wanted)
    }

    /// Caches the name that symbol `index` defines, by its keyed hash.
    fn remember(&self, index: u64, name: Option<u64>) {
        if let Ok(mut read) = self.read.lock()
            && read.len() < MAX_READ
        {
            read.insert(index, name);
        }
    }

    /// Returns the number of symbols that the hash table implies.
    fn count(&self) -> u64 {
        let count = match &self.hash {
            Hash::Gnu { first, chain, .. } => u64::from(*first) + chain.len() as u64,
            Hash::Sysv { chain, .. } => chain.len() as u64,
        };
        count.min(self.room).min(MAX_SYMBOLS)
    }

    /// Returns the global symbols that another object must define. Weak symbols may stay undefined
    /// and are omitted.
    pub(super) fn undefined(
        &self,
        source: &dyn Source,
        version_symbols: Option<u64>,
        version_library: impl Fn(u16) -> Option<String>,
    ) -> Result<Vec<Undefined>, Error> {
        // Symbols and versions are in the order of the index, but names are not.
        let mut found: Vec<(u64, u16)> = Vec::new();
        let mut window = Window::new(source, 96 << 10);
        let mut versions = Window::new(source, 16 << 10);
        for index in 1..self.count() {
            let symbol = window.record::<Sym64<LittleEndian>>(self.table + index * SYMBOL)?;
            let Some(symbol) = symbol else { break };
            if symbol.st_bind() == STB_GLOBAL && symbol.st_shndx.get(LE) == SHN_UNDEF {
                let version = match version_symbols {
                    Some(start) => {
                        versions.record::<Versym<LittleEndian>>(start.saturating_add(index * 2))?
                    }
                    None => None,
                };
                let version = version.map_or(0, |version| version.0.get(LE) & VERSYM_VERSION);
                found.push((symbol.st_name.get(LE).into(), version));
            }
        }
        // In the order of their names in the file, so that the names are read once, from front to
        // back.
        found.sort_unstable();
        let mut names = Window::new(source, 64 << 10);
        let mut out = Vec::with_capacity(found.len());
        let mut taken = 0;
        for (at, version) in found {
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
            let library = if version > VER_NDX_GLOBAL { version_library(version) } else { None };
            out.push(Undefined { name, library });
        }
        out.sort_unstable();
        Ok(out)
    }
}

/// Reads the header of a hash table at `at`, where its segment has `rest` bytes.
fn read_head<T: Pod>(source: &dyn Source, at: u64, rest: u64) -> Result<T, Error> {
    let size = size_of::<T>();
    if size as u64 > rest {
        return Err(larger_than_segment());
    }
    Window::new(source, size).record(at)?.ok_or_else(outside_of_file)
}

/// Reads `count` entries at `start` of a hash table at `at`, where its segment has `rest` bytes.
/// `zero` fills the table until it is read.
fn read_table<T: Pod>(
    source: &dyn Source,
    at: u64,
    rest: u64,
    start: u64,
    count: u64,
    zero: T,
) -> Result<Vec<T>, Error> {
    let size = count.checked_mul(size_of::<T>() as u64);
    let end = size.and_then(|size| start.checked_add(size)).filter(|end| *end <= rest);
    let (Some(_), Ok(count)) = (end, usize::try_from(count)) else {
        return Err(larger_than_segment());
    };
    let mut entries = vec![zero; count];
    let bytes = pod::bytes_of_slice_mut(&mut entries);
    if source.read_at(bytes, at + start)? < bytes.len() {
        return Err(outside_of_file());
    }
    Ok(entries)
}

fn larger_than_segment() -> Error {
    malformed("a hash table that is larger than its segment")
}

fn outside_of_file() -> Error {
    malformed("a hash table outside of the file")
}

fn read_gnu_table(source: &dyn Source, at: u64, rest: u64) -> Result<Hash, Error> {
    let head = read_head::<GnuHashHeader<LittleEndian>>(source, at, rest)?;
    let (count, words) =
        (u64::from(head.bucket_count.get(LE)), u64::from(head.bloom_count.get(LE)));
    let (first, shift) = (head.symbol_base.get(LE), head.bloom_shift.get(LE));
    if count > MAX_TABLE || words > MAX_TABLE {
        return Err(malformed("a hash table of millions of buckets"));
    }
    let bloom_at = size_of::<GnuHashHeader<LittleEndian>>() as u64;
    let bloom = read_table(source, at, rest, bloom_at, words, U64::new(LE, 0))?;
    let buckets_at = bloom_at + words * 8;
    let buckets = read_table(source, at, rest, buckets_at, count, Word::new(LE, 0))?;
    let chain_at = buckets_at + count * WORD;
    // The table does not contain the length of the chains. The last chain ends with an odd entry.
    let last = buckets.iter().map(|bucket| bucket.get(LE)).max().unwrap_or(0);
    let Some(index) = last.checked_sub(first).filter(|_| last != 0) else {
        return Ok(Hash::Gnu { bloom, shift, buckets, first, chain: Vec::new() });
    };
    let mut index = u64::from(index);
    let mut window = Window::new(source, 4096);
    loop {
        if index >= MAX_SYMBOLS || chain_at + index * WORD + WORD > rest {
            return Err(malformed("a hash chain without an end"));
        }
        let entry = window.record::<Word>(at + chain_at + index * WORD)?;
        index += 1;
        match entry {
            Some(entry) if entry.get(LE) & 1 == 0 => {}
            Some(_) => break,
            None => return Err(malformed("a hash chain outside of the file")),
        }
    }
    let chain = read_table(source, at, rest, chain_at, index, Word::new(LE, 0))?;
    Ok(Hash::Gnu { bloom, shift, buckets, first, chain })
}

fn read_sysv_table(source: &dyn Source, at: u64, rest: u64) -> Result<Hash, Error> {
    let head = read_head::<HashHeader<LittleEndian>>(source, at, rest)?;
    let count = u64::from(head.bucket_count.get(LE));
    let symbols = u64::from(head.chain_count.get(LE));
    if count > MAX_TABLE || symbols > MAX_SYMBOLS {
        return Err(malformed("a hash table of millions of entries"));
    }
    let buckets_at = size_of::<HashHeader<LittleEndian>>() as u64;
    let zero = Word::new(LE, 0);
    Ok(Hash::Sysv {
        buckets: read_table(source, at, rest, buckets_at, count, zero)?,
        chain: read_table(source, at, rest, buckets_at + count * WORD, symbols, zero)?,
    })
}
