//! Selects the reader of an input by its first bytes, not by its name.

use std::io::{Read as _, SeekFrom};

use super::model::Model;
use super::source::Source;
use super::unreadable::Unreadable;
use super::{archive_format, bounded, config, list, log, onnx, safetensors, trace};

/// The number of leading bytes that determine the format.
const HEAD: usize = 4096;
/// The maximum size of a JSON file that may be a configuration.
const CONFIG_LIMIT: u64 = 1 << 20;
/// The maximum size of a text that may be a list of operators.
const LIST_LIMIT: u64 = 16 << 20;
/// The number of leading bytes that decide whether a larger text is a list.
const LIST_HEAD: u64 = 64 << 10;

/// Reads the operators of an input.
///
/// # Errors
///
/// Returns an error if the format is unknown, or if the input contradicts its first bytes.
pub fn read(source: &mut dyn Source) -> Result<Model, Unreadable> {
    let mut head = vec![0; HEAD];
    let mut filled = 0;
    while filled < HEAD {
        match source.read(&mut head[filled..])? {
            0 => break,
            read => filled += read,
        }
    }
    head.truncate(filled);
    source.seek(SeekFrom::Start(0))?;
    if head.is_empty() {
        return Err(Unreadable::Empty);
    }
    if head.len() > 8 && head.iter().all(|byte| *byte == 0) {
        return Err(Unreadable::Zeros(head.len()));
    }
    if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        archive_format::read(source)
    } else if head.starts_with(b"\x80") || is_old_pickle(&head) {
        Err(Unreadable::Pickle { classes: Vec::new() })
    } else if is_safetensors(&head) {
        safetensors::read(source)
    } else if is_json(&head) {
        read_json(source)
    } else if is_onnx(&head) {
        onnx::read(source)
    } else if is_text(&head) {
        read_text(source)
    } else {
        Err(Unreadable::Unknown)
    }
}

/// Accepts an object or a list of objects. Lines of a log may begin with `[`, too.
fn is_json(head: &[u8]) -> bool {
    let mut text = head.iter().filter(|byte| !byte.is_ascii_whitespace());
    match text.next() {
        Some(b'{') => true,
        Some(b'[') => matches!(text.next(), Some(b'{' | b']') | None),
        _ => false,
    }
}

/// Text has no NUL. A few bytes may be in an encoding other than UTF-8, as in logs.
fn is_text(head: &[u8]) -> bool {
    let odd = head.iter().filter(|byte| {
        **byte >= 0x80 || (**byte < 0x20 && !byte.is_ascii_whitespace() && **byte != 0x1b)
    });
    !head.is_empty()
        && !head.contains(&0)
        && (std::str::from_utf8(&head[..head.len().saturating_sub(4)]).is_ok()
            || odd.count() * 4 < head.len())
}

/// Reads JSON: a configuration, which is small, or a trace of any size, which is read as a stream.
fn read_json(source: &mut dyn Source) -> Result<Model, Unreadable> {
    let size = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(0))?;
    if size <= CONFIG_LIMIT {
        let bytes = bounded::read(&mut *source, CONFIG_LIMIT, "the configuration")?;
        if let Ok(serde_json::Value::Object(object)) = serde_json::from_slice(&bytes)
            && config::is_config(&object)
        {
            return Ok(config::read(&object));
        }
        source.seek(SeekFrom::Start(0))?;
    }
    let model = trace::read(source)?;
    model.ok_or(Unreadable::Unknown)
}

/// Reads a list of operators, or else a log.
fn read_text(source: &mut dyn Source) -> Result<Model, Unreadable> {
    let size = source.seek(SeekFrom::End(0))?;
    source.seek(SeekFrom::Start(0))?;
    if size <= LIST_LIMIT {
        let bytes = bounded::read(&mut *source, LIST_LIMIT, "the list")?;
        if let Some(model) = list::read(&String::from_utf8_lossy(&bytes))? {
            return Ok(model);
        }
        source.seek(SeekFrom::Start(0))?;
        return log::read(source)?.ok_or(Unreadable::Unknown);
    }
    if let Some(model) = log::read(source)? {
        return Ok(model);
    }
    // A list is read completely, so its size is limited. A log may have any size.
    source.seek(SeekFrom::Start(0))?;
    let mut head = Vec::new();
    source.take(LIST_HEAD).read_to_end(&mut head)?;
    let whole = head.iter().rposition(|&byte| byte == b'\n').unwrap_or(0);
    match list::read(&String::from_utf8_lossy(&head[..whole])) {
        Ok(None) => Err(Unreadable::Unknown),
        _ => Err(Unreadable::TooLarge { what: data::faults::PartList.value(), limit: LIST_LIMIT }),
    }
}

/// Detects a pickle of protocol 0 or 1, which begins without a protocol number: a memoized
/// dictionary, list or tuple, or a class name on two lines that is confirmed by the next
/// instruction.
fn is_old_pickle(head: &[u8]) -> bool {
    let remembered = |rest: &[u8]| match rest {
        [b'p', b'0'..=b'9', ..] => true,
        [b'q', number, ..] => *number < b' ',
        _ => false,
    };
    match head {
        [b'(', b'd' | b'l' | b't', rest @ ..] | [b'}' | b']' | b')', rest @ ..] => remembered(rest),
        [b'c', rest @ ..] | [b'(', b'c' | b'i', rest @ ..] => {
            let mut lines = rest.splitn(3, |byte| *byte == b'\n');
            let mut named = || {
                lines.next().is_some_and(|line| {
                    let word = |byte: &u8| byte.is_ascii_alphanumeric() || b"._".contains(byte);
                    !line.is_empty() && line.iter().all(word)
                })
            };
            named()
                && named()
                && lines.next().is_some_and(|next| {
                    next.starts_with(b"(") || next.starts_with(b")") || remembered(next)
                })
        }
        _ => false,
    }
}

/// Detects a header length followed by the opening brace of the header. An impossible length counts
/// as damaged safetensors, unless the eight bytes are text that happens to precede a brace.
fn is_safetensors(head: &[u8]) -> bool {
    let Some((bytes, rest)) = head.split_first_chunk::<8>() else { return false };
    let length = u64::from_le_bytes(*bytes);
    if (2..=safetensors::HEADER_LIMIT).contains(&length) {
        return rest.starts_with(b"{");
    }
    let is_text = |byte: &u8| byte.is_ascii_graphic() || byte.is_ascii_whitespace();
    rest.starts_with(b"{\"") && !bytes.iter().all(is_text)
}

/// An ONNX model begins with `ir_version` (field 1, a small number), as every exporter writes it,
/// or with the name of its producer (field 2).
fn is_onnx(head: &[u8]) -> bool {
    matches!(head, [0x08, 1..=0x40, ..] | [0x12, 1..=0x7f, ..] | [0x3a, ..])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn detects_pickles_without_protocol() {
        for pickle in [
            &b"(dp0\nVweight\np1\n"[..],
            b"(lp0\nI1\na.",
            b"}q\x00X\x01\x00\x00\x00aq\x01K\x01s.",
            b"]q\x00.",
            b"ctorch._utils\n_rebuild_tensor_v2\np0\n(",
            b"ccollections\nOrderedDict\n(tRp0\n.",
            b"(i__main__\nNet\np0\n",
        ] {
            assert!(is_old_pickle(pickle), "{}", pickle.escape_ascii());
        }
        for other in [
            &b"cat\ncos\nadd\n"[..],
            b"conv2d 3\ncumsum 2\n(total)\n",
            b"(default) aten::add\n",
            b"(loss) step 1\n",
            b"]\n",
            b"}quit",
            b"c",
            b"",
        ] {
            assert!(!is_old_pickle(other), "{}", other.escape_ascii());
        }
    }
}
