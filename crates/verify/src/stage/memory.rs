//! Stage 2: data that is copied to the device and back, or within it, is unchanged.
//!
//! Every word contains its own address, so that swapped pages are detected; a second round writes
//! the complement, so that every bit of the memory was 0 and 1. No computation takes place.

use super::{GUARD, GUARD_SIZE, Probe, compare_retry, data_fault};
use crate::protocol::{DataLocation, Event, Fault, Level, Stage};
use crate::reporter::{Measurements, StageAborted, StepResult};
use crate::vendor::Buffer;
use probe_numbers::{Difference, POISON, addresses, compare};

/// The number of times memory is allocated to check that it is released.
const ROUNDS: usize = 4;

/// Runs the stage.
pub fn run_memory(probe: &Probe<'_>) -> Result<(), StageAborted> {
    let size = match probe.order.level {
        Level::Quick => 4 << 20,
        Level::Standard | Level::Extended => 64 << 20,
    };
    let step = |name: &str, run: &dyn Fn() -> Result<StepResult, Fault>| {
        probe.reporter.run_step(Stage::Memory, name, run)
    };
    step("round trip", &|| copy_round_trip(probe, size, 0))?;
    step("round trip, complement", &|| copy_round_trip(probe, size, u64::MAX))?;
    step("copy on the device", &|| copy_on_device(probe, size))?;
    step("given back", &|| check_release(probe, size))
}

/// Allocates and frees memory several times, and reports memory that does not become available
/// again. The first round may leave a pool behind, and one loss may be caused by another process:
/// every later round has to lose all that it allocated.
fn check_release(probe: &Probe<'_>, size: usize) -> Result<StepResult, Fault> {
    let vendor = probe.vendor;
    let mut free = Vec::new();
    for _ in 0..ROUNDS {
        vendor.free(vendor.allocate(size)?)?;
        free.push(vendor.memory_info()?.0);
    }
    if is_leaking(&free, size) {
        let lost = free[0].saturating_sub(free[free.len() - 1]) as u64;
        let rounds = u32::try_from(free.len()).unwrap_or(u32::MAX);
        probe.reporter.write_event(&Event::Leak { rounds, bytes: size as u64, lost });
    }
    Ok(StepResult::Passed(Measurements::default()))
}

/// Whether the free memory decreases by `size` with every step.
fn is_leaking(free: &[usize], size: usize) -> bool {
    free.windows(2).all(|pair| pair[0].saturating_sub(pair[1]) >= size)
}

/// Compares words, and reports the position of a word with another address.
pub(super) fn compare_words(expected: &[u8], got: &[u8]) -> Option<Difference> {
    compare(expected, got, 8, POISON, false, |word| {
        let word = word.try_into().map_or(0, u64::from_le_bytes);
        (format!("{word:#018x}"), true)
    })
}

fn copy_round_trip(probe: &Probe<'_>, size: usize, mask: u64) -> Result<StepResult, Fault> {
    let vendor = probe.vendor;
    let buffer = vendor.allocate(size + GUARD_SIZE)?;
    // The guard is written first with the rest, then the rest again, so that only the guard is old.
    vendor.upload(&buffer, &vec![GUARD; size + GUARD_SIZE])?;
    let sent = addresses(size, mask);
    vendor.upload(&buffer, &sent)?;
    let got = check_buffer(probe, "host to device and back", &buffer, &sent)?;
    check_guard(&got, size, "host to device and back")?;
    vendor.free(buffer)?;
    Ok(StepResult::Passed(Measurements::default()))
}

fn copy_on_device(probe: &Probe<'_>, size: usize) -> Result<StepResult, Fault> {
    let vendor = probe.vendor;
    let (from, to) = (vendor.allocate(size)?, vendor.allocate(size + GUARD_SIZE)?);
    let sent = addresses(size, 0x0123_4567_89ab_cdef);
    vendor.upload(&from, &sent)?;
    let mut blank = vec![POISON; size];
    blank.resize(size + GUARD_SIZE, GUARD);
    vendor.upload(&to, &blank)?;
    let milliseconds = probe.measure_time(|| vendor.copy(&from, &to, size, probe.stream))?;
    let got = check_buffer(probe, "copy on the device", &to, &sent)?;
    check_guard(&got, size, "copy on the device")?;
    vendor.free(from)?;
    vendor.free(to)?;
    Ok(StepResult::Passed(Measurements {
        device_ms: Some(milliseconds),
        ..Measurements::default()
    }))
}

/// Reads all of `buffer` back, and compares its beginning with the sent data.
fn check_buffer(
    probe: &Probe<'_>,
    operation: &str,
    buffer: &Buffer,
    sent: &[u8],
) -> Result<Vec<u8>, Fault> {
    let read = || {
        let mut got = vec![POISON; buffer.size()];
        probe.vendor.download(buffer, &mut got).map(|()| got)
    };
    let got = read()?;
    if let Some(found) = compare_words(sent, &got[..sent.len()]) {
        let second = read()?;
        let again = compare_retry(&got[..sent.len()], &second[..sent.len()], sent);
        return Err(data_fault(operation, DataLocation::Result, found, again));
    }
    Ok(got)
}

/// Compares the bytes behind `size` with the guard.
fn check_guard(got: &[u8], size: usize, operation: &str) -> Result<(), Fault> {
    match compare_words(&[GUARD; GUARD_SIZE], &got[size..]) {
        None => Ok(()),
        Some(found) => Err(data_fault(
            operation,
            DataLocation::Guard,
            found,
            crate::protocol::RetryResult::Same,
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::Pattern;

    #[test]
    fn a_leak_loses_with_every_round() {
        assert!(is_leaking(&[900, 800, 700, 600], 100));
        assert!(is_leaking(&[900, 790, 680, 0], 100));
        // A single loss is another process, a smaller one is its growth, and an increase is not a
        // loss.
        assert!(!is_leaking(&[900, 800, 800, 700], 100));
        assert!(!is_leaking(&[900, 801, 702, 603], 100));
        assert!(!is_leaking(&[700, 800, 900, 1000], 100));
    }

    #[test]
    fn exchanged_pages_show() {
        let sent = addresses(1 << 16, 0);
        let mut got = sent.clone();
        let (one, other) = got.split_at_mut(1 << 15);
        one[4096..8192].swap_with_slice(&mut other[..4096]);
        let found = compare_words(&sent, &got).unwrap();
        assert_eq!((found.wrong, found.first), (1024, 512));
        assert_eq!(found.expected, "0x0000000000001000");
        assert_eq!(found.got, "0x0000000000008000", "the address says where it came from");
        assert_eq!(found.pattern, Pattern::Scattered);
    }
}
