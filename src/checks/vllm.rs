//! Checks of the family `vllm`.

use super::Check;

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[];
