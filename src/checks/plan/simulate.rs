//! Simulates other versions: changes the facts, and runs the version checks on them.

use std::collections::{BTreeMap, BTreeSet};

use pep440_rs::Version;

use base::report::{Finding, fold_consequences};
use base::text::Text;
use data::{
    Catalog, Component, FindingId, Outcome, RawFinding,
    findings::{
        drv_cann, drv_features, ms_cann, py_constraints, py_interp, py_numpy, tnpu_matrix,
        torch_version, vllm_pair, vllm_stack,
    },
    matrix::base,
};
use facts::{CannInstall, Dist, Facts, InfoFile};

use crate::Context;

/// Versions by component; CANN has the version of its toolkit.
pub(super) type Versions = BTreeMap<Component, String>;

/// The checks that compare only versions.
const CHECKS: [FindingId; 10] = [
    py_interp::ID,
    torch_version::ID,
    tnpu_matrix::ID,
    drv_cann::ID,
    drv_features::ID,
    py_numpy::ID,
    py_constraints::ID,
    vllm_pair::ID,
    vllm_stack::ID,
    ms_cann::ID,
];

/// Returns whether a finding belongs to one of these checks.
pub(super) fn judges(finding: &str) -> bool {
    CHECKS.iter().any(|id| id.as_str() == finding)
}

/// The versions of a machine, without local parts.
pub(super) fn installed(facts: &Facts) -> Versions {
    let packages = [
        Component::Vllm,
        Component::VllmAscend,
        Component::TritonAscend,
        Component::Torch,
        Component::TorchNpu,
        Component::Mindspore,
    ];
    let mut versions: Versions = packages
        .into_iter()
        .filter_map(|part| {
            let dist = facts.python.dist(part.distribution()?)?;
            let public = dist.version.parse::<Version>().map(|version| base(&version).to_string());
            Some((part, public.unwrap_or_else(|_| dist.version.clone())))
        })
        .collect();
    let cann = facts.cann.active().and_then(CannInstall::parsed_version);
    versions.extend(cann.map(|cann| (Component::Toolkit, cann.to_string())));
    versions.extend(python(facts).map(|python| (Component::Python, python)));
    versions
}

/// `3.11`
pub(crate) fn python(facts: &Facts) -> Option<String> {
    let version = facts.python.interpreter.as_ref()?.version.as_deref()?;
    let mut parts = version.split('.');
    Some(format!("{}.{}", parts.next()?, parts.next()?))
}

/// The components whose planned version differs from that of the machine.
pub(super) fn changed(planned: &Versions, here: &Versions) -> BTreeSet<Component> {
    planned
        .iter()
        .filter(|(part, version)| here.get(part) != Some(version))
        .map(|(part, _)| *part)
        .collect()
}

/// The results of the version checks for planned versions.
#[derive(Debug, Default)]
pub(super) struct Judgement {
    /// The findings, with their texts.
    pub(super) found: Vec<Finding>,
    /// The checks with complete inputs.
    pub(super) tested: Vec<&'static str>,
    /// The other checks, each with the reason.
    pub(super) untested: Vec<(&'static str, Text)>,
}

/// Runs the version checks with planned versions.
pub(super) fn judge(ctx: &Context<'_>, planned: &Versions) -> Judgement {
    let changed = changed(planned, &installed(ctx.facts));
    let facts = lay_over(ctx.facts, planned, &changed);
    let ctx = Context { facts: &facts, ..*ctx };
    let catalog = Catalog::builtin();
    let mut judgement = Judgement::default();
    for check in crate::all().filter(|check| CHECKS.contains(&check.id)) {
        let id = check.id.as_str();
        match (check.run)(&ctx) {
            Outcome::Passed => judgement.tested.push(id),
            Outcome::Found(found) | Outcome::FoundInPart(found, _) => {
                judgement.tested.push(id);
                // Installing a package also installs its imports.
                let brings = |found: &RawFinding| {
                    found.id == py_constraints::ID
                        && found.message == "imports"
                        && changed
                            .iter()
                            .filter_map(|part| part.distribution())
                            .any(|name| found.args.get("by").is_some_and(|by| by == name))
                };
                let found = found.into_iter().filter(|found| !brings(found));
                judgement.found.extend(found.map(|found| catalog.resolve(found)));
            }
            Outcome::NotChecked(reason) | Outcome::Blocked(reason) => {
                judgement.untested.push((id, catalog.reason(&reason)));
            }
            Outcome::NotApplicable(_) => {}
        }
    }
    judgement.found = fold_consequences(judgement.found);
    judgement
}

fn lay_over(facts: &Facts, planned: &Versions, changed: &BTreeSet<Component>) -> Facts {
    let mut facts = facts.clone();
    for part in changed {
        let version = &planned[part];
        match part.distribution() {
            Some(name) => set_package(&mut facts, name, version),
            None => match part {
                Component::Toolkit => set_cann(&mut facts, version),
                Component::Python => {
                    if let Some(interpreter) = &mut facts.python.interpreter {
                        interpreter.version = Some(version.clone());
                    }
                }
                _ => {}
            },
        }
    }
    facts
}

/// Replaces a package. The requirements of another release are unknown, so those of the matrix
/// apply.
fn set_package(facts: &mut Facts, name: &str, version: &str) {
    if name == "torch" {
        facts.python.torch.version_py = None;
    }
    let planned = Dist {
        name: name.to_owned(),
        version: version.to_owned(),
        metadata_ok: true,
        has_record: true,
        ..Dist::default()
    };
    match facts.python.dists.iter_mut().find(|dist| dist.name == name) {
        Some(dist) => *dist = planned,
        None => facts.python.dists.push(planned),
    }
}

fn set_cann(facts: &mut Facts, version: &str) {
    let info = InfoFile {
        fields: [("version".to_owned(), version.to_owned())].into(),
        ..InfoFile::default()
    };
    let install = CannInstall {
        kind: "toolkit".to_owned(),
        version: Some(version.to_owned()),
        info: Some(info),
        ..CannInstall::default()
    };
    facts.cann.installs = vec![install];
    facts.cann.env_paths.clear();
    facts.cann.links.clear();
}
