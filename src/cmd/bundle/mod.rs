//! `bundle`: everything that somebody elsewhere needs to help, in one file, without secrets.
#![expect(
    clippy::disallowed_methods,
    reason = "reads back what it recorded in a directory of its own"
)]

mod logs;
mod open;
mod pack;

use std::io::Write;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, ensure};
use serde::Serialize;
use serde_json::{Value, json};

use super::check;
use super::machine::{open_machine, this_machine, wanted};
use super::output::{Output, replace};
use crate::cli::BundleArgs;
use crate::collect;
use crate::facts::Facts;
use crate::redact::Redactor;
use crate::render::{Format, read_document, render, render_documents, write_json};
use crate::report::ExitStatus;
use crate::text::{escape_line, sentence, words};
use logs::Tails;
pub(super) use open::{is_bundle, member};
use pack::{Entry, Pack, TOP};

/// The name of the bundle where none is given.
const NAME: &str = "ascend-doctor-bundle.tar.gz";
/// The largest recorded file whose content is read again to be redacted, in bytes.
const WHOLE: u64 = 16 << 20;
/// Smaller files may lie in the directory itself, without a block of their own, in bytes.
const UNREAD: u64 = 1 << 20;

/// What is in a bundle: `MANIFEST.json`.
#[derive(Serialize)]
struct Manifest {
    schema: &'static str,
    tool: Value,
    redaction: Value,
    limit_bytes: u64,
    entries: Vec<Entry>,
    left_out: Vec<Value>,
}

pub(super) fn run(args: &BundleArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    ensure!(
        matches!(output.format(), Format::Text | Format::Json),
        "`bundle` says what it wrote as text or JSON: it cannot be used with `--format {}`",
        output.format().as_str()
    );
    let path = args.output.clone().unwrap_or_else(|| PathBuf::from(NAME));
    ensure!(
        args.output.is_some() || path.symlink_metadata().is_err(),
        "`{NAME}` is there already: say with `--output` where the bundle goes"
    );
    let dir = tempfile::tempdir().context("cannot make a directory for the recording")?;
    let machine = dir.path().join("machine");
    let facts = record(args, &machine)?;
    // What is named lies here, whatever machine is examined.
    let here = this_machine();
    let there = open_machine(&args.scan.machine)?;
    let tails = logs::tails(&here, &own(&args.add)?, &there, args.limit << 20);
    let mut redactor = Redactor::new(args.redact, names(&facts));
    let mut manifest = None;
    replace(&path, |out| {
        manifest = Some(write(out, args, output, &facts, &machine, &tails, &mut redactor)?);
        Ok(())
    })
    .with_context(|| format!("cannot write `{}`", path.display()))?;
    let manifest = manifest.context("the bundle was not written")?;
    tell(&path, &manifest, &redactor, output)?;
    Ok(ExitStatus::Clean)
}

/// Reads the machine, and keeps what is read.
fn record(args: &BundleArgs, machine: &Path) -> anyhow::Result<Facts> {
    let mut sysroot = open_machine(&args.scan.machine)?;
    sysroot.record_into(machine)?;
    let facts = collect::collect(&sysroot, &wanted(&args.scan));
    sysroot.finish_recording().context("failed to write the recording")?;
    Ok(facts)
}

/// The logs that were named, by absolute paths.
fn own(paths: &[PathBuf]) -> anyhow::Result<Vec<String>> {
    let absolute = paths.iter().map(|path| {
        let path = std::path::absolute(path)?;
        path.to_str().map(str::to_owned).context("the path is not valid UTF-8")
    });
    absolute.collect()
}

/// Names of the host and of its users.
fn names(facts: &Facts) -> Vec<String> {
    let home = facts.env.get("HOME").and_then(|home| home.rsplit('/').next());
    facts.host.name.iter().map(String::as_str).chain(home).map(str::to_owned).collect()
}

/// Writes the archive; what it holds comes last.
fn write(
    out: &mut dyn Write,
    args: &BundleArgs,
    output: &Output,
    facts: &Facts,
    machine: &Path,
    tails: &Tails,
    redactor: &mut Redactor,
) -> std::io::Result<Manifest> {
    let mut pack = Pack::new(out);
    let mut report = check::judge_all(facts, &output.settings().skips);
    output.settle(&mut report);
    let mut check = Vec::new();
    render(&report, Format::Json, output.style(), &mut check)?;
    let mut check: Value = serde_json::from_slice(&check)?;
    redactor.json(&mut check);
    let mut facts = serde_json::to_value(facts)?;
    redactor.json(&mut facts);
    let check = bytes(&check)?;
    let readme = words("bundle_readme");
    pack.add("README.txt", format!("{}\n{}", readme.en, readme.zh).as_bytes())?;
    pack.add("check.json", &check)?;
    pack.add("facts.json", &bytes(&facts)?)?;
    if let Ok(document) = read_document(&check) {
        let mut page = Vec::new();
        render_documents(&[("check.json".to_owned(), document)], output.lang(), &mut page)?;
        pack.add("report.html", &page)?;
    }
    let mut left_out = Vec::new();
    for tail in &tails.taken {
        let text = redactor.bytes(&tail.text);
        let end_of = (tail.text.len() as u64 != tail.size).then_some(tail.size);
        pack.add_end(&format!("logs{}", tail.path), &text, end_of)?;
    }
    for (path, why) in &tails.left_out {
        left_out.push(json!({ "path": path, "why": why }));
    }
    tree(machine, &mut pack, redactor, &mut left_out)?;
    let manifest = Manifest {
        schema: "ascend-doctor/bundle/1",
        tool: json!({ "name": "ascend-doctor", "version": env!("CARGO_PKG_VERSION") }),
        redaction: json!({ "level": args.redact.as_str(), "taken_out": redactor.count() }),
        limit_bytes: args.limit << 20,
        entries: std::mem::take(&mut pack.entries),
        left_out,
    };
    let mut list = serde_json::to_value(&manifest)?;
    redactor.json(&mut list);
    pack.add("MANIFEST.json", &bytes(&list)?)?;
    pack.finish()?;
    Ok(manifest)
}

/// Adds the recorded tree below `machine/`.
fn tree<W: Write>(
    dir: &Path,
    pack: &mut Pack<W>,
    redactor: &mut Redactor,
    left_out: &mut Vec<Value>,
) -> std::io::Result<()> {
    for entry in walkdir::WalkDir::new(dir).min_depth(1).sort_by_file_name() {
        let entry = entry?;
        let Some(path) = entry.path().strip_prefix(dir).ok().and_then(Path::to_str) else {
            continue;
        };
        let name = format!("machine/{path}");
        let kind = entry.file_type();
        if kind.is_symlink() {
            pack.add_link(&name, &std::fs::read_link(entry.path())?)?;
        } else if kind.is_dir() {
            pack.add_directory(&name)?;
        } else if holds_no_text(entry.path())? {
            pack.add_sparse(&name, entry.path())?;
        } else if entry.metadata()?.len() > WHOLE {
            let why = "it is too large to be redacted";
            left_out.push(json!({ "path": format!("/{path}"), "why": why }));
        } else {
            let content = std::fs::read(entry.path())?;
            // The sidecars are ours: they stay what their readers expect.
            let sidecar = !path.contains('/') && path.starts_with('.') && path.ends_with(".json");
            match sidecar.then(|| serde_json::from_slice::<Value>(&content)) {
                Some(Ok(mut value)) => {
                    redactor.json(&mut value);
                    pack.add(&name, &bytes(&value)?)?;
                }
                _ => pack.add(&name, &redactor.in_place(&content))?,
            }
        }
    }
    Ok(())
}

/// Whether nothing that a person wrote can be in a recorded file: a library or a program, or a large
/// file of which nothing was read.
fn holds_no_text(path: &Path) -> std::io::Result<bool> {
    use std::io::Read as _;
    use std::os::unix::fs::MetadataExt as _;
    let meta = path.symlink_metadata()?;
    if meta.len() > UNREAD && meta.blocks() == 0 {
        return Ok(true);
    }
    let mut head = Vec::new();
    std::fs::File::open(path)?.take(4).read_to_end(&mut head)?;
    Ok(head == b"\x7fELF")
}

fn bytes(value: &impl Serialize) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    write_json(value, &mut bytes)?;
    Ok(bytes)
}

/// Says what was written.
fn tell(
    path: &Path,
    manifest: &Manifest,
    redactor: &Redactor,
    output: &Output,
) -> anyhow::Result<()> {
    let shown = path.display().to_string();
    if output.format() == Format::Json {
        output.write(|out, _| write_json(manifest, out))?;
        return Ok(());
    }
    let size = path.metadata().map_or(0, |meta| meta.len());
    let logs = manifest.entries.iter().filter(|entry| entry.is_log()).count();
    let kib = size.div_ceil(1024).to_string();
    let lines = [
        sentence("bundle_written", &[("path", shown.clone()), ("kib", kib)]),
        sentence(
            "bundle_holds",
            &[
                ("files", manifest.entries.len().to_string()),
                ("logs", logs.to_string()),
                ("left", manifest.left_out.len().to_string()),
            ],
        ),
        sentence(
            "bundle_redacted",
            &[("n", redactor.count().to_string()), ("path", shown), ("top", TOP.to_owned())],
        ),
    ];
    output
        .write(|out, style| {
            for line in &lines {
                writeln!(out, "{}", escape_line(line.get(style.lang)))?;
            }
            Ok(())
        })
        .context("failed to say what was written")
}
