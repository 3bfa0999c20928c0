use std::collections::BTreeMap;
use std::io::Write as _;

use super::*;
use crate::log::source::{Content, EntryKind, Files, Input, OpenError, ProblemKind, open};

fn scanned(text: &[u8]) -> FileReport {
    scan("log", &mut &*text, Limits::default())
}

fn rules(report: &FileReport) -> Vec<(&str, u64, u64)> {
    report
        .records
        .iter()
        .map(|record| (record.hit.rule.as_str(), record.line, record.count))
        .collect()
}

#[test]
fn lines_are_counted_over_the_pieces_in_which_a_log_is_read() {
    let filler = "[INFO] GE(1,py):2025-05-12-20:55:44.705.025 [a.cc:1]1 F:nothing happens here\n";
    let mut text = filler.repeat(2 * CHUNK / filler.len());
    let lines = text.lines().count() as u64;
    text.push_str("RuntimeError: NPU out of memory. Tried\nlast");
    let report = scanned(text.as_bytes());
    assert_eq!(rules(&report), [("oom.torch", lines + 1, 1)]);
    assert_eq!(report.lines, lines + 2);
    // The line itself has no time, so the last one before it counts.
    let time = report.records[0].hit.fields.time.unwrap().to_string();
    assert_eq!(time, "2025-05-12 20:55:44.705");
}

#[test]
fn an_exception_of_a_program_is_told_from_one_of_the_script() {
    let raised = |path: &str, end: &str| {
        let text = format!(
            "(EngineCore pid=9) Traceback (most recent call last):\n(EngineCore pid=9)   File \"/x/{path}\", line 9, in f\n(EngineCore pid=9)     g(x)\n{end}"
        );
        let report = scanned(text.as_bytes());
        let hits = report.records.iter().map(|record| record.hit.clone());
        hits.map(|hit| (hit.cause, hit.captures)).next().unwrap()
    };
    for (path, cause) in [
        ("vllm-ascend/vllm_ascend/worker/a.py", "framework.program_error"),
        ("site-packages/transformers/a.py", "framework.program_error"),
        ("site-packages/torch/a.py", "framework.user_script_error"),
        ("lib/python3.11/json/decoder.py", "framework.user_script_error"),
        ("work/train.py", "framework.user_script_error"),
    ] {
        for end in ["ValueError: odd", "AssertionError", "odd.Things: of this program"] {
            let (found, said) = raised(path, &format!("(EngineCore pid=9) {end}\n"));
            assert_eq!(found, cause, "{path} {end}");
            assert!(said.iter().any(|(name, _)| *name == "frame"), "{path} {end}: {said:?}");
        }
        // A log that ends inside the traceback shows the location, not the exception.
        let (found, said) = raised(path, "");
        assert_eq!((found.as_str(), said.len(), said[0].0), (cause, 1, "frame"), "{path}");
    }
}

#[test]
fn a_traceback_that_others_follow_is_no_cut_one() {
    let text = "Traceback (most recent call last):\n  File \"train.py\", line 3, in f\n    f(x)\nstep 2\nstep 3\n";
    assert!(scanned(text.as_bytes()).records.is_empty());
    let text = "Traceback (most recent call last):\n  File \"train.py\", line 3, in f\n    f(x)\n";
    let report = scanned(text.as_bytes());
    assert_eq!(rules(&report), [("py.any", 2, 1)]);
    assert_eq!(report.records[0].hit.text, "  File \"train.py\", line 3, in f");
}

/// A traceback whose exception is in no literal.
const TRACEBACK: &str = "step 1\nTraceback (most recent call last):\n  File \"train.py\", line 3, in f\n    f(x)\nsomelib.core.ShapeInvalid: Could not convert 'a'\nstep 2\n";

#[test]
fn a_traceback_ends_with_an_exception_of_any_name() {
    let report = scanned(TRACEBACK.as_bytes());
    assert_eq!(rules(&report), [("py.any", 5, 1)]);
    assert_eq!(report.lines, 6);
    let hit = &report.records[0].hit;
    assert_eq!(hit.text, "somelib.core.ShapeInvalid: Could not convert 'a'");
    assert!(hit.captures.contains(&("kind", "somelib.core.ShapeInvalid".to_owned())));
    assert!(hit.captures.contains(&("frame", "train.py:3 f".to_owned())), "{:?}", hit.captures);
    // Line by line, as over the chunks of a long log.
    let mut scanner = Scanner::new("log", Limits::default());
    for line in TRACEBACK.split_inclusive('\n') {
        scanner.take(line.as_bytes());
    }
    assert_eq!(rules(&scanner.into_report()), [("py.any", 5, 1)]);
    // One that a logger writes at a level at which the program continued.
    let went_on =
        TRACEBACK.replace("Trace", "[WARNING] Trace").replace("somelib", "[WARNING] somelib");
    assert_eq!(rules(&scanned(went_on.replace("  File", "[WARNING]   File").as_bytes())), []);
}

#[test]
fn what_is_repeated_is_counted_not_kept() {
    let line =
        "[ERROR] HCCL(9,py):2025-05-12-20:55:44.705.025 [a.cc:1] [9]call trace: hcclRet -> 9\n";
    let report = scanned(line.repeat(10_000).as_bytes());
    assert_eq!(rules(&report), [("hccl:9", 1, 10_000)]);
}

#[test]
fn hostile_lines_are_survived() {
    for text in [
        &b"\0\0\0\0NPU out of memory\0\xff\xfe\n"[..],
        b"\xff\xfeN\0P\0U\0 \0o\0u\0t\0 \0o\0f\0 \0m\0e\0m\0o\0r\0y\0\n\0",
        b"\"log\": \"a\\nRuntimeError: NPU out of memory\\nb\"",
        b"loading: 10%\rloading: 20%\rRuntimeError: NPU out of memory\r",
        b"\x1b[31mRuntimeError\x1b[0m: NPU out of memory",
    ] {
        let report = scanned(text);
        assert_eq!(report.records.len(), 1, "{}", String::from_utf8_lossy(text));
        assert_eq!(report.records[0].hit.cause, "memory.device_oom");
    }
    let json = scanned(b"\"log\": \"a\\nRuntimeError: NPU out of memory\\nb\"");
    assert_eq!(json.records[0].hit.text, "RuntimeError: NPU out of memory");
}

#[test]
fn long_lines_are_cut() {
    let mut text = vec![b'x'; 10 << 20];
    text.extend_from_slice(b" NPU out of memory ");
    text.extend(vec![b'y'; 10 << 20]);
    let report = scanned(&text);
    assert_eq!(report.records.len(), 1);
    assert!(report.records[0].hit.text.len() < 700);
    assert!(report.cut > 0);
}

#[test]
fn words_that_a_terminal_wrapped_are_joined() {
    let text = "(EngineCore_0 pid=12) RuntimeError: the operator says that HCCL_BUFF\n\
        SIZE is too SMALL, maxBs = 512\nnext\n";
    let report = scanned(text.as_bytes());
    let causes: Vec<&str> = report.records.iter().map(|record| record.hit.cause.as_str()).collect();
    assert!(causes.contains(&"hccl.buffsize_too_small"), "{causes:?}");
}

#[test]
fn fallbacks_are_counted_by_operator() {
    let line = "[W VariableFallbackKernel.cpp:51] Warning: CAUTION: The operator \
        'aten::isin.Tensor_Tensor_out' is not currently supported on the NPU backend and will fall \
        back to run on the CPU.\n";
    let report = scanned(line.repeat(3).as_bytes());
    assert_eq!(report.fallbacks["aten::isin.Tensor_Tensor_out"], 3);
}

fn gzip(text: &[u8]) -> Vec<u8> {
    let mut writer = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
    writer.write_all(text).unwrap();
    writer.finish().unwrap()
}

const OOM: &[u8] = b"RuntimeError: NPU out of memory\n";

/// Files in memory, by their paths.
struct InMemory(BTreeMap<String, Vec<u8>>);

impl Files for InMemory {
    fn kind(&self, path: &str) -> Result<EntryKind, OpenError> {
        let file = self.0.contains_key(path);
        Ok(if file { EntryKind::File } else { EntryKind::Directory })
    }

    fn entries(&self, dir: &str) -> Result<Vec<(String, EntryKind)>, OpenError> {
        let below = format!("{}/", dir.trim_end_matches('/'));
        let names = self.0.keys().filter_map(|path| path.strip_prefix(&below));
        let entries = names.map(|name| match name.split_once('/') {
            Some((dir, _)) => (dir.to_owned(), EntryKind::Directory),
            None => (name.to_owned(), EntryKind::File),
        });
        let mut entries: Vec<_> = entries.collect();
        entries.dedup();
        Ok(entries)
    }

    fn open(&self, path: &str) -> Result<(Box<dyn Content>, u64), OpenError> {
        let missing =
            || OpenError { kind: ProblemKind::Unreadable, detail: base::text::Text::default() };
        let content = self.0.get(path).ok_or_else(missing)?.clone();
        let size = content.len() as u64;
        Ok((Box::new(io::Cursor::new(content)), size))
    }
}

/// Scans the files of a directory and returns each with its hits, and the problems.
fn directory(files: &[(&str, &[u8])]) -> (Vec<(String, usize)>, Vec<String>) {
    let files = files.iter().map(|(name, content)| (format!("/{name}"), content.to_vec()));
    let files = InMemory(files.collect());
    let opened = open(vec![Input::Path { shown: "logs".to_owned(), path: "/".to_owned() }], &files);
    let mut reports = Vec::new();
    let mut problems = opened.problems;
    for stream in &opened.streams {
        problems.extend(stream.read(&files, &mut |name, reader| {
            let report = scan(name, reader, Limits::default());
            reports.push((report.name, report.records.len()));
            report.ended.map_or(Ok(()), |reason| Err(io::Error::other(reason)))
        }));
    }
    (reports, problems.into_iter().map(|problem| format!("{problem:?}")).collect())
}

#[test]
fn directories_archives_and_damaged_files() {
    let mut tar = tar::Builder::new(Vec::new());
    let mut member = |name: &str, kind: tar::EntryType, content: &[u8]| {
        let mut header = tar::Header::new_ustar();
        // Names that the library would refuse to write.
        header.as_mut_bytes()[..name.len()].copy_from_slice(name.as_bytes());
        header.set_entry_type(kind);
        header.set_size(content.len() as u64);
        header.set_cksum();
        tar.append(&header, content).unwrap();
    };
    member("../../etc/cron.d/x", tar::EntryType::Regular, OOM);
    member("link", tar::EntryType::Symlink, b"");
    member("/abs/plog.log.gz", tar::EntryType::Regular, &gzip(OOM));
    member("weights.safetensors", tar::EntryType::Regular, OOM);
    let tar = tar.into_inner().unwrap();
    let half = gzip(&OOM.repeat(5_000));
    let files: [(&str, &[u8]); 6] = [
        ("all.tar.gz", &gzip(&tar)),
        ("cut.log.gz", &half[..half.len() / 2]),
        ("debug/plog/plog-1.log", OOM),
        ("empty.log", b""),
        ("lib.so", OOM),
        ("old.log.7z", b"7z\xbc\xaf\x27\x1c\0"),
    ];
    let (reports, problems) = directory(&files);
    let names: Vec<(&str, usize)> =
        reports.iter().map(|(name, count)| (name.as_str(), *count)).collect();
    assert_eq!(
        names,
        [
            ("logs/all.tar!../../etc/cron.d/x", 1),
            ("logs/all.tar!/abs/plog.log", 1),
            ("logs/cut.log", 1),
            ("logs/debug/plog/plog-1.log", 1),
            ("logs/empty.log", 0),
        ]
    );
    assert_eq!(problems.len(), 2, "{problems:?}");
    assert!(problems[0].contains("cut.log") && problems[0].contains("Damaged"), "{problems:?}");
    assert!(problems[1].contains("old.log.7z") && problems[1].contains("7z"), "{problems:?}");
}

#[test]
fn a_bomb_is_read_to_a_limit() {
    let (reports, problems) = directory(&[("bomb.gz", &gzip(&vec![b'\n'; 1 << 20]))]);
    assert_eq!((reports.len(), problems.len()), (1, 0));
    let (_, problems) = directory(&[]);
    assert!(problems[0].contains("Empty"), "{problems:?}");
}
