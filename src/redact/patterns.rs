//! What secrets look like.

use std::sync::LazyLock;

use memchr::memmem;
use regex::bytes::{Captures, Regex};

/// A form of secrets: the first group that took part is the secret, or the whole match.
pub(super) struct Pattern {
    regex: Regex,
    /// Whether what was matched may be something harmless, such as a number.
    by_name: bool,
}

/// The end of a name that speaks of a secret. `tokens` and `tokenizer` are none.
const NAMES: &str = "token|secret|passw(?:or)?d|passphrase|pwd|api[_-]?key|access[_-]?key(?:[_-]?id)?|\
    secret[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|credentials?|cookie|authorization";

fn compile(expressions: &[(&str, bool)]) -> Vec<Pattern> {
    let compile = |text: &str| Regex::new(text).expect("the expressions are proved by a test");
    expressions
        .iter()
        .map(|(text, by_name)| Pattern {
            regex: compile(&format!("(?-u){}", text.replace("NAMES", NAMES))),
            by_name: *by_name,
        })
        .collect()
}

/// Tokens, keys and passwords.
pub(super) static SECRETS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    compile(&[
        // Private keys, whole, without their end, and without their begin (the tail of a log).
        (
            r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY|\z)",
            false,
        ),
        (
            r"\A(?s:.{0,80}?)((?:[A-Za-z0-9+/=]{16,80}\r?\n)+)-----END [A-Z0-9 ]{0,40}PRIVATE KEY",
            false,
        ),
        // The user info of a URL, and what gives access in its query.
        (r#"://([^\s"'/?#]{1,400})@"#, false),
        (
            r#"(?i)[?&;#][\w.-]{0,60}(?:token|key|secret|pass|pwd|cred|auth|sig|session|cookie)[\w.-]{0,60}=([^&;#\s"'<>]+)"#,
            false,
        ),
        // Forms of known services.
        (
            r"\b(?:AKIA|ASIA|ABIA|ACCA)[A-Z0-9]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,255}|\bgithub_pat_[A-Za-z0-9_]{20,255}|\bglpat-[A-Za-z0-9_-]{16,}|\bhf_[A-Za-z0-9]{20,}|\bsk-[A-Za-z0-9_-]{20,}|\bxox[abeprs]-[A-Za-z0-9-]{10,}|\bAIza[A-Za-z0-9_-]{35}|\bnpm_[A-Za-z0-9]{30,}|\bpypi-[A-Za-z0-9_-]{16,}|\bdckr_pat_[A-Za-z0-9_-]{16,}|\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?",
            false,
        ),
        (r"(?i)\bbearer\s+([A-Za-z0-9+/=._~-]{8,})", false),
        (r"(?i)\blogin\s+\S+\s+password\s+(\S+)", false),
        // Values whose names say what they are.
        (
            r#"(?i)(?:NAMES)\\?["']?\s{0,4}(?:=>|[:=])\s{0,4}(?:bearer\s+|basic\s+|token\s+)?(?:\\?"([^"\\\n]{1,4000})|\\?'([^'\\\n]{1,4000})|([^\s"',;&<>]{4,4000}))"#,
            true,
        ),
        (r#"(?i)--?[\w-]{0,60}(?:NAMES)[ =]+["']?([^\s"']{4,4000})"#, true),
    ])
});

/// Addresses, and names with a place.
pub(super) static HOSTS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    compile(&[
        // Four numbers, but no part of a longer version.
        (r"(?:^|[^\d.])((?:\d{1,3}\.){3}\d{1,3})(?:[^\d.]|\.\D|\.?$)", false),
        (r"\b(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{1,4}\b", false),
        // Not `c10::add`: only what begins as addresses of networks do.
        (
            r"(?i)\b(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9a-f]{1,4}){0,6}::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4}\b",
            false,
        ),
        (r"\b[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63})+", false),
        (r"/home/([^/\s:\x22'\x00]{1,64})", false),
    ])
});

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(&format!("(?i-u)(?:{NAMES})$")).expect("the expressions are proved by a test")
});

/// Whether a name speaks of a secret: `HF_TOKEN`, `password`.
pub(super) fn names_a_secret(name: &str) -> bool {
    NAME.is_match(name.as_bytes())
}

/// Where secrets of these forms are, as ranges of bytes.
pub(super) fn find(patterns: &[Pattern], text: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for pattern in patterns {
        let mut at = 0;
        while at <= text.len()
            && let Some(found) = pattern.regex.captures_at(text, at)
        {
            let (start, end) = secret(&found);
            let harmless =
                is_harmless(&text[start..end]) || is_scheme(&text[start..end], &text[end..]);
            if !(pattern.by_name && harmless) {
                spans.push((start, end));
            }
            // What ends one match may begin the next.
            at = end.max(found.get(0).map_or(end, |whole| whole.start() + 1));
        }
    }
    spans
}

fn secret(found: &Captures<'_>) -> (usize, usize) {
    let group = found.iter().skip(1).flatten().next().or(found.get(0));
    group.map_or((0, 0), |group| (group.start(), group.end()))
}

/// What stands behind such a name and is none: numbers, words of a language, what was taken out
/// before.
fn is_harmless(value: &[u8]) -> bool {
    let word = value.trim_ascii().trim_ascii_end();
    let number = word.iter().all(|b| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e'));
    let known: [&[u8]; 8] =
        [b"none", b"null", b"true", b"false", b"unset", b"required", b"optional", b"str"];
    number
        || word.iter().all(|&b| b == b'*')
        || known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Whether a value only says how what stands behind it is meant, and that was taken out before:
/// `Authorization: Bearer ***`.
fn is_scheme(value: &[u8], after: &[u8]) -> bool {
    let schemes: [&[u8]; 3] = [b"bearer", b"basic", b"token"];
    schemes.iter().any(|scheme| value.eq_ignore_ascii_case(scheme))
        && after.trim_ascii_start().starts_with(b"***")
}

/// Where a name stands as a word.
pub(super) fn words(text: &[u8], name: &[u8]) -> Vec<(usize, usize)> {
    let part = |b: Option<&u8>| b.is_some_and(|b| b.is_ascii_alphanumeric() || *b == b'_');
    memmem::find_iter(text, name)
        .map(|at| (at, at + name.len()))
        .filter(|&(start, end)| {
            !part(start.checked_sub(1).and_then(|before| text.get(before))) && !part(text.get(end))
        })
        .collect()
}
