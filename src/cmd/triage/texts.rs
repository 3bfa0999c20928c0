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
use triage::Collector;

/// The most bytes of standard input.
const STDIN: u64 = 64 << 20;
/// What inputs contain.
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
    let mut texts = Collector::default();
    if let Some(bytes) = &stdin {
        texts.add("-", &mut bytes.as_slice())?;
        log::read_stream("-", bytes.as_slice(), &mut reading);
    }
    for stream in &log::open(again, files).streams {
        // What cannot be read is reported with the logs.
        let _ = stream.read(files, &mut |name, reader| texts.add(name, reader));
    }
    Ok(Texts { reading, stated: texts.stated, prose: texts.prose })
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
