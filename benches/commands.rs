//! Measures the time of the commands without a separate bench, as complete processes:
//! `cargo bench --bench commands`.
//!
//! Each is printed next to its lower bound, measured in the same run: starting the program without
//! work (`--help`), for a bundle packing the same bytes in this process, for a page reading its
//! JSON. `verify` runs against the simulator of the tests, whose devices are this processor, so
//! that its time is the overhead of the program. It prints wall times and asserts nothing about
//! them, because machines differ.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark starts the program and prints"
)]

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

const ROUNDS: usize = 11;
/// The number of merged reports, and of lines of the log in a bundle.
const REPORTS: usize = 100;
const LINES: usize = 200_000;
/// The libraries that the simulator replaces, with the names of CANN up to 8.3.
const LIBRARIES: [&str; 3] = ["libascendcl.so", "libnnopbase.so", "libopapi.so"];

fn main() {
    let dir = tempfile::tempdir().unwrap();
    let dir = dir.path();
    prepare(dir);
    let log = std::fs::read(dir.join("train.log")).unwrap();
    let page = std::fs::read(dir.join("many.json")).unwrap();
    println!("median of {ROUNDS}; limit: what cannot be done without\n");
    println!("| command | ms | limit | ms | ratio |\n|---|---:|---|---:|---:|");
    let start = median(|| run(dir, &["--help"]));
    let row = |name: &str, took: Duration, limit: &str, least: Duration| {
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        let ratio = took.as_secs_f64() / least.as_secs_f64();
        println!("| {name} | {:.1} | {limit} | {:.1} | {ratio:.2} |", ms(took), ms(least));
    };
    for args in [
        &["explain", "TNPU-RECORD"][..],
        &["explain", "507035"],
        &["compat", "--torch", "2.7.1"],
        &["manifest", "create", "site"],
        &["completions", "bash"],
        &["man"],
        &["verify", "--level", "quick"],
    ] {
        row(&args.join(" "), median(|| run(dir, args)), "starting", start);
    }
    let libraries = dir.join("cann");
    let verify = ["verify", "--level", "standard", "--json"];
    row(
        "verify, 1 simulated NPU",
        median(|| simulated(dir, &libraries, &verify)),
        "starting",
        start,
    );
    let merge = ["fleet", "merge", "reports", "--json"];
    row(&format!("fleet merge, {REPORTS} reports"), median(|| run(dir, &merge)), "starting", start);
    let read = median(|| drop(serde_json::from_slice::<serde_json::Value>(&page).unwrap()));
    let name = format!("report, {:.1} MB of JSON", page.len() as f64 / 1e6);
    let html = ["report", "many.json", "-o", "page.html"];
    row(&name, median(|| run(dir, &html)), "reading the JSON", read);
    let packed = median(|| {
        let level = flate2::Compression::default();
        let mut gzip = flate2::write::GzEncoder::new(std::io::sink(), level);
        gzip.write_all(&log).unwrap();
    });
    let name = format!("bundle, {:.0} MB of log", log.len() as f64 / 1e6);
    let bundle = ["bundle", "--sysroot", "machine", "--add", "train.log", "-o", "bundle.tgz"];
    row(&name, median(|| run(dir, &bundle)), "packing the log", packed);
}

/// Creates the inputs of the commands.
fn prepare(dir: &Path) {
    std::fs::create_dir_all(dir.join("machine/etc")).unwrap();
    std::fs::write(dir.join("machine/etc/os-release"), "ID=ubuntu\nVERSION_ID=\"22.04\"\n")
        .unwrap();
    let mut log = String::new();
    for line in 0..LINES {
        writeln!(log, "[INFO] step {line} loss {:.4} lr 0.{line:08}", 1.0 / (line + 1) as f64)
            .unwrap();
    }
    std::fs::write(dir.join("train.log"), log).unwrap();
    let said = |args: &[&str]| {
        let done = command(dir).args(args).output().unwrap();
        assert!(done.status.code().is_some_and(|code| code != 2), "{args:?}");
        done.stdout
    };
    let check = said(&["check", "--sysroot", "machine", "--json"]);
    std::fs::create_dir(dir.join("reports")).unwrap();
    for number in 0..REPORTS {
        let text = String::from_utf8_lossy(&check)
            .replace("\"subject\": \"\"", &format!("\"subject\": \"n{number}\""));
        std::fs::write(dir.join(format!("reports/n{number}.json")), text).unwrap();
    }
    let sources = dir.join("sources");
    std::fs::create_dir(&sources).unwrap();
    for number in 0..500 {
        let lines = (0..20).map(|line| format!("x{line} = torch.zeros({line}, device='cuda')\n"));
        let text = format!("import torch\n{}", lines.collect::<String>());
        std::fs::write(sources.join(format!("m{number}.py")), text).unwrap();
    }
    let places = said(&["convert", "-r", "sources", "--dry-run", "--json"]);
    std::fs::write(dir.join("many.json"), places).unwrap();
    let info = dir.join("site/torch_npu-2.7.1.dist-info");
    std::fs::create_dir_all(&info).unwrap();
    std::fs::create_dir_all(dir.join("site/torch_npu")).unwrap();
    std::fs::write(info.join("METADATA"), "Name: torch_npu\nVersion: 2.7.1\n").unwrap();
    std::fs::write(info.join("WHEEL"), "Tag: cp311-cp311-manylinux_2_28_aarch64\n").unwrap();
    std::fs::write(dir.join("site/torch_npu/__init__.py"), "").unwrap();
    std::fs::write(
        info.join("RECORD"),
        "torch_npu/__init__.py,sha256=47DEQpj8HBSa-_TImW-5JCeuQeRkm5NMpJWZG3hSuFU,0\n",
    )
    .unwrap();
    let cann = dir.join("cann");
    std::fs::create_dir(&cann).unwrap();
    for library in LIBRARIES {
        std::os::unix::fs::symlink(built(library), cann.join(library)).unwrap();
    }
}

/// The directory in which cargo puts the shared objects of the dev-dependencies: that of this
/// program.
fn built(name: &str) -> PathBuf {
    std::env::current_exe().unwrap().parent().unwrap().join(name)
}

fn command(dir: &Path) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_ascend-doctor"));
    command.current_dir(dir).env_clear().env("LANG", "C").env("PATH", "/usr/bin:/bin");
    command
}

fn finish(mut command: Command) {
    let done = command.stdout(Stdio::null()).stderr(Stdio::null()).status().unwrap();
    assert!(done.code().is_some_and(|code| code != 2), "{command:?}");
}

fn run(dir: &Path, args: &[&str]) {
    let mut command = command(dir);
    command.args(args);
    finish(command);
}

fn simulated(dir: &Path, libraries: &Path, args: &[&str]) {
    let mut command = command(dir);
    command.args(args).env("LD_LIBRARY_PATH", libraries).env("ASCEND_DOCTOR_ALLOW_SIM", "1");
    finish(command);
}

fn median(mut work: impl FnMut()) -> Duration {
    let mut times: Vec<Duration> = (0..ROUNDS)
        .map(|_| {
            let start = Instant::now();
            work();
            start.elapsed()
        })
        .collect();
    times.sort_unstable();
    times[ROUNDS / 2]
}
