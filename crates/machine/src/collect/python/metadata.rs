//! The text files of a dist-info: `METADATA`, `WHEEL`, `entry_points.txt`, `direct_url.json`.

use facts::{EntryPoint, Lines};

/// Maximum number of kept values of one header field.
const MAX_VALUES: usize = 5000;

/// The relevant header fields of a `METADATA` (or `PKG-INFO`).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Metadata {
    /// `Name`.
    pub name: Option<String>,
    /// `Version`.
    pub version: Option<String>,
    /// `Requires-Dist`, in order.
    pub requires: Vec<String>,
    /// `Requires-Python`.
    pub requires_python: Option<String>,
    /// Lines of `Version`, `Requires-Python` and each `Requires-Dist: …`.
    pub lines: Lines,
}

/// Parses the header of a `METADATA`: mail header fields up to the first empty line. Never fails;
/// invalid UTF-8 is replaced.
pub fn parse(bytes: &[u8]) -> Metadata {
    let text = String::from_utf8_lossy(bytes);
    let mut meta = Metadata::default();
    for (name, value, line) in fields(&text) {
        let lines = &mut meta.lines;
        let mut note = |key: &str| {
            lines.entry(key.to_owned()).or_insert(line);
        };
        let filled = || (!value.is_empty()).then(|| value.clone());
        if name.eq_ignore_ascii_case("Name") {
            meta.name = meta.name.take().or_else(filled);
        } else if name.eq_ignore_ascii_case("Version") {
            meta.version = meta.version.take().or_else(filled);
            if !value.is_empty() {
                note("Version");
            }
        } else if name.eq_ignore_ascii_case("Requires-Dist") {
            if meta.requires.len() < MAX_VALUES {
                note(&format!("Requires-Dist: {value}"));
                meta.requires.extend(filled());
            }
        } else if name.eq_ignore_ascii_case("Requires-Python") {
            note("Requires-Python");
            meta.requires_python = meta.requires_python.take().or_else(filled);
        }
    }
    meta
}

/// The `Tag` values of a `WHEEL` file.
pub fn wheel_tags(text: &str) -> Vec<String> {
    fields(text)
        .into_iter()
        .filter(|(name, value, _)| name.eq_ignore_ascii_case("Tag") && !value.is_empty())
        .map(|(_, value, _)| value)
        .take(MAX_VALUES)
        .collect()
}

/// Name, value and first line of each header field; continuation lines are joined with a blank.
fn fields(text: &str) -> Vec<(&str, String, u32)> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut out: Vec<(&str, String, u32)> = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        if line.trim().is_empty() {
            // Blank lines before the first field do not end the header.
            if out.is_empty() {
                continue;
            }
            break;
        }
        if line.starts_with([' ', '\t']) {
            if let Some((_, value, _)) = out.last_mut() {
                value.push(' ');
                value.push_str(line.trim());
            }
        } else if let Some((name, value)) = line.split_once(':') {
            out.push((name.trim(), value.trim().to_owned(), number));
        }
    }
    out
}

/// The lines of an `entry_points.txt`.
pub fn entry_points(text: &str) -> Vec<EntryPoint> {
    let mut group = String::new();
    let mut out = Vec::new();
    for (number, line) in (1..).zip(text.lines()) {
        let line = line.trim();
        if line.is_empty() || line.starts_with(['#', ';']) {
            continue;
        }
        if let Some(name) = line.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
            name.trim().clone_into(&mut group);
        } else if let Some((name, value)) = line.split_once('=')
            && !group.is_empty()
            && out.len() < MAX_VALUES
        {
            out.push(EntryPoint {
                group: group.clone(),
                name: name.trim().to_owned(),
                value: value.trim().to_owned(),
                line: Some(number),
            });
        }
    }
    out
}

/// The directory of an editable install, from `direct_url.json` (PEP 610).
pub fn editable_dir(text: &str) -> Option<String> {
    let json: serde_json::Value = serde_json::from_str(text).ok()?;
    let editable = json.get("dir_info")?.get("editable")?.as_bool()?;
    let url = json.get("url")?.as_str()?;
    let path = url.strip_prefix("file://")?;
    (editable && path.starts_with('/')).then(|| percent_decoded(path))
}

fn percent_decoded(text: &str) -> String {
    let mut out = Vec::with_capacity(text.len());
    let mut bytes = text.bytes();
    while let Some(byte) = bytes.next() {
        let mut ahead = bytes.clone();
        let digit = |byte: Option<u8>| char::from(byte?).to_digit(16);
        if byte == b'%'
            && let (Some(high), Some(low)) = (digit(ahead.next()), digit(ahead.next()))
            && let Ok(decoded) = u8::try_from(high * 16 + low)
        {
            out.push(decoded);
            bytes = ahead;
        } else {
            out.push(byte);
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_header_ends_at_the_empty_line() {
        let meta = parse(
            b"Metadata-Version: 2.1\nName: torch_npu\nVersion: 2.9.0\nLicense: a\n  b\n\
              Requires-Dist: torch==2.9.0+cpu\nRequires-Python: >=3.9\n\nVersion: 1\n",
        );
        assert_eq!(meta.name.as_deref(), Some("torch_npu"));
        assert_eq!(meta.version.as_deref(), Some("2.9.0"));
        assert_eq!(meta.requires, ["torch==2.9.0+cpu"]);
        assert_eq!(meta.requires_python.as_deref(), Some(">=3.9"));
        let lines = ["Version", "Requires-Dist: torch==2.9.0+cpu", "Requires-Python"];
        assert_eq!(lines.map(|key| meta.lines[key]), [3, 6, 7]);
    }

    #[test]
    fn tags_of_a_wheel() {
        let text = "\nWheel-Version: 1.0\r\nTag: cp39-cp39-manylinux_2_17_aarch64\r\n\
                    Tag: cp39-cp39-manylinux2014_aarch64\r\n";
        assert_eq!(
            wheel_tags(text),
            ["cp39-cp39-manylinux_2_17_aarch64", "cp39-cp39-manylinux2014_aarch64"]
        );
    }

    #[test]
    fn groups_of_entry_points() {
        let points = entry_points("x = y\n[torch.backends]\ntorch_npu = torch_npu:_autoload\n");
        let want = EntryPoint {
            group: "torch.backends".to_owned(),
            name: "torch_npu".to_owned(),
            value: "torch_npu:_autoload".to_owned(),
            line: Some(3),
        };
        assert_eq!(points, [want]);
    }

    #[test]
    fn only_editable_directories_count() {
        let text = r#"{"dir_info": {"editable": true}, "url": "file:///w/vllm%20x"}"#;
        assert_eq!(editable_dir(text).as_deref(), Some("/w/vllm x"));
        assert_eq!(editable_dir(r#"{"url": "file:///w", "dir_info": {}}"#), None);
        assert_eq!(editable_dir("{"), None);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed(bytes in proptest::collection::vec(any::<u8>(), 0..1000)) {
            let text = String::from_utf8_lossy(&bytes);
            parse(&bytes);
            wheel_tags(&text);
            entry_points(&text);
            editable_dir(&text);
            percent_decoded(&text);
        }

        #[test]
        fn written_fields_parse_to_same_values(name in "[A-Za-z][A-Za-z0-9._-]{0,20}", version in "[0-9][0-9a-z.+]{0,10}") {
            let meta = parse(format!("Name: {name}\nVersion: {version}\n\nbody").as_bytes());
            prop_assert_eq!(meta.name, Some(name));
            prop_assert_eq!(meta.version, Some(version));
        }
    }
}
