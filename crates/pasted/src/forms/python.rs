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
static PRINTED: LazyLock<Regex> = LazyLock::new(|| regex(r"\b(\w+)\.__version__"));

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
        let mut modules = PRINTED.captures_iter(&line.text);
        if let (Some(module), None) = (modules.next(), modules.next())
            && let Some(next) = lines.get(index + 1)
            && next.number <= line.number + 1
        {
            let value = next.text.trim_matches(['\'', '"']);
            let name = names::of_package(&module[1]);
            if version_at(value) == Some(value) && names::is_known_package(&module[1]) {
                found.take(index + 1);
                found.add_version(&name, value, next, Form::PrintedVersion, Rank::Measured);
            }
        }
    }
}
