//! Checks of the family `env`: variables with values that cannot be intended.

mod alloc;
mod names;
mod paths;
mod preload;
mod switches;
mod visible;

use super::{Check, Context, Family};
use data::{
    Outcome, Reason,
    findings::{env_alloc, env_debug, env_pathsec, env_preload, env_unknown, env_visible},
};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Environment, env_visible::ID, visible::visible),
    Check::new(Family::Environment, env_alloc::ID, alloc::alloc),
    Check::new(Family::Environment, env_unknown::ID, names::unknown),
    Check::new(Family::Environment, env_debug::ID, switches::debug),
    Check::new(Family::Environment, env_pathsec::ID, paths::paths),
    Check::new(Family::Environment, env_preload::ID, preload::preload),
];

/// The value of a variable, or the outcome if there is no value to check.
fn value<'c>(ctx: &'c Context<'_>, name: &str) -> Result<&'c str, Outcome> {
    let env = &ctx.facts.env;
    if !env.known {
        return Err(Outcome::NotChecked(Reason::EnvUnknown));
    }
    let unset = || {
        let reason = Reason::NotSet { what: name.to_owned() };
        Outcome::NotApplicable(reason)
    };
    env.get(name).ok_or_else(unset)
}
