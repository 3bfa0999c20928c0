//! Requirements in the metadata of installed packages, including extras.

use std::collections::{BTreeMap, BTreeSet};

use pep508_rs::MarkerEnvironment;

use super::constraints::is_torch;
use crate::{Context, pep};
use facts::Dist;

/// Maximum number of checked requirements of one package, including those of extras. vllm has some
/// 80.
const MAX_REQUIREMENTS: usize = 2000;
/// Maximum number of checked requirements below the packages of a goal. Those of vllm have some
/// 5,000.
const MAX_BELOW: usize = 50_000;

/// The requirements of a package that apply here, including those of requested extras of other
/// packages, each with the package whose metadata has it.
pub(super) fn declared<'a>(
    ctx: &Context<'a>,
    env: &MarkerEnvironment,
    by: &'a Dist,
) -> Vec<(&'a Dist, pep::Requirement)> {
    let lines = by.requires.iter().filter_map(|line| pep::requirement(line, env));
    let mut all: Vec<(&Dist, pep::Requirement)> = lines.map(|one| (by, one)).collect();
    let version = pep::version(&by.version);
    let row = version.as_ref().and_then(|version| ctx.matrix.imports(&by.name, version));
    if let Some(row) = row.filter(|row| !row.extras.is_empty()) {
        let more = pep::of_extras(&by.requires, env, &row.extras);
        all.extend(more.into_iter().map(|one| (by, one)));
    }
    let mut seen = BTreeSet::new();
    let mut at = 0;
    while at < all.len() && all.len() < MAX_REQUIREMENTS {
        let (name, extras) = (all[at].1.name.clone(), all[at].1.extras.clone());
        at += 1;
        if extras.is_empty() || !seen.insert((name.clone(), extras.clone())) {
            continue;
        }
        if let Some(other) = ctx.facts.python.dist(&name) {
            let more = pep::of_extras(&other.requires, env, &extras);
            all.extend(more.into_iter().map(|one| (other, one)));
        }
    }
    all
}

/// Required packages that are not installed, with the package that requires them.
pub(super) fn missing<'a>(
    ctx: &Context<'a>,
    declared: Vec<(&'a Dist, pep::Requirement)>,
) -> Vec<(&'a Dist, String)> {
    let absent = declared.into_iter().filter(|(_, one)| ctx.facts.python.dist(&one.name).is_none());
    absent.map(|(by, one)| (by, one.name)).collect()
}

/// Required packages that are not installed, following the requirements of installed ones
/// recursively; and whether all were checked. Each name appears once, with the first package that
/// requires it. The requirements of torch are omitted.
pub(super) fn missing_below<'a>(
    ctx: &Context<'a>,
    env: &MarkerEnvironment,
    roots: &[&'a Dist],
) -> (Vec<(&'a Dist, String)>, bool) {
    let installed: BTreeMap<&str, &Dist> =
        ctx.facts.python.dists.iter().rev().map(|dist| (dist.name.as_str(), dist)).collect();
    let mut left = MAX_BELOW;
    let mut found: Vec<(&Dist, String)> = Vec::new();
    let mut names = BTreeSet::new();
    let mut todo = roots.to_vec();
    let mut seen: BTreeSet<&str> = todo.iter().map(|dist| dist.name.as_str()).collect();
    while let Some(dist) = todo.pop() {
        for (by, requirement) in declared(ctx, env, dist) {
            left = left.saturating_sub(1);
            match installed.get(requirement.name.as_str()) {
                None => {
                    if names.insert(requirement.name.clone()) {
                        found.push((by, requirement.name));
                    }
                }
                Some(other) if is_torch(&other.name) || left == 0 => {}
                Some(other) => {
                    if seen.insert(&other.name) {
                        todo.push(other);
                    }
                }
            }
        }
    }
    found.sort_by(|a, b| (&a.0.name, &a.1).cmp(&(&b.0.name, &b.1)));
    (found, left > 0)
}
