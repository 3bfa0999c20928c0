//! `--log`: logs reads and actions on standard error, for bug reports.
//!
//! Without the option no logger is set, and a log statement is one comparison.
#![expect(clippy::disallowed_methods, reason = "writes to standard error")]

use std::io::Write as _;
use std::sync::LazyLock;
use std::time::Instant;

use log::{LevelFilter, Log, Metadata, Record};

use crate::cli::LogLevel;
use base::text::escape_line;
use machine::sysroot::environ::redact_urls;

static BEGIN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// The crates of the program, which are the first part of a log target.
const OWN: [&str; 13] = [
    "ascend_doctor",
    "audit",
    "base",
    "checks",
    "convert",
    "data",
    "errcodes",
    "facts",
    "fleet",
    "machine",
    "pysyntax",
    "treeedit",
    "verify",
];

/// Writes the log records of the program's own crates. Records of libraries are dropped.
struct Logger;

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        OWN.contains(&metadata.target().split("::").next().unwrap_or_default())
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let place = record.target().trim_start_matches("ascend_doctor").trim_start_matches("::");
        let line = line(record.level().as_str(), place, &record.args().to_string());
        let ms = BEGIN.elapsed().as_secs_f64() * 1e3;
        // If standard error is closed, the log is not wanted.
        let _ = writeln!(std::io::stderr().lock(), "[{ms:9.1} ms] {line}");
    }

    fn flush(&self) {}
}

/// Returns one line without terminal control characters and without passwords in URLs.
fn line(level: &str, place: &str, said: &str) -> String {
    format!("{level:5} {place}: {}", escape_line(&redact_urls(said)))
}

/// Begins to log.
pub(super) fn start(level: LogLevel) {
    LazyLock::force(&BEGIN);
    if log::set_logger(&Logger).is_ok() {
        log::set_max_level(match level {
            LogLevel::Error => LevelFilter::Error,
            LogLevel::Warn => LevelFilter::Warn,
            LogLevel::Info => LevelFilter::Info,
            LogLevel::Debug => LevelFilter::Debug,
            LogLevel::Trace => LevelFilter::Trace,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_harmless() {
        let line = line("WARN", "sysroot", "pip.conf: https://joe:pw@host/x\n\x1b[2J");
        assert_eq!(line, "WARN  sysroot: pip.conf: https://***@host/x\\n\\x1b[2J");
    }
}
