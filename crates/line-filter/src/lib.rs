//! Finds the lines of a text that contain one of many literals.
//!
//! Must not touch: files, tables. The caller passes literals and bytes.
//!
//! Nearly all lines of a log are healthy, so the rate of a scan is the rate at which nothing is
//! found. An automaton over all literals takes its steps one after the other. The filter examines
//! only every third position and looks up in a table of bits whether the four bytes there are part
//! of a literal; no lookup waits for the previous one. Six bytes of each literal are enough for
//! that, because one of three consecutive positions is always examined. The choice of the six is
//! free: those that are rarest in healthy logs. If the bit is set, the literals with these four
//! bytes are compared.
//!
//! Codes such as `EI0006` are too many and too similar for that. They have a shape, which is
//! checked at sixteen positions at once (the compiler vectorizes it), and then looked up in a list.

//!
//! A separate crate, so that tests do not search with unoptimized code.

use std::collections::BTreeSet;

/// The number of bytes looked up at a position.
const GRAM: usize = 4;
/// The distance between examined positions.
const STRIDE: usize = 3;
/// The length of the representative part of a literal: at any alignment, an examined position has
/// its gram within it.
const WINDOW: usize = GRAM + STRIDE - 1;
/// Bits of the table; a power of two. Twice the number needed: a false positive costs more than the
/// cache space.
const BITS: usize = 1 << 18;
/// Bits of a hash that select a bucket of entries.
const DRAWERS: u32 = 12;
/// The length of a code.
const CODE: usize = 6;
/// The number of bytes processed together; a multiple of the stride.
const BLOCK: usize = 192;
/// A block, and the rest of a code that begins within it.
const SPAN: usize = BLOCK + CODE;

/// Buckets of [`GramFrequency`]; a power of two.
const COUNTS: usize = 1 << 14;

/// Finds literals and codes.
#[derive(Debug)]
pub struct LineFilter {
    literals: Vec<&'static [u8]>,
    codes: BTreeSet<[u8; CODE]>,
    table: Box<[u64; BITS / 64]>,
    /// The candidates for a set bit, sorted by the first bits of the hash.
    entries: Vec<Entry>,
    /// The start of the entries whose hash has these first bits.
    drawers: Vec<u16>,
}

/// A gram of a literal.
#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    literal: u16,
    /// The offset in the literal.
    at: u16,
}

/// A match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// The index of the literal in the list; `None` for a code.
    pub literal: Option<usize>,
    /// The start offset.
    pub start: usize,
    /// The end offset.
    pub end: usize,
}

impl LineFilter {
    /// Creates a filter for literals of at least six bytes without line feeds, and codes of six;
    /// `healthy` contains typical lines of the searched texts without a match.
    pub fn new(
        literals: Vec<&'static [u8]>,
        codes: impl Iterator<Item = &'static str>,
        healthy: &str,
    ) -> Self {
        let common = GramFrequency::new(healthy);
        let mut entries = Vec::new();
        let mut costs = Vec::new();
        for (index, literal) in literals.iter().enumerate() {
            debug_assert!(literal.len() >= WINDOW, "too short for the filter: {literal:?}");
            costs.clear();
            costs.extend(literal.windows(GRAM).map(|gram| common.cost(gram)));
            let windows = costs.windows(STRIDE).map(|grams| grams.iter().sum::<u32>());
            let best = windows.enumerate().min_by_key(|(_, cost)| *cost).map_or(0, |(at, _)| at);
            for at in best..best + STRIDE {
                let (Ok(literal), Ok(place)) = (u16::try_from(index), u16::try_from(at)) else {
                    continue;
                };
                entries.push(Entry {
                    hash: hash(word(&literals[index][at..])),
                    literal,
                    at: place,
                });
            }
        }
        let (entries, drawers) = sort_entries(&entries);
        let zeros = vec![0_u64; BITS / 64].into_boxed_slice();
        let mut table: Box<[u64; BITS / 64]> = zeros.try_into().expect("it was made that long");
        for entry in &entries {
            let bit = bit(entry.hash);
            table[bit / 64] |= 1 << (bit % 64);
        }
        let codes = codes.filter_map(|code| code.as_bytes().try_into().ok()).collect();
        Self { literals, codes, table, entries, drawers }
    }

    /// The first match in `text` from `from` on: the lines before that of the match have no match.
    pub fn next(&self, text: &[u8], from: usize) -> Option<Occurrence> {
        let mut at = from;
        while let Some(block) = text.get(at..).and_then(<[u8]>::first_chunk::<SPAN>) {
            let literal = self.find_literal(text, block, at, from);
            let code =
                if may_hold_code(block) { self.find_code(text, at, at + BLOCK) } else { None };
            if let Some(first) = earlier_of(literal, code) {
                return Some(first);
            }
            at += BLOCK;
        }
        let mut literal = None;
        for place in (at..text.len()).step_by(STRIDE) {
            self.find_literals_at(text, place, |found| {
                literal = literal.or(Some(found).filter(|found| found.start >= from));
            });
        }
        earlier_of(literal, self.find_code(text, at, text.len()))
    }

    /// Passes all matches in `text` to `take`, repeated ones each time.
    pub fn all(&self, text: &[u8], mut take: impl FnMut(Option<usize>)) {
        for place in (0..text.len()).step_by(STRIDE) {
            self.find_literals_at(text, place, |found| take(found.literal));
        }
        if self.find_code(text, 0, text.len()).is_some() {
            take(None);
        }
    }

    /// The first literal with a gram at an examined position of a block.
    fn find_literal(
        &self,
        text: &[u8],
        block: &[u8; SPAN],
        at: usize,
        from: usize,
    ) -> Option<Occurrence> {
        for place in (0..BLOCK).step_by(STRIDE) {
            let gram = [block[place], block[place + 1], block[place + 2], block[place + 3]];
            if self.is_yes(hash(u32::from_le_bytes(gram))) {
                let mut literal = None;
                self.find_literals_at(text, at + place, |found| {
                    literal = literal.or(Some(found).filter(|found| found.start >= from));
                });
                if literal.is_some() {
                    return literal;
                }
            }
        }
        None
    }

    /// The first code that begins at one of the positions from `start` to `end`.
    fn find_code(&self, text: &[u8], start: usize, end: usize) -> Option<Occurrence> {
        memchr::memchr2_iter(b'E', b'W', &text[start..end]).find_map(|at| {
            let start = start + at;
            let code = text[start..].first_chunk::<CODE>()?;
            let listed = code[2..].iter().all(u8::is_ascii_digit) && self.codes.contains(code);
            listed.then_some(Occurrence { literal: None, start, end: start + CODE })
        })
    }

    #[inline]
    fn is_yes(&self, hash: u32) -> bool {
        let bit = bit(hash);
        self.table[bit / 64] >> (bit % 64) & 1 != 0
    }

    /// The literals with a gram at `place`.
    fn find_literals_at(&self, text: &[u8], place: usize, mut take: impl FnMut(Occurrence)) {
        let Some(gram) = text.get(place..).and_then(<[u8]>::first_chunk::<GRAM>) else { return };
        let hash = hash(u32::from_le_bytes(*gram));
        if !self.is_yes(hash) {
            return;
        }
        let drawer = drawer_of(hash) as usize;
        let range = usize::from(self.drawers[drawer])..usize::from(self.drawers[drawer + 1]);
        for entry in self.entries[range].iter().filter(|entry| entry.hash == hash) {
            let index = usize::from(entry.literal);
            let literal = self.literals[index];
            let Some(start) = place.checked_sub(usize::from(entry.at)) else { continue };
            if text[start..].starts_with(literal) {
                take(Occurrence { literal: Some(index), start, end: start + literal.len() });
            }
        }
    }
}

/// Sorts entries into buckets, and returns the start of each bucket. Sorting by hash would take
/// much longer, and a bucket contains only one or two.
fn sort_entries(entries: &[Entry]) -> (Vec<Entry>, Vec<u16>) {
    let mut ends = vec![0_usize; (1 << DRAWERS) + 1];
    for entry in entries {
        ends[drawer_of(entry.hash) as usize + 1] += 1;
    }
    let mut begun = 0;
    for end in &mut ends {
        begun += *end;
        *end = begun;
    }
    let drawers = ends.iter().map(|end| u16::try_from(*end).unwrap_or(u16::MAX)).collect();
    let mut sorted = entries.to_vec();
    for entry in entries {
        let place = &mut ends[drawer_of(entry.hash) as usize];
        sorted[*place] = *entry;
        *place += 1;
    }
    (sorted, drawers)
}

/// The one that begins earlier.
fn earlier_of(one: Option<Occurrence>, other: Option<Occurrence>) -> Option<Occurrence> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.start < one.start { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// Whether a code may begin at one of the positions of a block.
fn may_hold_code(block: &[u8; SPAN]) -> bool {
    let mut any = 0;
    for at in 0..BLOCK {
        let letter = u8::from(block[at] == b'E') | u8::from(block[at] == b'W');
        let digit = |byte: u8| u8::from(byte.wrapping_sub(b'0') < 10);
        any |= letter & digit(block[at + 2]) & digit(block[at + 3]) & digit(block[at + 4]);
    }
    any != 0
}

fn word(bytes: &[u8]) -> u32 {
    bytes.first_chunk().map_or(0, |bytes| u32::from_le_bytes(*bytes))
}

/// Different words have different hashes: the factor is odd.
fn hash(word: u32) -> u32 {
    word.wrapping_mul(0x9e37_79b1)
}

fn bit(hash: u32) -> usize {
    (hash >> (u32::BITS - BITS.trailing_zeros())) as usize
}

fn drawer_of(hash: u32) -> u32 {
    hash >> (u32::BITS - DRAWERS)
}

/// The frequency of four bytes in healthy lines, shared with others of the same bucket.
struct GramFrequency(Box<[u16; COUNTS]>);

impl GramFrequency {
    fn new(healthy: &str) -> Self {
        let mut counts = Box::new([0_u16; COUNTS]);
        for gram in healthy.as_bytes().windows(GRAM) {
            let count = &mut counts[Self::drawer(gram)];
            *count = count.saturating_add(1);
        }
        Self(counts)
    }

    fn drawer(gram: &[u8]) -> usize {
        (hash(word(gram)) >> (u32::BITS - COUNTS.trailing_zeros())) as usize
    }

    /// The cost of looking up a gram: its frequency in healthy lines, plus an estimate from its
    /// letters.
    fn cost(&self, gram: &[u8]) -> u32 {
        let letters = gram.iter().map(|byte| match byte {
            b'e' | b'a' | b'i' | b'o' | b'r' | b't' | b'n' | b's' | b' ' | b'0' => 3,
            b'a'..=b'z' | b'1'..=b'9' | b'_' => 2,
            _ => 1,
        });
        u32::from(self.0[Self::drawer(gram)]) * 64 + letters.sum::<u32>()
    }
}

#[cfg(test)]
mod tests;
