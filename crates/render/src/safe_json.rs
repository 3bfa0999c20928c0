//! JSON whose strings have no effect on a terminal: serde_json escapes C0 controls only.

use std::io::{self, Write};

use serde::Serialize;
use serde_json::ser::{CompactFormatter, Formatter, PrettyFormatter, Serializer};

use base::text::acts_on_terminal;

/// Writes `value` indented, with a line feed at the end. Controls, bidirectional marks and
/// invisible characters inside strings are written as `\uXXXX`, which every reader undoes.
pub fn write(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_with(PrettyFormatter::new(), value, out)
}

/// Like [`write()`], on one line.
pub fn write_line(value: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    write_with(CompactFormatter, value, out)
}

fn write_with(
    formatter: impl Formatter,
    value: &impl Serialize,
    out: &mut dyn Write,
) -> io::Result<()> {
    value.serialize(&mut Serializer::with_formatter(&mut *out, SafeFormatter(formatter)))?;
    writeln!(out)
}

struct SafeFormatter<F>(F);

impl<F: Formatter> Formatter for SafeFormatter<F> {
    fn write_string_fragment<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        fragment: &str,
    ) -> io::Result<()> {
        let mut rest = fragment;
        while let Some((at, c)) = rest.char_indices().find(|&(_, c)| acts_on_terminal(c)) {
            writer.write_all(&rest.as_bytes()[..at])?;
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(writer, "\\u{unit:04x}")?;
            }
            rest = &rest[at + c.len_utf8()..];
        }
        writer.write_all(rest.as_bytes())
    }

    fn begin_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_array(writer)
    }

    fn end_array<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array(writer)
    }

    fn begin_array_value<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_array_value(writer, first)
    }

    fn end_array_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_array_value(writer)
    }

    fn begin_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object(writer)
    }

    fn end_object<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object(writer)
    }

    fn begin_object_key<W: ?Sized + Write>(
        &mut self,
        writer: &mut W,
        first: bool,
    ) -> io::Result<()> {
        self.0.begin_object_key(writer, first)
    }

    fn begin_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.begin_object_value(writer)
    }

    fn end_object_value<W: ?Sized + Write>(&mut self, writer: &mut W) -> io::Result<()> {
        self.0.end_object_value(writer)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn strings_are_harmless_and_read_back_the_same() {
        let text = "a\x1b\u{9b}\u{202e}\u{e0001}\u{7f}路\n\"";
        let mut out = Vec::new();
        write(&text, &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(!shown.trim_end().chars().any(acts_on_terminal), "{shown:?}");
        assert!(shown.contains("路") && shown.contains("\\u202e"));
        assert_eq!(serde_json::from_str::<String>(&shown).unwrap(), text);
        let mut out = Vec::new();
        write_line(&[text, text], &mut out).unwrap();
        let shown = String::from_utf8(out).unwrap();
        assert!(!shown.trim_end().chars().any(acts_on_terminal), "{shown:?}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&shown).unwrap(), [text, text]);
    }
}
