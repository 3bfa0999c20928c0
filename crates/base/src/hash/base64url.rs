//! URL-safe base64 without padding (RFC 4648, section 5).

const DIGITS: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";

/// Flag in the value of a byte that is not a digit.
const INVALID: u8 = 0x80;

/// The values of the digits.
const VALUES: [u8; 256] = {
    let mut values = [INVALID; 256];
    let mut value: u8 = 0;
    while (value as usize) < DIGITS.len() {
        values[DIGITS[value as usize] as usize] = value;
        value += 1;
    }
    values
};

pub(super) fn encode(bytes: &[u8]) -> String {
    let mut out = String::with_capacity(bytes.len().div_ceil(3) * 4);
    for chunk in bytes.chunks(3) {
        let mut group = [0; 3];
        group[..chunk.len()].copy_from_slice(chunk);
        let bits = u32::from_be_bytes([0, group[0], group[1], group[2]]);
        for place in 0..=chunk.len() {
            let digit = bits >> (18 - 6 * place) & 63;
            out.push(char::from(DIGITS[digit as usize]));
        }
    }
    out
}

/// Returns `None` if a character is not in the alphabet, or if the bits after the last byte are not
/// 0 (two spellings of one value would compare as different).
pub(super) fn decode(text: &str) -> Option<Vec<u8>> {
    let mut out = Vec::with_capacity(text.len() * 3 / 4);
    let mut chunks = text.as_bytes().chunks_exact(4);
    // RECORD has tens of thousands of these values, so invalid characters are checked once at the
    // end.
    let mut seen = 0;
    for chunk in &mut chunks {
        let mut bits = 0_u32;
        for byte in chunk {
            let digit = VALUES[usize::from(*byte)];
            seen |= digit;
            bits = bits << 6 | u32::from(digit);
        }
        out.extend_from_slice(&bits.to_be_bytes()[1..]);
    }
    let rest = chunks.remainder();
    let mut bits = 0_u32;
    for (place, byte) in rest.iter().enumerate() {
        let digit = VALUES[usize::from(*byte)];
        seen |= digit;
        bits |= u32::from(digit) << (18 - 6 * place);
    }
    let bytes = &bits.to_be_bytes()[1..];
    let count = match rest.len() {
        0 => 0,
        2 => 1,
        3 => 2,
        _ => return None,
    };
    if seen & INVALID != 0 || bytes[count..].iter().any(|byte| *byte != 0) {
        return None;
    }
    out.extend_from_slice(&bytes[..count]);
    Some(out)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_vectors_of_rfc_4648() {
        for (plain, coded) in
            [("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg")]
        {
            assert_eq!(encode(plain.as_bytes()), coded);
            assert_eq!(decode(coded).unwrap(), plain.as_bytes());
        }
        assert_eq!(encode(&[0xfb, 0xff]), "-_8");
    }

    #[test]
    fn other_text_is_refused() {
        for text in ["A", "Zh", "Zm9", "Zg==", "Z g", "é"] {
            assert_eq!(decode(text), None, "{text}");
        }
    }
}
