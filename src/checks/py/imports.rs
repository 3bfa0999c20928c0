//! The imports of the installed packages, as far as the matrix contains them: the part of
//! `PY-CONSTRAINTS` that does not depend on their metadata.

use std::collections::BTreeSet;

use base::report::{Evidence, Severity};
use data::{
    RawFinding,
    findings::{py_constraints, py_numpy},
    matrix::Import,
};
use facts::Dist;

use crate::{Context, goal, pep};

/// The imports in this environment.
#[derive(Default)]
pub(super) struct Imported<'a> {
    /// Names of all imports.
    pub(super) names: BTreeSet<&'a str>,
    /// Names of the missing imports that a finding reports.
    pub(super) told: BTreeSet<&'a str>,
    /// Missing imports of packages of the goal that are newer than the table: they probably import
    /// them too.
    pub(super) likely: BTreeSet<String>,
}

/// Finds missing imports, with one finding for each package that does not start without them. If
/// several packages import one, only the first has the finding: first torch_npu, which imports
/// torch, then the packages that the goal starts.
pub(super) fn find<'a>(ctx: &Context<'a>) -> (Vec<RawFinding>, Imported<'a>) {
    let mut dists: Vec<&Dist> = ctx.facts.python.dists.iter().collect();
    dists.sort_by_key(|dist| (dist.name != "torch-npu", !goal::starts(ctx, &dist.name)));
    let mut imported = Imported::default();
    let found = dists.into_iter().flat_map(|dist| of_one(ctx, dist, &mut imported)).collect();
    (found, imported)
}

fn of_one<'a>(ctx: &Context<'a>, by: &'a Dist, imported: &mut Imported<'a>) -> Vec<RawFinding> {
    let python = &ctx.facts.python;
    let is_missing = |name: &&str| python.dist(name).is_none();
    let Some(version) = pep::version(&by.version) else { return Vec::new() };
    let starts = goal::starts(ctx, &by.name);
    let Some(row) = ctx.matrix.imports(&by.name, &version) else {
        // Only one release of Triton imports more than torch does.
        let tells = starts && by.name != "triton-ascend";
        if let Some(row) = ctx.matrix.imports_before(&by.name, &version).filter(|_| tells) {
            let needs = row.needs.iter().map(String::as_str).filter(is_missing);
            imported.likely.extend(needs.map(str::to_owned));
        }
        return Vec::new();
    };
    let beside = row.beside.iter().filter(|(other, _)| python.dist(other).is_some());
    let needed = row.needs.iter().chain(beside.flat_map(|(_, needs)| needs));
    let needs = needed.map(String::as_str).collect::<Vec<_>>();
    imported.names.extend(&needs);
    let missing: Vec<&str> =
        needs.into_iter().filter(is_missing).filter(|name| imported.told.insert(name)).collect();
    let severity = if starts { Severity::Error } else { Severity::Warning };
    let (elsewhere, published): (Vec<&str>, Vec<&str>) =
        missing.into_iter().partition(|name| row.elsewhere.contains_key(*name));
    let mut found = Vec::new();
    if !published.is_empty() {
        let raw = py_constraints::Imports {
            by: &by.name,
            by_version: &by.version,
            install: published.join(" "),
            interpreter: python.command(),
            packages: published.join(", "),
        };
        found.push(with_evidence(raw.at(severity), by, row, &published));
    }
    for name in elsewhere {
        let raw = py_constraints::Elsewhere {
            by: &by.name,
            by_version: &by.version,
            package: name,
            page: &row.elsewhere[name],
        };
        found.push(with_evidence(raw.at(severity), by, row, &[name]));
    }
    found
}

fn with_evidence(found: RawFinding, by: &Dist, row: &Import, missing: &[&str]) -> RawFinding {
    let imports = Evidence::data(&row.source).value(missing.join(", "));
    found.evidence(by.version_place()).evidence(imports).because(&[py_numpy::ID])
}
