//! Stage 6: the same under load, for minutes. A chip that is correct when cool and idle may fail at
//! full power, and no short test uses most of its memory.

use std::time::{Duration, Instant};

use acl_abi::{Stream, Tensor};

use super::memory::compare_words;
use super::{Probe, data_fault};
use crate::protocol::{DataLocation, Dtype, Event, Fault, Order, RetryResult, Stage};
use crate::reporter::{Measurements, Reporter, StageAborted, StepResult, passed};
use crate::soc::supports_matmul;
use crate::vendor::{Buffer, Operator, Vendor};
use base::chip::ChipFamily;
use probe_numbers::{Case, POISON, SEEDS, Shape, addresses, large_product};

/// Sizes of the matrices: the first that takes more than [`ROUND`] is used, or the largest.
const SIZES: [usize; 4] = [512, 1024, 2048, 4096];
/// The maximum time of one product, in milliseconds.
const ROUND: f64 = 2.0;
/// The computing time of the device between two checks of the result, in milliseconds.
const BATCH: f64 = 1000.0;
/// The maximum number of products between two checks.
const MAX_BATCH: usize = 4096;
/// The number of bytes written and read at a time.
const CHUNK: usize = 64 << 20;
/// The maximum number of samples of the speed.
const SAMPLES: u32 = 240;
/// The used share of the free memory.
const SHARE: (usize, usize) = (9, 10);

/// Runs the stage.
pub fn run_stress(
    vendor: &Vendor,
    reporter: &Reporter,
    order: &Order,
    limit: Duration,
) -> Result<(), StageAborted> {
    let device = order.device.unwrap_or_default();
    let mut opened: Option<(Stream, String)> = None;
    reporter.run_step(Stage::Runtime, "open", || {
        vendor.init()?;
        vendor.set_device(device)?;
        let soc = vendor.soc()?.unwrap_or_default();
        opened = Some((vendor.create_stream()?, soc));
        Ok(passed())
    })?;
    let Some((stream, soc)) = opened else { return Err(StageAborted) };
    let probe =
        Probe { vendor, reporter, order, stream, soc, cube_cores: None, vector_cores: None };
    let mut load = Load::default();
    reporter.run_step(Stage::Stress, "matrix products", || {
        if supports_matmul(ChipFamily::from_soc(&probe.soc), Dtype::Fp16) == Some(false) {
            return Ok(StepResult::NotSupported(probe.soc.clone()));
        }
        run_products(&probe, limit, &mut load)
    })?;
    let walked = reporter.run_step(Stage::Stress, "most of the memory", || {
        load.memory = check_free_memory(&probe)?;
        Ok(passed())
    });
    reporter.write_event(&Event::Load {
        rounds: load.rounds,
        compared: load.compared,
        first_tflops: load.first,
        last_tflops: load.last,
        memory_bytes: load.memory,
    });
    walked?;
    reporter.run_step(Stage::Runtime, "close", || {
        vendor.destroy_stream(stream)?;
        vendor.reset_device(device)?;
        vendor.finalize()?;
        Ok(passed())
    })
}

#[derive(Debug, Default)]
struct Load {
    rounds: u64,
    compared: u64,
    first: f64,
    last: f64,
    memory: u64,
}

/// The data of one product.
struct Work {
    size: usize,
    case: Case,
    one: Buffer,
    other: Buffer,
    out: Buffer,
}

impl Work {
    fn new(vendor: &Vendor, size: usize) -> Result<Self, Fault> {
        let case = large_product(Dtype::Fp16, Shape::square(size), SEEDS[1]);
        let one = vendor.allocate(case.one.len())?;
        let other = vendor.allocate(case.other.len())?;
        let out = vendor.allocate(case.size)?;
        vendor.upload(&one, &case.one)?;
        vendor.upload(&other, &case.other)?;
        Ok(Self { size, case, one, other, out })
    }

    fn free(self, vendor: &Vendor) -> Result<(), Fault> {
        [self.one, self.other, self.out].into_iter().try_for_each(|buffer| vendor.free(buffer))
    }

    /// Multiplies `times` times, and returns the time of the device in milliseconds.
    fn multiply(&self, probe: &Probe<'_>, times: usize) -> Result<f64, Fault> {
        let vendor = probe.vendor;
        vendor.upload(&self.out, &vec![POISON; self.case.size])?;
        let shape = [i64::try_from(self.size).unwrap_or(i64::MAX); 2];
        let tensor = |buffer: &Buffer| vendor.create_tensor(buffer, &shape, Dtype::Fp16.acl());
        let tensors: [Tensor; 3] = [tensor(&self.one)?, tensor(&self.other)?, tensor(&self.out)?];
        let mut scratch: Option<Buffer> = None;
        let milliseconds = probe.measure_time(|| {
            for _ in 0..times {
                let plan = vendor.plan_matmul(tensors[0], tensors[1], tensors[2])?;
                let size = usize::try_from(plan.workspace).unwrap_or(usize::MAX);
                if size > 0 && scratch.as_ref().is_none_or(|scratch| scratch.size() < size) {
                    // The replaced buffer may be in use, so it stays until the end of the process.
                    scratch = Some(vendor.allocate(size)?);
                }
                let room = scratch.as_ref().filter(|_| size > 0);
                vendor.launch(Operator::Matmul, plan, room, probe.stream)?;
            }
            Ok(())
        })?;
        if let Some(scratch) = scratch {
            vendor.free(scratch)?;
        }
        tensors.into_iter().try_for_each(|tensor| vendor.destroy_tensor(tensor))?;
        Ok(milliseconds)
    }

    /// Trillion operations per second.
    fn tflops(&self, times: usize, milliseconds: f64) -> f64 {
        #[expect(clippy::cast_precision_loss, reason = "far below 2^52")]
        let operations = (2 * self.size * self.size * self.size * times) as f64;
        if milliseconds > 0.0 { operations / milliseconds / 1e9 } else { 0.0 }
    }
}

/// The times at which the speed is reported: often enough to see a change, at most [`SAMPLES`]
/// times.
struct Samples {
    interval: f64,
    next: f64,
}

impl Samples {
    fn new(limit: Duration) -> Self {
        Self { interval: limit.as_secs_f64() / f64::from(SAMPLES), next: 0.0 }
    }

    fn is_due(&mut self, seconds: f64) -> bool {
        let due = seconds >= self.next;
        if due {
            self.next = seconds + self.interval;
        }
        due
    }
}

fn run_products(probe: &Probe<'_>, limit: Duration, load: &mut Load) -> Result<StepResult, Fault> {
    let vendor = probe.vendor;
    let mut sizes = SIZES.into_iter();
    let mut work = Work::new(vendor, sizes.next().unwrap_or(512))?;
    // The first one may include planning, compiling and loading.
    work.multiply(probe, 1)?;
    let mut one = work.multiply(probe, 1)?;
    for size in sizes {
        if one > ROUND {
            break;
        }
        work.free(vendor)?;
        work = Work::new(vendor, size)?;
        work.multiply(probe, 1)?;
        one = work.multiply(probe, 1)?;
    }
    let milliseconds = BATCH.min(limit.as_secs_f64() * 1e3 / 8.0);
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "bounded")]
    let times = ((milliseconds / one.max(0.001)) as usize).clamp(1, MAX_BATCH);
    let start = Instant::now();
    let mut speeds = Vec::new();
    let mut samples = Samples::new(limit);
    let mut total = 0.0;
    while start.elapsed() < limit || speeds.len() < 3 {
        let took = work.multiply(probe, times)?;
        total += took;
        let tflops = work.tflops(times, took);
        speeds.push(tflops);
        let seconds = start.elapsed().as_secs_f64();
        if samples.is_due(seconds) {
            probe.reporter.write_event(&Event::LoadSample { seconds, tflops });
        }
        load.rounds += times as u64;
        load.compared += 1;
        let mut got = vec![!POISON; work.case.size];
        vendor.download(&work.out, &mut got)?;
        if let Some(found) = work.case.expected.differs(Dtype::Fp16, &got) {
            let operation = format!(
                "aclnnMatmul fp16 [{size}, {size}], product {} under load",
                load.rounds,
                size = work.size
            );
            work.multiply(probe, 1)?;
            let mut second = vec![!POISON; work.case.size];
            vendor.download(&work.out, &mut second)?;
            let again = match work.case.expected.differs(Dtype::Fp16, &second) {
                None => RetryResult::Right,
                Some(_) if second == got => RetryResult::Same,
                Some(_) => RetryResult::Different,
            };
            return Err(data_fault(&operation, DataLocation::Result, found, again));
        }
    }
    work.free(vendor)?;
    let best = |part: &[f64]| part.iter().copied().fold(0.0, f64::max);
    let third = speeds.len() / 3;
    (load.first, load.last) = (best(&speeds[..third]), best(&speeds[speeds.len() - third..]));
    Ok(StepResult::Passed(Measurements { device_ms: Some(total), ..Measurements::default() }))
}

/// Writes most of the free memory with its addresses and reads it back, then the complement.
/// Returns the number of bytes.
fn check_free_memory(probe: &Probe<'_>) -> Result<u64, Fault> {
    let vendor = probe.vendor;
    let (free, _) = vendor.memory_info()?;
    let count = (free / SHARE.1 * SHARE.0 / CHUNK).max(1);
    let size = CHUNK.min(free / SHARE.1 * SHARE.0).next_multiple_of(8).max(4096);
    let chunks: Vec<Buffer> =
        (0..count).map(|_| vendor.allocate(size)).collect::<Result<_, _>>()?;
    for mask in [0, u64::MAX] {
        // The number of the chunk is in the bits above the addresses in it.
        let content = |at: usize| addresses(size, mask ^ (at as u64) << 40);
        for (at, chunk) in chunks.iter().enumerate() {
            vendor.upload(chunk, &content(at))?;
        }
        let mut got = vec![POISON; size];
        for (at, chunk) in chunks.iter().enumerate() {
            let sent = content(at);
            vendor.download(chunk, &mut got)?;
            if let Some(found) = compare_words(&sent, &got) {
                let mut second = vec![POISON; size];
                vendor.download(chunk, &mut second)?;
                let tried = super::compare_retry(&got, &second, &sent);
                let operation = format!("memory, block {at} of {count} of {} MiB", size >> 20);
                return Err(data_fault(&operation, DataLocation::Result, found, tried));
            }
        }
    }
    let bytes = (chunks.len() * size) as u64;
    chunks.into_iter().try_for_each(|chunk| vendor.free(chunk))?;
    Ok(bytes)
}
