//! `RECORD` of a dist-info: the files that a wheel installed, with size and hash.
//!
//! The format is CSV with three columns: path, `algorithm=hash`, size (the packaging
//! specification "Recording installed projects").

use base::hash::Sha256;
use base::text::Text;
use data::faults;

/// Maximum number of bytes read from a RECORD. The largest published `torch_npu` RECORD has 312 kB.
pub const RECORD_LIMIT: u64 = 64 << 20;
/// Maximum number of kept rows. The longest known RECORD, that of torch, has 13,000.
pub const MAX_ROWS: usize = 200_000;
/// Maximum number of kept malformed rows; more of them add no information.
const MAX_BAD: usize = 100;
/// Maximum length of a kept path in bytes (`PATH_MAX` of Linux).
const MAX_PATH: usize = 4096;

/// One row of RECORD.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Path relative to the directory that contains the dist-info, or absolute.
    pub path: String,
    /// The SHA-256 of the file, if RECORD has one.
    pub sha256: Option<Sha256>,
    /// Size in bytes, if RECORD has one.
    pub size: Option<u64>,
    /// Its first line, counted from 1.
    pub line: u32,
}

/// A complete RECORD.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Record {
    /// The rows that can be read, in order.
    pub rows: Vec<Row>,
    /// Rows that cannot be read: line number, counted from 1, and the defect.
    pub bad: Vec<(u32, Text)>,
    /// Whether rows were omitted because there are more than a RECORD can sensibly have.
    pub truncated: bool,
}

/// Parses a RECORD. Never fails: a row that cannot be read is recorded with its line.
pub fn parse(bytes: &[u8]) -> Record {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(bytes);
    let mut record = Record::default();
    let mut fields = csv::ByteRecord::new();
    loop {
        match reader.read_byte_record(&mut fields) {
            Ok(true) => {}
            Ok(false) => return record,
            Err(error) => {
                let line = error.position().map_or(0, csv::Position::line);
                record.bad.push((line_number(line), data::fault::quote(&error.to_string())));
                return record;
            }
        }
        if record.rows.len() >= MAX_ROWS {
            record.truncated = true;
            return record;
        }
        match row(bytes, &fields) {
            Ok(row) => record.rows.push(row),
            Err(reason) if record.bad.len() < MAX_BAD => {
                record.bad.push((line_of(bytes, &fields), reason));
            }
            Err(_) => record.truncated = true,
        }
    }
}

/// The first line of a row of `bytes`. The reader treats `\r` as the end of a row, and the `\n`
/// after it, like empty lines, as part of the next.
fn line_of(bytes: &[u8], fields: &csv::ByteRecord) -> u32 {
    let Some(at) = fields.position() else { return 0 };
    let rest = usize::try_from(at.byte()).ok().and_then(|from| bytes.get(from..));
    let ends = rest.unwrap_or_default().iter().take_while(|byte| matches!(byte, b'\r' | b'\n'));
    line_number(at.line() + ends.filter(|&&byte| byte == b'\n').count() as u64)
}

fn line_number(line: u64) -> u32 {
    u32::try_from(line).unwrap_or(u32::MAX)
}

fn row(bytes: &[u8], fields: &csv::ByteRecord) -> Result<Row, Text> {
    let text = |index: usize| {
        std::str::from_utf8(fields.get(index).unwrap_or_default())
            .map_err(|_| faults::ColumnNotUtf8 { n: index + 1 }.value())
    };
    let path = text(0)?;
    if path.is_empty() {
        return Err(faults::PathEmpty.value());
    }
    if path.len() > MAX_PATH || path.contains('\0') {
        return Err(faults::PathNoName.value());
    }
    if fields.len() > 3 {
        return Err(faults::TooManyColumns { n: fields.len() }.value());
    }
    if fields.len() < 3 {
        return Err(match fields.len() {
            1 => faults::NoHashColumn.value(),
            _ => faults::NoSizeColumn.value(),
        });
    }
    let (hash, size) = (text(1)?.trim(), text(2)?.trim());
    let sha256 = match hash.strip_prefix("sha256=") {
        Some(digest) => Some(
            Sha256::from_base64url(digest)
                .ok_or_else(|| faults::NotSha256 { text: &short(digest) }.value())?,
        ),
        // Other algorithms are permitted, but cannot be compared.
        None => None,
    };
    let size = match size {
        "" => None,
        digits => {
            Some(digits.parse().map_err(|_| faults::NotASize { text: &short(digits) }.value())?)
        }
    };
    Ok(Row { path: path.to_owned(), sha256, size, line: line_of(bytes, fields) })
}

/// A value of a malformed row, truncated to the limit of a message.
fn short(text: &str) -> String {
    text.chars().take(60).collect()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn quotes_commas_and_crlf() {
        let text = "a.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\r\n\
                    \"b,c \"\"d\"\".py\",,\r\n\
                    p-1.dist-info/RECORD,,\r\n";
        let record = parse(text.as_bytes());
        assert!(record.bad.is_empty(), "{:?}", record.bad);
        let paths: Vec<&str> = record.rows.iter().map(|row| row.path.as_str()).collect();
        assert_eq!(paths, ["a.py", "b,c \"d\".py", "p-1.dist-info/RECORD"]);
        assert_eq!(record.rows[0].size, Some(0));
        assert_eq!(record.rows[0].sha256, Some(Sha256::of(b"")));
        assert_eq!(record.rows[1].sha256, None);
        assert_eq!(record.rows.iter().map(|row| row.line).collect::<Vec<_>>(), [1, 2, 3]);
    }

    #[test]
    fn a_bad_row_is_named_and_the_rest_is_read() {
        let windows = parse(b"a.py,,\r\n\r\nb.py\r\nc.py,,\r\n");
        assert_eq!((windows.bad[0].0, windows.rows[1].line), (3, 4));
        let record = parse(b"a.py\nb.py,,\nc.py,sha256=xx,1\nd.py,,many\n,,\ne.py,,,,\nf.py,,7\n");
        let lines: Vec<u32> = record.bad.iter().map(|(line, _)| *line).collect();
        assert_eq!(lines, [1, 3, 4, 5, 6]);
        assert_eq!(record.rows.len(), 2);
        assert_eq!(record.rows[1].size, Some(7));
    }

    #[test]
    fn names_that_are_not_utf8_are_bad_rows() {
        let record = parse(b"\xff\xfe.py,,\na.py,,\n");
        assert_eq!(record.rows.len(), 1);
        assert_eq!(record.bad.len(), 1);
    }

    #[test]
    fn bad_rows_are_limited() {
        let record = parse("x\n".repeat(10_000).as_bytes());
        assert_eq!(record.bad.len(), MAX_BAD);
        assert!(record.truncated);
    }

    proptest! {
        #[test]
        fn any_bytes_are_parsed(bytes in proptest::collection::vec(any::<u8>(), 0..2000)) {
            let record = parse(&bytes);
            prop_assert!(record.rows.len() <= bytes.len());
        }

        #[test]
        fn written_record_parses_to_same_rows(paths in proptest::collection::vec("[^\\r\\n\\x00]{1,40}", 1..20)) {
            let mut writer = csv::Writer::from_writer(Vec::new());
            for path in &paths {
                writer.write_record([path.as_str(), "", "12"]).unwrap();
            }
            let record = parse(&writer.into_inner().unwrap());
            // A byte order mark at the very beginning is not part of the first name.
            prop_assume!(!paths[0].starts_with('\u{feff}'));
            let read: Vec<&String> = record.rows.iter().map(|row| &row.path).collect();
            prop_assert_eq!(read, paths.iter().collect::<Vec<_>>());
        }
    }
}
