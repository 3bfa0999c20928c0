//! Checks whether an installation is complete, consistent and readable.

use data::{
    Outcome, RawFinding, Reason,
    findings::{cann_arch, cann_components, cann_customopp, cann_owner, cann_partial, host_arch},
    ui,
};
use std::collections::{BTreeMap, BTreeSet};

use super::{is_active, is_workload, no_install};
use crate::{Context, Profile};
use base::report::{Evidence, Severity, UNKNOWN_VERSION};
use base::version::{CannVersion, PackageRange};
use facts::{CannInstall, InfoFile};

pub(super) fn arch(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_install(ctx) {
        return outcome;
    }
    let Some(host) = ctx.facts.host.arch.as_deref() else {
        return Outcome::NotChecked(Reason::ArchUnknown);
    };
    let Some(install) = ctx.facts.cann.active() else {
        return Outcome::NotApplicable(Reason::NoCann);
    };
    let Some(arch) = install.arch.as_deref() else {
        return Outcome::NotChecked(Reason::ArchUnknown);
    };
    if same_arch(arch, host) {
        return Outcome::Passed;
    }
    let info = install.info.as_ref();
    let place = info.map_or_else(|| Evidence::file(&install.path), |info| info.place("arch"));
    let found = cann_arch::Other { arch, host, root: &install.path }
        .error()
        .because(&[host_arch::ID])
        .evidence(place.value(format!("arch={arch}")));
    vec![found].into()
}

fn same_arch(one: &str, other: &str) -> bool {
    let plain = |arch: &str| match arch.to_ascii_lowercase().as_str() {
        "arm64" => "aarch64".to_owned(),
        "amd64" | "x86-64" => "x86_64".to_owned(),
        arch => arch.to_owned(),
    };
    plain(one) == plain(other)
}

/// Libraries that a runtime-only package (nnrt) contains, too.
const RUNTIME: &[&str] = &["libascendcl.so", "libgraph.so"];

pub(super) fn partial(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_install(ctx) {
        return outcome;
    }
    ctx.facts
        .cann
        .installs
        .iter()
        .flat_map(|install| damage(ctx, install))
        .collect::<Vec<_>>()
        .into()
}

/// The missing parts of one installation, the most severe first; one finding if one defect explains
/// all.
fn damage(ctx: &Context<'_>, install: &CannInstall) -> Vec<RawFinding> {
    let active = is_active(ctx, install);
    let grave = if active && (is_workload(ctx) || ctx.profile != Profile::General) {
        Severity::Error
    } else {
        Severity::Warning
    };
    let root = &install.path;
    let version = install.version.as_deref().unwrap_or(UNKNOWN_VERSION);
    let wanted = |name: &str| install.kind != "nnrt" || RUNTIME.contains(&name);
    let missing: Vec<&str> = install
        .libraries
        .iter()
        .filter(|(name, path)| path.is_none() && wanted(name))
        .map(|(name, _)| name.as_str())
        .collect();
    let mut out = Vec::new();
    if !missing.is_empty() {
        let all = missing.len() == install.libraries.len();
        let names = missing.join(", ");
        let found = if all {
            cann_partial::Hollow { root, version, missing: names }.at(grave)
        } else {
            cann_partial::Libraries { root, version, missing: names }.at(grave)
        };
        out.push(missing.iter().fold(found, |found, name| {
            let path = format!("{}/lib64/{name}", install.path);
            found.evidence(Evidence::file(path).says(ui::SEEN_NO_FILE.text()))
        }));
    }
    if install.info.is_none() && missing.is_empty() {
        let path = format!("{}/ascend_{}_install.info", install.path, install.kind);
        out.push(
            cann_partial::NoInfo { root, version, path: &path }
                .warning()
                .evidence(Evidence::file(&path).says(ui::SEEN_MISSING_ARCH.text())),
        );
    }
    if let Some(info) = &install.info {
        out.extend(disagreement(install, info).map(|(named, stated)| {
            cann_partial::Disagrees { root, version, path: &info.path, named }
                .warning()
                .evidence(info.place("version").value(format!("version={stated}")))
        }));
        for key in ["version", "arch"] {
            if info.get(key).is_none() {
                let found = cann_partial::NoField { root, version, path: &info.path, key };
                out.push(found.warning().evidence(Evidence::file(&info.path)));
            }
        }
    }
    if install.set_env.is_none() && install.kind != "nnrt" {
        // Images set the variables themselves and do not need the script.
        let sourced = ctx.facts.env.known
            && ctx
                .facts
                .cann
                .env_paths
                .iter()
                .any(|path| path.root.as_deref() == Some(&install.path));
        let severity = if sourced || !active { Severity::Info } else { Severity::Warning };
        let path = format!("{}/set_env.sh", install.path);
        let found = cann_partial::NoScript { root, version, path: &path }.at(severity);
        out.push(found.evidence(Evidence::file(&path).says(ui::SEEN_MISSING.text())));
    }
    out
}

/// The version in the directory's name, if it differs from that of the info file.
fn disagreement<'i>(install: &'i CannInstall, info: &'i InfoFile) -> Option<(String, &'i str)> {
    let name = install.path.rsplit('/').next()?;
    let name = name.strip_prefix("cann-").unwrap_or(name);
    let named: CannVersion = name.parse().ok()?;
    let version = info.get("version")?;
    (version.parse::<CannVersion>().ok()? != named).then(|| (name.to_owned(), version))
}

pub(super) fn components(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_install(ctx) {
        return outcome;
    }
    let mut out = Vec::new();
    for install in &ctx.facts.cann.installs {
        let grave = if is_active(ctx, install) { Severity::Error } else { Severity::Warning };
        for path in &install.unversioned {
            let file = format!("{path}/version.info");
            out.push(
                cann_components::NoVersionFile { path: &file, root: &install.path }
                    .warning()
                    .evidence(Evidence::file(&file).says(ui::SEEN_MISSING.text())),
            );
        }
        for info in install.components.values().filter(|info| !info.fields.is_empty()) {
            if info.get("Version").is_none() && info.get("version").is_none() {
                out.push(
                    cann_components::NoVersion { path: &info.path, root: &install.path }
                        .warning()
                        .evidence(Evidence::file(&info.path)),
                );
            }
        }
        out.extend(refused(install, grave));
    }
    out.into()
}

/// Finds components that other components refuse, or that refuse others, by the ranges in their
/// version files.
fn refused(install: &CannInstall, severity: Severity) -> Vec<RawFinding> {
    // The requiring component, the required one, the range as written, and the installed version.
    let mut clashes: Vec<(&str, &str, &str, &str)> = Vec::new();
    let names: BTreeMap<String, &str> =
        install.components.keys().map(|name| (plain(name), name.as_str())).collect();
    for (by, info) in &install.components {
        for (key, range) in &info.fields {
            let package =
                key.strip_prefix("required_package_").and_then(|k| k.strip_suffix("_version"));
            let Some(package) = package else { continue };
            let Some(name) = names.get(&plain(package)) else { continue };
            let Some(version) = install.components[*name].get("Version") else { continue };
            let Ok(parsed) = range.parse::<PackageRange>() else { continue };
            if parsed.accepts(version) == Some(false) {
                clashes.push((by, name, range, version));
            }
        }
    }
    // The component with most clashes is the odd one. Its clashes are removed, and the rest is
    // examined again.
    let mut out = Vec::new();
    while !clashes.is_empty() {
        let mut votes: BTreeMap<&str, usize> = BTreeMap::new();
        for (by, name, _, _) in &clashes {
            *votes.entry(by).or_default() += 1;
            *votes.entry(name).or_default() += 1;
        }
        // With equal votes, the finding names the refused component, not the refusing one.
        let refused: BTreeSet<&str> = clashes.iter().map(|(_, name, _, _)| *name).collect();
        let odd = votes.iter().max_by_key(|(name, votes)| (**votes, refused.contains(*name)));
        let Some(odd) = odd.map(|(name, _)| *name) else { break };
        let (own, rest): (Vec<_>, Vec<_>) =
            clashes.into_iter().partition(|(by, name, _, _)| *by == odd || *name == odd);
        clashes = rest;
        let info = &install.components[odd];
        let (by, _, range, _) = own.iter().find(|(_, name, _, _)| *name == odd).unwrap_or(&own[0]);
        let mut found = cann_components::Refused {
            by: *by,
            component: odd,
            range: *range,
            root: &install.path,
            version: info.get("Version").unwrap_or(UNKNOWN_VERSION),
        }
        .at(severity)
        .evidence(info.place("Version").value_if(info.get("Version")));
        for (by, name, range, version) in &own {
            let key = format!("required_package_{}_version", plain(name));
            let value = format!("requires {name} {range}, there is {version}");
            found = found.evidence(install.components[*by].place(&key).value(value));
        }
        out.push(found);
    }
    out
}

/// A component's name in the form of the keys of version files: `tools/aoe` becomes `aoe`, and `-`
/// becomes `_`.
fn plain(name: &str) -> String {
    name.rsplit('/').next().unwrap_or(name).replace('-', "_")
}

pub(super) fn custom_opp(ctx: &Context<'_>) -> Outcome {
    let cann = &ctx.facts.cann;
    let mut out = Vec::new();
    for install in &cann.installs {
        let config = format!("{}/opp/vendors/config.ini", install.path);
        for (name, _) in install.custom_opp.iter().filter(|(_, there)| !there) {
            let dir = format!("{}/opp/vendors/{name}", install.path);
            out.push(
                cann_customopp::Vendor { config: &config, name, path: &dir }
                    .warning()
                    .evidence(
                        Evidence::file(&config)
                            .line_if(install.custom_opp_line)
                            .value(format!("load_priority … {name}")),
                    )
                    .evidence(Evidence::file(&dir).says(ui::SEEN_MISSING.text())),
            );
        }
    }
    let custom = cann.env_paths.iter().filter(|path| path.variable == "ASCEND_CUSTOM_OPP_PATH");
    for path in custom.clone().filter(|path| path.real.is_none() && !path.denied) {
        out.push(
            cann_customopp::Variable { path: &path.entry }
                .warning()
                .evidence(Evidence::env(&path.variable).value(&path.entry)),
        );
    }
    let nothing = custom.count() == 0 && cann.installs.iter().all(|i| i.custom_opp.is_empty());
    if nothing { Outcome::NotApplicable(Reason::NoCustomOpp) } else { out.into() }
}

pub(super) fn owner(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_install(ctx) {
        return outcome;
    }
    let process = &ctx.facts.process;
    let mut out = Vec::new();
    for install in ctx.facts.cann.installs.iter().filter(|install| is_active(ctx, install)) {
        if let Some(first) = install.unreadable.first() {
            let uid = process.uid.map_or_else(|| "-".to_owned(), |uid| uid.to_string());
            let found = cann_owner::Unreadable { path: first, root: &install.path, uid }.error();
            out.push(install.unreadable.iter().fold(found, |found, path| {
                found.evidence(Evidence::file(path).says(ui::SEEN_NO_ACCESS.text()))
            }));
        } else if process.uid.is_none() {
            return Outcome::NotChecked(Reason::ProcessUnknown);
        } else if install.owner.is_none() {
            return Outcome::NotChecked(Reason::OwnerUnknown);
        }
        let loose = install.owner.filter(|owner| owner.mode & 0o002 != 0);
        if let Some(owner) = loose {
            out.push(
                cann_owner::Writable { path: &install.path }.warning().evidence(
                    Evidence::file(&install.path).value(format!("mode {:04o}", owner.mode)),
                ),
            );
        }
    }
    out.into()
}
