//! Rows of values for spreadsheets and scripts: CSV according to RFC 4180.

use std::borrow::Cow;
use std::io::{self, Write};

use base::text::escape_line;

/// Writes a head and rows. Control characters become visible text.
pub fn write_rows(head: &[&str], rows: &[Vec<String>], out: &mut dyn Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().from_writer(out);
    writer.write_record(head)?;
    for row in rows {
        let cells: Vec<Cow<'_, str>> = row.iter().map(|cell| inert(cell)).collect();
        writer.write_record(cells.iter().map(|cell| cell.as_bytes()))?;
    }
    writer.flush()
}

/// A cell that no spreadsheet interprets as a formula: values come from the examined machine.
fn inert(cell: &str) -> Cow<'_, str> {
    let escaped = escape_line(cell);
    if escaped.starts_with(['=', '+', '-', '@']) && escaped.parse::<f64>().is_err() {
        return Cow::Owned(format!("'{escaped}"));
    }
    escaped
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(cells: &[&str]) -> String {
        let row = cells.iter().map(|cell| (*cell).to_owned()).collect();
        let mut out = Vec::new();
        write_rows(&["a", "b"], &[row], &mut out).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn separators_and_quotes_are_quoted() {
        assert_eq!(written(&["x, y", "\"q\""]), "a,b\n\"x, y\",\"\"\"q\"\"\"\n");
        assert_eq!(written(&["", "1"]), "a,b\n,1\n");
    }

    #[test]
    fn values_of_a_machine_are_no_formulas_and_no_new_rows() {
        assert_eq!(written(&["=HYPERLINK(0)", "@x"]), "a,b\n'=HYPERLINK(0),'@x\n");
        assert_eq!(written(&["-8005", "x\ny\u{1b}"]), "a,b\n-8005,x\\ny\\x1b\n");
    }
}
