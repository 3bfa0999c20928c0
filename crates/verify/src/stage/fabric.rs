//! Stage 5: devices access each other's memory, and HCCL sums over all of them.
//!
//! One process copies between all pairs of devices, because memory handles are valid only within a
//! process. Each HCCL rank is a separate process, as in training.

use std::collections::BTreeSet;

use acl_abi::values::{HCCL_DATA_TYPE_FP32, HCCL_DATA_TYPE_INT32};
use acl_abi::{Communicator, RootInfo};

use super::memory::compare_words;
use super::{GUARD, GUARD_SIZE, Probe, compare_retry, data_fault, describe_error};
use crate::protocol::{DataLocation, Dtype, Event, Fault, Order, RetryResult, Stage};
use crate::reporter::{Measurements, Reporter, StageAborted, StepResult, passed};
use crate::vendor::{Buffer, Vendor};
use probe_numbers::{Numbers, POISON, addresses, elements};

/// Bytes of a copy between devices.
const COPIED: usize = 1 << 20;
/// The number of summed elements.
const SUMMED: usize = 1 << 16;

/// Copies between all pairs of `devices`. A pair that corrupts data does not end the round: the set
/// of failing pairs locates the fault.
pub fn run_peers(
    vendor: &Vendor,
    reporter: &Reporter,
    devices: &[i32],
) -> Result<(), StageAborted> {
    reporter.run_step(Stage::Runtime, "open all", || {
        vendor.init()?;
        devices.iter().try_for_each(|device| vendor.set_device(*device))?;
        Ok(passed())
    })?;
    let mut enabled = BTreeSet::new();
    let mut damaged = false;
    for from in devices {
        for to in devices.iter().filter(|to| *to != from) {
            let link = link_name(*from, *to);
            let mut stops = false;
            let step = reporter.run_step(Stage::Fabric, &link, || {
                let ended = copy_pair(vendor, [*from, *to], &mut enabled, &link);
                stops = !matches!(ended, Ok(_) | Err(Fault::Wrong(_)));
                ended
            });
            damaged |= step.is_err();
            if stops {
                return Err(StageAborted);
            }
        }
    }
    if damaged {
        return Err(StageAborted);
    }
    reporter.run_step(Stage::Runtime, "close all", || {
        for device in devices {
            vendor.set_device(*device)?;
            vendor.reset_device(*device)?;
        }
        vendor.finalize()?;
        Ok(passed())
    })
}

/// The name of the copy from one device to another.
pub fn link_name(from: i32, to: i32) -> String {
    format!("NPU {from} \u{2192} NPU {to}")
}

fn copy_pair(
    vendor: &Vendor,
    [from, to]: [i32; 2],
    enabled: &mut BTreeSet<[i32; 2]>,
    link: &str,
) -> Result<StepResult, Fault> {
    if !vendor.can_access_peer(from, to)? {
        return Ok(StepResult::NotSupported(format!("aclrtDeviceCanAccessPeer: {link}")));
    }
    for [own, other] in [[from, to], [to, from]] {
        vendor.set_device(own)?;
        // A second call may be refused.
        if enabled.insert([own, other]) {
            vendor.enable_peer(other)?;
        }
    }
    vendor.set_device(from)?;
    let source = vendor.allocate_shared(COPIED)?;
    let tag = u64::from(from.cast_unsigned()) << 48 | u64::from(to.cast_unsigned()) << 32;
    let sent = addresses(COPIED, tag);
    vendor.upload(&source, &sent)?;
    vendor.set_device(to)?;
    let target = vendor.allocate_shared(COPIED + GUARD_SIZE)?;
    let got = copy_once(vendor, &source, &target)?;
    if let Some(found) = compare_words(&sent, &got[..COPIED]) {
        let second = copy_once(vendor, &source, &target)?;
        let tried = compare_retry(&got[..COPIED], &second[..COPIED], &sent);
        return Err(data_fault(link, DataLocation::Result, found, tried));
    }
    if let Some(found) = compare_words(&[GUARD; GUARD_SIZE], &got[COPIED..]) {
        return Err(data_fault(link, DataLocation::Guard, found, RetryResult::Same));
    }
    vendor.free(target)?;
    vendor.set_device(from)?;
    vendor.free(source)?;
    Ok(passed())
}

/// Copies once to poisoned memory, and returns all of its content.
fn copy_once(vendor: &Vendor, source: &Buffer, target: &Buffer) -> Result<Vec<u8>, Fault> {
    let mut blank = vec![POISON; COPIED];
    blank.resize(target.size(), GUARD);
    vendor.upload(target, &blank)?;
    vendor.copy_over(source, target, COPIED)?;
    let mut got = vec![!POISON; target.size()];
    vendor.download(target, &mut got)?;
    Ok(got)
}

/// One rank: joins the others, sums with them, and leaves.
pub fn run_rank(
    vendor: &Vendor,
    reporter: &Reporter,
    order: &Order,
    [rank, ranks]: [u32; 2],
    root: Option<&str>,
) -> Result<(), StageAborted> {
    let device = order.device.unwrap_or_default();
    let mut opened = None;
    reporter.run_step(Stage::Runtime, "open", || {
        vendor.init()?;
        vendor.set_device(device)?;
        opened = Some(vendor.create_stream()?);
        Ok(passed())
    })?;
    let Some(stream) = opened else { return Err(StageAborted) };
    let mut joined = None;
    reporter.run_step(Stage::Fabric, "join", || {
        let info = if let Some(info) = root.and_then(from_hex) {
            info
        } else {
            let info = vendor.create_root_info()?;
            let digits = crate::cache::encode_hex(&info.bytes);
            reporter.write_event(&Event::Root { info: digits });
            info
        };
        joined = Some(vendor.join_communicator(ranks, &info, rank)?);
        Ok(passed())
    })?;
    let Some(communicator) = joined else { return Err(StageAborted) };
    let probe = Probe {
        vendor,
        reporter,
        order,
        stream,
        soc: String::new(),
        cube_cores: None,
        vector_cores: None,
    };
    for lane in [Lane::Each, Lane::Integers, Lane::Floats] {
        reporter.run_step(Stage::Fabric, lane.name(), || {
            run_sum(&probe, communicator, lane, rank, ranks)
        })?;
    }
    reporter.run_step(Stage::Fabric, "leave", || {
        vendor.leave_communicator(communicator).map(|()| passed())
    })?;
    reporter.run_step(Stage::Runtime, "close", || {
        vendor.destroy_stream(stream)?;
        vendor.reset_device(device)?;
        vendor.finalize()?;
        Ok(passed())
    })
}

/// A test of a sum.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Lane {
    /// For every element, one rank has a number and the others zero: a missing number identifies
    /// its rank.
    Each,
    /// Integers of all ranks.
    Integers,
    /// Integers in single precision, exact in any order.
    Floats,
}

impl Lane {
    const fn name(self) -> &'static str {
        match self {
            Self::Each => "all-reduce int32, one rank for each element",
            Self::Integers => "all-reduce int32",
            Self::Floats => "all-reduce fp32",
        }
    }

    const fn dtype(self) -> (Dtype, i32) {
        match self {
            Self::Each | Self::Integers => (Dtype::Int32, HCCL_DATA_TYPE_INT32),
            Self::Floats => (Dtype::Fp32, HCCL_DATA_TYPE_FP32),
        }
    }

    /// The terms of a rank.
    fn rank_terms(self, rank: u32, ranks: u32) -> Vec<i64> {
        let mut numbers = Numbers::new(0x5eed ^ u64::from(rank) << 8);
        let limit = match self {
            Self::Each => (1 << 29) - 1,
            Self::Integers => ((1 << 29) - 1) / i64::from(ranks),
            Self::Floats => ((1 << 23) - 1) / i64::from(ranks),
        };
        let turn = |at: usize| at % ranks as usize == rank as usize;
        (0..SUMMED)
            .map(|at| {
                let number = numbers.within(limit);
                match self {
                    // Never zero, so that a lost part is visible.
                    Self::Each if turn(at) => number | 1,
                    Self::Each => 0,
                    _ => number,
                }
            })
            .collect()
    }
}

fn encode_numbers(dtype: Dtype, numbers: &[i64]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(numbers.len() * dtype.width());
    for number in numbers {
        dtype.encode(*number, &mut bytes);
    }
    bytes
}

fn run_sum(
    probe: &Probe<'_>,
    communicator: Communicator,
    lane: Lane,
    rank: u32,
    ranks: u32,
) -> Result<StepResult, Fault> {
    let vendor = probe.vendor;
    let (dtype, number) = lane.dtype();
    let mut total = vec![0i64; SUMMED];
    let mut own = Vec::new();
    for other in 0..ranks {
        let part = lane.rank_terms(other, ranks);
        total.iter_mut().zip(&part).for_each(|(sum, number)| *sum += number);
        if other == rank {
            own = encode_numbers(dtype, &part);
        }
    }
    let right = encode_numbers(dtype, &total);
    let from = vendor.allocate(own.len())?;
    let to = vendor.allocate(right.len() + GUARD_SIZE)?;
    vendor.upload(&from, &own)?;
    let reduce = || -> Result<(f64, Vec<u8>), Fault> {
        let mut blank = vec![POISON; right.len()];
        blank.resize(to.size(), GUARD);
        vendor.upload(&to, &blank)?;
        let milliseconds = probe.measure_time(|| {
            let both = [&from, &to];
            vendor.all_reduce(both, SUMMED, dtype.width(), number, communicator, probe.stream)
        })?;
        let mut got = vec![!POISON; to.size()];
        vendor.download(&to, &mut got)?;
        Ok((milliseconds, got))
    };
    let (milliseconds, got) = reduce()?;
    let (sums, behind) = got.split_at(right.len());
    if let Some(found) = elements(dtype, &right, sums) {
        // No second try: the other ranks may have correct sums, and would not take part in it.
        let data = Box::new(describe_error(
            lane.name(),
            DataLocation::Result,
            found,
            RetryResult::NotTried,
        ));
        return Err(Fault::Sum { from: missing_ranks(lane, &right, sums, ranks), data });
    }
    if let Some(found) = elements(dtype, &[GUARD; GUARD_SIZE], behind) {
        return Err(data_fault(lane.name(), DataLocation::Guard, found, RetryResult::Same));
    }
    vendor.free(from)?;
    vendor.free(to)?;
    Ok(StepResult::Passed(Measurements {
        device_ms: Some(milliseconds),
        ..Measurements::default()
    }))
}

/// The ranks whose part is missing. A nonzero element may be the mistake of another rank than its
/// owner, and then no rank is named; nor if all parts are missing.
fn missing_ranks(lane: Lane, right: &[u8], got: &[u8], ranks: u32) -> Vec<u32> {
    if lane != Lane::Each {
        return Vec::new();
    }
    let width = lane.dtype().0.width();
    let mut missing = BTreeSet::new();
    for (at, (want, have)) in right.chunks_exact(width).zip(got.chunks_exact(width)).enumerate() {
        if want == have {
            continue;
        }
        if have.iter().any(|byte| *byte != 0) {
            return Vec::new();
        }
        missing.extend(u32::try_from(at % ranks as usize));
    }
    let some = missing.len() < ranks as usize;
    missing.into_iter().filter(|_| some).collect()
}

/// The root information, from hexadecimal digits.
fn from_hex(text: &str) -> Option<Box<RootInfo>> {
    let digits = text.as_bytes();
    let mut info = Box::new(RootInfo { bytes: [0; 4108] });
    if digits.len() != info.bytes.len() * 2 {
        return None;
    }
    for (byte, pair) in info.bytes.iter_mut().zip(digits.chunks_exact(2)) {
        *byte = u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok()?;
    }
    Some(info)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_root_information_survives() {
        let mut info = RootInfo { bytes: [0; 4108] };
        for (byte, value) in info.bytes.iter_mut().zip((0..=255).cycle()) {
            *byte = value;
        }
        let text = crate::cache::encode_hex(&info.bytes);
        assert_eq!(from_hex(&text).unwrap().bytes, info.bytes);
        assert!(from_hex(&text[2..]).is_none());
        assert!(from_hex(&text.replace('a', "x")).is_none());
    }

    /// Sums of the maximum number of ranks are exact, and a lost part is detected and attributed.
    #[test]
    fn a_lost_part_has_a_name() {
        for ranks in [2u32, 3, 8, 16] {
            for lane in [Lane::Each, Lane::Integers, Lane::Floats] {
                let (dtype, _) = lane.dtype();
                let mut total = vec![0i64; SUMMED];
                for rank in 0..ranks {
                    let part = lane.rank_terms(rank, ranks);
                    total.iter_mut().zip(&part).for_each(|(sum, number)| *sum += number);
                }
                let right = encode_numbers(dtype, &total);
                for (element, number) in right.chunks_exact(dtype.width()).zip(&total) {
                    #[expect(clippy::cast_precision_loss, reason = "below 2^53")]
                    let number = *number as f64;
                    assert!((dtype.decode(element) - number).abs() == 0.0, "{lane:?} {ranks}");
                }
                let lost = ranks - 1;
                let part = lane.rank_terms(lost, ranks);
                let got: Vec<i64> = total.iter().zip(&part).map(|(sum, part)| sum - part).collect();
                let got = encode_numbers(dtype, &got);
                assert!(elements(dtype, &right, &got).is_some(), "{lane:?} {ranks}");
                let named = if lane == Lane::Each { vec![lost] } else { vec![] };
                assert_eq!(missing_ranks(lane, &right, &got, ranks), named, "{lane:?} {ranks}");
                // An extra number may come from any rank, and a missing sum from all.
                let mut wrong = right.clone();
                wrong[40] ^= 1;
                assert!(missing_ranks(lane, &right, &wrong, ranks).is_empty());
                assert!(missing_ranks(lane, &right, &vec![0; right.len()], ranks).is_empty());
            }
        }
    }
}
