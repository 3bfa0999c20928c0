//! Checks of the family `cann`: where CANN is, whether it is whole, and whether the environment
//! leads to it.

mod content;
mod environment;
mod ops;
mod presence;
#[cfg(test)]
mod tests;

use super::check::Area;
use super::{Check, Context, Family};
use base::report::Outcome;
use facts::CannInstall;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Cann, "CANN-FOUND", presence::found).concludes_from(&[Area::AnyCann]),
    Check::new(Family::Cann, "CANN-LINKS", presence::links),
    Check::new(Family::Cann, "CANN-HOME", presence::home),
    Check::new(Family::Cann, "CANN-ENV", environment::complete),
    Check::new(Family::Cann, "CANN-MIXED", environment::mixed),
    Check::new(Family::Cann, "CANN-ARCH", content::arch),
    Check::new(Family::Cann, "CANN-PARTIAL", content::partial),
    Check::new(Family::Cann, "CANN-COMPONENTS", content::components),
    Check::new(Family::Cann, "CANN-OPS", ops::installed),
    Check::new(Family::Cann, "CANN-OPS-CHIP", ops::chip),
    Check::new(Family::Cann, "CANN-CUSTOMOPP", content::custom_opp),
    Check::new(Family::Cann, "CANN-OWNER", content::owner).concludes_from(&[]).reports_access(),
];

/// Packages that do nothing without CANN.
const USERS: &[&str] = &["torch-npu", "vllm-ascend", "mindspore", "triton-ascend"];

/// The package that needs CANN on this machine, if one is installed.
fn user(ctx: &Context<'_>) -> Option<&'static str> {
    let python = &ctx.facts.python;
    USERS.iter().copied().find(|name| {
        // MindSpore runs on CPUs too; only its Ascend plug-in needs CANN.
        let plugged = *name != "mindspore" || !python.mindspore.plugins.is_empty();
        plugged && python.dist(name).is_some()
    })
}

/// Whether a workload on NPUs is meant to run here.
fn is_workload(ctx: &Context<'_>) -> bool {
    user(ctx).is_some() || ctx.profile.needs_framework()
}

/// Whether this machine shows NPUs, or has to.
fn has_npu(ctx: &Context<'_>) -> bool {
    ctx.require_npu
        || ctx.profile.needs_npu()
        || !ctx.facts.devices.davinci_ids().is_empty()
        || ctx.facts.devices.pci.as_ref().is_some_and(|pci| !pci.is_empty())
}

/// Whether one of the installations is the one that a workload would use.
fn is_active(ctx: &Context<'_>, install: &CannInstall) -> bool {
    ctx.facts.cann.active().is_some_and(|active| active.path == install.path)
}

/// The outcome of a check about installations where there is none.
fn no_install(ctx: &Context<'_>) -> Option<Outcome> {
    ctx.facts.cann.installs.is_empty().then(|| Outcome::not_applicable("no_cann"))
}

/// The outcome of a check about variables whose values are not known.
fn no_env(ctx: &Context<'_>) -> Option<Outcome> {
    (!ctx.facts.env.known).then(|| Outcome::not_checked("env_unknown", ""))
}
