//! `bundle`: packs facts, a report, logs and recorded files into one redacted archive.
#![expect(
    clippy::disallowed_methods,
    reason = "reads back its own recording from a temporary directory"
)]

mod archives;
mod pack;

use data::{Fault, OrFault as _, faults, ui};
use std::io::{IsTerminal as _, Write};
use std::path::{Path, PathBuf};

use anyhow::ensure;
use serde::Serialize;
use serde_json::Value;

use super::machine::{open_machine, this_machine, wanted};
use super::output::Output;
use super::output_file::{ReplaceMode, check_replaceable, create_private_dir, replace};
use super::standard_streams::print;
use crate::cli::BundleArgs;
use archives::Unpacked;
use base::redact::{self, Redactor};
use base::report::ExitStatus;
use base::text::{Text, escape_line};
use checks::verdict::run_all_checks;
use explain::input::bundle::TOP;
use facts::Facts;
use machine::collect;
use machine::log_tails::{LogTails, Omission, OmittedFile, collect_tails};
use machine::sysroot::{Sysroot, is_unread_or_program};
use pack::{Entry, Pack};
use render::{
    Format, Style, read_document, render, render_documents, wrap, write_json, write_json_line,
};

/// Default name of the bundle.
const NAME: &str = "ascend-doctor-bundle.tar.gz";
/// Maximum size of a recorded file that is redacted, in bytes.
const MAX_REDACTED: u64 = 16 << 20;
/// Number of omitted files shown; `MANIFEST.json` lists all.
const SHOWN: usize = 10;

/// The list of contents, `MANIFEST.json`.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Manifest {
    schema: &'static str,
    /// The program that created the bundle.
    tool: Tool,
    /// The redaction of the bundle.
    redaction: Redaction,
    /// The limit for logs, in bytes.
    limit_bytes: u64,
    /// Its files.
    entries: Vec<Entry>,
    /// Files that are not in it.
    left_out: Vec<LeftOut>,
}

/// The program.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Tool {
    name: &'static str,
    version: &'static str,
}

/// The redaction of a bundle.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct Redaction {
    /// The value of `--redact`.
    level: &'static str,
    /// The number of removed secrets.
    taken_out: usize,
}

/// A file that is not in the bundle.
#[derive(Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
struct LeftOut {
    /// Its path.
    path: String,
    /// The reason.
    why: Text,
}

pub(super) fn run(
    args: &BundleArgs,
    file: Option<&Path>,
    output: &Output,
) -> anyhow::Result<ExitStatus> {
    ensure!(
        output.is_text() || output.format().is_json(),
        faults::BundleFormat { format: output.format().as_str() }.fault()
    );
    let path = file.map_or_else(|| PathBuf::from(NAME), Path::to_path_buf);
    let piped = path == Path::new("-");
    ensure!(!piped || !std::io::stdout().is_terminal(), faults::BundleToTerminal.fault());
    ensure!(
        file.is_some() || path.symlink_metadata().is_err(),
        faults::BundleExists { path: NAME }.fault()
    );
    if !piped {
        check_replaceable(&path, ReplaceMode::RenameOrWrite)
            .or_fault(|| faults::CannotWrite { path: path.display() }.fault())?;
    }
    // Named files are on this machine, even if another machine is examined.
    let here = this_machine();
    let own = resolve_added(&args.add, &here)?;
    let dir = create_private_dir()?;
    let machine = dir.get().path().join("machine");
    let (facts, there) = record(args, &machine)?;
    let (archives, own): (Vec<String>, Vec<String>) =
        own.into_iter().partition(|path| archives::is_archive(Path::new(path)));
    let mut left = args.limit << 20;
    let mut unpacked = Unpacked::default();
    for archive in &archives {
        archives::unpack(archive, &mut left, &mut unpacked);
    }
    let mut tails = collect_tails(&here, &own, &there, left);
    tails.taken.splice(..0, unpacked.taken);
    tails.left_out.splice(..0, unpacked.left_out);
    let machines: &[&Sysroot] =
        if own.is_empty() && archives.is_empty() { &[&there] } else { &[&there, &here] };
    let mut redactor = Redactor::new(args.redact, collect_names(&facts, machines));
    let mut made = None;
    let mut fill = |out: &mut dyn Write| {
        let mut out = CountingWriter { out, count: 0 };
        let manifest = write(&mut out, args, output, &facts, &machine, &tails, &mut redactor)?;
        made = Some((manifest, out.count));
        Ok(())
    };
    if piped {
        print(|_, out| fill(out))
    } else {
        replace(&path, ReplaceMode::RenameOrWrite, fill)
    }
    .or_fault(|| faults::CannotWrite { path: path.display() }.fault())?;
    let (manifest, size) = made.or_fault(|| faults::BundleNotWritten.fault())?;
    let written = BundleSummary { path: &path, piped, size, redacted: redactor.count() };
    report_written(&written, &manifest, &tails, output)?;
    // The exit status reports requested files that are missing from the bundle.
    Ok(if tails.has_all_requested() { ExitStatus::Clean } else { ExitStatus::Inconclusive })
}

/// Counts the written bytes.
struct CountingWriter<'a> {
    out: &'a mut dyn Write,
    count: u64,
}

impl Write for CountingWriter<'_> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        let count = self.out.write(bytes)?;
        self.count += count as u64;
        Ok(count)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}

/// Collects the facts of the machine and records it below `machine`.
///
/// Returns the examined machine too, because an environment from a pipe can be read only once.
fn record(args: &BundleArgs, machine: &Path) -> anyhow::Result<(Facts, Sysroot)> {
    let mut sysroot = open_machine(&args.scan.machine)?;
    sysroot.record_into(machine).map_err(Fault::from)?;
    let facts = collect::collect(&sysroot, &wanted(&args.scan));
    sysroot
        .finish_recording()
        .or_fault(|| faults::RecordingIncomplete { path: machine.display() }.fault())?;
    Ok((facts, sysroot))
}

/// Returns the absolute paths of `--add`. A missing path is an error, reported before the machine is
/// read.
fn resolve_added(paths: &[PathBuf], here: &Sysroot) -> anyhow::Result<Vec<String>> {
    let absolute = paths.iter().map(|path| {
        let shown = path.display();
        let path = std::path::absolute(path)?;
        let path = path.to_str().map(str::to_owned);
        let path = path.or_fault(|| faults::NamedPathNotUtf8 { path: &shown }.fault())?;
        here.stat(&path).map_err(|why| faults::CannotReadBecause { path: &shown, why }.fault())?;
        Ok(path)
    });
    absolute.collect()
}

/// Returns the names of the host and its users, and of this machine, whose logs may be included.
fn collect_names(facts: &Facts, machines: &[&Sysroot]) -> Vec<String> {
    let mut names: Vec<String> = facts.host.user.iter().cloned().collect();
    let mut own = |host: &str, home: &str| {
        names.extend([host, redact::short(host).unwrap_or_default()].map(str::to_owned));
        names.extend([redact::last(home), home].map(str::to_owned));
    };
    own(facts.host.name.as_deref().unwrap_or_default(), facts.env.get("HOME").unwrap_or_default());
    for machine in machines {
        let home = machine.env().get("HOME").unwrap_or_default();
        own(machine.machine().hostname.as_deref().unwrap_or_default(), home);
    }
    for machine in machines {
        let text = |path: &str| machine.read_text(path).unwrap_or_default();
        names.extend(redact::people(&text("/etc/passwd"), &text("/etc/group")));
        names.extend(redact::hosts(&text("/etc/hosts")));
    }
    names
}

/// Writes the archive. The list of its contents comes last.
fn write(
    out: &mut dyn Write,
    args: &BundleArgs,
    output: &Output,
    facts: &Facts,
    machine: &Path,
    tails: &LogTails,
    redactor: &mut Redactor,
) -> std::io::Result<Manifest> {
    let mut pack = Pack::new(out);
    let mut report =
        run_all_checks(facts, output.data().age_days, &|id| output.settings().skips.reason(id));
    output.settle(&mut report);
    let mut check = Vec::new();
    render(&report, Format::Json, output.style(), &mut check)?;
    let mut check: Value = serde_json::from_slice(&check)?;
    redactor.json(&mut check);
    let mut facts = serde_json::to_value(facts)?;
    redactor.json(&mut facts);
    let check = to_json_bytes(&check)?;
    let readme = ui::BUNDLE_README.text();
    pack.add("README.txt", format!("{}\n{}", readme.en, readme.zh).as_bytes())?;
    pack.add("check.json", &check)?;
    pack.add("facts.json", &to_json_bytes(&facts)?)?;
    if let Ok(document) = read_document(&check) {
        let mut page = Vec::new();
        render_documents(&[("check.json".to_owned(), document)], output.lang(), &mut page)?;
        pack.add("report.html", &page)?;
    }
    let mut left_out = Vec::new();
    for tail in &tails.taken {
        let text = redactor.bytes(&tail.text);
        // Decompressed logs get the extension `.txt`, so that `a.gz` and `a` keep different paths.
        let ending = if tail.compressed { ".txt" } else { "" };
        let name = redactor.path(&format!("logs{}{ending}", tail.path));
        pack.add_log(&name, &text, tail)?;
    }
    for left in &tails.left_out {
        left_out.push(LeftOut { path: left.path.clone(), why: left.why.clone() });
    }
    add_tree(machine, &mut pack, redactor, &mut left_out)?;
    let manifest = Manifest {
        schema: "ascend-doctor/bundle/1",
        tool: Tool { name: "ascend-doctor", version: env!("CARGO_PKG_VERSION") },
        redaction: Redaction { level: args.redact.as_str(), taken_out: redactor.count() },
        limit_bytes: args.limit << 20,
        entries: std::mem::take(&mut pack.entries),
        left_out,
    };
    let mut list = serde_json::to_value(&manifest)?;
    redactor.json(&mut list);
    pack.add("MANIFEST.json", &to_json_bytes(&list)?)?;
    pack.finish()?;
    Ok(manifest)
}

/// Adds the recorded tree below `machine/`.
fn add_tree<W: Write>(
    dir: &Path,
    pack: &mut Pack<W>,
    redactor: &mut Redactor,
    left_out: &mut Vec<LeftOut>,
) -> std::io::Result<()> {
    for entry in walkdir::WalkDir::new(dir).min_depth(1).sort_by_file_name() {
        let entry = entry?;
        let Some(path) = entry.path().strip_prefix(dir).ok().and_then(Path::to_str) else {
            continue;
        };
        // The lists of the recording are redacted in the same way.
        let name = redactor.path(&format!("machine/{path}"));
        let kind = entry.file_type();
        if kind.is_symlink() {
            let target = std::fs::read_link(entry.path())?;
            let shown = target.to_str().map(|target| redactor.path(target));
            pack.add_link(&name, &shown.map_or(target, PathBuf::from))?;
        } else if kind.is_dir() {
            pack.add_directory(&name)?;
        } else if is_unread_or_program(entry.path())? {
            pack.add_sparse(&name, entry.path())?;
        } else if entry.metadata()?.len() > MAX_REDACTED {
            let why = ui::BUNDLE_TOO_LARGE.text();
            left_out.push(LeftOut { path: format!("/{path}"), why });
        } else {
            let content = std::fs::read(entry.path())?;
            // Sidecars must remain valid JSON for their readers.
            let sidecar = !path.contains('/') && path.starts_with('.') && path.ends_with(".json");
            match sidecar.then(|| serde_json::from_slice::<Value>(&content)) {
                Some(Ok(mut value)) => {
                    redactor.json(&mut value);
                    pack.add(&name, &to_json_bytes(&value)?)?;
                }
                _ => pack.add(&name, &redactor.in_place(&content))?,
            }
        }
    }
    Ok(())
}

fn to_json_bytes(value: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_json(value, &mut bytes)?;
    Ok(bytes)
}

/// The written bundle.
struct BundleSummary<'a> {
    path: &'a Path,
    /// Whether it was written to standard output.
    piped: bool,
    size: u64,
    /// Number of removed secrets.
    redacted: usize,
}

/// Reports the written bundle, on standard error if standard output has the bundle itself.
fn report_written(
    written: &BundleSummary<'_>,
    manifest: &Manifest,
    tails: &LogTails,
    output: &Output,
) -> anyhow::Result<()> {
    let shown = written.path.display().to_string();
    let logs = manifest.entries.iter().filter(|entry| entry.is_log()).count();
    let kib = written.size.div_ceil(1024).to_string();
    let place = if written.piped { ui::BUNDLE_STDOUT.text() } else { Text::same(shown.clone()) };
    let first = |path: &str| ui::BundleWritten { kib: &kib, path }.text();
    let mut lines = vec![
        Text::new(first(&place.en).en, first(&place.zh).zh),
        ui::BundleHolds { files: manifest.entries.len(), logs }.text(),
    ];
    if !manifest.left_out.is_empty() {
        let left = manifest.left_out.len();
        lines.push(ui::BundleLeftOut { left }.text());
    }
    lines.extend(list_omissions(&tails.left_out, Omission::Requested));
    lines.extend(list_omissions(&tails.left_out, Omission::UnreadLog));
    lines.push(ui::BundleRedacted { n: written.redacted, path: shown, top: TOP }.text());
    let print_lines = |out: &mut dyn Write, style: Style| {
        match output.format() {
            Format::Json => return write_json(manifest, out),
            Format::Jsonl => return write_json_line(manifest, out),
            _ => {}
        }
        for line in &lines {
            for line in wrap(&escape_line(line.get(style.lang)), style.width) {
                writeln!(out, "{line}")?;
            }
        }
        Ok(())
    };
    let done =
        if written.piped { output.write_to_stderr(print_lines) } else { output.write(print_lines) };
    Ok(done.or_fault(|| faults::FailedToWriteSummary.fault())?)
}

/// Lists the omitted files of a kind as sentences: the first ones, and the number of the others.
fn list_omissions(left_out: &[OmittedFile], by: Omission) -> Vec<Text> {
    let all = || left_out.iter().filter(|left| left.missed == by);
    let text = |left: &OmittedFile| {
        let (path, why) = (&left.path, &left.why);
        if by == Omission::UnreadLog {
            ui::BundleLogNotInIt { path, why }.text()
        } else {
            ui::BundleNotInIt { path, why }.text()
        }
    };
    let mut lines: Vec<Text> = all().take(SHOWN).map(text).collect();
    let more = all().skip(SHOWN).count();
    if more > 0 {
        lines.push(ui::More { n: more }.text());
    }
    lines
}
