//! YAML, JSON, TOML and INI configurations: values of keys that are known to name a device or a
//! backend, and maps of environment variables. Other values, keys, comments and quotes stay.

mod entries;
mod flow;
mod yaml;

use std::collections::{BTreeMap, BTreeSet};
use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use self::entries::{Entries, Entry};
use super::environment;
use super::messages;
use super::nvidia_keys;
use super::python;
use super::python::roles::Want;
use super::rules::{Place, Rules};
use super::settings;
use super::shell;
use super::site::{Certainty, Planner};
use super::syntax::UnparsableText;
use super::value::{self, Outcome};

/// A text without any of these words is skipped: no rule can apply, and data files are often large.
const NEEDLES: &[&str] = &["cuda", "nccl", "CUDA", "NCCL", "GPU", "gpu", "nvidia", "NVIDIA"];

/// Plans a configuration; the format follows from its `name` (without directories).
pub fn plan(planner: &mut Planner<'_>, name: &str) -> Result<(), UnparsableText> {
    let text = planner.text;
    if !NEEDLES.iter().any(|needle| text.contains(needle)) && !settings::mentions(text.as_bytes()) {
        return Ok(());
    }
    let lower = name.to_ascii_lowercase();
    let mut entries = Entries::new(text);
    match lower.rsplit('.').next().unwrap_or_default() {
        "json" | "jsonc" => flow::json(text, &mut entries)?,
        "yaml" | "yml" => yaml::read(text, &mut entries),
        "toml" => match DeTable::parse(text) {
            Ok(document) => table(text, document.get_ref(), &mut entries),
            Err(error) => {
                return Err(UnparsableText { at: error.span().map_or(0, |span| span.start) });
            }
        },
        _ => ini(text, &mut entries),
    }
    judge(planner, &entries);
    Ok(())
}

/// The scalars of a YAML file that go over lines, with their keys.
pub fn spans(text: &str) -> Vec<Range<usize>> {
    let mut entries = Entries::new(text);
    yaml::read(text, &mut entries);
    let blocks = entries.blocks.iter().map(|(key, body)| key.start..body.end);
    let values = entries.all.iter().map(|entry| entry.value.clone());
    blocks.chain(values).filter(|range| text[range.clone()].contains('\n')).collect()
}

/// The elements of a JSON list of strings that begins `text`, as ranges.
pub(super) fn json_list(text: &str) -> Option<Vec<Range<usize>>> {
    flow::strings(text)
}

fn table(text: &str, table: &DeTable<'_>, entries: &mut Entries<'_>) {
    let mapping = entries.mapping();
    for (key, value) in table {
        let key = unquoted(text, key.span());
        toml_value(text, value, mapping, &key, false, entries);
    }
}

fn toml_value(
    text: &str,
    value: &Spanned<DeValue<'_>>,
    mapping: usize,
    key: &Range<usize>,
    list: bool,
    entries: &mut Entries<'_>,
) {
    match value.get_ref() {
        DeValue::Table(inner) => table(text, inner, entries),
        DeValue::Array(array) => {
            for item in array {
                toml_value(text, item, mapping, key, true, entries);
            }
        }
        DeValue::String(_) | DeValue::Integer(_) | DeValue::Boolean(_) => {
            let value = unquoted(text, value.span());
            entries.push(Entry { mapping, key: key.clone(), value, list });
        }
        _ => {}
    }
}

/// A span without its quotes.
fn unquoted(text: &str, span: Range<usize>) -> Range<usize> {
    let source = &text[span.clone()];
    let quotes = ["\"\"\"", "'''", "\"", "'"].iter().find(|quote| {
        source.len() >= 2 * quote.len() && source.starts_with(**quote) && source.ends_with(**quote)
    });
    let len = quotes.map_or(0, |quote| quote.len());
    span.start + len..span.end - len
}

/// `key = value` and `key: value` lines in sections.
fn ini(text: &str, entries: &mut Entries<'_>) {
    let mut mapping = entries.mapping();
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end();
        let trimmed = body.trim_start();
        if trimmed.starts_with('[') {
            mapping = entries.mapping();
        }
        // An indented line continues the previous value.
        if trimmed.is_empty() || trimmed.len() < body.len() || trimmed.starts_with(['#', ';', '['])
        {
            continue;
        }
        let Some(sign) = body.find(['=', ':']) else { continue };
        let key = start..start + body[..sign].trim_end().len();
        let behind = &body[sign + 1..];
        let comment = [" #", " ;", "\t#", "\t;"].iter().filter_map(|sign| behind.find(sign)).min();
        let value = &behind[..comment.unwrap_or(behind.len())];
        let offset = start + sign + 1 + value.len() - value.trim_start().len();
        let value = unquoted(text, offset..offset + value.trim().len());
        entries.push(Entry { mapping, key, value, list: false });
    }
}

/// Facts about one mapping.
#[derive(Default)]
struct Mapping<'a> {
    keys: BTreeSet<&'a str>,
    /// A value or key of it names an NPU, so entries for CUDA next to it are intentional.
    aware: bool,
    /// The environment variable in the value of `name`.
    named: Option<Range<usize>>,
}

fn is_npu(value: &str) -> bool {
    matches!(value, "npu" | "hccl") || value.starts_with("npu:")
}

fn judge(planner: &mut Planner<'_>, entries: &Entries<'_>) {
    let text = planner.text;
    let mut mappings: BTreeMap<usize, Mapping<'_>> = BTreeMap::new();
    for entry in &entries.all {
        let mapping = mappings.entry(entry.mapping).or_default();
        let (key, value) = (&text[entry.key.clone()], &text[entry.value.clone()]);
        mapping.keys.insert(key);
        let word = key.to_ascii_lowercase();
        let names_npu = word.split(['_', '-', '.']).any(|part| matches!(part, "npu" | "ascend"));
        mapping.aware |= names_npu && key.chars().any(|c| c.is_ascii_lowercase()) || is_npu(value);
        if key == "name" && environment::assignment(value, None).is_some() {
            mapping.named = Some(entry.value.clone());
        }
    }
    // If a key has a value for NPUs elsewhere (profiles, build matrices), its other values are
    // intentional. In CI workflows `device` selects jobs, not devices.
    let of_npus: BTreeSet<&str> = entries
        .all
        .iter()
        .filter(|entry| is_npu(&text[entry.value.clone()]))
        .map(|entry| &text[entry.key.clone()])
        .collect();
    let is_workflow = text.lines().any(|line| line.starts_with("jobs:"));
    for (at, entry) in entries.all.iter().enumerate() {
        let Some(mapping) = mappings.get(&entry.mapping) else { continue };
        if !mapping.aware {
            argument(planner, entry, at.checked_sub(1).map(|before| &entries.all[before]));
            command(planner, entry);
            name_of_python(planner, entry);
        }
        nvidia_keys::plan_entry(planner, &entry.key, &entry.value);
        let key = text[entry.key.clone()].to_ascii_lowercase();
        if matches!(key.as_str(), "description" | "help" | "message" | "title" | "summary") {
            messages::message(planner, &entry.value);
        }
        if entry.list {
            list_item(planner, entry);
        } else {
            variable(planner, entry, mapping);
        }
        if !mapping.aware && !is_workflow && !of_npus.contains(&text[entry.key.clone()]) {
            device(planner, entry);
            setting(planner, entry);
            accelerate(planner, entry, mapping);
        }
    }
    for (key, body) in &entries.blocks {
        let scripts = ["run", "script", "command", "before_script", "args"];
        let body_text = &text[body.clone()];
        if scripts.contains(&&text[key.clone()]) && value::mentions_cuda(body_text) {
            // A script that cannot be parsed stays unchanged.
            let _ = shell::plan_part(planner, body_text, body.start);
        }
    }
}

/// A key that names an environment variable, or the pair `name`, `value`.
fn variable(planner: &mut Planner<'_>, entry: &Entry, mapping: &Mapping<'_>) {
    let text = planner.text;
    let (key, value) = (&text[entry.key.clone()], &text[entry.value.clone()]);
    let name = match &mapping.named {
        Some(name) if key == "value" => name.clone(),
        _ => entry.key.clone(),
    };
    let known = (!value.contains(['$', '{', '\\'])).then_some(value);
    let searched = matches!(&text[name.clone()], "PATH" | "LD_LIBRARY_PATH");
    let known = if searched { Some(value) } else { known };
    let Some(decision) = environment::assignment(&text[name.clone()], known) else { return };
    if decision.new_name.is_some_and(|new| mapping.keys.contains(new)) {
        return;
    }
    if let (Some(_), Some(new)) = (decision.new_name, &decision.new_value) {
        planner.also(decision.rule, &name, entry.value.clone(), new.clone());
    }
    let place = name.start.min(entry.value.start)..entry.value.end.max(name.end);
    decision.enter(planner, name, &place);
}

/// `- CUDA_VISIBLE_DEVICES=0`.
fn list_item(planner: &mut Planner<'_>, entry: &Entry) {
    let text = &planner.text[entry.value.clone()];
    if matches!(text, "--gpus" | "--runtime=nvidia") || text.starts_with("--gpus=") {
        let rule = Rules::builtin().site(Place::DockerRunGpus);
        planner.flag(rule, entry.value.clone(), Some(text.to_owned()));
        return;
    }
    let Some((name, value)) = text.split_once('=') else { return };
    let known = (!value.contains(['$', '{', '\\', '"', '\''])).then_some(value);
    let Some(decision) = environment::assignment(name, known) else { return };
    let start = entry.value.start;
    if let (Some(_), Some(new)) = (decision.new_name, &decision.new_value) {
        let value = start + name.len() + 1..entry.value.end;
        planner.also(decision.rule, &entry.value, value, new.clone());
    }
    decision.enter(planner, start..start + name.len(), &entry.value);
}

/// `command: [python, train.py, --device, cuda]`: an element is the value of the option before it.
fn argument(planner: &mut Planner<'_>, entry: &Entry, before: Option<&Entry>) {
    let text = planner.text;
    let value = &text[entry.value.clone()];
    if !entry.list {
        return;
    }
    let pair = match value.split_once('=') {
        Some((option, rest)) => Some((option, entry.value.end - rest.len()..entry.value.end)),
        None => before
            .filter(|before| before.list && before.key == entry.key)
            .filter(|before| before.value.end <= entry.value.start)
            .filter(|before| {
                // Directly before: elements that cannot matter are not kept.
                let between = &text[before.value.end..entry.value.start];
                between
                    .bytes()
                    .all(|b| b.is_ascii_whitespace() || matches!(b, b',' | b'"' | b'\'' | b'-'))
                    && between.matches(',').count() <= 1
                    && between.matches('-').count() <= 1
            })
            .map(|before| (&text[before.value.clone()], entry.value.clone())),
    };
    let Some((option, range)) = pair.filter(|(option, _)| option.starts_with("--")) else { return };
    if let Some(Outcome::Write(new)) = value::converted(option, &text[range.clone()]) {
        let rule = Rules::builtin().site(Place::ConfigDevice);
        planner.change(rule, range, new, Certainty::Exact);
    }
}

/// `cmd: python train.py --device cuda`: a command on one line.
fn command(planner: &mut Planner<'_>, entry: &Entry) {
    let text = &planner.text[entry.value.clone()];
    if text.contains(['\n', '\\']) || !shell::is_command(text, planner.project) {
        return;
    }
    let mut part = planner.part(text);
    if shell::plan_part(&mut part, text, 0).is_err() {
        return;
    }
    let plan = part.finish();
    // The new text must not end the quotes around it.
    if plan.edits.iter().all(|edit| !edit.text.contains(['"', '\'', '#', ':'])) {
        planner.enter(plan, entry.value.start);
    }
}

/// `_target_: torch.cuda.amp.GradScaler`: a dotted name of Python.
fn name_of_python(planner: &mut Planner<'_>, entry: &Entry) {
    let value = &planner.text[entry.value.clone()];
    let dotted = |byte: u8| byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'.');
    if !value.starts_with("torch.cuda.") || !value.bytes().all(dotted) {
        return;
    }
    if let Some((rule, new)) = python::renamed(value, planner.options) {
        planner.change(rule, entry.value.clone(), new, Certainty::Exact);
    }
}

fn device(planner: &mut Planner<'_>, entry: &Entry) {
    let (key, value) = (&planner.text[entry.key.clone()], &planner.text[entry.value.clone()]);
    let shared = planner.project.and_then(|project| project.shared().field(key));
    // `shelf: cuda`, where a program reads `config.shelf` and moves tensors there.
    let role = match shared {
        Some(Want::Device) => "device",
        Some(Want::Backend) => "backend",
        _ => key,
    };
    let Some(outcome) = value::converted(role, value) else {
        if value::device(value).or_else(|| value::backend(value)).is_some() {
            planner.leave_open(key);
        }
        return;
    };
    let rule = Rules::builtin().site(Place::ConfigDevice);
    match outcome {
        Outcome::Write(new) => {
            planner.change(rule, entry.value.clone(), new, Certainty::Exact);
        }
        Outcome::Flag => {
            let detail = format!("{key}: {value}");
            planner.flag(rule, entry.value.clone(), Some(detail));
        }
    }
}

/// `tf32: true`: a key that a rule names.
fn setting(planner: &mut Planner<'_>, entry: &Entry) {
    let (key, value) = (&planner.text[entry.key.clone()], &planner.text[entry.value.clone()]);
    if let Some(rule) = settings::rule(planner, key, value) {
        let range = entry.key.start.min(entry.value.start)..entry.value.end.max(entry.key.end);
        planner.flag(rule, range, Some(format!("{key}: {value}")));
    }
}

/// The configuration file that `accelerate config` writes.
fn accelerate(planner: &mut Planner<'_>, entry: &Entry, mapping: &Mapping<'_>) {
    let (key, value) = (&planner.text[entry.key.clone()], &planner.text[entry.value.clone()]);
    if key == "distributed_type"
        && value == "MULTI_GPU"
        && mapping.keys.contains("compute_environment")
    {
        let rule = Rules::builtin().site(Place::ConfigAccelerate);
        planner.change(rule, entry.value.clone(), "MULTI_NPU", Certainty::Exact);
    }
}

#[cfg(test)]
mod tests;
