//! Checks of the family `cann`: the location of CANN, its completeness, and the environment that
//! selects it.

mod content;
mod environment;
mod ops;
mod presence;
#[cfg(test)]
mod tests;

use super::check::Area;
use super::{Check, Context, Family};
use data::{
    Outcome, Reason,
    findings::{
        cann_arch, cann_components, cann_customopp, cann_env, cann_found, cann_home, cann_links,
        cann_mixed, cann_ops, cann_ops_chip, cann_owner, cann_partial,
    },
};
use facts::CannInstall;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Cann, cann_found::ID, presence::found).concludes_from(&[Area::AnyCann]),
    Check::new(Family::Cann, cann_links::ID, presence::links),
    Check::new(Family::Cann, cann_home::ID, presence::home),
    Check::new(Family::Cann, cann_env::ID, environment::complete),
    Check::new(Family::Cann, cann_mixed::ID, environment::mixed),
    Check::new(Family::Cann, cann_arch::ID, content::arch),
    Check::new(Family::Cann, cann_partial::ID, content::partial),
    Check::new(Family::Cann, cann_components::ID, content::components),
    Check::new(Family::Cann, cann_ops::ID, ops::installed),
    Check::new(Family::Cann, cann_ops_chip::ID, ops::chip),
    Check::new(Family::Cann, cann_customopp::ID, content::custom_opp),
    Check::new(Family::Cann, cann_owner::ID, content::owner).concludes_from(&[]).reports_access(),
];

/// Packages that need CANN for any function.
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

/// Returns whether a workload on NPUs is meant to run here.
fn is_workload(ctx: &Context<'_>) -> bool {
    user(ctx).is_some() || ctx.profile.needs_framework()
}

/// Returns whether this machine has visible NPUs, or must have them.
fn has_npu(ctx: &Context<'_>) -> bool {
    ctx.require_npu
        || ctx.profile.needs_npu()
        || !ctx.facts.devices.davinci_ids().is_empty()
        || ctx.facts.devices.pci.as_ref().is_some_and(|pci| !pci.is_empty())
}

/// Returns whether an installation is the one that a workload would use.
fn is_active(ctx: &Context<'_>, install: &CannInstall) -> bool {
    ctx.facts.cann.active().is_some_and(|active| active.path == install.path)
}

/// The outcome of a check about installations if there is none.
fn no_install(ctx: &Context<'_>) -> Option<Outcome> {
    ctx.facts.cann.installs.is_empty().then_some(Outcome::NotApplicable(Reason::NoCann))
}

/// The outcome of a check about variables with unknown values.
fn no_env(ctx: &Context<'_>) -> Option<Outcome> {
    (!ctx.facts.env.known).then_some(Outcome::NotChecked(Reason::EnvUnknown))
}
