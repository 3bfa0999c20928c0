//! Measures the speed of copies: the best of several rounds. This module does not evaluate it.

use std::time::Instant;

use super::{Probe, compute_speed};
use crate::protocol::{Fault, Stage};
use crate::reporter::{Measurements, StageAborted, StepResult};

/// The size of a copy, in bytes.
const SIZE: usize = 64 << 20;
/// The number of rounds.
const ROUNDS: usize = 3;

/// The directions: the names in the options, and the steps.
pub const DIRECTIONS: [(&str, &str); 3] = [
    ("h2d", "speed, host to device"),
    ("d2h", "speed, device to host"),
    ("d2d", "speed, on the device"),
];

/// Measures all directions.
pub fn measure_speeds(probe: &Probe<'_>) -> Result<(), StageAborted> {
    let vendor = probe.vendor;
    let host = std::cell::RefCell::new(vec![0x3c; SIZE]);
    let direction = |at: usize, run: &dyn Fn() -> Result<Measurements, Fault>| {
        let step = DIRECTIONS[at].1;
        probe.reporter.run_step(Stage::Memory, step, || run().map(StepResult::Passed))
    };
    direction(0, &|| {
        let buffer = vendor.allocate(SIZE)?;
        let best = measure_best(|| measure_by_clock(|| vendor.upload(&buffer, &host.borrow())))?;
        vendor.free(buffer)?;
        Ok(Measurements { gb_per_s: compute_speed(SIZE, best), ..Measurements::default() })
    })?;
    direction(1, &|| {
        let buffer = vendor.allocate(SIZE)?;
        let best =
            measure_best(|| measure_by_clock(|| vendor.download(&buffer, &mut host.borrow_mut())))?;
        vendor.free(buffer)?;
        Ok(Measurements { gb_per_s: compute_speed(SIZE, best), ..Measurements::default() })
    })?;
    direction(2, &|| {
        let (from, to) = (vendor.allocate(SIZE)?, vendor.allocate(SIZE)?);
        let best =
            measure_best(|| probe.measure_time(|| vendor.copy(&from, &to, SIZE, probe.stream)))?;
        vendor.free(from)?;
        vendor.free(to)?;
        Ok(Measurements {
            device_ms: Some(best),
            gb_per_s: compute_speed(SIZE, best),
            relative_error: None,
        })
    })
}

/// The shortest of several rounds, in milliseconds.
fn measure_best(round: impl Fn() -> Result<f64, Fault>) -> Result<f64, Fault> {
    (0..ROUNDS).try_fold(f64::INFINITY, |best, _| round().map(|took| took.min(best)))
}

/// The time of a synchronous copy, in milliseconds.
fn measure_by_clock(copy: impl FnOnce() -> Result<(), Fault>) -> Result<f64, Fault> {
    let start = Instant::now();
    copy()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
