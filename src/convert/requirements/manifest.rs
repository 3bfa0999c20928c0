//! Requirements inside other formats: pyproject.toml, Pipfile, setup.cfg, conda environments.

use std::ops::Range;

use toml::Spanned;
use toml::de::{DeTable, DeValue};

use super::{Insertion, Requirement, asks_for_torch_npu, requirement, wheel_index};
use super::{Partner, local_cuda, package_rule, partner};
use crate::rules::{Action, Place, Rules};
use crate::site::{Certainty, Planner};

/// Maximum nesting depth of tables.
const MAX_DEPTH: usize = 16;

/// pyproject.toml and Pipfile. Invalid TOML is left unchanged.
pub(super) fn toml(planner: &mut Planner<'_>) {
    let Ok(document) = DeTable::parse(planner.text) else { return };
    let aware = asks_for_torch_npu(planner.text);
    table(planner, document.get_ref(), &mut Vec::new(), aware);
}

fn table(planner: &mut Planner<'_>, table: &DeTable<'_>, path: &mut Vec<String>, aware: bool) {
    if path.len() > MAX_DEPTH {
        return;
    }
    for (key, value) in table {
        path.push(key.get_ref().to_string());
        let names = path.iter().map(String::as_str).collect::<Vec<_>>();
        match value.get_ref() {
            DeValue::Table(inner) if is_poetry(&names) => {
                poetry(planner, inner, aware);
            }
            DeValue::Table(inner) => self::table(planner, inner, path, aware),
            DeValue::Array(array) if is_list(&names) => {
                for item in array {
                    if let DeValue::String(_) = item.get_ref() {
                        list_item(planner, item, aware);
                    }
                }
            }
            DeValue::Array(array) => {
                for item in array {
                    if let DeValue::Table(inner) = item.get_ref() {
                        self::table(planner, inner, path, aware);
                    }
                }
            }
            DeValue::String(text) if text.contains("://") => {
                wheel_index(planner, &inside(planner.text, value.span()));
            }
            _ => {}
        }
        path.pop();
    }
}

/// Lists of requirements as PEP 508 writes them.
fn is_list(path: &[&str]) -> bool {
    matches!(
        path,
        ["project", "dependencies"]
            | ["project", "optional-dependencies", _]
            | ["build-system", "requires"]
            | ["dependency-groups", _]
            | [
                "tool",
                "uv",
                "dev-dependencies" | "constraint-dependencies" | "override-dependencies"
            ]
            | ["tool", "pdm", "dev-dependencies", _]
            | ["tool", "hatch", "envs", _, "dependencies" | "extra-dependencies"]
            | ["tool", "setuptools", ..]
    )
}

/// Tables from names to versions.
fn is_poetry(path: &[&str]) -> bool {
    matches!(
        path,
        ["tool", "poetry", "dependencies" | "dev-dependencies"]
            | ["tool", "poetry", "group", _, "dependencies"]
            | ["packages" | "dev-packages"]
    )
}

/// A string without its quotes.
fn inside(text: &str, span: Range<usize>) -> Range<usize> {
    let source = &text[span.clone()];
    let quotes = if source.starts_with("\"\"\"") || source.starts_with("'''") { 3 } else { 1 };
    if source.len() >= 2 * quotes { span.start + quotes..span.end - quotes } else { span }
}

fn list_item(planner: &mut Planner<'_>, item: &Spanned<DeValue<'_>>, aware: bool) {
    let span = item.span();
    let range = inside(planner.text, span.clone());
    let text = planner.text;
    let quote = &text[span.start..range.start];
    let marker = Requirement::parse(&text[range.clone()]).map_or("", |r| r.marker).to_owned();
    // If the item is on a separate line, the added item is, too.
    let line = text[..span.start].rfind('\n').map_or(0, |at| at + 1);
    let indent = &text[line..span.start];
    let alone = indent.chars().all(|c| c == ' ' || c == '\t') && line > 0;
    let eol = if text[..line].ends_with("\r\n") { "\r\n" } else { "\n" };
    let gap = if alone { format!("{eol}{indent}") } else { " ".to_owned() };
    let insertion = Insertion {
        at: span.end,
        before: format!(",{gap}{quote}"),
        after: format!("{marker}{quote}"),
    };
    requirement(planner, &range, (!aware).then_some(insertion));
}

/// `torch = "2.1.0"`.
fn poetry(planner: &mut Planner<'_>, table: &DeTable<'_>, aware: bool) {
    let rules = Rules::builtin();
    let text = planner.text;
    for (key, value) in table {
        let name = key.get_ref().to_ascii_lowercase().replace('_', "-");
        let place = key.span().start..value.span().end;
        if name == "torch" {
            let DeValue::String(version) = value.get_ref() else {
                let rule = rules.site(Place::RequirementsCudaPackage);
                if text[value.span()].contains("cu1") {
                    planner.flag(rule, place, Some(name));
                }
                continue;
            };
            let range = inside(text, value.span());
            for local in local_cuda(&text[range.clone()]) {
                let local = range.start + local.start..range.start + local.end;
                planner.change(
                    rules.site(Place::RequirementsCudaWheel),
                    local,
                    "",
                    Certainty::Exact,
                );
            }
            if aware {
                continue;
            }
            let exact = version.starts_with(|c: char| c.is_ascii_digit());
            let versions = if exact { format!("=={version}") } else { version.to_string() };
            let end = value.span().end;
            let end = end + text[end..].find('\n').unwrap_or(text.len() - end);
            let end = if text[..end].ends_with('\r') { end - 1 } else { end };
            let eol = if text[end..].starts_with("\r\n") { "\r\n" } else { "\n" };
            let (written, certainty) = match partner(&versions) {
                Partner::Exact(version) => (version, Certainty::Exact),
                Partner::Any => ("*".to_owned(), Certainty::Likely),
                Partner::None(version) => {
                    planner.flag(rules.site(Place::RequirementsNoTorchNpu), place, Some(version));
                    continue;
                }
            };
            if certainty == Certainty::Likely {
                planner.note(rules.site(Place::RequirementsTorchUnpinned), place, None);
            }
            let line = format!("{eol}torch-npu = \"{written}\"");
            planner.change(rules.site(Place::RequirementsCudaWheel), end..end, line, certainty);
        } else if let Some(rule) = package_rule(&name) {
            match (rule.action, rule.to) {
                (Action::Rewrite, Some(to))
                    if text[key.span()].contains(key.get_ref().as_ref()) =>
                {
                    let span = key.span();
                    let quoted = usize::from(text[span.clone()].starts_with(['"', '\'']));
                    let at = span.start + quoted..span.end - quoted;
                    planner.change(rule, at, to, Certainty::Exact);
                    let rule = rules.site(Place::RequirementsOtherVersions);
                    planner.flag(rule, place, Some(to.to_owned()));
                }
                (Action::Flag, _) => planner.flag(rule, place, Some(name)),
                _ => {}
            }
        }
    }
}

/// setup.cfg: the lists after `install_requires =` and similar keys, and the extras.
pub(super) fn setup_cfg(planner: &mut Planner<'_>) {
    let text = planner.text;
    let aware = asks_for_torch_npu(text);
    let mut at = 0;
    let mut section = "";
    let mut list = false;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end_matches(['\n', '\r']);
        let trimmed = body.trim();
        if trimmed.is_empty() || trimmed.starts_with(['#', ';']) {
            continue;
        }
        let indented = body.starts_with([' ', '\t']);
        if !indented {
            if let Some(name) = trimmed.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')) {
                (section, list) = (name, false);
                continue;
            }
            let key = trimmed.split('=').next().unwrap_or_default().trim();
            list = section == "options.extras_require"
                || section == "options"
                    && matches!(key, "install_requires" | "setup_requires" | "tests_require");
            continue;
        }
        if !list {
            continue;
        }
        let code = body.split(" #").next().unwrap_or_default().trim_end();
        let indent = code.len() - code.trim_start().len();
        let marker = Requirement::parse(&code[indent..]).map_or("", |r| r.marker);
        let eol = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
        let insertion = Insertion {
            at: start + body.len(),
            before: format!("{eol}{}", &code[..indent]),
            after: marker.to_owned(),
        };
        let range = start + indent..start + code.len();
        requirement(planner, &range, (!aware).then_some(insertion));
    }
}

/// A conda environment: `- name=version=build` items, and the list of `- pip:`.
pub(super) fn conda(planner: &mut Planner<'_>) {
    let text = planner.text;
    let aware = asks_for_torch_npu(text);
    let mut at = 0;
    let mut dependencies = false;
    // Indentation of the dash of `- pip:`.
    let mut pip: Option<usize> = None;
    for line in text.split_inclusive('\n') {
        let start = at;
        at += line.len();
        let body = line.trim_end_matches(['\n', '\r']);
        let code = body.split(" #").next().unwrap_or_default().trim_end();
        let trimmed = code.trim_start();
        if trimmed.is_empty() || trimmed.starts_with('#') {
            continue;
        }
        let indent = code.len() - trimmed.len();
        let Some(item) = trimmed.strip_prefix('-') else {
            if indent == 0 {
                dependencies = trimmed.starts_with("dependencies:");
                pip = None;
            }
            continue;
        };
        if !dependencies {
            continue;
        }
        if pip.is_some_and(|dash| indent <= dash) {
            pip = None;
        }
        let quoted = item.trim_start();
        if quoted == "pip:" {
            pip = Some(indent);
            continue;
        }
        let quote = usize::from(quoted.len() >= 2 && quoted.starts_with(['"', '\'']));
        let offset = start + code.len() - quoted.len();
        let range = offset + quote..offset + quoted.len() - quote;
        if range.start > range.end || text.get(range.clone()).is_none() {
            continue;
        }
        let value = &text[range.clone()];
        if pip.is_none() {
            conda_package(planner, &range);
        } else if value.starts_with('-') || value.contains("://") && !value.contains('@') {
            super::option_line(planner, &range);
        } else {
            let marker = Requirement::parse(value).map_or("", |r| r.marker);
            let dash = &code[..code.len() - quoted.len()];
            let eol = if line.ends_with("\r\n") { "\r\n" } else { "\n" };
            let quote = &quoted[..quote];
            let insertion = Insertion {
                at: start + body.len(),
                before: format!("{eol}{dash}{quote}"),
                after: format!("{marker}{quote}"),
            };
            requirement(planner, &range, (!aware).then_some(insertion));
        }
    }
}

/// `channel::name=version=build`.
pub(super) fn conda_package(planner: &mut Planner<'_>, range: &Range<usize>) {
    let text = &planner.text[range.clone()];
    let spec = text.rsplit("::").next().unwrap_or(text);
    let end = spec.find(['=', '<', '>', '!', ' ', '[']).unwrap_or(spec.len());
    let name = spec[..end].to_ascii_lowercase().replace('_', "-");
    let rules = Rules::builtin();
    if matches!(name.as_str(), "pytorch" | "pytorch-gpu" | "torch") {
        let version = spec[end..].trim_start_matches('=').split('=').next().unwrap_or_default();
        let detail = match partner(&format!("=={version}")) {
            Partner::Exact(version) => format!("torch-npu=={version}"),
            _ => "torch-npu".to_owned(),
        };
        if !asks_for_torch_npu(planner.text) || spec.contains("cuda") {
            planner.flag(rules.site(Place::RequirementsCondaTorch), range.clone(), Some(detail));
        }
    } else if let Some(rule) = package_rule(&name)
        && matches!(rule.action, Action::Flag | Action::Rewrite)
    {
        planner.flag(rule, range.clone(), Some(name));
    }
}
