//! Checks of the family `host`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
