//! Where logs come from: texts, files, directories, archives, streams.
//!
//! Nothing is written anywhere: members of archives are read in passing, whatever their names
//! say. All reading is bounded.

mod archive;
mod unpack;

pub use archive::{detect_packer, is_archive};

use base::text::Text;
use std::io::{self, Read, Seek};

use serde::Serialize;

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

/// Files that the caller supplies: those of a machine, or those that a user drops on a page.
/// Paths are absolute.
pub trait Files: Sync {
    /// The kind of the file at `path`, with symbolic links followed.
    ///
    /// # Errors
    ///
    /// If there is no such file, or if it cannot be reached.
    fn kind(&self, path: &str) -> Result<EntryKind, OpenError>;

    /// The entries of a directory in order of name, with links as such.
    ///
    /// # Errors
    ///
    /// If the directory cannot be listed.
    fn entries(&self, dir: &str) -> Result<Vec<(String, EntryKind)>, OpenError>;

    /// The content of a file, and its size in bytes.
    ///
    /// # Errors
    ///
    /// If it cannot be read, or is not a regular file.
    fn open(&self, path: &str) -> Result<(Box<dyn Content>, u64), OpenError>;
}

/// The content of a file: archives are read from their end.
pub trait Content: Read + Seek {}

impl<T: Read + Seek> Content for T {}

/// Kind of an entry of a directory, as far as logs are concerned.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// A symbolic link.
    Link,
    /// A device, a FIFO or the like.
    Other,
}

/// Why a file or directory was not opened.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenError {
    /// Category of the reason.
    pub kind: ProblemKind,
    /// The words of the system.
    pub detail: Text,
}

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
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// The file.
    pub name: String,
    /// What is wrong.
    pub kind: ProblemKind,
    /// The words of the system or of the decoder.
    pub detail: Text,
}

/// What can be wrong with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
pub struct LogStreams {
    /// What is to be read.
    pub streams: Vec<Stream>,
    /// What cannot be.
    pub problems: Vec<Problem>,
    /// How many files of directories were left out by their names.
    pub left_out: usize,
}

/// Finds the files of all inputs.
pub fn open(inputs: Vec<Input>, files: &dyn Files) -> LogStreams {
    let mut opened = LogStreams::default();
    for input in inputs {
        match input {
            Input::Text(text) => {
                opened.streams.push(Stream { name: "text".to_owned(), source: Source::Text(text) });
            }
            Input::Path { shown, path } => match files.kind(&path) {
                Ok(EntryKind::Directory) => {
                    let before = opened.streams.len();
                    let problems = opened.problems.len();
                    opened.open_directory(files, &shown, &path, 0);
                    if opened.streams.len() == before && opened.problems.len() == problems {
                        opened.add_problem(&shown, ProblemKind::Empty, Text::default());
                    }
                }
                Ok(_) => opened.streams.push(Stream { name: shown, source: Source::File(path) }),
                Err(error) => opened.add_open_error(&shown, error),
            },
        }
    }
    opened
}

impl LogStreams {
    fn add_problem(&mut self, name: &str, kind: ProblemKind, detail: Text) {
        self.problems.push(Problem { name: name.to_owned(), kind, detail });
    }

    fn add_open_error(&mut self, name: &str, error: OpenError) {
        self.problems.push(problem_of_error(name, error));
    }

    fn open_directory(&mut self, files: &dyn Files, shown: &str, path: &str, depth: usize) {
        if depth > DEPTH || self.streams.len() >= FILES {
            self.add_problem(shown, ProblemKind::TooLarge, Text::default());
            return;
        }
        let entries = match files.entries(path) {
            Ok(entries) => entries,
            Err(error) => return self.add_open_error(shown, error),
        };
        for (name, kind) in entries {
            let below = |base: &str| format!("{}/{name}", base.trim_end_matches('/'));
            let (shown, path) = (below(shown), below(path));
            // A link to a directory is not followed: it may lead out of the logs, or in a circle.
            let kind = match kind {
                EntryKind::Link => match files.kind(&path) {
                    Ok(EntryKind::File) => EntryKind::File,
                    _ => EntryKind::Other,
                },
                kind => kind,
            };
            match kind {
                EntryKind::Directory => self.open_directory(files, &shown, &path, depth + 1),
                EntryKind::File if is_no_log(&name) => self.left_out += 1,
                EntryKind::File => {
                    self.streams.push(Stream { name: shown, source: Source::File(path) });
                }
                // A pipe, a socket, a device: reading it may wait for ever.
                _ => self.left_out += 1,
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

fn problem_of_error(name: &str, error: OpenError) -> Problem {
    Problem { name: name.to_owned(), kind: error.kind, detail: error.detail }
}

impl Stream {
    /// Shows every log in it to `visit`; what cannot be read is returned.
    pub fn read(
        &self,
        files: &dyn Files,
        visit: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
    ) -> Vec<Problem> {
        match &self.source {
            Source::Text(text) => {
                let _ = visit(&self.name, &mut text.as_bytes());
                Vec::new()
            }
            Source::File(path) => match files.open(path) {
                Ok((content, size)) => {
                    archive::read(&self.name, content, archive::unpack_limit(size), visit)
                }
                Err(error) => vec![problem_of_error(&self.name, error)],
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

/// As [`unpack()`], of a stream that is read once, in passing.
pub(super) fn unpack_stream(
    name: &str,
    stream: impl Read,
    visit: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Vec<Problem> {
    archive::read_once(name, stream, visit)
}
