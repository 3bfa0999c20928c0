//! Checks of the family `dev`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
