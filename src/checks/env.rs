//! Checks of the family `env`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
