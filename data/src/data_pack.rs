//! Data packs: all tables in one signed file that replaces the built-in ones.
//!
//! A pack is the line `ascend-doctor-data 1`, a line of JSON (the manifest), and the parts that the
//! manifest lists. Each part is compressed with deflate, in the format of the built-in tables.
//! [`Pack::open`] verifies the signature before it parses anything else, then sizes, names and
//! hashes of all parts. The layers that own the tables decode each one with the types of its reader
//! before [`install`](crate::install).

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::io::{self, Read as _};

use flate2::read::DeflateEncoder;
use flate2::{Compression, Decompress, FlushDecompress, Status};
use minisign_verify::{PublicKey, Signature};
use serde::{Deserialize, Serialize};

use base::hash::Sha256;
use base::text::Text;

use crate::fault::{Fault, quote};
use crate::faults;
use crate::packed::{built_in_as_of, names};

/// The beginning of the first line.
const MAGIC: &str = "ascend-doctor-data ";
/// The format that this version reads and writes.
const FORMAT: u32 = 1;
/// The maximum size of a file, in bytes.
pub const MAX_FILE: usize = 64 << 20;
/// The maximum unpacked size of all parts together, in bytes.
const MAX_UNPACKED: usize = 64 << 20;
/// The maximum length of the manifest, in bytes.
const MAX_MANIFEST: usize = 1 << 20;
/// The highest ratio that deflate reaches.
const MAX_RATIO: usize = 1032;

/// The second line of a pack.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Manifest {
    format: u32,
    as_of: String,
    /// The oldest program version that reads the tables.
    requires: String,
    parts: Vec<Part>,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Part {
    name: String,
    size: usize,
    sha256: String,
    packed: usize,
}

/// The reason why a pack is rejected.
#[derive(Debug)]
pub enum PackError {
    /// The first line is not that of a pack.
    Foreign,
    /// The format is newer than that of the program.
    Format(String),
    /// The tables require a newer program.
    Program(String),
    /// The manifest is not the expected JSON, or contradicts itself.
    Manifest(String),
    /// The file is too large.
    FileSize,
    /// The manifest is too long.
    ManifestSize,
    /// The parts are too large.
    Unpacked,
    /// The file is shorter or longer than its parts.
    Length,
    /// The program has no table for a part.
    Unknown(String),
    /// A table of the program has no part.
    Missing(String),
    /// Two parts have the same name.
    Twice(String),
    /// A part does not unpack to the declared bytes.
    Damaged(String),
    /// A reader rejects the table.
    Invalid(String, Text),
    /// The text is not a key.
    Key,
    /// The text is not a signature.
    Signature,
    /// The signature was made with another key.
    OtherKey(String, String),
    /// The signature belongs to another file.
    Mismatch,
    /// The data is older than the built-in data.
    Older(String, &'static str),
}

impl PackError {
    /// Returns the error for display.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Foreign => faults::PackForeign.fault(),
            Self::Format(format) => faults::PackFormat { format, known: FORMAT }.fault(),
            Self::Program(version) => faults::PackProgram { version }.fault(),
            Self::Manifest(why) => faults::PackManifest { why: quote(why) }.fault(),
            Self::FileSize => faults::PackSize { limit: MAX_FILE }.fault(),
            Self::ManifestSize => faults::PackManifestSize { limit: MAX_MANIFEST }.fault(),
            Self::Unpacked => faults::PackUnpackedSize { limit: MAX_UNPACKED }.fault(),
            Self::Length => faults::PackLength.fault(),
            Self::Unknown(name) => faults::PackUnknownTable { name }.fault(),
            Self::Missing(name) => faults::PackMissingTable { name }.fault(),
            Self::Twice(name) => faults::PackDuplicateTable { name }.fault(),
            Self::Damaged(name) => faults::PackDamagedTable { name }.fault(),
            Self::Invalid(name, why) => faults::PackInvalidTable { name, why }.fault(),
            Self::Key => faults::PackKey.fault(),
            Self::Signature => faults::PackSignature.fault(),
            Self::OtherKey(other, key) => faults::PackOtherKey { key, other }.fault(),
            Self::Mismatch => faults::PackMismatch.fault(),
            Self::Older(date, built_in) => faults::PackOlder { built_in, date }.fault(),
        }
    }
}

crate::impl_fault!(PackError);

/// The proof that a pack comes from its owner.
#[derive(Debug, Clone, Copy)]
pub enum Trust<'a> {
    /// The text of the signature file, and the public key: base64, or the text of a key file.
    Signed {
        /// The text of `FILE.minisig`.
        signature: &'a str,
        /// The key.
        key: &'a str,
    },
    /// No signature: the user accepts an unsigned pack.
    Unsigned,
}

/// A verified pack.
#[derive(Debug)]
pub struct Pack {
    as_of: String,
    sha256: Sha256,
    signed_by: Option<String>,
    /// Sorted by name.
    parts: Vec<(String, Vec<u8>)>,
}

impl Pack {
    /// Verifies the bytes of a file and unpacks its parts. `program` is the program version.
    /// `older` accepts data that is older than the built-in data.
    ///
    /// # Errors
    ///
    /// Returns the first defect. No part of a defective pack is usable.
    pub fn open(
        bytes: &[u8],
        trust: Trust<'_>,
        program: &str,
        older: bool,
    ) -> Result<Self, PackError> {
        if bytes.len() > MAX_FILE {
            return Err(PackError::FileSize);
        }
        let signed_by = match trust {
            Trust::Signed { signature, key } => Some(verify(bytes, signature, key)?),
            Trust::Unsigned => None,
        };
        let (manifest, body) = read_manifest(bytes)?;
        if version(&manifest.requires).zip(version(program)).is_none_or(|(least, own)| own < least)
        {
            return Err(PackError::Program(manifest.requires));
        }
        check_names(&manifest.parts)?;
        let parts = unpack(manifest.parts, body)?;
        let pack = Self { as_of: manifest.as_of, sha256: Sha256::of(bytes), signed_by, parts };
        let built_in = built_in_as_of();
        if pack.as_of.as_str() < built_in && !older {
            return Err(PackError::Older(pack.as_of, built_in));
        }
        Ok(pack)
    }

    /// Returns the date of the data, `YYYY-MM-DD`.
    pub fn as_of(&self) -> &str {
        &self.as_of
    }

    /// Returns the SHA-256 of the file.
    pub fn sha256(&self) -> Sha256 {
        self.sha256
    }

    /// Returns the ID of the signing key; `None` if the user accepted the pack unsigned.
    pub fn signed_by(&self) -> Option<&str> {
        self.signed_by.as_deref()
    }

    /// Returns the names of the parts.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().map(|(name, _)| name.as_str())
    }

    /// Returns the content of a part.
    pub fn content(&self, name: &str) -> Option<&[u8]> {
        let at = self.parts.binary_search_by(|(known, _)| known.as_str().cmp(name)).ok()?;
        Some(&self.parts[at].1)
    }

    /// Decodes a table with the types of its reader.
    ///
    /// # Errors
    ///
    /// Returns an error if the table is missing or does not have the shape of `T`.
    pub fn table<T: Deserialize<'static>>(&'static self, name: &str) -> Result<T, PackError> {
        let content = self.content(name).ok_or_else(|| PackError::Missing(name.to_owned()))?;
        rmp_serde::from_slice(content).map_err(|error| invalid(name, error.to_string()))
    }

    /// Returns a text table.
    ///
    /// # Errors
    ///
    /// Returns an error if the table is missing or not UTF-8.
    pub fn text(&self, name: &str) -> Result<&str, PackError> {
        let content = self.content(name).ok_or_else(|| PackError::Missing(name.to_owned()))?;
        std::str::from_utf8(content).map_err(|error| invalid(name, error.to_string()))
    }

    /// Decodes the tables whose readers are in this crate.
    ///
    /// # Errors
    ///
    /// Returns an error for the first table that its reader rejects.
    pub fn check_common_tables(&'static self) -> Result<(), PackError> {
        crate::ui::check(self)?;
        crate::fault::check(self)?;
        crate::help::check(self)?;
        crate::catalog::check(self)?;
        crate::goals::check(self)?;
        crate::env_vars::check(self)?;
        crate::verify_limits::check(self)?;
        crate::known_wheels::check(self)?;
        crate::package_index::check(self)?;
        crate::reference::check(self)?;
        crate::matrix::check(self)?;
        crate::sources::check(self)
    }
}

/// Returns the error for a table that its reader rejects.
pub fn invalid(name: &str, why: impl Into<String>) -> PackError {
    PackError::Invalid(name.to_owned(), quote(&why.into()))
}

/// Verifies a signature and returns the ID of its key.
fn verify(bytes: &[u8], signature: &str, key: &str) -> Result<String, PackError> {
    let trimmed = key.trim();
    let line = trimmed.lines().last().unwrap_or_default().trim();
    let key = PublicKey::from_base64(line).map_err(|_| PackError::Key)?;
    let id = key_id(line).ok_or(PackError::Key)?;
    let decoded = Signature::decode(signature).map_err(|_| PackError::Signature)?;
    key.verify(bytes, &decoded, false).map_err(|error| match error {
        minisign_verify::Error::UnexpectedKeyId => {
            let other = signature.lines().nth(1).and_then(key_id).unwrap_or_default();
            PackError::OtherKey(other, id.clone())
        }
        minisign_verify::Error::UnexpectedAlgorithm => PackError::Signature,
        _ => PackError::Mismatch,
    })?;
    Ok(id)
}

/// Returns the ID in a public key or a signature, as minisign prints it: bytes 2 to 9, the last one
/// first.
fn key_id(base64: &str) -> Option<String> {
    let standard = base64.trim().replace('+', "-").replace('/', "_");
    // 14 characters contain the first 10 bytes. The last one also contains the beginning of the
    // next byte.
    let bytes = base::hash::decode_base64url(standard.get(..16)?)?;
    let mut id = String::new();
    for byte in bytes.get(2..10)?.iter().rev() {
        write!(id, "{byte:02X}").ok()?;
    }
    Some(id)
}

/// Splits a file into its manifest and the parts.
fn read_manifest(bytes: &[u8]) -> Result<(Manifest, &[u8]), PackError> {
    let rest = bytes.strip_prefix(MAGIC.as_bytes()).ok_or(PackError::Foreign)?;
    let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let format = std::str::from_utf8(&rest[..digits]).unwrap_or_default();
    let rest = rest[digits..].strip_prefix(b"\n").ok_or(PackError::Foreign)?;
    if format.parse() != Ok(FORMAT) {
        return Err(PackError::Format(format.chars().take(20).collect()));
    }
    let head = &rest[..rest.len().min(MAX_MANIFEST)];
    let end = memchr::memchr(b'\n', head);
    let is_long = head.len() == MAX_MANIFEST;
    let end = end.ok_or(if is_long { PackError::ManifestSize } else { PackError::Length })?;
    let manifest: Manifest = serde_json::from_slice(&rest[..end])
        .map_err(|error| PackError::Manifest(error.to_string()))?;
    if manifest.format != FORMAT {
        return Err(PackError::Format(manifest.format.to_string()));
    }
    if !is_day(&manifest.as_of) {
        return Err(PackError::Manifest("`as_of` is not a date".to_owned()));
    }
    Ok((manifest, &rest[end + 1..]))
}

/// Checks that the parts are exactly the tables of the program.
fn check_names(parts: &[Part]) -> Result<(), PackError> {
    let known = names();
    let known: BTreeSet<&str> = known.iter().map(String::as_str).collect();
    let mut found = BTreeSet::new();
    for part in parts {
        if !known.contains(part.name.as_str()) {
            let shown: String = part.name.chars().take(100).collect();
            return Err(PackError::Unknown(shown));
        }
        if !found.insert(part.name.as_str()) {
            return Err(PackError::Twice(part.name.clone()));
        }
    }
    match known.difference(&found).next() {
        Some(name) => Err(PackError::Missing((*name).to_owned())),
        None => Ok(()),
    }
}

/// Unpacks all parts. The declared sizes are checked before anything is allocated.
fn unpack(parts: Vec<Part>, mut body: &[u8]) -> Result<Vec<(String, Vec<u8>)>, PackError> {
    let sum = |size: fn(&Part) -> usize| {
        parts.iter().try_fold(0_usize, |sum, part| sum.checked_add(size(part)))
    };
    if sum(|part| part.size).is_none_or(|size| size > MAX_UNPACKED) {
        return Err(PackError::Unpacked);
    }
    if sum(|part| part.packed) != Some(body.len()) {
        return Err(PackError::Length);
    }
    let mut unpacked = Vec::with_capacity(parts.len());
    for part in parts {
        let (packed, rest) = body.split_at(part.packed);
        body = rest;
        match inflate(packed, part.size) {
            Some(content) if Sha256::of(&content).hex() == part.sha256 => {
                unpacked.push((part.name, content));
            }
            _ => return Err(PackError::Damaged(part.name)),
        }
    }
    unpacked.sort();
    Ok(unpacked)
}

/// Unpacks bytes to exactly this size. Stops at the size, even if more data follows.
fn inflate(packed: &[u8], size: usize) -> Option<Vec<u8>> {
    if size > packed.len().checked_mul(MAX_RATIO)? {
        return None;
    }
    // One additional byte, so that the end of the stream or an excess is detected.
    let mut content = Vec::with_capacity(size + 1);
    let mut inflate = Decompress::new(false);
    let done = inflate.decompress_vec(packed, &mut content, FlushDecompress::Finish).ok()?;
    let whole = inflate.total_in() == packed.len() as u64;
    (done == Status::StreamEnd && content.len() == size && whole).then_some(content)
}

/// Returns whether a text is a date such as `2026-11-23`.
fn is_day(text: &str) -> bool {
    let number = |from: usize, to: usize| text.get(from..to).and_then(|part| part.parse().ok());
    let digits = text.bytes().enumerate().all(|(at, byte)| match at {
        4 | 7 => byte == b'-',
        _ => byte.is_ascii_digit(),
    });
    text.len() == 10
        && digits
        && number(5, 7).is_some_and(|month: u8| (1..=12).contains(&month))
        && number(8, 10).is_some_and(|day: u8| (1..=31).contains(&day))
}

/// Returns the numbers of a version `1.2.3`, even with a suffix as in `1.2.3-rc.1`.
fn version(text: &str) -> Option<[u32; 3]> {
    let text = text.split(['-', '+']).next()?;
    let mut parts = text.split('.').map(|part| part.parse().ok());
    let version = [parts.next()??, parts.next()??, parts.next()??];
    parts.next().is_none().then_some(version)
}

/// Writes a pack of these parts. `requires` is the oldest program version that reads them.
///
/// # Errors
///
/// Returns an error if a part cannot be compressed.
pub fn write(parts: &[(String, Vec<u8>)], as_of: &str, requires: &str) -> io::Result<Vec<u8>> {
    let mut body = Vec::new();
    let mut rows = Vec::new();
    for (name, content) in parts {
        let before = body.len();
        DeflateEncoder::new(content.as_slice(), Compression::best()).read_to_end(&mut body)?;
        rows.push(Part {
            name: name.clone(),
            size: content.len(),
            sha256: Sha256::of(content).hex(),
            packed: body.len() - before,
        });
    }
    let manifest = Manifest {
        format: FORMAT,
        as_of: as_of.to_owned(),
        requires: requires.to_owned(),
        parts: rows,
    };
    let mut bytes = format!("{MAGIC}{FORMAT}\n").into_bytes();
    serde_json::to_writer(&mut bytes, &manifest)?;
    bytes.push(b'\n');
    bytes.append(&mut body);
    Ok(bytes)
}

/// Writes the built-in tables as a pack.
///
/// # Errors
///
/// Returns an error if a part cannot be compressed.
pub fn write_built_in(requires: &str) -> io::Result<Vec<u8>> {
    write(&crate::packed::built_in_parts(), built_in_as_of(), requires)
}

#[cfg(test)]
mod tests {
    use std::sync::LazyLock;

    use minisign::KeyPair;

    use super::*;
    use crate::packed::built_in_parts;

    const PROGRAM: &str = "0.1.0";

    static GOOD: LazyLock<Vec<u8>> = LazyLock::new(|| write_built_in(PROGRAM).unwrap());

    fn open(bytes: &[u8]) -> Result<Pack, PackError> {
        Pack::open(bytes, Trust::Unsigned, PROGRAM, false)
    }

    #[test]
    fn written_tables_are_read_back() {
        let pack = open(&GOOD).unwrap();
        assert_eq!(pack.as_of(), built_in_as_of());
        assert_eq!(pack.sha256(), Sha256::of(&GOOD));
        assert_eq!(pack.signed_by(), None);
        let parts = built_in_parts();
        assert!(pack.names().eq(parts.iter().map(|(name, _)| name.as_str())));
        for (name, content) in &parts {
            assert_eq!(pack.content(name), Some(content.as_slice()), "{name}");
        }
        assert!(pack.text("ops/aten.tsv").is_ok() && pack.content("none").is_none());
        assert!(matches!(pack.text("none"), Err(PackError::Missing(_))));
    }

    #[test]
    fn signatures_are_verified_before_the_content() {
        let keys = KeyPair::generate_unencrypted_keypair().unwrap();
        let sign =
            |bytes: &[u8]| minisign::sign(None, &keys.sk, bytes, None, None).unwrap().into_string();
        let key = keys.pk.to_base64();
        let file = keys.pk.to_box().unwrap().into_string();
        let signature = sign(&GOOD);
        for key in [&key, &file, &format!("{file}\n")] {
            let trust = Trust::Signed { signature: &signature, key };
            let pack = Pack::open(&GOOD, trust, PROGRAM, false).unwrap();
            let id = u64::from_le_bytes(keys.pk.keynum().try_into().unwrap());
            assert_eq!(pack.signed_by(), Some(format!("{id:016X}").as_str()));
        }
        let refused = |bytes: &[u8], signature: &str, key: &str| {
            Pack::open(bytes, Trust::Signed { signature, key }, PROGRAM, false).unwrap_err()
        };
        assert!(matches!(refused(b"x", &signature, &key), PackError::Mismatch));
        assert!(matches!(refused(b"x", &sign(b"x"), &key), PackError::Foreign));
        assert!(matches!(refused(&GOOD, "", &key), PackError::Signature));
        assert!(matches!(refused(&GOOD, &signature, "RW"), PackError::Key));
        let other = KeyPair::generate_unencrypted_keypair().unwrap().pk.to_base64();
        assert!(matches!(refused(&GOOD, &signature, &other), PackError::OtherKey(..)));
    }

    #[test]
    fn unpacking_stops_at_the_declared_size() {
        let content = vec![7; 100_000];
        let mut packed = Vec::new();
        DeflateEncoder::new(&content[..], Compression::best()).read_to_end(&mut packed).unwrap();
        assert_eq!(inflate(&packed, content.len()).as_ref(), Some(&content));
        for size in [0, 1, content.len() - 1, content.len() + 1, usize::MAX, usize::MAX / 2] {
            assert_eq!(inflate(&packed, size), None, "{size}");
        }
        assert_eq!(inflate(&packed[..packed.len() - 1], content.len()), None);
        assert_eq!(inflate(&[&packed[..], b"x"].concat(), content.len()), None);
        assert_eq!(inflate(b"", 0), None);
    }

    #[test]
    fn dates_and_versions_are_strict() {
        assert!(is_day("2026-11-23") && is_day("2028-02-29"));
        for bad in ["", "2026-13-01", "2026-00-01", "2026-1-01", "2026-11-23 ", "2026/11/23"] {
            assert!(!is_day(bad), "{bad}");
        }
        assert!(!is_day("２026-11-2"), "bytes, not characters");
        assert_eq!(version("1.20.3-rc.1"), Some([1, 20, 3]));
        assert_eq!([version("1.2"), version("1.2.3.4"), version("x"), version("")], [None; 4]);
    }

    /// Other tests of this process may read tables. If none has, this test does.
    #[test]
    fn installing_after_a_table_was_read_is_an_error() {
        assert!(!crate::text("ops/onnx.tsv").is_empty());
        let pack: &'static Pack = Box::leak(Box::new(open(&GOOD).unwrap()));
        pack.check_common_tables().unwrap();
        assert!(crate::install(pack).is_err());
    }
}
