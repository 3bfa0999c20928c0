//! `key=value` files: `version.info`, `ascend_*_install.info`, `/etc/ascend_install.info`.

use crate::sysroot::Sysroot;
use data::faults;
use facts::{InfoFile, ProblemKind};

/// Maximum number of kept fields of one file.
const MAX_FIELDS: usize = 512;

/// Parses the text of a `key=value` file. Values lose surrounding blanks and one pair of double
/// quotes. Lines that are empty or start with `#` or `[` are skipped; the numbers of other
/// lines without `=` come back as the second part.
pub fn parse_info(path: &str, text: &str) -> (InfoFile, Vec<u32>) {
    let mut file = InfoFile { path: path.to_owned(), ..InfoFile::default() };
    let mut bad = Vec::new();
    for (number, line) in (1_u32..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', '[']) {
            continue;
        }
        match line.split_once('=') {
            Some((key, value)) if !key.trim().is_empty() => {
                if file.fields.len() < MAX_FIELDS {
                    let value = value.trim();
                    let bare = value.strip_prefix('"').and_then(|v| v.strip_suffix('"'));
                    file.fields.insert(key.trim().to_owned(), bare.unwrap_or(value).to_owned());
                    file.lines.insert(key.trim().to_owned(), number);
                }
            }
            _ => bad.push(number),
        }
    }
    (file, bad)
}

/// Reads such a file, if it exists. A file without any field, or with a line that is not a field,
/// is recorded as malformed.
pub(super) fn read_info(sysroot: &Sysroot, path: &str) -> Option<InfoFile> {
    let text = sysroot.read_text_if_exists(path)?;
    let (file, bad) = parse_info(path, &text);
    if file.fields.is_empty() {
        sysroot.problem(path, ProblemKind::Malformed, &faults::NoKeyValue.value());
    } else if let Some(line) = bad.first() {
        let detail = faults::NotAKeyValueLine { line: *line }.value();
        sysroot.problem_at(path, Some(*line), ProblemKind::Malformed, &detail);
    }
    Some(file)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_read() {
        let (file, bad) = parse_info("x", "Version=24.1.0\n# c\nq = \"8.2\"\n\nnonsense\n");
        assert_eq!(file.get("Version"), Some("24.1.0"));
        assert_eq!(file.get("q"), Some("8.2"));
        assert_eq!((file.place("Version").line, file.place("q").line), (Some(1), Some(3)));
        assert_eq!(file.place("none").line, None);
        assert_eq!(bad, [5]);
    }
}
