//! Checks of the family `env`: variables that are set to something that cannot be meant.

mod alloc;
mod names;
mod paths;
mod preload;
mod switches;
mod visible;

use super::{Check, Context};
use base::report::Outcome;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check { id: "ENV-VISIBLE", run: visible::visible },
    Check { id: "ENV-ALLOC", run: alloc::alloc },
    Check { id: "ENV-UNKNOWN", run: names::unknown },
    Check { id: "ENV-DEBUG", run: switches::debug },
    Check { id: "ENV-PATHSEC", run: paths::paths },
    Check { id: "ENV-PRELOAD", run: preload::preload },
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
