//! The time of a run.
#![expect(clippy::disallowed_methods, reason = "asks for one variable of its own")]

use machine::collect::read_clock;

/// Seconds since 1970, UTC: the value of `ASCEND_DOCTOR_NOW`, which makes reports reproducible, or
/// the time of the clock.
pub(super) fn now() -> Option<u64> {
    let given = std::env::var("ASCEND_DOCTOR_NOW").ok().and_then(|now| now.trim().parse().ok());
    given.or_else(read_clock)
}
