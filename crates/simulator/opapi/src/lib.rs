//! The simulated `libopapi.so`: addition and matrix multiplication, run on a stream.

use std::ffi::c_void;

use acl_abi::values::{ACL_BF16, ACL_FLOAT, ACL_FLOAT16, ACL_INT32};
use acl_abi::{Executor, Scalar, Status, Stream, Tensor};
use sim_core::objects::{SCALAR, STREAM, ScalarObject, StreamHead, TENSOR, TensorObject};
use sim_core::{Effect, float, strike};

sim_core::identify!();

/// "Parameter invalid" of the operators.
const ACLNN_ERR_PARAM_INVALID: i32 = 161_002;
/// A null pointer among the parameters.
const ACLNN_ERR_PARAM_NULLPTR: i32 = 161_001;
/// "The path of the operator packages is not found."
const ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND: i32 = 561_107;

/// Whether operators are found: with `ASCSIM_NEEDS_OPP=1`, only if `ASCEND_OPP_PATH` is set, as in
/// the real library.
fn has_operators() -> bool {
    let wanted = sim_core::setting("ASCSIM_NEEDS_OPP", 0) == 1;
    !wanted || std::env::var_os("ASCEND_OPP_PATH").is_some()
}

/// The scratch memory required by matrix multiplication.
const WORKSPACE: u64 = 4096;

enum Operation {
    Add { alpha: f32 },
    Matmul { rows: usize, inner: usize, columns: usize },
}

struct Plan {
    operation: Operation,
    dtype: i32,
    one: *const u8,
    other: *const u8,
    out: *mut u8,
    counts: [usize; 3],
    workspace: u64,
}

/// # Safety
/// `tensor` is null or the result of the simulated `aclCreateTensor`.
unsafe fn tensor<'a>(tensor: Tensor) -> Result<&'a TensorObject, i32> {
    // SAFETY: by contract; the mark shows misuse.
    match unsafe { tensor.0.cast::<TensorObject>().as_ref() } {
        None => Err(ACLNN_ERR_PARAM_NULLPTR),
        Some(object) if object.magic != TENSOR => Err(ACLNN_ERR_PARAM_INVALID),
        Some(object) => Ok(object),
    }
}

fn supports(dtype: i32) -> bool {
    let soc = sim_core::soc();
    let second = soc.starts_with("Ascend910_93")
        || soc.starts_with("Ascend950")
        || (soc.starts_with("Ascend910B") && soc != "Ascend910B");
    match dtype {
        ACL_BF16 => second,
        ACL_FLOAT | ACL_FLOAT16 | ACL_INT32 => true,
        _ => false,
    }
}

/// # Safety
/// The pointers are valid for writing.
unsafe fn hand_over(plan: Result<Plan, i32>, size: *mut u64, executor: *mut Executor) -> Status {
    match plan {
        Err(code) => code,
        Ok(plan) => {
            // SAFETY: by contract.
            unsafe {
                size.write(plan.workspace);
                executor.write(Executor(Box::into_raw(Box::new(plan)).cast()));
            }
            0
        }
    }
}

/// # Safety
/// The executor is the result of the first phase, the stream a live one.
unsafe fn launch(workspace: *mut c_void, size: u64, executor: Executor, stream: Stream) -> Status {
    // SAFETY: by contract.
    unsafe {
        if executor.0.is_null() || stream.0.is_null() {
            return ACLNN_ERR_PARAM_NULLPTR;
        }
        let plan = executor.0.cast::<Plan>();
        if (*plan).workspace > size || ((*plan).workspace > 0 && workspace.is_null()) {
            return ACLNN_ERR_PARAM_INVALID;
        }
        let head = stream.0.cast::<StreamHead>();
        if (*head).magic != STREAM {
            return ACLNN_ERR_PARAM_INVALID;
        }
        ((*head).enqueue)(stream.0, run, plan.cast())
    }
}

/// # Safety
/// The argument is a plan.
unsafe extern "C" fn run(plan: *mut c_void) -> i32 {
    // SAFETY: by contract; device memory is memory of this process here.
    let plan = unsafe { Box::from_raw(plan.cast::<Plan>()) };
    let corruption = match strike("kernel") {
        Effect::Return(code) => return code,
        Effect::Go(corruption) => corruption,
    };
    let Some(width) = float::width(plan.dtype) else { return 507_015 };
    // SAFETY: the first phase checked the sizes, and the caller keeps the buffers.
    let (one, other, out) = unsafe {
        (
            std::slice::from_raw_parts(plan.one, plan.counts[0] * width),
            std::slice::from_raw_parts(plan.other, plan.counts[1] * width),
            std::slice::from_raw_parts_mut(plan.out, plan.counts[2] * width),
        )
    };
    let mut result = compute(&plan, one, other);
    let mut count = result.len();
    if let Some(corruption) = corruption {
        corruption.apply(&mut result, width);
        count = corruption.written(count);
        if corruption == sim_core::Corruption::Over {
            // SAFETY: the probe has a guard behind its output; elsewhere this is the fault.
            unsafe { plan.out.add(result.len()).write_bytes(0x33, 64) };
        }
    }
    out[..count].copy_from_slice(&result[..count]);
    0
}

fn compute(plan: &Plan, one: &[u8], other: &[u8]) -> Vec<u8> {
    match plan.operation {
        Operation::Add { alpha } if plan.dtype == ACL_INT32 => {
            let number = |b: &[u8]| i32::from_le_bytes([b[0], b[1], b[2], b[3]]);
            one.chunks_exact(4)
                .zip(other.chunks_exact(4))
                .flat_map(|(a, b)| {
                    number(a).wrapping_add(number(b).wrapping_mul(alpha as i32)).to_le_bytes()
                })
                .collect()
        }
        Operation::Add { alpha } => {
            let (a, b) = (float::load(one, plan.dtype), float::load(other, plan.dtype));
            let sums: Vec<f32> = a.iter().zip(&b).map(|(a, b)| a + alpha * b).collect();
            float::store(&sums, plan.dtype)
        }
        Operation::Matmul { rows, inner, columns } => {
            let (a, b) = (float::load(one, plan.dtype), float::load(other, plan.dtype));
            let mut product = vec![0f32; rows * columns];
            for row in 0..rows {
                let out = &mut product[row * columns..(row + 1) * columns];
                for k in 0..inner {
                    let factor = a[row * inner + k];
                    let line = &b[k * columns..(k + 1) * columns];
                    out.iter_mut().zip(line).for_each(|(sum, b)| *sum += factor * b);
                }
            }
            float::store(&product, plan.dtype)
        }
    }
}

sim_core::export! {
    fn aclnnAddGetWorkspaceSize(one: Tensor, other: Tensor, alpha: Scalar, out: Tensor,
        size: *mut u64, executor: *mut Executor
    ) -> Status |_| {
        let plan = || {
            // SAFETY: the caller passes objects of this simulator.
            let (one, other, out, alpha) = unsafe {
                let alpha = alpha.0.cast::<ScalarObject>().as_ref();
                (tensor(one)?, tensor(other)?, tensor(out)?, alpha)
            };
            let alpha = alpha.ok_or(ACLNN_ERR_PARAM_NULLPTR)?;
            if !has_operators() {
                return Err(ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND);
            }
            let soc = sim_core::soc();
            let same = one.dtype == other.dtype && one.dtype == out.dtype
                && one.dimensions == other.dimensions && one.dimensions == out.dimensions;
            let inference = soc.starts_with("Ascend310P") || soc.starts_with("Ascend310B");
            if alpha.magic != SCALAR || !same || inference || !supports(one.dtype) {
                return Err(ACLNN_ERR_PARAM_INVALID);
            }
            let alpha = match alpha.dtype {
                ACL_FLOAT => f32::from_bits(alpha.bits as u32),
                _ => alpha.bits as i64 as f32,
            };
            let count = one.count();
            Ok(Plan { operation: Operation::Add { alpha }, dtype: one.dtype, one: one.data,
                other: other.data, out: out.data, counts: [count; 3], workspace: 0 })
        };
        // SAFETY: the caller passes valid pointers for the results.
        unsafe { hand_over(plan(), size, executor) }
    }

    fn aclnnAdd(workspace: *mut c_void, size: u64, executor: Executor, stream: Stream
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        unsafe { launch(workspace, size, executor, stream) }
    }

    fn aclnnMatmulGetWorkspaceSize(left: Tensor, right: Tensor, out: Tensor, cube: i8,
        size: *mut u64, executor: *mut Executor
    ) -> Status |_| {
        let plan = || {
            // SAFETY: the caller passes objects of this simulator.
            let (one, other, out) = unsafe { (tensor(left)?, tensor(right)?, tensor(out)?) };
            let (&[rows, inner], &[inner_, columns], &[rows_, columns_]) =
                (&one.dimensions[..], &other.dimensions[..], &out.dimensions[..])
            else {
                return Err(ACLNN_ERR_PARAM_INVALID);
            };
            let fits = inner == inner_ && rows == rows_ && columns == columns_
                && one.dtype == other.dtype && one.dtype == out.dtype
                && one.dtype != ACL_INT32 && (0..=3).contains(&cube);
            if !fits || !supports(one.dtype) || sim_core::soc().starts_with("Ascend310B") {
                return Err(ACLNN_ERR_PARAM_INVALID);
            }
            if !has_operators() {
                return Err(ACLNN_ERR_INNER_OPP_PATH_NOT_FOUND);
            }
            let operation = Operation::Matmul {
                rows: rows as usize, inner: inner as usize, columns: columns as usize };
            Ok(Plan { operation, dtype: one.dtype, one: one.data, other: other.data,
                out: out.data, counts: [one.count(), other.count(), out.count()],
                workspace: WORKSPACE })
        };
        // SAFETY: the caller passes valid pointers for the results.
        unsafe { hand_over(plan(), size, executor) }
    }

    fn aclnnMatmul(workspace: *mut c_void, size: u64, executor: Executor, stream: Stream
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        unsafe { launch(workspace, size, executor, stream) }
    }
}
