//! The interpreter, what is installed into it, and what would be imported instead.

mod constraints;
mod framework;
mod installed;
mod interp;
mod sources;
mod tbe;

use super::{Check, Family};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Python, "PY-INTERP", interp::check),
    Check::new(Family::Python, "PY-FRAMEWORK", framework::check),
    Check::new(Family::Python, "PY-TBEDEPS", tbe::check),
    Check::new(Family::Python, "PY-DUP", installed::check),
    Check::new(Family::Python, "PY-CONSTRAINTS", constraints::check),
    Check::new(Family::Python, "PY-SHADOW", sources::shadow),
    Check::new(Family::Python, "PY-INDEX", sources::index),
];
