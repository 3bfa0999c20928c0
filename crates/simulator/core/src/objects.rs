//! The objects that one library makes and another one reads.

use std::ffi::c_void;

/// Work that a stream runs: it returns 0 or the code of its failure, and frees its argument.
pub type Work = unsafe extern "C" fn(*mut c_void) -> i32;

/// The beginning of what an `aclrtStream` points to.
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

/// What an `aclTensor *` points to.
#[repr(C)]
pub struct TensorObject {
    pub magic: u64,
    pub dtype: i32,
    pub dimensions: Vec<i64>,
    pub data: *mut u8,
}

impl TensorObject {
    /// How many elements it has.
    pub fn count(&self) -> usize {
        self.dimensions.iter().product::<i64>() as usize
    }
}

/// What an `aclScalar *` points to.
#[repr(C)]
pub struct ScalarObject {
    pub magic: u64,
    pub dtype: i32,
    pub bits: u64,
}

/// Begins a compiled kernel; its name follows.
pub const KERNEL: &[u8] = b"\x7fASCSIM kernel ";
/// The only kernel that there is: `out = one + other` over 32-bit integers.
pub const ADD: &str = "ascend_doctor_probe_add";
/// Elements that one block of it adds.
pub const STRIPE: usize = 8192;
