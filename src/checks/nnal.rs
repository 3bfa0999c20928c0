//! Checks of the family `nnal`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
