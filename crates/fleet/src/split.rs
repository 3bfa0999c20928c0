//! Splits a stream into JSON documents: consecutive ones, one per line, or interleaved lines of
//! many hosts, each with a label that names its host.
//!
//! A damaged document does not affect the next one, which is found by the first line of reports.

use std::collections::BTreeMap;

/// Maximum size of a document, in bytes.
pub(super) const MAX_DOCUMENT: usize = 16 << 20;
/// Maximum size of unfinished documents over all hosts, in bytes.
const MAX_PENDING: usize = 512 << 20;
/// Maximum number of hosts in a stream.
const MAX_LABELS: usize = 100_000;
/// Maximum length of a kept line that belongs to no document, in bytes.
const MAX_OTHER: usize = 300;

/// A piece of the stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Piece {
    /// A complete document.
    Document(Vec<u8>),
    /// The beginning of a truncated or oversized document.
    Broken(Vec<u8>),
    /// A line that belongs to no document.
    Other(String),
}

/// Splits the stream of one host, line by line.
#[derive(Debug, Default)]
pub(super) struct Splitter {
    buffer: Vec<u8>,
    depth: u32,
    in_string: bool,
    escaped: bool,
    too_large: bool,
    /// Number of lines of the unfinished document, and whether they are indented as in reports.
    lines: usize,
    indented: bool,
    /// Whether the unfinished document has the line with the schema of a report.
    named: bool,
}

/// Start of the line with the schema, in indented reports.
const SCHEMA: &[u8] = b"  \"schema\": \"ascend-doctor/";

impl Splitter {
    /// Adds a line, or a part of one. `joined` means that lines were split at arbitrary positions,
    /// so that line breaks are ignored.
    pub(super) fn line(&mut self, line: &[u8], joined: bool, out: &mut dyn FnMut(Piece)) {
        if self.depth > 0 && !joined && self.begins_document(line) {
            self.end(out);
        }
        if self.depth > 0 && !joined && line.starts_with(SCHEMA) {
            if self.named {
                // The previous document ends within a line, and this one begins on the same line.
                self.end(out);
                (self.depth, self.lines) = (1, 1);
                self.buffer.extend_from_slice(b"{\n");
            }
            self.named = true;
        }
        if self.depth > 0 && self.lines == 1 {
            self.indented = line.first().is_some_and(u8::is_ascii_whitespace);
        }
        let line = if joined { line.strip_suffix(b"\n").unwrap_or(line) } else { line };
        let mut rest = line;
        while !rest.is_empty() {
            if self.depth == 0 {
                let Some(open) = rest.iter().position(|&byte| byte == b'{') else {
                    emit_other(rest, out);
                    break;
                };
                if !rest[..open].trim_ascii().is_empty() {
                    // A line with text before a brace belongs to no document.
                    emit_other(rest, out);
                    break;
                }
                rest = &rest[open..];
            }
            let end = self.scan(rest);
            let taken = end.unwrap_or(rest.len());
            if self.buffer.len() + taken > MAX_DOCUMENT {
                self.too_large = true;
            }
            if !self.too_large {
                self.buffer.extend_from_slice(&rest[..taken]);
            }
            if end.is_some() {
                let document = std::mem::take(&mut self.buffer);
                out(if self.too_large {
                    Piece::Broken(document)
                } else {
                    Piece::Document(document)
                });
                *self = Self::default();
            }
            rest = &rest[taken..];
        }
        if self.depth > 0 {
            self.lines += 1;
        }
    }

    /// Returns whether a line begins another report although the previous one is unfinished. No
    /// line within a report begins with a brace.
    fn begins_document(&self, line: &[u8]) -> bool {
        if line.first() != Some(&b'{') {
            return false;
        }
        let inner = line[1..].trim_ascii();
        inner.starts_with(b"\"schema\"") || (inner.is_empty() && (self.indented || self.lines <= 1))
    }

    /// Tracks braces and strings. Returns the position after the end of the document, if it ends
    /// here.
    fn scan(&mut self, bytes: &[u8]) -> Option<usize> {
        let mut at = 0;
        while at < bytes.len() {
            if self.in_string {
                if self.escaped {
                    self.escaped = false;
                    at += 1;
                    continue;
                }
                match memchr::memchr2(b'"', b'\\', &bytes[at..]) {
                    None => return None,
                    Some(found) => {
                        at += found + 1;
                        if bytes[at - 1] == b'"' {
                            self.in_string = false;
                        } else {
                            self.escaped = true;
                        }
                    }
                }
                continue;
            }
            match bytes[at] {
                b'"' => self.in_string = true,
                b'{' | b'[' => self.depth = self.depth.saturating_add(1),
                b'}' | b']' => {
                    self.depth = self.depth.saturating_sub(1);
                    if self.depth == 0 {
                        return Some(at + 1);
                    }
                }
                _ => {}
            }
            at += 1;
        }
        None
    }

    /// Ends the stream, or discards an unfinished document.
    pub(super) fn end(&mut self, out: &mut dyn FnMut(Piece)) {
        if self.depth > 0 {
            out(Piece::Broken(std::mem::take(&mut self.buffer)));
        }
        *self = Self::default();
    }
}

fn emit_other(line: &[u8], out: &mut dyn FnMut(Piece)) {
    let line = line.trim_ascii();
    if !line.is_empty() {
        let line = &line[..line.len().min(MAX_OTHER)];
        out(Piece::Other(String::from_utf8_lossy(line).into_owned()));
    }
}

/// Splits a stream with the lines of one host or of many.
#[derive(Debug, Default)]
pub(super) struct LabeledSplitter {
    /// Whether lines have labels; `None` until the first document.
    labeled: Option<bool>,
    plain: Splitter,
    hosts: BTreeMap<String, Splitter>,
    pending: usize,
}

impl LabeledSplitter {
    /// Adds a line with its line break. Pieces are passed to `out` with the label of their host,
    /// one by one, because a line may contain millions of documents.
    pub(super) fn line(&mut self, line: &[u8], out: &mut dyn FnMut(Option<&str>, Piece)) {
        let label = parse_label(line);
        if self.labeled.is_none() {
            if line.trim_ascii_start().starts_with(b"{") {
                self.labeled = Some(false);
            } else if label.is_some_and(|(_, rest)| rest.trim_ascii_start().starts_with(b"{")) {
                self.labeled = Some(true);
            }
        }
        match (self.labeled, label) {
            (Some(true), Some((label, rest)))
                if self.hosts.contains_key(label) || self.hosts.len() < MAX_LABELS =>
            {
                let splitter = self.hosts.entry(label.to_owned()).or_default();
                let before = splitter.buffer.len();
                splitter.line(rest, true, &mut |piece| out(Some(label), piece));
                self.pending = (self.pending + splitter.buffer.len()).saturating_sub(before);
                if self.pending > MAX_PENDING && splitter.depth > 0 {
                    self.pending -= splitter.buffer.len();
                    splitter.buffer = Vec::new();
                    splitter.too_large = true;
                }
            }
            (Some(true) | None, _) => emit_other(line, &mut |piece| out(None, piece)),
            (Some(false), _) => self.plain.line(line, false, &mut |piece| out(None, piece)),
        }
    }

    /// Ends the stream.
    pub(super) fn end(&mut self, out: &mut dyn FnMut(Option<&str>, Piece)) {
        self.plain.end(&mut |piece| out(None, piece));
        for (label, mut splitter) in std::mem::take(&mut self.hosts) {
            splitter.end(&mut |piece| out(Some(&label), piece));
        }
    }
}

/// Returns the label of a line and the rest of it. Labels are those of `srun --label`, pdsh and
/// clush (`node001: `), and of `kubectl logs --prefix` (`[pod/name/container] `).
fn parse_label(line: &[u8]) -> Option<(&str, &[u8])> {
    if line.starts_with(b"[pod/") {
        let end = line.iter().take(1024).position(|&byte| byte == b']')?;
        let name = std::str::from_utf8(&line[1..end]).ok()?;
        let rest = &line[end + 1..];
        return Some((name, rest.strip_prefix(b" ").unwrap_or(rest)));
    }
    let colon = line.iter().take(super::hostlist::MAX_NAME + 1).position(|&byte| byte == b':')?;
    let label = std::str::from_utf8(&line[..colon]).ok()?.trim();
    let fits = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    let rest = &line[colon + 1..];
    (!label.is_empty() && label.chars().all(fits))
        .then(|| (label, rest.strip_prefix(b" ").unwrap_or(rest)))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn split(text: &str) -> Vec<(Option<String>, Piece)> {
        let (mut stream, mut out) = (LabeledSplitter::default(), Vec::new());
        let mut take = |label: Option<&str>, piece| out.push((label.map(str::to_owned), piece));
        for line in text.split_inclusive('\n') {
            stream.line(line.as_bytes(), &mut take);
        }
        stream.end(&mut take);
        out
    }

    fn documents(text: &str) -> Vec<String> {
        split(text)
            .into_iter()
            .filter_map(|(_, piece)| match piece {
                Piece::Document(bytes) => Some(String::from_utf8(bytes).unwrap()),
                _ => None,
            })
            .collect()
    }

    #[test]
    fn consecutive_documents_are_split() {
        assert_eq!(documents("{\"a\":\"}\\\"\"}{\"b\":[{}]}\n\n{\n  \"c\": 1\n}\n").len(), 3);
        assert_eq!(documents("").len(), 0);
    }

    #[test]
    fn truncated_document_does_not_affect_the_next() {
        let text =
            "{\n  \"schema\": \"a\",\n  \"x\": [\n{\n  \"schema\": \"b\"\n}\n{\"schema\":\"c";
        let pieces = split(text);
        assert!(matches!(pieces[0].1, Piece::Broken(_)));
        assert!(matches!(pieces[1].1, Piece::Document(_)));
        assert!(matches!(pieces[2].1, Piece::Broken(_)));
        assert_eq!(pieces.len(), 3);
    }

    #[test]
    fn document_may_begin_on_the_line_of_a_truncated_one() {
        let whole = "{\n  \"schema\": \"ascend-doctor/check/1\",\n  \"x\": \"y\"\n}";
        let text = format!("{}{whole}{whole}", &whole[..whole.len() - 4]);
        assert_eq!(documents(&text), [whole, whole]);
        assert_eq!(split(&text).len(), 3);
    }

    #[test]
    fn interleaved_lines_are_joined_by_host() {
        let text = "n1: bash: no such file\nn2: {\nn1: {\nn2:   \"a\": \"x\nn1:   \"b\": 1\nn2: y\"\n\
                    n3: bash: ascend-doctor: command not found\nn1: }\nn2: }\n";
        let pieces = split(text);
        let of = |host: &str| {
            pieces.iter().find(|(label, piece)| {
                label.as_deref() == Some(host) && matches!(piece, Piece::Document(_))
            })
        };
        assert_eq!(of("n1").unwrap().1, Piece::Document(b"{  \"b\": 1}".to_vec()));
        // The launcher split a line within a word.
        assert_eq!(of("n2").unwrap().1, Piece::Document(b"{  \"a\": \"xy\"}".to_vec()));
        let other = Piece::Other("bash: ascend-doctor: command not found".to_owned());
        assert!(pieces.contains(&(Some("n3".to_owned()), other)));
    }

    #[test]
    fn interleaved_lines_are_joined_by_pod() {
        let text = "[pod/a-x/check] {\n[pod/b-y/check] {\n[pod/a-x/check] }\n[pod/b-y/check] }\n";
        assert_eq!(documents(text), ["{}", "{}"]);
    }

    #[test]
    fn endless_document_takes_bounded_memory() {
        let mut splitter = Splitter::default();
        let mut out = Vec::new();
        splitter.line(b"{\"a\":[", false, &mut |piece| out.push(piece));
        for _ in 0..40 {
            splitter.line(&vec![b'1'; 1 << 20], false, &mut |piece| out.push(piece));
        }
        assert!(splitter.buffer.len() <= MAX_DOCUMENT);
        splitter.line(b"]}", false, &mut |piece| out.push(piece));
        assert!(matches!(out[..], [Piece::Broken(_)]));
    }

    proptest! {
        #[test]
        fn arbitrary_bytes_do_not_panic(bytes in prop::collection::vec(prop::sample::select(b"{}[]\"\\:n1 \n".to_vec()), 0..200)) {
            let _ = split(&String::from_utf8(bytes).unwrap());
        }
    }
}
