//! Chooses the versions of a plan.
//!
//! Every row of the matrix that serves the goal is a candidate, with the CANN and the Python of the
//! machine and with others. Its cost is the sum of the required changes and of the remaining
//! findings of the version checks. The cheapest candidate wins. Of equal ones, the first wins:
//! candidates that keep installed versions come first, then recommended and newer ones.

use std::collections::BTreeSet;

use base::report::{Finding, Severity};
use base::version::Stage;
use data::{
    Component, InstallStep,
    findings::{drv_cann, drv_features},
    matrix::{Machine, Matrix, Parsed, Plan, RequestedVersions, VllmAscend, base},
};
use pep440_rs::Version;

use super::gather::{Gathered, gather};
use super::simulate::{self, Judgement, Versions};
use crate::compat_advice::{CompatRequest, describe_machine};
use crate::{Context, goal};

/// The Python versions to try in addition to that of the machine, the most common ones first.
const PYTHONS: [&str; 5] = ["3.11", "3.10", "3.12", "3.9", "3.13"];

/// Costs of changes. Only the order counts: another torch_npu is installed in minutes, another CANN
/// is a large download and often needs root, another torch may need other code, and another Python
/// requires a new environment. A change requested by a finding has the lowest cost.
const ASKED: u32 = 1;
const PACKAGE: u32 = 2;
const SERVER: u32 = 5;
const CANN: u32 = 10;
const TORCH: u32 = 14;
const PYTHON: u32 = 24;
/// A newer driver, on the host and in a container, which cannot change the driver.
const DRIVER: u32 = 12;
const DRIVER_OF_CONTAINER: u32 = 40;
const NEW_WARNING: u32 = 3;
/// The vendor accepts the pair, but does not recommend it.
const ACCEPTED_ONLY: u32 = 1;
/// A release candidate, if the machine has none.
const PRERELEASE: u32 = 4;
/// No table contains the combination of versions.
const UNTESTED: u32 = 6;
/// No step removes the error.
const CONTRADICTION: u32 = 1000;

/// The chosen versions.
pub(super) struct Choice {
    pub(super) versions: Versions,
    /// The commands that install them, and the requested parts of CANN.
    pub(super) install: Vec<InstallStep>,
    /// The results of the version checks. Of findings, only new errors and warnings are included.
    pub(super) judgement: Judgement,
}

/// The key of the version of a component: all parts of CANN share one.
pub(super) const fn version_key(part: Component) -> Component {
    match part {
        Component::Ops | Component::Nnal => Component::Toolkit,
        part => part,
    }
}

/// Chooses the versions; `None` if no row of the matrix fits the machine.
pub(super) fn choose(ctx: &Context<'_>, gathered: &Gathered, before: &[Finding]) -> Option<Choice> {
    let here = simulate::installed(ctx.facts);
    // The results of the static linker do not depend on versions, and they are large.
    let mut facts = ctx.facts.clone();
    facts.link = facts::Link::default();
    let ctx = &Context { facts: &facts, ..*ctx };
    let known: BTreeSet<&str> = before.iter().map(|found| found.title.en.as_str()).collect();
    let mut best: Option<(u32, Choice)> = None;
    let mut seen = BTreeSet::new();
    for (versions, plan, machine) in candidates(ctx, &here) {
        if !seen.insert(versions.clone()) {
            continue;
        }
        let mut judgement = simulate::judge(ctx, &versions);
        judgement.found.retain(|found| match found.severity {
            Severity::Error => true,
            Severity::Warning => !known.contains(found.title.en.as_str()),
            Severity::Info => false,
        });
        let untested: u32 = judgement.untested.iter().map(|_| UNTESTED).sum();
        let cost = cost_of_changes(&versions, &here, gathered)
            + untested
            + if plan.level() == "recommended" { 0 } else { ACCEPTED_ONLY }
            + if chooses_prerelease(&versions, &here) { PRERELEASE } else { 0 }
            + judgement.found.iter().map(|found| cost_of(ctx, found)).sum::<u32>();
        if best.as_ref().is_none_or(|(least, _)| cost < *least) {
            let install = install_steps(&plan, &machine, gathered);
            best = Some((cost, Choice { versions, install, judgement }));
        }
    }
    best.map(|(_, choice)| choice)
}

/// Returns whether the plan installs a release candidate of vllm-ascend.
fn chooses_prerelease(versions: &Versions, here: &Versions) -> bool {
    let chosen = versions.get(&Component::VllmAscend);
    let is_candidate =
        |version: &String| version.parse::<Version>().is_ok_and(|version| version.any_prerelease());
    chosen != here.get(&Component::VllmAscend) && chosen.is_some_and(is_candidate)
}

fn cost_of_changes(versions: &Versions, here: &Versions, gathered: &Gathered) -> u32 {
    let changed = simulate::changed(versions, here);
    let cost = |part: &Component| match part {
        // Components that are absent or contested can be chosen freely.
        part if gathered.chooses(*part) || gathered.asks(*part) && !here.contains_key(part) => {
            ASKED
        }
        Component::Torch if here.contains_key(&Component::Torch) => TORCH,
        Component::Vllm | Component::VllmAscend if here.contains_key(part) => SERVER,
        Component::Toolkit => CANN,
        Component::Python => PYTHON,
        _ => PACKAGE,
    };
    changed.iter().map(cost).sum()
}

fn cost_of(ctx: &Context<'_>, found: &Finding) -> u32 {
    if found.severity == Severity::Warning {
        return NEW_WARNING;
    }
    let steps = gather([found]);
    let all = steps.steps.iter().chain(steps.installs.values().flatten());
    let is_settled = all.into_iter().any(|step| step.phase.is_some());
    let of_driver = [drv_cann::ID, drv_features::ID].iter().any(|id| id.as_str() == found.id);
    match (of_driver, ctx.facts.host.container.inside == Some(true), is_settled) {
        (true, true, _) => DRIVER_OF_CONTAINER,
        (true, false, _) => DRIVER,
        // Choosing versions again would not resolve the finding, because this is the choice.
        (false, _, true) if steps.installs.keys().all(|part| *part == Component::Numpy) => PACKAGE,
        _ => CONTRADICTION,
    }
}

/// Combinations of versions in the rows of the matrix, and how to install them.
fn candidates(ctx: &Context<'_>, here: &Versions) -> Vec<(Versions, Plan, Machine)> {
    let machine = describe_machine(ctx.facts, &CompatRequest::default());
    let mut machines = vec![machine.clone()];
    for python in PYTHONS {
        if machine.python.as_deref().is_some_and(|own| own != python) {
            let interpreter = "python".to_owned();
            let python = Some(python.to_owned());
            machines.push(Machine { python, interpreter, ..machine.clone() });
        }
    }
    let wishes = wishes(ctx);
    let mut all = Vec::new();
    for machine in machines {
        let elsewhere = Machine { cann: None, ..machine.clone() };
        for (wish, plugin) in &wishes {
            let kept = RequestedVersions { cann: machine.cann.clone(), ..wish.clone() };
            let of_cann = |version| RequestedVersions { cann: Some(version), ..wish.clone() };
            // If torch_npu is requested, every CANN release is tried.
            let others = ctx
                .matrix
                .cann
                .iter()
                .filter(|row| wish.torch_npu.is_some() && row.version.stage == Stage::Release);
            let others: Vec<RequestedVersions> =
                others.map(|row| of_cann(row.version.clone())).collect();
            let tries = [(&kept, &machine), (wish, &elsewhere)];
            let tries = tries.into_iter().chain(others.iter().map(|wish| (wish, &elsewhere)));
            for (wish, machine) in tries {
                let Some(plan) = advise(ctx.matrix, wish, machine) else { continue };
                let versions = versions_of(&plan, *plugin, machine, here);
                if serves_chip(ctx.matrix, &versions, machine) {
                    // The commands name the installed CANN.
                    let there = Machine { cann: kept.cann.clone(), ..machine.clone() };
                    let plan = advise(ctx.matrix, &pinned(wish, &versions), &there).unwrap_or(plan);
                    all.push((versions, plan, there));
                }
            }
        }
    }
    all
}

/// The same request, for the chosen CANN.
fn pinned(wish: &RequestedVersions, versions: &Versions) -> RequestedVersions {
    let parse = |part| versions.get(&part).and_then(|text| text.parse().ok()).map(Parsed);
    RequestedVersions {
        cann: versions.get(&Component::Toolkit).and_then(|text| text.parse().ok()).map(Parsed),
        torch_npu: parse(Component::TorchNpu),
        ..wish.clone()
    }
}

fn advise(matrix: &Matrix, wish: &RequestedVersions, machine: &Machine) -> Option<Plan> {
    match &wish.mindspore {
        Some(version) => matrix.advise_mindspore(version, wish, machine).ok().map(Plan::MindSpore),
        None => matrix.advise(wish, machine).ok().map(Plan::Torch),
    }
}

/// The possible requests for the goal, those for installed versions first.
fn wishes<'a>(ctx: &Context<'a>) -> Vec<(RequestedVersions, Option<&'a VllmAscend>)> {
    let none = RequestedVersions::default;
    let version = |name: &str| -> Option<Version> {
        Some(base(&ctx.facts.python.dist(name)?.version.parse().ok()?))
    };
    let goal = goal::select(ctx);
    if goal == "mindspore" {
        let own = version("mindspore");
        let mut all: Vec<Version> = ctx.matrix.mindspore_versions().collect();
        all.sort_by_key(|version| {
            (own.as_ref() != Some(version), std::cmp::Reverse(version.clone()))
        });
        let wish = |version| RequestedVersions { mindspore: Some(Parsed(version)), ..none() };
        return all.into_iter().map(|version| (wish(version), None)).collect();
    }
    if goal == "vllm" || version("vllm-ascend").is_some() {
        let (own, vllm) = (version("vllm-ascend"), version("vllm"));
        let mut rows: Vec<&VllmAscend> = ctx.matrix.vllm_ascend.iter().collect();
        rows.sort_by_key(|row| {
            let serves =
                vllm.as_ref().is_some_and(|vllm| row.vllm.iter().any(|own| own.0 == *vllm));
            let is_own = own.as_ref() == Some(&row.version.0);
            let version = std::cmp::Reverse(row.version.0.clone());
            (!is_own, !serves, row.version.any_prerelease(), version)
        });
        let wish = |row: &VllmAscend| RequestedVersions {
            vllm_ascend: Some(row.version.clone()),
            ..none()
        };
        return rows.into_iter().map(|row| (wish(row), Some(row))).collect();
    }
    let npu = version("torch-npu")
        .map(|npu| RequestedVersions { torch_npu: Some(Parsed(npu)), ..none() });
    let torch = |version: Version| RequestedVersions { torch: Some(Parsed(version)), ..none() };
    let own = version("torch").map(|version| torch(version.only_release()));
    let mut others: Vec<Version> =
        ctx.matrix.torch_npu.iter().map(|row| row.torch.0.clone()).collect();
    others.sort_by(|a, b| b.cmp(a));
    others.dedup();
    let all = npu.into_iter().chain(own).chain([none()]).chain(others.into_iter().map(torch));
    all.map(|wish| (wish, None)).collect()
}

fn versions_of(
    plan: &Plan,
    plugin: Option<&VllmAscend>,
    machine: &Machine,
    here: &Versions,
) -> Versions {
    let mut versions = Versions::new();
    match plan {
        Plan::Torch(advice) => {
            versions.insert(Component::Torch, advice.torch.clone());
            versions.insert(Component::TorchNpu, advice.torch_npu.clone());
            versions.insert(Component::Toolkit, advice.cann.clone());
        }
        Plan::MindSpore(advice) => {
            versions.insert(Component::Mindspore, advice.mindspore.clone());
            versions.insert(Component::Toolkit, advice.cann.clone());
        }
    }
    if let Some(plugin) = plugin {
        versions.insert(Component::VllmAscend, plugin.version.to_string());
        let own = here.get(&Component::Vllm);
        let kept = plugin.vllm.iter().find(|vllm| Some(&vllm.to_string()) == own);
        if let Some(vllm) = kept.or(plugin.vllm.first()) {
            versions.insert(Component::Vllm, vllm.to_string());
        }
    }
    versions.extend(machine.python.clone().map(|python| (Component::Python, python)));
    versions
}

/// Returns whether the CANN has operators for the chip, as far as both are known.
fn serves_chip(matrix: &Matrix, versions: &Versions, machine: &Machine) -> bool {
    let cann = versions.get(&Component::Toolkit).and_then(|text| text.parse().ok());
    let (Some(cann), Some(chip)) = (cann, &machine.chip) else { return true };
    matrix.cann_serves_chip(&cann, chip)
}

/// The commands of a plan, and those for parts of an installed CANN.
fn install_steps(plan: &Plan, machine: &Machine, gathered: &Gathered) -> Vec<InstallStep> {
    let mut steps = plan.steps().to_vec();
    let (cann, atb) = match plan {
        Plan::Torch(advice) => (&advice.cann, true),
        Plan::MindSpore(advice) => (&advice.cann, false),
    };
    let has_cann = steps.iter().any(|step| step.installs == Some(Component::Toolkit));
    if !has_cann && let Ok(cann) = cann.parse() {
        let of_cann = Matrix::cann_steps(&cann, machine, atb);
        let asked = of_cann
            .into_iter()
            .filter(|step| step.installs.is_some_and(|part| gathered.installs.contains_key(&part)));
        steps.splice(0..0, asked);
    }
    steps
}
