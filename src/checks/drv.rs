//! Checks of the family `drv`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
