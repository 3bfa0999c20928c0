//! Reads members of a wheel without downloading it, by requesting only the needed parts.
//!
//! The hash in the index covers the complete file, so it cannot verify parts. The checksums inside
//! the archive can.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Read, Seek, SeekFrom};

use anyhow::{Context as _, Result};
use zip::ZipArchive;

use crate::package::{IndexFile, Packages};

/// The size of a requested part. The directory of a large wheel has 1 to 2 MB.
const BLOCK: u64 = 512 << 10;
/// The maximum number of bytes requested from one archive.
const MAX_READ: u64 = 64 << 20;

/// A file of the index, read by parts, or its stored copy.
#[derive(Debug)]
pub(crate) struct RemoteZip<'p> {
    packages: &'p Packages,
    file: &'p IndexFile,
    size: u64,
    position: u64,
    blocks: BTreeMap<u64, Vec<u8>>,
    local: Option<File>,
}

impl<'p> RemoteZip<'p> {
    /// Opens the archive: the stored copy, or else the file of the index.
    pub(crate) fn open(
        packages: &'p Packages,
        file: &'p IndexFile,
    ) -> Result<ZipArchive<impl Read + Seek + use<'p>>> {
        let (size, local) = if packages.dir().join(&file.name).exists() {
            (0, Some(File::open(packages.download(file)?)?))
        } else {
            (packages.size(file)?, None)
        };
        let reader =
            RemoteZip { packages, file, size, position: 0, blocks: BTreeMap::new(), local };
        ZipArchive::new(reader).with_context(|| format!("{} is not a wheel", file.name))
    }

    /// Returns the block with this number.
    fn block(&mut self, number: u64) -> io::Result<&[u8]> {
        if !self.blocks.contains_key(&number) {
            if (self.blocks.len() as u64 + 1) * BLOCK > MAX_READ {
                let message = format!("{}: more than {MAX_READ} bytes are needed", self.file.name);
                return Err(io::Error::other(message));
            }
            let from = number * BLOCK;
            let to = (from + BLOCK).min(self.size) - 1;
            let bytes = self.packages.range(self.file, from, to).map_err(io::Error::other)?;
            self.blocks.insert(number, bytes);
        }
        Ok(self.blocks.get(&number).map_or(&[], Vec::as_slice))
    }
}

impl Read for RemoteZip<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if let Some(local) = &mut self.local {
            return local.read(buffer);
        }
        if self.position >= self.size || buffer.is_empty() {
            return Ok(0);
        }
        let start = usize::try_from(self.position % BLOCK).unwrap_or_default();
        let block = self.block(self.position / BLOCK)?;
        let rest = block.get(start..).unwrap_or_default();
        let count = rest.len().min(buffer.len());
        buffer[..count].copy_from_slice(&rest[..count]);
        self.position += count as u64;
        Ok(count)
    }
}

impl Seek for RemoteZip<'_> {
    fn seek(&mut self, to: SeekFrom) -> io::Result<u64> {
        if let Some(local) = &mut self.local {
            return local.seek(to);
        }
        let position = match to {
            SeekFrom::Start(position) => Some(position),
            SeekFrom::End(offset) => self.size.checked_add_signed(offset),
            SeekFrom::Current(offset) => self.position.checked_add_signed(offset),
        };
        self.position = position.ok_or(io::ErrorKind::InvalidInput)?;
        Ok(self.position)
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::{TcpListener, TcpStream};
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use sha2::{Digest as _, Sha256};

    use super::*;

    /// Serves one file by ranges, or completely if the server does not support ranges. Counts its
    /// bytes.
    fn serve(content: Vec<u8>, ranges: bool) -> (String, Arc<AtomicUsize>) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/p-1.whl", listener.local_addr().unwrap());
        let sent = Arc::new(AtomicUsize::new(0));
        let counter = Arc::clone(&sent);
        std::thread::spawn(move || {
            for stream in listener.incoming() {
                answer(&mut stream.unwrap(), &content, ranges, &counter);
            }
        });
        (url, sent)
    }

    fn answer(stream: &mut TcpStream, content: &[u8], ranges: bool, sent: &AtomicUsize) {
        let mut request = Vec::new();
        let mut byte = [0];
        while !request.ends_with(b"\r\n\r\n") && stream.read(&mut byte).unwrap() == 1 {
            request.push(byte[0]);
        }
        let request = String::from_utf8(request).unwrap();
        let range = request.lines().find_map(|line| {
            let (from, to) = line.strip_prefix("Range: bytes=")?.split_once('-')?;
            Some((from.parse::<usize>().ok()?, to.parse::<usize>().ok()?))
        });
        let (head, body) = match range.filter(|_| ranges) {
            Some((from, to)) => (
                format!(
                    "206 Partial Content\r\nContent-Range: bytes {from}-{to}/{}",
                    content.len()
                ),
                &content[from..=to],
            ),
            None => ("200 OK".to_owned(), content),
        };
        sent.fetch_add(body.len(), Ordering::SeqCst);
        let length = body.len();
        // The client may close early if it does not want the complete file.
        let _ = stream.write_all(
            format!("HTTP/1.1 {head}\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n")
                .as_bytes(),
        );
        let _ = stream.write_all(body);
    }

    fn wheel() -> Vec<u8> {
        let stored = zip::write::SimpleFileOptions::default()
            .compression_method(zip::CompressionMethod::Stored);
        let mut zip = zip::ZipWriter::new(io::Cursor::new(Vec::new()));
        zip.start_file("p/first", stored).unwrap();
        zip.write_all(b"first").unwrap();
        zip.start_file("p/large", stored).unwrap();
        zip.write_all(&vec![7; 8 << 20]).unwrap();
        zip.start_file("p-1.dist-info/RECORD", zip::write::SimpleFileOptions::default()).unwrap();
        zip.write_all(b"p/first,sha256=x,5\n").unwrap();
        zip.finish().unwrap().into_inner()
    }

    fn file(url: String, content: &[u8]) -> IndexFile {
        let sha256 = Sha256::digest(content)
            .iter()
            .fold(String::new(), |hex, byte| hex + &format!("{byte:02x}"));
        IndexFile { name: "p-1.whl".into(), sha256, url, yanked: false, requires_python: None }
    }

    fn text(zip: &mut ZipArchive<impl Read + Seek>, member: &str) -> String {
        io::read_to_string(zip.by_name(member).unwrap()).unwrap()
    }

    #[test]
    fn members_are_read_without_the_rest() {
        let content = wheel();
        let (url, sent) = serve(content.clone(), true);
        let dir = tempfile::tempdir().unwrap();
        let packages = Packages::new(dir.path(), false, None);
        let file = file(url, &content);
        let mut zip = RemoteZip::open(&packages, &file).unwrap();
        assert_eq!(text(&mut zip, "p-1.dist-info/RECORD"), "p/first,sha256=x,5\n");
        assert_eq!(text(&mut zip, "p/first"), "first");
        let read = sent.load(Ordering::SeqCst);
        assert!(read < 3 << 20, "{read} bytes");
        assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 0, "nothing is stored");
    }

    #[test]
    fn server_without_ranges_is_an_error() {
        let content = wheel();
        let (url, _) = serve(content.clone(), false);
        let dir = tempfile::tempdir().unwrap();
        let packages = Packages::new(dir.path(), false, None);
        let file = file(url, &content);
        let error = RemoteZip::open(&packages, &file).err().unwrap();
        assert!(format!("{error:#}").contains("know no ranges"), "{error:#}");
    }

    #[test]
    fn stored_copy_is_read_instead_and_checked() {
        let content = wheel();
        let dir = tempfile::tempdir().unwrap();
        let offline = Packages::new(dir.path(), true, None);
        let file = file("http://127.0.0.1:1/none".to_owned(), &content);
        assert!(RemoteZip::open(&offline, &file).is_err(), "nothing is stored yet");
        std::fs::write(dir.path().join("p-1.whl"), &content).unwrap();
        assert_eq!(text(&mut RemoteZip::open(&offline, &file).unwrap(), "p/first"), "first");
        std::fs::write(dir.path().join("p-1.whl"), b"other").unwrap();
        assert!(RemoteZip::open(&offline, &file).is_err());
    }

    #[test]
    fn damaged_archives_are_errors() {
        let content = wheel()[..4 << 20].to_vec();
        let (url, _) = serve(content.clone(), true);
        let dir = tempfile::tempdir().unwrap();
        let packages = Packages::new(dir.path(), false, None);
        let file = file(url, &content);
        let error = RemoteZip::open(&packages, &file).err().unwrap();
        assert!(error.to_string().contains("p-1.whl is not a wheel"), "{error:#}");
    }
}
