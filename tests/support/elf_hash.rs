//! The hash tables by which a loader finds symbols, in both kinds.
#![allow(clippy::cast_possible_truncation, reason = "what tests write is small")]

pub fn gnu(name: &str) -> u32 {
    name.bytes().fold(5381, |hash: u32, byte| hash.wrapping_mul(33).wrapping_add(byte.into()))
}

pub fn sysv(name: &str) -> u32 {
    name.bytes().fold(0, |hash: u32, byte| {
        let hash = (hash << 4).wrapping_add(byte.into());
        let high = hash & 0xf000_0000;
        (hash ^ (high >> 24)) & !high
    })
}

/// `names` are sorted by bucket; the first of them has the symbol index `first`.
pub fn gnu_table(names: &[&str], first: u32, buckets: u32) -> Vec<u8> {
    const SHIFT: u32 = 6;
    let words = (names.len() / 8).max(1).next_power_of_two();
    let mut bloom = vec![0_u64; words];
    let mut heads = vec![0_u32; buckets as usize];
    let mut chain = Vec::new();
    for (at, name) in names.iter().enumerate() {
        let hash = gnu(name);
        bloom[(hash as usize / 64) % words] |= 1 << (hash % 64) | 1 << ((hash >> SHIFT) % 64);
        let bucket = hash % buckets;
        let head = &mut heads[bucket as usize];
        if *head == 0 {
            *head = first + at as u32;
        }
        let last = names.get(at + 1).is_none_or(|next| gnu(next) % buckets != bucket);
        chain.push(hash & !1 | u32::from(last));
    }
    let mut out = Vec::new();
    for word in [buckets, first, words as u32, SHIFT] {
        out.extend(word.to_le_bytes());
    }
    out.extend(bloom.iter().flat_map(|word| word.to_le_bytes()));
    out.extend(heads.iter().chain(&chain).flat_map(|word| word.to_le_bytes()));
    out
}

/// `names` are all symbols from index 1 on, including undefined ones, as in the output of real
/// linkers.
pub fn sysv_table(names: &[&str]) -> Vec<u8> {
    let buckets = (names.len() / 2).max(1);
    let mut heads = vec![0_u32; buckets];
    let mut chain = vec![0_u32; names.len() + 1];
    for (at, name) in names.iter().enumerate() {
        let index = at + 1;
        let head = &mut heads[sysv(name) as usize % buckets];
        chain[index] = *head;
        *head = index as u32;
    }
    let mut out = Vec::new();
    for word in [buckets as u32, chain.len() as u32] {
        out.extend(word.to_le_bytes());
    }
    out.extend(heads.iter().chain(&chain).flat_map(|word| word.to_le_bytes()));
    out
}
