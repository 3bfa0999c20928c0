//! The interpreter: its greeting, `python --version`, and versions that it printed.

use std::sync::LazyLock;

use regex::Regex;

use super::Found;
use crate::candidate::{Form, Rank};
use crate::kind::Kind;
use crate::lines::Line;
use crate::names;
use crate::version::{regex, version_at};

static BANNER: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^Python (\d\.\d{1,2}\.\d{1,2}\S{0,4})(?:$| \(| \||\s+::)"));
/// Maximum number of log lines between a command and its output.
const MAX_LOG: usize = 12;
static PRINTED: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(\w+)\.__version__"));

/// `torch_npu.__version__: 2.5.1`, which code would not contain without quotation marks.
static TOLD: LazyLock<Regex> =
    LazyLock::new(|| regex(r"^(\w+)\.__version__\s*[:=]\s*(\d[\w.+]*)$"));
static COUNTED: LazyLock<Regex> = LazyLock::new(|| regex(r"\bnpu\.device_count\(\)\)?[\x22']?$"));
/// Programs that print only their version.
static ASKED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?:^|\s)(vllm|sglang|lmdeploy|verl) (?:--version|-v|version)$"));

/// Versions that programs print into their logs.
static LOGGED: [(&str, &str); 3] = [
    ("vllm", r"vLLM API server version v?(\d[\w.+-]*)"),
    ("vllm", r"Initializing an? (?:V\d )?LLM engine \(v(\d[\w.+-]*)\)"),
    ("package.deepspeed", r"DeepSpeed info: version=(\d[\w.+-]*)"),
];
static LOG_PATTERNS: LazyLock<Vec<(&str, Regex)>> =
    LazyLock::new(|| LOGGED.iter().map(|(name, pattern)| (*name, regex(pattern))).collect());

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for (index, line) in lines.iter().enumerate() {
        if matches!(line.kind, Kind::Quotation | Kind::Comment) {
            continue;
        }
        if let Some(banner) = BANNER.captures(&line.text) {
            found.take(index);
            found.add_version("python", &banner[1], line, Form::PythonBanner, Rank::Measured);
        }
        for (name, pattern) in LOG_PATTERNS.iter() {
            if let Some(version) = pattern.captures(&line.text) {
                let version = version[1].trim_end_matches(['.', ',']);
                found.add_version(name, version, line, Form::Log, Rank::Measured);
            }
        }
        if let Some(tool) = ASKED.captures(&line.text)
            && line.kind == Kind::Command
            && let Some(next) = lines.get(index + 1)
            && next.number <= line.number + 1
        {
            let value = next.text.trim_start_matches('v');
            if version_at(value) == Some(value) {
                found.take(index + 1);
                let name = names::of_package(&tool[1]);
                found.add_version(&name, value, next, Form::PrintedVersion, Rank::Measured);
            }
        }
        if let Some(told) = TOLD.captures(&line.text)
            && names::is_known_package(&told[1])
        {
            let name = names::of_package(&told[1]);
            found.add_version(&name, &told[2], line, Form::PrintedVersion, Rank::Written);
        }
        if let Some(next) = lines.get(index + 1)
            && COUNTED.is_match(&line.text)
            && next.block == line.block
            && next.text.parse().is_ok_and(|count: u16| (1..=256).contains(&count))
        {
            found.take(index + 1);
            found.add("npu_count", &next.text, next, Form::PrintedVersion, Rank::Measured);
        }
        printed(lines, index, found);
    }
}

/// Reads `print(torch.__version__, torch_npu.__version__)` and the line that it printed, which may
/// follow lines of a log.
fn printed(lines: &[Line], index: usize, found: &mut Found) {
    let Some(line) = lines.get(index).filter(|line| line.text.contains(".__version__")) else {
        return;
    };
    let modules: Vec<_> = PRINTED.captures_iter(&line.text).collect();
    let mut after = lines.iter().enumerate().skip(index + 1).take(MAX_LOG);
    let Some((at, next)) = after.find(|(_, line)| line.kind != Kind::Log) else {
        return;
    };
    let values: Vec<&str> = next.text.split_whitespace().collect();
    if values.len() != modules.len() || next.block != line.block {
        return;
    }
    for (module, value) in modules.iter().zip(values) {
        let value = value.trim_matches(['\'', '"', '(', ')', ',']);
        let name = names::of_package(&module[1]);
        if version_at(value) == Some(value) && names::is_known_package(&module[1]) {
            found.take(at);
            found.add_version(&name, value, next, Form::PrintedVersion, Rank::Measured);
        }
    }
}
