//! Checks whether the operator package is installed, compatible, and built for this chip.

use data::{
    Outcome, RawFinding, Reason,
    findings::{cann_ops, cann_ops_chip},
    ui,
};
use std::collections::BTreeSet;

use super::{has_npu, is_workload, no_install};
use crate::chip;
use crate::{Context, Profile};
use base::chip::ChipFamily;
use base::report::{Evidence, Severity, UNKNOWN_VERSION};
use base::version::CannVersion;
use facts::{CannInstall, InfoFile};

/// Precompiled kernels, below the root of an installation.
const KERNELS: &str = "opp/built-in/op_impl/ai_core/tbe/kernel";

pub(super) fn installed(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_install(ctx) {
        return outcome;
    }
    let Some(install) = ctx.facts.cann.active() else {
        return Outcome::NotApplicable(Reason::NoCann);
    };
    if install.kind == "nnrt" {
        return Outcome::NotApplicable(Reason::NoCann);
    }
    let dir = format!("{}/{KERNELS}", install.path);
    let has_package = !install.ops.is_empty() || install.components.contains_key("opp_kernel");
    if install.kernel_socs.is_empty() {
        // A toolkit without operators is enough for builds and simulation.
        let grave = is_workload(ctx) && has_npu(ctx) && ctx.profile != Profile::Build;
        let severity = if grave { Severity::Error } else { Severity::Info };
        let (root, dir, chip) = (&install.path, &dir, chip_name(ctx));
        let version = install.version.as_deref().unwrap_or(UNKNOWN_VERSION);
        let found = if has_package {
            cann_ops::Gone { chip, dir, root, version }.at(severity)
        } else {
            cann_ops::Absent { chip, dir, root, version }.at(severity)
        };
        let found = found.evidence(Evidence::file(dir).says(ui::SEEN_NO_KERNELS.text()));
        let found = install.ops.iter().fold(found, |found, info| found.evidence(package(info)));
        return vec![found].into();
    }
    install.ops.iter().filter_map(|info| other_version(install, info)).collect::<Vec<_>>().into()
}

fn package(info: &InfoFile) -> Evidence {
    let name = info.get("package_name").unwrap_or("-");
    let version = info.get("version").unwrap_or("-");
    info.place("version").value(format!("{name} {version}"))
}

/// The name of this machine's chip in package names, or a placeholder.
fn chip_name(ctx: &Context<'_>) -> &'static str {
    chip::chip(ctx.facts).map_or("<chip>", |chip| chip.family.as_str())
}

/// Finds an ops package whose version differs from that of the toolkit.
fn other_version(install: &CannInstall, info: &InfoFile) -> Option<RawFinding> {
    let own = install.parsed_version()?;
    let ops: CannVersion = info.get("version")?.parse().ok()?;
    if own.base() == ops.base() {
        return None;
    }
    // Ranges of `required_package_opp_kernel_version` accept kernels of the previous version. If
    // the files contain them, CANN-COMPONENTS decides.
    let severity = if own.line() == ops.line() || install.components.contains_key("opp_kernel") {
        Severity::Warning
    } else {
        Severity::Error
    };
    let found = cann_ops::Version {
        ops: info.get("version").unwrap_or(UNKNOWN_VERSION),
        package: info.get("package_name").unwrap_or("-"),
        root: &install.path,
        toolkit: install.version.as_deref().unwrap_or(UNKNOWN_VERSION),
    }
    .at(severity)
    .evidence(package(info));
    Some(found.evidence(install.version_place().value(own.to_string())))
}

pub(super) fn chip(ctx: &Context<'_>) -> Outcome {
    if let Some(outcome) = no_install(ctx) {
        return outcome;
    }
    let Some(install) = ctx.facts.cann.active() else {
        return Outcome::NotApplicable(Reason::NoCann);
    };
    let chips = chip::chips(ctx.facts);
    if chips.is_empty() {
        return match chip::unknown(ctx.facts) {
            Reason::NoNpu => Outcome::NotApplicable(Reason::NoNpu),
            unknown => Outcome::NotChecked(unknown),
        };
    }
    let dirs = install.kernel_socs.iter().map(|name| (name.as_str(), family_of_dir(name)));
    let packages = install
        .ops
        .iter()
        .filter_map(|info| info.get("package_name"))
        .map(|name| (name, family_of_package(name)));
    let known: Vec<(&str, Option<ChipFamily>)> =
        if install.kernel_socs.is_empty() { packages.collect() } else { dirs.collect() };
    if known.is_empty() {
        // CANN-OPS reports that there are none.
        return Outcome::NotApplicable(Reason::NoCann);
    }
    if let Some((name, _)) = known.iter().find(|(_, family)| family.is_none()) {
        let fits = chips.iter().any(|chip| known.iter().any(|(_, f)| *f == Some(chip.family)));
        return if fits {
            Outcome::Passed
        } else {
            Outcome::NotChecked(Reason::UnknownSoc { what: (*name).to_owned() })
        };
    }
    let families: BTreeSet<ChipFamily> = known.iter().filter_map(|(_, family)| *family).collect();
    if chips.iter().any(|chip| families.contains(&chip.family)) {
        return Outcome::Passed;
    }
    let have = families.iter().map(|family| family.label()).collect::<Vec<_>>().join(", ");
    let chip = &chips[0];
    let dir = format!("{}/{KERNELS}", install.path);
    let names = known.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    let found = cann_ops_chip::Wrong {
        chip: chip.family.label(),
        have,
        name: chip.family.as_str(),
        root: &install.path,
        version: install.version.as_deref().unwrap_or(UNKNOWN_VERSION),
    }
    .error()
    .evidence(chip.evidence.clone())
    .evidence(Evidence::file(dir).value(names));
    let found = install.ops.iter().fold(found, |found, info| found.evidence(package(info)));
    vec![found].into()
}

fn family_of_dir(name: &str) -> Option<ChipFamily> {
    ChipFamily::from_kernel_dir(name)
}

/// The chip in `Ascend-cann-910b-ops` or `Ascend-cann-kernels-310p`.
fn family_of_package(name: &str) -> Option<ChipFamily> {
    name.split('-').find_map(ChipFamily::from_short)
}
