//! Forms of secrets.

use std::sync::LazyLock;

use regex::bytes::{Captures, Regex};

use super::context;

/// A form of secrets. The secret is the first group that matched, or the whole match.
pub(super) struct Pattern {
    regex: Regex,
    care: Care,
}

/// Harmless values that a form may match.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Care {
    /// None: every match is a secret.
    Sure,
    /// Numbers and words of a language.
    Value,
    /// Words of a language. A password may be a number.
    Password,
    /// All words: only a blank separates the value from the name.
    Mixed,
    /// Another option, of programs that log in.
    Login,
}

/// The last part of a name of a secret. `tokens` and `tokenizer` are not such names.
const NAMES: &str = "token|secret|passw(?:or)?ds?|passphrase|pwd|api[_-]?key|access[_-]?key(?:[_-]?id)?|\
    secret[_-]?key|private[_-]?key|account[_-]?key|auth[_-]?key|encryption[_-]?key|signing[_-]?key|\
    session[_-]?key|master[_-]?key|hmac[_-]?key|client[_-]?key[_-]?data|dockerconfigjson|dockercfg|\
    credentials?|cookie|authorization";
/// The same in Chinese. The text after them may be prose, so they have separate forms.
const CHINESE: &str = "密码|口令|密钥|私钥|令牌|凭证|凭据|授权码|访问码";
/// Names whose values may be numbers.
const PASSWORDS: &str = "passw(?:or)?d|passphrase";

fn compile(expressions: &[(&str, Care)]) -> Vec<Pattern> {
    compile_all(expressions.iter().copied())
}

fn compile_all<'a>(expressions: impl Iterator<Item = (&'a str, Care)>) -> Vec<Pattern> {
    let compile = |text: &str| Regex::new(text).expect("the expressions are proved by a test");
    expressions
        .map(|(text, care)| Pattern {
            regex: compile(&format!(
                "(?-u){}",
                context::expand(text).replace("NAMES", NAMES).replace("PASSWORDS", PASSWORDS)
            )),
            care,
        })
        .collect()
}

/// Tokens, keys and passwords.
pub(super) static SECRETS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    let mut all = compile(&[
        // Private keys: complete, without their end, and without their beginning (the tail of a
        // log).
        (
            r"(?s)-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----(.*?)(?:-----END [A-Z0-9 ]{0,40}PRIVATE KEY|\z)",
            Care::Sure,
        ),
        (
            r"\A(?s:.{0,80}?)((?:[A-Za-z0-9+/=]{16,80}\r?\n)+)-----END [A-Z0-9 ]{0,40}PRIVATE KEY",
            Care::Sure,
        ),
        // The user info of a URL, and credentials in its query.
        (r#"://([^\s"'/?#]{1,400})@"#, Care::Sure),
        (
            r#"(?i)[?&;#][\w.-]{0,60}(?:token|key|secret|pass|pwd|cred|auth|sig|session|cookie)[\w.-]{0,60}=([^&;#\s"'<>]+)"#,
            Care::Sure,
        ),
        // The table of `tokens` has the tokens of services. This token has several parts.
        (r"\beyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}(?:\.[A-Za-z0-9_-]*)?", Care::Sure),
        (r"(?i)\bbearer\s+([A-Za-z0-9+/=._~-]{8,})", Care::Sure),
        (r"(?i)\blogin\s+\S+\s+password\s+(\S+)", Care::Sure),
        // Values with a name for a secret.
        (
            r#"(?i)(?:NAMES)\\?["']?\s{0,4}(?:=>|[:=])\s{0,4}(?:bearer\s+|basic\s+|token\s+)?(?:\\?"([^"\\\n]{1,4000})|\\?'([^'\\\n]{1,4000})|([^\s"',;&<>]{4,4000}))"#,
            Care::Value,
        ),
        (r#"(?i)--?[\w-]{0,60}(?:NAMES)[ =]+["']?([^\s"']{4,4000})"#, Care::Value),
        (
            r#"(?i)(?:PASSWORDS)\\?["']?\s{0,4}(?:=>|[:=])\s{0,4}(?:\\?"([^"\\\n]{1,4000})|\\?'([^'\\\n]{1,4000})|([^\s"',;&<>]{4,4000}))"#,
            Care::Password,
        ),
        // In Chinese: also with full-width signs, and short, since prose is not in ASCII.
        (
            r#"(?:密码|口令)["']?\s{0,4}(?:(?:是|为)?\s{0,4}(?:=>|[:=]|：|＝)|是|为)\s{0,4}["']?([^\s"',;&<>\x80-\xff]{1,4000})"#,
            Care::Password,
        ),
        (
            r#"(?:密钥|私钥|令牌|凭证|凭据|授权码|访问码)["']?\s{0,4}(?:(?:是|为)?\s{0,4}(?:=>|[:=]|：|＝)|是|为)\s{0,4}["']?([^\s"',;&<>\x80-\xff]{1,4000})"#,
            Care::Value,
        ),
        (
            r#"(?m)(?:^|[\s(,;])(?i:passwd|密码|口令)[ \t]{1,4}([^\s"',;&<>\x80-\xff/-][^\s"',;&<>\x80-\xff]{3,400})"#,
            Care::Mixed,
        ),
        // Arguments of programs.
        (
            r"\bwandb\s{1,4}login\s{1,4}(?:--?[\w-]{1,40}(?:[= ]\S{1,200})?\s{1,4}){0,4}([A-Za-z0-9_-]{20,400})",
            Care::Sure,
        ),
        (
            r#"\bsshpass\s{1,4}-p\s{0,4}(?:'([^'\n]{1,200})'|"([^"\n]{1,200})"|([^\s'"]{1,200}))"#,
            Care::Sure,
        ),
    ]);
    all.extend(compile(context::FORMS));
    all
});

/// Addresses, and names with a place.
pub(super) static HOSTS: LazyLock<Vec<Pattern>> = LazyLock::new(|| {
    compile(&[
        // Four numbers that are not part of a longer version.
        (r"(?:^|[^\d.])((?:\d{1,3}\.){3}\d{1,3})(?:[^\d.]|\.\D|\.?$)", Care::Sure),
        (r"\b(?:[0-9A-Fa-f]{1,4}:){3,7}[0-9A-Fa-f]{1,4}\b", Care::Sure),
        // Not `c10::add`: only the first parts that network addresses have.
        (
            r"(?i)\b(?:fe80|f[cd][0-9a-f]{2}|2[0-9a-f]{3})(?::[0-9a-f]{1,4}){0,6}::(?:[0-9a-f]{1,4}:){0,6}[0-9a-f]{1,4}\b",
            Care::Sure,
        ),
        // Not the versions of symbols: `memcpy@GLIBC_2.14`.
        (
            r"\b[\w.+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})*\.[A-Za-z]{2,24}\b",
            Care::Sure,
        ),
        (r"/home/([^/\s:\x22'\x00]{1,64})", Care::Sure),
        // Values marked as host names, and values of the form of a host name where one is possible.
        (
            r#"(?i)(?:^|[^\w-])(?:host_?name|node_?name|server_?name|pod_?name|master_addr(?:ess)?)["']?\s{0,8}[:=]\s{0,4}["']?([A-Za-z0-9][\w.-]{1,252})"#,
            Care::Value,
        ),
        (
            r#"(?i)(?:^|[^\w-])host["']?\s{0,8}[:=]\s{0,4}["']?([A-Za-z][\w.]{0,200}[0-9-][\w.-]{0,200})"#,
            Care::Value,
        ),
        // Prompts, and arguments of `scp`.
        (r"(?:^|[^\w.-])([A-Za-z_][\w.-]{0,31}@[a-z0-9][a-z0-9-]{0,62}):[~/]", Care::Sure),
        (r"\[([A-Za-z_][\w.-]{0,31}@[A-Za-z0-9-]{1,63}) [^\]\n]{0,200}\][#$]", Care::Sure),
        // syslog.
        (
            r"(?m)^[A-Z][a-z]{2} [ \d]\d \d\d:\d\d:\d\d ([A-Za-z0-9][\w.-]{0,252}) [\w./-]{1,100}(?:\[\d+\])?:",
            Care::Sure,
        ),
    ])
});

static NAME: LazyLock<Regex> = LazyLock::new(|| {
    let short = r"(?:^|[_.-])(?:pass|auth|ak|sk|secrets|api_?keys)|[a-z]Pass|[A-Z]PASS";
    Regex::new(&format!("(?-u)(?:(?i:{NAMES}|{CHINESE}|{short}))$"))
        .expect("the expressions are proved by a test")
});

/// Returns whether a name is one for a secret: `HF_TOKEN`, `password`.
pub(super) fn names_a_secret(name: &str) -> bool {
    NAME.is_match(name.as_bytes())
}

/// Returns the byte ranges of secrets of these forms.
pub(super) fn find(patterns: &[Pattern], text: &[u8]) -> Vec<(usize, usize)> {
    let mut spans = Vec::new();
    for pattern in patterns {
        let mut at = 0;
        while at <= text.len()
            && let Some(found) = pattern.regex.captures_at(text, at)
        {
            // A form may have several secrets; the rest is found in the next pass.
            let (start, end) = secret(&found);
            let value = &text[start..end];
            let word = || is_word(value) || is_scheme(value, &text[end..]);
            let harmless = match pattern.care {
                Care::Sure => false,
                Care::Value => is_number(value) || word(),
                Care::Password => word(),
                Care::Mixed => !is_mixed(value),
                Care::Login => value.starts_with(b"-") || word(),
            };
            if !harmless {
                spans.push((start, end));
            }
            // The end of one match may be the start of the next.
            at = end.max(found.get(0).map_or(end, |whole| whole.start() + 1));
        }
    }
    spans
}

fn secret(found: &Captures<'_>) -> (usize, usize) {
    let group = found.iter().skip(1).flatten().next().or(found.get(0));
    group.map_or((0, 0), |group| (group.start(), group.end()))
}

/// Sizes and counts: `token = 128`.
fn is_number(value: &[u8]) -> bool {
    let digits = |b: &u8| b.is_ascii_digit() || matches!(b, b'.' | b'-' | b'+' | b'e');
    value.trim_ascii().iter().all(digits)
}

/// Returns whether a value is harmless: a word of a language, or the mark of an earlier redaction.
fn is_word(value: &[u8]) -> bool {
    let word = value.trim_ascii();
    let known: [&[u8]; 14] = [
        b"none",
        b"null",
        b"true",
        b"false",
        b"unset",
        b"required",
        b"optional",
        b"str",
        b"unknown",
        b"localhost",
        b"command",
        b"x86_64",
        b"aarch64",
        b"invalid",
    ];
    word.iter().all(|&b| b == b'*') || known.iter().any(|known| word.eq_ignore_ascii_case(known))
}

/// Returns whether a value cannot be a word: it has letters together with digits or special
/// characters.
fn is_mixed(value: &[u8]) -> bool {
    let has = |is: fn(&u8) -> bool| value.iter().any(is);
    let sign = |b: &u8| matches!(b, b'!' | b'@' | b'#' | b'$' | b'%' | b'^' | b'&' | b'~');
    !value.iter().all(|&b| b == b'*')
        && has(u8::is_ascii_alphabetic)
        && (has(u8::is_ascii_digit) || has(sign))
}

/// Returns whether a value is only the scheme of a credential that was redacted before:
/// `Authorization: Bearer ***`.
fn is_scheme(value: &[u8], after: &[u8]) -> bool {
    let schemes: [&[u8]; 3] = [b"bearer", b"basic", b"token"];
    schemes.iter().any(|scheme| value.eq_ignore_ascii_case(scheme))
        && after.trim_ascii_start().starts_with(b"***")
}
