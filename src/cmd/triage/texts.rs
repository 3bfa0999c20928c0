//! Reads inputs twice: as logs, and as texts that state facts.
#![expect(
    clippy::disallowed_methods,
    reason = "reads standard input, and the paths that the user named"
)]

use data::{OrFault as _, faults};
use std::io::{self, Read};
use std::path::Path;

use base::text::escape_line;
use errcodes::log::{self, Files, Input, Reading};
use pasted::Pasted;

/// Maximum total size of texts to search for facts, in bytes.
const TEXTS: u64 = 32 << 20;
/// Maximum number of texts.
const COUNT: usize = 200;
/// Maximum size of standard input, in bytes.
const STDIN: u64 = 64 << 20;
/// Maximum size of prose, in bytes.
const PROSE: usize = 256 << 10;

/// The contents of inputs.
#[derive(Debug)]
pub(in crate::cmd) struct Texts {
    /// The inputs as logs.
    pub reading: Reading,
    /// The facts that each text states.
    pub stated: Vec<(String, Pasted)>,
    /// The words outside of quoted output, which describe a failure.
    pub prose: String,
}

/// Reads files, directories, archives, texts and `-`.
pub(in crate::cmd) fn read(inputs: &[String], files: &dyn Files) -> anyhow::Result<Texts> {
    let mut stdin = None;
    if inputs.iter().any(|input| input == "-") {
        let mut bytes = Vec::new();
        io::stdin()
            .lock()
            .take(STDIN)
            .read_to_end(&mut bytes)
            .or_fault(|| faults::CannotReadStdin.fault())?;
        stdin = Some(bytes);
    }
    let others = || inputs.iter().filter(|input| *input != "-").map(|input| to_input(input));
    let named: Vec<Input> = others().collect::<anyhow::Result<_>>()?;
    let again: Vec<Input> = others().collect::<anyhow::Result<_>>()?;
    let mut reading = if named.is_empty() { Reading::default() } else { log::read(named, files) };
    let mut left = TEXTS;
    let mut stated: Vec<(String, Pasted)> = Vec::new();
    let mut prose = String::new();
    let mut take = |name: &str, reader: &mut dyn Read| -> io::Result<()> {
        if stated.len() < COUNT {
            let mut bytes = Vec::new();
            reader.take(left.min(pasted::MAX_TEXT as u64)).read_to_end(&mut bytes)?;
            left = left.saturating_sub(bytes.len() as u64);
            let text = String::from_utf8_lossy(&bytes);
            collect_prose(&text, &mut prose);
            stated.push((name.to_owned(), pasted::read(&text)));
        }
        Ok(())
    };
    if let Some(bytes) = &stdin {
        take("-", &mut bytes.as_slice())?;
        log::read_stream("-", bytes.as_slice(), &mut reading);
    }
    for stream in &log::open(again, files).streams {
        // Unreadable inputs are reported with the logs.
        let _ = stream.read(files, &mut take);
    }
    Ok(Texts { reading, stated, prose })
}

/// Returns a file if one of that name exists, else a text.
fn to_input(input: &str) -> anyhow::Result<Input> {
    if input.contains('\n') {
        return Ok(Input::Text(input.to_owned()));
    }
    let path = std::path::absolute(Path::new(input))
        .or_fault(|| faults::NoPath { text: escape_line(input).as_ref() }.fault())?;
    let path = path.to_str().or_fault(|| faults::PathNotUtf8.fault())?.to_owned();
    Ok(Input::Path { shown: input.to_owned(), path })
}

/// Adds the lines outside of code and output to `prose`.
fn collect_prose(text: &str, prose: &mut String) {
    let mut inside = false;
    for line in text.lines() {
        if line.trim_start().starts_with("```") {
            inside = !inside;
        } else if !inside && prose.len() + line.len() < PROSE {
            prose.push_str(line);
            prose.push('\n');
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prose_has_no_quoted_output() {
        let mut prose = String::new();
        collect_prose("It hangs.\n```\nslow start\n```\nPlease help.\n", &mut prose);
        assert_eq!(prose, "It hangs.\nPlease help.\n");
    }
}
