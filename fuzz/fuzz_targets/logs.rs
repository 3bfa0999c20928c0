//! Logs that `translate-error` reads: plain, in an archive, as a followed stream, and several next
//! to each other, up to the report.
#![no_main]

use libfuzzer_sys::fuzz_target;

use base::text::Lang;
use errcodes::log::{
    FileReport, Filter, Follower, Limits, Reading, ReportOptions, diagnose, redact, report, scan,
    unpack,
};
use render::{Format, Paint, Style, render};

/// The limit of unpacked bytes, small enough to be reached.
const UNPACKED: u64 = 1 << 20;
/// More than one read, so that lines cross the boundary.
const LONG: usize = 600 << 10;
const NAMES: [&str; 5] = [
    "rank_0.log",
    "rank_1.log",
    "worker-2/debug/plog/plog-17_20250101.log",
    "node1/device-3/device-1_20250101.log",
    "x.log",
];

fuzz_target!(|bytes: &[u8]| {
    let Some((&first, body)) = bytes.split_first() else { return };
    let mut files: Vec<FileReport> = Vec::new();
    match first & 7 {
        0 => {
            let problems = unpack("x.tar.gz", body, UNPACKED, &mut |name, reader| {
                files.push(scan(name, reader, Limits::default()));
                Ok(())
            });
            let unpacked: u64 = files.iter().map(|file| file.bytes).sum();
            // UTF-16 text becomes longer, and each of several layers contains some.
            assert!(unpacked <= 8 * UNPACKED, "{unpacked} bytes, {problems:?}");
        }
        1 => files.push(followed(body)),
        2 => {
            let long = body.repeat(LONG / body.len().max(1) + 1);
            files.push(checked("long.log", &long));
        }
        _ => {
            let parts = body.split(|byte| *byte == 0x0c);
            files.extend(parts.zip(NAMES).map(|(part, name)| checked(name, part)));
        }
    }
    let reading = Reading { files, ..Reading::default() };
    let mut diagnosis = diagnose(reading, &Filter::default());
    if first & 0x10 != 0 {
        redact(&mut diagnosis);
    }
    let shown = ReportOptions { all: first & 0x20 != 0, why_not: true, ..ReportOptions::default() };
    let report = report(&diagnosis, "x", shown);
    let format = if first & 0x40 != 0 { Format::Markdown } else { Format::Text };
    let style =
        Style { lang: Lang::Zh, paint: Paint::new(false), width: 80, verbose: true, quiet: false };
    for format in [format, Format::Json] {
        let mut out = Vec::new();
        render(&report, format, style, &mut out).expect("a vector takes everything");
        let out = String::from_utf8(out).expect("reports are UTF-8");
        let bad = out.chars().find(|c| c.is_control() && !matches!(c, '\n' | '\t'));
        assert!(bad.is_none(), "{bad:?} in {}", format.as_str());
    }
});

/// Invariants of any plain log.
fn checked(name: &str, log: &[u8]) -> FileReport {
    let limits = Limits::default();
    let read = scan(name, &mut &*log, limits);
    assert!(read.ended.is_none(), "{:?}", read.ended);
    assert!(read.records.len() <= limits.records);
    if !log.starts_with(b"\xff\xfe") && !log.starts_with(b"\xfe\xff") {
        assert_eq!(read.bytes, log.len() as u64);
        assert_eq!(read.lines, lines(log));
    }
    for record in &read.records {
        assert!((1..=read.lines).contains(&record.line), "line {}", record.line);
        assert!(record.hit.text.len() <= 2_000, "{} bytes", record.hit.text.len());
        assert!(record.count > 0 && (1..=100).contains(&record.hit.weight));
    }
    read
}

fn followed(log: &[u8]) -> FileReport {
    let mut follower = Follower::new("-");
    for part in log.chunks(7) {
        follower.feed(part);
    }
    let read = follower.finish();
    assert_eq!(read.lines, lines(log));
    read
}

fn lines(log: &[u8]) -> u64 {
    let ends = log.iter().filter(|byte| **byte == b'\n').count();
    (ends + usize::from(log.last().is_some_and(|byte| *byte != b'\n'))) as u64
}
