//! Strips the prefixes that launchers, containers and people put before a line, and keeps the
//! process that they name.

use std::sync::LazyLock;

use memchr::memmem::Finder;

/// The process that wrote a line, as far as its prefixes name it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Writer {
    /// The rank.
    pub rank: Option<u32>,
    /// The number at the end of a container's name: the rank only if each container has one rank.
    pub container: Option<u32>,
    /// The process id.
    pub pid: Option<u32>,
    /// The name that the launcher or the container engine gave it.
    pub name: Option<String>,
}

/// The line without its prefixes, and the process that they name.
pub(super) fn strip(mut line: &[u8]) -> (&[u8], Writer) {
    let mut writer = Writer::default();
    // Enough for launchers in containers in launchers.
    for _ in 0..6 {
        line = line.trim_ascii_start();
        let Some(rest) = quote(line)
            .or_else(|| strip_json(line))
            .or_else(|| strip_torchrun(line, &mut writer))
            .or_else(|| strip_actor(line, &mut writer))
            .or_else(|| strip_container(line, &mut writer))
            .or_else(|| strip_worker(line, &mut writer))
        else {
            break;
        };
        line = rest;
    }
    (line, writer)
}

/// Markdown: `> `, `**`.
fn quote(line: &[u8]) -> Option<&[u8]> {
    line.strip_prefix(b"> ")
        .or_else(|| line.strip_prefix(b"**"))
        .or_else(|| line.strip_prefix(b"`"))
}

/// The text in a line of JSON, as written by container engines and collectors.
fn strip_json(line: &[u8]) -> Option<&[u8]> {
    let inner = line.strip_prefix(b"{")?;
    let head = &inner[..inner.len().min(JSON_HEAD)];
    let keys = [&b"\"log\""[..], b"\"message\"", b"\"MESSAGE\"", b"\"msg\"", b"\"line\""];
    let after = |key: &&[u8]| {
        let at = memchr::memmem::find(head, key)? + key.len();
        let value = inner[at..].trim_ascii_start().strip_prefix(b":")?.trim_ascii_start();
        value.strip_prefix(b"\"")
    };
    keys.iter().find_map(after)
}

/// The maximum offset of the text in a line of JSON, in bytes.
const JSON_HEAD: usize = 1_024;

/// `[rank0]:` and `[rank0]`, of torchrun; `[default0]:` of its log tee.
fn strip_torchrun<'a>(line: &'a [u8], writer: &mut Writer) -> Option<&'a [u8]> {
    let rest = line.strip_prefix(b"[rank").or_else(|| line.strip_prefix(b"[default"))?;
    let (rank, rest) = parse_digits(rest)?;
    let rest = rest.strip_prefix(b"]")?;
    writer.rank = Some(rank);
    Some(rest.strip_prefix(b":").unwrap_or(rest))
}

/// `(Worker_DP1_TP1_EP5 pid=465)`, `(train pid=1, ip=…)`, `(VllmWorker rank=1 pid=9)`.
fn strip_actor<'a>(line: &'a [u8], writer: &mut Writer) -> Option<&'a [u8]> {
    let inner = line.strip_prefix(b"(")?;
    let end = inner.iter().take(160).position(|byte| *byte == b')')?;
    let (inner, rest) = (&inner[..end], &inner[end + 1..]);
    let (_, pid) = find_value(inner, b"pid=")?;
    writer.pid = Some(pid);
    let name = inner.split(|byte| *byte == b' ').next().unwrap_or_default();
    writer.rank = find_value(inner, b"rank=")
        .map(|(_, rank)| rank)
        .or_else(|| parse_worker_rank(name))
        .or(writer.rank);
    writer.name = Some(String::from_utf8_lossy(name).into_owned());
    Some(rest)
}

/// The rank in the name of a vLLM worker: its place in the expert-parallel group is unique; its
/// place in the tensor-parallel group is unique only without other groups.
fn parse_worker_rank(name: &[u8]) -> Option<u32> {
    let part = |key: &[u8]| find_value(name, key).map(|(_, rank)| rank);
    part(b"_EP").or_else(|| {
        let alone = [&b"_DP"[..], b"_PP", b"_PCP", b"_DCP"].iter().all(|key| part(key).is_none());
        part(b"_TP").filter(|_| alone)
    })
}

/// `name   | ` of docker-compose: a word, at least one blank, a bar and a blank.
fn strip_container<'a>(line: &'a [u8], writer: &mut Writer) -> Option<&'a [u8]> {
    let bar = line.iter().take(64).position(|byte| *byte == b'|')?;
    let (name, rest) = (&line[..bar], line[bar + 1..].strip_prefix(b" ")?);
    let word = name.trim_ascii_end();
    let sound =
        !word.is_empty() && word.len() < name.len() && word.iter().all(|byte| is_name(*byte));
    sound.then(|| {
        writer.container =
            parse_trailing_number(word).filter(|_| word.contains(&b'-')).or(writer.container);
        writer.name = Some(String::from_utf8_lossy(word).into_owned());
        rest
    })
}

/// `worker-1:` and `rank1:` at the start of a line.
fn strip_worker<'a>(line: &'a [u8], writer: &mut Writer) -> Option<&'a [u8]> {
    let colon = line.iter().take(32).position(|byte| *byte == b':')?;
    let word = &line[..colon];
    let known = [&b"worker"[..], b"rank", b"node", b"Worker", b"Rank"];
    let key = known.iter().find(|key| word.starts_with(key))?;
    let number = &word[key.len()..];
    let number = number.strip_prefix(b"-").or_else(|| number.strip_prefix(b"_")).unwrap_or(number);
    let number = number.strip_prefix(b" ").unwrap_or(number);
    let (number, end) = parse_digits(number)?;
    if !end.is_empty() {
        return None;
    }
    if !key.starts_with(b"node") {
        writer.rank = Some(number);
    }
    writer.name = Some(String::from_utf8_lossy(word).into_owned());
    Some(&line[colon + 1..])
}

fn is_name(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.')
}

fn parse_trailing_number(word: &[u8]) -> Option<u32> {
    let start = word.iter().rposition(|byte| !byte.is_ascii_digit())? + 1;
    parse_digits(&word[start..]).map(|(number, _)| number)
}

/// Keys before numbers, prepared for searching.
pub(super) struct Keys(LazyLock<Vec<Finder<'static>>>);

/// Creates [`Keys`].
macro_rules! keys {
    ($($key:expr),* $(,)?) => {
        $crate::log::prefix::Keys::new(|| {
            let keys: &[&'static [u8]] = &[$($key),*];
            keys.iter().map(|key| memchr::memmem::Finder::new(*key)).collect()
        })
    };
}
pub(super) use keys;

impl Keys {
    pub(super) const fn new(make: fn() -> Vec<Finder<'static>>) -> Self {
        Self(LazyLock::new(make))
    }

    /// Whether `text` contains one of them.
    pub(super) fn is_in(&self, text: &[u8]) -> bool {
        self.0.iter().any(|key| key.find(text).is_some())
    }

    /// The number behind the first of them, in their order, that has one.
    pub(super) fn find_number(&self, text: &[u8]) -> Option<u32> {
        self.0.iter().find_map(|key| {
            let at = key.find(text)?;
            parse_digits(&text[at + key.needle().len()..]).map(|(number, _)| number)
        })
    }
}

/// The number behind the first `key`, and the offset of the key.
pub(super) fn find_value(text: &[u8], key: &[u8]) -> Option<(usize, u32)> {
    let at = memchr::memmem::find(text, key)?;
    parse_digits(&text[at + key.len()..]).map(|(number, _)| (at, number))
}

/// The decimal number at the start, of at most nine digits.
pub(super) fn parse_digits(text: &[u8]) -> Option<(u32, &[u8])> {
    let length = text.iter().take(10).take_while(|byte| byte.is_ascii_digit()).count();
    if length == 0 || length > 9 {
        return None;
    }
    let number = text[..length].iter().fold(0, |sum, digit| sum * 10 + u32::from(digit - b'0'));
    Some((number, &text[length..]))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stripped(line: &str) -> (String, Writer) {
        let (rest, writer) = strip(line.as_bytes());
        (String::from_utf8_lossy(rest).into_owned(), writer)
    }

    #[test]
    fn prefixes_are_taken_off_and_say_who_wrote() {
        for (line, rest, rank, pid) in [
            ("[rank3]: RuntimeError: x", "RuntimeError: x", Some(3), None),
            ("(Worker_DP1_TP1_EP5 pid=465) ERROR x", "ERROR x", Some(5), Some(465)),
            ("(Worker_TP2 pid=9) x", "x", Some(2), Some(9)),
            ("(Worker_DP1_TP2 pid=9) x", "x", None, Some(9)),
            ("(train pid=77, ip=10.0.0.1) [rank1]: x", "x", Some(1), Some(77)),
            ("(VllmWorker rank=1 pid=12) x", "x", Some(1), Some(12)),
            ("worker-1  | [rank4]: x", "x", Some(4), None),
            ("    rank1:", "", Some(1), None),
            ("> **[rank0]: x", "x", Some(0), None),
        ] {
            let (left, writer) = stripped(line);
            assert_eq!((left.trim_start(), writer.rank, writer.pid), (rest, rank, pid), "{line}");
        }
    }

    #[test]
    fn what_is_no_prefix_stays() {
        for line in [
            "(most recent call last):",
            "|  192.0.2.199(0)   |  16666  |",
            "| 3     910B3               | Alarm         |",
            "worker: 3",
            "rank 3 failed",
            "[ERROR] HCCL(1,p):2025-10-24-11:18:29.499.235 [a.cc:1] x",
        ] {
            assert_eq!(stripped(line), (line.to_owned(), Writer::default()), "{line}");
        }
    }
}
