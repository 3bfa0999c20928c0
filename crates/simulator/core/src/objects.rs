//! Objects that one library creates and another one reads.

use std::ffi::c_void;

/// Work that a stream runs: it returns 0 or the code of its failure, and frees its argument.
pub type Work = unsafe extern "C" fn(*mut c_void) -> i32;

/// The beginning of the target of an `aclrtStream`.
#[repr(C)]
pub struct StreamHead {
    /// [`STREAM`].
    pub magic: u64,
    /// Puts work on the stream.
    pub enqueue: unsafe extern "C" fn(*mut c_void, Work, *mut c_void) -> i32,
}

/// Marks a live stream.
pub const STREAM: u64 = 0x5354_5245_414d_0001;
/// Marks a live tensor.
pub const TENSOR: u64 = 0x5445_4e53_4f52_0001;
/// Marks a live scalar.
pub const SCALAR: u64 = 0x5343_414c_4152_0001;

/// The target of an `aclTensor *`.
#[repr(C)]
pub struct TensorObject {
    pub magic: u64,
    pub dtype: i32,
    pub dimensions: Vec<i64>,
    pub data: *mut u8,
}

impl TensorObject {
    /// The number of its elements.
    pub fn count(&self) -> usize {
        self.dimensions.iter().product::<i64>() as usize
    }
}

/// The target of an `aclScalar *`.
#[repr(C)]
pub struct ScalarObject {
    pub magic: u64,
    pub dtype: i32,
    pub bits: u64,
}

/// The start of a compiled kernel; its name follows.
pub const KERNEL: &[u8] = b"\x7fASCSIM kernel ";
/// The only kernel: `out = one + other` over 32-bit integers.
pub const ADD: &str = "ascend_doctor_probe_add";
/// The number of elements that one of its blocks adds.
pub const STRIPE: usize = 8192;
