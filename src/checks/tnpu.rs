//! Checks of the family `tnpu`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
