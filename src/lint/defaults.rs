//! Defaults of environment variables, and values that a document gives them.

use std::sync::LazyLock;

use base::text::nearest;
use data::findings::lint_default;
use data::{EnvVars, Variable, VariableTable};
use regex::Regex;

use super::document::{Document, Line, Place};
use super::statement::{Judged, Statement, StatementKind};

static NAME: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]+\b").expect("a constant"));
static DEFAULT_HEAD: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"(?i)\bdefault|默认|缺省").expect("a constant"));
static DEFAULT: LazyLock<Regex> = LazyLock::new(|| {
    let lead = r"(?:\bdefaults?(?:\s+(?:values?|is|to|of|setting))*|默认(?:值|时间|时长)?(?:为|是)?|缺省(?:值)?(?:为|是)?)";
    let value =
        r"(-?\d+(?:\.\d+)?)\s*(minutes?|mins?|seconds?|secs?|s\b|MB\b|M\b|GB\b|G\b|分钟|秒)?";
    Regex::new(&format!(r#"(?i){lead}[\s:：=`"'“]*{value}"#)).expect("a constant")
});
static ASSIGNED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?:^|[\s;"'])([A-Z][A-Z0-9]*_[A-Z0-9_]+)=("[^"]*"|'[^']*'|[^\s;|&"'\\]+)"#)
        .expect("a constant")
});

pub(super) fn read(document: &Document<'_>, found: &mut Vec<Statement>) {
    let mut push = |line: u32, judged: Option<Judged>| {
        found.extend(judged.map(|one| one.at(StatementKind::Default, document.file, line)));
    };
    for table in &document.tables {
        let Some(at) = table.head.iter().position(|head| DEFAULT_HEAD.is_match(head)) else {
            continue;
        };
        for (line, cells) in &table.rows {
            let named = cells.iter().find_map(|cell| only_variable(cell));
            if let (Some(variable), Some(cell)) = (named, cells.get(at)) {
                push(*line, judge_cell(variable, cell));
            }
        }
    }
    for (index, line) in document.lines.iter().enumerate() {
        if matches!(line.place, Place::Prose | Place::Comment | Place::Heading) {
            let next = document.lines.get(index + 1);
            let variable = only_variable(line.text)
                .or_else(|| next.filter(|_| line.place == Place::Comment).and_then(exported));
            if let Some(variable) = variable
                && let Some(captures) = DEFAULT.captures(line.text)
                && !continues(line.text, captures.get(0).map_or(0, |whole| whole.end()))
            {
                let unit = captures.get(2).map_or("", |unit| unit.as_str());
                push(line.number, judge_number(variable, &captures[1], unit));
            }
        }
        for code in line.code() {
            for captures in ASSIGNED.captures_iter(code) {
                if is_own(document, &captures[1]) {
                    continue;
                }
                let value = captures[2].trim_matches(['"', '\'']).trim_end_matches(['.', ',', ')']);
                push(line.number, judge_value(&captures[1], value, code));
            }
        }
    }
}

/// Whether a script reads a variable itself, so that nothing else has to.
fn is_own(document: &Document<'_>, name: &str) -> bool {
    let is_unread =
        VariableTable::builtin().find(name).is_none_or(|row| row.read_instead().is_some());
    let forms = [format!("${name}"), format!("${{{name}")];
    is_unread && document.lines.iter().any(|line| forms.iter().any(|form| line.text.contains(form)))
}

/// The variable of a text that names exactly one that the table has.
fn only_variable(text: &str) -> Option<&'static Variable> {
    let mut names: Vec<&str> = NAME.find_iter(text).map(|found| found.as_str()).collect();
    names.dedup();
    match names.as_slice() {
        [name] => VariableTable::builtin().find(name),
        _ => None,
    }
}

/// The variable that a line of code sets.
fn exported(line: &Line<'_>) -> Option<&'static Variable> {
    let captures = ASSIGNED.captures(line.text).filter(|_| line.place == Place::Code)?;
    VariableTable::builtin().find(captures.get(1)?.as_str())
}

/// Whether a number is only the first of several values, or part of a longer word.
fn continues(text: &str, end: usize) -> bool {
    let rest = text[end..].trim_start_matches(['`', '"', '\'', ' ']);
    rest.starts_with(['~', '/', '-', '～', '%', 'x', '.'])
        && !rest.trim_start_matches('.').trim().is_empty()
}

/// The number of a cell, with its unit.
static CELL: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r#"(?i)^["']?(-?\d+(?:\.\d+)?)["']?\s*(?:[(（]?\s*(minutes?|mins?|seconds?|secs?|s|MB|M|GB|G|分钟|秒)\s*[)）]?)?$"#)
        .expect("a constant")
});

fn judge_cell(variable: &'static Variable, cell: &str) -> Option<Judged> {
    if let Some(captures) = CELL.captures(cell) {
        let unit = captures.get(2).map_or("", |unit| unit.as_str());
        return judge_number(variable, &captures[1], unit);
    }
    let claim = cell.trim_matches(['"', '\'']);
    let (stated, right) = (switch(claim)?, switch(variable.default)?);
    Some(decide(variable, claim, stated == right))
}

/// The state of a switch by its words.
fn switch(value: &str) -> Option<bool> {
    match value.to_ascii_lowercase().as_str() {
        "0" | "false" | "off" | "disable" | "disabled" | "no" | "关闭" | "不使能" | "否" => {
            Some(false)
        }
        "1" | "true" | "on" | "enable" | "enabled" | "yes" | "开启" | "使能" | "是" => {
            Some(true)
        }
        _ => None,
    }
}

fn judge_number(variable: &'static Variable, claim: &str, unit: &str) -> Option<Judged> {
    let right: f64 = variable.default.parse().ok()?;
    let stated: f64 = claim.parse().ok()?;
    let factor = factor(unit, variable.unit)?;
    let claim = if unit.is_empty() { claim.to_owned() } else { format!("{claim} {unit}") };
    Some(decide(variable, &claim, (stated * factor - right).abs() < 0.5))
}

/// Units of the table in a unit of a text; `None` if the two measure different things.
fn factor(stated: &str, known: &str) -> Option<f64> {
    let stated = stated.to_ascii_lowercase();
    let is_minutes = stated == "分钟" || stated.starts_with("min");
    let is_seconds = stated == "秒" || stated.starts_with('s');
    match (stated.as_str(), known) {
        (_, "s") if is_minutes => Some(60.0),
        ("gb" | "g", "MB") => Some(1024.0),
        (_, "s") if is_seconds => Some(1.0),
        ("", _) | ("mb" | "m", "MB") => Some(1.0),
        _ => None,
    }
}

fn decide(variable: &'static Variable, claim: &str, is_right: bool) -> Judged {
    let Variable { name, default, unit, source, .. } = *variable;
    let says = format!("{name}: {claim}");
    let sources = vec![source.to_owned()];
    if is_right {
        return Judged::agrees(says, sources);
    }
    let right = if unit.is_empty() { default.to_owned() } else { format!("{default} {unit}") };
    let finding = lint_default::Default { claim, name, right }.error();
    Judged::contradicts(says, sources, finding)
}

/// Prefixes of variables that the Ascend stack alone has.
const PREFIXES: [&str; 2] = ["HCCL_", "ASCEND_RT_"];

/// A name that differs from a known one by a letter or two has no effect. Other unknown names with
/// a prefix of the stack are undecided: the tables may lack them.
fn judge_name(name: &str) -> Option<Judged> {
    let known = EnvVars::builtin();
    let is_known = || known.all().any(|own| own == name);
    if !PREFIXES.iter().any(|prefix| name.starts_with(prefix)) || is_known() {
        return None;
    }
    let near =
        nearest(name, VariableTable::builtin().rows().iter().map(|row| row.name.to_owned()), 1);
    let right = near.first().filter(|near| is_misspelt(name, near));
    let Some(right) = right else { return Some(Judged::undecided(name.to_owned())) };
    // The nearest name may be another one that nothing reads.
    let near = VariableTable::builtin().find(right);
    let right = near.and_then(Variable::read_instead).unwrap_or(right);
    let sources = VariableTable::builtin().find(right).map(|row| row.source.to_owned());
    let finding = lint_default::Unread { name, right }.error();
    Some(Judged::contradicts(name.to_owned(), sources.into_iter().collect(), finding))
}

/// Whether two names differ by at most two letters at one place.
fn is_misspelt(name: &str, known: &str) -> bool {
    let same_start = name.bytes().zip(known.bytes()).take_while(|(a, b)| a == b).count();
    let rest = |text: &str| text.len() - same_start;
    let same_end = name
        .bytes()
        .rev()
        .zip(known.bytes().rev())
        .take_while(|(a, b)| a == b)
        .count()
        .min(rest(name))
        .min(rest(known));
    rest(name) - same_end <= 2 && rest(known) - same_end <= 2
}

/// A value that code gives a variable. Placeholders and values of other variables are none.
fn judge_value(name: &str, value: &str, code: &str) -> Option<Judged> {
    let Some(variable) = VariableTable::builtin().find(name) else { return judge_name(name) };
    let is_open = value.is_empty()
        || value.contains(['$', '<', '>', '{', '}', '%', '*', '[', '…'])
        || value.contains("...")
        || value.to_ascii_lowercase().contains("xx");
    if is_open {
        return None;
    }
    let says = format!("{name}={value}");
    let sources = vec![variable.source.to_owned()];
    if let Some(right) = variable.read_instead() {
        // A script may have an own variable of this name, which it reads itself.
        let is_set = ["export ", "-e ", "--env ", "ENV "].iter().any(|lead| code.contains(lead));
        let finding = lint_default::Unread { name, right }.error();
        return is_set.then(|| Judged::contradicts(says, sources, finding));
    }
    let accepted = variable.accepts(value)?;
    Some(if accepted {
        Judged::agrees(says, sources)
    } else {
        let values = variable.values.replace('|', ", ");
        let finding = lint_default::Value { claim: value, name, values }.error();
        Judged::contradicts(says, sources, finding)
    })
}

#[cfg(test)]
mod tests {
    use super::super::document::parse;
    use super::super::statement::StatementState::{self, Agrees, Contradicts, Undecided};
    use super::*;

    fn states(file: &str, text: &str) -> Vec<StatementState> {
        let mut found = Vec::new();
        read(&parse(file, text), &mut found);
        found.iter().map(|one| one.state).collect()
    }

    #[test]
    fn defaults_of_tables_and_sentences_are_compared() {
        let table = "| Name | Default |\n|---|---|\n| `HCCL_BUFFSIZE` | `120` |\n| HCCL_CONNECT_TIMEOUT | 2 min |\n| HCCL_BUFFSIZE | 200 (MB) |\n";
        assert_eq!(states("a.md", table), [Contradicts, Agrees, Agrees]);
        assert_eq!(states("a.md", "HCCL_BUFFSIZE 默认值为 200MB"), [Agrees]);
        assert_eq!(states("a.md", "HCCL_BUFFSIZE defaults to `100`."), [Contradicts]);
        let comment =
            "```sh\n# raise the limit (default 30 minutes)\nexport HCCL_CONNECT_TIMEOUT=1800\n```";
        assert_eq!(states("a.md", comment), [Contradicts, Agrees]);
    }

    #[test]
    fn values_are_compared_and_placeholders_are_not() {
        assert_eq!(states("a.sh", "export TASK_QUEUE_ENABLE=7"), [Contradicts]);
        assert_eq!(states("a.sh", "export TASK_QUEUE_ENABLE=2"), [Agrees]);
        assert_eq!(states("a.sh", "export ASCEND_RT_VISIBLE_DEVICE=0"), [Contradicts]);
        assert_eq!(states("a.sh", "export HCCL_BUFFERSIZE=200"), [Contradicts]);
        assert_eq!(states("a.sh", "export HCCL_NEW_THING=1"), [Undecided]);
        for text in ["export TASK_QUEUE_ENABLE=$N", "export TASK_QUEUE_ENABLE=<n>", "FOO_BAR=7"] {
            assert!(states("a.sh", text).is_empty(), "{text}");
        }
    }

    #[test]
    fn other_defaults_are_no_statement() {
        for text in [
            "HCCL_BUFFSIZE and HCCL_CONNECT_TIMEOUT: default 5",
            "HCCL_BUFFSIZE: the default depends on the model",
            "By default, 8 devices are used",
            "| Name | Default |\n|---|---|\n| HCCL_BUFFSIZE | see the guide |\n",
        ] {
            assert!(states("a.md", text).is_empty(), "{text}");
        }
    }
}
