//! Environment variables: `export X=`, `-e X=`, `X= command`, `ENV X`, lines of collect_env.

use std::collections::HashMap;
use std::sync::LazyLock;

use regex::Regex;

use super::{Found, mention};
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::version::regex;

/// Prefixes of names in lists without `export`. Accepting any name in capitals would include code.
const PREFIXES: [&str; 36] = [
    "ACL_",
    "ASCEND",
    "ASDOPS_",
    "ATB_",
    "BISHENG",
    "CPU_AFFINITY",
    "DEEPEP",
    "DISABLE_L2",
    "FLASHCOMM",
    "GE_",
    "GLOO_",
    "GLOG_",
    "HCCL_",
    "HCCN",
    "HF_",
    "LCAL_",
    "LCCL_",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "MINDIE",
    "MS_",
    "MASTER_",
    "MULTI_STREAM",
    "NPU_",
    "OMP_",
    "PYTHONPATH",
    "PYTORCH_",
    "RANK_TABLE",
    "SGLANG_",
    "SOC_VERSION",
    "TASK_QUEUE",
    "TE_PARALLEL",
    "TORCH",
    "TP_SOCKET",
    "USE_MODELSCOPE",
    "VLLM_",
];
/// Values that must not be repeated.
static SECRET: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)secret|token|passw|api_?key|access_?key|credential|private"));
static EXPORT: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"(?:^|[;&$#] ?|\s)(?:export|declare -x)\s+([A-Z][A-Z0-9_]+)=("[^"]*"|'[^']*'|[^\s;&|]*)"#,
    )
});
/// Maximum number of lines in a list of exports.
const MAX_LIST: usize = 64;
/// A line with only one export.
static WHOLE_EXPORT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"^(?:\$ )?export [A-Z][A-Z0-9_]+=(?:"[^"]*"|'[^']*'|[^\s;&|]*)(?:\s*#.*)?$"#)
});
/// An assignment in a script: `nic_name="eth0"`.
static SHELL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^(?:export\s+|local\s+)?([A-Za-z_][A-Za-z0-9_]*)=("[^"]*"|'[^']*'|[^\s"';&|]*)(?:\s*#.*)?$"#,
    )
});
static DOCKER: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"(?:^|\s)(?:-e|--env)[ =]["']?([A-Z][A-Z0-9_]+)=("[^"]*"|'[^']*'|[^\s"'\\]*)"#)
});
static DOCKERFILE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^ENV ([A-Z][A-Z0-9_]+)[= ]("[^"]*"|\S+)\s*\\?$"#));
static LEADING: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"^(?:\$ )?((?:[A-Z][A-Z0-9_]+=(?:"[^"]*"|'[^']*'|[^\s"']*)\s+)+)(?:\S+|\\)"#)
});
static ASSIGNED: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"([A-Z][A-Z0-9_]+)=("[^"]*"|'[^']*'|[^\s"']*)"#));
static ALONE: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^([A-Z][A-Z0-9_]+)=("[^"]*"|'[^']*'|[^\s"']*)\s*\\?$"#));
static PYTHON: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r#"^(?:>>> )?os\.environ(?:\[["']([A-Z][A-Z0-9_]+)["']\]\s*=\s*(?:str\()?|\.setdefault\(\s*["']([A-Z][A-Z0-9_]+)["'],\s*)["']([^"']*)["']\)?"#,
    )
});

/// A sentence in which the author sets variables.
static SET: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\b(?:i|we)(?:'ve| have)?(?: already)? (?:set|exported|added)\b|设置了|已设置|已经设置|配置了|加了",
    )
});
/// A unit of systemd.
static UNIT: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^Environment=["']?([A-Z][A-Z0-9_]+)=([^"']*)["']?$"#));
/// Compose files, values of Helm charts, `env_vars` of Ray.
static YAML: LazyLock<Regex> =
    LazyLock::new(|| regex(r#"^([A-Z][A-Z0-9_]+):\s+("[^"]*"|'[^']*'|[^\s"',]+)$"#));
static JSON: LazyLock<Regex> = LazyLock::new(|| {
    regex(r#"["']([A-Z][A-Z0-9_]+)["']:\s*("[^"]*"|'[^']*'|\d[\w.]*)\s*(?:[,}]|$)"#)
});
static ECHO: LazyLock<Regex> = LazyLock::new(|| regex(r"\becho \$\{?([A-Z][A-Z0-9_]+)\}?$"));
static MEMBER: LazyLock<Regex> = LazyLock::new(|| regex(r"^name:\s*([A-Z][A-Z0-9_]+)$"));
static VALUE: LazyLock<Regex> = LazyLock::new(|| regex(r#"^value:\s*["']?([^"']+)["']?$"#));

pub(super) fn read(lines: &[Line], found: &mut Found) {
    let shell = assignments(lines);
    // The last export of each name: its candidate and the index of its line.
    let mut exports: HashMap<String, (usize, usize)> = HashMap::new();
    for (index, line) in lines.iter().enumerate() {
        if matches!(line.kind, Kind::Quotation | Kind::Comment) || !line.text.contains(['=', ' ']) {
            continue;
        }
        let text = line.text.as_str();
        let mut hit = false;
        // A sentence with `export` is advice, and `X=1 to do …` is the rest of one.
        if line.kind == Kind::Command {
            for pair in EXPORT.captures_iter(text) {
                let value = literal(&shell, index, &pair[2]);
                let at = found.candidates.len();
                hit |= add(&pair[1], value.unwrap_or(&pair[2]), line, found);
                if found.candidates.len() > at
                    && let Some((earlier, from)) = exports.insert(pair[1].to_owned(), (at, index))
                    && is_list(lines, from, index)
                    && let Some(candidate) = found.candidates.get_mut(earlier)
                {
                    candidate.doubt = Some(Reason::Earlier);
                }
            }
        }
        for pattern in [&DOCKER, &DOCKERFILE, &UNIT] {
            for pair in pattern.captures_iter(text) {
                hit |= add(&pair[1], &pair[2], line, found);
            }
        }
        if let Some(pair) = PYTHON.captures(text)
            && let Some(name) = pair.get(1).or(pair.get(2))
        {
            hit |= add(name.as_str(), &pair[3], line, found);
        }
        if !hit {
            hit = maps(lines, index, found);
        }
        if !hit
            && line.kind == Kind::Text
            && SET.is_match(text)
            && mention::clauses(text, false).iter().all(|clause| clause.doubt.is_none())
        {
            for pair in ASSIGNED.captures_iter(text).filter(|pair| listed(&pair[1])) {
                // The sentence continues after the value: `X=1，仍然超时`.
                let value = pair[2].split(|c: char| !c.is_ascii()).next().unwrap_or_default();
                let value = value.trim_end_matches([',', '.', ';', ')']);
                add(&pair[1], value, line, found);
            }
        }
        if !hit && let Some(pair) = ALONE.captures(text) {
            if listed(&pair[1]) || text.ends_with('\\') {
                hit = add(&pair[1], &pair[2], line, found);
            }
        } else if !hit
            && let Some(leading) = LEADING.captures(text)
            && (line.kind == Kind::Command || text.ends_with('\\'))
        {
            for pair in ASSIGNED.captures_iter(&leading[1]) {
                hit |= add(&pair[1], &pair[2], line, found);
            }
        }
        // Kubernetes: the name and the value are on separate lines.
        if let Some(name) = MEMBER.captures(text)
            && let Some(value) = lines.get(index + 1).and_then(|line| VALUE.captures(&line.text))
        {
            hit |= add(&name[1], &value[1], line, found);
        }
        if hit && line.kind != Kind::Command {
            found.take(index);
        }
    }
}

/// The variables of a shell, each with the index of the first line that sets it. `None`: several
/// values.
type Shell<'l> = HashMap<&'l str, Option<(usize, &'l str)>>;

/// Variables that scripts set to a literal.
fn assignments(lines: &[Line]) -> Shell<'_> {
    let mut shell = Shell::new();
    for (index, line) in lines.iter().enumerate() {
        if matches!(line.kind, Kind::Quotation | Kind::Comment) || !line.text.contains('=') {
            continue;
        }
        let Some(pair) = SHELL.captures(&line.text) else { continue };
        let (Some(name), Some(value)) = (pair.get(1), pair.get(2)) else { continue };
        let value = value.as_str().trim_matches(['"', '\'']);
        let set = shell.entry(name.as_str()).or_insert(Some((index, value)));
        if set.is_some_and(|(_, other)| other != value) {
            *set = None;
        }
    }
    shell
}

/// The value of `$name` if the script sets it to one literal before the line.
fn literal<'l>(shell: &Shell<'l>, index: usize, value: &str) -> Option<&'l str> {
    let name = value.trim_matches(['"', '\'']).strip_prefix('$')?;
    let name = name.strip_prefix('{').and_then(|name| name.strip_suffix('}')).unwrap_or(name);
    let (at, value) = (*shell.get(name)?)?;
    let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | ':');
    let lower = value.to_ascii_lowercase();
    // Values of examples: `xx.xx.xx.xx`, `your_nic`.
    let example = ["xx", "your", "...", "x.x", "local_ip", "nic_name"];
    (at < index
        && !value.is_empty()
        && value.chars().all(plain)
        && !example.iter().any(|mark| lower.contains(mark)))
    .then_some(value)
}

/// Returns whether two exports of a name belong to one list, in which the last one counts. If a
/// program starts or a paragraph ends between them, a program may have used the first. `from` and
/// `index` are the lines of both exports.
fn is_list(lines: &[Line], from: usize, index: usize) -> bool {
    let between = lines.get(from..=index).unwrap_or_default();
    between.len() <= MAX_LIST
        && between.iter().zip(between.iter().skip(1)).all(|(a, b)| b.number <= a.number + 2)
        && between.iter().all(|line| {
            line.kind == Kind::Comment
                || line.kind == Kind::Command && WHOLE_EXPORT.is_match(&line.text)
        })
}

/// Reads members of maps, and the output of `echo $NAME`.
fn maps(lines: &[Line], index: usize, found: &mut Found) -> bool {
    let Some(line) = lines.get(index) else { return false };
    let mut hit = false;
    if let Some(pair) = YAML.captures(&line.text) {
        hit = listed(&pair[1]) && add(&pair[1], &pair[2], line, found);
    }
    if line.text.contains("\":") || line.text.contains("':") {
        for pair in JSON.captures_iter(&line.text) {
            hit |= listed(&pair[1]) && add(&pair[1], &pair[2], line, found);
        }
    }
    if let Some(echo) = ECHO.captures(&line.text)
        && line.kind == Kind::Command
        && let Some(next) = lines.get(index + 1)
        && next.number == line.number + 1
        && next.kind == Kind::Text
        && !next.text.contains(' ')
    {
        hit |= listed(&echo[1]) && add(&echo[1], &next.text, next, found);
    }
    hit
}

fn listed(name: &str) -> bool {
    PREFIXES.iter().any(|prefix| name.starts_with(prefix))
}

fn add(name: &str, value: &str, line: &Line, found: &mut Found) -> bool {
    let value = value.trim_matches(['"', '\'']);
    // A value that contains other variables is not the one that the process sees.
    let open = value.contains(['$', '`']) || value.contains("...") || value.starts_with('<');
    if SECRET.is_match(name) || open || name.len() < 3 {
        return false;
    }
    found.add(&format!("env.{name}"), value, line, Form::Variable, Rank::Written);
    true
}
