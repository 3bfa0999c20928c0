//! Standard output and standard error, for text that is not a report.
#![expect(clippy::disallowed_methods, reason = "writes to standard output and standard error")]

use std::io::{self, BufWriter, IsTerminal as _, Write};

/// Lets `print` write to standard output; its first argument is whether that is a terminal.
pub(super) fn print(print: impl FnOnce(bool, &mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    super::progress::stop();
    let mut out = BufWriter::new(io::stdout().lock());
    print(io::stdout().is_terminal(), &mut out)?;
    out.flush()
}

/// Prints a line to standard error, next to the result on standard output.
pub(super) fn print_to_stderr(line: &str) {
    super::progress::stop();
    let _ = writeln!(anstream::stderr(), "{}", base::text::escape_line(line));
}
