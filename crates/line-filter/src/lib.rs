//! Which lines are worth a look: those that hold one of many literals.
//!
//! Must not touch: files, tables. The caller passes literals and bytes.
//!
//! Nearly all of a log is healthy, so that the rate of a scan is the rate at which nothing is found.
//! An automaton over all literals takes its steps one after the other. The filter takes every third
//! place only and asks one table of bits whether the four bytes there are part of a literal; no
//! answer waits for the one before. Of each literal six bytes are enough for that, since one of
//! three places in a row is always asked. Which six is free: those that healthy logs show least.
//! Where the table says yes, the literals with these four bytes are compared.
//!
//! Codes such as `EI0006` are too many and too much alike for that. They have a shape, which is
//! asked for sixteen places at once (the compiler makes vectors of it), and then a list.

//!
//! A crate of its own, so that tests do not search with unoptimised code.

use std::collections::BTreeSet;

/// Bytes that are asked for at a place.
const GRAM: usize = 4;
/// How far the places are apart.
const STRIDE: usize = 3;
/// The bytes of a literal that stand for it: wherever it lies, a place has its gram within them.
const WINDOW: usize = GRAM + STRIDE - 1;
/// Bits of the table; a power of two. Twice as many as would do: every place that is wrongly asked
/// for costs more than the cache does.
const BITS: usize = 1 << 18;
/// Bits of a hash that name a drawer of entries.
const DRAWERS: u32 = 12;
/// The length of a code.
const CODE: usize = 6;
/// Bytes that are looked at together; a multiple of the stride.
const BLOCK: usize = 192;
/// A block, and what a code that begins within it has beyond it.
const SPAN: usize = BLOCK + CODE;

/// Drawers of [`GramFrequency`]; a power of two.
const COUNTS: usize = 1 << 14;

/// Finds literals and codes.
#[derive(Debug)]
pub struct LineFilter {
    literals: Vec<&'static [u8]>,
    codes: BTreeSet<[u8; CODE]>,
    table: Box<[u64; BITS / 64]>,
    /// What may be where the table says yes, by the first bits of its hash.
    entries: Vec<Entry>,
    /// Where the entries begin whose hash has these first bits.
    drawers: Vec<u16>,
}

/// A gram of a literal.
#[derive(Debug, Clone, Copy)]
struct Entry {
    hash: u32,
    literal: u16,
    /// Where in the literal.
    at: u16,
}

/// What was found.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Occurrence {
    /// Which literal, by its place in the list; none for a code.
    pub literal: Option<usize>,
    /// Where it begins.
    pub start: usize,
    /// Where it ends.
    pub end: usize,
}

impl LineFilter {
    /// For literals of at least six bytes without line feeds, and codes of six; `healthy` are lines
    /// of the texts that will be searched in which nothing is to be found.
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

    /// What is found first in `text`, not before `from`: nothing else is found on lines before its
    /// own.
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

    /// Everything in `text`; a literal that occurs twice comes twice.
    pub fn all(&self, text: &[u8], mut take: impl FnMut(Option<usize>)) {
        for place in (0..text.len()).step_by(STRIDE) {
            self.find_literals_at(text, place, |found| take(found.literal));
        }
        if self.find_code(text, 0, text.len()).is_some() {
            take(None);
        }
    }

    /// The literal that is found first at the places of a block.
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

    /// The first code that begins at one of the places from `start` to `end`.
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

    /// The literals of which a gram stands at `place`.
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

/// Entries by drawer, and where each drawer begins. To put them by hash would take much longer, and
/// a drawer holds one or two.
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

/// Which begins earlier.
fn earlier_of(one: Option<Occurrence>, other: Option<Occurrence>) -> Option<Occurrence> {
    match (one, other) {
        (Some(one), Some(other)) => Some(if other.start < one.start { other } else { one }),
        (one, other) => one.or(other),
    }
}

/// Whether a code may begin at one of the places of a block.
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

/// How often healthy lines show four bytes, or others of the same drawer.
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

    /// How much is lost by asking for a gram: what healthy lines show it, and what its letters let
    /// expect where they do not.
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
