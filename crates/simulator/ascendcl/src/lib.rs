//! The simulated `libascendcl.so` (and `libacl_rt.so`): devices, memory, streams, events.

mod kernel;
mod memory;
mod stream;

use std::cell::Cell;
use std::collections::BTreeSet;
use std::ffi::{CString, c_char, c_void};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{LazyLock, Mutex};

use acl_abi::values::{
    ACL_DEV_ATTR_AICORE_CORE_NUM, ACL_DEV_ATTR_CUBE_CORE_NUM, ACL_DEV_ATTR_VECTOR_CORE_NUM,
    ACL_DEVICE_INFO_AI_CORE_NUM, ACL_DEVICE_INFO_VECTOR_CORE_NUM, ACL_ERROR_INVALID_PARAM,
    ACL_ERROR_REPEAT_INITIALIZE, ACL_ERROR_RT_CONTEXT_NULL, ACL_ERROR_RT_INVALID_DEVICEID,
    ACL_ERROR_RT_NO_DEVICE, ACL_ERROR_RT_PARAM_INVALID, ACL_ERROR_UNINITIALIZE,
    ACL_MEMCPY_DEVICE_TO_DEVICE, ACL_MEMCPY_DEVICE_TO_HOST, ACL_MEMCPY_HOST_TO_DEVICE,
};
use acl_abi::{
    Binary, BinaryData, BinaryLoadOptions, Event, KernelArgs, KernelFunction, KernelParam,
    PackageVersion, Status, Stream,
};
use sim_core::Corruption;
use sim_core::state::{pci, physical, visible};

sim_core::identify!();

static STARTED: AtomicBool = AtomicBool::new(false);
thread_local!(static DEVICE: Cell<Option<i32>> = const { Cell::new(None) });
/// Pairs of devices of which one may use the memory of the other.
static PEERS: Mutex<BTreeSet<(i32, i32)>> = Mutex::new(BTreeSet::new());

/// The device of this thread.
fn device() -> Result<i32, Status> {
    if !STARTED.load(Ordering::SeqCst) {
        return Err(ACL_ERROR_UNINITIALIZE);
    }
    DEVICE.get().ok_or(ACL_ERROR_RT_CONTEXT_NULL)
}

/// The number of Cube Cores: `ASCSIM_CUBE_CORES`.
fn cube_cores() -> i64 {
    sim_core::setting("ASCSIM_CUBE_CORES", 20) as i64
}

/// The number of Vector Cores: `ASCSIM_CORES`.
fn vector_cores() -> i64 {
    sim_core::setting("ASCSIM_CORES", 40) as i64
}

/// The logical ID of a device of this process.
fn to_logic(device: i32) -> Result<i32, Status> {
    let at = usize::try_from(device).map_err(|_| ACL_ERROR_RT_INVALID_DEVICEID)?;
    visible().get(at).map(|logic| *logic as i32).ok_or(ACL_ERROR_RT_INVALID_DEVICEID)
}

/// The physical ID of a device of the driver.
fn to_physical(logic: i32) -> Result<i32, Status> {
    let at = usize::try_from(logic).map_err(|_| ACL_ERROR_RT_INVALID_DEVICEID)?;
    physical().get(at).copied().ok_or(ACL_ERROR_RT_INVALID_DEVICEID)
}

fn status(result: Result<(), Status>) -> Status {
    result.err().unwrap_or(0)
}

/// Copies with the requested corruption.
///
/// # Safety
/// Both ranges are valid for `count` bytes.
unsafe fn copy(
    to: *mut c_void,
    from: *const c_void,
    count: usize,
    kind: i32,
    corruption: Option<Corruption>,
) {
    let rate = match kind {
        ACL_MEMCPY_HOST_TO_DEVICE => sim_core::setting("ASCSIM_H2D_MBPS", 0),
        ACL_MEMCPY_DEVICE_TO_HOST => sim_core::setting("ASCSIM_D2H_MBPS", 0),
        _ => sim_core::setting("ASCSIM_D2D_MBPS", 0),
    };
    if let Some(microseconds) = (count as u64).checked_div(rate) {
        std::thread::sleep(std::time::Duration::from_micros(microseconds));
    }
    // SAFETY: by contract.
    unsafe {
        match corruption {
            None => std::ptr::copy(from.cast::<u8>(), to.cast::<u8>(), count),
            Some(what) => {
                let mut data = std::slice::from_raw_parts(from.cast::<u8>(), count).to_vec();
                what.apply(&mut data, 8);
                let written = what.written(count);
                std::ptr::copy(data.as_ptr(), to.cast::<u8>(), written);
                if what == Corruption::Over && kind != ACL_MEMCPY_DEVICE_TO_HOST {
                    to.cast::<u8>().add(count).write_bytes(0x33, 64);
                }
            }
        }
    }
}

/// Whether a copy is allowed: enough room, and allocated device memory where required.
fn check_copy(
    to: *mut c_void,
    room: usize,
    from: *const c_void,
    count: usize,
    kind: i32,
) -> Result<(), Status> {
    device()?;
    let (to_device, from_device) = match kind {
        ACL_MEMCPY_HOST_TO_DEVICE => (true, false),
        ACL_MEMCPY_DEVICE_TO_HOST => (false, true),
        ACL_MEMCPY_DEVICE_TO_DEVICE => (true, true),
        _ => return Err(ACL_ERROR_INVALID_PARAM),
    };
    let alive = (!to_device || memory::holds(to as usize, count))
        && (!from_device || memory::holds(from as usize, count));
    if count > room || !alive || to.is_null() || from.is_null() {
        return Err(ACL_ERROR_RT_PARAM_INVALID);
    }
    match link(to as usize, from as usize, kind) {
        Some((from, to)) if !both_ways(from, to) => Err(ACL_ERROR_RT_PARAM_INVALID),
        _ => Ok(()),
    }
}

/// The devices of a copy, if it is between devices.
fn link(to: usize, from: usize, kind: i32) -> Option<(i32, i32)> {
    let between = kind == ACL_MEMCPY_DEVICE_TO_DEVICE;
    let (from, to) = (memory::owner(from)?, memory::owner(to)?);
    (between && from != to).then_some((from, to))
}

fn both_ways(one: i32, other: i32) -> bool {
    let peers = PEERS.lock().unwrap();
    peers.contains(&(one, other)) && peers.contains(&(other, one))
}

sim_core::export! {
    fn aclInit(_config: *const c_char) -> Status |_| {
        if STARTED.swap(true, Ordering::SeqCst) { ACL_ERROR_REPEAT_INITIALIZE } else { 0 }
    }

    fn aclFinalize() -> Status |_| {
        if STARTED.swap(false, Ordering::SeqCst) { 0 } else { ACL_ERROR_UNINITIALIZE }
    }

    fn aclrtGetVersion(major: *mut i32, minor: *mut i32, patch: *mut i32) -> Status |_| {
        // SAFETY: the caller passes valid pointers for the results.
        unsafe {
            major.write(1);
            minor.write(sim_core::setting("ASCSIM_ACL_MINOR", 13) as i32);
            patch.write(0);
        }
        0
    }

    fn aclrtGetSocName() -> *const c_char |_| {
        static NAME: LazyLock<CString> =
            LazyLock::new(|| CString::new(sim_core::soc()).unwrap_or_default());
        NAME.as_ptr()
    }

    fn aclGetRecentErrMsg() -> *const c_char |_| {
        c"EZ9999: [ascsim] a simulated failure".as_ptr()
    }

    fn aclrtGetDeviceCount(count: *mut u32) -> Status |_| {
        let devices = visible().len();
        if devices == 0 {
            return ACL_ERROR_RT_NO_DEVICE;
        }
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { count.write(devices as u32) };
        0
    }

    fn aclrtSetDevice(device: i32) -> Status |_| {
        if !STARTED.load(Ordering::SeqCst) {
            return ACL_ERROR_UNINITIALIZE;
        }
        if usize::try_from(device).is_ok_and(|device| device < visible().len()) {
            DEVICE.set(Some(device));
            sim_core::fault::opened(device);
            0
        } else {
            ACL_ERROR_RT_INVALID_DEVICEID
        }
    }

    fn aclrtResetDevice(device: i32) -> Status |_| {
        if DEVICE.get() == Some(device) { 0 } else { ACL_ERROR_RT_INVALID_DEVICEID }
    }

    fn aclrtDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) -> Status |_| {
        let there = |number: i32| usize::try_from(number).is_ok_and(|n| n < visible().len());
        if !there(device) || !there(peer) {
            return ACL_ERROR_RT_INVALID_DEVICEID;
        }
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { can.write(i32::from(device != peer && sim_core::setting("ASCSIM_PEERS", 1) == 1)) };
        0
    }

    fn aclrtDeviceEnablePeerAccess(peer: i32, flags: u32) -> Status |_| {
        status(device().and_then(|device| {
            // A second call is refused, as by the runtime.
            let new = flags == 0 && PEERS.lock().unwrap().insert((device, peer));
            if new { Ok(()) } else { Err(ACL_ERROR_RT_PARAM_INVALID) }
        }))
    }

    fn aclsysGetCANNVersion(package: i32, version: *mut PackageVersion) -> Status |_| {
        if package != 0 {
            return ACL_ERROR_INVALID_PARAM;
        }
        let text = std::env::var("ASCSIM_CANN").unwrap_or_else(|_| "8.1.RC1".to_owned());
        // SAFETY: the caller passes a valid pointer for the result.
        let version = unsafe { &mut (*version).version };
        version[..text.len()].copy_from_slice(text.as_bytes());
        0
    }

    fn aclrtBinaryLoadFromData(data: *const c_void, size: usize,
        options: *const BinaryLoadOptions, binary: *mut Binary
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(device().and_then(|_| unsafe { kernel::load(data, size, options, binary) }))
    }

    fn aclrtBinaryUnLoad(binary: Binary) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::unload(binary) })
    }

    fn aclrtBinaryGetFunction(binary: Binary, name: *const c_char, function: *mut KernelFunction
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::find(binary, name, function) })
    }

    fn aclrtKernelArgsInit(function: KernelFunction, args: *mut KernelArgs) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::begin(function, args) })
    }

    fn aclrtKernelArgsAppend(args: KernelArgs, value: *mut c_void, size: usize,
        param: *mut KernelParam
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::append(args, value, size, param) })
    }

    fn aclrtKernelArgsFinalize(args: KernelArgs) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::end(args) })
    }

    fn aclrtLaunchKernelWithConfig(function: KernelFunction, blocks: u32, stream: Stream,
        _config: *mut c_void, args: KernelArgs, _reserved: *mut c_void
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::launch(function, blocks, stream, args) })
    }

    fn aclGetDeviceCapability(_device: u32, what: i32, value: *mut i64) -> Status |_| {
        let count = match what {
            ACL_DEVICE_INFO_AI_CORE_NUM => cube_cores(),
            ACL_DEVICE_INFO_VECTOR_CORE_NUM => vector_cores(),
            _ => return ACL_ERROR_INVALID_PARAM,
        };
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { value.write(count) };
        0
    }

    fn aclrtGetDeviceInfo(_device: u32, attribute: i32, value: *mut i64) -> Status |_| {
        let count = match attribute {
            ACL_DEV_ATTR_AICORE_CORE_NUM | ACL_DEV_ATTR_CUBE_CORE_NUM => cube_cores(),
            ACL_DEV_ATTR_VECTOR_CORE_NUM => vector_cores(),
            _ => return ACL_ERROR_INVALID_PARAM,
        };
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { value.write(count) };
        0
    }

    fn aclrtGetLogicDevIdByUserDevId(device: i32, logic: *mut i32) -> Status |_| {
        status(to_logic(device).map(|number| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { logic.write(number) };
        }))
    }

    fn aclrtGetPhyDevIdByLogicDevId(logic: i32, place: *mut i32) -> Status |_| {
        status(to_physical(logic).map(|number| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { place.write(number) };
        }))
    }

    fn aclrtGetPhyDevIdByUserDevId(device: i32, place: *mut i32) -> Status |_| {
        status(to_logic(device).and_then(to_physical).map(|number| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { place.write(number) };
        }))
    }

    fn aclrtDeviceGetPCIBusId(device: i32, address: *mut c_char, size: i32) -> Status |_| {
        status(to_logic(device).and_then(to_physical).and_then(|number| {
            let text = pci(number);
            if usize::try_from(size).is_ok_and(|size| size > text.len()) {
                // SAFETY: the caller passes a buffer of the declared size.
                unsafe {
                    address.cast::<u8>().copy_from(text.as_ptr(), text.len());
                    address.add(text.len()).write(0);
                }
                Ok(())
            } else {
                Err(ACL_ERROR_INVALID_PARAM)
            }
        }))
    }

    fn aclrtCreateBinary(data: *const c_void, size: usize) -> BinaryData |_| {
        // SAFETY: as for the function of CANN.
        unsafe { kernel::wrap(data, size) }
    }

    fn aclrtBinaryLoad(data: BinaryData, binary: *mut Binary) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(device().and_then(|_| unsafe { kernel::load_wrapped(data, binary) }))
    }

    fn aclrtLaunchKernel(function: KernelFunction, blocks: u32, args: *const c_void, size: usize,
        stream: Stream
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::launch_at(function, blocks, stream, args, size) })
    }

    fn aclrtLaunchKernelV2(function: KernelFunction, blocks: u32, args: *const c_void,
        size: usize, _config: *mut c_void, stream: Stream
    ) -> Status |_| {
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::launch_at(function, blocks, stream, args, size) })
    }

    fn aclrtLaunchKernelWithHostArgs(function: KernelFunction, blocks: u32, stream: Stream,
        _config: *mut c_void, args: *mut c_void, size: usize, _places: *mut c_void, count: usize
    ) -> Status |_| {
        if count != 0 {
            return ACL_ERROR_INVALID_PARAM;
        }
        // SAFETY: as for the function of CANN.
        status(unsafe { kernel::launch_at(function, blocks, stream, args, size) })
    }

    fn aclrtCreateStream(stream: *mut Stream) -> Status |_| {
        status(device().map(|_| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { stream.write(stream::create()) };
        }))
    }

    fn aclrtDestroyStream(stream: Stream) -> Status |_| {
        // SAFETY: the caller passes a stream of this library.
        unsafe { stream::destroy(stream) }
    }

    fn aclrtSynchronizeStream(stream: Stream) -> Status |_| {
        // SAFETY: as above.
        unsafe { stream::wait(stream, None) }
    }

    fn aclrtSynchronizeStreamWithTimeout(stream: Stream, milliseconds: i32) -> Status |_| {
        // SAFETY: as above.
        unsafe { stream::wait(stream, u64::try_from(milliseconds).ok()) }
    }

    fn aclrtMalloc(pointer: *mut *mut c_void, size: usize, _policy: i32) -> Status |_| {
        status(device().and_then(|device| memory::allocate(size, device)).map(|address| {
            // SAFETY: the caller passes a valid pointer for the result.
            unsafe { pointer.write(address as *mut c_void) };
        }))
    }

    fn aclrtFree(pointer: *mut c_void) -> Status |corruption| {
        status(memory::free(pointer as usize, corruption == Some(Corruption::Leak)))
    }

    fn aclrtMemcpy(to: *mut c_void, room: usize, from: *const c_void, count: usize, kind: i32
    ) -> Status |mut corruption| {
        if let Some((from, to)) = link(to as usize, from as usize, kind) {
            match sim_core::strike_at("link", Some(format!("{from}-{to}"))) {
                sim_core::Effect::Go(None) => {}
                sim_core::Effect::Go(damage) => corruption = damage,
                sim_core::Effect::Return(code) => return code,
            }
        }
        status(check_copy(to, room, from, count, kind).map(|()| {
            // SAFETY: checked, as far as the library can know.
            unsafe { copy(to, from, count, kind, corruption) };
        }))
    }

    fn aclrtMemcpyAsync(to: *mut c_void, room: usize, from: *const c_void, count: usize,
        kind: i32, stream: Stream
    ) -> Status |corruption| {
        if let Err(code) = check_copy(to, room, from, count, kind) {
            return code;
        }
        struct Job(*mut c_void, *const c_void, usize, i32, Option<Corruption>);
        unsafe extern "C" fn run(job: *mut c_void) -> i32 {
            // SAFETY: this is the job that is put on the stream below.
            let job = unsafe { Box::from_raw(job.cast::<Job>()) };
            // SAFETY: checked when it was enqueued; the caller keeps the buffers.
            unsafe { copy(job.0, job.1, job.2, job.3, job.4) };
            0
        }
        let job = Box::new(Job(to, from, count, kind, corruption));
        // SAFETY: the caller passes a stream of this library.
        unsafe { stream::enqueue(stream.0, run, Box::into_raw(job).cast()) }
    }

    fn aclrtGetMemInfo(kind: i32, free: *mut usize, total: *mut usize) -> Status |_| {
        status(device().and_then(|device| {
            let (left, all) = memory::room(kind, device).ok_or(ACL_ERROR_INVALID_PARAM)?;
            // SAFETY: the caller passes valid pointers for the results.
            unsafe {
                free.write(left);
                total.write(all);
            }
            Ok(())
        }))
    }

    fn aclrtCreateEventWithFlag(event: *mut Event, _flag: u32) -> Status |_| {
        let moment: Box<stream::Moment> = Box::new(Mutex::new(None));
        // SAFETY: the caller passes a valid pointer for the result.
        unsafe { event.write(Event(Box::into_raw(moment).cast())) };
        0
    }

    fn aclrtDestroyEvent(event: Event) -> Status |_| {
        if event.0.is_null() {
            return ACL_ERROR_INVALID_PARAM;
        }
        // SAFETY: the caller passes an event of this library, once.
        drop(unsafe { Box::from_raw(event.0.cast::<stream::Moment>()) });
        0
    }

    fn aclrtRecordEvent(event: Event, stream: Stream) -> Status |_| {
        // SAFETY: both are live objects of this library.
        unsafe { stream::record(event, stream) }
    }

    fn aclrtEventElapsedTime(milliseconds: *mut f32, start: Event, end: Event) -> Status |_| {
        // SAFETY: live events, and a valid pointer for the result.
        unsafe { stream::elapsed(milliseconds, start, end) }
    }
}
