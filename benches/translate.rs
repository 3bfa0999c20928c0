//! Measures the rate at which `translate-error` reads logs:
//! `cargo bench --bench translate [-- FILE…]`.
//!
//! Without an argument, a healthy log and one with an error in every hundredth line are created.
//! The same bytes are searched for the same literals by the engine that `rg -F` uses for many
//! literals, in one thread, so that the rates can be compared on one machine in one run; if a `rg`
//! is on the PATH, `scripts/bench_logs.py` compares complete processes. It prints rates and asserts
//! nothing about them, because machines differ.
#![expect(
    clippy::disallowed_methods,
    clippy::unwrap_used,
    clippy::print_stdout,
    clippy::cast_precision_loss,
    reason = "a benchmark reads files that were named and prints"
)]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use errcodes::log::{Limits, literals, scan};

/// The size of each generated log in bytes.
const SIZE: usize = 100 << 20;
const ROUNDS: usize = 5;
/// A log that takes longer than this, in seconds, is read once.
const LONG: f64 = 2.0;

fn main() {
    // Cargo adds `--bench`.
    let args: Vec<String> = std::env::args().skip(1).filter(|arg| arg != "--bench").collect();
    let literals = literals();
    if args.iter().any(|arg| arg == "--literals") {
        for literal in literals {
            println!("{literal}");
        }
        return;
    }
    println!("{} literals, best of {ROUNDS}, one thread\n", literals.len());
    // Work that is done once in a process.
    let began = Instant::now();
    scan("warm", &mut &b"error code is 507035\n"[..], Limits::default());
    println!("{:>8.1} ms  first line of a process", began.elapsed().as_secs_f64() * 1e3);
    if args.is_empty() {
        measure("healthy", &made(usize::MAX), &literals);
        measure("an error in 100 lines", &made(100), &literals);
        measure("an error in every line", &made(1), &literals);
        measure("one line", &one_line(), &literals);
    }
    for path in args {
        measure(&path, &std::fs::read(&path).unwrap(), &literals);
    }
}

fn measure(name: &str, log: &[u8], literals: &[&str]) {
    let rate = |time: Duration| log.len() as f64 / 1e6 / time.as_secs_f64();
    let mut records = 0;
    let scanned = best(|| {
        records = scan(name, &mut &*log, Limits::default()).records.len();
    });
    // `rg -F` uses this automaton for this number of literals.
    let automaton = aho_corasick::AhoCorasick::builder()
        .kind(Some(aho_corasick::AhoCorasickKind::ContiguousNFA))
        .build(literals)
        .unwrap();
    let mut lines = 0;
    let searched = best(|| lines = count(&automaton, log));
    println!(
        "{:>8.0} MB/s  {name}: {records} kinds of hits\n{:>8.0} MB/s  lines with a literal, as `rg -c -F`: {lines}\n",
        rate(scanned),
        rate(searched)
    );
}

/// Counts like `rg -c`: once per line, then continues with the next line.
fn count(automaton: &aho_corasick::AhoCorasick, log: &[u8]) -> usize {
    let (mut at, mut lines) = (0, 0);
    while let Some(found) = automaton.find(aho_corasick::Input::new(log).range(at..)) {
        lines += 1;
        at = memchr::memchr(b'\n', &log[found.end()..]).map_or(log.len(), |end| found.end() + end);
    }
    lines
}

fn best(mut run: impl FnMut()) -> Duration {
    let mut time = || {
        let began = Instant::now();
        run();
        began.elapsed()
    };
    let first = time();
    if first.as_secs_f64() > LONG {
        return first;
    }
    (1..ROUNDS).map(|_| time()).min().unwrap().min(first)
}

/// A log without a line feed in which literals are everywhere.
fn one_line() -> Vec<u8> {
    let part = "x: error code is 507035, retCode=0x31, EI0006: hcclRet -> 9 ";
    part.repeat(SIZE / 10 / part.len()).into_bytes()
}

/// Plog and training lines; every `every`th line is an error.
fn made(every: usize) -> Vec<u8> {
    let mut log = String::with_capacity(SIZE + 512);
    let mut line = 0_u64;
    while log.len() < SIZE {
        line += 1;
        let (second, tid) = (line % 60, 100_000 + line % 600_000);
        if line.is_multiple_of(every as u64) {
            let _ = writeln!(
                log,
                "[ERROR] HCCL({tid},python3):2026-06-10-10:11:{second:02}.105.031 [transport_manager.cc:1402] [{tid}][SetMachinePara]call trace: hcclRet -> 9"
            );
            continue;
        }
        let _ = match line % 4 {
            0 => writeln!(
                log,
                "[INFO] RUNTIME({tid},python3):2026-06-10-10:11:{second:02}.105.031 [stream.cc:693]{tid} Submit:stream_id={tid}, task_id={line}, addr=0x{:x}, size={tid}, flag=0x0, retry=0",
                line << 20
            ),
            1 => writeln!(
                log,
                " iteration {line:8}/ 500000 | consumed samples: {line} | elapsed time per iteration (ms): {tid}.1 | learning rate: 1.000E-05 | global batch size: 512 | lm loss: 2.{tid}E+00 | loss scale: 1.0 | grad norm: 0.{tid}"
            ),
            2 => writeln!(
                log,
                "[EVENT] HCCL({tid},python3):2026-06-10-10:11:{second:02}.105.031 [hccl_comm.cc:306] [{tid}]hcclComm init success, tag[HcomAllReduce_{line}], count[10485888], data_type[float32]"
            ),
            _ => writeln!(
                log,
                "(Worker_TP{} pid={tid}) INFO 06-10 10:11:{second:02} [metrics.py:{line}] Avg prompt throughput: {tid}.0 tokens/s, Avg generation throughput: 12.3 tokens/s, Running: 17 reqs",
                line % 8
            ),
        };
    }
    log.into_bytes()
}
