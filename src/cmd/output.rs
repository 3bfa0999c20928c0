//! Where reports go: standard output or a file, with or without colour, how wide.
#![expect(
    clippy::disallowed_methods,
    reason = "asks for the terminal's variables, reads files that the user named"
)]

use machine::collect::read_clock;
use std::io::{self, BufWriter, IsTerminal as _, Read as _, Write};
use std::path::{Path, PathBuf};

use super::output_file::{ReplaceMode, replace};
use super::settings::Settings;
use crate::cli::{ColorWhen, OutputArgs};
use base::report::{FailOn, Report};
use base::text::Lang;
use render::{Format, Paint, Style};

/// The output options, decided.
#[derive(Debug)]
pub(super) struct Output {
    file: Option<PathBuf>,
    format: Option<Format>,
    fail_on: FailOn,
    style: Style,
    settings: Settings,
}

impl Output {
    /// The options with the report going to `file`, or to standard output.
    pub(super) fn new(args: &OutputArgs, file: Option<PathBuf>, settings: Settings) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let terminal = file.is_none() && io::stdout().is_terminal();
        let lang = args.lang.unwrap_or_else(|| Lang::from_locale(variable));
        let width = terminal.then(terminal_width).flatten().unwrap_or(80).clamp(40, 120);
        Self {
            file,
            format: args.json.then_some(Format::Json).or(args.format),
            fail_on: args.fail_on.unwrap_or(FailOn::Error),
            style: Style {
                lang,
                paint: Paint::new(colour(args.color, terminal, variable)),
                width,
                verbose: args.verbose,
                quiet: args.quiet,
            },
            settings,
        }
    }

    /// What the file of settings says.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Puts the last touches to a report: what the settings leave out, what fails it, its order.
    pub(super) fn settle(&self, report: &mut Report) {
        self.settings.skips.apply(report);
        if let Some(file) = &self.settings.file {
            report.provenance.push(("settings".to_owned(), file.clone()));
        }
        report.fail_on = self.fail_on;
        report.ended = read_clock();
        report.sort();
    }

    pub(super) fn format(&self) -> Format {
        self.format.unwrap_or(Format::Text)
    }

    /// The format, where another option than `--format` names it.
    pub(super) fn set_format(&mut self, format: Format) {
        self.format = Some(format);
    }

    /// Refuses `--format` for `what`, which is a document for programs and no report: it is JSON,
    /// whether that is asked for or not.
    pub(super) fn only_json(&self, what: &str) -> anyhow::Result<()> {
        match self.format {
            None | Some(Format::Json) => Ok(()),
            Some(other) => anyhow::bail!(
                "`{what}` writes JSON and cannot be used with `--format {}`; leave `--format` out",
                other.as_str()
            ),
        }
    }

    /// Refuses every other format than the one that `what` writes.
    pub(super) fn only(&self, format: Format, what: &str) -> anyhow::Result<()> {
        match self.format {
            None => Ok(()),
            Some(given) if given == format => Ok(()),
            Some(other) => anyhow::bail!(
                "`{what}` writes {} and cannot be used with `--format {}`",
                format.as_str(),
                other.as_str()
            ),
        }
    }

    /// How to render.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// Refuses `--format` for `what`, which is read by another program and is no report.
    pub(super) fn only_text(&self, what: &str) -> anyhow::Result<()> {
        match self.format {
            None | Some(Format::Text) => Ok(()),
            Some(other) => anyhow::bail!(
                "`{what}` cannot be used with `--format {}`: leave `--format` out",
                other.as_str()
            ),
        }
    }

    /// The language of the words.
    pub(super) fn lang(&self) -> Lang {
        self.style.lang
    }

    /// Whether the report goes to a file.
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether the report is for people at a terminal.
    pub(super) fn is_text(&self) -> bool {
        self.format() == Format::Text
    }

    /// Lets `render` write to standard error, where standard output carries something else.
    pub(super) fn write_to_stderr(
        &self,
        render: impl FnOnce(&mut dyn Write, Style) -> io::Result<()>,
    ) -> io::Result<()> {
        render(&mut anstream::stderr(), self.style)
    }

    pub(super) fn quiet(&self) -> bool {
        self.style.quiet
    }

    /// Lets `render` write to the right place. A file is replaced as a whole or not at all.
    pub(super) fn write(
        &self,
        render: impl FnOnce(&mut dyn Write, Style) -> io::Result<()>,
    ) -> io::Result<()> {
        match &self.file {
            None => {
                let mut out = BufWriter::new(io::stdout().lock());
                render(&mut out, self.style)?;
                out.flush()
            }
            Some(path) => replace(path, ReplaceMode::RenameOrWrite, |out| render(out, self.style))
                .map_err(|error| {
                    io::Error::new(error.kind(), format!("{}: {error}", path.display()))
                }),
        }
    }
}

/// Lets `print` write to standard output, whose first argument says whether it is a terminal.
pub(super) fn print(print: impl FnOnce(bool, &mut dyn Write) -> io::Result<()>) -> io::Result<()> {
    let mut out = BufWriter::new(io::stdout().lock());
    print(io::stdout().is_terminal(), &mut out)?;
    out.flush()
}

/// Says something on standard error, where the answer itself is on standard output.
pub(super) fn print_to_stderr(line: &str) {
    let _ = writeln!(anstream::stderr(), "{}", base::text::escape_line(line));
}

/// Opens a file without waiting for the other end of a pipe that nobody writes to: that one is
/// empty. A pipe that somebody holds open (`<(command)`) is read to its end.
pub(super) fn open_argument(path: &Path) -> io::Result<std::fs::File> {
    use rustix::fs::{Mode, OFlags};
    let flags = OFlags::RDONLY | OFlags::CLOEXEC | OFlags::NONBLOCK;
    let file = rustix::fs::open(path, flags, Mode::empty())?;
    let flags = rustix::fs::fcntl_getfl(&file)?;
    rustix::fs::fcntl_setfl(&file, flags - OFlags::NONBLOCK)?;
    Ok(file.into())
}

/// Reads a file that the user named as an argument, up to `limit` bytes.
pub(super) fn read_argument(path: &Path, limit: u64) -> anyhow::Result<Vec<u8>> {
    read_argument_by(path, |_| limit)
}

/// As [`read_argument`], where the first bytes say what the limit is: what is refused for its size
/// is not read before.
pub(super) fn read_argument_by(
    path: &Path,
    limit: impl Fn(&[u8]) -> u64,
) -> anyhow::Result<Vec<u8>> {
    use anyhow::Context as _;
    let shown = path.display();
    if path == Path::new("-") {
        let read = read_limited(&mut io::stdin().lock(), 0, limit);
        return read.context("cannot read standard input")?.map_err(|limit| too_large(path, limit));
    }
    let meta = path.metadata().with_context(|| format!("cannot read `{shown}`"))?;
    anyhow::ensure!(!meta.is_dir(), "cannot read `{shown}`: it is a directory, a file is expected");
    let size = if meta.is_file() { meta.len() } else { 0 };
    open_argument(path)
        .and_then(|mut file| read_limited(&mut file, size, limit))
        .with_context(|| format!("cannot read `{shown}`"))?
        .map_err(|limit| too_large(path, limit))
}

/// All bytes, or the limit that they pass; `size` is how many there are, as far as that is known.
fn read_limited(
    input: &mut impl io::Read,
    size: u64,
    limit: impl Fn(&[u8]) -> u64,
) -> io::Result<Result<Vec<u8>, u64>> {
    let mut bytes = Vec::new();
    input.take(2).read_to_end(&mut bytes)?;
    let limit = limit(&bytes);
    if size > limit {
        return Ok(Err(limit));
    }
    // Exactly as much as there is: growing by doubling would take three times that.
    bytes.reserve_exact(usize::try_from(size).unwrap_or(0));
    input.take((limit + 1).saturating_sub(bytes.len() as u64)).read_to_end(&mut bytes)?;
    Ok(if bytes.len() as u64 > limit { Err(limit) } else { Ok(bytes) })
}

fn too_large(path: &Path, limit: u64) -> anyhow::Error {
    let shown = path.display();
    anyhow::anyhow!("`{shown}` is larger than the {limit} bytes that are read of such a file")
}

/// `--color`, then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`, `TERM`, then the terminal.
fn colour(when: ColorWhen, terminal: bool, variable: impl Fn(&str) -> Option<String>) -> bool {
    match when {
        ColorWhen::Always => true,
        ColorWhen::Never => false,
        ColorWhen::Auto => {
            let set = |name: &str| variable(name).filter(|value| !value.is_empty());
            if set("NO_COLOR").is_some() {
                false
            } else if set("CLICOLOR_FORCE").is_some_and(|value| value != "0") {
                true
            } else {
                terminal
                    && set("CLICOLOR").is_none_or(|value| value != "0")
                    && set("TERM").is_none_or(|value| value != "dumb")
            }
        }
    }
}

fn terminal_width() -> Option<usize> {
    let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
    Some(usize::from(size.ws_col)).filter(|&columns| columns > 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(vars: &[(&str, &str)], terminal: bool) -> bool {
        colour(ColorWhen::Auto, terminal, |name| {
            vars.iter().find(|(key, _)| *key == name).map(|(_, value)| (*value).to_owned())
        })
    }

    #[test]
    fn the_variables_have_their_usual_meaning() {
        assert!(with(&[], true) && !with(&[], false));
        assert!(!with(&[("NO_COLOR", "1"), ("CLICOLOR_FORCE", "1")], true));
        assert!(with(&[("CLICOLOR_FORCE", "1")], false));
        assert!(!with(&[("CLICOLOR", "0")], true));
        assert!(!with(&[("TERM", "dumb")], true));
        assert!(with(&[("NO_COLOR", "")], true));
    }
}
