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
use super::output::{Output, print, say_aside};
use super::progress::Bar;
use crate::cli::{Also, ConvertArgs};
use crate::collect::installed;
use crate::convert::commit::{Change, Committed, Finishing, commit};
use crate::convert::copy::copy;
use crate::convert::diff::unified;
use crate::convert::git;
use crate::convert::journal::{DIRECTORY, Journals};
use crate::convert::kind::FileKind;
use crate::convert::needle;
use crate::convert::options::Options;
use crate::convert::page;
use crate::convert::plan::{FileProblem, Plan, PlannedFile, draft, plan, prove};
use crate::convert::python::Project;
use crate::convert::report::{Done, report, shown, shown_directory};
use crate::convert::undo::{Undone, recover, undo};
use crate::convert::walk::{Found, Scope, root_directories, walk};
use crate::data::Catalog;
use crate::render::{Format, render_page};
use crate::report::{Evidence, ExitStatus, Found as Statement, Report};
use crate::text::{Text, sentence, words};

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
            needle::prepare();
            Target::of(args)
        },
    );
    let mut found = found?;
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
    let done = if let Some(dir) = &args.output {
        Done::Copied(copy(&scope, &found, &planned, dir, args.force)?, dir.clone())
    } else if args.check {
        Done::Checked
    } else if in_place {
        let proof = |file: &PlannedFile| prove(file, &options, &project);
        let (done, open) = write(args, &found, &mut planned, question, &proof, &mut remarks)?;
        if matches!(done, Done::Refused(_)) {
            planned.prove(&options, &project);
        }
        finishing = open;
        done
    } else {
        Done::Planned
    };
    let written = matches!(done, Done::Written(n) if n > 0);
    let mut report =
        report(&found, &planned, &done, subject(args), output.format() == Format::Json);
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
        report.findings.extend(changed_since(&undone, "interrupted"));
    }
    report.notes.extend(remarks);
    if args.diff {
        return show_patch(&planned, report, output);
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
    fn of(args: &ConvertArgs) -> Self {
        if args.target.is_some() {
            return Self { version: args.target.clone(), found: None };
        }
        let machine = this_machine();
        let found = installed(&machine, "torch-npu");
        let found = found.and_then(|(version, dir)| Some((version.parse().ok()?, dir)));
        let (version, found) = found.unzip();
        Self { version, found }
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
        max_size: args.max_size << 20,
    })
}

/// Puts back what an earlier run left half done, before anything is read.
fn restore_interrupted(found: &Found) -> anyhow::Result<Vec<Undone>> {
    let mut recovered = Vec::new();
    for root in &found.roots {
        let Some(journals) = Journals::existing(&root.dir)? else { continue };
        recovered.extend(recover(&journals)?);
        journals.tidy();
    }
    Ok(recovered)
}

/// A remark for each root that an earlier run left half done; nothing is written.
fn interrupted(found: &Found) -> Vec<Text> {
    let halves = found.roots.iter().filter(|root| {
        let Ok(runs) = root.dir.join(DIRECTORY).read_dir() else { return false };
        runs.flatten().any(|run| {
            let there = |name| run.path().join(name).symlink_metadata().is_ok();
            there("journal.json") && !there("done.json")
        })
    });
    halves.map(|root| sentence("convert_would_recover", &[("dir", shown(&root.dir))])).collect()
}

/// Replaces the files, root by root; if one fails, the roots before are taken back.
fn write(
    args: &ConvertArgs,
    found: &Found,
    planned: &mut Plan,
    question: git::Question,
    proof: &(dyn Fn(&PlannedFile) -> Result<(), FileProblem> + Sync),
    remarks: &mut Vec<Text>,
) -> anyhow::Result<(Done, Vec<(Journals, Finishing)>)> {
    if !args.force {
        let files: Vec<PathBuf> = planned
            .files
            .iter()
            .filter(|file| file.after.is_some())
            .map(|file| file.file.root.real.join(&file.file.relative))
            .collect();
        let answer = question.uncommitted(&files);
        if let Some(why) = answer.trouble {
            remarks.push(sentence("convert_git_silent", &[("why", why)]));
        }
        if !answer.uncommitted.is_empty() {
            return Ok((Done::Refused(answer.uncommitted), Vec::new()));
        }
    }
    let mut open: Vec<(Journals, Finishing)> = Vec::new();
    let mut problems: BTreeMap<usize, FileProblem> = BTreeMap::new();
    let mut replaced = 0;
    for root in &found.roots {
        let mine: Vec<usize> = (0..planned.files.len())
            .filter(|&at| planned.files[at].file.root == *root && planned.files[at].after.is_some())
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
        let outcome = Journals::open(&root.dir)
            .context("nothing can be written without a journal for --undo")
            .and_then(|journals| {
                let sound = |at: usize| proof(&planned.files[mine[at]]);
                let mut committed = commit(&journals, &changes, args.backup, &sound);
                match committed.as_mut().map(|committed| committed.finishing.take()) {
                    Ok(Some(finishing)) => open.push((journals, finishing)),
                    _ => journals.tidy(),
                }
                committed.map_err(anyhow::Error::from)
            });
        match outcome {
            Ok(Committed { left, replaced: count, .. }) => {
                replaced += count;
                problems.extend(left.into_iter().map(|(at, problem)| (mine[at], problem)));
            }
            Err(error) => {
                for (journals, finishing) in open {
                    finishing.wait()?;
                    undo(&journals, false).context("taking back what was written failed too")?;
                    journals.tidy();
                }
                return Err(error);
            }
        }
    }
    for (at, problem) in problems {
        planned.files[at].leave(problem);
    }
    Ok((Done::Written(replaced), open))
}

/// `--diff`: the patch alone on standard output; what went wrong on standard error.
fn show_patch(planned: &Plan, report: Report, output: &Output) -> anyhow::Result<ExitStatus> {
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
    for finding in report.findings.iter().filter(|finding| report.fails(finding)) {
        say_aside(&format!("{}: {}", finding.severity.as_str(), finding.title.get(output.lang())));
    }
    Ok(report.exit_status())
}

/// `--undo`: the last run on each root.
fn take_back(args: &ConvertArgs) -> anyhow::Result<Report> {
    let mut report = Report::new("convert", subject(args));
    let mut restored = 0;
    let mut nowhere = Vec::new();
    for dir in root_directories(&args.root)? {
        let undone = match Journals::existing(&dir)? {
            Some(journals) => {
                let undone = undo(&journals, args.force)?;
                journals.tidy();
                undone
            }
            None => None,
        };
        let Some(undone) = undone else {
            nowhere.push(shown_directory(&dir));
            continue;
        };
        restored += undone.restored.len();
        report.findings.extend(changed_since(&undone, "since"));
    }
    anyhow::ensure!(
        nowhere.is_empty() || restored > 0 || !report.findings.is_empty(),
        "there is no run to take back in `{}`",
        nowhere.join("`, `")
    );
    let result = sentence("convert_undone", &[("n", restored.to_string())]);
    report.overview.push((words("convert_label_result"), result));
    report.extra.insert("result".to_owned(), serde_json::json!("undone"));
    report.extra.insert("restored".to_owned(), serde_json::json!(restored));
    Ok(report)
}

/// A finding for each file that somebody wrote to since the run.
fn changed_since(undone: &Undone, message: &'static str) -> Vec<crate::report::Finding> {
    let statements = undone.changed.iter().map(|path| {
        let path = shown(path);
        Statement::error("CONVERT-CHANGED", message)
            .arg("path", path.clone())
            .evidence(Evidence::file(path))
    });
    statements.map(|statement| Catalog::builtin().resolve(statement)).collect()
}
