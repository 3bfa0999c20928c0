//! Decides what to do with every file; writes nothing.
//!
//! Each file is read once. A file without any name from the rules (see [`super::prefilter`]) is not
//! even decoded. A kind of file has one planner, [`Planner`]; this module decodes for it, applies
//! its edits, and lets it plan the result again ([`prove`]): a second conversion must have nothing
//! to do.

use base::text::Text;
use data::fault::Value as _;
use data::faults;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::sync::atomic::{AtomicU64, Ordering};

use rayon::prelude::*;

use super::encoding::{DecodeError, Decoded, differs_only_in};
use super::ledger::{self, Ledger, tokens};
use super::options::Options;
use super::prefilter::Prefilter;
use super::python::{ImportedName, Module, Project};
use super::report::shown;
use super::rules::Rules;
use super::site::{self, Decision, FilePlan};
use super::syntax::UnparsableText;
use super::{
    config, container, keep_comment, mark, native, notebook, pins, programs, python, requirements,
    rust, shell, value,
};
use base::progress::Progress;
use treeedit::commit::Refusal;
use treeedit::denial::Denial;
use treeedit::kind::FileKind;
use treeedit::walk::SourceFile;

/// Plans one text. An error means that the text is not of this kind; the file stays unchanged.
type Planner = fn(&Source<'_>, &Options) -> Result<FilePlan, FileProblem>;

/// The input of a planner.
#[derive(Debug, Clone, Copy)]
pub struct Source<'a> {
    /// The file; its `launch` marks a script that users start directly.
    pub file: &'a SourceFile,
    /// Its text, without byte order mark.
    pub text: &'a str,
    /// Facts that the Python files of the tree share.
    pub project: &'a Project,
    /// Whether the plan includes the reasons why tokens of the ledger stay.
    pub explains: bool,
}

/// The reason why a file was left unchanged although it should be converted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FileProblem {
    /// Not valid text in the encoding that it declares.
    Undecodable(DecodeError),
    /// It does not parse.
    Syntax {
        /// Line, from 1.
        line: u32,
        /// The message of the parser.
        message: String,
    },
    /// It is a template: its output has the syntax of its kind, the template itself does not.
    Template {
        /// The first line that does not parse, from 1.
        line: u32,
        /// Whether it mentions CUDA.
        speaks: bool,
    },
    /// The planned content is not sound: a defect of this tool.
    SelfCheck(Text),
    /// The file changed since it was read.
    Changed,
    /// This user is not allowed to replace it.
    Denied(Denial),
    /// It has uncommitted changes.
    Uncommitted,
    /// Reading or writing it failed.
    Io(Text),
}

impl From<Refusal> for FileProblem {
    fn from(refusal: Refusal) -> Self {
        match refusal {
            Refusal::Changed => Self::Changed,
            Refusal::Denied(denied) => Self::Denied(denied),
            Refusal::Io(detail) => Self::Io(detail),
        }
    }
}

/// One file with edits, places or problems.
#[derive(Debug)]
pub struct PlannedFile {
    /// The file.
    pub file: SourceFile,
    /// Its current content.
    pub before: Vec<u8>,
    /// Its new content; `None` if it stays unchanged.
    pub after: Option<Vec<u8>>,
    /// Edits and places.
    pub plan: FilePlan,
    /// The reason why it stays unchanged although it should not.
    pub problem: Option<FileProblem>,
}

impl PlannedFile {
    /// Proves the new content, see [`prove`]; if it is not sound, the file stays unchanged.
    fn prove(&mut self, options: &Options, project: &Project) {
        if let Err(problem) = prove(self, options, project) {
            self.leave(problem);
        }
    }

    /// Computes the new content again after edits were removed from the plan.
    pub(super) fn edit_again(&mut self) {
        if self.plan.edits.is_empty() {
            self.after = None;
            return;
        }
        let decoded = decode(self.file.kind, &self.before).ok();
        self.after = decoded.and_then(|decoded| decoded.edited(&self.plan.edits));
        if self.after.is_none() {
            self.leave(FileProblem::SelfCheck(faults::NewTextNotEncodable.value()));
        }
    }

    /// Leaves the file unchanged.
    pub fn leave(&mut self, problem: FileProblem) {
        self.after = None;
        if matches!(problem, FileProblem::SelfCheck(_)) {
            // The results of a defect are unreliable.
            self.plan = FilePlan::default();
        }
        self.problem = Some(problem);
    }

    /// The text that the ranges of the plan belong to.
    pub fn text(&self) -> String {
        text_of(self.file.kind, &self.before)
    }
}

/// The plan for a tree.
#[derive(Debug, Default)]
pub struct Plan {
    /// The files with edits, places or problems, in the order of the walk.
    pub files: Vec<PlannedFile>,
    /// The other files with tokens of the ledger, in the order of the walk.
    pub silent: Vec<SilentFile>,
    /// The tokens of all files.
    pub ledger: Ledger,
    /// Number of files read.
    pub read: usize,
    /// Their total size in bytes.
    pub bytes: u64,
}

/// A file without edits, places and problems: only its tokens count.
#[derive(Debug)]
pub struct SilentFile {
    /// The file.
    pub file: SourceFile,
    /// Its current content.
    pub bytes: Vec<u8>,
    /// An empty plan, with the facts that its planner collected for the ledger.
    pub plan: FilePlan,
}

/// A planned file, or one whose tokens are only counted.
type Drafted = Result<PlannedFile, Box<SilentFile>>;

/// A file that is worth planning, with its content as read.
struct Wanted<'a> {
    file: &'a SourceFile,
    bytes: std::io::Result<Vec<u8>>,
    /// The names that it may import from other files.
    takes: Vec<ImportedName>,
    /// Whether a rule may apply to it; the ledger counts its tokens in any case.
    planned: bool,
}

/// Plans all `files` in parallel and proves the plans; reports the bytes read to `progress`.
pub fn plan(files: &[SourceFile], options: &Options, progress: &Progress) -> Plan {
    made(files, options, progress, true).0
}

/// Like [`plan`], but without the proof (see [`prove`]): the proof takes half as long again, and
/// can run while the disk is busy.
pub fn draft(files: &[SourceFile], options: &Options, progress: &Progress) -> (Plan, Project) {
    made(files, options, progress, false)
}

fn made(
    files: &[SourceFile],
    options: &Options,
    progress: &Progress,
    proved: bool,
) -> (Plan, Project) {
    let total = files.iter().map(|file| file.size).sum();
    let done = AtomicU64::new(0);
    let mut project = project(files);
    let sieve = Prefilter::new(options, project.extensions().map(str::to_owned));
    let wanted: Vec<Wanted<'_>> = files
        .par_iter()
        .filter_map(|file| {
            let wanted = worth_planning(file, &sieve);
            let so_far = done.fetch_add(file.size, Ordering::Relaxed) + file.size;
            progress.report(so_far, total);
            wanted
        })
        .collect();
    follow_names(&mut project, files, &wanted);
    let mut wanted: Vec<(usize, Wanted<'_>)> = wanted.into_iter().enumerate().collect();
    // One thread plans a whole file, and some files take a hundred times as long as others. The
    // largest come first, so that no thread waits for another at the end.
    wanted.sort_by_key(|(_, wanted)| Reverse(wanted.file.size));
    let mut planned: Vec<(usize, Drafted)> = wanted
        .into_par_iter()
        .with_max_len(1)
        .map(|(at, Wanted { file, bytes, planned, .. })| {
            let planned = match bytes {
                Ok(bytes) if !planned => {
                    let plan = FilePlan::default();
                    Err(Box::new(SilentFile { file: file.clone(), bytes, plan }))
                }
                Ok(bytes) => draft_bytes(file, bytes, options, &project),
                Err(error) => Ok(PlannedFile {
                    file: file.clone(),
                    before: Vec::new(),
                    after: None,
                    plan: FilePlan::default(),
                    problem: Some(FileProblem::Io(error.value())),
                }),
            };
            (at, planned)
        })
        .collect();
    planned = sharing::share_roles(planned, files, options, &mut project);
    if proved {
        let all = planned.par_iter_mut().filter_map(|(_, one)| one.as_mut().ok());
        all.for_each(|planned| planned.prove(options, &project));
    }
    planned.sort_unstable_by_key(|(at, _)| *at);
    let mut plan = Plan { read: files.len(), bytes: total, ..Plan::default() };
    for (_, one) in planned {
        match one {
            Ok(file) => plan.files.push(file),
            Err(file) if tokens::any(&file.bytes) => plan.silent.push(*file),
            Err(_) => {}
        }
    }
    plan.ledger = ledger::collect(&plan, files, options, &project);
    plan.silent = Vec::new();
    (plan, project)
}

impl Plan {
    /// Withdraws changes of the ledger in files that stay unchanged because of a problem.
    pub fn settle_ledger(&mut self) {
        let unchanged: BTreeSet<String> = self
            .files
            .iter()
            .filter(|file| file.problem.is_some() && file.after.is_none())
            .map(|file| shown(&file.file.path))
            .collect();
        self.ledger.withdraw(|path| unchanged.contains(path));
    }

    /// Proves all planned content, see [`prove`].
    pub fn prove(&mut self, options: &Options, project: &Project) {
        self.files.par_iter_mut().for_each(|file| file.prove(options, project));
    }
}

/// Reads a file; returns `None` if no rule can apply to it.
fn worth_planning<'a>(file: &'a SourceFile, sieve: &Prefilter) -> Option<Wanted<'a>> {
    let bytes = match read(file) {
        Ok(bytes) => bytes,
        Err(error) => {
            return Some(Wanted { file, bytes: Err(error), takes: Vec::new(), planned: true });
        }
    };
    let planned = file.launch || sieve.passes(file.kind, &bytes);
    if !planned && !tokens::any(&bytes) {
        return None;
    }
    let takes = match std::str::from_utf8(&bytes) {
        Ok(text) if planned && file.kind == FileKind::Python => {
            python::imported_names(text, &module(file).package)
        }
        _ => Vec::new(),
    };
    Some(Wanted { file, bytes: Ok(bytes), takes, planned })
}

/// Facts about the tree: its modules, and the modules and programs that its packages build and
/// install.
fn project(all: &[SourceFile]) -> Project {
    let mut project =
        Project::of(sources(all).map(|file| {
            file.relative.with_extension("").to_string_lossy().replace(['/', '\\'], ".")
        }));
    let packages = Rules::builtin().packages();
    for file in all {
        let name = file.path.file_name().unwrap_or_default().to_string_lossy();
        if file.kind == FileKind::Requirements
            && let Ok(bytes) = read(file)
        {
            let text = String::from_utf8_lossy(&bytes);
            for package in &packages {
                project.add_pins(package, pins::pinned(&text, package));
            }
        }
        if programs::may_name(&name)
            && let Ok(bytes) = read(file)
        {
            let text = String::from_utf8_lossy(&bytes);
            project.add_programs(programs::named(&name, &text));
            project.add_extensions(programs::extensions(&text));
        }
    }
    project
}

fn sources(all: &[SourceFile]) -> impl Iterator<Item = &SourceFile> {
    all.iter().filter(|file| file.kind == FileKind::Python)
}

/// Follows the names that the Python files import from each other.
fn follow_names(project: &mut Project, all: &[SourceFile], wanted: &[Wanted<'_>]) {
    let mut takes = wanted.iter().flat_map(|wanted| &wanted.takes).peekable();
    if takes.peek().is_none() {
        return;
    }
    let by_name: BTreeMap<String, &SourceFile> =
        sources(all).map(|file| (module(file).name, file)).collect();
    let mut asked: BTreeSet<&str> = BTreeSet::new();
    for taken in takes {
        project.add_imported(taken.name);
        asked.extend(taken.modules().find(|name| by_name.contains_key(*name)));
    }
    for file in asked.into_iter().filter_map(|name| by_name.get(name)) {
        // A module that re-exports a name of torch may contain no other name from the rules.
        if let Ok(Ok(text)) = read(file).map(String::from_utf8) {
            project.add(&module(file), &text);
        }
    }
}

/// The dotted name of a file, relative to the root.
fn module(file: &SourceFile) -> Module {
    Module::of(&file.relative.to_string_lossy())
}

fn read(file: &SourceFile) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::with_capacity(usize::try_from(file.size).unwrap_or(0) + 1);
    // Reads one byte more than the known size, so that a file that grows is detected before its
    // replacement.
    file.open()?.take(file.size + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// Plans the file `file` with the content `bytes` and proves the plan; returns `None` if the file
/// has no edits, places and problems.
pub fn plan_bytes(
    file: &SourceFile,
    bytes: Vec<u8>,
    options: &Options,
    project: &Project,
) -> Option<PlannedFile> {
    let mut planned = draft_bytes(file, bytes, options, project).ok()?;
    planned.prove(options, project);
    Some(planned)
}

/// Plans a file; the error is a file without edits, places and problems.
fn draft_bytes(file: &SourceFile, bytes: Vec<u8>, options: &Options, project: &Project) -> Drafted {
    let planner = planner(file.kind);
    let (after, plan, problem) = match decide(planner, file, &bytes, options, project) {
        Ok((after, plan)) => (after, plan, None),
        Err(problem) => (None, FilePlan::default(), Some(problem)),
    };
    let silent =
        after.is_none() && plan.sites.is_empty() && plan.kept.is_empty() && problem.is_none();
    // The report will quote these texts. They are loaded here, while other files are still planned.
    for site in plan.sites.iter().filter(|site| site.decision != Decision::Changed) {
        site.rule.text();
    }
    if silent {
        return Err(Box::new(SilentFile { file: file.clone(), bytes, plan }));
    }
    Ok(PlannedFile { file: file.clone(), before: bytes, after, plan, problem })
}

fn decide(
    planner: Planner,
    file: &SourceFile,
    bytes: &[u8],
    options: &Options,
    project: &Project,
) -> Result<(Option<Vec<u8>>, FilePlan), FileProblem> {
    let decoded = decode(file.kind, bytes).map_err(FileProblem::Undecodable)?;
    let plan = planner(&Source { file, text: &decoded.text, project, explains: true }, options)
        .map_err(|problem| template(problem, &decoded.text))?;
    if plan.edits.is_empty() {
        return Ok((None, plan));
    }
    let after = decoded
        .edited(&plan.edits)
        .ok_or_else(|| FileProblem::SelfCheck(faults::NewTextNotEncodable.value()))?;
    Ok((Some(after), plan))
}

/// Whether the new content is sound: it can be read again, only planned ranges differ, and a second
/// conversion has nothing to do.
///
/// # Errors
///
/// With [`FileProblem::SelfCheck`]: a defect of this tool.
pub fn prove(
    planned: &PlannedFile,
    options: &Options,
    project: &Project,
) -> Result<(), FileProblem> {
    let PlannedFile { file, before, after: Some(after), plan, .. } = planned else { return Ok(()) };
    let again = decode(file.kind, after)
        .map_err(|error| FileProblem::SelfCheck(faults::NewTextIs { why: &error }.value()))?;
    if !differs_only_in(&text_of(file.kind, before), &again.text, &plan.edits) {
        let why = faults::MoreWouldChange.value();
        return Err(FileProblem::SelfCheck(why));
    }
    match planner(file.kind)(&Source { file, text: &again.text, project, explains: false }, options)
    {
        Ok(second) if second.edits.is_empty() => Ok(()),
        // A second plan must find the changes that the user declined, and no others.
        Ok(second) if planned.plan.declined().next().is_some() => {
            let declined = |rule: &str| planned.plan.declined().any(|kept| kept.rule.id == rule);
            let is_new =
                |site: &&site::Site| site.decision == Decision::Changed && !declined(site.rule.id);
            second.sites.iter().find(is_new).map_or(Ok(()), |site| {
                let why = faults::ChangesAgainAt { rule: site.rule.id, line: site.line };
                Err(FileProblem::SelfCheck(why.value()))
            })
        }
        Ok(second) => {
            let sites = second.sites.iter().find(|site| site.rule.id.starts_with("CV"));
            Err(FileProblem::SelfCheck(sites.map_or_else(
                || faults::ChangesAgain.value(),
                |site| faults::ChangesAgainAt { rule: site.rule.id, line: site.line }.value(),
            )))
        }
        Err(FileProblem::Syntax { line, message }) => Err(FileProblem::SelfCheck(
            faults::NewTextNotParsed { line, message: &message }.value(),
        )),
        Err(_) => Err(FileProblem::SelfCheck(faults::NewTextUnreadable.value())),
    }
}

/// A file that does not parse because it is a template (Jinja, Helm, cookiecutter) is not reported
/// as a syntax error.
fn template(problem: FileProblem, text: &str) -> FileProblem {
    let FileProblem::Syntax { line, .. } = problem else { return problem };
    let wrong = text.lines().nth(line.saturating_sub(1) as usize).unwrap_or_default();
    let near = ["{{", "{%", "<%", "{#"].iter().any(|sign| wrong.contains(sign));
    let block = text.contains("{%") && text.contains("%}")
        || text.contains("{{")
            && text.contains("}}")
            && !text.contains("f\"")
            && !text.contains("f'");
    if near || block {
        FileProblem::Template { line, speaks: value::mentions_cuda(text) }
    } else {
        problem
    }
}

/// The text of bytes of this kind of file; for display, also if the bytes are not valid.
pub(super) fn text_of(kind: FileKind, bytes: &[u8]) -> String {
    decode(kind, bytes)
        .map_or_else(|_| String::from_utf8_lossy(bytes).into_owned(), |decoded| decoded.text)
}

fn decode(kind: FileKind, bytes: &[u8]) -> Result<Decoded, DecodeError> {
    match kind {
        FileKind::Python => Decoded::python(bytes),
        _ => Decoded::utf8(bytes),
    }
}

/// The planner of a kind of file.
fn planner(kind: FileKind) -> Planner {
    match kind {
        FileKind::Shell => {
            |source, options| in_syntax(source, options, |planner, _| shell::plan(planner))
        }
        FileKind::Requirements => |source, options| {
            in_syntax(source, options, |planner, name| {
                requirements::plan(planner, name);
                Ok(())
            })
        },
        FileKind::Config => |source, options| in_syntax(source, options, config::plan),
        FileKind::Container => |source, options| in_syntax(source, options, container::plan),
        FileKind::Rust => |source, options| in_syntax(source, options, rust::plan),
        FileKind::Native => |source, options| {
            in_syntax(source, options, |planner, name| {
                native::plan(planner, name);
                Ok(())
            })
        },
        FileKind::Notebook => |source, options| {
            let context = python::Context { cell: true, ..python::Context::alone(options) };
            let cells = |text: &str| python::plan(text, &context).ok();
            in_syntax(source, options, |planner, _| notebook::plan(planner, &cells))
        },
        // Read only for the ledger.
        FileKind::Text => |_, _| Ok(FilePlan::default()),
        FileKind::Python => |source, options| {
            let module = module(source.file);
            let context = python::Context {
                options,
                package: &module.package,
                name: &module.name,
                launch: source.file.launch,
                project: Some(source.project),
                cell: false,
                test: source.explains && ledger::is_test(&source.file.relative),
                explains: source.explains,
            };
            python::plan(source.text, &context)
                .map_err(|error| FileProblem::Syntax { line: error.line, message: error.message })
        },
    }
}

/// Plans a text by its name; a syntax error is returned as a problem.
fn in_syntax<'a>(
    source: &Source<'a>,
    options: &'a Options,
    plan: impl FnOnce(&mut site::Planner<'a>, &str) -> Result<(), UnparsableText>,
) -> Result<FilePlan, FileProblem> {
    let mut planner = site::Planner::of(source.text, options, Some(source.project));
    let name = source.file.path.file_name().unwrap_or_default().to_string_lossy();
    if let Some(sign) = mark::comment_sign(source.file.kind, &name) {
        planner.keep_lines(keep_comment::kept_lines(source.text, sign));
    }
    match plan(&mut planner, &name) {
        Ok(()) => {
            if options.mark {
                mark::mark(&mut planner, source.file.kind, &name);
            }
            Ok(planner.finish())
        }
        Err(UnparsableText { at }) => Err(FileProblem::Syntax {
            line: planner.position(at).0,
            message: "what begins here is not closed, or nests too deep".to_owned(),
        }),
    }
}

mod sharing;
#[cfg(test)]
mod tests;
