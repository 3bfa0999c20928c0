//! Operators of the installed packages: tensors, plans, launches.

use std::ptr::null_mut;

use acl_abi::values::{ACL_FORMAT_ND, ACL_SUCCESS};
use acl_abi::{Executor, Scalar, Stream, Tensor};

use super::{Buffer, Fault, Vendor};

/// A plan of an operator, and the size of its scratch memory in bytes.
#[derive(Debug)]
pub struct Plan {
    executor: Executor,
    /// The size of the scratch memory for [`Vendor::launch`].
    pub workspace: u64,
}

/// The operator of a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Operator {
    /// `aclnnAdd`.
    Add,
    /// `aclnnMatmul`.
    Matmul,
}

impl Vendor {
    /// A dense tensor at the beginning of device memory, of `dtype` (a value of `acl_abi`).
    pub fn create_tensor(
        &self,
        buffer: &Buffer,
        shape: &[i64],
        dtype: i32,
    ) -> Result<Tensor, Fault> {
        let mut strides = vec![1i64; shape.len()];
        for at in (1..shape.len()).rev() {
            strides[at - 1] = strides[at] * shape[at];
        }
        let (sizes, rank) = (shape.as_ptr(), shape.len() as u64);
        let data = buffer.pointer;
        let tensor = call!(
            self,
            aclCreateTensor(
                sizes,
                rank,
                dtype,
                strides.as_ptr(),
                0,
                ACL_FORMAT_ND,
                sizes,
                rank,
                data
            )
        );
        if tensor == Tensor::NULL {
            return Err(self.null_fault("aclCreateTensor"));
        }
        Ok(tensor)
    }

    /// Destroys a tensor; its memory stays.
    pub fn destroy_tensor(&self, tensor: Tensor) -> Result<(), Fault> {
        try_call!(self, aclDestroyTensor(tensor));
        Ok(())
    }

    /// A scalar, from the bytes of a value of `dtype`.
    pub fn create_scalar(&self, mut value: [u8; 8], dtype: i32) -> Result<Scalar, Fault> {
        let scalar = call!(self, aclCreateScalar(value.as_mut_ptr().cast(), dtype));
        if scalar == Scalar::NULL {
            return Err(self.null_fault("aclCreateScalar"));
        }
        Ok(scalar)
    }

    /// Destroys a scalar.
    pub fn destroy_scalar(&self, scalar: Scalar) -> Result<(), Fault> {
        try_call!(self, aclDestroyScalar(scalar));
        Ok(())
    }

    /// Plans `out = one + alpha * other`.
    pub fn plan_add(
        &self,
        one: Tensor,
        other: Tensor,
        alpha: Scalar,
        out: Tensor,
    ) -> Result<Plan, Fault> {
        let (mut workspace, mut executor) = (0, Executor::NULL);
        let (size, plan) = (&raw mut workspace, &raw mut executor);
        try_call!(self, aclnnAddGetWorkspaceSize(one, other, alpha, out, size, plan));
        if executor == Executor::NULL {
            return Err(self.null_fault("aclnnAddGetWorkspaceSize"));
        }
        Ok(Plan { executor, workspace })
    }

    /// Plans the product of two matrices in their own type.
    pub fn plan_matmul(&self, left: Tensor, right: Tensor, out: Tensor) -> Result<Plan, Fault> {
        let (mut workspace, mut executor) = (0, Executor::NULL);
        let (size, plan) = (&raw mut workspace, &raw mut executor);
        // 0: the type is kept.
        try_call!(self, aclnnMatmulGetWorkspaceSize(left, right, out, 0, size, plan));
        if executor == Executor::NULL {
            return Err(self.null_fault("aclnnMatmulGetWorkspaceSize"));
        }
        Ok(Plan { executor, workspace })
    }

    /// Puts a plan on a stream, with the scratch memory that it needs.
    ///
    /// # Panics
    /// If the memory is smaller than the plan requires.
    #[expect(clippy::needless_pass_by_value, reason = "it is used up")]
    pub fn launch(
        &self,
        operator: Operator,
        plan: Plan,
        scratch: Option<&Buffer>,
        stream: Stream,
    ) -> Result<(), Fault> {
        let (pointer, size) =
            scratch.map_or((null_mut(), 0), |scratch| (scratch.pointer, plan.workspace));
        assert!(scratch.is_none_or(|scratch| scratch.size as u64 >= plan.workspace));
        match operator {
            Operator::Add => try_call!(self, aclnnAdd(pointer, size, plan.executor, stream)),
            Operator::Matmul => try_call!(self, aclnnMatmul(pointer, size, plan.executor, stream)),
        }
        Ok(())
    }
}
