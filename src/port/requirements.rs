//! Requirements of a project for packages in the matrix.

use std::str::FromStr as _;
use std::sync::LazyLock;

use base::report::{Coverage, Evidence, Finding, FixStep, Report, Severity, Table};
use base::text::Text;
use data::{Matrix, ui};
use pep440_rs::{Version, VersionSpecifiers};
use regex::{Captures, Regex};
use serde::Serialize;

/// The ID of a requirement that no release satisfies.
const ID: &str = "PORT-REQUIREMENT";
/// Maximum number of releases to name.
const FEW: usize = 5;
/// Maximum length of a line, in bytes.
const LINE: usize = 500;

/// Whether a release of the stack satisfies a requirement.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub(crate) enum RequirementState {
    /// At least one release does.
    Fits,
    /// None does.
    Conflict,
    /// The specifier cannot be read.
    Unread,
}

/// A requirement of a package in the matrix.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub(crate) struct Requirement {
    /// `torch`, `vllm` or `mindspore`.
    pub name: String,
    /// The specifier as written, for example `>=2.1,<2.5`. Empty if any version is accepted.
    pub specifier: String,
    /// The file.
    pub file: String,
    /// The line, from 1.
    pub line: u32,
    /// The result.
    pub state: RequirementState,
    /// Releases that satisfy it and support NPUs, the newest first.
    pub fitting: Vec<String>,
}

/// A requirement as written in a requirements file, or quoted in `pyproject.toml` or `setup.py`.
static WRITTEN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)^\s*(?:-\s+)?["']?(torch|vllm|mindspore)\s*(?:\[[^\]]*\])?\s*((?:[<>=!~@][^;#"']*)?)["']?\s*(?:,|;|#|\]|$)"#,
    )
    .expect("a constant")
});

/// Requirements in quotes, of which a line may contain several: `["torch>=2.1", "numpy"]`, and keys
/// of poetry: `torch = "^2.1"`.
static QUOTED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r#"(?i)(?:["']|^\s*)(torch|vllm|mindspore)\s*(?:\[[^\]]*\])?\s*([<>=!~@][^;"']*|=\s*["'][^"']*)(?:;[^"']*)?["']"#,
    )
    .expect("a constant")
});

/// The requirements in a file for packages in the matrix.
pub(crate) fn read_requirements(file: &str, text: &str) -> Vec<Requirement> {
    let lines = (1..).zip(text.lines()).filter(|(_, line)| line.len() <= LINE);
    let is_code = file.ends_with(".toml") || file.ends_with(".py");
    let found = lines.filter(|(_, text)| !text.trim_start().starts_with('#'));
    let found = found.flat_map(|(line, text)| {
        let form = if is_code { &QUOTED } else { &WRITTEN };
        let found = form.captures_iter(text).map(|captures: Captures<'_>| Requirement {
            name: captures[1].to_ascii_lowercase(),
            // Options of pip may follow: hashes, and the continuation mark.
            specifier: captures[2]
                .split(" --")
                .next()
                .unwrap_or_default()
                .trim_end_matches(['\\', ' ', ','])
                .to_owned(),
            file: file.to_owned(),
            line,
            state: RequirementState::Unread,
            fitting: Vec::new(),
        });
        found.collect::<Vec<_>>()
    });
    found.collect()
}

/// Compares requirements with the releases in the matrix.
pub(crate) fn judge(requirements: &[Requirement]) -> Vec<Requirement> {
    let judged = requirements.iter().map(|one| {
        let mut one = one.clone();
        let specifiers = VersionSpecifiers::from_str(&one.specifier).ok();
        if let Some(specifiers) = specifiers {
            let mut fitting = releases(&one.name);
            fitting.retain(|version| specifiers.contains(version));
            one.fitting = fitting.iter().map(ToString::to_string).collect();
            one.state = if one.fitting.is_empty() {
                RequirementState::Conflict
            } else {
                RequirementState::Fits
            };
        }
        one
    });
    judged.collect()
}

/// The releases of a package that support NPUs, the newest first.
fn releases(name: &str) -> Vec<Version> {
    let matrix = Matrix::builtin();
    let mut all: Vec<Version> = match name {
        "torch" => matrix.torch_npu.iter().map(|row| row.torch.0.clone()).collect(),
        "vllm" => {
            let rows = matrix.vllm_ascend.iter();
            rows.flat_map(|row| row.vllm.iter().map(|version| version.0.clone())).collect()
        }
        _ => matrix.mindspore.iter().filter_map(|row| row.version.parse().ok()).collect(),
    };
    all.sort_by(|a, b| b.cmp(a));
    all.dedup();
    all
}

/// The finding of a requirement that no release satisfies.
pub(super) fn finding(requirement: &Requirement) -> Option<Finding> {
    if requirement.state != RequirementState::Conflict {
        return None;
    }
    let Requirement { name, specifier, file, line, .. } = requirement;
    let mut finding = Finding::remark(ID);
    finding.severity = Severity::Error;
    finding.title = ui::PortRequirement { name, specifier }.text();
    finding.cause = ui::PORT_REQUIREMENT_WHY.text();
    let written = format!("{name}{specifier}");
    finding.evidence = vec![Evidence::file(file).line(*line).value(written)];
    let known: Vec<String> = releases(name).iter().take(FEW).map(ToString::to_string).collect();
    let text = ui::PortRequirementFix { name, known: known.join(", ") }.text();
    finding.fix = vec![FixStep { text, run: Some("ascend-doctor compat".to_owned()) }];
    Some(finding)
}

/// The coverage of the requirements.
pub(super) fn coverage(
    all: &[Requirement],
    convert: &Report,
    open: &dyn Fn(Text) -> Coverage,
) -> Coverage {
    if let Some(conflict) = all.iter().find(|one| one.state == RequirementState::Conflict) {
        let place = (conflict.file.trim_start_matches("./").to_owned(), conflict.line);
        let known = convert.findings.iter().find(|one| super::places(one).contains(&place));
        return Coverage::contradicted(known.map_or(ID, |one| one.id.as_str()));
    }
    if let Some(unread) = all.iter().find(|one| one.state == RequirementState::Unread) {
        let place = format!("{}:{}", unread.file, unread.line);
        return open(ui::PortRequirementUnread { place }.text());
    }
    if all.is_empty() {
        return Coverage::NotApplicable { reason: ui::PORT_NO_REQUIREMENTS.text() };
    }
    Coverage::Shown
}

pub(super) fn table(all: &[Requirement]) -> Option<Table> {
    let rows = all.iter().map(|one| {
        let place = format!("{}:{}", one.file, one.line);
        let fitting: Vec<&str> = one.fitting.iter().take(FEW).map(String::as_str).collect();
        [place, format!("{}{}", one.name, one.specifier), fitting.join(", ")]
            .map(Text::same)
            .to_vec()
    });
    let rows: Vec<_> = rows.collect();
    (!rows.is_empty()).then(|| Table {
        title: ui::PORT_REQUIREMENTS.text(),
        head: [ui::TRIAGE_PLACE, ui::PORT_REQUIRED, ui::PORT_FITTING].map(ui::Label::text).to_vec(),
        rows,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn state(line: &str) -> Option<RequirementState> {
        judge(&read_requirements("requirements.txt", line)).first().map(|one| one.state)
    }

    #[test]
    fn specifiers_are_compared_with_releases() {
        for (line, expected) in [
            ("torch", Some(RequirementState::Fits)),
            ("torch>=2.1", Some(RequirementState::Fits)),
            ("torch==2.1.0  # pinned", Some(RequirementState::Fits)),
            ("torch==1.2.0", Some(RequirementState::Conflict)),
            ("torch>=99", Some(RequirementState::Conflict)),
            ("torch==2.1.0 --hash=sha256:0", Some(RequirementState::Fits)),
            // An unreadable requirement is unknown.
            ("torch>=banana", Some(RequirementState::Unread)),
            ("torch @ https://example.com/torch.whl", Some(RequirementState::Unread)),
            ("torchvision>=0.9", None),
            ("# torch==1.2.0", None),
            ("import torch.nn", None),
        ] {
            assert_eq!(state(line), expected, "{line}");
        }
    }

    #[test]
    fn several_requirements_in_quotes_are_read() {
        let line = "dependencies = [\"numpy\", \"torch==1.2\", 'vllm>=0.9 ; python_version>\"3\"']";
        let found = judge(&read_requirements("p/pyproject.toml", line));
        let found: Vec<_> = found.iter().map(|one| (one.name.as_str(), one.state)).collect();
        let (no, yes) = (RequirementState::Conflict, RequirementState::Fits);
        assert_eq!(found, [("torch", no), ("vllm", yes)]);
        let poetry = judge(&read_requirements("pyproject.toml", "torch = \"^2.1\""));
        assert_eq!(poetry[0].state, RequirementState::Unread);
        assert!(read_requirements("setup.py", "import_module(\"torch\")").is_empty());
    }
}
