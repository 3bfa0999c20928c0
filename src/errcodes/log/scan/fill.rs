//! Reads a log into a buffer, as UTF-8.

use std::io::{self, Read};

use super::CHUNK;

/// Fills the buffer up to its size and returns whether there may be more. Converts UTF-16 text,
/// detected by its byte order mark, to UTF-8.
pub(super) fn fill(
    reader: &mut dyn Read,
    buffer: &mut Vec<u8>,
    decoder: &mut Option<encoding_rs::Decoder>,
    at_start: bool,
) -> io::Result<bool> {
    // A carried line may nearly fill the buffer, so leave some room.
    let goal = CHUNK.max(buffer.len() + CHUNK / 4);
    while buffer.len() < goal {
        let old = buffer.len();
        buffer.resize(goal, 0);
        let count = match reader.read(&mut buffer[old..]) {
            Ok(count) => count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {
                buffer.truncate(old);
                continue;
            }
            Err(error) => {
                buffer.truncate(old);
                return Err(error);
            }
        };
        buffer.truncate(old + count);
        if at_start && old == 0 && is_wide(buffer) {
            *decoder = match buffer[..2] {
                [0xff, 0xfe] => Some(encoding_rs::UTF_16LE.new_decoder()),
                [0xfe, 0xff] => Some(encoding_rs::UTF_16BE.new_decoder()),
                _ => None,
            };
        }
        if let Some(decoder) = decoder {
            let raw = buffer.split_off(old);
            let mut text = String::with_capacity(raw.len() * 2 + 8);
            let _ = decoder.decode_to_string(&raw, &mut text, count == 0);
            buffer.extend_from_slice(text.as_bytes());
        }
        if count == 0 {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether a text can be UTF-16: digits and blanks then contain a zero byte.
fn is_wide(text: &[u8]) -> bool {
    let head = &text[..text.len().min(512)];
    head.len() >= 2 && memchr::memchr_iter(0, head).count() * 12 >= head.len()
}
