//! Inputs of logs: texts, files, directories, archives, streams.
//!
//! Nothing is written to disk: members of archives are streamed, whatever their names. All reading
//! is bounded.

mod archive;
mod unpack;

pub use archive::{detect_packer, is_archive};

use base::text::Text;
use std::io::{self, Read, Seek};

use serde::Serialize;

/// The maximum number of files read from one directory.
const FILES: usize = 200_000;
/// The maximum depth of the search in directories.
const DEPTH: usize = 32;
/// Extensions of files in log directories that are not logs.
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

/// The content of a file. It is seekable because archives are read from their end.
pub trait Content: Read + Seek {}

impl<T: Read + Seek> Content for T {}

/// Kind of a directory entry, as far as it matters for logs.
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
    /// The message of the operating system.
    pub detail: Text,
}

/// An input to examine.
#[derive(Debug)]
pub enum Input {
    /// A text itself.
    Text(String),
    /// A file or directory.
    Path {
        /// The path as the user wrote it.
        shown: String,
        /// The absolute path.
        path: String,
    },
}

/// The reason why an input was not read, or not to its end.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Problem {
    /// The file.
    pub name: String,
    /// The kind of the problem.
    pub kind: ProblemKind,
    /// The message of the operating system or of the decoder.
    pub detail: Text,
}

/// The kinds of problems with an input.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum ProblemKind {
    /// It does not exist, or access is denied.
    Unreadable,
    /// It is a device, a FIFO or the like.
    NotRegular,
    /// It is truncated, or its compression is damaged.
    Damaged,
    /// It was not read to its end because a limit was reached.
    TooLarge,
    /// Its format is not supported.
    Unsupported,
    /// It is a directory without files.
    Empty,
}

/// A stream to read; it can be an archive of many files.
#[derive(Debug)]
pub struct Stream {
    /// Its name in reports.
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
    /// The streams to read.
    pub streams: Vec<Stream>,
    /// The unreadable inputs.
    pub problems: Vec<Problem>,
    /// Number of files in directories that were skipped because of their names.
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
            // Links to directories are not followed: they may lead out of the logs, or in a circle.
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
                // Reading a pipe, a socket or a device may block forever.
                _ => self.left_out += 1,
            }
        }
    }
}

fn is_no_log(name: &str) -> bool {
    // In a support bundle (`bundle`), only files below `logs/` are logs.
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
    /// Passes every log in it to `visit`, and returns the problems.
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

/// Passes every log in `bytes`, which may be an archive, to `visit`; at most `budget` bytes are
/// unpacked. Returns the problems.
pub fn unpack(
    name: &str,
    bytes: &[u8],
    budget: u64,
    visit: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Vec<Problem> {
    archive::read(name, io::Cursor::new(bytes), budget, visit)
}

/// Like [`unpack()`], for a stream that can be read only once.
pub(super) fn unpack_stream(
    name: &str,
    stream: impl Read,
    visit: &mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>,
) -> Vec<Problem> {
    archive::read_once(name, stream, visit)
}
