//! Logs in archives that `--add` names: their ends, within the limit of the bundle.
#![expect(clippy::disallowed_methods, reason = "reads archives that the user named")]

use std::io::{self, Read};
use std::path::Path;

use crate::cmd::argument_file::{open_argument, read_argument};
use base::text::Text;
use data::fault::describe_chain;
use data::faults;
use errcodes::log;
use machine::log_tails::{Omission, OmittedFile, Tail};

/// Maximum size of an archive, in bytes.
const ARCHIVE: u64 = 256 << 20;
/// Maximum size of all unpacked members of an archive, in bytes.
const UNPACKED: u64 = 1 << 30;
/// Number of bytes that one step reads.
const STEP: usize = 64 << 10;

/// The logs of the archives.
#[derive(Debug, Default)]
pub(super) struct Unpacked {
    /// The ends of the logs.
    pub(super) taken: Vec<Tail>,
    /// Archives and members that were not read to their end.
    pub(super) left_out: Vec<OmittedFile>,
}

/// Whether a file is an archive of files, rather than one compressed log.
pub(super) fn is_archive(path: &Path) -> bool {
    let is_regular = path.metadata().is_ok_and(|meta| meta.is_file());
    is_regular && open_argument(path).is_ok_and(log::is_archive)
}

/// Takes the ends of the logs in an archive, of at most `left` bytes together.
pub(super) fn unpack(path: &str, left: &mut u64, unpacked: &mut Unpacked) {
    let omit = |path: String, why: Text| OmittedFile { path, why, missed: Omission::Requested };
    let bytes = match read_argument(Path::new(path), ARCHIVE) {
        Ok(bytes) => bytes,
        Err(error) => {
            unpacked.left_out.push(omit(path.to_owned(), describe_chain(error.chain())));
            return;
        }
    };
    let mut full = None;
    let problems = log::unpack(path, &bytes, UNPACKED, &mut |name, reader| {
        if *left == 0 {
            full.get_or_insert_with(|| safe_name(name));
            return Ok(());
        }
        let tail = read_end(&safe_name(name), reader, *left)?;
        *left = left.saturating_sub(tail.text.len() as u64);
        unpacked.taken.push(tail);
        Ok(())
    });
    for problem in problems {
        let why = log::describe_problem(&problem);
        unpacked.left_out.push(omit(safe_name(&problem.name), why));
    }
    if let Some(name) = full {
        let why = faults::LimitReached.value();
        unpacked.left_out.push(omit(name, why));
    }
}

/// Returns a name without parts that lead elsewhere.
fn safe_name(name: &str) -> String {
    let parts = name.split(['/', '\\', '!']).filter(|part| !matches!(*part, "" | "." | ".."));
    let parts: Vec<String> = parts.map(|part| part.replace(char::is_control, "_")).collect();
    format!("/{}", parts.join("/"))
}

/// Reads to the end, and keeps at most the last `most` bytes, from the beginning of a line on.
fn read_end(name: &str, reader: &mut dyn Read, most: u64) -> io::Result<Tail> {
    let most = usize::try_from(most).unwrap_or(usize::MAX);
    let (mut text, mut size) = (Vec::new(), 0);
    let mut step = vec![0; STEP];
    loop {
        let count = reader.read(&mut step)?;
        if count == 0 {
            break;
        }
        size += count as u64;
        text.extend_from_slice(&step[..count]);
        if text.len() > most.saturating_mul(2).saturating_add(STEP) {
            text.drain(..text.len() - most);
        }
    }
    if text.len() > most {
        text.drain(..text.len() - most);
    }
    let cut = (text.len() as u64) < size;
    if cut {
        let line = text.iter().position(|&byte| byte == b'\n').map_or(text.len(), |at| at + 1);
        text.drain(..line);
    }
    let before = text.len();
    text.retain(|&byte| byte != 0);
    let nul = (before - text.len()) as u64;
    Ok(Tail { path: name.to_owned(), size, cut, compressed: false, nul, text })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ends_begin_with_a_line_and_names_stay_below_the_logs() {
        let text = b"first line\nsecond\0 line\nthird\n";
        let tail = read_end("/a", &mut &text[..], 15).unwrap();
        assert_eq!((tail.text.as_slice(), tail.cut, tail.nul), (&b"third\n"[..], true, 0));
        let whole = read_end("/a", &mut &text[..], 1 << 20).unwrap();
        assert_eq!((whole.cut, whole.nul, whole.size), (false, 1, text.len() as u64));
        assert_eq!(safe_name("/x/../../etc/./a\nb"), "/x/etc/a_b");
        assert_eq!(safe_name(".."), "/");
        assert_eq!(safe_name("/x/b.zip!../w.log"), "/x/b.zip/w.log");
    }
}
