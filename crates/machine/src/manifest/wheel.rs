//! Reads a wheel from an untrusted source: sizes are bounded before any entry is unpacked, and
//! nothing is written.

use base::text::Text;
use data::fault::quote;
use data::faults;
use std::collections::BTreeMap;
use std::io::{Read, Seek};

use zip::ZipArchive;

use super::create::{CreateError, Identity, build};
use super::format::Manifest;
use super::record;
use base::hash::{Hasher, Sha256};

/// Maximum number of entries in an archive; the largest published `torch_npu` wheel has 2800.
const MAX_ENTRIES: usize = 200_000;
/// Maximum compression ratio over all entries. Libraries reach 4 and text 10. The limit of deflate
/// is 1032, which zip bombs reach.
const MAX_RATIO: u64 = 100;
/// Size up to which archives may be compressed better than that, in bytes.
const RATIO_FREE: u64 = 16 << 20;

/// Creates a manifest of a wheel. `name` is its file name and `size` its length in bytes.
pub fn from_wheel(
    name: &str,
    size: u64,
    reader: impl Read + Seek,
) -> Result<Manifest, CreateError> {
    let mut archive = ZipArchive::new(reader).map_err(|error| {
        CreateError::NoWheel(
            faults::NotAZip { path: name, why: quote(&error.to_string()) }.fault().text(),
        )
    })?;
    let index = Index::new(name, size, &mut archive)?;
    let metadata = index.read(&mut archive, "METADATA", crate::sysroot::TEXT_LIMIT)?;
    let identity = Identity::parse(&String::from_utf8_lossy(&metadata))?;
    let record = record::parse(&index.read(&mut archive, "RECORD", record::RECORD_LIMIT)?);
    build(name, Some(name), identity, &record, |path| {
        let Some(&entry) = index.entries.get(path) else {
            let reason = faults::NotInArchive.value();
            return Err(CreateError::Differs { path: path.to_owned(), reason });
        };
        hash_entry(&mut archive, path, entry)
    })
}

/// The positions of the entries, after all of them were found to be harmless.
struct Index {
    entries: BTreeMap<String, usize>,
    dist_info: String,
}

impl Index {
    fn new(
        name: &str,
        size: u64,
        archive: &mut ZipArchive<impl Read + Seek>,
    ) -> Result<Self, CreateError> {
        if archive.len() > MAX_ENTRIES {
            let reason = faults::TooManyEntries { name, n: archive.len() }.value();
            return Err(CreateError::NoWheel(reason));
        }
        let mut entries = BTreeMap::new();
        let mut dist_info = None;
        let mut total: u64 = 0;
        for number in 0..archive.len() {
            let unreadable = |error: zip::result::ZipError| CreateError::Entry {
                name: format!("entry {number}"),
                reason: faults::EntryUnreadable { why: quote(&error.to_string()) }.fault().text(),
            };
            let entry = archive.by_index_raw(number).map_err(unreadable)?;
            let path = entry.name().map_err(unreadable)?.into_owned();
            let fail = |reason: Text| CreateError::Entry { name: path.clone(), reason };
            let climbs = path.split('/').any(|part| part == "..");
            if path.starts_with('/') || climbs || path.contains(['\\', '\0']) {
                return Err(fail(faults::EntryOutside.value()));
            }
            if entry.encrypted() {
                return Err(fail(faults::EntryEncrypted.value()));
            }
            total = total.saturating_add(entry.size());
            if total > size.saturating_mul(MAX_RATIO).max(RATIO_FREE) {
                return Err(fail(faults::EntryTooLarge.value()));
            }
            if entry.is_dir() {
                continue;
            }
            if let Some(dir) = path.strip_suffix("/RECORD")
                && dir.ends_with(".dist-info")
                && !dir.contains('/')
                && dist_info.replace(dir.to_owned()).is_some()
            {
                return Err(fail(faults::EntrySecondRecord.value()));
            }
            if entries.insert(path.clone(), number).is_some() {
                return Err(fail(faults::EntryTwice.value()));
            }
        }
        let dist_info =
            dist_info.ok_or_else(|| CreateError::NoWheel(faults::NoRecordIn { name }.value()))?;
        Ok(Self { entries, dist_info })
    }

    /// A small file of the dist-info directory.
    fn read(
        &self,
        archive: &mut ZipArchive<impl Read + Seek>,
        name: &str,
        limit: u64,
    ) -> Result<Vec<u8>, CreateError> {
        let path = format!("{}/{name}", self.dist_info);
        let fail = |reason: Text| CreateError::Entry { name: path.clone(), reason };
        let number = *self.entries.get(&path).ok_or_else(|| fail(faults::EntryMissing.value()))?;
        let entry = archive.by_index(number).map_err(|error| fail(quote(&error.to_string())))?;
        let mut bytes = Vec::new();
        entry
            .take(limit + 1)
            .read_to_end(&mut bytes)
            .map_err(|error| fail(faults::EntryNotUnpackable { why: &error }.value()))?;
        if bytes.len() as u64 > limit {
            return Err(fail(faults::EntryOverLimit { limit }.value()));
        }
        Ok(bytes)
    }
}

/// Size and hash of an entry. Its unpacked size must equal the size in the archive's directory.
fn hash_entry(
    archive: &mut ZipArchive<impl Read + Seek>,
    path: &str,
    number: usize,
) -> Result<(u64, Sha256), CreateError> {
    let fail = |reason: Text| CreateError::Entry { name: path.to_owned(), reason };
    let entry = archive.by_index(number).map_err(|error| fail(quote(&error.to_string())))?;
    let declared = entry.size();
    let mut entry = entry.take(declared.saturating_add(1));
    let mut hasher = Hasher::default();
    let mut chunk = vec![0_u8; 64 << 10];
    let mut size = 0;
    loop {
        let count = entry
            .read(&mut chunk)
            .map_err(|error| fail(faults::EntryNotUnpackable { why: &error }.value()))?;
        if count == 0 {
            break;
        }
        size += count as u64;
        hasher.update(&chunk[..count]);
    }
    if size != declared {
        return Err(fail(faults::EntryOtherSize { size: declared }.value()));
    }
    Ok((size, hasher.finish()))
}

#[cfg(test)]
mod tests {
    use std::io::{Cursor, Write as _};

    use zip::write::{SimpleFileOptions, ZipWriter};

    use super::*;

    const METADATA: &str =
        "Metadata-Version: 2.1\nName: torch_npu\nVersion: 2.9.0+git1\n\nName: x\n";

    fn zip(entries: &[(&str, &[u8])]) -> Vec<u8> {
        let mut writer = ZipWriter::new(Cursor::new(Vec::new()));
        for (name, content) in entries {
            writer.start_file(*name, SimpleFileOptions::default()).unwrap();
            writer.write_all(content).unwrap();
        }
        writer.finish().unwrap().into_inner()
    }

    fn manifest(bytes: &[u8]) -> Result<Manifest, String> {
        from_wheel(
            "torch_npu-2.9.0+git1-cp311-cp311-linux_x86_64.whl",
            bytes.len() as u64,
            Cursor::new(bytes),
        )
        .map_err(|error| error.to_string())
    }

    fn wheel(code: &[u8], record: &str) -> Vec<u8> {
        zip(&[
            ("torch_npu/a.py", code),
            ("torch_npu-2.9.0.dist-info/METADATA", METADATA.as_bytes()),
            ("torch_npu-2.9.0.dist-info/RECORD", record.as_bytes()),
        ])
    }

    fn row(code: &[u8]) -> String {
        let hash = Sha256::of(code).base64url();
        format!("torch_npu/a.py,sha256={hash},{}\ntorch_npu-2.9.0.dist-info/RECORD,,\n", code.len())
    }

    #[test]
    fn a_wheel_becomes_a_manifest() {
        let manifest = manifest(&wheel(b"import os\n", &row(b"import os\n"))).unwrap();
        assert_eq!(
            (manifest.package.as_str(), manifest.version.as_str()),
            ("torch-npu", "2.9.0+git1")
        );
        assert_eq!(manifest.files, [("torch_npu/a.py".to_owned(), 10, Sha256::of(b"import os\n"))]);
        assert!(manifest.record.is_some());
    }

    #[test]
    fn a_wheel_that_breaks_its_own_record_is_refused() {
        let error = manifest(&wheel(b"import os\n", &row(b"import sys\n"))).unwrap_err();
        assert!(error.contains("10 bytes instead of 11"), "{error}");
        let error = manifest(&wheel(b"import os\n", &row(b"import io\n"))).unwrap_err();
        assert!(error.contains("SHA-256"), "{error}");
        let error = manifest(&wheel(b"", "torch_npu/b.py,,\n")).unwrap_err();
        assert!(
            error.contains("`torch_npu/b.py`") && error.contains("not in the archive"),
            "{error}"
        );
    }

    #[test]
    fn hostile_archives_are_refused() {
        for (name, why) in [
            ("../evil.py", "points outside"),
            ("/etc/evil", "points outside"),
            ("a/../../evil", "points outside"),
            ("a\\..\\evil", "points outside"),
        ] {
            let error = manifest(&zip(&[(name, b"x")])).unwrap_err();
            assert!(error.contains(why), "{name}: {error}");
        }
        let bomb = zip(&[("torch_npu/zeros", &vec![0; 64 << 20])]);
        assert!(bomb.len() < 200_000);
        assert!(manifest(&bomb).unwrap_err().contains("far larger"));
        assert!(manifest(b"PK\x03\x04 no archive").unwrap_err().contains("not a zip archive"));
        assert!(manifest(&zip(&[("a", b"x")])).unwrap_err().contains("no `*.dist-info/RECORD`"));
    }

    #[test]
    fn wrong_declared_size_is_rejected() {
        let code = b"import os\n".repeat(1000);
        let mut bytes = wheel(&code, &row(&code));
        // The uncompressed size in the central directory of the first entry, at offset 24.
        let at = bytes.windows(4).position(|four| four == b"PK\x01\x02").unwrap() + 24;
        bytes[at..at + 4].copy_from_slice(&5_u32.to_le_bytes());
        assert!(manifest(&bytes).is_err());
    }

    #[test]
    fn a_truncated_wheel_is_refused() {
        let bytes = wheel(b"import os\n", &row(b"import os\n"));
        for length in [0, 4, bytes.len() / 2, bytes.len() - 1] {
            assert!(manifest(&bytes[..length]).is_err(), "{length}");
        }
    }
}
