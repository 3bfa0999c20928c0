//! Checks of the family `py`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
