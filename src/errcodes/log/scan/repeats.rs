//! Lines that a log repeats with other times: the hits of the first one are counted, not searched
//! again.

use foldhash::{HashMap, HashMapExt as _};

/// The maximum number of different lines remembered per log.
const MEMORY: usize = 1 << 15;

/// The hits of a line.
#[derive(Debug, Clone, Default)]
pub(super) struct Held {
    /// The keys of the kept hits.
    pub kept: Vec<u64>,
    /// The number of hits that were not kept.
    pub dropped: u64,
    /// The operator computed on the CPU.
    pub fallback: Option<String>,
    /// A hash of the frame above it, if that influenced the result.
    pub frame: Option<u64>,
}

/// Lines by a hash of everything but their time.
#[derive(Debug)]
pub(super) struct Repeats {
    lines: HashMap<u64, Held>,
}

impl Default for Repeats {
    fn default() -> Self {
        Self { lines: HashMap::new() }
    }
}

impl Repeats {
    pub(super) fn get(&self, key: u64) -> Option<&Held> {
        self.lines.get(&key)
    }

    /// Remembers a line while there is room.
    pub(super) fn remember(&mut self, key: u64, held: Held) {
        if self.lines.len() < MEMORY {
            self.lines.insert(key, held);
        }
    }
}

/// The parts of a line around its first time of day: before the date and after the fraction.
pub(super) fn without_time(line: &[u8]) -> (&[u8], &[u8]) {
    let mut from = 0;
    while let Some(at) = memchr::memchr(b':', &line[from..]) {
        let colon = from + at;
        if is_clock(line, colon) {
            let is_part = |byte: &u8| byte.is_ascii_digit() || b"-:./, T".contains(byte);
            let before =
                line[..colon].iter().rev().take(24).take_while(|byte| is_part(byte)).count();
            let after = line[colon..].iter().take(24).take_while(|byte| is_part(byte)).count();
            return (&line[..colon - before], &line[colon + after..]);
        }
        from = colon + 1;
    }
    (line, &[])
}

/// Whether the colon is the first one of `09:25:45`.
fn is_clock(line: &[u8], colon: usize) -> bool {
    let digits = |from: usize| {
        line.get(from..from + 2).is_some_and(|two| two.iter().all(u8::is_ascii_digit))
    };
    colon >= 2
        && digits(colon - 2)
        && digits(colon + 1)
        && line.get(colon + 3) == Some(&b':')
        && digits(colon + 4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_told_apart_by_all_but_their_time() {
        let parts = |line: &'static str| {
            let (before, after) = without_time(line.as_bytes());
            (std::str::from_utf8(before).unwrap(), std::str::from_utf8(after).unwrap())
        };
        assert_eq!(
            parts("[ERROR] HCCL(1,p):2026-03-18-10:33:52.113.403 [a.cc:7] x"),
            ("[ERROR] HCCL(1,p)", "[a.cc:7] x")
        );
        assert_eq!(parts("2026-06-10 10:11:12,105 - ERROR - x"), ("", "ERROR - x"));
        assert_eq!(parts("a 1:2:3 b"), ("a 1:2:3 b", ""));
    }
}
