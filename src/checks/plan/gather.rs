//! Gathers the steps that findings request.

use std::collections::{BTreeMap, BTreeSet};

use base::report::Finding;
use data::{Catalog, Component, FixTemplate};

use super::PlanStep;

/// The components whose versions a plan chooses.
const PACKAGES: [Component; 7] = [
    Component::Vllm,
    Component::VllmAscend,
    Component::TritonAscend,
    Component::Torch,
    Component::TorchNpu,
    Component::Mindspore,
    Component::Numpy,
];

/// The requests of findings.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// Steps that do not depend on the chosen versions.
    pub(super) steps: Vec<PlanStep>,
    /// Components to install, with the steps of the findings that request it.
    pub(super) installs: BTreeMap<Component, Vec<PlanStep>>,
}

impl Gathered {
    /// The components to install regardless of the chosen versions: a step removes them, or they
    /// are damaged.
    pub(super) fn asked(&self) -> impl Iterator<Item = Component> {
        let asked =
            |steps: &Vec<PlanStep>| steps.is_empty() || steps.iter().any(|step| !step.is_judged());
        self.installs.iter().filter(move |(_, steps)| asked(steps)).map(|(part, _)| *part)
    }

    /// Returns whether findings request a component.
    pub(super) fn asks(&self, part: Component) -> bool {
        self.installs.contains_key(&part)
    }

    /// Returns whether findings request another version of a component.
    pub(super) fn chooses(&self, part: Component) -> bool {
        self.installs.get(&part).is_some_and(|steps| steps.iter().any(PlanStep::is_judged))
    }

    /// The findings that request a component.
    pub(super) fn findings(&self, part: Component) -> Vec<String> {
        let steps = self.installs.get(&part).into_iter().flatten();
        let all: BTreeSet<&String> = steps.flat_map(|step| &step.findings).collect();
        all.into_iter().cloned().collect()
    }

    /// The findings that request any component.
    pub(super) fn all_findings(&self) -> Vec<String> {
        let all: BTreeSet<String> =
            self.installs.keys().flat_map(|part| self.findings(*part)).collect();
        all.into_iter().collect()
    }
}

/// Gathers the steps of findings. A finding whose steps change nothing keeps its first one, so that
/// every error is covered.
pub(super) fn gather<'a>(findings: impl IntoIterator<Item = &'a Finding>) -> Gathered {
    let mut gathered = Gathered::default();
    for finding in findings {
        let templates = templates(finding);
        let paired = finding.fix.iter().zip(templates);
        let steps: Vec<(&FixTemplate, PlanStep)> = paired
            .map(|(fix, template)| {
                let step = PlanStep {
                    phase: template.phase,
                    needs: template.needs.clone(),
                    text: fix.text.clone(),
                    run: fix.run.clone(),
                    findings: vec![finding.id.clone()],
                };
                (template, step)
            })
            .collect();
        let acts = steps.iter().any(|(template, _)| template.phase.is_some());
        if !acts {
            gathered.steps.extend(steps.into_iter().next().map(|(_, step)| step));
            continue;
        }
        for (template, step) in steps {
            if template.phase.is_none() {
                continue;
            }
            if template.installs.is_empty() {
                for part in removed(&step) {
                    gathered.installs.entry(part).or_default();
                }
                gathered.steps.push(step);
            } else {
                for part in &template.installs {
                    gathered.installs.entry(*part).or_default().push(step.clone());
                }
            }
        }
    }
    gathered
}

/// The components that a step removes, so that they must be installed afterwards.
fn removed(step: &PlanStep) -> impl Iterator<Item = Component> {
    let run = step.run.clone().unwrap_or_default();
    let removes = run.contains("-m pip uninstall") && !run.contains("-m pip install");
    let is_named = move |part: &Component| {
        removes && part.distribution().is_some_and(|name| names(&run, name))
    };
    PACKAGES.into_iter().filter(is_named)
}

fn templates(finding: &Finding) -> &'static [FixTemplate] {
    let entry = Catalog::builtin().entry(&finding.id);
    let message = entry.and_then(|entry| entry.message.get(&finding.message));
    message.map_or(&[], |message| message.fix.as_slice())
}

/// Returns whether a pip command names a distribution.
pub(super) fn names(run: &str, distribution: &str) -> bool {
    let Some((_, arguments)) = run.split_once("-m pip ") else { return false };
    let is_name = |c: char| c.is_alphanumeric() || "-_.".contains(c);
    let normal = |word: &str| word.to_ascii_lowercase().replace(['_', '.'], "-");
    arguments.split_whitespace().filter(|word| !word.starts_with('-')).any(|word| {
        let word = word.trim_matches(['\'', '"']);
        let name = word.split(|c| !is_name(c)).next().unwrap_or_default();
        normal(name) == distribution
    })
}
