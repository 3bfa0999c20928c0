//! SHA-256 values in their two common spellings: hexadecimal (`sha256sum`, package indexes) and
//! URL-safe base64 without padding (`RECORD` of a wheel, PEP 376 and PEP 427).

mod base64url;

use std::fmt;

use sha2::Digest as _;

/// Decodes URL-safe base64 without padding.
pub fn decode_base64url(text: &str) -> Option<Vec<u8>> {
    base64url::decode(text)
}

/// Length of a SHA-256 value in bytes.
const LEN: usize = 32;

/// A SHA-256 value.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Sha256([u8; LEN]);

impl Sha256 {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        let mut hasher = Hasher::default();
        hasher.update(bytes);
        hasher.finish()
    }

    /// Reads URL-safe base64, with or without padding, as RECORD writes it after `sha256=`.
    pub fn from_base64url(text: &str) -> Option<Self> {
        let bytes = base64url::decode(text.trim_end_matches('='))?;
        Some(Self(bytes.try_into().ok()?))
    }

    /// Reads 64 hexadecimal digits.
    pub fn from_hex(text: &str) -> Option<Self> {
        if text.len() != 2 * LEN || !text.is_ascii() {
            return None;
        }
        let mut bytes = [0; LEN];
        for (byte, pair) in bytes.iter_mut().zip(text.as_bytes().chunks_exact(2)) {
            *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
        }
        // `from_str_radix` accepts a sign.
        (!text.contains('+')).then_some(Self(bytes))
    }

    /// URL-safe base64 without padding: 43 characters.
    pub fn base64url(&self) -> String {
        base64url::encode(&self.0)
    }

    /// 64 hexadecimal digits, lower case.
    pub fn hex(&self) -> String {
        let digit = |value: u8| char::from_digit(u32::from(value), 16).unwrap_or_default();
        self.0.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect()
    }
}

impl From<[u8; LEN]> for Sha256 {
    fn from(bytes: [u8; LEN]) -> Self {
        Self(bytes)
    }
}

impl fmt::Debug for Sha256 {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.hex())
    }
}

/// Computes a [`Sha256`] of content that comes in pieces.
#[derive(Debug, Clone, Default)]
pub struct Hasher(sha2::Sha256);

impl Hasher {
    /// Adds the next piece.
    pub fn update(&mut self, piece: &[u8]) {
        self.0.update(piece);
    }

    /// The hash of all pieces.
    pub fn finish(self) -> Sha256 {
        Sha256(self.0.finalize().into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The SHA-256 of no bytes (FIPS 180-4 test vectors).
    const EMPTY: &str = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";

    #[test]
    fn both_spellings_are_one_value() {
        let hash = Sha256::of(b"");
        assert_eq!(hash.hex(), EMPTY);
        assert_eq!(hash.base64url(), "47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU");
        assert_eq!(Sha256::from_hex(EMPTY), Some(hash));
        assert_eq!(Sha256::from_base64url(&hash.base64url()), Some(hash));
        assert_eq!(Sha256::from_base64url(&(hash.base64url() + "=")), Some(hash));
    }

    #[test]
    fn non_hashes_are_rejected() {
        assert_eq!(Sha256::from_hex("e3"), None);
        assert_eq!(Sha256::from_hex(&"+1".repeat(32)), None);
        assert_eq!(Sha256::from_hex(&"é".repeat(32)), None);
        assert_eq!(Sha256::from_base64url("47DEQpj8"), None);
        assert_eq!(Sha256::from_base64url("47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU"), None);
        assert_eq!(Sha256::from_base64url(""), None);
    }
}
