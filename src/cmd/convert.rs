//! `convert`: plans, then writes, copies or prints the result; or undoes the last run.

use std::path::PathBuf;

use anyhow::Context as _;
use pep440_rs::Version;

use super::finish;
use super::machine::this_machine;
use super::output::Output;
use super::progress::Bar;
use super::standard_streams::{print, print_to_stderr};
use crate::cli::{Also, ConvertArgs};
use audit::ops::{Tables, Target as Column};
use base::report::{ExitStatus, Report};
use convert::copy::copy;
use convert::diff::unified;
use convert::links;
use convert::options::Options;
use convert::page;
use convert::plan::{Plan, draft, plan};
use convert::prefilter;
use convert::python::Project;
use convert::report::{Done, report};
use convert::undo::{add_recovered, note_interrupted, restore_interrupted, undo_last};
use convert::write::{WriteOptions, write};
use data::{sentence, words};
use machine::collect::find_installed;
use render::{Format, render_page};
use treeedit::git;
use treeedit::kind::FileKind;
use treeedit::walk::{Scope, walk};

pub(super) fn run(args: &ConvertArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.undo {
        return finish(undo_last(&args.root, args.force, subject(args))?, output);
    }
    anyhow::ensure!(
        !args.diff || output.is_text() || output.has_file(),
        "`--diff` prints a patch, which is no report: leave out `--format`, or name a file for the report \
         with `--report`"
    );
    let scope = scope(args)?;
    // What takes some milliseconds each, and needs nothing of each other.
    let (found, target) = rayon::join(
        || walk(&scope),
        || {
            prefilter::prepare();
            Target::of(args)
        },
    );
    let (mut found, target) = (found?, target?);
    let options = Options {
        target: target.version.clone(),
        transfer: args.transfer,
        messages: args.also.contains(&Also::Messages),
        mark: args.mark,
        import: args.import,
    };
    let in_place = !(args.dry_run || args.diff || args.check || args.output.is_some());
    let mut remarks = Vec::new();
    let recovered = if in_place { restore_interrupted(&found)? } else { Vec::new() };
    if in_place && !recovered.is_empty() {
        found = walk(&scope)?;
    }
    // Git takes its time; it is needed only if there is something to write.
    let ask = in_place && !args.force;
    let dirs: Vec<PathBuf> = found.roots.iter().map(|root| root.real.clone()).collect();
    let question = git::Question::ask(if ask { &dirs } else { &[] });
    let bar = Bar::new(output.quiet());
    // The words of the report are unpacked meanwhile.
    rayon::spawn(|| drop(words("convert_target_any")));
    // What is written is proved meanwhile.
    let (mut planned, project) = if in_place {
        draft(&found.files, &options, &bar.listener())
    } else {
        (plan(&found.files, &options, &bar.listener()), Project::default())
    };
    drop(bar);
    if !in_place {
        remarks.extend(note_interrupted(&found));
    }
    let mut pending = Vec::new();
    let mut linked = Vec::new();
    let done = if let Some(dir) = &args.output {
        Done::Copied(copy(&scope, &found, &planned, dir, args.force)?, dir.clone())
    } else if args.check {
        Done::Checked
    } else if in_place {
        let how = WriteOptions { force: args.force, backup: args.backup };
        let written = write(&found, &mut planned, &project, &options, how, question)?;
        pending = written.pending;
        linked = written.linked;
        written.done
    } else {
        Done::Planned
    };
    let written = matches!(done, Done::Written(n) if n > 0);
    let mut report =
        report(&found, &planned, &done, subject(args), output.format() == Format::Json);
    let linked = linked.iter().map(|(at, linked)| (&*planned.files[*at].file.path, *linked));
    report.findings.extend(links::replaced(&linked.collect::<Vec<_>>()));
    for (_journals, completion) in pending {
        completion.wait()?;
    }
    target.tell(&mut report);
    if args.transfer {
        report.notes.push(words("convert_transfer"));
    }
    add_recovered(&mut report, &recovered);
    report.notes.extend(remarks);
    if args.diff {
        return show_patch(&planned, &found.idle_excludes, report, output);
    }
    let finished = finish_with(report, &planned, output);
    if written {
        return finished.context(
            "the files were converted (`--undo` takes that back), only the report is missing",
        );
    }
    finished
}

/// Writes the report; as a page with the files side by side.
fn finish_with(mut report: Report, planned: &Plan, output: &Output) -> anyhow::Result<ExitStatus> {
    if output.format() != Format::Html {
        return finish(report, output);
    }
    output.settle(&mut report);
    output
        .write(|out, style| {
            let mut files = |out: &mut dyn std::io::Write| page::write(planned, style.lang, out);
            render_page(&report, style, &mut files, out)
        })
        .context("failed to write the report")?;
    Ok(report.exit_status())
}

/// The torch_npu that the result has to run with.
struct Target {
    version: Option<Version>,
    /// The directory that it was found in, unless it was asked for.
    found: Option<String>,
}

impl Target {
    /// What `--target` names, else what the Python of this machine would import.
    fn of(args: &ConvertArgs) -> anyhow::Result<Self> {
        if let Some(version) = &args.target {
            known(version)?;
            return Ok(Self { version: Some(version.clone()), found: None });
        }
        let machine = this_machine();
        let found = find_installed(&machine, "torch-npu");
        let found = found.and_then(|(version, dir)| Some((version.parse().ok()?, dir)));
        let (version, found) = found.unzip();
        Ok(Self { version, found })
    }

    fn tell(&self, report: &mut Report) {
        let version = self.version.as_ref().map(ToString::to_string);
        let said = match (&version, &self.found) {
            (Some(version), Some(dir)) => sentence(
                "convert_target_found",
                &[("version", version.clone()), ("dir", dir.clone())],
            ),
            (Some(version), None) => {
                sentence("convert_target_asked", &[("version", version.clone())])
            }
            (None, _) => words("convert_target_any"),
        };
        report.overview.push((words("convert_label_target"), said));
        let from = match (&version, &self.found) {
            (_, Some(dir)) => Some(dir.as_str()),
            (Some(_), None) => Some("--target"),
            (None, None) => None,
        };
        report
            .extra
            .insert("target".to_owned(), serde_json::json!({ "torch_npu": version, "from": from }));
    }
}

/// Refuses a version of which nothing is known, as `audit-ops` does: every name would be one that it
/// has, or none.
fn known(version: &Version) -> anyhow::Result<()> {
    // Candidates and builds of a release have its names.
    let mut parts = version.release().to_vec();
    parts.resize(parts.len().max(3), 0);
    let mut asked = parts.iter().map(ToString::to_string).collect::<Vec<_>>().join(".");
    if let Some(post) = version.post() {
        asked = format!("{asked}.post{post}");
    }
    Column::asked(Tables::get(), &asked).map(drop).map_err(|why| anyhow::anyhow!(why))
}

fn subject(args: &ConvertArgs) -> String {
    args.root.iter().map(|root| root.display().to_string()).collect::<Vec<_>>().join(" ")
}

fn scope(args: &ConvertArgs) -> anyhow::Result<Scope> {
    let mut kinds: Vec<FileKind> =
        if args.kind.is_empty() { FileKind::ALL.to_vec() } else { args.kind.clone() };
    kinds.retain(|kind| !args.no_kind.contains(kind));
    anyhow::ensure!(!kinds.is_empty(), "--kind and --no-kind leave no kind of file");
    Ok(Scope {
        roots: args.root.clone(),
        launch: args.launch.clone(),
        exclude: args.exclude.clone(),
        kinds,
        ignore_files: !args.no_ignore,
        linked_files: false,
        max_size: args.max_size << 20,
    })
}

/// `--diff`: the patch alone on standard output; what went wrong on standard error.
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
    .context("failed to write the patch")?;
    if output.has_file() {
        return finish_with(report, planned, output);
    }
    let mut report = report;
    output.settle(&mut report);
    for exclude in idle_excludes {
        let said = sentence("convert_idle_exclude", &[("exclude", exclude.clone())]);
        print_to_stderr(said.get(output.lang()));
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
