//! Checks whether the environment selects one CANN installation and is complete.

use data::{
    Outcome, Reason,
    findings::{cann_env, cann_home, cann_mixed},
};
use std::collections::{BTreeMap, BTreeSet};

use super::{has_npu, is_workload, no_env, no_install};
use crate::{Context, Profile};
use base::report::{Evidence, Severity};
use facts::{CannInstall, EnvPath};

/// A part of the environment that `set_env.sh` sets.
struct Part {
    variable: &'static str,
    /// The suffix of the relevant entry, if the variable is a list.
    suffix: &'static str,
    /// Whether the usual workloads run without it.
    minor: bool,
}

const PARTS: &[Part] = &[
    Part { variable: "ASCEND_HOME_PATH", suffix: "", minor: false },
    Part { variable: "ASCEND_OPP_PATH", suffix: "", minor: false },
    Part { variable: "LD_LIBRARY_PATH", suffix: "/lib64", minor: false },
    Part { variable: "PYTHONPATH", suffix: "/python/site-packages", minor: false },
    Part { variable: "ASCEND_AICPU_PATH", suffix: "", minor: true },
    Part { variable: "PATH", suffix: "/bin", minor: true },
];

pub(super) fn complete(ctx: &Context<'_>) -> Outcome {
    if ctx.profile == Profile::Node {
        // The shell that checks a cluster node does not run a workload.
        return Outcome::NotApplicable(Reason::OtherProfile);
    }
    if let Some(outcome) = no_install(ctx).or_else(|| no_env(ctx)) {
        return outcome;
    }
    let cann = &ctx.facts.cann;
    let set: Vec<&Part> = PARTS.iter().filter(|part| is_set(ctx, part)).collect();
    let lacking: Vec<&Part> =
        PARTS.iter().filter(|part| !is_set(ctx, part) && !is_made_up_for(ctx, part)).collect();
    if lacking.is_empty() {
        return Outcome::Passed;
    }
    let Some(install) = cann.active() else { return Outcome::NotApplicable(Reason::NoCann) };
    let script = install.set_env.clone().unwrap_or_else(|| format!("{}/set_env.sh", install.path));
    let names = lacking.iter().map(|part| part.variable).collect::<Vec<_>>().join(", ");
    let present = set.iter().map(|part| part.variable).collect::<Vec<_>>().join(", ");
    let root = &install.path;
    // Without a framework, the NPU is for a CANN program, which starts from this environment.
    let needed = is_workload(ctx) || has_npu(ctx);
    let mut found = if set.is_empty() {
        let severity = if needed { Severity::Error } else { Severity::Info };
        cann_env::NotSourced { set_env: script, root, lacking: names }.at(severity)
    } else if lacking.iter().all(|part| part.minor) {
        cann_env::Minor { set_env: script, lacking: names, present }.info()
    } else {
        let severity = if needed { Severity::Error } else { Severity::Warning };
        cann_env::Incomplete { set_env: script, root, lacking: names, present }.at(severity)
    };
    for part in lacking {
        found =
            found.evidence(Evidence::env(part.variable).value_if(ctx.facts.env.get(part.variable)));
    }
    found = found.evidence(Evidence::file(&install.path).value(describe(install)));
    // Variables that point to a removed directory explain the missing ones.
    vec![found.because(&[cann_home::ID])].into()
}

fn describe(install: &CannInstall) -> String {
    let version = install.version.as_deref().unwrap_or("version unknown");
    format!("CANN {} {version}", install.kind)
}

fn is_set(ctx: &Context<'_>, part: &Part) -> bool {
    ctx.facts.cann.env_paths.iter().any(|path| {
        let same = path.variable == part.variable
            // Older programs set only `ASCEND_TOOLKIT_HOME`; both variables name the root.
            || (part.variable == "ASCEND_HOME_PATH" && path.variable == "ASCEND_TOOLKIT_HOME");
        let entry = path.entry.trim_end_matches('/');
        same && path.root.is_some() && entry.ends_with(part.suffix)
    })
}

/// Returns whether the purpose of the variable is fulfilled in another way.
fn is_made_up_for(ctx: &Context<'_>, part: &Part) -> bool {
    let resolves = |name: &str| {
        let link = &ctx.facts.link;
        link.env_known && link.probes.get(name).is_some_and(Option::is_some)
    };
    match part.variable {
        "LD_LIBRARY_PATH" => resolves("libascendcl.so") && resolves("libhccl.so"),
        "PYTHONPATH" => {
            let python = &ctx.facts.python;
            python.dist("te").is_some()
                || python.site_dirs.iter().any(|dir| is_cann_python(ctx, dir))
        }
        _ => false,
    }
}

fn is_cann_python(ctx: &Context<'_>, dir: &str) -> bool {
    ctx.facts.cann.installs.iter().any(|install| install.contains(dir))
}

/// Variables in which the first entry of an installation wins.
const MIXABLE: &[&str] = &[
    "ASCEND_HOME_PATH",
    "ASCEND_TOOLKIT_HOME",
    "ASCEND_TOOLKIT_LATEST_HOME",
    "ASCEND_OPP_PATH",
    "ASCEND_AICPU_PATH",
    "TOOLCHAIN_HOME",
    "LD_LIBRARY_PATH",
    "PYTHONPATH",
    "PATH",
];

pub(super) fn mixed(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_install(ctx).or_else(|| no_env(ctx)) {
        return outcome;
    }
    let cann = &ctx.facts.cann;
    let relevant =
        |path: &&EnvPath| path.root.is_some() && MIXABLE.contains(&path.variable.as_str());
    let paths: Vec<&EnvPath> = cann.env_paths.iter().filter(relevant).collect();
    let roots: BTreeSet<&str> = paths.iter().filter_map(|path| path.root.as_deref()).collect();
    if roots.is_empty() {
        return Outcome::NotApplicable(Reason::NoCann);
    }
    if roots.len() == 1 {
        return Outcome::Passed;
    }
    // The first entry of each variable, which selects the installation.
    let mut first: BTreeMap<&str, &EnvPath> = BTreeMap::new();
    for path in &paths {
        first.entry(path.variable.as_str()).or_insert(path);
    }
    // A program of another version on PATH does not make a process load both.
    let selecting = first.values().filter(|path| path.variable != "PATH");
    let selected: BTreeSet<&str> = selecting.filter_map(|path| path.root.as_deref()).collect();
    let main = cann.selected().map(|install| install.path.as_str()).unwrap_or_default();
    let others: Vec<&str> = roots.iter().copied().filter(|root| *root != main).collect();
    let script = cann.install(main).and_then(|install| install.set_env.clone());
    let others = others.iter().map(|root| format!("`{root}`")).collect::<Vec<_>>().join(", ");
    let set_env = script.unwrap_or_else(|| format!("{main}/set_env.sh"));
    let found = if selected.len() > 1 {
        cann_mixed::Conflict { main, others, set_env }.error()
    } else {
        cann_mixed::Leftover { main, others, set_env }.warning()
    };
    let odd = paths.iter().filter(|path| path.root.as_deref() != Some(main));
    let evidence =
        first.values().chain(odd).map(|path| (path.variable.as_str(), path.entry.as_str()));
    let evidence: BTreeSet<_> = evidence.collect();
    let found = evidence
        .into_iter()
        .fold(found, |found, (name, entry)| found.evidence(Evidence::env(name).value(entry)));
    vec![found].into()
}
