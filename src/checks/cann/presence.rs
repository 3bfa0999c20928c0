//! Checks whether CANN is installed, and whether links and variables point to it.

use super::{no_env, user};
use crate::{Context, Profile, npu};
use base::report::Evidence;
use data::{
    Outcome, RawFinding, Reason,
    findings::{cann_found, cann_home, cann_links},
    ui,
};
use facts::{EnvPath, is_below};

/// Variables whose directories are essential. `TOOLCHAIN_HOME` is not one of them, because not
/// every version has the directory that its `set_env.sh` names.
const HOMES: &[&str] =
    &["ASCEND_HOME_PATH", "ASCEND_TOOLKIT_HOME", "ASCEND_OPP_PATH", "ASCEND_AICPU_PATH"];

pub(super) fn found(ctx: &Context<'_>) -> Outcome {
    let cann = &ctx.facts.cann;
    if !cann.installs.is_empty() {
        return Outcome::Passed;
    }
    if ctx.profile == Profile::Node {
        return Outcome::NotApplicable(Reason::OtherProfile);
    }
    if let Some(problem) = npu::hidden_cann(ctx.facts) {
        return Outcome::Blocked(Reason::Unreadable { what: problem.place().into() });
    }
    let mut searched = vec!["/usr/local/Ascend".to_owned()];
    searched.extend(cann.bases.iter().filter(|base| *base != "/usr/local/Ascend").cloned());
    let dirs = searched.join(", ");
    let found = match user(ctx) {
        Some(package) => cann_found::Needed { package, searched: dirs }.error(),
        None if ctx.profile.needs_cann() || ctx.require_npu => {
            cann_found::Required { searched: dirs }.error()
        }
        None => return Outcome::NotApplicable(Reason::NoCann),
    };
    let evidence = searched.iter().map(|base| Evidence::file(base).says(ui::SEEN_NO_CANN.text()));
    vec![evidence.fold(found, RawFinding::evidence)].into()
}

/// The name of the only installation next to a link.
fn sibling<'a>(ctx: &Context<'a>, link: &str) -> Option<&'a str> {
    let (dir, _) = link.rsplit_once('/')?;
    let cann = &ctx.facts.cann;
    let roots = cann.installs.iter().map(|install| install.path.as_str());
    let roots = roots.chain(cann.nnal.iter().map(|nnal| nnal.path.as_str()));
    let mut beside = roots.filter_map(|root| root.strip_prefix(dir)?.strip_prefix('/'));
    let only = beside.next().filter(|name| !name.contains('/'))?;
    beside.next().is_none().then_some(only)
}

pub(super) fn links(ctx: &Context<'_>) -> Outcome {
    let cann = &ctx.facts.cann;
    if cann.links.is_empty() {
        return Outcome::NotApplicable(Reason::NoCann);
    }
    let mut out = Vec::new();
    for link in cann.links.iter().filter(|link| link.real.is_none()) {
        let evidence = Evidence::file(&link.path).value(format!("-> {}", link.target));
        let used = cann.env_paths.iter().find(|path| is_below(&path.entry, &link.path));
        let (path, target) = (&link.path, &link.target);
        let found = match (used, sibling(ctx, &link.path)) {
            (Some(EnvPath { variable, .. }), Some(have)) => {
                cann_links::DanglingRenewed { have, path, target, variable }.error()
            }
            (Some(EnvPath { variable, .. }), None) => {
                cann_links::DanglingUsed { path, target, variable }.error()
            }
            (None, _) => cann_links::Dangling { path, target }.warning(),
        };
        out.push(found.evidence(evidence));
    }
    // `latest` of 8.3 and older is a directory whose links should all point to one version.
    for dir in cann.links.iter().filter(|link| link.target.is_empty()) {
        let inside = || {
            cann.links
                .iter()
                .filter(|link| link.path != dir.path && is_below(&link.path, &dir.path))
        };
        let odd = inside().filter(|link| link.root.is_some() && link.root != dir.root);
        for link in odd {
            let (root, main) = (link.root.as_deref(), dir.root.as_deref());
            out.push(
                cann_links::Disagree {
                    dir: &dir.path,
                    main: main.unwrap_or_default(),
                    path: &link.path,
                    root: root.unwrap_or_default(),
                }
                .warning()
                .evidence(Evidence::file(&link.path).value(format!("-> {}", link.target))),
            );
        }
    }
    out.into()
}

pub(super) fn home(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_env(ctx) {
        return outcome;
    }
    let cann = &ctx.facts.cann;
    let homes: Vec<&EnvPath> =
        cann.env_paths.iter().filter(|path| HOMES.contains(&path.variable.as_str())).collect();
    if homes.is_empty() {
        return Outcome::NotApplicable(Reason::NoCann);
    }
    if let Some(path) = homes.iter().find(|path| path.denied) {
        return Outcome::Blocked(Reason::Unreadable { what: path.entry.clone() });
    }
    let gone: Vec<&EnvPath> = homes
        .iter()
        .copied()
        // A missing `opp` of an existing installation is a defect of that installation.
        .filter(|path| path.real.is_none() && !has_install(ctx, path))
        .collect();
    if let Some(found) = missing(ctx, &gone) {
        return vec![found].into();
    }
    let is_home = |path: &&&EnvPath| path.variable.ends_with("_HOME_PATH");
    let strange = homes.iter().filter(is_home).filter(|path| path.root.is_none());
    strange
        .filter(|path| path.real.is_some())
        .map(|path| {
            let (root, set_env) = suggestion(ctx);
            cann_home::NotCann { variable: &path.variable, path: &path.entry, root, set_env }
                .warning()
                .evidence(Evidence::env(&path.variable).value(&path.entry))
        })
        .collect::<Vec<_>>()
        .into()
}

/// Returns whether the existing part of the path is inside an installation.
fn has_install(ctx: &Context<'_>, path: &EnvPath) -> bool {
    let nearest = path.nearest.as_deref().unwrap_or_default();
    let cann = &ctx.facts.cann;
    cann.installs.iter().any(|install| install.contains(nearest))
        || cann.links.iter().any(|link| link.root.is_some() && is_below(nearest, &link.path))
}

/// Creates one finding for all variables that point to missing directories, because they were set
/// together.
fn missing(ctx: &Context<'_>, gone: &[&EnvPath]) -> Option<RawFinding> {
    let first = gone.first()?;
    let cann = &ctx.facts.cann;
    let (variable, path) = (&first.variable, &first.entry);
    let found = if cann.active().is_some() {
        let (root, set_env) = suggestion(ctx);
        cann_home::Missing { path, root, set_env, variable }.error()
    } else {
        cann_home::MissingAll { path, variable }.error()
    };
    let found = gone.iter().fold(found, |found, path| {
        found.evidence(Evidence::env(&path.variable).value(&path.entry))
    });
    let found = match &first.nearest {
        Some(dir) => found.evidence(Evidence::file(dir).says(ui::SEEN_EXISTS_SO_FAR.text())),
        None => found,
    };
    let dangling = cann.links.iter().any(|link| {
        link.real.is_none() && gone.iter().any(|path| is_below(&path.entry, &link.path))
    });
    let found = if dangling { found.because(&[cann_links::ID]) } else { found };
    Some(found.because(&[cann_found::ID]))
}

/// The newest installation, and the path of its `set_env.sh`.
fn suggestion(ctx: &Context<'_>) -> (String, String) {
    let newest = ctx.facts.cann.newest();
    let root = newest.map(|install| install.path.clone()).unwrap_or_default();
    let script = newest.and_then(|install| install.set_env.clone());
    let script = script.unwrap_or_else(|| format!("{root}/set_env.sh"));
    (root, script)
}
