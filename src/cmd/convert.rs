//! `convert`: plans, then writes, copies or prints the result; or undoes the last run.

mod apply_command;

use data::Fault;
use data::{OrFault as _, faults};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use pep440_rs::Version;

use self::apply_command::apply_command;
use super::audit_ops::target::resolve_release;
use super::finish;
use super::machine::this_machine;
use super::output::Output;
use super::output_file::{self, ReplaceMode};
use super::progress;
use super::requested::Shortened;
use super::standard_streams::{ask_user, can_ask, print, print_to_stderr};
use crate::cli::{Also, ConvertArgs};
use audit::ops::Tables;
use base::report::{ExitStatus, Report};
use convert::copy::copy;
use convert::diff::unified;
use convert::interactive::choose;
use convert::ledger;
use convert::links;
use convert::members::{self, PreviewMembers, TargetMember, TargetSource};
use convert::options::Options;
use convert::outcome::undo_command;
use convert::page;
use convert::plan::{Plan, draft, plan};
use convert::prefilter;
use convert::python::Project;
use convert::report::{Done, report, shown};
use convert::rules::Rules;
use convert::selection::Selection;
use convert::undo::{add_recovered, note_interrupted, restore_interrupted, undo_last};
use convert::write::{WriteOptions, find_uncommitted, write};
use data::ui;
use machine::collect::find_installed;
use render::{Format, render_page};
use treeedit::git;
use treeedit::kind::FileKind;
use treeedit::walk::{Scope, WalkResult, walk};

pub(super) fn run(args: &ConvertArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.undo {
        return finish(undo_last(args.selected(), args.force, subject(args))?, output);
    }
    anyhow::ensure!(
        !args.diff || output.is_text() || output.has_file(),
        faults::DiffIsNoReport.fault()
    );
    anyhow::ensure!(!args.interactive || can_ask(), faults::InteractiveNeedsTerminal.fault());
    let selection = Selection::new(&args.only_rules, &args.skip_rules)?;
    let scope = scope(args)?;
    // Each takes some milliseconds, and they are independent.
    let (found, target) = rayon::join(
        || walk(&scope),
        || {
            prefilter::prepare();
            Target::select(args)
        },
    );
    let (mut found, target) = (found.map_err(Fault::from)?, target?);
    let options = options(args, &target, selection);
    let in_place = args.is_in_place();
    let mut notes = Vec::new();
    let recovered = if in_place { restore_interrupted(&found)? } else { Vec::new() };
    if in_place && !recovered.is_empty() {
        found = walk(&scope).map_err(Fault::from)?;
    }
    // Git is slow, so it runs in parallel. Its answer is only needed for files to be written.
    let ask = in_place && !args.force;
    let dirs: Vec<PathBuf> = found.roots.iter().map(|root| root.real.clone()).collect();
    let question = git::Question::ask(if ask { &dirs } else { &[] });
    // The texts of the report are unpacked in parallel.
    rayon::spawn(|| drop(ui::CONVERT_TARGET_ANY.text()));
    // The check of files to be written runs while the disk is busy.
    let (mut planned, project) = if in_place {
        draft(&found.files, &options, &progress::listener())
    } else {
        (plan(&found.files, &options, &progress::listener()), Project::default())
    };
    if !in_place {
        notes.extend(note_interrupted(&found));
    }
    let uncommitted = if ask { find_uncommitted(&planned, question)? } else { Vec::new() };
    if args.interactive && uncommitted.is_empty() {
        planned.prove(&options, &project);
        let asked = ask_user(|input, out| choose(&mut planned, output.lang(), input, out));
        asked.or_fault(|| faults::CannotAsk.fault())?;
    }
    let mut pending = Vec::new();
    let mut linked = Vec::new();
    let done = if let Some(dir) = &args.output_dir {
        Done::Copied(
            copy(&scope, &found, &planned, dir, args.force).map_err(Fault::from)?,
            dir.clone(),
        )
    } else if args.check {
        Done::Checked
    } else if in_place {
        let how = WriteOptions { uncommitted, backup: args.backup };
        let written = write(&found, &mut planned, &project, &options, how)?;
        pending = written.pending;
        linked = written.linked;
        written.done
    } else {
        Done::Planned
    };
    let written = matches!(done, Done::Written(n) if n > 0);
    planned.settle_ledger();
    let mut report = report(&found, &planned, &done, subject(args), output.format().is_json());
    let linked = linked.iter().map(|(at, linked)| (&*planned.files[*at].file.path, *linked));
    report.findings.extend(links::replaced(&linked.collect::<Vec<_>>()));
    for (_journals, completion) in pending {
        completion.wait().map_err(Fault::from)?;
    }
    if done == Done::Planned && planned.files.iter().any(|file| file.after.is_some()) {
        let command = apply_command(args);
        report.notes.push(ui::ConvertApply { command: &command }.text());
        report.add_members(&PreviewMembers { apply: command });
    }
    target.add_to(&mut report);
    if args.transfer {
        report.notes.push(ui::CONVERT_TRANSFER.text());
    }
    add_recovered(&mut report, &recovered);
    report.notes.extend(notes);
    if let Some(path) = &args.ledger {
        write_ledger(&planned, path)?;
    }
    if args.diff {
        return show_patch(&planned, &found.idle_excludes, report, output);
    }
    let finished = finish_with(report, &planned, output);
    if written && matches!(output.format(), Format::Line | Format::Openmetrics) {
        print_written(&found, &planned, output);
    }
    if written {
        return Ok(finished
            .map_err(super::error_message::as_cause)
            .or_fault(|| faults::ConvertedWithoutReport.fault())?);
    }
    finished
}

/// The report of a preview for another subcommand: writes no files and asks no questions.
pub(super) fn preview(args: &ConvertArgs) -> anyhow::Result<Report> {
    let selection = Selection::new(&args.only_rules, &args.skip_rules)?;
    let found = walk(&scope(args)?).map_err(Fault::from)?;
    let target = Target::select(args)?;
    let options = options(args, &target, selection);
    let mut planned = plan(&found.files, &options, &progress::listener());
    planned.settle_ledger();
    Ok(report(&found, &planned, &Done::Planned, subject(args), true))
}

fn options(args: &ConvertArgs, target: &Target, selection: Selection) -> Options {
    Options {
        target: target.version.clone(),
        packages: target.packages.clone(),
        installed: target.installed.clone(),
        transfer: args.transfer,
        messages: args.also.contains(&Also::Messages),
        mark: args.mark,
        import: args.import,
        selection,
    }
}

/// Writes the ledger as CSV or JSON, by the extension of the file.
fn write_ledger(planned: &Plan, path: &Path) -> anyhow::Result<()> {
    let is_csv = path.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("csv"));
    let form = if is_csv { ledger::write::csv } else { ledger::write::json };
    output_file::replace(path, ReplaceMode::RenameOrWrite, |out| form(&planned.ledger, out))
        .or_fault(|| faults::CannotWrite { path: path.display() }.fault())?;
    Ok(())
}

/// Lists the written files on standard error, for formats without room for them.
fn print_written(found: &WalkResult, planned: &Plan, output: &Output) {
    for file in planned.files.iter().filter(|file| file.after.is_some()) {
        print_to_stderr(&shown(&file.file.path));
    }
    let command = undo_command(found);
    print_to_stderr(ui::ConvertTakeBack { command: &command }.text().get(output.lang()));
}

/// Writes the report. The HTML form has the files side by side.
fn finish_with(mut report: Report, planned: &Plan, output: &Output) -> anyhow::Result<ExitStatus> {
    if output.format() != Format::Html {
        return finish(report, output);
    }
    report.tables.extend(page::ledger(planned));
    output.settle(&mut report);
    output
        .write(|out, style| render_page(&report, style, &|| Box::new(page::files(planned)), out))
        .or_fault(|| faults::FailedToWriteReport.fault())?;
    Ok(report.exit_status())
}

/// The torch_npu release that the result must run with.
struct Target {
    version: Option<Version>,
    /// The directory where it was found, unless `--target` names the release.
    found: Option<String>,
    /// Versions of the libraries on which rules depend, as named by the user.
    packages: BTreeMap<String, Version>,
    /// The same, as installed next to torch_npu.
    installed: BTreeMap<String, Version>,
    /// An incomplete `--target`.
    shortened: Shortened,
}

impl Target {
    /// Returns the release of `--target`, else the one that Python on this machine imports.
    fn select(args: &ConvertArgs) -> anyhow::Result<Self> {
        let mut packages = BTreeMap::new();
        let mut named = None;
        for asked in &args.target {
            let (name, text) = package_version(asked)?;
            match name {
                None => named = Some((asked, text)),
                Some(name) => {
                    let version = text.parse();
                    let version =
                        version.or_fault(|| faults::NotAVersion { text: asked }.fault())?;
                    packages.insert(name.to_owned(), version);
                }
            }
        }
        if let Some((asked, name)) = named {
            let mut shortened = Shortened::default();
            // Release candidates and builds provide the names of their release.
            let early = name.parse().ok().filter(Version::any_prerelease);
            let release = early.as_ref().map(|version| {
                version.release().iter().map(ToString::to_string).collect::<Vec<_>>().join(".")
            });
            let known = release.as_deref().unwrap_or(name);
            let version = resolve_release("--target", known, Tables::get(), &mut shortened)?;
            let version = early.or_else(|| version.parse().ok());
            let version = version.or_fault(|| faults::NotAVersion { text: asked }.fault())?;
            return Ok(Self {
                version: Some(version),
                found: None,
                packages,
                installed: BTreeMap::new(),
                shortened,
            });
        }
        let machine = this_machine();
        let found = find_installed(&machine, "torch-npu");
        let found = found.and_then(|(version, dir)| Some((version.parse().ok()?, dir)));
        let (version, found) = found.unzip();
        let mut installed = BTreeMap::new();
        if found.is_some() {
            // The result is intended for this machine.
            for name in Rules::builtin().packages() {
                let package = find_installed(&machine, name);
                let version = package.and_then(|(version, _)| version.parse().ok());
                installed.extend(version.map(|version| (name.to_owned(), version)));
            }
        }
        Ok(Self { version, found, packages, installed, shortened: Shortened::default() })
    }

    /// Adds the release to a report.
    fn add_to(&self, report: &mut Report) {
        let version = self.version.as_ref().map(ToString::to_string);
        let text = match (&version, &self.found) {
            (Some(version), Some(dir)) => {
                ui::ConvertTargetFound { dir: &dir, version: &version }.text()
            }
            (Some(version), None) => ui::ConvertTargetAsked { version: &version }.text(),
            (None, _) => ui::CONVERT_TARGET_ANY.text(),
        };
        report.overview.push((ui::CONVERT_LABEL_TARGET.text(), text));
        let from = match (&version, &self.found) {
            (_, Some(_)) => Some(TargetSource::Installed),
            (Some(_), None) => Some(TargetSource::Option),
            (None, None) => None,
        };
        let path = self.found.as_deref();
        report.add_members(&TargetMember {
            target: members::Target { torch_npu: version, from, path },
        });
        self.shortened.add_to(report);
    }
}

/// Returns the version of `2.6.0`, or of `torch_npu==2.6.0`, or the package and version of
/// `transformers==4.51`.
fn package_version(asked: &str) -> anyhow::Result<(Option<&'static str>, &str)> {
    let Some((name, version)) = asked.split_once("==") else { return Ok((None, asked.trim())) };
    let name = name.trim().replace('_', "-");
    if name == "torch-npu" {
        return Ok((None, version.trim()));
    }
    let packages = Rules::builtin().packages();
    let known = packages.iter().find(|known| **known == name);
    let packages = || packages.iter().copied().collect::<Vec<_>>().join(", ");
    let known = known.or_fault(|| faults::TargetNotKnown { packages: packages() }.fault())?;
    Ok((Some(known), version.trim()))
}

fn subject(args: &ConvertArgs) -> String {
    args.selected().iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(" ")
}

fn scope(args: &ConvertArgs) -> anyhow::Result<Scope> {
    let mut kinds: Vec<FileKind> =
        if args.kind.is_empty() { FileKind::ALL.to_vec() } else { args.kind.clone() };
    kinds.retain(|kind| !args.no_kind.contains(kind));
    anyhow::ensure!(!kinds.is_empty(), faults::NoKindLeft.fault());
    Ok(Scope {
        roots: args.selected().to_vec(),
        launch: args.launch.clone(),
        exclude: args.exclude.clone(),
        kinds,
        ignore_files: !args.no_ignore,
        linked_files: false,
        max_size: args.max_size << 20,
    })
}

/// Prints only the patch on standard output, for `--diff`, and problems on standard error.
fn show_patch(
    planned: &Plan,
    idle_excludes: &[String],
    report: Report,
    output: &Output,
) -> anyhow::Result<ExitStatus> {
    print(|terminal, out| {
        for file in &planned.files {
            if let Some(after) = &file.after {
                unified(&file.file.relative, &file.before, after, terminal, out)?;
            }
        }
        Ok(())
    })
    .or_fault(|| faults::FailedToWritePatch.fault())?;
    if output.has_file() {
        return finish_with(report, planned, output);
    }
    let mut report = report;
    output.settle(&mut report);
    for exclude in idle_excludes {
        let text = ui::ConvertIdleExclude { exclude: &exclude }.text();
        print_to_stderr(text.get(output.lang()));
    }
    for finding in report.findings.iter().filter(|finding| report.fails(finding)) {
        print_to_stderr(&format!(
            "{}: {}",
            finding.severity.as_str(),
            finding.title.get(output.lang())
        ));
    }
    Ok(report.exit_status())
}
