//! Measures the time of planning a conversion, in one process:
//! `cargo bench --bench convert [-- DIR…]`.
//!
//! Each directory is measured separately, read only: finding its files, reading and filtering them,
//! only parsing the relevant Python files, and all steps of `convert` before it writes. The last
//! one must take at most 1.5 times as long as only parsing, with the same parser, the same files
//! and the same threads (`RAYON_NUM_THREADS`). Without an argument, a tree is created from the
//! scripts of the tests. It prints wall times and asserts nothing about them, because machines
//! differ. Then it measures complete processes alternately: the program, also in place in copies,
//! and this one started only to parse the files that name torch. `scripts/bench_convert.py`
//! measures complete processes, and other tools.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark builds its tree and prints"
)]

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use convert::encoding::Decoded;
use convert::options::Options;
use convert::plan::plan;
use convert::prefilter::Prefilter;
use convert::rules::Rules;
use machine::collect::Progress;
use rayon::prelude::*;
use ruff_python_parser::{Mode, ParseOptions, parse_unchecked};
use tempfile::TempDir;
use treeedit::kind::FileKind;
use treeedit::walk::{SourceFile, walk};

#[path = "support/python_files.rs"]
mod python_files;

/// The allocator of the program, because it influences the measurements.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

const ROUNDS: usize = 11;
/// The flag that starts this program only to parse the files of a directory that name torch.
const ONLY_PARSE: &str = "--only-parse";
/// The number of copies of the scripts of the tests in the built tree.
const COPIES: usize = 40;

fn main() {
    // Cargo adds `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    if let [flag, root] = &args[..]
        && flag == ONLY_PARSE
    {
        std::hint::black_box(parsed_tree(Path::new(root)));
        return;
    }
    let begin = Instant::now();
    std::hint::black_box(Rules::builtin().rules.len());
    report("reading the rules", begin.elapsed(), "once in a process");
    let begin = Instant::now();
    std::hint::black_box(Prefilter::default().passes(FileKind::Python, b"x = 1\n"));
    report("making the sieve", begin.elapsed(), "once in a process");
    let built = tempfile::tempdir().unwrap();
    let mut roots: Vec<PathBuf> = args.iter().map(PathBuf::from).collect();
    if roots.is_empty() {
        build(built.path());
        roots.push(built.path().to_owned());
    }
    for root in roots {
        measure_tree(&root);
        processes(&root);
    }
}

fn measure_tree(root: &Path) {
    let scope = python_files::below(root);
    let options = Options::default();
    let files = walk(&scope).unwrap().files;
    let texts: Vec<String> = files.par_iter().filter_map(worth_parsing).collect();
    let planned = plan(&files, &options, &Progress::default());
    let changed = planned.files.iter().filter(|file| file.after.is_some());
    let changed_bytes: usize = changed.clone().map(|file| file.before.len()).sum();
    println!(
        "\n{}: {} Python files of {:.1} MB, {} of {:.1} MB worth parsing, {} of {:.1} MB change; \
         {} threads, median (least) of {ROUNDS}",
        root.display(),
        files.len(),
        mega(planned.bytes),
        texts.len(),
        mega(texts.iter().map(|text| text.len() as u64).sum()),
        changed.count(),
        mega(changed_bytes as u64),
        rayon::current_num_threads(),
    );

    // Alternately, so that a busy moment affects all of them.
    let mut times: [Vec<Duration>; 4] = Default::default();
    for _ in 0..ROUNDS {
        times[0].push(time(|| walk(&scope).unwrap().files.len()));
        times[1]
            .push(time(|| files.par_iter().filter(|file| worth_parsing(file).is_some()).count()));
        times[2].push(time(|| texts.par_iter().map(|text| parsed(text)).sum()));
        times[3].push(time(|| plan(&files, &options, &Progress::default()).files.len()));
    }
    for list in &mut times {
        list.sort_unstable();
    }
    let median = |at: usize| times[at][ROUNDS / 2];
    let names = ["finding the files", "reading and sifting", "only parsing", "planning all"];
    for (at, name) in names.iter().enumerate() {
        report(name, median(at), &format!("({:.1})", milliseconds(times[at][0])));
    }
    let ratio = median(3).as_secs_f64() / median(2).as_secs_f64();
    let least = times[3][0].as_secs_f64() / times[2][0].as_secs_f64();
    println!("{:>24}  {ratio:.2} ({least:.2})", "planning / only parsing");
}

/// Measures the complete command, without writing and in a separate copy, alternately with a
/// process that finds and reads the same files and parses those that name torch.
fn processes(root: &Path) {
    let run = |program: &Path, args: &[&str], root: &Path| {
        let mut command = Command::new(program);
        command.args(args).arg(root).stdout(Stdio::null()).stderr(Stdio::null());
        usize::from(command.status().unwrap().code().is_some())
    };
    let this = std::env::current_exe().unwrap();
    let doctor = Path::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    let copies: Vec<TempDir> = (0..ROUNDS).map(|_| copy(root)).collect();
    rustix::fs::sync();
    let mut times: [Vec<Duration>; 3] = Default::default();
    for copy in &copies {
        let convert = ["convert", "--no-config", "-r"];
        times[0].push(time(|| run(&this, &[ONLY_PARSE], root)));
        times[1].push(time(|| run(doctor, &["convert", "--no-config", "--dry-run", "-r"], root)));
        times[2].push(time(|| run(doctor, &convert, copy.path())));
    }
    for list in &mut times {
        list.sort_unstable();
    }
    let parsing = &times[0];
    let names = ["a process that parses", "the command, dry run", "the command, in place"];
    for (name, times) in names.iter().zip(&times) {
        let (median, least) = (times[ROUNDS / 2], times[0]);
        let ratio = median.as_secs_f64() / parsing[ROUNDS / 2].as_secs_f64();
        report(name, median, &format!("({:.1}) {ratio:.2} times", milliseconds(least)));
    }
}

/// A copy of the files of a directory.
fn copy(root: &Path) -> TempDir {
    let copy = tempfile::tempdir().unwrap();
    for entry in walkdir::WalkDir::new(root) {
        let entry = entry.unwrap();
        let to = copy.path().join(entry.path().strip_prefix(root).unwrap());
        if entry.file_type().is_dir() {
            std::fs::create_dir_all(&to).unwrap();
        } else if entry.file_type().is_file() {
            std::fs::copy(entry.path(), &to).unwrap();
        }
    }
    copy
}

/// Finds and reads all Python files of a directory, and parses those that name torch.
fn parsed_tree(root: &Path) -> usize {
    let files = walk(&python_files::below(root)).unwrap().files;
    let texts = files.par_iter().map(|file| std::fs::read(&file.path).unwrap());
    let named = texts.filter(|bytes| memchr::memmem::find(bytes, b"torch").is_some());
    named.map(|bytes| parsed(&String::from_utf8_lossy(&bytes))).sum()
}

/// The text of a file to which a rule may apply.
fn worth_parsing(file: &SourceFile) -> Option<String> {
    let bytes = std::fs::read(&file.path).ok()?;
    if !Prefilter::default().passes(file.kind, &bytes) {
        return None;
    }
    Some(Decoded::python(&bytes).ok()?.text)
}

/// Parses a text, and returns the number of errors and tokens.
fn parsed(text: &str) -> usize {
    let parsed = parse_unchecked(text, ParseOptions::from(Mode::Module));
    std::hint::black_box(parsed.errors().len() + parsed.tokens().len())
}

fn time(work: impl FnOnce() -> usize) -> Duration {
    let begin = Instant::now();
    std::hint::black_box(work());
    begin.elapsed()
}

fn milliseconds(time: Duration) -> f64 {
    time.as_secs_f64() * 1e3
}

#[expect(clippy::cast_precision_loss, reason = "for people")]
fn mega(bytes: u64) -> f64 {
    bytes as f64 / 1e6
}

fn report(name: &str, time: Duration, remark: &str) {
    println!("{name:>24}  {:.1} ms {remark}", milliseconds(time));
}

/// Copies the scripts of the tests many times.
fn build(root: &Path) {
    let scripts = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/convert");
    for entry in walkdir::WalkDir::new(scripts) {
        let entry = entry.unwrap();
        if entry.path().extension().is_some_and(|extension| extension == "py") {
            let name = entry.file_name().to_string_lossy().into_owned();
            let number = std::fs::read_dir(root).unwrap().count();
            let dir = root.join(number.to_string());
            std::fs::create_dir(&dir).unwrap();
            for copy in 0..COPIES {
                std::fs::copy(entry.path(), dir.join(format!("{copy}_{name}"))).unwrap();
            }
        }
    }
}
