//! Error register values of an AI Core: `errcode:(0x800000, 0x4000, 0)`.
//!
//! Three words of 64 bits, in which each bit represents one fault; several can be set.
//! The third has bits 0 to 16 and 32 and above (`ProcessStarsCoreErrorMapInfo` of the runtime).

use data::causes;
use data::ui;
use std::collections::HashSet;
use std::sync::LazyLock;

use super::decoding::{Decoding, Part};
use crate::table::find_row;
use crate::{Link, Row, cause, cause_of, family, rows};
use base::text::Text;

/// The three register values.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Registers(pub [u64; 3]);

/// A bit that is set.
#[derive(Debug, Clone)]
pub struct Bit {
    /// The index of the word, from 0.
    pub word: usize,
    /// The index of the bit in the word, from 0.
    pub bit: u32,
    /// The fault that the bit represents, if known.
    pub row: Option<Row>,
    /// The cause that it points to.
    pub link: Option<Link>,
}

/// Parses the register values of a text: in brackets, with or without `errcode:` before them, or a
/// single value after `errcode`.
pub fn parse_registers(text: &str) -> Option<Registers> {
    let text = text.trim();
    let text = text.strip_prefix("errcode").map_or(text, str::trim_start);
    let text = text.trim_start_matches([':', '=']).trim();
    let inner = text.strip_prefix('(')?;
    let inner = inner.split_once(')').map_or(inner, |(inner, _)| inner);
    let words: Vec<u64> =
        inner.split(',').map(|word| parse_word(word.trim())).collect::<Option<_>>()?;
    words.try_into().ok().map(Registers)
}

fn parse_word(word: &str) -> Option<u64> {
    let digits = word.strip_prefix("0x").or_else(|| word.strip_prefix("0X"));
    let (digits, radix) = digits.map_or((word, 10), |digits| (digits, 16));
    if !digits.chars().all(|c| c.is_digit(radix)) {
        return None;
    }
    u64::from_str_radix(digits, radix).ok()
}

/// The cause of each bit of each word, precomputed because logs contain many register values.
static LINKS: LazyLock<Vec<Option<Link>>> = LazyLock::new(|| {
    let known: HashSet<&str> = family("aicore_bit")
        .map(|family| rows(family).iter().map(|row| row.code.as_str()).collect())
        .unwrap_or_default();
    let codes = (0..3).flat_map(|word| (0..u64::BITS).map(move |bit| format!("w{word}.{bit}")));
    codes
        .map(|code| known.contains(code.as_str()).then(|| cause_of("aicore_bit", &code)).flatten())
        .collect()
});

fn find_link(word: usize, bit: u32) -> Option<Link> {
    *LINKS.get(word * 64 + bit as usize)?
}

/// The causes by the text of each bit, the most certain first.
static BY_WORDS: LazyLock<Vec<(&str, Link)>> = LazyLock::new(|| {
    let rows = family("aicore_bit").map(rows).unwrap_or_default();
    let mut known: Vec<(&str, Link)> = rows
        .iter()
        .map(|row| (row.message.trim().trim_end_matches('.'), row))
        .filter(|(words, _)| words.len() >= 12)
        .filter_map(|(words, row)| Some((words, cause_of("aicore_bit", &row.code)?)))
        .collect();
    known.sort_by_key(|(words, link)| std::cmp::Reverse((link.weight, words.len())));
    known
});

impl Registers {
    /// The cause for the texts that the runtime prints for bits.
    pub(crate) fn find_link_of_words(text: &str) -> Option<Link> {
        BY_WORDS.iter().find(|(words, _)| text.contains(words)).map(|(_, link)| *link)
    }

    /// The bits that are set.
    pub fn bits(self) -> Vec<Bit> {
        let mut bits = Vec::new();
        for (word, value) in self.0.into_iter().enumerate() {
            for bit in (0..u64::BITS).filter(|bit| value >> bit & 1 == 1) {
                let code = format!("w{word}.{bit}");
                bits.push(Bit {
                    word,
                    bit,
                    row: find_row("aicore_bit", &code),
                    link: find_link(word, bit),
                });
            }
        }
        bits
    }

    /// The causes that the bits point to, the most certain first, each once. A timeout or a trap
    /// sets no bit.
    pub fn links(self) -> Vec<Link> {
        if self.0 == [0; 3] {
            let cause = cause(causes::aicore::TIMEOUT_OR_TRAP);
            return cause.map(|cause| Link { cause, weight: 20 }).into_iter().collect();
        }
        let set = (0..3).flat_map(|word| (0..u64::BITS).map(move |bit| (word, bit)));
        let set = set.filter(|(word, bit)| self.0[*word] >> bit & 1 == 1);
        let mut links: Vec<Link> = set.filter_map(|(word, bit)| find_link(word, bit)).collect();
        // The sort is stable: among equals, the lower bit comes first.
        links.sort_by_key(|link| std::cmp::Reverse(link.weight));
        let mut seen = Vec::new();
        links.retain(|link| {
            let new = !seen.contains(&&link.cause.id);
            seen.push(&link.cause.id);
            new
        });
        links
    }

    pub(super) fn decoding(self) -> Decoding {
        let mut parts: Vec<Part> = self
            .bits()
            .into_iter()
            .map(|bit| {
                let value = format!("w{}.{}", bit.word, bit.bit);
                let meaning = bit.row.map(|row| {
                    let zh = if row.zh.is_empty() { &row.message } else { &row.zh };
                    Text::new(
                        format!("{}: {}", row.symbol, row.message),
                        format!("{}: {zh}", row.symbol),
                    )
                });
                Part::new(ui::PART_BIT, value, meaning)
            })
            .collect();
        if parts.is_empty() {
            parts.push(Part::part_with_label(ui::PART_BIT, "0", Some(ui::PART_NO_BIT)));
        }
        Decoding { scheme: ui::SCHEME_REGISTERS, parts, links: self.links() }
    }
}
