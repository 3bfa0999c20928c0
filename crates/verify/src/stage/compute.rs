//! Stage 3: the operators of the installed packages compute correct results.

use acl_abi::Tensor;

use super::{GUARD, GUARD_SIZE, Probe, data_fault};
use crate::protocol::{CoreKind, DataLocation, Dtype, Event, Fault, Level, RetryResult, Stage};
use crate::reporter::{Measurements, StageAborted, StepResult};
use crate::soc::{supports_add, supports_matmul};
use crate::vendor::{Buffer, Operator, Plan};
use base::chip::ChipFamily;
use probe_numbers::{
    Case, Expected, POISON, SEEDS, Shape, addition, elements, large_product, near_addition,
    near_product, product,
};

/// "The parameters are not valid": returned by an operator that is unavailable for this chip or
/// type.
const NOT_VALID: i32 = 161_002;
/// "There is no kernel": the same, detected later.
const NO_KERNEL: i32 = 561_003;

/// The largest part of a result that one Cube Core computes: its result buffer holds 128 by 256
/// single-precision numbers (`l0_c_size` of the platform configuration: 128 KiB).
const TILE: [usize; 2] = [128, 256];
/// The number of Cube Cores if the runtime does not report it: no known chip has more (36).
const MOST_CUBE_CORES: u32 = 36;
/// The minimum number of elements that one Vector Core adds: more than operators assign to one core
/// for small work.
const VECTOR_SHARE: usize = 4096;
/// The number of Vector Cores if the runtime does not report it.
const MOST_VECTOR_CORES: u32 = 72;

/// Rows and columns of a product with at least as many parts as there are cores.
fn spread(cores: u32) -> [usize; 2] {
    let cores = usize::try_from(cores).unwrap_or(usize::MAX).clamp(1, 4096);
    // As square as wide parts allow: rows first.
    let mut rows = 1;
    while rows * rows < 2 * cores {
        rows += 1;
    }
    let columns = cores.div_ceil(rows);
    [rows * TILE[0], columns * TILE[1]]
}

/// The number of parts of a product of this shape.
fn count_parts([rows, columns]: [usize; 2]) -> u32 {
    let parts = (rows / TILE[0]) * (columns / TILE[1]);
    u32::try_from(parts).unwrap_or(u32::MAX)
}

/// Runs the stage.
pub fn run_compute(probe: &Probe<'_>) -> Result<(), StageAborted> {
    let chip = ChipFamily::from_soc(&probe.soc);
    let standard = probe.order.level >= Level::Standard;
    let [seed, product_seed] = SEEDS;
    let floats = || probe.order.dtypes.iter().filter(|dtype| **dtype != Dtype::Int32);
    let add = |dtype: Dtype, count: usize, lane: &str, case: &dyn Fn() -> Case| {
        let step = format!("aclnnAdd {}{lane} [{count}]", dtype.as_str());
        probe.reporter.run_step(Stage::Compute, &step, || {
            check_support(supports_add(chip, dtype), probe, || {
                let shapes = Shapes::of_addition(count);
                run(probe, Operator::Add, dtype, &case(), &shapes, &step)
            })
        })
    };
    let multiply = |dtype: Dtype, shape: Shape, lane: &str, case: &dyn Fn() -> Case| {
        let Shape { rows, inner, columns } = shape;
        let sizes = if rows == inner && inner == columns {
            format!("[{rows}, {rows}]")
        } else {
            format!("[{rows}, {inner}] x [{inner}, {columns}]")
        };
        let step = format!("aclnnMatmul {}{lane} {sizes}", dtype.as_str());
        probe.reporter.run_step(Stage::Compute, &step, || {
            check_support(supports_matmul(chip, dtype), probe, || {
                let shapes = Shapes::of_product(shape);
                run(probe, Operator::Matmul, dtype, &case(), &shapes, &step)
            })
        })
    };
    let vector_cores = probe.vector_cores.unwrap_or(MOST_VECTOR_CORES);
    let shares = usize::try_from(vector_cores).unwrap_or(usize::MAX).saturating_mul(VECTOR_SHARE);
    for dtype in &probe.order.dtypes {
        let count = if standard { 1 << 20 } else { 1 << 16 };
        let count = count.max(shares.next_multiple_of(1 << 16).min(1 << 22));
        add(*dtype, count, "", &|| addition(*dtype, count, seed).into())?;
        write_coverage(probe, Operator::Add, *dtype, count / VECTOR_SHARE);
    }
    for dtype in floats() {
        multiply(*dtype, Shape::square(128), "", &|| product(*dtype, 128, product_seed).into())?;
        // Sums over more products need not be exact in bfloat16.
        let inner = if *dtype == Dtype::Bf16 { 128 } else { 256 };
        let [rows, columns] = spread(probe.cube_cores.unwrap_or(MOST_CUBE_CORES));
        let wide = Shape { rows, inner, columns };
        multiply(*dtype, wide, "", &|| large_product(*dtype, wide, product_seed))?;
        let parts = usize::try_from(count_parts([rows, columns])).unwrap_or(usize::MAX);
        write_coverage(probe, Operator::Matmul, *dtype, parts);
        if standard && *dtype != Dtype::Bf16 {
            let large = Shape::square(512);
            multiply(*dtype, large, "", &|| large_product(*dtype, large, product_seed))?;
        }
    }
    if standard {
        for dtype in floats() {
            add(*dtype, 1 << 16, " random", &|| near_addition(*dtype, 1 << 16, seed))?;
        }
        for dtype in floats() {
            let shape = Shape::square(128);
            multiply(*dtype, shape, " random", &|| near_product(*dtype, 128, product_seed))?;
        }
    }
    Ok(())
}

/// Reports the number of cores that had work in an operation. The operator itself decides how to
/// split it.
fn write_coverage(probe: &Probe<'_>, operator: Operator, dtype: Dtype, parts: usize) {
    let chip = ChipFamily::from_soc(&probe.soc);
    let (name, cores, known) = match operator {
        Operator::Add => ("aclnnAdd", CoreKind::Vector, supports_add(chip, dtype)),
        Operator::Matmul => ("aclnnMatmul", CoreKind::Cube, supports_matmul(chip, dtype)),
    };
    if known != Some(false) {
        probe.reporter.write_event(&Event::Coverage {
            operation: format!("{name} {}", dtype.as_str()),
            cores,
            blocks: u32::try_from(parts).unwrap_or(u32::MAX),
            seen: false,
        });
    }
}

/// The shapes of the operands and of the result.
struct Shapes {
    one: Vec<i64>,
    other: Vec<i64>,
    out: Vec<i64>,
}

impl Shapes {
    fn of_addition(count: usize) -> Self {
        let shape = vec![i64::try_from(count).unwrap_or(i64::MAX)];
        Self { one: shape.clone(), other: shape.clone(), out: shape }
    }

    fn of_product(shape: Shape) -> Self {
        let [rows, inner, columns] = [shape.rows, shape.inner, shape.columns]
            .map(|size| i64::try_from(size).unwrap_or(i64::MAX));
        Self { one: vec![rows, inner], other: vec![inner, columns], out: vec![rows, columns] }
    }
}

/// Skips operations that the chip does not support. For an unknown chip, the library decides.
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

/// Runs an operator once, or twice if the result was wrong.
fn run(
    probe: &Probe<'_>,
    operator: Operator,
    dtype: Dtype,
    case: &Case,
    shapes: &Shapes,
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
    let (milliseconds, got) = run_once(probe, operator, dtype, &memory, shapes)?;
    let (result, behind) = got.split_at(case.size);
    if let Some(found) = case.expected.differs(dtype, result) {
        let (_, second) = run_once(probe, operator, dtype, &memory, shapes)?;
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
    shapes: &Shapes,
) -> Result<(f64, Vec<u8>), Fault> {
    let vendor = probe.vendor;
    let mut blank = vec![POISON; memory.out.size() - GUARD_SIZE];
    blank.resize(memory.out.size(), GUARD);
    vendor.upload(&memory.out, &blank)?;
    let one = vendor.create_tensor(&memory.one, &shapes.one, dtype.acl())?;
    let other = vendor.create_tensor(&memory.other, &shapes.other, dtype.acl())?;
    let out = vendor.create_tensor(&memory.out, &shapes.out, dtype.acl())?;
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
pub(super) fn scalar_type(dtype: Dtype) -> i32 {
    match dtype {
        Dtype::Int32 => Dtype::Int32.acl(),
        _ => Dtype::Fp32.acl(),
    }
}

/// The value one in that type.
pub(super) fn encode_one(dtype: Dtype) -> [u8; 8] {
    let mut bytes = Vec::new();
    if dtype == Dtype::Int32 { Dtype::Int32 } else { Dtype::Fp32 }.encode(1, &mut bytes);
    bytes.resize(8, 0);
    bytes.try_into().unwrap_or_default()
}

/// The location of wrong data for an unexpected result.
const fn data_location(expected: &Expected) -> DataLocation {
    match expected {
        Expected::Exact(_) | Expected::Product { .. } => DataLocation::Result,
        Expected::Near(_) => DataLocation::Tolerance,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every chip of the platform configuration gets work for all of its cores.
    #[test]
    fn products_have_parts_for_every_core() {
        for chip in &data::VerifyLimits::builtin().chip {
            let shape = spread(chip.cube_cores);
            assert!(count_parts(shape) >= chip.cube_cores, "{}: {shape:?}", chip.soc);
            assert!(chip.cube_cores <= MOST_CUBE_CORES, "{}", chip.soc);
            assert!(chip.vector_cores <= MOST_VECTOR_CORES, "{}", chip.soc);
        }
        assert_eq!(spread(1), [256, 256]);
        assert_eq!(spread(20), [7 * 128, 3 * 256]);
        for cores in 1..200 {
            let parts = count_parts(spread(cores));
            assert!(parts >= cores && parts < 2 * cores + 6, "{cores}: {parts}");
        }
    }
}
