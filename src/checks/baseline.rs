//! Comparison of two states of one host: the changes, and their relevance.
//!
//! A change matters if it is evidence for a finding of the newer state. If checks examine the
//! changed component but no finding depends on it, the change is harmless. Changes that no check
//! examines are listed last.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use base::report::{EvidenceKind, Finding, Severity};
use base::text::Text;
use data::ui;
use facts::{Facts, normalize_name};

use crate::overview::{OF_ONE_PROCESS, fingerprint};

/// Members of the fingerprint that only show that other members differ.
const DIGESTS: [&str; 2] = ["env_hash", "elf_hash"];
/// Packages whose requirements are examined.
const FRAMEWORKS: [&str; 7] =
    ["torch", "torch-npu", "vllm", "vllm-ascend", "mindspore", "triton-ascend", "sglang"];
/// Maximum length of a value in the table of the report, in characters.
const MAX_SHOWN: usize = 120;

/// The comparison of a report with an earlier one.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Baseline {
    /// The file of the earlier report.
    pub report: String,
    /// The collection time of the earlier facts, in seconds since 1970, UTC.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub taken: Option<u64>,
    /// The changes, those that matter first.
    pub changes: Vec<Change>,
    /// IDs of findings that the earlier report does not have.
    pub new: Vec<String>,
    /// IDs of findings that only the earlier report has.
    pub gone: Vec<String>,
}

/// A change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Change {
    /// The changed component, such as `driver`, or `package NAME`, `env NAME`, `limit NAME`, `npu
    /// N.M`.
    pub what: String,
    /// The earlier value; `null` if it was absent.
    pub before: Option<String>,
    /// The present value; `null` if it is absent.
    pub now: Option<String>,
    /// The relevance of the change.
    pub effect: Effect,
    /// IDs of the errors and warnings that depend on it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub findings: Vec<String>,
}

/// The relevance of a change.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// A finding depends on it.
    Matters,
    /// A reduction: a missing device, or a missing package of a framework.
    Lost,
    /// The checks examine it and found nothing.
    Harmless,
    /// No check examines it.
    NotExamined,
}

/// The relevant contents of an earlier report.
#[derive(Debug)]
pub struct Earlier<'a> {
    /// Its file.
    pub report: &'a str,
    /// Its facts.
    pub facts: &'a Facts,
    /// ID and English title of its errors and warnings.
    pub findings: &'a BTreeSet<(String, String)>,
}

/// Compares the present state with an earlier one. `findings` are those of the present state, with
/// their consequences.
pub fn compare(earlier: &Earlier<'_>, facts: &Facts, findings: &[Finding]) -> Baseline {
    let mut present = Vec::new();
    for finding in findings {
        flatten(finding, &mut present);
    }
    let grave = || present.iter().filter(|finding| finding.severity > Severity::Info);
    let own: BTreeSet<(String, String)> =
        grave().map(|finding| (finding.id.clone(), finding.title.en.clone())).collect();
    let ids = |from: &BTreeSet<(String, String)>, without: &BTreeSet<(String, String)>| {
        let ids: BTreeSet<&String> = from.difference(without).map(|(id, _)| id).collect();
        ids.into_iter().cloned().collect::<Vec<_>>()
    };
    let (old, new) = (state(earlier.facts), state(facts));
    let keys: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let required = required(facts);
    let mut changes: Vec<Change> = keys
        .into_iter()
        .filter(|key| old.get(*key) != new.get(*key))
        .map(|key| {
            let (before, now) = (old.get(key).cloned(), new.get(key).cloned());
            let findings: BTreeSet<String> = grave()
                .filter(|finding| rests_on(finding, key, now.as_deref()))
                .map(|finding| finding.id.clone())
                .collect();
            let effect = if !findings.is_empty() {
                Effect::Matters
            } else if is_loss(key, before.as_deref(), now.as_deref(), &required) {
                Effect::Lost
            } else if is_examined(key, &required) {
                Effect::Harmless
            } else {
                Effect::NotExamined
            };
            let findings = findings.into_iter().collect();
            Change { what: key.clone(), before, now, effect, findings }
        })
        .collect();
    changes.sort_by_key(|change| change.effect);
    Baseline {
        report: earlier.report.to_owned(),
        taken: earlier.facts.taken,
        changes,
        new: ids(&own, earlier.findings),
        gone: ids(earlier.findings, &own),
    }
}

fn flatten<'a>(finding: &'a Finding, all: &mut Vec<&'a Finding>) {
    all.push(finding);
    for inner in &finding.consequences {
        flatten(inner, all);
    }
}

/// The compared values, by name.
fn state(facts: &Facts) -> BTreeMap<String, String> {
    let mut state = BTreeMap::new();
    let mut put = |key: String, value: Option<String>| {
        if let Some(value) = value {
            state.insert(key, value);
        }
    };
    let components = serde_json::to_value(fingerprint(facts)).unwrap_or_default();
    for (key, value) in components.as_object().into_iter().flatten() {
        if !DIGESTS.contains(&key.as_str()) {
            let text = value.as_str().map(str::to_owned);
            put(key.clone(), text.or_else(|| value.as_u64().map(|number| number.to_string())));
        }
    }
    put("kernel".to_owned(), facts.host.kernel.clone());
    put("os".to_owned(), facts.host.os_pretty.clone());
    let mut installs: Vec<String> = facts
        .cann
        .installs
        .iter()
        .map(|one| format!("{} ({})", one.version.as_deref().unwrap_or("?"), one.path))
        .collect();
    installs.sort();
    put("cann installations".to_owned(), (!installs.is_empty()).then(|| installs.join(", ")));
    let own = ["torch", "torch-npu", "vllm", "vllm-ascend", "mindspore", "triton-ascend"];
    for dist in facts.python.dists.iter().rev() {
        if !own.contains(&dist.name.as_str()) {
            put(format!("package {}", dist.name), Some(dist.version.clone()));
        }
    }
    for (name, value) in &facts.env.vars {
        if !OF_ONE_PROCESS.contains(&name.as_str()) {
            put(format!("env {name}"), Some(value.clone()));
        }
    }
    for (name, limit) in &facts.site.limits {
        let value = limit.map_or_else(|| "unlimited".to_owned(), |limit| limit.to_string());
        put(format!("limit {name}"), Some(value));
    }
    for chip in facts.driver.npu_smi.iter().flat_map(|smi| &smi.chips) {
        put(
            format!("npu {}.{}", chip.npu, chip.chip),
            Some(format!("{} {}", chip.name, chip.health)),
        );
    }
    state
}

/// Packages that the frameworks require.
fn required(facts: &Facts) -> BTreeSet<String> {
    let frameworks = FRAMEWORKS.iter().filter_map(|name| facts.python.dist(name));
    let lines = frameworks.flat_map(|dist| &dist.requires);
    lines
        .map(|line| {
            let end = line.find(|c: char| !c.is_ascii_alphanumeric() && !"-_.".contains(c));
            normalize_name(&line[..end.unwrap_or(line.len())])
        })
        .collect()
}

/// Returns whether a finding has this component as evidence.
fn rests_on(finding: &Finding, key: &str, now: Option<&str>) -> bool {
    let (kind, name) = key.split_once(' ').unwrap_or((key, ""));
    finding.evidence.iter().any(|evidence| {
        let source = evidence.source.as_str();
        let of_file = |part: &str| evidence.kind == EvidenceKind::File && source.contains(part);
        match kind {
            "env" => evidence.kind == EvidenceKind::Env && source == name,
            "package" => of_package(source, name),
            "limit" => of_file("/limits") && finding.title.en.contains(name),
            "driver" | "firmware" => of_file(&format!("/{kind}/version.info")),
            "torch" | "torch_npu" | "vllm" | "vllm_ascend" | "mindspore" | "triton_ascend" => {
                of_package(source, &normalize_name(kind))
            }
            "cann" => {
                let version =
                    |now: &str| evidence.value.as_deref().is_some_and(|value| value.contains(now));
                evidence.kind == EvidenceKind::File
                    && source.contains("scend")
                    && now.is_some_and(version)
            }
            "devices" | "npu" => {
                source.starts_with("/dev/davinci") || source.starts_with("/sys/bus/pci")
            }
            "python" => source.contains("/bin/python"),
            "kernel" => source.contains("osrelease") || source.starts_with("uname"),
            "os" => source.contains("os-release"),
            _ => false,
        }
    })
}

/// Returns whether a path is in the metadata or in the directory of a package.
fn of_package(source: &str, name: &str) -> bool {
    source.split('/').any(|part| {
        let part = part.split_once(".dist-info").map_or(part, |(name, _version)| name);
        let own = part.split_once('-').map_or(part, |(name, _version)| name);
        normalize_name(own) == name
    })
}

/// Returns whether the change removes something that a job needs.
fn is_loss(
    key: &str,
    before: Option<&str>,
    now: Option<&str>,
    required: &BTreeSet<String>,
) -> bool {
    let number = |value: Option<&str>| value.and_then(|value| value.parse::<u64>().ok());
    if let ("devices", Some(before), Some(now)) = (key, number(before), number(now)) {
        return now < before;
    }
    if let Some(before) = before.filter(|_| key.starts_with("npu ")) {
        return now.is_none() || before.ends_with(" OK");
    }
    now.is_none() && !key.starts_with("env ") && is_examined(key, required)
}

fn is_examined(key: &str, required: &BTreeSet<String>) -> bool {
    key.strip_prefix("package ").is_none_or(|name| required.contains(name))
}

impl Change {
    /// The change as a row of a table: effect, component, before and now.
    pub fn row(&self) -> Vec<Text> {
        let effect = match self.effect {
            Effect::Matters => Text::same(self.findings.join(", ")),
            Effect::Lost => ui::BASELINE_LOST.text(),
            Effect::Harmless => ui::BASELINE_HARMLESS.text(),
            Effect::NotExamined => ui::BASELINE_NOT_EXAMINED.text(),
        };
        let (before, now) = (self.before.as_deref(), self.now.as_deref());
        let list = |value: Option<&str>| value.is_some_and(|value| value.contains(":/"));
        let change = if self.what.starts_with("env ") && (list(before) || list(now)) {
            Text::same(entries(before.unwrap_or_default(), now.unwrap_or_default()))
        } else {
            let absent = ui::SITE_ABSENT.text();
            let shown = |value: Option<&str>| {
                value.map_or_else(|| absent.clone(), |value| Text::same(shorten(value)))
            };
            let (before, now) = (shown(before), shown(now));
            Text::new(format!("{} → {}", before.en, now.en), format!("{} → {}", before.zh, now.zh))
        };
        vec![effect, Text::same(self.what.as_str()), change]
    }
}

/// Formats the entries that a search path gained and lost.
fn entries(before: &str, now: &str) -> String {
    let (old, new): (Vec<&str>, Vec<&str>) =
        (before.split(':').collect(), now.split(':').collect());
    let lost = old.iter().filter(|entry| !new.contains(entry)).map(|entry| format!("− {entry}"));
    let gained = new.iter().filter(|entry| !old.contains(entry)).map(|entry| format!("+ {entry}"));
    let all: Vec<String> = lost.chain(gained).collect();
    shorten(&if all.is_empty() { format!("↕ {now}") } else { all.join(", ") })
}

fn shorten(value: &str) -> String {
    match value.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &value[..end]),
        None => value.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::{dist, facts_with, python};
    use base::report::Evidence;

    fn machine() -> Facts {
        let mut torch = dist("torch", "2.7.1");
        torch.requires = vec!["filelock>=3".to_owned(), "sympy".to_owned()];
        let mut facts = facts_with(
            python("3.11"),
            vec![torch, dist("filelock", "3.18"), dist("sympy", "1.14"), dist("black", "25")],
        );
        facts.devices.dev_listed = true;
        facts.env.known = true;
        facts.env.vars.insert("PATH".to_owned(), "/a:/b".to_owned());
        facts.env.vars.insert("RANK".to_owned(), "0".to_owned());
        facts
    }

    fn effects(before: &Facts, now: &Facts, findings: &[Finding]) -> Vec<(String, Effect)> {
        let none = BTreeSet::new();
        let earlier = Earlier { report: "before.json", facts: before, findings: &none };
        let changes = compare(&earlier, now, findings).changes;
        changes.into_iter().map(|change| (change.what, change.effect)).collect()
    }

    #[test]
    fn equal_states_have_no_change() {
        let mut now = machine();
        now.env.vars.insert("RANK".to_owned(), "7".to_owned());
        assert_eq!(effects(&machine(), &now, &[]), []);
    }

    #[test]
    fn changes_are_sorted_by_their_effect() {
        let mut now = machine();
        now.python.dists.retain(|dist| dist.name != "sympy" && dist.name != "black");
        for dist in &mut now.python.dists {
            "3.19".clone_into(&mut dist.version);
        }
        now.env.vars.insert("PATH".to_owned(), "/a:/c".to_owned());
        let torch = Finding {
            severity: Severity::Error,
            evidence: vec![Evidence::file("/s/torch-3.19.dist-info/METADATA")],
            ..Finding::remark("TORCH-VERSION")
        };
        let name = |text: &str| text.to_owned();
        assert_eq!(
            effects(&machine(), &now, &[torch]),
            [
                (name("torch"), Effect::Matters),
                (name("package sympy"), Effect::Lost),
                (name("env PATH"), Effect::Harmless),
                (name("package filelock"), Effect::Harmless),
                (name("package black"), Effect::NotExamined),
            ]
        );
    }

    #[test]
    fn search_paths_show_what_changed() {
        assert_eq!(entries("/a:/b", "/a:/c"), "− /b, + /c");
        assert_eq!(entries("/a:/b", "/b:/a"), "↕ /b:/a");
    }

    #[test]
    fn paths_belong_to_packages() {
        assert!(of_package("/s/torch_npu-2.7.1.dist-info/METADATA", "torch-npu"));
        assert!(of_package("/s/torch_npu/lib/libtorch_npu.so", "torch-npu"));
        assert!(!of_package("/s/torch_npu-2.7.1.dist-info/METADATA", "torch"));
    }
}
