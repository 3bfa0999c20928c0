//! Kinds of lines. The rules for sentences differ from those for logs, code and commands.

use std::sync::LazyLock;

use regex::Regex;

use crate::version::regex;

/// The kind of a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    /// Written by the author, or a line of a block that no rule below recognizes.
    Text,
    /// A heading.
    Heading,
    /// A line of a log, a traceback or a table of npu-smi.
    Log,
    /// Source code.
    Code,
    /// A command, with or without a prompt.
    Command,
    /// A comment in a script.
    Comment,
    /// Text of another author.
    Quotation,
}

static LOG: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r#"^File "|^Traceback|^\[rank\d|^\s*\^+\s*$|^EZ\d{4}|^E[A-Z]?\d{4}\b|^TraceBack|^Aborted"#,
        r"|^\[?\d{4}[-/]\d{1,2}[-/]\d{1,2}[ T:-]|^[IWEF]\d{4} |^\(?\[?(?:TRACE|DEBUG|INFO|WARNING|WARN|ERROR|FATAL|EVENT)\]?[ :(\[]|^\[Error\]",
        r"|^\.*\[\d{4}-|^\.*(?:ERROR|INFO|WARNING) \d\d-\d\d|^\(\w+ (?:pid|Worker|rank)|^\([A-Z]\w+_?\w* ?(?:pid=|rank=)",
        r"|^\[?\d\d:\d\d:\d\d|^\w*(?:Error|Exception|Warning): |^(?:[\w.]+\.)(?:[A-Z]\w*Error|[A-Z]\w*Exception)\b",
        r"|^\[\s*\d+\.\d+\] |^/\S+\.py:\d+|^\S+\.(?:py|cpp|cc|cxx|h|c|ts):\d+|^\[W\d+|^\[E\d+|^\+[-=+]+\+?$|^The above exception",
        r"|^\s*raise \w|^[\w./-]+: (?:error|warning|fatal error): |^\d+%\|"
    ))
});
static CODE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"^(?:import [\w., ]+$|from \S+ import|def |class \w+[(:]|return\b|if __name__|with [^:]*:$|for \w+ in .*:$|print\(|self\.|@\w+|try:|except|assert |elif |else:|#include)|^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)*\([^)]*\)?;?$|^\w+(?:\.\w+)* = |^[A-Za-z_][A-Za-z0-9_]*(?:\.[A-Za-z_][A-Za-z0-9_]*)+\(|^[\w.\[\]]+ = \w+\(|^[)}\]]+,?$|^>>> |^\.\.\. |=self\.|\(self,",
    )
});
/// `driver_version = 25.0.rc1`: in code, a version has quotation marks.
static VERSION: LazyLock<Regex> = LazyLock::new(|| regex(r"^\w+ = \d+\.\d+\.\w[\w.+]*$"));
/// A prompt of a shell, or the first word of a command.
static COMMAND: LazyLock<Regex> = LazyLock::new(|| {
    regex(concat!(
        r"^\$ ?\S|^(?:\([^()]*\)\s*)?\[?[\w.-]+@[\w.-]+[^#$]*[#$]|^\([\w.-]+\)\s+[#$]?\s*\w+@|^(?:\w+=\S* )*(?:sudo |nohup )?",
        r"(?:pip3?|uv|python[\d.]*|conda|docker|nerdctl|podman|git|export|cd|mkdir|wget|curl|tar|cmake|make|bash|sh|source|apt|apt-get|yum|dnf|cat|ls|cp|mv|rm|chmod|echo|torchrun|accelerate|deepspeed|llamafactory-cli|vllm|swift|kubectl|helm|lmdeploy|FROM|RUN|ENV|ARG|COPY|WORKDIR|set|unset|which|grep|npu-smi|msrun|mpirun|ascend-dmi)\s+(?:[^\s=:|是版0-9v]|v[^e0-9\s])"
    ))
});
/// `conda env: …` and `docker image: …` are labels.
static LABEL: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)^[a-z-]+ (?:env(?:ironment)?|image|version|info|tag|name|container)\s*:")
});
static FLAG: LazyLock<Regex> = LazyLock::new(|| regex(r"^--?[A-Za-z][\w-]*(?:[ =]|$)"));

/// The kind of a line without decoration.
pub(crate) fn of(line: &str, heading: bool) -> Kind {
    if LOG.is_match(line) {
        Kind::Log
    } else if heading {
        Kind::Heading
    } else if CODE.is_match(line) && !VERSION.is_match(line) {
        Kind::Code
    } else if COMMAND.is_match(line) && !LABEL.is_match(line) || FLAG.is_match(line) {
        Kind::Command
    } else {
        Kind::Text
    }
}
