//! The interpreter, what is installed into it, and what would be imported instead.

mod constraints;
mod installed;
mod interp;
mod sources;
mod tbe;

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check { id: "PY-INTERP", run: interp::check },
    Check { id: "PY-TBEDEPS", run: tbe::check },
    Check { id: "PY-DUP", run: installed::check },
    Check { id: "PY-CONSTRAINTS", run: constraints::check },
    Check { id: "PY-SHADOW", run: sources::shadow },
    Check { id: "PY-INDEX", run: sources::index },
];
