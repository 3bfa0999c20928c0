//! Text files of a source archive (`.tar.gz`) of the index.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use flate2::read::GzDecoder;

/// The maximum size of a file in an archive.
const MAX_FILE: u64 = 16 << 20;
/// The maximum unpacked size of an archive.
const MAX_ARCHIVE: u64 = 1 << 30;

/// Returns the wanted files of an archive, by path below its only directory. Nothing is unpacked to
/// disk.
pub(super) fn texts(path: &Path, wanted: &[&str]) -> Result<BTreeMap<String, String>> {
    let name = || path.display().to_string();
    let file = File::open(path).with_context(name)?;
    let mut archive = tar::Archive::new(GzDecoder::new(file).take(MAX_ARCHIVE));
    let mut found = BTreeMap::new();
    for entry in archive.entries().with_context(name)? {
        let entry = entry.with_context(name)?;
        let path = entry.path().with_context(name)?.into_owned();
        let mut parts = path.components();
        parts.next();
        let Some(inner) = parts.as_path().to_str().map(str::to_owned) else { continue };
        if !wanted.contains(&inner.as_str()) || !entry.header().entry_type().is_file() {
            continue;
        }
        let mut text = String::new();
        let size = entry.header().size()?;
        ensure!(size <= MAX_FILE, "{}: {inner} exceeds the limit of {MAX_FILE} bytes", name());
        entry
            .take(MAX_FILE)
            .read_to_string(&mut text)
            .with_context(|| format!("{}: {inner} is not valid UTF-8", name()))?;
        found.insert(inner, text.replace("\r\n", "\n"));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use flate2::Compression;
    use flate2::write::GzEncoder;

    use super::*;

    #[test]
    fn wanted_files_are_read_below_the_directory_of_the_archive() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("p-1.tar.gz");
        let mut tar = tar::Builder::new(Vec::new());
        for (name, content) in
            [("p-1/Dockerfile", "FROM x\r\n"), ("p-1/docs/a.md", "a"), ("p-1/b", "b")]
        {
            let mut header = tar::Header::new_gnu();
            header.set_size(content.len() as u64);
            header.set_cksum();
            tar.append_data(&mut header, name, content.as_bytes()).unwrap();
        }
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&tar.into_inner().unwrap()).unwrap();
        std::fs::write(&path, gzip.finish().unwrap()).unwrap();
        let found = texts(&path, &["Dockerfile", "docs/a.md", "none"]).unwrap();
        assert_eq!(found["Dockerfile"], "FROM x\n");
        assert_eq!(found.len(), 2);
        std::fs::write(&path, "no archive").unwrap();
        assert!(texts(&path, &["Dockerfile"]).is_err());
    }
}
