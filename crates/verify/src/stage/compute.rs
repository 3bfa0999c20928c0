//! Stage 3: the operators of the installed packages compute right numbers.

use acl_abi::Tensor;

use super::{GUARD, GUARD_SIZE, Probe, data_fault};
use crate::protocol::{DataLocation, Dtype, Fault, Level, RetryResult, Stage};
use crate::reporter::{Measurements, StageAborted, StepResult};
use crate::soc::{supports_add, supports_matmul};
use crate::vendor::{Buffer, Operator, Plan};
use base::chip::ChipFamily;
use probe_numbers::{
    Case, Expected, POISON, SEEDS, addition, elements, large_product, near_addition, near_product,
    product,
};

/// "The parameters are not valid": what an operator says that is not there for this chip or type.
const NOT_VALID: i32 = 161_002;
/// "There is no kernel": the same, said later.
const NO_KERNEL: i32 = 561_003;

/// Runs the stage.
pub fn run_compute(probe: &Probe<'_>) -> Result<(), StageAborted> {
    let chip = ChipFamily::from_soc(&probe.soc);
    let standard = probe.order.level >= Level::Standard;
    let [seed, product_seed] = SEEDS;
    let floats = || probe.order.dtypes.iter().filter(|dtype| **dtype != Dtype::Int32);
    let add = |dtype: Dtype, count: usize, lane: &str, case: &dyn Fn() -> Case| {
        let step = format!("aclnnAdd {}{lane} [{count}]", dtype.as_str());
        let shape = [i64::try_from(count).unwrap_or(i64::MAX)];
        probe.reporter.run_step(Stage::Compute, &step, || {
            check_support(supports_add(chip, dtype), probe, || {
                run(probe, Operator::Add, dtype, &case(), &shape, &step)
            })
        })
    };
    let multiply = |dtype: Dtype, size: usize, lane: &str, case: &dyn Fn() -> Case| {
        let step = format!("aclnnMatmul {}{lane} [{size}, {size}]", dtype.as_str());
        let shape = [i64::try_from(size).unwrap_or(i64::MAX); 2];
        probe.reporter.run_step(Stage::Compute, &step, || {
            check_support(supports_matmul(chip, dtype), probe, || {
                run(probe, Operator::Matmul, dtype, &case(), &shape, &step)
            })
        })
    };
    for dtype in &probe.order.dtypes {
        let count = if standard { 1 << 20 } else { 1 << 16 };
        add(*dtype, count, "", &|| addition(*dtype, count, seed).into())?;
    }
    for dtype in floats() {
        multiply(*dtype, 128, "", &|| product(*dtype, 128, product_seed).into())?;
        // Sums over more products need not be exact in brain float.
        if standard && *dtype != Dtype::Bf16 {
            multiply(*dtype, 512, "", &|| large_product(*dtype, 512, product_seed))?;
        }
    }
    if standard {
        for dtype in floats() {
            add(*dtype, 1 << 16, " random", &|| near_addition(*dtype, 1 << 16, seed))?;
        }
        // In single precision the order of a sum shows beyond the tolerance where a sum is near 0.
        for dtype in floats().filter(|dtype| **dtype != Dtype::Fp32) {
            multiply(*dtype, 128, " random", &|| near_product(*dtype, 128, product_seed))?;
        }
    }
    Ok(())
}

/// Leaves out what the chip does not do. Of a chip that nobody knows, the library decides.
fn check_support(
    known: Option<bool>,
    probe: &Probe<'_>,
    run: impl FnOnce() -> Result<StepResult, Fault>,
) -> Result<StepResult, Fault> {
    if known == Some(false) {
        return Ok(StepResult::NotSupported(probe.soc.clone()));
    }
    match run() {
        Err(Fault::Call { function, code, .. })
            if known.is_none()
                && function.ends_with("GetWorkspaceSize")
                && matches!(code, NOT_VALID | NO_KERNEL) =>
        {
            Ok(StepResult::NotSupported(format!("{function}: {code}")))
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
    case: &Case,
    shape: &[i64],
    operation: &str,
) -> Result<StepResult, Fault> {
    let vendor = probe.vendor;
    let memory = Memory {
        one: vendor.allocate(case.one.len())?,
        other: vendor.allocate(case.other.len())?,
        out: vendor.allocate(case.size + GUARD_SIZE)?,
    };
    vendor.upload(&memory.one, &case.one)?;
    vendor.upload(&memory.other, &case.other)?;
    let (milliseconds, got) = run_once(probe, operator, dtype, &memory, shape)?;
    let (result, behind) = got.split_at(case.size);
    if let Some(found) = case.expected.differs(dtype, result) {
        let (_, second) = run_once(probe, operator, dtype, &memory, shape)?;
        let second = &second[..case.size];
        let again = match case.expected.differs(dtype, second) {
            None => RetryResult::Right,
            Some(_) if second == result => RetryResult::Same,
            Some(_) => RetryResult::Different,
        };
        return Err(data_fault(operation, data_location(&case.expected), found, again));
    }
    if let Some(found) = elements(dtype, &[GUARD; GUARD_SIZE], behind) {
        return Err(data_fault(operation, DataLocation::Guard, found, RetryResult::Same));
    }
    for (buffer, sent) in [(&memory.one, &case.one), (&memory.other, &case.other)] {
        let mut back = vec![POISON; sent.len()];
        vendor.download(buffer, &mut back)?;
        if let Some(found) = elements(dtype, sent, &back) {
            return Err(data_fault(operation, DataLocation::Input, found, RetryResult::Same));
        }
    }
    vendor.free(memory.one)?;
    vendor.free(memory.other)?;
    vendor.free(memory.out)?;
    Ok(StepResult::Passed(Measurements {
        device_ms: Some(milliseconds),
        gb_per_s: None,
        relative_error: case.expected.relative_error(dtype, result),
    }))
}

/// Poisons the output, runs the operator, and reads the output with its guard.
fn run_once(
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
    let one = vendor.create_tensor(&memory.one, shape, dtype.acl())?;
    let other = vendor.create_tensor(&memory.other, shape, dtype.acl())?;
    let out = vendor.create_tensor(&memory.out, shape, dtype.acl())?;
    let milliseconds = match operator {
        Operator::Add => {
            let alpha = vendor.create_scalar(encode_one(dtype), scalar_type(dtype))?;
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
    let milliseconds = probe
        .measure_time(|| probe.vendor.launch(operator, plan, scratch.as_ref(), probe.stream))?;
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
fn encode_one(dtype: Dtype) -> [u8; 8] {
    let mut bytes = Vec::new();
    if dtype == Dtype::Int32 { Dtype::Int32 } else { Dtype::Fp32 }.encode(1, &mut bytes);
    bytes.resize(8, 0);
    bytes.try_into().unwrap_or_default()
}

/// What is wrong if a result is not as expected.
const fn data_location(expected: &Expected) -> DataLocation {
    match expected {
        Expected::Exact(_) | Expected::Product { .. } => DataLocation::Result,
        Expected::Near(_) => DataLocation::Tolerance,
    }
}
