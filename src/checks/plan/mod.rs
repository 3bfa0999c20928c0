//! `check --plan`: the ordered steps to the goal.
//!
//! Input: facts and the report of a check. Output: steps, the resulting versions, and the results
//! of the version checks for them. A finding has its own remedy, so the remedies of several
//! findings may undo each other. Versions are therefore chosen together ([`choose`]): each
//! candidate replaces the versions in the facts, the version checks run over them ([`simulate`]),
//! and the candidate with the fewest remaining changes wins. Findings of the version checks have
//! steps only if the checks still report them for the chosen versions.

mod choose;
mod gather;
mod order;
mod simulate;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use base::report::{Coverage, Need, Report, Severity};
use base::text::Text;
use data::{Component, InstallStep, Phase, Requirement, ui};

use super::Context;
pub(crate) use simulate::python;

use choose::Choice;
use gather::Gathered;

/// The steps that lead to the goal.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct RepairPlan {
    /// The goal.
    pub goal: String,
    /// The versions after the plan, by component; empty if the plan chooses no version.
    pub versions: BTreeMap<Component, String>,
    /// The steps, in order.
    pub steps: Vec<PlanStep>,
    /// The checks that ran over these versions.
    pub tested: Vec<String>,
    /// Checks whose inputs were missing, with the reason.
    pub untested: Vec<Untested>,
    /// Remaining findings that no step removes.
    pub remaining: Vec<Remaining>,
    /// Links of the goal that could not be examined, with the evidence that would settle them.
    pub open: Vec<Text>,
    /// Number of warnings and remarks that are not part of the plan.
    pub left_out: usize,
}

/// One step.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PlanStep {
    /// The phase of the step; null if it only describes an action.
    pub phase: Option<Phase>,
    /// Requirements in addition to its command.
    pub needs: Vec<Requirement>,
    /// The description of the action.
    pub text: Text,
    /// The command line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The findings that request it.
    pub findings: Vec<String>,
}

impl PlanStep {
    /// Returns whether it loads the environment of CANN or NNAL.
    fn sources(&self) -> bool {
        self.phase == Some(Phase::Environment)
            && self.run.as_ref().is_some_and(|run| run.starts_with("source "))
    }

    /// Returns whether only version checks request it, which run again over the planned versions.
    fn is_judged(&self) -> bool {
        self.findings.iter().all(|id| simulate::judges(id))
    }
}

/// A finding that remains in the planned versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Remaining {
    /// The finding.
    pub id: String,
    /// Its severity.
    pub severity: Severity,
    /// Its title.
    pub title: Text,
}

/// A check that could not run over the planned versions.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Untested {
    /// The check.
    pub id: String,
    /// The reason.
    pub reason: Text,
}

/// Plans the steps from the state of a report to its goal.
pub fn plan(ctx: &Context<'_>, report: &Report) -> RepairPlan {
    let errors: Vec<_> =
        report.findings.iter().filter(|found| found.severity == Severity::Error).collect();
    let mut gathered = gather::gather(errors.iter().copied());
    let choice = (!gathered.installs.is_empty())
        .then(|| choose::choose(ctx, &gathered, &report.findings))
        .flatten();
    let mut plan = RepairPlan {
        goal: report.proof.as_ref().map(|proof| proof.goal.id.to_owned()).unwrap_or_default(),
        versions: BTreeMap::new(),
        steps: Vec::new(),
        tested: Vec::new(),
        untested: Vec::new(),
        remaining: Vec::new(),
        open: open_points(report),
        left_out: report.findings.len() - errors.len(),
    };
    if let Some(choice) = choice {
        // The chosen versions replace the requests for other versions.
        gathered.steps.retain(|step| !step.is_judged());
        let mut steps = std::mem::take(&mut gathered.steps);
        install(ctx, &gathered, &choice, &mut steps);
        // Remaining findings have separate steps, such as a newer driver or an older numpy.
        let errors =
            choice.judgement.found.iter().filter(|found| found.severity == Severity::Error);
        let after = gather::gather(errors);
        let settled = |id: &str| {
            let all = after.steps.iter().chain(after.installs.values().flatten());
            all.filter(|step| step.phase.is_some())
                .any(|step| step.findings.iter().any(|by| by == id))
        };
        plan.remaining = (choice.judgement.found.iter())
            .filter(|found| !settled(&found.id))
            .map(|found| Remaining {
                id: found.id.clone(),
                severity: found.severity,
                title: found.title.clone(),
            })
            .collect();
        steps.extend(after.steps.into_iter().filter(|step| step.phase.is_some()));
        steps.extend(after.installs.into_values().flatten());
        plan.steps = steps;
        plan.tested = choice.judgement.tested.into_iter().map(str::to_owned).collect();
        let untested = choice.judgement.untested.into_iter();
        plan.untested =
            untested.map(|(id, reason)| Untested { id: id.to_owned(), reason }).collect();
        plan.versions = choice.versions;
    } else {
        // No table contains compatible versions, so only the steps of the findings remain.
        plan.steps = gathered.steps;
        plan.steps.extend(gathered.installs.into_values().flatten());
    }
    plan.steps = order::put_in_order(plan.steps);
    plan
}

/// Adds the steps for the chosen versions.
fn install(ctx: &Context<'_>, gathered: &Gathered, choice: &Choice, steps: &mut Vec<PlanStep>) {
    let here = simulate::installed(ctx.facts);
    let mut changed = simulate::changed(&choice.versions, &here);
    if changed.contains(&Component::Python) {
        // A new environment has no package yet.
        let packages = choice.install.iter().filter_map(|step| step.installs);
        changed.extend(packages.filter(|part| part.distribution().is_some()));
    }
    let due = due(gathered, &changed);
    // A package that gets another version needs no repair of the installed one.
    steps.retain(|step| {
        let run = step.run.as_deref().unwrap_or_default();
        !changed.iter().filter_map(|part| part.distribution()).any(|name| gather::names(run, name))
    });
    let mut findings_of_environment = BTreeSet::new();
    if due.contains(&Component::Toolkit) || due.contains(&Component::Nnal) {
        let sourcing = steps.extract_if(.., |step| step.sources());
        findings_of_environment.extend(sourcing.flat_map(|step| step.findings));
        findings_of_environment.extend(gathered.all_findings());
    }
    if let Some(python) = choice.versions.get(&Component::Python)
        && changed.contains(&Component::Python)
    {
        steps.push(PlanStep {
            phase: Some(Phase::Python),
            needs: Vec::new(),
            text: ui::PlanPython { python }.text(),
            run: Some(new_environment(ctx, python)),
            findings: gathered.findings(Component::Python),
        });
    }
    for InstallStep { installs, run, again } in &choice.install {
        let environment = PlanStep {
            phase: Some(Phase::Environment),
            needs: Vec::new(),
            text: ui::PLAN_ENVIRONMENT.text(),
            run: Some(run.clone()),
            findings: findings_of_environment.iter().cloned().collect(),
        };
        let Some(part) = *installs else {
            if !findings_of_environment.is_empty() {
                steps.push(environment);
            }
            continue;
        };
        if !due.contains(&part) {
            continue;
        }
        let is_cann = part.distribution().is_none();
        let sources = run.starts_with("source ");
        let again = again.as_ref().filter(|_| !changed.contains(&part));
        let version = choice.versions.get(&choose::version_key(part)).cloned().unwrap_or_default();
        let (name, version) = (part_name(part), &version);
        let text = match again {
            _ if sources => ui::PLAN_ENVIRONMENT.text(),
            Some(_) => ui::PlanAgain { name, version }.text(),
            None => ui::PlanInstall { name, version }.text(),
        };
        let own = gathered.findings(part);
        steps.push(PlanStep {
            phase: Some(if is_cann { Phase::Cann } else { Phase::Packages }),
            needs: if is_cann && !sources { vec![Requirement::Root] } else { Vec::new() },
            text,
            run: Some(again.unwrap_or(run).clone()),
            findings: if own.is_empty() { gathered.all_findings() } else { own },
        });
    }
    // Components in no row of the matrix keep the steps of their findings.
    for (part, own) in &gathered.installs {
        let described = choice.install.iter().any(|step| step.installs == Some(*part));
        if !described {
            steps.extend(own.iter().filter(|step| !step.is_judged()).cloned());
        }
    }
}

/// The command for an environment with another Python: that of conda if conda is in use.
fn new_environment(ctx: &Context<'_>, python: &str) -> String {
    let interpreter = ctx.facts.python.interpreter.as_ref();
    if interpreter.is_some_and(|interpreter| interpreter.kind == "conda") {
        return format!("conda create -n ascend python={python} && conda activate ascend");
    }
    format!("python{python} -m venv ~/ascend && . ~/ascend/bin/activate")
}

/// The components to install or reinstall.
fn due(gathered: &Gathered, changed: &BTreeSet<Component>) -> BTreeSet<Component> {
    let mut due: BTreeSet<Component> = gathered.asked().chain(changed.iter().copied()).collect();
    if changed.contains(&Component::Toolkit) {
        due.extend([Component::Ops, Component::Nnal]);
    }
    // Installing vLLM replaces torch, which must be corrected afterwards.
    let vllm = [Component::Vllm, Component::VllmAscend];
    if vllm.iter().any(|part| due.contains(part)) {
        due.extend([Component::Torch, Component::TorchNpu]);
    }
    due
}

/// Links of the goal that could not be examined.
fn open_points(report: &Report) -> Vec<Text> {
    let links = report.proof.iter().flat_map(|proof| &proof.links);
    let open = links.filter(|link| link.need == Need::Required).filter_map(|link| {
        let Coverage::NotExamined { reason, settle } = &link.coverage else { return None };
        let name = &link.name;
        Some(Text::new(
            format!("{}: {}. {}", name.en, reason.en, settle.en),
            format!("{}：{}。{}", name.zh, reason.zh, settle.zh),
        ))
    });
    open.collect()
}

/// The name of a component in a sentence.
fn part_name(part: Component) -> Text {
    Text::same(match part {
        Component::Driver => return ui::COMPAT_DRIVER.text(),
        Component::Ops => return ui::PLAN_OPS.text(),
        Component::Toolkit => "CANN toolkit",
        Component::Nnal => "NNAL",
        Component::Python => "Python",
        Component::Vllm => "vLLM",
        Component::VllmAscend => "vllm-ascend",
        Component::TritonAscend => "triton-ascend",
        Component::Torch => "torch",
        Component::TorchNpu => "torch_npu",
        Component::Mindspore => "MindSpore",
        Component::Numpy => "numpy",
    })
}
