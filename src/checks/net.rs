//! Checks of the family `net`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
