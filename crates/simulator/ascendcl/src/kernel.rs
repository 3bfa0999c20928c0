//! Compiled kernels: the output of the simulated compiler, loaded and run block by block.

use std::ffi::{CStr, c_char, c_void};

use acl_abi::values::{
    ACL_ERROR_INVALID_PARAM, ACL_ERROR_RT_PARAM_INVALID, ACL_RT_BINARY_LOAD_OPT_MAGIC,
    ACL_RT_BINARY_MAGIC_ELF_AICORE,
};
use acl_abi::{
    Binary, BinaryData, BinaryLoadOptions, KernelArgs, KernelFunction, KernelParam, Status, Stream,
};
use sim_core::objects::{ADD, KERNEL, STRIPE};
use sim_core::{Corruption, Effect, strike_at};

use crate::{memory, stream};

/// A live object of this module.
const LIVE: u64 = 0x4b45_524e_454c_0001;

struct Loaded {
    magic: u64,
    name: String,
}

struct Args {
    magic: u64,
    values: Vec<usize>,
    done: bool,
}

/// # Safety
/// `data` is valid for `size` bytes, the options match their count, and `binary` is valid for
/// writing.
pub unsafe fn load(
    data: *const c_void,
    size: usize,
    options: *const BinaryLoadOptions,
    binary: *mut Binary,
) -> Result<(), Status> {
    // SAFETY: by contract.
    let (bytes, option) = unsafe {
        let options = options.as_ref().filter(|options| options.count == 1);
        let option = options.and_then(|options| options.options.as_ref());
        let bytes = std::slice::from_raw_parts(data.cast::<u8>(), size);
        (bytes, option.ok_or(ACL_ERROR_INVALID_PARAM)?)
    };
    let magic = ACL_RT_BINARY_MAGIC_ELF_AICORE.cast_unsigned();
    if option.kind != ACL_RT_BINARY_LOAD_OPT_MAGIC || option.value[0] != magic {
        return Err(ACL_ERROR_INVALID_PARAM);
    }
    let name = bytes.strip_prefix(KERNEL).ok_or(ACL_ERROR_RT_PARAM_INVALID)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let loaded = Box::into_raw(Box::new(Loaded { magic: LIVE, name }));
    // SAFETY: by contract.
    unsafe { binary.write(Binary(loaded.cast())) };
    Ok(())
}

/// Bytes of a compiled kernel, not loaded yet.
struct Wrapped {
    magic: u64,
    data: Vec<u8>,
}

/// # Safety
/// `data` is valid for `size` bytes.
pub unsafe fn wrap(data: *const c_void, size: usize) -> BinaryData {
    // SAFETY: by contract.
    let data = unsafe { std::slice::from_raw_parts(data.cast::<u8>(), size) }.to_vec();
    BinaryData(Box::into_raw(Box::new(Wrapped { magic: LIVE, data })).cast())
}

/// # Safety
/// `data` is the result of `wrap`, and `binary` is valid for writing.
pub unsafe fn load_wrapped(data: BinaryData, binary: *mut Binary) -> Result<(), Status> {
    // SAFETY: by contract; the mark shows misuse.
    let wrapped = unsafe { data.0.cast::<Wrapped>().as_ref() };
    let wrapped =
        wrapped.filter(|wrapped| wrapped.magic == LIVE).ok_or(ACL_ERROR_RT_PARAM_INVALID)?;
    let name = wrapped.data.strip_prefix(KERNEL).ok_or(ACL_ERROR_RT_PARAM_INVALID)?;
    let name = String::from_utf8_lossy(name).into_owned();
    let loaded = Box::into_raw(Box::new(Loaded { magic: LIVE, name }));
    // SAFETY: by contract.
    unsafe { binary.write(Binary(loaded.cast())) };
    Ok(())
}

/// # Safety
/// `pointer` is the result of `load`, or null.
unsafe fn object<'a>(pointer: *mut c_void) -> Result<&'a Loaded, Status> {
    // SAFETY: by contract; the mark shows misuse.
    let object = unsafe { pointer.cast::<Loaded>().as_ref() };
    object.filter(|object| object.magic == LIVE).ok_or(ACL_ERROR_RT_PARAM_INVALID)
}

/// # Safety
/// `binary` is the result of `load`, and is not used again.
pub unsafe fn unload(binary: Binary) -> Result<(), Status> {
    // SAFETY: by contract.
    unsafe {
        object(binary.0)?;
        let loaded = binary.0.cast::<Loaded>();
        (*loaded).magic = 0;
        drop(Box::from_raw(loaded));
    }
    Ok(())
}

/// # Safety
/// `binary` is the result of `load`, `name` a null-terminated text, `function` valid for writing.
pub unsafe fn find(
    binary: Binary,
    name: *const c_char,
    function: *mut KernelFunction,
) -> Result<(), Status> {
    // SAFETY: by contract.
    unsafe {
        let loaded = object(binary.0)?;
        if loaded.name.as_bytes() != CStr::from_ptr(name).to_bytes() {
            return Err(ACL_ERROR_RT_PARAM_INVALID);
        }
        function.write(KernelFunction(binary.0));
    }
    Ok(())
}

/// # Safety
/// `function` is the result of `find`, and `args` is valid for writing.
pub unsafe fn begin(function: KernelFunction, args: *mut KernelArgs) -> Result<(), Status> {
    // SAFETY: by contract.
    unsafe {
        object(function.0)?;
        let list = Box::new(Args { magic: LIVE, values: Vec::new(), done: false });
        args.write(KernelArgs(Box::into_raw(list).cast()));
    }
    Ok(())
}

/// # Safety
/// `args` is the result of `begin`.
unsafe fn list<'a>(args: KernelArgs) -> Result<&'a mut Args, Status> {
    // SAFETY: by contract; the mark shows misuse.
    let list = unsafe { args.0.cast::<Args>().as_mut() };
    list.filter(|list| list.magic == LIVE).ok_or(ACL_ERROR_RT_PARAM_INVALID)
}

/// # Safety
/// `args` is the result of `begin`, and `value` has `size` bytes.
pub unsafe fn append(
    args: KernelArgs,
    value: *mut c_void,
    size: usize,
    param: *mut KernelParam,
) -> Result<(), Status> {
    // SAFETY: by contract.
    let list = unsafe { list(args) }?;
    if size != size_of::<usize>() || value.is_null() || list.done {
        return Err(ACL_ERROR_INVALID_PARAM);
    }
    // SAFETY: by contract.
    unsafe {
        list.values.push(value.cast::<usize>().read_unaligned());
        param.write(KernelParam(args.0));
    }
    Ok(())
}

/// # Safety
/// `args` is the result of `begin`.
pub unsafe fn end(args: KernelArgs) -> Result<(), Status> {
    // SAFETY: by contract.
    unsafe { list(args)?.done = true };
    Ok(())
}

struct Job {
    blocks: usize,
    addresses: [usize; 3],
}

/// # Safety
/// Live objects of this library.
pub unsafe fn launch(
    function: KernelFunction,
    blocks: u32,
    stream: Stream,
    args: KernelArgs,
) -> Result<(), Status> {
    // SAFETY: by contract.
    let list = unsafe { list(args)? };
    if !list.done {
        return Err(ACL_ERROR_RT_PARAM_INVALID);
    }
    // SAFETY: by contract.
    unsafe { start(function, blocks, stream, &list.values) }
}

/// Like `launch`, with consecutive arguments in host or device memory, which are the same here.
///
/// # Safety
/// Live objects of this library, and memory of this size.
pub unsafe fn launch_at(
    function: KernelFunction,
    blocks: u32,
    stream: Stream,
    args: *const c_void,
    size: usize,
) -> Result<(), Status> {
    if args.is_null() || !size.is_multiple_of(size_of::<usize>()) {
        return Err(ACL_ERROR_INVALID_PARAM);
    }
    let count = size / size_of::<usize>();
    // SAFETY: by contract.
    let values: Vec<usize> =
        (0..count).map(|at| unsafe { args.cast::<usize>().add(at).read_unaligned() }).collect();
    // SAFETY: by contract.
    unsafe { start(function, blocks, stream, &values) }
}

/// # Safety
/// Live objects of this library.
unsafe fn start(
    function: KernelFunction,
    blocks: u32,
    stream: Stream,
    values: &[usize],
) -> Result<(), Status> {
    // SAFETY: by contract.
    let kernel = unsafe { object(function.0)? };
    let addresses: [usize; 3] = values.try_into().map_err(|_| ACL_ERROR_RT_PARAM_INVALID)?;
    let size = blocks as usize * STRIPE * 4;
    let alive = addresses.iter().all(|address| memory::holds(*address, size));
    if kernel.name != ADD || blocks == 0 || !alive {
        return Err(ACL_ERROR_RT_PARAM_INVALID);
    }
    let job = Box::new(Job { blocks: blocks as usize, addresses });
    // SAFETY: by contract, and `run` takes this job.
    match unsafe { stream::enqueue(stream.0, run, Box::into_raw(job).cast()) } {
        0 => Ok(()),
        code => Err(code),
    }
}

/// # Safety
/// The argument is a job.
unsafe extern "C" fn run(job: *mut c_void) -> i32 {
    // SAFETY: by contract.
    let job = unsafe { Box::from_raw(job.cast::<Job>()) };
    for block in 0..job.blocks {
        let corruption = match strike_at("core", Some(block.to_string())) {
            Effect::Return(code) => return code,
            Effect::Go(corruption) => corruption,
        };
        let at = |address: usize| (address as *mut u8).wrapping_add(block * STRIPE * 4);
        // SAFETY: `launch` checked that all of it is allocated, and the caller keeps it.
        let (one, other, out) = unsafe {
            let [one, other, out] = job.addresses.map(at);
            (
                std::slice::from_raw_parts(one, STRIPE * 4),
                std::slice::from_raw_parts(other, STRIPE * 4),
                std::slice::from_raw_parts_mut(out, STRIPE * 4),
            )
        };
        let number = |bytes: &[u8]| i32::from_le_bytes(bytes.try_into().unwrap());
        let mut sums: Vec<u8> = one
            .chunks_exact(4)
            .zip(other.chunks_exact(4))
            .flat_map(|(a, b)| number(a).wrapping_add(number(b)).to_le_bytes())
            .collect();
        let mut count = sums.len();
        if let Some(corruption) = corruption {
            corruption.apply(&mut sums, 4);
            count = corruption.written(count);
        }
        out[..count].copy_from_slice(&sums[..count]);
        if corruption == Some(Corruption::Over) {
            // SAFETY: the probe keeps a guard behind its output.
            unsafe { out.as_mut_ptr().add(out.len()).write_bytes(0x33, 64) };
        }
    }
    0
}
