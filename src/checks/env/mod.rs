//! Checks of the family `env`: variables that are set to something that cannot be meant.

mod alloc;
mod names;
mod paths;
mod preload;
mod switches;
mod visible;

use super::{Check, Context, Family};
use base::report::Outcome;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Environment, "ENV-VISIBLE", visible::visible),
    Check::new(Family::Environment, "ENV-ALLOC", alloc::alloc),
    Check::new(Family::Environment, "ENV-UNKNOWN", names::unknown),
    Check::new(Family::Environment, "ENV-DEBUG", switches::debug),
    Check::new(Family::Environment, "ENV-PATHSEC", paths::paths),
    Check::new(Family::Environment, "ENV-PRELOAD", preload::preload),
];

/// The value of a variable, or why there is none to judge.
fn value<'c>(ctx: &'c Context<'_>, name: &str) -> Result<&'c str, Outcome> {
    let env = &ctx.facts.env;
    if !env.known {
        return Err(Outcome::not_checked("env_unknown", ""));
    }
    let unset = || {
        let reason = base::report::Reason { key: "not_set", what: name.to_owned() };
        Outcome::NotApplicable(reason)
    };
    env.get(name).ok_or_else(unset)
}
