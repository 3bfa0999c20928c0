//! The simulated `libnnopbase.so`: tensors and scalars.

use std::ffi::c_void;

use acl_abi::values::{ACL_ERROR_INVALID_PARAM, ACL_FORMAT_ND};
use acl_abi::{Scalar, Status, Tensor};
use sim_core::objects::{SCALAR, ScalarObject, TENSOR, TensorObject};

sim_core::identify!();

sim_core::export! {
    fn aclCreateTensor(sizes: *const i64, dimensions: u64, dtype: i32, strides: *const i64,
        offset: i64, format: i32, storage: *const i64, storage_dimensions: u64, data: *mut c_void
    ) -> Tensor |_| {
        if sizes.is_null() || dimensions == 0 || format != ACL_FORMAT_ND || offset != 0 {
            return Tensor::NULL;
        }
        let Some(width) = sim_core::float::width(dtype) else { return Tensor::NULL };
        let list = |from: *const i64, count: u64| -> Vec<i64> {
            if from.is_null() {
                return Vec::new();
            }
            // SAFETY: the caller passes as many numbers as declared.
            unsafe { std::slice::from_raw_parts(from, count as usize) }.to_vec()
        };
        let dimensions_ = list(sizes, dimensions);
        // Only dense tensors are simulated; wrong strides are an error.
        let mut dense = 1;
        for (size, stride) in dimensions_.iter().zip(list(strides, dimensions)).rev() {
            if stride != dense {
                return Tensor::NULL;
            }
            dense *= size;
        }
        let stored: i64 = list(storage, storage_dimensions).iter().product();
        if stored < dense || !(data as usize).is_multiple_of(width) {
            return Tensor::NULL;
        }
        let tensor =
            TensorObject { magic: TENSOR, dtype, dimensions: dimensions_, data: data.cast() };
        Tensor(Box::into_raw(Box::new(tensor)).cast())
    }

    fn aclDestroyTensor(tensor: Tensor) -> Status |_| {
        let object = tensor.0.cast::<TensorObject>();
        // SAFETY: the caller passes the result of `aclCreateTensor`; the mark shows misuse.
        unsafe {
            if object.is_null() || (*object).magic != TENSOR {
                return ACL_ERROR_INVALID_PARAM;
            }
            (*object).magic = 0;
            drop(Box::from_raw(object));
        }
        0
    }

    fn aclCreateScalar(value: *mut c_void, dtype: i32) -> Scalar |_| {
        let Some(width) = sim_core::float::width(dtype).filter(|_| !value.is_null()) else {
            return Scalar::NULL;
        };
        let mut bits = [0u8; 8];
        // SAFETY: the caller passes a value of this type.
        unsafe { std::ptr::copy_nonoverlapping(value.cast(), bits.as_mut_ptr(), width) };
        let scalar = ScalarObject { magic: SCALAR, dtype, bits: u64::from_le_bytes(bits) };
        Scalar(Box::into_raw(Box::new(scalar)).cast())
    }

    fn aclDestroyScalar(scalar: Scalar) -> Status |_| {
        let object = scalar.0.cast::<ScalarObject>();
        // SAFETY: as for tensors.
        unsafe {
            if object.is_null() || (*object).magic != SCALAR {
                return ACL_ERROR_INVALID_PARAM;
            }
            (*object).magic = 0;
            drop(Box::from_raw(object));
        }
        0
    }
}
