//! Unified diffs that `git apply` and `patch -p1` accept, of bytes in any encoding.

use std::fmt::Write as _;
use std::io::{self, Write};
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

use similar::{Algorithm, DiffOp, capture_diff_slices, group_diff_ops};

use base::text::escape_line;

/// Lines around a change.
const CONTEXT: usize = 3;

/// The lines of a text, each with its line feed; a carriage return belongs to the line.
pub fn lines(bytes: &[u8]) -> Vec<&[u8]> {
    bytes.split_inclusive(|&byte| byte == b'\n').collect()
}

/// The differences between two texts, by lines.
pub fn operations(before: &[&[u8]], after: &[&[u8]]) -> Vec<DiffOp> {
    capture_diff_slices(Algorithm::Myers, before, after)
}

/// Writes the difference of the file `name` as a patch. With `terminal`, escapes bytes that could
/// control the terminal; the result is then for reading only, not a valid patch.
pub fn unified(
    name: &Path,
    before: &[u8],
    after: &[u8],
    terminal: bool,
    out: &mut dyn Write,
) -> io::Result<()> {
    let (old, new) = (lines(before), lines(after));
    header("--- ", "a/", name, out)?;
    header("+++ ", "b/", name, out)?;
    for group in group_diff_ops(operations(&old, &new), CONTEXT) {
        let (Some(first), Some(last)) = (group.first(), group.last()) else { continue };
        writeln!(
            out,
            "@@ -{} +{} @@",
            span(first.old_range().start, last.old_range().end),
            span(first.new_range().start, last.new_range().end)
        )?;
        for operation in &group {
            if let DiffOp::Equal { .. } = operation {
                for line in &old[operation.old_range()] {
                    put(b' ', line, terminal, out)?;
                }
                continue;
            }
            for line in &old[operation.old_range()] {
                put(b'-', line, terminal, out)?;
            }
            for line in &new[operation.new_range()] {
                put(b'+', line, terminal, out)?;
            }
        }
    }
    Ok(())
}

/// `start,count` as a hunk header counts: from 1, but before the first line if the range is empty.
fn span(start: usize, end: usize) -> String {
    match end - start {
        0 => format!("{start},0"),
        1 => format!("{}", start + 1),
        count => format!("{},{count}", start + 1),
    }
}

fn put(mark: u8, line: &[u8], terminal: bool, out: &mut dyn Write) -> io::Result<()> {
    let (text, ended) = match line.strip_suffix(b"\n") {
        Some(text) => (text, true),
        None => (line, false),
    };
    out.write_all(&[mark])?;
    if terminal {
        // Many files have a carriage return at each line end; elsewhere it is shown.
        let text = text.strip_suffix(b"\r").unwrap_or(text);
        let shown = String::from_utf8_lossy(text).replace('\t', "    ");
        out.write_all(escape_line(&shown).as_bytes())?;
    } else {
        out.write_all(text)?;
    }
    out.write_all(if ended { b"\n" } else { b"\n\\ No newline at end of file\n" })
}

/// A name as git writes it: quoted if it contains characters that would be misread.
fn header(mark: &str, side: &str, name: &Path, out: &mut dyn Write) -> io::Result<()> {
    let bytes = name.as_os_str().as_bytes();
    let plain = |byte: u8| (b' '..0x7f).contains(&byte) && byte != b'"' && byte != b'\\';
    if bytes.iter().copied().all(plain) {
        let shown = String::from_utf8_lossy(bytes);
        // Git puts a tab after a name with blanks to mark its end.
        let end = if bytes.contains(&b' ') { "\t" } else { "" };
        return writeln!(out, "{mark}{side}{shown}{end}");
    }
    let mut quoted = String::new();
    for &byte in bytes {
        match byte {
            b'"' | b'\\' => {
                quoted.push('\\');
                quoted.push(char::from(byte));
            }
            _ if plain(byte) => quoted.push(char::from(byte)),
            _ => write!(quoted, "\\{byte:03o}").unwrap_or_default(),
        }
    }
    writeln!(out, "{mark}\"{side}{quoted}\"")
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "lets real programs apply the patches")]

    use std::ffi::OsStr;
    use std::process::Command;

    use proptest::prelude::*;

    use super::*;

    fn diff(name: &Path, before: &[u8], after: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        unified(name, before, after, false, &mut out).unwrap();
        out
    }

    #[test]
    fn a_patch_reads_as_usual() {
        let before = b"1\n2\n3\n4\n5\n6\n7\n8\r\nlast";
        let after = b"1\n2\n3\n4\n5\n6\n7\n8!\r\nlast!";
        assert_eq!(
            String::from_utf8(diff(Path::new("d/a.py"), before, after)).unwrap(),
            "--- a/d/a.py\n+++ b/d/a.py\n@@ -5,5 +5,5 @@\n 5\n 6\n 7\n-8\r\n-last\n\
             \\ No newline at end of file\n+8!\r\n+last!\n\\ No newline at end of file\n"
        );
    }

    #[test]
    fn nothing_acts_on_a_terminal() {
        let mut out = Vec::new();
        unified(Path::new("a\x1b.py"), b"\x1b[31m\xff\r\n", b"x\r\n", true, &mut out).unwrap();
        let text = String::from_utf8(out).unwrap();
        assert!(text.contains("-\\x1b[31m\u{fffd}\n+x\n"), "{text}");
        assert!(!text.contains('\x1b'), "{text}");
    }

    #[test]
    fn git_applies_the_patch() {
        applies_by(&["git", "apply", "--whitespace=nowarn", "-p1"]);
    }

    #[test]
    #[ignore = "needs patch"]
    fn patch_applies_the_patch() {
        applies_by(&["patch", "-s", "-p1", "--binary"]);
    }

    /// Applies patches with unusual names and bytes with an external program.
    fn applies_by(program: &[&str]) {
        let names = ["a.py", "with blank.py", "d/\u{8def}.py", "quo\"te\\.py"].map(OsStr::new);
        let names = names.into_iter().chain([OsStr::from_bytes(b"caf\xe9.py")]);
        let before = b"a\r\ncuda\r\n\xff\n\n\n\n\n\n\n\nz\tcuda";
        let after = b"a\r\nnpu\r\n\xff\n\n\n\n\n\n\n\nz\tnpu";
        for name in names.map(Path::new) {
            let dir = tempfile::tempdir().unwrap();
            let place = dir.path().join(name);
            std::fs::create_dir_all(place.parent().unwrap()).unwrap();
            std::fs::write(&place, before).unwrap();
            std::fs::write(dir.path().join("p"), diff(name, before, after)).unwrap();
            let input = std::fs::File::open(dir.path().join("p")).unwrap();
            let mut command = Command::new(program[0]);
            command.args(&program[1..]).current_dir(dir.path()).stdin(input);
            let output = command.output();
            let output =
                output.unwrap_or_else(|error| panic!("cannot start {}: {error}", program[0]));
            let said = String::from_utf8_lossy(&output.stderr).into_owned();
            assert!(output.status.success(), "{program:?} {}: {said}", name.display());
            assert_eq!(std::fs::read(&place).unwrap(), after, "{program:?}");
        }
    }

    proptest! {
        /// The patch is sufficient to build the new text from the old one.
        #[test]
        fn a_patch_holds_the_new_text(
            before in proptest::collection::vec("[ab]?", 0..30),
            after in proptest::collection::vec("[ab]?", 0..30),
            end in proptest::sample::select(vec!["", "\n"]),
        ) {
            let before = before.join("\n") + end;
            let after = after.join("\n");
            let patch = diff(Path::new("a"), before.as_bytes(), after.as_bytes());
            let patch = String::from_utf8(patch).unwrap();
            prop_assert_eq!(applied(&before, &patch), after);
        }
    }

    /// A small `patch`.
    fn applied(before: &str, patch: &str) -> String {
        let old: Vec<&str> = before.split_inclusive('\n').collect();
        let (mut out, mut at) = (String::new(), 0);
        let mut kept = false;
        for line in patch.split_inclusive('\n').skip(2) {
            if let Some(range) = line.strip_prefix("@@ -") {
                let first = range.split([' ', ',']).next().unwrap().parse::<usize>().unwrap();
                let none = range.split(' ').next().unwrap().ends_with(",0");
                let start = if none { first } else { first - 1 };
                out.extend(old[at..start].iter().copied());
                at = start;
            } else if line.starts_with('\\') {
                if kept {
                    out.pop();
                }
            } else {
                kept = !line.starts_with('-');
                if kept {
                    out.push_str(&line[1..]);
                }
                at += usize::from(!line.starts_with('+'));
            }
        }
        out.extend(old[at..].iter().copied());
        out
    }
}
