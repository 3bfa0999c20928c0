//! Distinguishes edited files from damaged ones, if they differ from RECORD. An interpreter and the
//! dynamic linker accept edited files. They refuse a module that does not parse, and a library that
//! ends too early.

use crate::elf::Object;
use crate::sysroot::Sysroot;
use facts::FileDifference;

/// Maximum number of bytes read from a module.
const MODULE_LIMIT: u64 = 1 << 20;

/// Sets `kind` to the damage, if there is any.
pub(super) fn examine(sysroot: &Sysroot, file: &mut FileDifference) {
    if file.path.ends_with(".py") {
        module(sysroot, file);
    } else if let Ok(library) = sysroot.open(&file.path)
        && Object::read(&library).is_err()
    {
        "broken".clone_into(&mut file.kind);
    }
}

/// Detects a module with NUL bytes, which a crash of the host leaves in files of the right size, or
/// one that does not parse. An empty one parses.
fn module(sysroot: &Sysroot, file: &mut FileDifference) {
    let Ok(bytes) = sysroot.read(&file.path, MODULE_LIMIT) else { return };
    if bytes.contains(&0) {
        "nul".clone_into(&mut file.kind);
        return;
    }
    // Half of a file often parses. It usually ends within a line, while editors end a file with a
    // line break.
    let expected = file.expected.parse().unwrap_or(0);
    if file.kind == "size"
        && bytes.len() < expected
        && bytes.last().is_some_and(|end| *end != b'\n')
    {
        "cut".clone_into(&mut file.kind);
        return;
    }
    // The file may declare an encoding other than UTF-8, so it is not examined.
    let Ok(text) = std::str::from_utf8(&bytes) else { return };
    let parsed = pysyntax::on_enough_stack(text, || pysyntax::parse_module(text, false).map(drop));
    if let Err(error) = parsed {
        "syntax".clone_into(&mut file.kind);
        file.found = error.line.to_string();
    }
}

#[cfg(test)]
mod tests {
    #![expect(clippy::disallowed_methods, reason = "the test builds the tree that is examined")]

    use super::*;

    fn kind(name: &str, bytes: &[u8]) -> (String, String) {
        let dir = tempfile::tempdir().unwrap();
        std::fs::write(dir.path().join(name), bytes).unwrap();
        let sysroot = Sysroot::tree(dir.path()).unwrap();
        let mut file = FileDifference {
            path: format!("/{name}"),
            kind: "size".to_owned(),
            expected: "40".to_owned(),
            found: bytes.len().to_string(),
            ..FileDifference::default()
        };
        examine(&sysroot, &mut file);
        (file.kind, file.found)
    }

    #[test]
    fn an_edited_module_parses_and_a_cut_one_does_not() {
        let is = |name: &str, bytes: &[u8], kind_and_found: (&str, &str)| {
            let found = kind(name, bytes);
            assert_eq!((found.0.as_str(), found.1.as_str()), kind_and_found, "{name}");
        };
        is("a.py", b"x = 1\n", ("size", "6"));
        is("a.py", b"", ("size", "0"));
        is("a.py", b"x = 1\ny = (2,\n", ("syntax", "3"));
        is("a.py", b"def f():\n    '''a\n", ("syntax", "2"));
        is("a.py", b"x = \0\0", ("nul", "6"));
        is("a.py", b"x = 1\ny = Fal", ("cut", "13"));
        is("a.py", b"# -*- coding: gbk -*-\n# \xc4\xe3\n", ("size", "27"));
        is("a.so", b"\x7fELF\x02\x01\x01", ("broken", "7"));
    }
}
