//! The severity of wrong data: the same for every operation, lane and stage.
//!
//! | evidence | severity |
//! |---|---|
//! | not a number, poison, output that was not written, an element beyond four times the error bound, more than one element in 1,000 beyond the bound | error |
//! | every element within the bound | none: there is no difference to evaluate |
//! | everything between | warning, and the result is inconclusive |
//!
//! A correct second try does not lower the severity: a device that is wrong once is faulty.

use base::report::Severity;
use probe_numbers::{Difference, Grade};

/// The severity of a difference.
pub(super) const fn assign_severity(found: &Difference) -> Severity {
    match found.grade() {
        Grade::Wrong => Severity::Error,
        Grade::Doubtful => Severity::Warning,
    }
}
