//! `label: value`, `name=version`, `name version`: printed by collect_env scripts or by hand.

use std::sync::LazyLock;

use regex::Regex;

use super::{Found, hardware, image, mention, system};
use crate::candidate::{Form, Rank, Reason};
use crate::kind::Kind;
use crate::lines::Line;
use crate::names;
use crate::version::{is_cann, is_version, plausible, regex, version_at};

/// Values that are not a version.
static ABSENT: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)^(?:n/?a|none|not |no |could not|module not|unknown|null|-+$|无$|没有|未)")
});
static BOUND: LazyLock<Regex> = LazyLock::new(|| regex(r"^\s*(?:>=?|<=?|~=|!=|\^|≥|≤)"));
static CHANGED: LazyLock<Regex> =
    LazyLock::new(|| regex(r"(?i)->|→|=>|升级|降级|改为|改成|upgrade|downgrade"));
static UNSURE: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)\?|吗|tried|尝试|试过|需要|要求|支持|e\.g|例如|比如|require|support|最新|latest|或者|\bor\b|之前|以前",
    )
});
/// Names that share one value: `torch & torch-npu==2.6.0`.
static JOINED: LazyLock<Regex> = LazyLock::new(|| regex(r"\s*(?:&|/|和|与|及|\+|、|,|\band\b)\s*"));
static TEMPLATE: LazyLock<Regex> = LazyLock::new(|| regex(r"^([^()]+)\((.+)\)\s*:?$"));
static EXAMPLE: LazyLock<Regex> = LazyLock::new(|| {
    regex(r"(?i)e\.g|例如|比如|for example|source or binary|if compiled|如[:: ]|and/or|\?$")
});
/// Labels for any component: `Environment: CANN 8.1.RC1`.
static GENERAL: LazyLock<Regex> = LazyLock::new(|| {
    regex(
        r"(?i)^\W*(?:(?:my|our|software|the|current|test)\s+)?(?:env(?:ironment)?s?|versions?|software|setup|configuration)\s*(?:info(?:rmation)?|is)?\s*$|(?:环境|版本|软件|配置)(?:信息|如下|为|是)?\s*$",
    )
});
/// An inner version before the release version: `7.6.T12.0.B050:8.1.RC1`.
static INNER: LazyLock<Regex> = LazyLock::new(|| regex(r"^\d+\.\d+\.T\d[\w.]*:(.+)$"));
/// `gcc82`, `gcc103`: the notation in the names of Paddle images.
static DENSE_GCC: LazyLock<Regex> = LazyLock::new(|| regex(r"^(1\d|[4-9])(\d)$"));
static COMMIT: LazyLock<Regex> = LazyLock::new(|| regex(r"^commit:\s*[0-9a-f]{7,40}$"));

pub(super) fn read(lines: &[Line], found: &mut Found) {
    for (index, line) in lines.iter().enumerate() {
        if found.is_taken(index)
            || !matches!(line.kind, Kind::Text | Kind::Heading | Kind::Quotation)
        {
            continue;
        }
        // paddle_custom_device.npu.version(): the CANN version that the plug-in was built for.
        if let Some((label, version)) = line.text.split_once(':')
            && label.trim() == "cann"
            && index
                .checked_sub(1)
                .and_then(|at| lines.get(at))
                .is_some_and(|line| COMMIT.is_match(&line.text))
        {
            found.add_version("built_for", version.trim(), line, Form::KeyValue, Rank::Measured);
            found.take(index);
            continue;
        }
        if headed(lines, index, found) {
            continue;
        }
        for clause in clauses(unquoted(&line.text)) {
            statement(ungeneral(clause), line, found);
        }
    }
}

/// Removes the quotation marks of a line that is not an element of a list: `'CANN:8.2.RC1'`.
fn unquoted(text: &str) -> &str {
    let inside = |mark: char| text.strip_prefix(mark)?.strip_suffix(mark);
    inside('\'')
        .or_else(|| inside('"'))
        .filter(|inner| inner.contains(':') && !inner.contains(['"', '\'', '=']))
        .unwrap_or(text)
}

/// Removes a general label from a clause: `Environment: CANN 8.1.RC1`.
fn ungeneral(clause: &str) -> &str {
    let Some((label, value)) = clause.split_once(':') else { return clause };
    let stated = || mention::clauses(label, false).iter().all(|part| part.doubt.is_none());
    if names::of_label(label).is_none() && GENERAL.is_match(label) && stated() {
        return value;
    }
    clause
}

/// Reads a heading or `label:` without a value, and the value on the next line. GitHub forms use
/// headings for their questions: `### CANN version`.
fn headed(lines: &[Line], index: usize, found: &mut Found) -> bool {
    let (Some(line), Some(next)) = (lines.get(index), lines.get(index + 1)) else { return false };
    let label = line.text.trim_end_matches([':', ' ']);
    let is_label = line.kind == Kind::Heading || label.len() < line.text.len();
    // The answer is on a line without any other label.
    let answers = next.kind == Kind::Text
        && next.number <= line.number + 2
        && next.text.len() <= 60
        && !next.text.contains([':', '=', '?', '|'])
        && !found.is_taken(index + 1)
        && lines.get(index + 2).is_none_or(|after| after.block != next.block);
    if !is_label || !answers || line.kind == Kind::Quotation {
        return false;
    }
    // In two languages: `CANN version / CANN 版本`.
    let mut named = label.split('/').map(names::of_label);
    let Some(Some(name)) = named.next() else { return false };
    if named.any(|other| other.as_ref() != Some(&name)) {
        return false;
    }
    value(&name, &next.text, next, Form::KeyValue, found);
    true
}

/// The parts of a line between commas, semicolons and full stops outside of brackets.
pub(super) fn clauses(text: &str) -> Vec<&str> {
    let (mut out, mut depth, mut start) = (Vec::new(), 0_u32, 0);
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth = depth.saturating_sub(1),
            ',' | ';' | '。' | '|' if depth == 0 => {
                out.extend(text.get(start..at));
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    out.extend(text.get(start..));
    out.retain(|clause| !clause.trim().is_empty());
    out
}

/// Reads one `label: value`. Returns whether the label is known.
fn statement(clause: &str, line: &Line, found: &mut Found) -> bool {
    let clause = clause.trim();
    // `"torch==2.7.1"` is an element of a list of requirements.
    if clause.starts_with(['"', '\''])
        && clause.matches(['"', '\'']).count() == 2
        && clause.ends_with(['"', '\''])
    {
        return false;
    }
    // `+torch==2.6.0` is a line of a patch.
    if clause.starts_with(['+', '-']) && clause.contains("==") {
        return false;
    }
    if let Some(at) = separator(clause) {
        let (label, rest) = clause.split_at(at);
        let value = rest.trim_start_matches([':', '=', ' ']);
        // `torch>=2.1` and `torch<=2.1` are bounds.
        if label.ends_with(['>', '<', '~', '!']) || rest.starts_with("=>") {
            return false;
        }
        if value.is_empty() {
            return template(clause, line, found);
        }
        if let Some(name) = names::of_label(label) {
            self::value(&name, value, line, Form::KeyValue, found);
            // `环境:CANN 8.1.RC1`: such a label can precede any value.
            if name == "npu" {
                bare(value, line, found);
            }
            return true;
        }
        return joined(label, value, line, found);
    }
    template(clause, line, found) || bare(clause, line, found)
}

/// The `:` or `=` after a label; those in its brackets belong to an example.
fn separator(clause: &str) -> Option<usize> {
    let mut depth = 0_u32;
    let outside = clause.char_indices().find(|&(_, c)| {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0 && matches!(c, ':' | '=')
    });
    outside.map(|(at, _)| at).or_else(|| clause.find([':', '=']))
}

/// `torch & torch-npu==2.6.0`, `torch/torch_npu: 2.5.1/2.5.1.post1`.
fn joined(label: &str, value: &str, line: &Line, found: &mut Found) -> bool {
    let labels: Option<Vec<String>> = JOINED.split(label.trim()).map(names::of_label).collect();
    let Some(labels) = labels.filter(|labels| (2..=4).contains(&labels.len())) else {
        return false;
    };
    // `Tensorflow/Pytorch/MindSpore:` in a template is a choice.
    let frameworks = ["torch", "mindspore", "package.tensorflow", "paddlepaddle"];
    if labels.iter().filter(|name| frameworks.contains(&name.as_str())).count() >= 2 {
        return bare(value, line, found);
    }
    let values: Vec<&str> = JOINED.split(value.trim()).collect();
    for (index, name) in labels.iter().enumerate() {
        let value = if values.len() == labels.len() { values.get(index) } else { Some(&value) };
        if let Some(value) = value {
            self::value(name, value, line, Form::KeyValue, found);
        }
    }
    true
}

/// `MindSpore version (2.2.0):` if the author replaced the example.
fn template(clause: &str, line: &Line, found: &mut Found) -> bool {
    let Some(parts) = TEMPLATE.captures(clause) else { return false };
    if EXAMPLE.is_match(&parts[2]) || !clause.trim_end().ends_with(':') {
        return false;
    }
    let Some(name) = names::of_label(&parts[1]) else { return false };
    value(&name, &parts[2], line, Form::Template, found);
    true
}

/// `CANN 8.1.RC1`, `NPU DRIVER   24.1.0.3`, `python3.8`, `CANN版本8.0.RC1`: a clause without other
/// text.
fn bare(clause: &str, line: &Line, found: &mut Found) -> bool {
    let Some(at) = clause.find(|c: char| c.is_ascii_digit()) else { return false };
    let (label, version) = clause.split_at(at);
    let label = label.strip_suffix(['v', 'V', '-']).unwrap_or(label);
    let Some(name) = names::of_label(label) else { return false };
    if name == "gcc" && line.bullet {
        // The compiler that built PyTorch, in the build details.
        return false;
    }
    if name == "kernel" {
        value(&name, version, line, Form::KeyValue, found);
        return true;
    }
    if name == "gcc"
        && label.ends_with(['c', 'C'])
        && let Some(dense) = DENSE_GCC.captures(version)
    {
        value(&name, &format!("{}.{}", &dense[1], &dense[2]), line, Form::KeyValue, found);
        return true;
    }
    let Some(found_version) = version_at(version) else { return false };
    let rest = version.get(found_version.len()..).unwrap_or_default().trim();
    if !(rest.is_empty()
        || rest == "版本"
        || rest == "."
        || rest.starts_with('(') && !UNSURE.is_match(rest))
    {
        return false;
    }
    value(&name, found_version, line, Form::KeyValue, found);
    true
}

/// Adds the value of a label, parsed according to its name.
pub(super) fn value(name: &str, value: &str, line: &Line, form: Form, found: &mut Found) {
    let value = value.trim().trim_matches(['"', '\'']).trim();
    if value.len() > 300 || ABSENT.is_match(value) {
        return;
    }
    let rank = Rank::Written;
    match name {
        // A platform string names the kernel of the host.
        "os" if value.starts_with("Linux-") => {}
        "os" => {
            if let Some(os) = system::os(value) {
                found.add("os", &os, line, form, rank);
            }
        }
        "host_os" => {
            if let Some(os) = system::os(value) {
                found.add("host_os", &os, line, form, rank);
            }
        }
        "arch" => {
            if let Some(arch) = system::arch(value) {
                found.add("arch", arch, line, form, rank);
            }
        }
        "kernel" => {
            if let Some(kernel) = system::kernel(value) {
                found.add("kernel", kernel, line, form, rank);
                system::of_kernel(value, kernel, line, form, found);
            }
        }
        "npu" => hardware::labelled(value, line, form, found),
        "npu_count" => {
            let digits = value.trim_end_matches(['卡', '张', '个', ' ']);
            if !digits.is_empty() && digits.len() <= 4 && digits.bytes().all(|b| b.is_ascii_digit())
            {
                found.add("npu_count", digits, line, form, rank);
            }
        }
        "image" => image::labelled(value, line, found),
        "pci_id" => hardware::pci(value, line, form, found),
        _ => version_value(name, value, line, form, found),
    }
}

fn version_value(name: &str, value: &str, line: &Line, form: Form, found: &mut Found) {
    let rank = Rank::Written;
    let value = INNER.captures(value).and_then(|inner| inner.get(1)).map_or(value, |m| m.as_str());
    // LMDeploy appends the commit, which installed packages do not have: `0.7.3+`.
    let value = if name == "lmdeploy" { value.trim_end_matches('+') } else { value };
    // The value repeats its name: `transformers: transformers 4.46.3`.
    let start = value.find(|c: char| c.is_ascii_digit()).unwrap_or(value.len());
    let (head, rest) = value.split_at(start);
    let head_label = head.trim_end_matches(['v', 'V', '=', '-', ' ', ':']);
    let begins = head_label.is_empty()
        || names::of_label(head_label).as_deref() == Some(name)
        || head_label.eq_ignore_ascii_case("version")
        || head_label == "版本";
    if BOUND.is_match(value) || head.contains(['<', '>', '~']) {
        found.reject(name, value, line, form, Reason::Requirement);
        return;
    }
    if CHANGED.is_match(value) {
        let tokens = versions(value);
        if let [earlier @ .., now] = tokens.as_slice() {
            add(name, now, line, form, rank, found);
            for old in earlier {
                found.reject(name, old, line, form, Reason::Earlier);
            }
        }
        return;
    }
    if name == "gcc" {
        let outside = outside_brackets(value);
        if let [only] = versions(&outside).as_slice() {
            add(name, only, line, form, rank, found);
        }
        return;
    }
    // The version of another component: `vllm-ascend: vLLM 0.11.0 + vllm-ascend`.
    if let Some(other) = names::of_label(head_label)
        && other != name
        && names::has_version(&other)
    {
        if let Some(version) = version_at(rest).filter(|_| !UNSURE.is_match(value)) {
            found.add_version(&other, version, line, form, rank);
        }
        return;
    }
    if begins && let Some(version) = version_at(rest) {
        if UNSURE.is_match(
            rest.get(version.len()..).unwrap_or_default().split('(').next().unwrap_or_default(),
        ) {
            found.reject(name, version, line, form, Reason::Hypothetical);
        } else {
            // A pin is kept as written: `llamafactory==v0.7.1`.
            let pin = format!("v{version}");
            let pinned = line.text.contains(&format!("=={pin}"));
            add(name, if pinned { &pin } else { version }, line, form, rank, found);
        }
        return;
    }
    let mut tokens = versions(value);
    tokens.dedup();
    if let [only] = tokens.as_slice()
        && value.chars().count() < 120
        && !UNSURE.is_match(value)
        && !begins
    {
        add(name, only, line, form, rank, found);
    }
}

/// Adds a version under the name that its shape permits: many people call CANN the driver.
fn add(name: &str, version: &str, line: &Line, form: Form, rank: Rank, found: &mut Found) {
    if plausible(name, version) {
        found.add_version(name, version, line, form, rank);
    } else if name == "driver" && is_cann(version) && version.to_ascii_lowercase().contains("rc") {
        found.add_version("cann", version, line, form, Rank::Prose);
    } else if is_version(version) {
        found.reject(name, version, line, form, Reason::OtherLayer);
    }
}

/// The versions in a text, each after a blank, a bracket or a letter of another script.
pub(super) fn versions(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut before = None;
    let mut skip = 0;
    for (at, c) in text.char_indices() {
        if at >= skip && c.is_ascii_digit() {
            let free = before.is_none_or(|b: char| {
                !(b.is_ascii_alphanumeric() || matches!(b, '.' | '/' | '>' | '<'))
            }) || matches!(before, Some('v' | 'V'));
            let rest = text.get(at..).unwrap_or_default();
            let run = rest
                .find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '.' | '+' | '_' | '-')))
                .unwrap_or(rest.len());
            skip = at + run;
            if free {
                match version_at(rest) {
                    Some(version) => out.push(version),
                    // File names have the version between underscores: `toolkit_8.0.RC1_linux`.
                    None => out.extend(
                        rest.get(..run).and_then(|r| r.split('_').next()).filter(|v| is_version(v)),
                    ),
                }
            }
        }
        before = Some(c);
    }
    out
}

fn outside_brackets(text: &str) -> String {
    let (mut depth, mut out) = (0_u32, String::new());
    for c in text.chars() {
        match c {
            '(' => depth += 1,
            ')' => depth = depth.saturating_sub(1),
            _ if depth == 0 => out.push(c),
            _ => {}
        }
    }
    out
}
