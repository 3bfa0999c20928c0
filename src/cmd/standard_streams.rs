//! Standard output and standard error, for text that is not a report.
#![expect(
    clippy::disallowed_methods,
    reason = "writes to standard output and standard error, reads COLUMNS"
)]

use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::os::fd::AsFd;

/// Calls `print` with standard output; its first argument is whether that is a terminal.
pub(super) fn print(print: impl FnOnce(bool, &mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    super::progress::stop();
    let mut out = BufWriter::new(io::stdout().lock());
    print(io::stdout().is_terminal(), &mut out)?;
    out.flush()
}

/// Whether a user can answer questions: standard input and standard error are a terminal.
pub(super) fn can_ask() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Calls `ask` with standard input for answers and standard error for questions.
pub(super) fn ask_user(
    ask: impl FnOnce(&mut dyn io::BufRead, &mut dyn Write) -> io::Result<()>,
) -> io::Result<()> {
    super::progress::stop();
    ask(&mut io::stdin().lock(), &mut io::stderr().lock())
}

/// Prints a line to standard error, next to the result on standard output. On a terminal, wraps
/// long lines and indents the rest by two columns. In a pipe or a file the line stays whole, so
/// that `grep` finds an error in the log of a job, unless `COLUMNS` sets a width.
pub(super) fn print_to_stderr(line: &str) {
    super::progress::stop();
    let asked = || std::env::var("COLUMNS").ok()?.parse().ok();
    let width = terminal_width(io::stderr()).or_else(asked).map_or(0, within_reason);
    let mut err = anstream::stderr();
    for line in fold(&base::text::escape_line(line), width) {
        let _ = writeln!(err, "{line}");
    }
}

/// The width of reports on a stream: that of its terminal, within reason, or 80.
pub(super) fn columns(stream: impl AsFd) -> usize {
    terminal_width(stream).map_or(80, within_reason)
}

fn terminal_width(stream: impl AsFd) -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(stream).ok()?;
    Some(usize::from(size.ws_col)).filter(|columns| *columns > 0)
}

fn within_reason(columns: usize) -> usize {
    columns.clamp(40, 120)
}

fn fold(line: &str, width: usize) -> Vec<String> {
    let text = line.trim_start();
    let indent = line.len() - text.len();
    let lines = render::wrap_hanging(text, width.saturating_sub(indent), 2);
    let pad = |number| if number == 0 { indent } else { indent + 2 };
    let lines = lines.iter().enumerate().map(|(number, line)| (pad(number), line));
    let mut lines: Vec<String> = lines.map(|(pad, line)| format!("{:pad$}{line}", "")).collect();
    if lines.is_empty() {
        lines.push(String::new());
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_lines_go_on_further_in() {
        assert_eq!(fold("error: cannot read `a`", 16), ["error: cannot", "  read `a`"]);
        assert_eq!(fold("  aaaa bbbb cccc", 12), ["  aaaa bbbb", "    cccc"]);
        assert_eq!(fold("", 12), [""]);
        assert_eq!(fold("  error: cannot read `a`", 0), ["  error: cannot read `a`"]);
    }
}
