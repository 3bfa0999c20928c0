//! Functions between devices: access to each other's memory, and sums over all of them.

use std::ptr::null_mut;

use acl_abi::values::{
    ACL_MEM_MALLOC_HUGE_FIRST_P2P, ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_SUCCESS, HCCL_REDUCE_SUM,
};
use acl_abi::{Communicator, RootInfo, Stream};

use super::{Buffer, Fault, Vendor};

/// Like `try_call!`, for functions of HCCL: their codes differ, and the runtime's message may
/// belong to another function.
macro_rules! try_hccl {
    ($vendor:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let code = call!($vendor, $name($($arg),*));
        if code != ACL_SUCCESS {
            return Err(Fault::Hccl {
                function: stringify!($name).to_owned(),
                code,
                message: $vendor.last_error(),
            });
        }
    }};
}

impl Vendor {
    /// Whether one device can use the memory of another.
    pub fn can_access_peer(&self, device: i32, peer: i32) -> Result<bool, Fault> {
        let mut can = 0;
        try_call!(self, aclrtDeviceCanAccessPeer(&raw mut can, device, peer));
        Ok(can == 1)
    }

    /// Lets the device of this thread use the memory of another one.
    pub fn enable_peer(&self, peer: i32) -> Result<(), Fault> {
        try_call!(self, aclrtDeviceEnablePeerAccess(peer, 0));
        Ok(())
    }

    /// Memory of the device of this thread that other devices can access.
    pub fn allocate_shared(&self, size: usize) -> Result<Buffer, Fault> {
        let mut pointer = null_mut();
        try_call!(self, aclrtMalloc(&raw mut pointer, size, ACL_MEM_MALLOC_HUGE_FIRST_P2P));
        if pointer.is_null() {
            return Err(self.null_fault("aclrtMalloc"));
        }
        Ok(Buffer { pointer, size })
    }

    /// Copies between the memory of devices, and waits for the end.
    ///
    /// # Panics
    /// If it does not fit: the stages allocate the memory that they copy.
    pub fn copy_over(&self, from: &Buffer, to: &Buffer, count: usize) -> Result<(), Fault> {
        assert!(count <= from.size && count <= to.size, "the rungs allocate what they copy");
        let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
        try_call!(self, aclrtMemcpy(to.pointer, to.size, from.pointer, count, kind));
        Ok(())
    }

    /// The information that all ranks of a new communicator need.
    pub fn create_root_info(&self) -> Result<Box<RootInfo>, Fault> {
        let mut info = Box::new(RootInfo { bytes: [0; 4108] });
        try_hccl!(self, HcclGetRootInfo(&raw mut *info));
        Ok(info)
    }

    /// Joins the communicator, and waits until all ranks have joined.
    pub fn join_communicator(
        &self,
        ranks: u32,
        info: &RootInfo,
        rank: u32,
    ) -> Result<Communicator, Fault> {
        let mut communicator = Communicator::NULL;
        let place = &raw mut communicator;
        try_hccl!(self, HcclCommInitRootInfo(ranks, &raw const *info, rank, place));
        if communicator == Communicator::NULL {
            return Err(self.null_fault("HcclCommInitRootInfo"));
        }
        Ok(communicator)
    }

    /// Puts the sum of `count` elements over all ranks on a stream.
    ///
    /// # Panics
    /// If there are fewer elements: the stages allocate the memory that they sum.
    pub fn all_reduce(
        &self,
        [from, to]: [&Buffer; 2],
        count: usize,
        width: usize,
        dtype: i32,
        communicator: Communicator,
        stream: Stream,
    ) -> Result<(), Fault> {
        assert!(count * width <= from.size.min(to.size), "the rungs allocate what they sum");
        let (from, to, count) = (from.pointer, to.pointer, count as u64);
        let sum = HCCL_REDUCE_SUM;
        try_hccl!(self, HcclAllReduce(from, to, count, dtype, sum, communicator, stream));
        Ok(())
    }

    /// Leaves the communicator.
    pub fn leave_communicator(&self, communicator: Communicator) -> Result<(), Fault> {
        try_hccl!(self, HcclCommDestroy(communicator));
        Ok(())
    }
}
