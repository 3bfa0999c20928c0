//! Checks of the family `cann`: where CANN is, whether it is whole, and whether the environment
//! leads to it.

mod content;
mod environment;
mod ops;
mod presence;
#[cfg(test)]
mod tests;

use super::{Check, Context};
use base::report::Outcome;
use facts::CannInstall;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check { id: "CANN-FOUND", run: presence::found },
    Check { id: "CANN-LINKS", run: presence::links },
    Check { id: "CANN-HOME", run: presence::home },
    Check { id: "CANN-ENV", run: environment::complete },
    Check { id: "CANN-MIXED", run: environment::mixed },
    Check { id: "CANN-ARCH", run: content::arch },
    Check { id: "CANN-PARTIAL", run: content::partial },
    Check { id: "CANN-COMPONENTS", run: content::components },
    Check { id: "CANN-OPS", run: ops::installed },
    Check { id: "CANN-OPS-CHIP", run: ops::chip },
    Check { id: "CANN-CUSTOMOPP", run: content::custom_opp },
    Check { id: "CANN-OWNER", run: content::owner },
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
