//! The destination of reports: standard output or a file, with its colors and width.
#![expect(
    clippy::disallowed_methods,
    reason = "reads the variables of the terminal, writes to standard output and error"
)]

use data::faults;
use std::io::{self, BufWriter, IsTerminal as _, Write};
use std::path::PathBuf;

use super::front::Detected;
use super::output_file::{ReplaceMode, replace};
use super::settings::Settings;
use super::standard_streams::columns;
use super::{clock, data_pack, progress};
use crate::cli::{ColorWhen, OutputArgs};
use base::report::{
    DataInUse, DataOrigin, ExitStatus, FailOn, Gate, GateSetting, OnInconclusive, Report,
};
use base::text::{Lang, Text, escape_line};
use data::{goals, ui};
use explain::input::{InputMember, WithInput};
use render::{Format, Paint, Style, write_json, write_json_line};
use serde::Serialize;

/// The output options, decided.
#[derive(Debug)]
pub(super) struct Output {
    file: Option<PathBuf>,
    format: Option<Format>,
    gate: Gate,
    style: Style,
    settings: Settings,
    data: DataInUse,
    /// The data pack, in displayed form.
    pack: Option<String>,
    /// The detected input, if no subcommand was named.
    detected: Option<Detected>,
    /// Whether the answer begins with the detected input.
    says_detected: bool,
}

impl Output {
    /// Creates the options for a report to `file`, or to standard output.
    pub(super) fn new(
        args: &OutputArgs,
        file: Option<PathBuf>,
        settings: Settings,
        gate: Vec<GateSetting>,
    ) -> Self {
        let variable = |name: &str| std::env::var(name).ok();
        let terminal = file.is_none() && io::stdout().is_terminal();
        let lang = args.lang.unwrap_or_else(|| Lang::from_locale(variable));
        let width = if terminal { columns(io::stdout()) } else { 80 };
        Self {
            file,
            format: args.json.then_some(Format::Json).or(args.format),
            gate: Gate {
                fail_on: args.fail_on.unwrap_or_default(),
                on_inconclusive: args.on_inconclusive.unwrap_or_default(),
                families: settings.families.clone(),
                settings: gate,
            },
            style: Style {
                lang,
                paint: Paint::new(colour(args.color, terminal, variable)),
                width,
                verbose: args.verbose,
                quiet: args.quiet,
            },
            settings,
            data: data_pack::in_use(),
            pack: args.data_pack.as_ref().map(|path| path.display().to_string()),
            detected: None,
            says_detected: false,
        }
    }

    /// The tables of the run.
    pub(super) fn data(&self) -> &DataInUse {
        &self.data
    }

    /// Sets the detected input.
    pub(super) fn set_detected(&mut self, detected: Option<Detected>, is_said: bool) {
        self.detected = detected;
        self.says_detected = is_said;
    }

    /// The content of the settings file.
    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    /// Completes a report: applies the settings and the gate, and sorts it.
    pub(super) fn settle(&self, report: &mut Report) {
        self.settings.skips.apply(report);
        goals::mark_warnings(report);
        if let Some(file) = &self.settings.file {
            report.provenance.push(("settings", Text::same(file)));
        }
        report.gate.clone_from(&self.gate);
        report.notes.extend(self.settings.ignored.clone());
        report.ended = clock::now();
        if self.data.origin == DataOrigin::Pack {
            report.provenance.push(("data", self.describe_pack()));
        }
        report.data = Some(self.data.clone());
        if let Some(input) = &self.detected {
            report.add_members(&InputMember { input });
        }
        report.sort();
    }

    /// The data pack, in displayed form.
    pub(super) fn pack(&self) -> Option<&str> {
        self.pack.as_deref()
    }

    /// A short description of the data pack.
    fn describe_pack(&self) -> Text {
        let file = self.pack.as_deref().unwrap_or_default();
        let date = &self.data.as_of;
        match &self.data.signed_by {
            Some(key) => ui::ProvenancePackSigned { date, file, key }.text(),
            None => ui::ProvenancePackUnsigned { date, file }.text(),
        }
    }

    pub(super) fn format(&self) -> Format {
        self.format.unwrap_or(Format::Text)
    }

    /// Sets the format if an option other than `--format` selects it.
    pub(super) fn set_format(&mut self, format: Format) {
        self.format = Some(format);
    }

    /// Rejects `--format` for `what`, which is a document for machine use and not a report: it is
    /// always JSON.
    pub(super) fn only_json(&self, what: &str) -> anyhow::Result<()> {
        match self.format {
            None | Some(Format::Json) => Ok(()),
            Some(other) => Err(faults::OnlyJson { what, format: other.as_str() }.fault().into()),
        }
    }

    /// Rejects all formats except the one that `what` writes.
    pub(super) fn only(&self, format: Format, what: &str) -> anyhow::Result<()> {
        match self.format {
            None => Ok(()),
            Some(given) if given == format => Ok(()),
            Some(other) => {
                Err(faults::OnlyFormat { what, own: format.as_str(), format: other.as_str() }
                    .fault()
                    .into())
            }
        }
    }

    /// The style of rendering.
    pub(super) fn style(&self) -> Style {
        self.style
    }

    /// The language of the output.
    pub(super) fn lang(&self) -> Lang {
        self.style.lang
    }

    /// Whether the report is written to a file.
    pub(super) fn has_file(&self) -> bool {
        self.file.is_some()
    }

    /// Whether the report is for people at a terminal.
    pub(super) fn is_text(&self) -> bool {
        self.format() == Format::Text
    }

    /// Calls `render` with standard error, for runs that use standard output for other data.
    pub(super) fn write_to_stderr(
        &self,
        render: impl FnOnce(&mut dyn Write, Style) -> io::Result<()>,
    ) -> io::Result<()> {
        progress::stop();
        render(&mut anstream::stderr(), self.style)
    }

    /// Writes a document for machine use, on one line with `--format jsonl`.
    pub(super) fn write_document(&self, document: &impl Serialize) -> io::Result<()> {
        let document = WithInput { document, input: self.detected.as_ref() };
        self.write(|out, _| match self.format() {
            Format::Jsonl => write_json_line(&document, out),
            _ => write_json(&document, out),
        })
    }

    /// The exit status of an answer that is not a report, by `--fail-on` and `--on-inconclusive`.
    pub(super) fn gated(&self, status: ExitStatus) -> ExitStatus {
        match (status, self.gate.fail_on, self.gate.on_inconclusive) {
            (ExitStatus::Findings, FailOn::Never, _)
            | (ExitStatus::Inconclusive, _, OnInconclusive::Allow) => ExitStatus::Clean,
            (ExitStatus::Inconclusive, _, OnInconclusive::Fail) => ExitStatus::Findings,
            _ => status,
        }
    }

    pub(super) fn quiet(&self) -> bool {
        self.style.quiet
    }

    /// Calls `render` with the selected destination. A file is replaced completely or not at all.
    pub(super) fn write(
        &self,
        render: impl FnOnce(&mut dyn Write, Style) -> io::Result<()>,
    ) -> io::Result<()> {
        progress::stop();
        let says = self.says_detected && self.format() == Format::Text;
        let line = self.detected.as_ref().filter(|_| says);
        let render = |out: &mut dyn Write, style: Style| {
            if let Some(detected) = line {
                writeln!(out, "{}\n", escape_line(detected.line().get(style.lang)))?;
            }
            render(out, style)
        };
        match &self.file {
            None => {
                let mut out = BufWriter::new(io::stdout().lock());
                render(&mut out, self.style)?;
                out.flush()
            }
            Some(path) => replace(path, ReplaceMode::RenameOrWrite, |out| render(out, self.style))
                .map_err(|error| {
                    let kind = error.kind();
                    let fault = faults::FileBecause { file: path, why: &error }.fault();
                    io::Error::new(kind, fault)
                }),
        }
    }
}

/// Whether to use colors: `--color`, then `NO_COLOR`, `CLICOLOR_FORCE`, `CLICOLOR`, `TERM`, then
/// the terminal.
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
