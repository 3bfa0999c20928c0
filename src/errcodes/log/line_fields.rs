//! Fields of a line: level, time, process, rank and device.

use std::sync::LazyLock;

use regex::bytes::Regex;

use super::prefix::{self, Keys, Writer, keys};
use super::time::Time;

/// The level that the writer of a line gave it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Level {
    /// DEBUG, INFO, EVENT or TRACE of a plog: such lines list codes that did not occur.
    Noise,
    /// INFO of another logger.
    Info,
    /// A line without a level.
    Unknown,
    /// WARNING.
    Warning,
    /// ERROR and worse.
    Error,
}

/// The fields of a line.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Fields {
    /// When it was written.
    pub time: Option<Time>,
    /// The process.
    pub pid: Option<u32>,
    /// The rank.
    pub rank: Option<u32>,
    /// The number of the container, which is the rank if nothing else states one.
    pub container: Option<u32>,
    /// The device, by the number that the process uses.
    pub device: Option<u32>,
    /// The name that a launcher or container engine gave the process.
    pub writer: Option<String>,
}

/// Words before a device ID.
static DEVICE_KEYS: Keys = keys![
    b"Device:",
    b"device_id=",
    b"device_id:",
    b"deviceId[",
    b"deviceId=",
    b"dev_id=",
    b"devid[",
    b"deviceLogicId[",
    b"logicDevid:",
    b"(NPU ",
    b"chipId:",
    b"drv devId=",
    b"comm error, device[",
    b"Device ",
];
/// Words before the rank of the writer.
static RANK_KEYS: Keys =
    keys![b"RankID:", b"rankId[", b"localUserrank[", b"local_rank=", b"rank_id=", b"RANK_ID="];
static PID_KEYS: Keys = keys![b"(PID:", b"[PID: ", b"[PID:"];

/// The level behind a time and names, in the format of most loggers, or with names behind it; the
/// letter that others write before the date.
const LOGGED: &str = r"(?-u)^(?:(?:[\[(]?(?:\d{4}[-/])?\d\d[-/]\d\d(?:/\d{4})?[ T]\d\d:\d\d:\d\d[^\s\]|]{0,16}(?: [\w.+-]{1,24})?[\])]?|\[[A-Za-z][\w.-]{0,24}\])(?:[ \t|:,-]{0,4}(?:\[[^\]\n]{0,60}\]|[\w./=-]{1,60})){0,5}?[ \t|:\[-]{1,5}(TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)[\]:|\t -]|\[(TRACE|DEBUG|INFO|WARN(?:ING)?|ERROR|CRITICAL|FATAL)[|:][\w.:|-]{1,60}\]|([IWEF])\d{8} \d\d:\d\d:\d\d\.\d|\[([IWEF]) {1,2}\d{1,2}/ ?\d{1,2} {1,2}\d{1,2}:\d\d:\d\d)";

static LOGGERS: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(LOGGED).expect("the expression is proved by a test"));

/// The level of a line without its prefixes.
pub(super) fn parse_level(line: &[u8]) -> Level {
    match parse_known_level(line) {
        Level::Unknown => match parse_logger_level(&line[..line.len().min(HEAD)]) {
            Level::Unknown => parse_c10_level(&line[..line.len().min(HEAD)]),
            known => known,
        },
        known => known,
    }
}

/// The level of a message that PyTorch's C++ part wrote behind an unfinished line: a progress bar,
/// the dots of a compiler, a prompt.
fn parse_c10_level(head: &[u8]) -> Level {
    let marks = memchr::memmem::find_iter(head, b"[W").find(|at| is_c10(&head[at + 1..]));
    match marks {
        Some(at) if !FAILED.is_in(&head[..at]) => Level::Warning,
        _ => Level::Unknown,
    }
}

/// Words by which an unfinished line reports a failure.
static FAILED: Keys = keys![b"rror", b"xception", b"ail", b"ERR", b"FAIL"];

/// The part of a line that is searched for its level, in bytes.
const HEAD: usize = 240;

static RAISED: Keys = keys![b"Error:", b"Exception:"];

fn parse_logger_level(head: &[u8]) -> Level {
    // No other line with a level begins differently.
    if !head.first().is_some_and(|first| matches!(first, b'[' | b'(' | b'0'..=b'9' | b'A'..=b'Z')) {
        return Level::Unknown;
    }
    let found = LOGGERS.captures(head);
    let word = found.and_then(|found| (1..=4).find_map(|group| found.get(group)));
    // The text of an exception is not the name of a logger.
    let names = word.map_or(head, |word| &head[..word.start()]);
    if RAISED.is_in(names) {
        return Level::Unknown;
    }
    match word.map_or(&b""[..], |word| word.as_bytes()) {
        b"TRACE" | b"DEBUG" | b"INFO" | b"I" => Level::Info,
        b"WARN" | b"WARNING" | b"W" => Level::Warning,
        b"ERROR" | b"CRITICAL" | b"FATAL" | b"E" | b"F" => Level::Error,
        _ => Level::Unknown,
    }
}

/// The level in the known formats.
fn parse_known_level(line: &[u8]) -> Level {
    if let Some(rest) = line.strip_prefix(b"[") {
        let word = read_upper(rest);
        if rest.get(word.len()) == Some(&b']') {
            let plog = || is_plog(&rest[word.len() + 1..]);
            return match word {
                b"ERROR" | b"CRITICAL" | b"EXCEPTION" | b"FATAL" => Level::Error,
                b"WARNING" | b"WARN" => Level::Warning,
                b"INFO" | b"DEBUG" | b"EVENT" | b"TRACE" | b"NULL" if plog() => Level::Noise,
                b"INFO" | b"DEBUG" => Level::Info,
                _ => Level::Unknown,
            };
        }
        return if is_c10(rest) { letter_level(rest[0]) } else { Level::Unknown };
    }
    if is_glog(line) {
        return letter_level(line[0]);
    }
    match read_upper(line) {
        b"ERROR" | b"CRITICAL" => Level::Error,
        b"WARNING" => Level::Warning,
        b"INFO" | b"DEBUG" => Level::Info,
        _ => Level::Unknown,
    }
}

/// `W1125 09:12:33.100000       1 manager.go:188] ` of programs in Go, `W tensorflow/core/a.cc:60] `.
fn is_glog(line: &[u8]) -> bool {
    let Some((b'I' | b'W' | b'E' | b'F', rest)) = line.split_first() else { return false };
    let day = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
    day == 4 && rest.get(4) == Some(&b' ') && rest.get(5).is_some_and(u8::is_ascii_digit)
        || rest.starts_with(b" tensorflow/")
}

/// `W610 10:11:12.105031 file.ts:681] ` and, in older versions, `W file.ts:487] `: the logger of
/// PyTorch's C++ part (c10), which does not pad the month.
fn is_c10(rest: &[u8]) -> bool {
    let Some((b'I' | b'W' | b'E' | b'F', rest)) = rest.split_first() else { return false };
    let day = rest.iter().take(5).take_while(|byte| byte.is_ascii_digit()).count();
    if matches!(day, 3 | 4) {
        return rest.get(day) == Some(&b' ') && rest.get(day + 1).is_some_and(u8::is_ascii_digit);
    }
    let Some(place) = rest.strip_prefix(b" ") else { return false };
    let place = &place[..place.len().min(PLACE)];
    let Some(end) = memchr::memchr(b']', place) else { return false };
    let name = |bytes: &[u8]| bytes.contains(&b'.') && !bytes.contains(&b' ');
    let is_line = |bytes: &[u8]| !bytes.is_empty() && bytes.iter().all(u8::is_ascii_digit);
    memchr::memrchr(b':', &place[..end])
        .is_some_and(|colon| name(&place[..colon]) && is_line(&place[colon + 1..end]))
}

/// The maximum length of the name of a source file with its line, in bytes.
const PLACE: usize = 160;

fn letter_level(letter: u8) -> Level {
    match letter {
        b'I' => Level::Info,
        b'W' => Level::Warning,
        _ => Level::Error,
    }
}

/// ` MODULE(pid,name):` with or without the blank.
fn is_plog(rest: &[u8]) -> bool {
    let rest = rest.strip_prefix(b" ").unwrap_or(rest);
    let module =
        rest.iter().take_while(|byte| byte.is_ascii_alphanumeric() || **byte == b'_').count();
    module > 0
        && rest.get(module) == Some(&b'(')
        && rest.get(module + 1).is_some_and(u8::is_ascii_digit)
}

fn read_upper(text: &[u8]) -> &[u8] {
    &text[..text.iter().take(12).take_while(|byte| byte.is_ascii_uppercase()).count()]
}

/// Parses the other fields; `writer` comes from the prefixes.
pub(super) fn parse_fields(line: &[u8], writer: Writer) -> Fields {
    Fields {
        time: Time::find(line),
        pid: parse_plog_pid(line).or_else(|| PID_KEYS.find_number(line)).or(writer.pid),
        rank: parse_rank(line, &writer),
        container: writer.container,
        // A host has at most 64 devices; larger numbers are something else.
        device: DEVICE_KEYS.find_number(line).filter(|device| *device < 64),
        writer: writer.name,
    }
}

/// The rank that wrote the line, from the line or its prefixes.
pub(super) fn parse_rank(line: &[u8], writer: &Writer) -> Option<u32> {
    RANK_KEYS.find_number(line).or(writer.rank)
}

/// `[ERROR] HCCL(17528,python3):` and `[ERROR]HCCL(`.
pub(super) fn parse_plog_pid(line: &[u8]) -> Option<u32> {
    let rest = line.strip_prefix(b"[")?;
    let rest = rest[read_upper(rest).len()..].strip_prefix(b"]")?;
    if !is_plog(rest) {
        return None;
    }
    let open = memchr::memchr(b'(', rest)?;
    prefix::parse_digits(&rest[open + 1..]).map(|(pid, _)| pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(line: &str) -> Fields {
        let (rest, writer) = prefix::strip(line.as_bytes());
        parse_fields(rest, writer)
    }

    #[test]
    fn a_plog_line_names_process_and_time() {
        let line = "[ERROR] HCCL(17528,python3):2026-03-18-10:33:52.113.403 [a.cc:797] [18744]text";
        let fields = read(line);
        assert_eq!(fields.pid, Some(17_528));
        assert_eq!(fields.time.map(|time| time.to_string()).unwrap(), "2026-03-18 10:33:52.113");
        assert_eq!(read("[ERROR]RUNTIME(7,):2026-03-18-10:33:52.113.403 x").pid, Some(7));
    }

    #[test]
    fn torch_npu_names_process_device_and_rank() {
        let fields =
            read("[rank5]: [ERROR] 2024-08-18-22:15:47 (PID:23232, Device:3, RankID:5) ERR02002 x");
        assert_eq!((fields.pid, fields.device, fields.rank), (Some(23_232), Some(3), Some(5)));
        // -1 is not a rank.
        let fields = read("[ERROR] 2024-08-18-22:15:47 (PID:1, Device:-1, RankID:-1) ERR00100 x");
        assert_eq!((fields.device, fields.rank), (None, None));
    }

    #[test]
    fn levels_of_all_loggers() {
        for (line, expected) in [
            ("[ERROR] HCCL(1,p):x", Level::Error),
            ("[ERROR]HCCL(1,p):x", Level::Error),
            ("[EVENT] GE(1,p):x", Level::Noise),
            ("[INFO] GE(1,):x", Level::Noise),
            ("[INFO] start", Level::Info),
            ("[WARNING] TDT(1,p):x", Level::Warning),
            ("ERROR 09-04 10:00:00 [core.py:702] x", Level::Error),
            ("INFO 09-04 10:00:00 [core.py:702] x", Level::Info),
            ("EI0006: [PID: 1] x", Level::Unknown),
            ("[W compiler_depend.ts:487] Warning: x", Level::Warning),
            ("[W610 10:11:12.105031 a.ts:681] Warning: x", Level::Warning),
            ("[W1125 10:11:12.105031 a.ts:681] Warning: x", Level::Warning),
            ("[E908 10:11:12.105031 ProcessGroupHCCL.cpp:681] x", Level::Error),
            ("[E ProcessGroupHCCL.cpp:681] x", Level::Error),
            ("[W610", Level::Unknown),
            ("[W610 x", Level::Unknown),
            ("[W", Level::Unknown),
            ("[W a.ts:487 x] y", Level::Unknown),
            (".[W1202 17:49:33.114335135 compiler_depend.ts:35] Warning: x", Level::Warning),
            ("  0%|  | 0/1 [00:00<?, ?it/s][W610 10:11:12.1 a.ts:681] x", Level::Warning),
            ("Assistant: [W compiler_depend.ts:51] Warning: x", Level::Warning),
            ("RuntimeError: x[W610 10:11:12.1 a.ts:681] y", Level::Unknown),
            ("[E 7]", Level::Unknown),
            ("W1125 09:12:33.100000       1 manager.go:188] x", Level::Warning),
            ("E1125 09:12:33.100000       1 manager.go:188] x", Level::Error),
            ("I tensorflow/core/platform/cpu.cc:2] x", Level::Info),
            ("2025-01-01 10:00:00,000 - lmdeploy - WARNING - x", Level::Warning),
            ("06/28/2024 13:24:49 - INFO - llamafactory.model.a - x", Level::Info),
            ("[2025-01-01 10:00:00 TP0] WARNING: x", Level::Warning),
            ("[2024-06-10 10:11:12,105] [INFO] [real_accelerator.py:158:f] x", Level::Info),
            ("[2025-01-01 10:00:00,123] torch.distributed.run: [WARNING] x", Level::Warning),
            ("[Stage-0] INFO 02-05 01:26:19 [x.py:214] x", Level::Info),
            ("2024-09-20 07:49:24 | WARNING  | x:y:1 | x", Level::Warning),
            (
                "[2025-01-01 10:00:00.105+08:00] [249] [281] [llm] [WARN] [a.py-348] : x",
                Level::Warning,
            ),
            ("[2025-01-01 10:00:00.105000][ERROR] 7 x", Level::Error),
            ("I20251208 11:52:34.057255 69297 x.cpp:65] x", Level::Info),
            ("[WARNING|modeling.py:123] 2025-01-01 10:00:00,000 >> x", Level::Warning),
            ("[INFO:swift] x", Level::Info),
            ("[W  8/14  7:57:37.535 a/x.cc:57 f] x", Level::Warning),
            ("2025-01-01 10:00:00,123\tINFO worker.py:1518 -- x", Level::Info),
            ("2025-01-01 10:00:00 RuntimeError: an INFO of x", Level::Unknown),
            ("[rank0] RuntimeError: x at WARNING level", Level::Unknown),
            ("E1001 x", Level::Unknown),
            ("", Level::Unknown),
        ] {
            assert_eq!(parse_level(line.as_bytes()), expected, "{line}");
        }
    }
}
