//! Values that look made by chance, shortly behind a word that speaks of a key.

use std::sync::LazyLock;

use regex::bytes::Regex;

/// How far behind the word the value may begin, in bytes.
const REACH: usize = 48;
/// The shortest value, and the longest one, in bytes.
const LEAST: usize = 20;
const MOST: usize = 4096;

static WORD: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i-u)(?:^|[^a-z])(?:api[_-]?key|key|token|secret|credentials?|passphrase|signature)(?:[^a-z0-9\n]|$)|密钥|私钥|令牌|凭证|凭据|授权码|访问码|密码|口令",
    )
    .expect("the expression is proved by a test")
});

/// Where they are.
pub(super) fn find(text: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    let mut at = 0;
    while let Some(word) = WORD.find_at(text, at) {
        at = word.end().max(at + 1);
        let end = text.len().min(word.end() + REACH);
        // One line only.
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

/// Whether a run is a part of a longer name: a path, a module, a symbol, a call.
fn is_name(text: &[u8], from: usize, run: usize) -> bool {
    let before = from.checked_sub(1).map(|at| text[at]);
    let after = text.get(from + run).copied();
    matches!(before, Some(b'.' | b'\\' | b'@' | b'*'))
        || matches!(after, Some(b'.' | b'(' | b':' | b'<'))
}

/// Whether a value was made by chance rather than by a person: many changes between letters, digits
/// and capitals, and no separators.
fn is_opaque(value: &[u8]) -> bool {
    let count = |is: fn(&u8) -> bool| value.iter().filter(|byte| is(byte)).count();
    let (digits, small, capitals) =
        (count(u8::is_ascii_digit), count(u8::is_ascii_lowercase), count(u8::is_ascii_uppercase));
    let letters = small + capitals;
    if digits < 3 || letters < 4 {
        return false;
    }
    let separators = value.len() - digits - letters;
    if is_uuid(value) {
        return true;
    }
    // Names are made of words: few changes of kind.
    let kind = |byte: &u8| match byte {
        b'0'..=b'9' => 0,
        b'a'..=b'z' => 1,
        b'A'..=b'Z' => 2,
        _ => 3,
    };
    let changes = value.windows(2).filter(|pair| kind(&pair[0]) != kind(&pair[1])).count();
    let words = value.split(|byte| !byte.is_ascii_lowercase()).map(<[u8]>::len);
    let in_words: usize = words.filter(|length| *length >= 3).sum();
    separators * 12 <= value.len() && changes * 4 >= value.len() && in_words * 5 < value.len() * 2
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
}
