//! `cargo xtask same`: runs an old and a new build over the same inputs and reports every
//! difference in standard output, standard error, exit status and written files.
//!
//! Maintainers use it to show which outputs a change affects on purpose. Intended differences go
//! into a list with reasons (`allow`), and all others fail the run.

mod allow;
mod case;
mod compare;
mod guard;
mod inputs;
mod judge;
mod normalize;
mod observe;
mod pattern;
mod program;
mod report;
mod substance;

use std::io::IsTerminal as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, ensure};
use clap::Args;
use rayon::prelude::*;

use self::allow::AllowList;
use self::case::{Case, Plan};
use self::compare::Scope;
use self::guard::Snapshot;
use self::inputs::Inputs;
use self::judge::{Judge, Outcome};
use self::normalize::Normalizer;
use self::pattern::Pattern;
use self::program::Program;
use self::report::{Bounds, Counts, Summary};
use crate::process::Limits;
use crate::{fixtures, workspace};

/// The number of bytes kept of each output stream.
const STREAM_BYTES: usize = 32 << 20;

/// Examples for the help text.
pub(crate) const EXAMPLES: &str = "\
Examples:
  cargo xtask same --with ../old/ascend-doctor --shared ../shared --repo ../yolov5
  cargo xtask same --with ../old/ascend-doctor --only 'check/*/json' --diffs /tmp/diffs
  cargo xtask same --with ../old/ascend-doctor --allow differences.toml

Each intended difference needs a reason:
  [[difference]]
  case = \"check/*/text-en\"          # a glob if it has * or ?, otherwise a substring
  text = \"^[-+].*NPU [0-9]+\"        # optional: a regular expression on changed lines
  reason = \"titles name the device by its logical ID\"

If the old program has another name for an argument:
  [[argument]]
  new = \"--sysroot\"
  old = \"--root\"

Exit status: 0 no unexplained difference, 1 differences or changed inputs, 2 the task failed";

/// Options of `same`.
#[derive(Debug, Args)]
pub(crate) struct Options {
    /// Old program to compare with
    #[arg(long = "with", value_name = "OLD")]
    old: PathBuf,

    /// New program [default: a release build of the workspace]
    #[arg(long, value_name = "NEW")]
    new: Option<PathBuf>,

    /// Directory with logs, model samples and issue texts
    #[arg(long, value_name = "DIR")]
    shared: Option<PathBuf>,

    /// Python repository to convert and audit (repeatable)
    #[arg(long = "repo", value_name = "DIR")]
    repos: Vec<PathBuf>,

    /// Directory with the simulated CANN libraries, such as `target/debug/deps`
    #[arg(long, value_name = "DIR")]
    simulator: Option<PathBuf>,

    /// Directory that keeps the test machines between runs
    #[arg(long, value_name = "DIR")]
    fixtures: Option<PathBuf>,

    /// Compare only exit statuses, and IDs and severities of findings in JSON reports
    #[arg(long)]
    substance: bool,

    /// Part of the names of the cases to run, or a glob
    #[arg(long, value_name = "SUBSTRING")]
    only: Option<String>,

    /// Intended differences with their reasons (TOML)
    #[arg(long, value_name = "FILE")]
    allow: Option<PathBuf>,

    /// Number of parallel cases [default: number of cores]
    #[arg(long, value_name = "N")]
    jobs: Option<usize>,

    /// Time limit of each process
    #[arg(long, value_name = "SECONDS", default_value_t = 60)]
    timeout: u64,

    /// Lines of each diff
    #[arg(long, value_name = "N", default_value_t = 20)]
    lines: usize,

    /// Number of cases reported with a diff
    #[arg(long, value_name = "N", default_value_t = 40)]
    show: usize,

    /// Directory for the complete diffs
    #[arg(long, value_name = "DIR")]
    diffs: Option<PathBuf>,

    /// List the cases without running them
    #[arg(long)]
    list: bool,
}

/// Compares two builds. Returns whether all differences are explained and no input changed.
pub(crate) fn run(options: &Options) -> Result<bool> {
    let start = Instant::now();
    let allow = options.allow.as_deref().map(AllowList::read).transpose()?.unwrap_or_default();
    let limits = Limits { time: Duration::from_secs(options.timeout), bytes: STREAM_BYTES };
    let old = Program::new(&options.old, limits)?.with_arguments(allow.arguments());
    let new = match &options.new {
        Some(path) => Program::new(path, limits)?,
        None if options.list => Program::new(&options.old, limits)?,
        None => Program::new(&workspace::build("release")?, limits)?,
    };
    let jobs = options.jobs.unwrap_or(0);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(jobs).build()?;
    let temp = tempfile::Builder::new().prefix("xtask-same-").tempdir()?;
    let temp_path = temp.path().canonicalize()?;
    let shared_inputs = temp_path.join("inputs");
    let plan = pool.install(|| plan(options, &old, &shared_inputs))?;
    if options.list {
        for case in &plan.cases {
            println!("{}", describe_case(case));
        }
        return Ok(true);
    }
    let normalizers = [
        Normalizer::new(&old.version, &new.version)?,
        Normalizer::new(&new.version, &old.version)?,
    ];
    let (old, new, shared_inputs) = (&old, &new, shared_inputs.as_path());
    let scope = if options.substance { Scope::Substance } else { Scope::Everything };
    let judge = Judge { old, new, allow: &allow, normalizers, shared_inputs, scope };
    let read = || Snapshot::take(plan.dirs.iter().map(PathBuf::as_path));
    let before = read()?;
    let outcomes = pool.install(|| run_cases(&plan.cases, &judge, &temp_path.join("cases")))?;
    let changed_inputs = read()?.changed_since(&before);
    let bounds = Bounds { lines: options.lines, diffs: options.show };
    print!("{}", report::describe_differences(&outcomes, bounds));
    if let Some(dir) = &options.diffs {
        report::write_diffs(&outcomes, dir)?;
    }
    let passed = Counts::of(&outcomes).unexplained == 0 && changed_inputs.is_empty();
    let summary = Summary {
        changed_inputs,
        unexamined: plan.unexamined,
        // With `--only`, the cases of other entries did not run.
        unused: if options.only.is_some() { Vec::new() } else { allow.unused() },
        took: start.elapsed(),
    };
    print!("{}", report::describe_totals(&outcomes, &summary));
    Ok(passed)
}

/// Prepares the inputs and lists the cases.
fn plan(options: &Options, old: &Program, dir: &Path) -> Result<Plan> {
    let absolute = |path: &PathBuf| {
        let path = path.canonicalize();
        path.with_context(|| "cannot read a directory of inputs".to_owned())
    };
    let fixtures = options.fixtures.clone().unwrap_or_else(|| dir.join("machines"));
    std::fs::create_dir_all(dir)?;
    let inputs = Inputs {
        root: workspace::root(),
        old,
        dir: dir.to_owned(),
        machines: fixtures::materialize(&fixtures)?,
        shared: options.shared.as_ref().map(absolute).transpose()?,
        repos: options.repos.iter().map(absolute).collect::<Result<_>>()?,
        simulator: options.simulator.as_ref().map(absolute).transpose()?,
    };
    let mut plan = inputs::plan(&inputs)?;
    plan.dirs = [inputs.dir.clone(), fixtures].into_iter().collect();
    plan.dirs.extend(inputs.shared.clone());
    plan.dirs.extend(inputs.repos.clone());
    if let Some(only) = &options.only {
        let only = Pattern::new(only)?;
        let all = plan.cases.len();
        plan.cases.retain(|case| only.matches(&case.name));
        ensure!(!plan.cases.is_empty(), "no case matches `{}`", only.source());
        plan.skip(format!("{} cases outside of `{}`", all - plan.cases.len(), only.source()));
    }
    Ok(plan)
}

fn run_cases(cases: &[Case], judge: &Judge<'_>, dir: &Path) -> Result<Vec<Outcome>> {
    let done = AtomicUsize::new(0);
    let show_progress = std::io::stderr().is_terminal();
    cases
        .par_iter()
        .enumerate()
        .map(|(index, case)| {
            let outcome = judge.judge(case, &dir.join(format!("{index:05}")));
            let count = done.fetch_add(1, Ordering::Relaxed) + 1;
            if show_progress && count.is_multiple_of(100) {
                eprint!("\r{count} of {} cases", cases.len());
            }
            outcome.with_context(|| format!("case `{}`", case.name))
        })
        .collect()
}

fn describe_case(case: &Case) -> String {
    let steps: Vec<String> = case.steps.iter().map(|step| step.join(" ")).collect();
    format!("{}: {}", case.name, steps.join(" && "))
}

#[cfg(test)]
mod tests;
