//! Compressed files and archives, detected by their first bytes and not by their names.

use base::text::Text;
use data::fault::{Value as _, quote};
use data::{Fault, faults};
use std::io::{self, BufReader, Chain, Cursor, Read, Seek};
use std::ops::ControlFlow;

use super::unpack::Packing;
use super::{Problem, ProblemKind};
use base::tarball;

/// The maximum number of members read from one archive.
const MEMBERS: usize = 100_000;
/// The limit of the unpacked size of a file: the larger of this and [`RATIO`] times its size.
const UNPACKED: u64 = 1 << 30;
const RATIO: u64 = 200;
const BLOCK: usize = 512;
/// The longest name of a member, in bytes: no operating system opens a longer one.
const PATH: usize = 4096;

type Visit<'a> = &'a mut dyn FnMut(&str, &mut dyn Read) -> io::Result<()>;

/// The form of a file, by its first bytes.
#[derive(Debug, PartialEq, Eq)]
enum Form {
    Packed(Packing),
    Tar,
    Zip,
    Program,
    Unsupported(&'static str),
    Plain,
}

fn detect_form(head: &[u8]) -> Form {
    if let Some(packing) = Packing::detect(head) {
        Form::Packed(packing)
    } else if head.starts_with(b"PK\x03\x04") || head.starts_with(b"PK\x05\x06") {
        Form::Zip
    } else if tarball::is_tar(head) {
        Form::Tar
    } else if head.starts_with(b"\x7fELF") {
        Form::Program
    } else if head.starts_with(b"7z\xbc\xaf\x27\x1c") {
        Form::Unsupported("7z")
    } else {
        Form::Plain
    }
}

/// The compression of a log, by its first bytes: compressed lines cannot be read.
pub fn detect_packer(head: &[u8]) -> Option<&'static str> {
    match detect_form(head) {
        Form::Packed(packing) => Some(packing.name()),
        Form::Tar => Some("tar"),
        Form::Zip => Some("zip"),
        Form::Unsupported(what) => Some(what),
        Form::Program | Form::Plain => None,
    }
}

/// Whether a file is an archive of files, compressed or not, rather than one log.
pub fn is_archive(source: impl Read) -> bool {
    let Ok((head, source)) = peek(source) else { return false };
    match detect_form(&head) {
        Form::Tar | Form::Zip => true,
        Form::Packed(packing) => {
            let mut inner = Vec::with_capacity(BLOCK);
            // A damaged file is reported when it is read.
            let _ = packing.unpack(source).take(BLOCK as u64).read_to_end(&mut inner);
            tarball::is_tar(&inner)
        }
        Form::Program | Form::Unsupported(_) | Form::Plain => false,
    }
}

/// The maximum number of bytes unpacked from a file of this size.
pub(super) fn unpack_limit(size: u64) -> u64 {
    UNPACKED.max(size.saturating_mul(RATIO))
}

/// Passes every log in `source` to `visit`; at most `budget` bytes are unpacked.
pub(super) fn read(
    name: &str,
    mut source: impl Read + Seek,
    budget: u64,
    visit: Visit<'_>,
) -> Vec<Problem> {
    let mut reader = Reader { problems: Vec::new(), budget, members: 0 };
    let mut head = Vec::with_capacity(BLOCK);
    // A read error occurs again later, where it is reported.
    let _ = source.by_ref().take(BLOCK as u64).read_to_end(&mut head);
    if let Err(error) = source.rewind() {
        reader.add_damage(name, &error);
        return reader.problems;
    }
    match detect_form(&head) {
        Form::Zip => reader.read_zip(name, source, visit),
        Form::Plain => reader.read_plain(name, source, visit),
        _ => reader.read_any(name, BufReader::with_capacity(64 << 10, source), 0, visit),
    }
    reader.problems
}

/// Like [`read`], for a source that can be read only once. Its size is unknown, so a fixed number
/// limits the unpacked size.
pub(super) fn read_once(name: &str, source: impl Read, visit: Visit<'_>) -> Vec<Problem> {
    let mut reader = Reader { problems: Vec::new(), budget: UNPACKED, members: 0 };
    match peek(source) {
        Ok((head, source)) => match detect_form(&head) {
            // The directory of a zip archive is at its end.
            Form::Zip => reader.add_problem(name, ProblemKind::Unsupported, Text::same(ZIP)),
            Form::Plain => reader.read_plain(name, source, visit),
            _ => reader.read_any(name, source, 0, visit),
        },
        Err(error) => reader.add_damage(name, &error),
    }
    reader.problems
}

/// The reason why a zip archive is not read from a pipe.
const ZIP: &str = "a zip archive is read from a file and not from a pipe";

struct Reader {
    problems: Vec<Problem>,
    /// The number of bytes that may still be unpacked.
    budget: u64,
    members: usize,
}

impl Reader {
    fn add_problem(&mut self, name: &str, kind: ProblemKind, detail: Text) {
        self.problems.push(Problem { name: name.to_owned(), kind, detail });
    }

    fn read_plain(&mut self, name: &str, mut source: impl Read, visit: Visit<'_>) {
        if let Err(error) = visit(name, &mut source) {
            self.add_damage(name, &error);
        }
    }

    fn add_damage(&mut self, name: &str, error: &io::Error) {
        let kind = match error.get_ref() {
            Some(inner) if inner.is::<Fault>() => ProblemKind::TooLarge,
            _ => ProblemKind::Damaged,
        };
        self.add_problem(name, kind, error.value());
    }

    /// Reads a source that may be compressed again: `depth` counts the layers around it.
    fn read_any(&mut self, name: &str, source: impl Read, depth: usize, visit: Visit<'_>) {
        let (head, source) = match peek(source) {
            Ok(peeked) => peeked,
            Err(error) => return self.add_damage(name, &error),
        };
        match detect_form(&head) {
            Form::Packed(packing) if depth < 3 => {
                let inner = packing.inner_name(name).to_owned();
                // Boxed: the type would otherwise contain itself.
                let mut limited = LimitedReader::new(packing.unpack(source), self.budget);
                self.read_any(&inner, &mut limited as &mut dyn Read, depth + 1, visit);
                self.spend(&limited);
            }
            Form::Tar if depth < 3 => self.read_tar(name, source, depth, visit),
            Form::Program => {}
            Form::Packed(_) | Form::Tar => {
                self.add_problem(name, ProblemKind::Unsupported, faults::TooManyLayers.value());
            }
            Form::Zip => {
                self.add_problem(name, ProblemKind::Unsupported, faults::ZipWithin.value());
            }
            Form::Unsupported(what) => {
                self.add_problem(name, ProblemKind::Unsupported, Text::same(what));
            }
            Form::Plain => self.read_plain(name, source, visit),
        }
    }

    fn read_tar(&mut self, name: &str, source: impl Read, depth: usize, visit: Visit<'_>) {
        let read = tarball::each(source, |entry| {
            // Links, devices and directories have no content.
            if entry.header().entry_type().is_file() {
                if !self.count_member(name) {
                    return ControlFlow::Break(());
                }
                let path = entry.path_bytes();
                let member = String::from_utf8_lossy(&path[..path.len().min(PATH)]).into_owned();
                if !super::is_no_log(&member) {
                    let inside = format!("{name}!{member}");
                    self.read_any(&inside, entry as &mut dyn Read, depth + 1, visit);
                }
            }
            ControlFlow::Continue(())
        });
        // The data behind a damaged header cannot be found.
        if let Err(error) = read {
            self.add_damage(name, &error);
        }
    }

    fn read_zip(&mut self, name: &str, source: impl Read + Seek, visit: Visit<'_>) {
        let mut archive = match zip::ZipArchive::new(BufReader::new(source)) {
            Ok(archive) => archive,
            Err(error) => {
                return self.add_problem(name, ProblemKind::Damaged, quote(&error.to_string()));
            }
        };
        for index in 0..archive.len() {
            if !self.count_member(name) {
                return;
            }
            match archive.by_index(index) {
                Ok(member) if member.is_file() => {
                    let own = String::from_utf8_lossy(member.name_raw()).into_owned();
                    if super::is_no_log(&own) {
                        continue;
                    }
                    let inside = format!("{name}!{own}");
                    let mut limited = LimitedReader::new(Box::new(member), self.budget);
                    self.read_any(&inside, &mut limited as &mut dyn Read, 1, visit);
                    self.spend(&limited);
                }
                Ok(_) => {}
                Err(error) => {
                    self.add_problem(name, ProblemKind::Damaged, quote(&error.to_string()));
                }
            }
        }
    }

    /// Deducts the unpacked bytes. If they exceeded the budget, the last problem is that limit.
    fn spend(&mut self, limited: &LimitedReader<'_>) {
        self.budget = self.budget.saturating_sub(limited.used);
        if let Some(problem) = self.problems.last_mut().filter(|_| limited.exceeded) {
            problem.kind = ProblemKind::TooLarge;
        }
    }

    /// Counts a member of an archive, and returns whether it may be read.
    fn count_member(&mut self, name: &str) -> bool {
        self.members += 1;
        let may = self.members <= MEMBERS && self.budget > 0;
        if !may {
            self.add_problem(name, ProblemKind::TooLarge, Text::default());
        }
        may
    }
}

/// A stream whose first block was read before.
type PeekedStream<R> = Chain<Cursor<Vec<u8>>, R>;

/// The first block of a stream, and the complete stream.
fn peek<R: Read>(mut source: R) -> io::Result<(Vec<u8>, PeekedStream<R>)> {
    let mut head = Vec::with_capacity(BLOCK);
    source.by_ref().take(BLOCK as u64).read_to_end(&mut head)?;
    Ok((head.clone(), Cursor::new(head).chain(source)))
}

/// A stream that fails if it becomes too long.
struct LimitedReader<'a> {
    source: Box<dyn Read + 'a>,
    left: u64,
    used: u64,
    exceeded: bool,
}

impl<'a> LimitedReader<'a> {
    fn new(source: Box<dyn Read + 'a>, left: u64) -> Self {
        Self { source, left, used: 0, exceeded: false }
    }
}

impl Read for LimitedReader<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.used >= self.left {
            // Not an error if the source has ended.
            let mut one = [0_u8; 1];
            if self.source.read(&mut one)? == 0 {
                return Ok(0);
            }
            self.exceeded = true;
            return Err(io::Error::other(faults::UnpacksToTooMuch.fault()));
        }
        let most = usize::try_from(self.left - self.used).unwrap_or(usize::MAX).min(buffer.len());
        let count = self.source.read(&mut buffer[..most])?;
        self.used += count as u64;
        Ok(count)
    }
}
