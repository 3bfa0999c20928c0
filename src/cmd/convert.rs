//! `convert`: plan, then write, copy, show or take back.
#![expect(
    clippy::disallowed_methods,
    reason = "resolves the roots that the user named; no machine is examined"
)]

use std::collections::BTreeMap;
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
use base::report::{Evidence, ExitStatus, RawFinding, Report};
use base::text::Text;
use convert::copy::copy;
use convert::diff::unified;
use convert::links::{self, HardLinks};
use convert::options::Options;
use convert::page;
use convert::plan::{FileProblem, Plan, PlannedFile, draft, plan, prove};
use convert::prefilter;
use convert::python::Project;
use convert::report::{Done, report, shown, shown_directory};
use data::Catalog;
use data::{sentence, words};
use machine::collect::find_installed;
use render::{Format, render_page};
use treeedit::commit::{Change, CommitReport, JournalCompletion, commit};
use treeedit::git;
use treeedit::journal::{DIRECTORY, Journals};
use treeedit::kind::FileKind;
use treeedit::undo::{UndoReport, recover, undo};
use treeedit::walk::{Scope, WalkResult, root_directories, walk};

pub(super) fn run(args: &ConvertArgs, output: &Output) -> anyhow::Result<ExitStatus> {
    if args.undo {
        return finish(take_back(args)?, output);
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
        remarks.extend(interrupted(&found));
    }
    let mut finishing = Vec::new();
    let mut linked = Vec::new();
    let done = if let Some(dir) = &args.output {
        Done::Copied(copy(&scope, &found, &planned, dir, args.force)?, dir.clone())
    } else if args.check {
        Done::Checked
    } else if in_place {
        let proof = |file: &PlannedFile| prove(file, &options, &project);
        let written = write(args, &found, &mut planned, question, &proof)?;
        if matches!(written.done, Done::Refused(_)) {
            planned.prove(&options, &project);
        }
        finishing = written.open;
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
    for (_journals, finishing) in finishing {
        finishing.wait()?;
    }
    target.tell(&mut report);
    if args.transfer {
        report.notes.push(words("convert_transfer"));
    }
    for undone in recovered {
        let n = undone.restored.len().to_string();
        report.notes.push(sentence("convert_recovered", &[("n", n)]));
        report.findings.extend(changed_since(&undone, ["interrupted", "interrupted_gone"]));
    }
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

/// What to do where there can be no journal.
const NO_JOURNAL: &str = "nothing can be written here without a journal for --undo (`--output DIR` \
                          writes a copy elsewhere)";

/// Puts back what an earlier run left half done, before anything is read.
fn restore_interrupted(found: &WalkResult) -> anyhow::Result<Vec<UndoReport>> {
    let mut recovered = Vec::new();
    for root in &found.roots {
        let journals = Journals::existing(&root.dir).context(NO_JOURNAL)?;
        let Some(journals) = journals else { continue };
        recovered.extend(recover(&journals)?);
        journals.tidy();
    }
    Ok(recovered)
}

/// A remark for each root that an earlier run left half done; nothing is written.
fn interrupted(found: &WalkResult) -> Vec<Text> {
    let halves = found.roots.iter().filter(|root| {
        let Ok(runs) = root.dir.join(DIRECTORY).read_dir() else { return false };
        runs.flatten().any(|run| {
            let there = |name| run.path().join(name).symlink_metadata().is_ok();
            there("journal.json") && !there("done.json")
        })
    });
    halves.map(|root| sentence("convert_would_recover", &[("dir", shown(&root.dir))])).collect()
}

/// What became of files that were to be replaced.
struct Written {
    done: Done,
    /// What still waits for the disk.
    open: Vec<(Journals, JournalCompletion)>,
    /// The files that had several names, by their position in the plan.
    linked: Vec<(usize, HardLinks)>,
}

/// The files to be replaced of which git does not have what they hold, as the user named them.
///
/// # Errors
///
/// Where git cannot say it: what nobody knows is not overwritten unasked.
fn not_in_git(planned: &Plan, question: git::Question) -> anyhow::Result<Vec<PathBuf>> {
    let files = planned.files.iter().filter(|file| file.after.is_some()).map(|file| &file.file);
    let named: BTreeMap<PathBuf, &PathBuf> =
        files.map(|file| (file.root.real.join(&file.relative), &file.path)).collect();
    let answer = question.uncommitted(&named.keys().cloned().collect::<Vec<_>>());
    if let Some((top, why)) = answer.trouble {
        anyhow::bail!(
            "whether git has all changes in `{}` is not known, so nothing was written (`--force` \
             writes without asking git): {why}",
            top.display()
        );
    }
    let uncommitted = answer.uncommitted.iter().filter_map(|real| named.get(real));
    Ok(uncommitted.map(|path| (*path).clone()).collect())
}

/// Replaces the files, root by root; if one fails, the roots before are taken back.
fn write(
    args: &ConvertArgs,
    found: &WalkResult,
    planned: &mut Plan,
    question: git::Question,
    proof: &(dyn Fn(&PlannedFile) -> Result<(), FileProblem> + Sync),
) -> anyhow::Result<Written> {
    let mut linked = Vec::new();
    if !args.force {
        let uncommitted = not_in_git(planned, question)?;
        if !uncommitted.is_empty() {
            return Ok(Written { done: Done::Refused(uncommitted), open: Vec::new(), linked });
        }
    }
    let mut open: Vec<(Journals, JournalCompletion)> = Vec::new();
    let mut problems: BTreeMap<usize, FileProblem> = BTreeMap::new();
    let mut replaced = 0;
    let mut stays: Vec<PathBuf> = Vec::new();
    for (at, root) in found.roots.iter().enumerate() {
        // A file and its directory may both be named: they have one journal.
        if found.roots[..at].iter().any(|before| before.real == root.real) {
            continue;
        }
        let is_mine = |file: &PlannedFile| file.file.root.real == root.real;
        let mine: Vec<usize> = (0..planned.files.len())
            .filter(|&at| is_mine(&planned.files[at]) && planned.files[at].after.is_some())
            .collect();
        if mine.is_empty() {
            continue;
        }
        let changes: Vec<Change<'_>> = mine
            .iter()
            .map(|&at| {
                let file = &planned.files[at];
                let after = file.after.as_deref().unwrap_or_default();
                Change { relative: &file.file.relative, before: &file.before, after }
            })
            .collect();
        let outcome = Journals::open(&root.dir).context(NO_JOURNAL).and_then(|journals| {
            let sound = |at: usize| proof(&planned.files[mine[at]]);
            let mut committed = commit(&journals, &changes, args.backup, &sound);
            match committed.as_mut().map(|committed| committed.finishing.take()) {
                Ok(Some(finishing)) => open.push((journals, finishing)),
                _ => journals.tidy(),
            }
            committed.map_err(anyhow::Error::from)
        });
        match outcome {
            Ok(CommitReport { left, replaced: count, linked: several, .. }) => {
                replaced += count;
                linked.extend(several.into_iter().map(|(at, names)| (mine[at], names)));
                problems.extend(left.into_iter().map(|(at, problem)| (mine[at], problem)));
            }
            Err(error) => {
                for (journals, finishing) in open {
                    finishing.wait()?;
                    let undone = undo(&journals, false)
                        .context("taking back what was written failed too")?;
                    stays.extend(
                        undone.into_iter().flat_map(|one| [one.changed, one.gone].concat()),
                    );
                    journals.tidy();
                }
                let Some(first) = stays.first() else { return Err(error) };
                return Err(error.context(format!(
                    "what was written before was not taken back: `{}` was changed meanwhile",
                    shown(first)
                )));
            }
        }
    }
    for (at, problem) in problems {
        planned.files[at].leave(problem);
    }
    Ok(Written { done: Done::Written(replaced), open, linked })
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

/// Why nothing can be taken back.
const UNUSABLE: &str = "the journal for --undo cannot be used (who converted can take it back)";

/// `--undo`: the last run on each root.
fn take_back(args: &ConvertArgs) -> anyhow::Result<Report> {
    let mut report = Report::new("convert", subject(args));
    let mut restored = 0;
    let mut nowhere = Vec::new();
    let mut unlinked = Vec::new();
    // All of them are looked at before the first run is taken back.
    let mut all = Vec::new();
    for dir in root_directories(&args.root)? {
        let journals = Journals::existing(&dir).context(UNUSABLE)?;
        if let Some(journals) = &journals {
            journals.latest().context(UNUSABLE)?;
        }
        all.push((dir, journals));
    }
    for (dir, journals) in all {
        let undone = match journals {
            Some(journals) => {
                let undone = undo(&journals, args.force)?;
                journals.tidy();
                undone
            }
            None => None,
        };
        let Some(undone) = undone else {
            nowhere.push(dir);
            continue;
        };
        restored += undone.restored.len();
        report.findings.extend(changed_since(&undone, ["since", "since_gone"]));
        unlinked.extend(undone.unlinked);
    }
    if let Some(first) = nowhere.first()
        && restored == 0
        && report.findings.is_empty()
    {
        let dirs: Vec<String> = nowhere.iter().map(|dir| shown_directory(dir)).collect();
        let dirs = dirs.join("`, `");
        match Journals::above(first) {
            Some(above) => anyhow::bail!(
                "there is no run to take back in `{dirs}`, but one in `{}`: name that as the root (-r)",
                shown_directory(&above)
            ),
            None => anyhow::bail!("there is no run to take back in `{dirs}`"),
        }
    }
    report.findings.extend(links::restored(&unlinked));
    let result = sentence("convert_undone", &[("n", restored.to_string())]);
    report.overview.push((words("convert_label_result"), result));
    report.extra.insert("result".to_owned(), serde_json::json!("undone"));
    report.extra.insert("restored".to_owned(), serde_json::json!(restored));
    Ok(report)
}

/// A finding for each file that somebody wrote to since the run, or took away.
fn changed_since(undone: &UndoReport, messages: [&'static str; 2]) -> Vec<base::report::Finding> {
    let [changed, gone] = messages;
    let changed = undone.changed.iter().map(|path| (path, changed));
    let left = changed.chain(undone.gone.iter().map(|path| (path, gone)));
    let statements = left.map(|(path, message)| {
        let path = shown(path);
        RawFinding::error("CONVERT-CHANGED", message)
            .arg("path", path.clone())
            .evidence(Evidence::file(path))
    });
    statements.map(|statement| Catalog::builtin().resolve(statement)).collect()
}
