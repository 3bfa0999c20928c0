//! Measures the time of `check`, in one process: `cargo bench --bench check [-- DIR]`.
//!
//! Without an argument, two trees are built: one with a library as large as `libtorch_npu.so`,
//! whose hash no second core can accelerate, and one with as many bytes in libraries of equal size.
//! With the directory of an environment created by `scripts/fetch_wheels.py`, the files are those
//! of a published wheel. The rates of hashing are printed next to that of SHA-256 over memory, on
//! one core and on all: reading files cannot be faster. It prints wall times and asserts nothing
//! about them, because machines differ. `scripts/bench_peers.py` compares complete processes with
//! other tools.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark builds its tree and prints"
)]

use std::path::Path;
use std::time::{Duration, Instant};

use base::hash::Sha256;
use checks::{self, Context, Profile};
use data::Outcome;
use machine::collect::{Options, collect};
use machine::sysroot::Sysroot;

const ROUNDS: usize = 20;
/// The number of Python files of the built tree, as in a torch_npu wheel.
const FILES: usize = 1500;
/// The size of its library in bytes, as that of `libtorch_npu.so` of 2.9.0.
const LIBRARY: usize = 64_839_529;

/// The number of libraries of the second tree.
const EQUAL: usize = 16;

fn main() {
    // Cargo adds `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let cores = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{cores} cores, median of {ROUNDS}\n");
    memory(cores);
    if let Some(dir) = args.first() {
        tree("the environment", Path::new(dir));
        return;
    }
    for (name, libraries) in [("one library", 1), ("libraries of equal size", EQUAL)] {
        let built = tempfile::tempdir().unwrap();
        build(built.path(), libraries);
        tree(name, built.path());
    }
}

/// Measures SHA-256 over bytes that are already in memory.
fn memory(cores: usize) {
    let bytes = vec![0x5a_u8; LIBRARY];
    let one = measure(|| u64::from(Sha256::of(&bytes) == Sha256::of(b"")));
    report("SHA-256 in memory, one core", one);
    rate(LIBRARY as u64, one);
    let all = measure(|| {
        std::thread::scope(|scope| {
            for _ in 0..cores {
                scope.spawn(|| std::hint::black_box(Sha256::of(&bytes)));
            }
        });
        0
    });
    report("SHA-256 in memory, all cores", all);
    rate((LIBRARY * cores) as u64, all);
}

fn tree(name: &str, root: &Path) {
    println!("\n{name}");
    let quick = Options::default();
    let without = measure(|| run(root, &quick));
    report("collect without hashing", without);
    let facts = collect(&Sysroot::tree(root).unwrap(), &quick);
    report(
        "all checks over the facts",
        measure(|| {
            let context = Context::of(&facts, Profile::General);
            checks::all().map(|check| u64::from((check.run)(&context) == Outcome::Passed)).sum()
        }),
    );
    let full = Options { hash: true, ..Options::default() };
    let bytes = run(root, &full);
    let with = measure(|| run(root, &full));
    report("collect with hashing", with);
    report("hashing, the difference", with.saturating_sub(without));
    rate(bytes, with.saturating_sub(without));
}

fn rate(bytes: u64, time: Duration) {
    #[expect(clippy::cast_precision_loss, reason = "for people")]
    let rate = bytes as f64 / time.as_secs_f64() / 1e9;
    println!("{:>28}  {bytes} bytes, {rate:.2} GB/s", "");
}

/// Collects, and returns the number of hashed bytes.
fn run(root: &Path, options: &Options) -> u64 {
    let facts = collect(&Sysroot::tree(root).unwrap(), options);
    facts.integrity.packages.iter().map(|package| package.bytes).sum()
}

fn measure(mut work: impl FnMut() -> u64) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let begin = Instant::now();
            std::hint::black_box(work());
            begin.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}

fn report(name: &str, time: Duration) {
    println!("{name:>28}  {:.1} ms", time.as_secs_f64() * 1e3);
}

/// A virtual environment with a torch_npu of the usual size, with the bytes of its native code in
/// this number of libraries.
fn build(root: &Path, libraries: usize) {
    let venv = root.join("opt/venv");
    let site = venv.join("lib/python3.11/site-packages");
    let info = site.join("torch_npu-2.9.0.dist-info");
    for dir in [&venv.join("bin"), &info, &site.join("torch_npu/lib")] {
        std::fs::create_dir_all(dir).unwrap();
    }
    let mut record = String::new();
    let mut file = |name: &str, content: &[u8]| {
        std::fs::write(site.join(name), content).unwrap();
        let hash = Sha256::of(content).base64url();
        record += &format!("{name},sha256={hash},{}\n", content.len());
    };
    for number in 0..libraries {
        let name = format!("torch_npu/lib/libtorch_npu{number}.so");
        file(&name, &vec![0x5a; LIBRARY / libraries]);
    }
    for number in 0..FILES {
        file(&format!("torch_npu/m{number}.py"), "value = 1\n".repeat(500).as_bytes());
    }
    let head = "Metadata-Version: 2.1\nName: torch-npu\nVersion: 2.9.0\n";
    file("torch_npu-2.9.0.dist-info/METADATA", head.as_bytes());
    std::fs::write(info.join("RECORD"), record).unwrap();
    std::fs::write(venv.join("bin/python3.11"), b"\x7fELF").unwrap();
    std::fs::write(venv.join("pyvenv.cfg"), "home = /usr/bin\nversion = 3.11.0\n").unwrap();
    let process = r#"{"python": "/opt/venv/bin/python3.11", "arch": "x86_64", "uid": 0}"#;
    std::fs::write(root.join(".process.json"), process).unwrap();
}
