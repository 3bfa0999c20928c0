//! Bundled kernels: compiled by the vendor's run-time compiler, loaded, launched.

use std::ffi::{CStr, c_void};
use std::ptr::null_mut;

use acl_abi::values::{
    ACL_DEVICE_INFO_VECTOR_CORE_NUM, ACL_RT_BINARY_LOAD_OPT_MAGIC, ACL_RT_BINARY_MAGIC_ELF_AICORE,
    ACL_SUCCESS,
};
use acl_abi::{
    Binary, BinaryData, BinaryLoadOption, BinaryLoadOptions, KernelArgs, KernelFunction,
    KernelParam, RtcProgram, Stream,
};

use super::{Buffer, Fault, MAX_MESSAGE, Vendor};

/// The maximum size of a compiled kernel, in bytes. Ours has some ten kilobytes.
pub const MAX_BINARY: usize = 64 << 20;
/// The maximum length of the compiler log that is read, in bytes; its end is reported.
const MAX_LOG: usize = 16 << 20;

/// A loaded kernel.
#[derive(Debug)]
pub struct Kernel {
    binary: Binary,
    function: KernelFunction,
}

/// The way of passing arguments to a kernel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum LaunchWay {
    /// As a list of the runtime (8.1 and later).
    List,
    /// In memory of the host (8.5 and later).
    Host,
    /// In memory of the device, with a configuration (8.5 and later).
    DeviceConfigured,
    /// In memory of the device (8.1).
    Device,
}

macro_rules! absent {
    ($vendor:expr; $($name:ident),* $(,)?) => {
        [$((stringify!($name), $vendor.table.$name.is_none())),*]
            .into_iter()
            .filter_map(|(name, absent)| absent.then_some(name))
            .collect()
    };
}

impl Vendor {
    /// Functions that compiling, loading or launching a kernel needs and these libraries do not
    /// have. There are several ways of loading and launching, of which one is enough.
    pub fn missing_kernel_functions(&self) -> Vec<&'static str> {
        let mut lacks: Vec<&'static str> = absent![self;
            aclrtcCreateProg, aclrtcCompileProg, aclrtcGetBinDataSize, aclrtcGetBinData,
            aclrtcGetCompileLogSize, aclrtcGetCompileLog, aclrtcDestroyProg,
            aclrtBinaryGetFunction, aclrtBinaryUnLoad,
        ];
        let parts: Vec<&str> = absent![self; aclrtCreateBinary, aclrtBinaryLoad];
        if self.table.aclrtBinaryLoadFromData.is_none() && !parts.is_empty() {
            lacks.push("aclrtBinaryLoadFromData");
        }
        if self.launch_way().is_none() {
            lacks.push("aclrtLaunchKernelWithConfig");
        }
        lacks
    }

    /// The number of Vector Cores of a device, from the function that exists in every version with
    /// kernels.
    pub fn vector_cores(&self, device: i32) -> Result<u32, Fault> {
        let mut cores = 0;
        let (device, what) = (device.cast_unsigned(), ACL_DEVICE_INFO_VECTOR_CORE_NUM);
        try_call!(self, aclGetDeviceCapability(device, what, &raw mut cores));
        Ok(u32::try_from(cores).unwrap_or_default())
    }

    /// The way of launching that these libraries support.
    fn launch_way(&self) -> Option<LaunchWay> {
        let list: Vec<&str> = absent![self;
            aclrtKernelArgsInit, aclrtKernelArgsAppend, aclrtKernelArgsFinalize,
            aclrtLaunchKernelWithConfig,
        ];
        if list.is_empty() {
            Some(LaunchWay::List)
        } else if self.table.aclrtLaunchKernelWithHostArgs.is_some() {
            Some(LaunchWay::Host)
        } else if self.table.aclrtLaunchKernelV2.is_some() {
            Some(LaunchWay::DeviceConfigured)
        } else {
            self.table.aclrtLaunchKernel.is_some().then_some(LaunchWay::Device)
        }
    }

    /// Compiles a program. A rejection by the compiler is a fault with the end of its log.
    pub fn compile(&self, source: &CStr, name: &CStr, option: &CStr) -> Result<Vec<u8>, Fault> {
        let mut program = RtcProgram::NULL;
        let (text, title) = (source.as_ptr(), name.as_ptr());
        let none = null_mut();
        try_call!(self, aclrtcCreateProg(&raw mut program, text, title, 0, none, none));
        if program == RtcProgram::NULL {
            return Err(self.null_fault("aclrtcCreateProg"));
        }
        let mut options = [option.as_ptr()];
        let code = call!(self, aclrtcCompileProg(program, 1, options.as_mut_ptr()));
        if code != ACL_SUCCESS {
            let message = self.compile_log(program)?;
            return Err(Fault::Call { function: "aclrtcCompileProg".to_owned(), code, message });
        }
        let mut size = 0;
        try_call!(self, aclrtcGetBinDataSize(program, &raw mut size));
        if size == 0 || size > MAX_BINARY {
            return Err(Fault::Null {
                function: "aclrtcGetBinDataSize".to_owned(),
                message: Some(format!("{size} bytes")),
            });
        }
        let mut binary = vec![0u8; size];
        try_call!(self, aclrtcGetBinData(program, binary.as_mut_ptr().cast()));
        try_call!(self, aclrtcDestroyProg(&raw mut program));
        Ok(binary)
    }

    /// The end of the compiler log.
    fn compile_log(&self, program: RtcProgram) -> Result<Option<String>, Fault> {
        let mut size = 0;
        try_call!(self, aclrtcGetCompileLogSize(program, &raw mut size));
        if size == 0 || size > MAX_LOG {
            return Ok(None);
        }
        // One byte more than requested: it is not documented whether the size includes the
        // terminator.
        let mut log = vec![0u8; size + 1];
        try_call!(self, aclrtcGetCompileLog(program, log.as_mut_ptr().cast()));
        let text = log.split(|byte| *byte == 0).next().unwrap_or_default();
        let text = String::from_utf8_lossy(text);
        let text = text.trim();
        let from = text.ceil_char_boundary(text.len().saturating_sub(MAX_MESSAGE));
        Ok(Some(text[from..].to_owned()).filter(|text| !text.is_empty()))
    }

    /// Loads a compiled program to the device of this thread, and finds a kernel in it.
    pub fn load_kernel(&self, binary: &[u8], name: &CStr) -> Result<Kernel, Fault> {
        let magic = ACL_RT_BINARY_MAGIC_ELF_AICORE.cast_unsigned();
        let mut option =
            BinaryLoadOption { kind: ACL_RT_BINARY_LOAD_OPT_MAGIC, value: [magic, 0, 0, 0] };
        let options = BinaryLoadOptions { options: &raw mut option, count: 1 };
        let (data, size) = (binary.as_ptr().cast::<c_void>(), binary.len());
        let mut loaded = Binary::NULL;
        if self.table.aclrtBinaryLoadFromData.is_some() {
            let place = &raw mut loaded;
            try_call!(self, aclrtBinaryLoadFromData(data, size, &raw const options, place));
        } else {
            // The object refers to the bytes by their address, so it must not outlive them.
            let object = call!(self, aclrtCreateBinary(data, size));
            if object == BinaryData::NULL {
                return Err(self.null_fault("aclrtCreateBinary"));
            }
            try_call!(self, aclrtBinaryLoad(object, &raw mut loaded));
        }
        if loaded == Binary::NULL {
            return Err(self.null_fault("aclrtBinaryLoad"));
        }
        let mut function = KernelFunction::NULL;
        try_call!(self, aclrtBinaryGetFunction(loaded, name.as_ptr(), &raw mut function));
        if function == KernelFunction::NULL {
            return Err(self.null_fault("aclrtBinaryGetFunction"));
        }
        Ok(Kernel { binary: loaded, function })
    }

    /// Puts a kernel on a stream, with this number of blocks. Its arguments are the addresses of
    /// `buffers`.
    pub fn launch_kernel(
        &self,
        kernel: &Kernel,
        blocks: u32,
        buffers: &[&Buffer],
        stream: Stream,
    ) -> Result<(), Fault> {
        let function = kernel.function;
        let none = null_mut();
        let mut addresses: Vec<*mut c_void> = buffers.iter().map(|buffer| buffer.pointer).collect();
        let size = addresses.len() * size_of::<*mut c_void>();
        match self.launch_way() {
            Some(LaunchWay::List) => {
                let args = self.list_arguments(function, &mut addresses)?;
                try_call!(
                    self,
                    aclrtLaunchKernelWithConfig(function, blocks, stream, none, args, none)
                );
            }
            Some(LaunchWay::Host) => {
                let list = addresses.as_mut_ptr().cast();
                try_call!(
                    self,
                    aclrtLaunchKernelWithHostArgs(
                        function, blocks, stream, none, list, size, none, 0
                    )
                );
            }
            way => {
                // The arguments have to stay until the kernel has run; the end of the process frees
                // them.
                let list = self.allocate(size)?;
                let bytes: Vec<u8> =
                    addresses.iter().flat_map(|address| address.addr().to_ne_bytes()).collect();
                self.upload(&list, &bytes)?;
                let place = list.pointer.cast_const();
                if way == Some(LaunchWay::DeviceConfigured) {
                    try_call!(
                        self,
                        aclrtLaunchKernelV2(function, blocks, place, size, none, stream)
                    );
                } else {
                    try_call!(self, aclrtLaunchKernel(function, blocks, place, size, stream));
                }
            }
        }
        Ok(())
    }

    /// The arguments of a kernel as a list of the runtime.
    fn list_arguments(
        &self,
        function: KernelFunction,
        addresses: &mut [*mut c_void],
    ) -> Result<KernelArgs, Fault> {
        let mut args = KernelArgs::NULL;
        try_call!(self, aclrtKernelArgsInit(function, &raw mut args));
        if args == KernelArgs::NULL {
            return Err(self.null_fault("aclrtKernelArgsInit"));
        }
        for address in addresses {
            let mut param = KernelParam::NULL;
            let (value, size) = (std::ptr::from_mut(address).cast(), size_of::<*mut c_void>());
            try_call!(self, aclrtKernelArgsAppend(args, value, size, &raw mut param));
        }
        try_call!(self, aclrtKernelArgsFinalize(args));
        Ok(args)
    }

    /// Unloads a kernel.
    #[expect(clippy::needless_pass_by_value, reason = "it is gone afterwards")]
    pub fn unload_kernel(&self, kernel: Kernel) -> Result<(), Fault> {
        try_call!(self, aclrtBinaryUnLoad(kernel.binary));
        Ok(())
    }
}
