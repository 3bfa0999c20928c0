//! Where logs come from: texts, files, directories, archives, streams.
//!
//! Nothing is written anywhere: members of archives are read in passing, whatever their names
//! say. All reading is bounded.

mod archive;

pub use archive::packed_with;

use std::io::{self, Read};

use serde::Serialize;

use facts::FileKind;
use machine::sysroot::{ReadError, SysFile, Sysroot};

/// The most files that are read of one directory.
const FILES: usize = 200_000;
/// How deep directories are searched.
const DEPTH: usize = 32;
/// Names of files in directories of logs that are no logs.
const NO_LOGS: [&str; 22] = [
    "so",
    "o",
    "a",
    "bin",
    "om",
    "pt",
    "pth",
    "ckpt",
    "safetensors",
    "npy",
    "npz",
    "onnx",
    "pyc",
    "png",
    "jpg",
    "jpeg",
    "pdf",
    "whl",
    "db",
    "sqlite",
    "run",
    "pcap",
];

/// What the user wants to be examined.
#[derive(Debug)]
pub enum Input {
    /// A text itself.
    Text(String),
    /// A file or directory, by its absolute path.
    Path {
        /// As the user wrote it.
        shown: String,
        /// Absolute.
        path: String,
    },
}

/// Why something was not read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Problem {
    /// The file.
    pub name: String,
    /// What is wrong.
    pub kind: ProblemKind,
    /// The words of the system or of the decoder.
    pub detail: String,
}

/// What can be wrong with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// It is not there, or may not be read.
    Unreadable,
    /// It is a device, a FIFO or the like.
    NotRegular,
    /// It ends before its end, or its compression is damaged.
    Damaged,
    /// It was not read to its end since a limit was reached.
    TooLarge,
    /// Its format is not read.
    Unsupported,
    /// It is a directory without files.
    Empty,
}

/// Something to be read, perhaps an archive of many files.
#[derive(Debug)]
pub struct Stream {
    /// How it is named in reports.
    pub name: String,
    source: Source,
}

#[derive(Debug)]
enum Source {
    Text(String),
    File(String),
}

/// The streams of all inputs, in the order in which they were named; files of a directory by name.
#[derive(Debug, Default)]
pub struct Opened {
    /// What is to be read.
    pub streams: Vec<Stream>,
    /// What cannot be.
    pub problems: Vec<Problem>,
    /// How many files of directories were left out by their names.
    pub left_out: usize,
}

/// Finds the files of all inputs.
pub fn open(inputs: Vec<Input>, sysroot: &Sysroot) -> Opened {
    let mut opened = Opened::default();
    for input in inputs {
        match input {
            Input::Text(text) => {
                opened.streams.push(Stream { name: "text".to_owned(), source: Source::Text(text) });
            }
            Input::Path { shown, path } => match sysroot.stat(&path) {
                Ok(stat) if stat.kind == FileKind::Directory => {
                    let before = opened.streams.len();
                    let problems = opened.problems.len();
                    opened.directory(sysroot, &shown, &path, 0);
                    if opened.streams.len() == before && opened.problems.len() == problems {
                        opened.problem(&shown, ProblemKind::Empty, "");
                    }
                }
                Ok(_) => opened.streams.push(Stream { name: shown, source: Source::File(path) }),
                Err(error) => opened.fail(&shown, &error),
            },
        }
    }
    opened
}

impl Opened {
    fn problem(&mut self, name: &str, kind: ProblemKind, detail: &str) {
        self.problems.push(Problem { name: name.to_owned(), kind, detail: detail.to_owned() });
    }

    fn fail(&mut self, name: &str, error: &ReadError) {
        self.problems.push(refused(name, error));
    }

    fn directory(&mut self, sysroot: &Sysroot, shown: &str, path: &str, depth: usize) {
        if depth > DEPTH || self.streams.len() >= FILES {
            self.problem(shown, ProblemKind::TooLarge, "");
            return;
        }
        let entries = match sysroot.entries(path) {
            Ok(entries) => entries,
            Err(error) => return self.fail(shown, &error),
        };
        for (name, kind) in entries {
            let below = |base: &str| format!("{}/{name}", base.trim_end_matches('/'));
            let (shown, path) = (below(shown), below(path));
            // A link to a directory is not followed: it may lead out of the logs, or in a circle.
            let kind = match kind {
                FileKind::Link => match sysroot.stat(&path) {
                    Ok(stat) if stat.kind == FileKind::File => FileKind::File,
                    _ => continue,
                },
                kind => kind,
            };
            match kind {
                FileKind::Directory => self.directory(sysroot, &shown, &path, depth + 1),
                FileKind::File if is_no_log(&name) => self.left_out += 1,
                FileKind::File => {
                    self.streams.push(Stream { name: shown, source: Source::File(path) });
                }
                _ => {}
            }
        }
    }
}

fn is_no_log(name: &str) -> bool {
    // Of a support bundle (`bundle`), the logs are logs.
    if let Some(part) = name.strip_prefix("ascend-doctor-bundle/") {
        return !part.starts_with("logs/");
    }
    let extension = name.rsplit_once('.').map_or("", |(_, extension)| extension);
    NO_LOGS.iter().any(|other| extension.eq_ignore_ascii_case(other))
}

fn refused(name: &str, error: &ReadError) -> Problem {
    let kind = match error {
        ReadError::NotRegular(_) | ReadError::NotDirectory => ProblemKind::NotRegular,
        ReadError::TooLarge { .. } => ProblemKind::TooLarge,
        _ => ProblemKind::Unreadable,
    };
    Problem { name: name.to_owned(), kind, detail: error.to_string() }
}

impl Stream {
    /// Shows every log in it to `visit`; what cannot be read is returned.
    pub fn read(
        &self,
        sysroot: &Sysroot,
        visit: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
    ) -> Vec<Problem> {
        match &self.source {
            Source::Text(text) => {
                let _ = visit(&self.name, &mut text.as_bytes());
                Vec::new()
            }
            Source::File(path) => match sysroot.open(path) {
                Ok(file) => {
                    let budget = archive::budget(file.len());
                    archive::read(&self.name, FileReader { file, offset: 0 }, budget, visit)
                }
                Err(error) => vec![refused(&self.name, &error)],
            },
        }
    }
}

/// Shows every log in `bytes`, which may be an archive, to `visit`; at most `budget` bytes are
/// unpacked. What cannot be read is returned.
pub fn unpack(
    name: &str,
    bytes: &[u8],
    budget: u64,
    visit: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Vec<Problem> {
    archive::read(name, io::Cursor::new(bytes), budget, visit)
}

/// As [`unpack`], of a stream that is read once, in passing.
pub(super) fn unpack_stream(
    name: &str,
    stream: impl Read,
    visit: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Vec<Problem> {
    archive::read_once(name, stream, visit)
}

/// A file, from its start to its end.
struct FileReader {
    file: SysFile,
    offset: u64,
}

impl Read for FileReader {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.file.read_at(buffer, self.offset).map_err(io::Error::other)?;
        self.offset += count as u64;
        Ok(count)
    }
}

impl io::Seek for FileReader {
    fn seek(&mut self, to: io::SeekFrom) -> io::Result<u64> {
        let target = match to {
            io::SeekFrom::Start(offset) => Some(offset),
            io::SeekFrom::End(offset) => self.file.len().checked_add_signed(offset),
            io::SeekFrom::Current(offset) => self.offset.checked_add_signed(offset),
        };
        self.offset = target.ok_or_else(|| io::Error::from(io::ErrorKind::InvalidInput))?;
        Ok(self.offset)
    }
}
