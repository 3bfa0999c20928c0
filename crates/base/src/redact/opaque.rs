//! Values that look random and follow a word for a key at a short distance.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// Maximum distance between the word and the value, in bytes.
const REACH: usize = 48;
/// Minimum and maximum length of a value, in bytes.
const LEAST: usize = 20;
const MOST: usize = 4096;

static WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)(?:^|[^a-z])(?:api[_-]?key|key|token|secret|credentials?|passphrase|signature)(?:[^a-z0-9\n]|$)|密钥|私钥|令牌|凭证|凭据|授权码|访问码|密码|口令",
    )
    .expect("the expression is proved by a test")
});

/// Returns the byte ranges of the values.
pub(super) fn find(text: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(word) = WORD.find_at(text, at) {
        at = word.end().max(at + 1);
        let end = text.len().min(word.end() + REACH);
        // Search one line only.
        let line = memchr_newline(&text[word.end()..end]).map_or(end, |to| word.end() + to);
        let mut from = word.end();
        while from < line {
            let run = text[from..].iter().take(MOST).take_while(|byte| is_part(**byte)).count();
            if run >= LEAST && is_opaque(&text[from..from + run]) && !is_name(text, from, run) {
                spans.push((from, from + run));
            }
            from += run + 1;
        }
        if at > text.len() {
            break;
        }
    }
    spans
}

fn memchr_newline(text: &[u8]) -> Option<usize> {
    text.iter().position(|&byte| byte == b'\n')
}

const fn is_part(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'+' | b'/' | b'_' | b'-' | b'=')
}

/// Returns whether a run is part of a longer name: a path, a module, a symbol, a call.
fn is_name(text: &[u8], from: usize, run: usize) -> bool {
    let before = from.checked_sub(1).map(|at| text[at]);
    let after = text.get(from + run).copied();
    matches!(before, Some(b'.' | b'\\' | b'@' | b'*'))
        || matches!(after, Some(b'.' | b'(' | b':' | b'<'))
}

/// Frequent pairs of letters in words: the most frequent ones of English text and of names in
/// programs. They make up a tenth of the pairs of a random value and half of those of a name.
const PAIRS: &[u8] =
    b"thheineranreonatenndtiesorteofedisitalarsttontngsehaasouiolevecomedehiriroicneea\
    racelichllbemasiomurellatapetrutodadssnsrsustsemoligctetecotidncilloacnounsoprpa\
    amimgedokescflopapulcafo";

/// Returns whether a value looks random: letters and digits without separators, and few of the
/// pairs of letters that words have. No word has twenty hexadecimal digits.
///
/// Of random values of 32 and 40 letters and digits, 4 % and 2 % are taken for names; of
/// hexadecimal ones none in 10,000.
fn is_opaque(value: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let (digits, letters) = (count(u8::is_ascii_digit), count(u8::is_ascii_alphabetic));
    if is_uuid(value) {
        return true;
    }
    if is_hexadecimal(value) {
        return digits >= 1 && letters >= 2;
    }
    let separators = value.len() - digits - letters;
    if digits < 2 || letters < 4 || separators * 12 > value.len() {
        return false;
    }
    // `aB` is a word boundary inside a name.
    let pairs = value.windows(2).filter(|pair| {
        pair.iter().all(u8::is_ascii_alphabetic)
            && !(pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase())
    });
    let (mut all, mut of_words) = (0, 0);
    for pair in pairs {
        all += 1;
        let known = |known: &[u8]| known.eq_ignore_ascii_case(pair);
        of_words += usize::from(PAIRS.chunks_exact(2).any(known));
    }
    all < 3 || of_words * 25 < all * 9
}

/// Returns whether all digits are hexadecimal, in lowercase or uppercase but not mixed.
fn is_hexadecimal(value: &[u8]) -> bool {
    let small = |byte: &u8| matches!(byte, b'0'..=b'9' | b'a'..=b'f');
    let capital = |byte: &u8| matches!(byte, b'0'..=b'9' | b'A'..=b'F');
    value.iter().all(small) || value.iter().all(capital)
}

fn is_uuid(value: &[u8]) -> bool {
    value.len() == 36
        && value.iter().enumerate().all(|(at, byte)| match at {
            8 | 13 | 18 | 23 => *byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_made_by_chance_are_found_and_names_are_not() {
        for (text, found) in [
            ("key 5c0c8e53dcb4601f281f58e02679fbfe4fc571ac ok", true),
            ("token: QP60hwppx2pSCrGt323VtsrzSBVMuetXXvROFHlu", true),
            ("密钥 dcb8e893-c1a2-1dd9-64da-a60ee715b362", true),
            ("value 5c0c8e53dcb4601f281f58e02679fbfe4fc571ac", false),
            ("key model/layers/0/self_attn/q_proj/weight123", false),
            ("key te_matmulv2_static_bin_for_ascend910b", false),
            ("monkey 5c0c8e53dcb4601f281f58e02679fbfe4fc571ac", false),
            ("key\n5c0c8e53dcb4601f281f58e02679fbfe4fc571ac", false),
            ("token DeepseekV2ForCausalLMWithHeads16B", false),
            ("key 12345678901234567890123456", false),
        ] {
            assert_eq!(!find(text.as_bytes()).is_empty(), found, "{text}");
        }
        assert!(find(b"key").is_empty() && find(b"").is_empty());
    }

    /// Values of a generator with a fixed seed. Some were taken for names when runs of lowercase
    /// letters counted as words (`bdacac` in a hexadecimal key).
    #[test]
    fn few_values_made_by_chance_are_taken_for_names() {
        let mut state: u64 = 0x9e37_79b9_7f4a_7c15;
        let mut chance = |below: usize| {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(state >> 33).expect("31 bits") % below
        };
        let all = b"0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ";
        // Kinds of characters, the length, and the maximum number of misses in 2,000.
        for (kinds, length, most) in
            [(16, 32, 1), (16, 40, 0), (16, 64, 0), (36, 40, 60), (62, 40, 60), (62, 64, 12)]
        {
            let missed = (0..2000)
                .filter(|_| {
                    let value: Vec<u8> = (0..length).map(|_| all[chance(kinds)]).collect();
                    !is_opaque(&value)
                })
                .count();
            assert!(missed <= most, "{missed} of {kinds} kinds and length {length}");
        }
    }
}
