//! Checks of the family `torch`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
