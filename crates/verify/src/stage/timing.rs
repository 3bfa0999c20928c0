//! Times operations that every device supports: the same work, several times. This module does not
//! evaluate them. The shortest time is the one to compare, because a busy host makes times longer
//! and never shorter.

use std::time::Instant;

use super::Probe;
use crate::child::count_preemptions;
use crate::protocol::{Dtype, Event, Fault, Measure, Stage};
use crate::reporter::{StageAborted, StepResult, passed};
use crate::soc::{supports_add, supports_matmul};
use crate::vendor::{Buffer, Operator};
use base::chip::ChipFamily;
use probe_numbers::{SEEDS, Shape, large_product};

/// The number of measurements of each operation.
const ROUNDS: usize = 5;
/// The maximum number of attempts on a host that preempts.
const MOST_ROUNDS: usize = 20;
/// Bytes of a copy.
const COPIED: usize = 4 << 20;
/// Rows and columns of the product.
const SIZE: usize = 256;
/// Elements of the addition whose launch is timed.
const ADDED: usize = 1024;

/// Times waiting for an idle stream.
pub fn time_waiting(probe: &Probe<'_>) -> Result<(), StageAborted> {
    probe.reporter.run_step(Stage::Runtime, "times of waiting", || {
        report(probe, Measure::Synchronize, &mut || by_clock(|| probe.wait()))?;
        Ok(passed())
    })
}

/// Times copies.
pub fn time_copies(probe: &Probe<'_>) -> Result<(), StageAborted> {
    probe.reporter.run_step(Stage::Memory, "times of copies", || {
        let vendor = probe.vendor;
        let mut host = vec![0x3c; COPIED];
        let (one, other) = (vendor.allocate(COPIED)?, vendor.allocate(COPIED)?);
        report(probe, Measure::HostToDevice, &mut || by_clock(|| vendor.upload(&one, &host)))?;
        report(probe, Measure::OnDevice, &mut || {
            probe.measure_time(|| vendor.copy(&one, &other, COPIED, probe.stream))
        })?;
        report(probe, Measure::DeviceToHost, &mut || {
            by_clock(|| vendor.download(&other, &mut host))
        })?;
        vendor.free(one)?;
        vendor.free(other)?;
        Ok(passed())
    })
}

/// Times the launch of an addition, and a product on the device.
pub fn time_operators(probe: &Probe<'_>) -> Result<(), StageAborted> {
    let chip = ChipFamily::from_soc(&probe.soc);
    let has = |dtype: Dtype| probe.order.dtypes.contains(&dtype);
    probe.reporter.run_step(Stage::Compute, "times of operators", || {
        let added = [Dtype::Fp16, Dtype::Fp32, Dtype::Int32]
            .into_iter()
            .find(|dtype| has(*dtype) && supports_add(chip, *dtype) == Some(true));
        if let Some(dtype) = added {
            time_launch(probe, dtype)?;
        }
        let multiplied = [Dtype::Fp16, Dtype::Fp32, Dtype::Bf16]
            .into_iter()
            .find(|dtype| has(*dtype) && supports_matmul(chip, *dtype) == Some(true));
        if let Some(dtype) = multiplied {
            time_product(probe, dtype)?;
        }
        // Without a product, the addition is the available work.
        match (added, multiplied) {
            (None, None) => Ok(StepResult::NotSupported(probe.soc.clone())),
            _ => Ok(passed()),
        }
    })
}

fn time_launch(probe: &Probe<'_>, dtype: Dtype) -> Result<(), Fault> {
    let vendor = probe.vendor;
    let size = ADDED * dtype.width();
    let buffers = [vendor.allocate(size)?, vendor.allocate(size)?, vendor.allocate(size)?];
    let shape = [i64::try_from(ADDED).unwrap_or(i64::MAX)];
    let tensor = |buffer: &Buffer| vendor.create_tensor(buffer, &shape, dtype.acl());
    let tensors = [tensor(&buffers[0])?, tensor(&buffers[1])?, tensor(&buffers[2])?];
    let alpha = vendor
        .create_scalar(super::compute::encode_one(dtype), super::compute::scalar_type(dtype))?;
    let [one, other, out] = tensors;
    let mut launch = || {
        let plan = vendor.plan_add(one, other, alpha, out)?;
        let size = usize::try_from(plan.workspace).unwrap_or(usize::MAX);
        let scratch = if size > 0 { Some(vendor.allocate(size)?) } else { None };
        let took = by_clock(|| vendor.launch(Operator::Add, plan, scratch.as_ref(), probe.stream))?;
        probe.wait()?;
        scratch.map_or(Ok(()), |scratch| vendor.free(scratch))?;
        Ok(took)
    };
    report(probe, Measure::Launch, &mut launch)?;
    vendor.destroy_scalar(alpha)?;
    tensors.into_iter().try_for_each(|tensor| vendor.destroy_tensor(tensor))?;
    buffers.into_iter().try_for_each(|buffer| vendor.free(buffer))
}

fn time_product(probe: &Probe<'_>, dtype: Dtype) -> Result<(), Fault> {
    let vendor = probe.vendor;
    let case = large_product(dtype, Shape::square(SIZE), SEEDS[1]);
    let buffers = [
        vendor.allocate(case.one.len())?,
        vendor.allocate(case.other.len())?,
        vendor.allocate(case.size)?,
    ];
    vendor.upload(&buffers[0], &case.one)?;
    vendor.upload(&buffers[1], &case.other)?;
    let shape = [i64::try_from(SIZE).unwrap_or(i64::MAX); 2];
    let tensor = |buffer: &Buffer| vendor.create_tensor(buffer, &shape, dtype.acl());
    let tensors = [tensor(&buffers[0])?, tensor(&buffers[1])?, tensor(&buffers[2])?];
    let mut multiply = || {
        let plan = vendor.plan_matmul(tensors[0], tensors[1], tensors[2])?;
        let size = usize::try_from(plan.workspace).unwrap_or(usize::MAX);
        let scratch = if size > 0 { Some(vendor.allocate(size)?) } else { None };
        let took = probe.measure_time(|| {
            vendor.launch(Operator::Matmul, plan, scratch.as_ref(), probe.stream)
        })?;
        scratch.map_or(Ok(()), |scratch| vendor.free(scratch))?;
        Ok(took)
    };
    report(probe, Measure::Kernel, &mut multiply)?;
    tensors.into_iter().try_for_each(|tensor| vendor.destroy_tensor(tensor))?;
    buffers.into_iter().try_for_each(|buffer| vendor.free(buffer))
}

/// Measures several rounds, and reports their times. The first one, which may load something,
/// counts like the others: it is never the shortest. A round in which the host preempted the thread
/// is invalid: it is measured again, and if the host preempts every round, nothing is reported.
fn report(
    probe: &Probe<'_>,
    measure: Measure,
    round: &mut dyn FnMut() -> Result<f64, Fault>,
) -> Result<(), Fault> {
    let mut times = Vec::with_capacity(ROUNDS);
    for _ in 0..MOST_ROUNDS {
        let before = count_preemptions();
        let took = round()?;
        if count_preemptions() == before {
            times.push(took);
        }
        if times.len() == ROUNDS {
            break;
        }
    }
    if times.is_empty() {
        return Ok(());
    }
    times.sort_by(f64::total_cmp);
    probe.reporter.write_event(&Event::Time {
        measure,
        best_ms: times[0],
        median_ms: times[times.len() / 2],
        worst_ms: times[times.len() - 1],
        rounds: u32::try_from(times.len()).unwrap_or(u32::MAX),
    });
    Ok(())
}

/// The time of synchronous work, in milliseconds.
fn by_clock(work: impl FnOnce() -> Result<(), Fault>) -> Result<f64, Fault> {
    let start = Instant::now();
    work()?;
    Ok(start.elapsed().as_secs_f64() * 1e3)
}
