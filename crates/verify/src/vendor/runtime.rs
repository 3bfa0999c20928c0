//! Device, streams, events, memory and copies.

use std::ffi::c_void;
use std::ptr::{null, null_mut};

use acl_abi::values::{
    ACL_DEV_ATTR_CUBE_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM, ACL_DEVICE_INFO_AI_CORE_NUM,
    ACL_DEVICE_INFO_VECTOR_CORE_NUM, ACL_EVENT_TIME_LINE, ACL_HBM_MEM, ACL_MEM_MALLOC_HUGE_FIRST,
    ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE,
    ACL_PKG_NAME_CANN, ACL_SUCCESS,
};
use acl_abi::{Event, PackageVersion, Stream};

use super::{Fault, Vendor, read_text};

/// Memory of the device.
#[derive(Debug)]
pub struct Buffer {
    pub(super) pointer: *mut c_void,
    pub(super) size: usize,
}

impl Buffer {
    /// Its size in bytes.
    pub fn size(&self) -> usize {
        self.size
    }
}

/// The identity of a device according to the runtime: its logical ID in the driver, its physical
/// ID, its PCI address.
type RuntimeIdentity = (Option<i32>, Option<i32>, Option<String>);

/// More cores than any chip has; a larger number is invalid.
const MAX_CORES: u32 = 4096;

/// A number of cores, if a chip can have it.
fn plausible(value: i64) -> Option<u32> {
    u32::try_from(value).ok().filter(|count| (1..=MAX_CORES).contains(count))
}

impl Vendor {
    /// Initializes ACL. A previous initialization is not a failure.
    pub fn init(&self) -> Result<(), Fault> {
        let code = call!(self, aclInit(null()));
        if code == ACL_SUCCESS || code == acl_abi::values::ACL_ERROR_REPEAT_INITIALIZE {
            return Ok(());
        }
        Err(Fault::Call { function: "aclInit".to_owned(), code, message: self.last_error() })
    }

    /// Finalizes ACL.
    pub fn finalize(&self) -> Result<(), Fault> {
        try_call!(self, aclFinalize());
        Ok(())
    }

    /// The version of the ACL interface.
    pub fn version(&self) -> Result<[i32; 3], Fault> {
        let [mut major, mut minor, mut patch] = [0; 3];
        try_call!(self, aclrtGetVersion(&raw mut major, &raw mut minor, &raw mut patch));
        Ok([major, minor, patch])
    }

    /// The version of CANN, if the runtime reports it.
    pub fn cann_version(&self) -> Result<Option<String>, Fault> {
        if self.table.aclsysGetCANNVersion.is_none() {
            return Ok(None);
        }
        let mut version = Box::new(PackageVersion {
            version: [0; 128],
            major: [0; 64],
            minor: [0; 64],
            release: [0; 64],
            patch: [0; 64],
            reserved: [0; 128],
        });
        // A package unknown to it is not an error here.
        let code = call!(self, aclsysGetCANNVersion(ACL_PKG_NAME_CANN, &raw mut *version));
        let text = version.version.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = String::from_utf8_lossy(text).trim().to_owned();
        Ok(Some(text).filter(|text| code == ACL_SUCCESS && !text.is_empty()))
    }

    /// The number of devices available to this process.
    pub fn count_devices(&self) -> Result<u32, Fault> {
        let mut count = 0;
        try_call!(self, aclrtGetDeviceCount(&raw mut count));
        Ok(count)
    }

    /// The name of the chip.
    pub fn soc(&self) -> Result<Option<String>, Fault> {
        Ok(read_text(call!(self, aclrtGetSocName())))
    }

    /// The identity of a device according to the runtime: its logical ID in the driver, its
    /// physical ID, its PCI address. Values that a version does not support, or refuses, are
    /// `None`.
    pub fn identify(&self, device: i32) -> Result<RuntimeIdentity, Fault> {
        let (mut logic, mut physical, mut pci) = (None, None, None);
        let mut number = -1;
        if self.table.aclrtGetLogicDevIdByUserDevId.is_some()
            && call!(self, aclrtGetLogicDevIdByUserDevId(device, &raw mut number)) == ACL_SUCCESS
        {
            logic = Some(number);
        }
        if self.table.aclrtGetPhyDevIdByUserDevId.is_some()
            && call!(self, aclrtGetPhyDevIdByUserDevId(device, &raw mut number)) == ACL_SUCCESS
        {
            physical = Some(number);
        }
        if let (None, Some(logic)) = (physical, logic)
            && self.table.aclrtGetPhyDevIdByLogicDevId.is_some()
            && call!(self, aclrtGetPhyDevIdByLogicDevId(logic, &raw mut number)) == ACL_SUCCESS
        {
            physical = Some(number);
        }
        if self.table.aclrtDeviceGetPCIBusId.is_some() {
            let mut address = [0u8; 32];
            let place = address.as_mut_ptr().cast();
            // One byte less, so that the text is terminated.
            if call!(self, aclrtDeviceGetPCIBusId(device, place, 31)) == ACL_SUCCESS {
                let text = address.split(|byte| *byte == 0).next().unwrap_or_default();
                let text = String::from_utf8_lossy(text).trim().to_ascii_lowercase();
                pci = Some(text).filter(|text| !text.is_empty());
            }
        }
        let known = |number: &i32| *number >= 0;
        Ok((logic.filter(known), physical.filter(known), pci))
    }

    /// The numbers of Cube Cores and Vector Cores of a device, as far as the runtime reports them.
    pub fn count_cores(&self, device: i32) -> Result<[Option<u32>; 2], Fault> {
        let device = device.cast_unsigned();
        let mut found = [None, None];
        let later = [ACL_DEV_ATTR_CUBE_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM];
        let earlier = [ACL_DEVICE_INFO_AI_CORE_NUM, ACL_DEVICE_INFO_VECTOR_CORE_NUM];
        for (at, count) in found.iter_mut().enumerate() {
            let mut value = 0;
            if self.table.aclrtGetDeviceInfo.is_some()
                && call!(self, aclrtGetDeviceInfo(device, later[at], &raw mut value)) == ACL_SUCCESS
            {
                *count = plausible(value);
            }
            if count.is_none()
                && self.table.aclGetDeviceCapability.is_some()
                && call!(self, aclGetDeviceCapability(device, earlier[at], &raw mut value))
                    == ACL_SUCCESS
            {
                *count = plausible(value);
            }
        }
        Ok(found)
    }

    /// Opens a device.
    pub fn set_device(&self, device: i32) -> Result<(), Fault> {
        try_call!(self, aclrtSetDevice(device));
        Ok(())
    }

    /// Closes a device.
    pub fn reset_device(&self, device: i32) -> Result<(), Fault> {
        try_call!(self, aclrtResetDevice(device));
        Ok(())
    }

    /// Free and total bytes of the device's memory.
    pub fn memory_info(&self) -> Result<(usize, usize), Fault> {
        let (mut free, mut total) = (0, 0);
        try_call!(self, aclrtGetMemInfo(ACL_HBM_MEM, &raw mut free, &raw mut total));
        if total == 0 {
            // Chips without HBM report zero.
            let ddr = acl_abi::values::ACL_DDR_MEM;
            try_call!(self, aclrtGetMemInfo(ddr, &raw mut free, &raw mut total));
        }
        Ok((free, total))
    }

    /// A new stream.
    pub fn create_stream(&self) -> Result<Stream, Fault> {
        let mut stream = Stream::NULL;
        try_call!(self, aclrtCreateStream(&raw mut stream));
        if stream == Stream::NULL {
            return Err(self.null_fault("aclrtCreateStream"));
        }
        Ok(stream)
    }

    /// Destroys a stream.
    pub fn destroy_stream(&self, stream: Stream) -> Result<(), Fault> {
        try_call!(self, aclrtDestroyStream(stream));
        Ok(())
    }

    /// Waits for a stream, at most this number of milliseconds.
    pub fn synchronize(&self, stream: Stream, milliseconds: i32) -> Result<(), Fault> {
        try_call!(self, aclrtSynchronizeStreamWithTimeout(stream, milliseconds));
        Ok(())
    }

    /// A new event that records times.
    pub fn create_event(&self) -> Result<Event, Fault> {
        let mut event = Event::NULL;
        try_call!(
            self,
            aclrtCreateEventWithFlag(&raw mut event, ACL_EVENT_TIME_LINE.cast_unsigned())
        );
        if event == Event::NULL {
            return Err(self.null_fault("aclrtCreateEventWithFlag"));
        }
        Ok(event)
    }

    /// Destroys an event.
    pub fn destroy_event(&self, event: Event) -> Result<(), Fault> {
        try_call!(self, aclrtDestroyEvent(event));
        Ok(())
    }

    /// Records the time at which the stream reaches this point.
    pub fn record(&self, event: Event, stream: Stream) -> Result<(), Fault> {
        try_call!(self, aclrtRecordEvent(event, stream));
        Ok(())
    }

    /// Milliseconds between two events.
    pub fn elapsed(&self, start: Event, end: Event) -> Result<f64, Fault> {
        let mut milliseconds = 0f32;
        try_call!(self, aclrtEventElapsedTime(&raw mut milliseconds, start, end));
        Ok(f64::from(milliseconds))
    }

    /// Allocates memory of the device.
    pub fn allocate(&self, size: usize) -> Result<Buffer, Fault> {
        let mut pointer = null_mut();
        try_call!(self, aclrtMalloc(&raw mut pointer, size, ACL_MEM_MALLOC_HUGE_FIRST));
        if pointer.is_null() {
            return Err(self.null_fault("aclrtMalloc"));
        }
        Ok(Buffer { pointer, size })
    }

    /// Frees memory of the device.
    #[expect(clippy::needless_pass_by_value, reason = "it is gone afterwards")]
    pub fn free(&self, buffer: Buffer) -> Result<(), Fault> {
        let Buffer { pointer, .. } = buffer;
        try_call!(self, aclrtFree(pointer));
        Ok(())
    }

    /// Copies to the beginning of device memory.
    ///
    /// # Panics
    /// If it does not fit: the stages allocate what they fill.
    pub fn upload(&self, to: &Buffer, from: &[u8]) -> Result<(), Fault> {
        assert!(from.len() <= to.size, "the rungs allocate what they fill");
        let kind = ACL_MEMCPY_HOST_TO_DEVICE;
        try_call!(self, aclrtMemcpy(to.pointer, to.size, from.as_ptr().cast(), from.len(), kind));
        Ok(())
    }

    /// Copies from the beginning of device memory.
    ///
    /// # Panics
    /// If the device memory is smaller: the stages allocate the memory that they read.
    pub fn download(&self, from: &Buffer, to: &mut [u8]) -> Result<(), Fault> {
        assert!(to.len() <= from.size, "the rungs allocate what they read");
        let (kind, count) = (ACL_MEMCPY_DEVICE_TO_HOST, to.len());
        try_call!(self, aclrtMemcpy(to.as_mut_ptr().cast(), count, from.pointer, count, kind));
        Ok(())
    }

    /// Copies within the device, in the order of a stream.
    ///
    /// # Panics
    /// If it does not fit: the stages allocate what they copy.
    pub fn copy(
        &self,
        from: &Buffer,
        to: &Buffer,
        count: usize,
        stream: Stream,
    ) -> Result<(), Fault> {
        assert!(count <= from.size && count <= to.size, "the rungs allocate what they copy");
        let kind = ACL_MEMCPY_DEVICE_TO_DEVICE;
        try_call!(self, aclrtMemcpyAsync(to.pointer, to.size, from.pointer, count, kind, stream));
        Ok(())
    }
}
