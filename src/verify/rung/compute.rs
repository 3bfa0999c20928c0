//! Rung 3: the operators of the installed packages compute right numbers.

use acl_abi::Tensor;

use super::{Ended, GUARD, GUARD_SIZE, Measured, POISON, Probe, Stopped, again, wrong};
use crate::verify::numerics::{Difference, Exact, addition, compare, product};
use crate::verify::protocol::{Again, Dtype, Fault, Level, Place, Rung};
use crate::verify::soc::{adds, generation, multiplies};
use crate::verify::vendor::{Buffer, Operator, Plan};

/// "The parameters are not valid": what an operator says that is not there for this chip or type.
const NOT_VALID: i32 = 161_002;
/// "There is no kernel": the same, said later.
const NO_KERNEL: i32 = 561_003;

/// Runs the rung.
pub fn compute(probe: &Probe<'_>) -> Result<(), Stopped> {
    let chip = generation(&probe.soc);
    let (count, sizes): (usize, &[usize]) = match probe.order.level {
        Level::Quick => (1 << 16, &[128]),
        Level::Standard => (1 << 20, &[64, 128, 256]),
    };
    for dtype in &probe.order.dtypes {
        let stage = format!("aclnnAdd {} [{count}]", dtype.as_str());
        probe.reporter.stage(Rung::Compute, &stage, || {
            supported(adds(chip, *dtype), probe, || {
                let shape = [i64::try_from(count).unwrap_or(i64::MAX)];
                let exact = addition(*dtype, count, 0xadd);
                run(probe, Operator::Add, *dtype, &exact, &shape, &stage)
            })
        })?;
    }
    for dtype in probe.order.dtypes.iter().filter(|dtype| **dtype != Dtype::Int32) {
        // Sums over more than 128 products need not be exact in brain float.
        for size in sizes.iter().filter(|size| *dtype != Dtype::Bf16 || **size <= 128) {
            let stage = format!("aclnnMatmul {} [{size}, {size}]", dtype.as_str());
            probe.reporter.stage(Rung::Compute, &stage, || {
                supported(multiplies(chip, *dtype), probe, || {
                    let side = i64::try_from(*size).unwrap_or(i64::MAX);
                    let exact = product(*dtype, *size, 0x3a7);
                    run(probe, Operator::Matmul, *dtype, &exact, &[side, side], &stage)
                })
            })?;
        }
    }
    Ok(())
}

/// Leaves out what the chip does not do. Of a chip that nobody knows, the library decides.
fn supported(
    known: Option<bool>,
    probe: &Probe<'_>,
    run: impl FnOnce() -> Result<Ended, Fault>,
) -> Result<Ended, Fault> {
    if known == Some(false) {
        return Ok(Ended::NotSupported(probe.soc.clone()));
    }
    match run() {
        Err(Fault::Call { function, code, .. })
            if known.is_none()
                && function.ends_with("GetWorkspaceSize")
                && matches!(code, NOT_VALID | NO_KERNEL) =>
        {
            Ok(Ended::NotSupported(format!("{function}: {code}")))
        }
        other => other,
    }
}

/// The memory of one operation.
struct Memory {
    one: Buffer,
    other: Buffer,
    out: Buffer,
}

/// Runs an operator once, or twice if it was wrong.
fn run(
    probe: &Probe<'_>,
    operator: Operator,
    dtype: Dtype,
    exact: &Exact,
    shape: &[i64],
    operation: &str,
) -> Result<Ended, Fault> {
    let vendor = probe.vendor;
    let memory = Memory {
        one: vendor.allocate(exact.one.len())?,
        other: vendor.allocate(exact.other.len())?,
        out: vendor.allocate(exact.result.len() + GUARD_SIZE)?,
    };
    vendor.upload(&memory.one, &exact.one)?;
    vendor.upload(&memory.other, &exact.other)?;
    let (milliseconds, got) = once(probe, operator, dtype, &memory, shape)?;
    let (result, behind) = got.split_at(exact.result.len());
    if let Some(found) = elements(dtype, &exact.result, result) {
        let (_, second) = once(probe, operator, dtype, &memory, shape)?;
        let again = again(result, &second[..exact.result.len()], &exact.result);
        return Err(wrong(operation, Place::Result, found, again));
    }
    if let Some(found) = elements(dtype, &[GUARD; GUARD_SIZE], behind) {
        return Err(wrong(operation, Place::Guard, found, Again::Same));
    }
    for (buffer, sent) in [(&memory.one, &exact.one), (&memory.other, &exact.other)] {
        let mut back = vec![POISON; sent.len()];
        vendor.download(buffer, &mut back)?;
        if let Some(found) = elements(dtype, sent, &back) {
            return Err(wrong(operation, Place::Input, found, Again::Same));
        }
    }
    vendor.free(memory.one)?;
    vendor.free(memory.other)?;
    vendor.free(memory.out)?;
    Ok(Ended::Passed(Measured { device_ms: Some(milliseconds), bytes: None }))
}

/// Poisons the output, runs the operator, and reads the output with its guard.
fn once(
    probe: &Probe<'_>,
    operator: Operator,
    dtype: Dtype,
    memory: &Memory,
    shape: &[i64],
) -> Result<(f64, Vec<u8>), Fault> {
    let vendor = probe.vendor;
    let mut blank = vec![POISON; memory.out.size() - GUARD_SIZE];
    blank.resize(memory.out.size(), GUARD);
    vendor.upload(&memory.out, &blank)?;
    let one = vendor.tensor(&memory.one, shape, dtype.acl())?;
    let other = vendor.tensor(&memory.other, shape, dtype.acl())?;
    let out = vendor.tensor(&memory.out, shape, dtype.acl())?;
    let milliseconds = match operator {
        Operator::Add => {
            let alpha = vendor.scalar(unit(dtype), scalar_type(dtype))?;
            let plan = vendor.plan_add(one, other, alpha, out)?;
            let milliseconds = launch(probe, operator, plan)?;
            vendor.destroy_scalar(alpha)?;
            milliseconds
        }
        Operator::Matmul => launch(probe, operator, vendor.plan_matmul(one, other, out)?)?,
    };
    destroy(probe, [one, other, out])?;
    let mut got = vec![!POISON; memory.out.size()];
    vendor.download(&memory.out, &mut got)?;
    Ok((milliseconds, got))
}

fn launch(probe: &Probe<'_>, operator: Operator, plan: Plan) -> Result<f64, Fault> {
    let size = usize::try_from(plan.workspace).unwrap_or(usize::MAX);
    let scratch = if size > 0 { Some(probe.vendor.allocate(size)?) } else { None };
    let milliseconds =
        probe.timed(|| probe.vendor.launch(operator, plan, scratch.as_ref(), probe.stream))?;
    if let Some(scratch) = scratch {
        probe.vendor.free(scratch)?;
    }
    Ok(milliseconds)
}

fn destroy(probe: &Probe<'_>, tensors: [Tensor; 3]) -> Result<(), Fault> {
    tensors.into_iter().try_for_each(|tensor| probe.vendor.destroy_tensor(tensor))
}

/// The type of the factor: integers take an integer, all floats a single.
fn scalar_type(dtype: Dtype) -> i32 {
    match dtype {
        Dtype::Int32 => Dtype::Int32.acl(),
        _ => Dtype::Fp32.acl(),
    }
}

/// One, in that type.
fn unit(dtype: Dtype) -> [u8; 8] {
    let mut bytes = Vec::new();
    if dtype == Dtype::Int32 { Dtype::Int32 } else { Dtype::Fp32 }.encode(1, &mut bytes);
    bytes.resize(8, 0);
    bytes.try_into().unwrap_or_default()
}

fn elements(dtype: Dtype, expected: &[u8], got: &[u8]) -> Option<Difference> {
    compare(expected, got, dtype.width(), POISON, dtype != Dtype::Int32, |element| {
        let value = dtype.decode(element);
        (value.to_string(), value.is_finite())
    })
}
