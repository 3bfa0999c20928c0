//! Checks of the family `cann`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
