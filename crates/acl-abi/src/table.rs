//! The table of functions. One row per function: its library group, whether the probe requires it,
//! the first CANN version whose headers declare it, and its type.

pub(crate) use crate::{
    BinaryLoadOptions, BoardInfo, ChipInfo, EccInfo, ElabelInfo, HbmInfo, PackageVersion, PcieInfo,
    RootInfo,
};
pub(crate) use std::ffi::{c_char, c_void};

/// Passes all rows to the macro `$callback`.
#[macro_export]
macro_rules! acl_functions {
    ($callback:ident) => {
        $callback! {
            /// Initializes ACL; the argument is the path of a configuration file or null.
            Acl Required "6.0.1" fn aclInit(config: *const c_char) -> Status;
            /// Finalizes ACL.
            Acl Required "6.0.1" fn aclFinalize() -> Status;
            /// The version of the ACL interface, which is not that of CANN.
            Acl Required "6.0.1"
                fn aclrtGetVersion(major: *mut i32, minor: *mut i32, patch: *mut i32) -> Status;
            /// The name of the chip, or null.
            Acl Required "6.0.1" fn aclrtGetSocName() -> *const c_char;
            /// The message of the last failure in this thread, or null.
            Acl Required "6.0.1" fn aclGetRecentErrMsg() -> *const c_char;
            /// The number of devices available to this process.
            Acl Required "6.0.1" fn aclrtGetDeviceCount(count: *mut u32) -> Status;
            /// Opens a device for this thread, with its default context.
            Acl Required "6.0.1" fn aclrtSetDevice(device: i32) -> Status;
            /// Closes a device.
            Acl Required "6.0.1" fn aclrtResetDevice(device: i32) -> Status;
            /// A new stream of the current context.
            Acl Required "6.0.1" fn aclrtCreateStream(stream: *mut Stream) -> Status;
            /// Destroys a stream.
            Acl Required "6.0.1" fn aclrtDestroyStream(stream: Stream) -> Status;
            /// Waits for a stream without a time limit: minutes, if a kernel hangs.
            Acl Required "6.0.1" fn aclrtSynchronizeStream(stream: Stream) -> Status;
            /// Waits for a stream, at most this number of milliseconds.
            Acl Required "7.0.0"
                fn aclrtSynchronizeStreamWithTimeout(stream: Stream, milliseconds: i32) -> Status;
            /// Allocates memory of the device.
            Acl Required "6.0.1"
                fn aclrtMalloc(pointer: *mut *mut c_void, size: usize, policy: i32) -> Status;
            /// Frees memory of the device.
            Acl Required "6.0.1" fn aclrtFree(pointer: *mut c_void) -> Status;
            /// Copies, and waits for the end.
            Acl Required "6.0.1"
                fn aclrtMemcpy(to: *mut c_void, room: usize, from: *const c_void, count: usize, kind: i32) -> Status;
            /// Copies, in the order of a stream.
            Acl Required "6.0.1"
                fn aclrtMemcpyAsync(to: *mut c_void, room: usize, from: *const c_void, count: usize, kind: i32, stream: Stream) -> Status;
            /// Free and total bytes of a kind of memory.
            Acl Required "6.0.1"
                fn aclrtGetMemInfo(kind: i32, free: *mut usize, total: *mut usize) -> Status;
            /// A new event.
            Acl Required "6.0.1"
                fn aclrtCreateEventWithFlag(event: *mut Event, flag: u32) -> Status;
            /// Destroys an event.
            Acl Required "6.0.1" fn aclrtDestroyEvent(event: Event) -> Status;
            /// Records the time at which a stream reaches this point.
            Acl Required "6.0.1" fn aclrtRecordEvent(event: Event, stream: Stream) -> Status;
            /// The time between two events, in milliseconds.
            Acl Required "6.0.1"
                fn aclrtEventElapsedTime(milliseconds: *mut f32, start: Event, end: Event) -> Status;
            /// Whether a device may read and write the memory of another one.
            Acl Required "6.0.1"
                fn aclrtDeviceCanAccessPeer(can: *mut i32, device: i32, peer: i32) -> Status;
            /// Lets the device of this thread use the memory of another one; the flags are 0.
            Acl Required "6.0.1"
                fn aclrtDeviceEnablePeerAccess(peer: i32, flags: u32) -> Status;
            /// A property of a device, for example the number of its Vector Cores.
            Acl Optional "8.0.RC1"
                fn aclGetDeviceCapability(device: u32, what: i32, value: *mut i64) -> Status;
            /// The version of a package of CANN.
            Acl Optional "8.1.RC1"
                fn aclsysGetCANNVersion(package: i32, version: *mut PackageVersion) -> Status;
            /// Loads compiled kernels to the device of this thread.
            Acl Optional "8.5.0"
                fn aclrtBinaryLoadFromData(data: *const c_void, size: usize, options: *const BinaryLoadOptions, binary: *mut Binary) -> Status;
            /// Unloads compiled kernels.
            Acl Optional "8.1.RC1" fn aclrtBinaryUnLoad(binary: Binary) -> Status;
            /// A kernel of a loaded binary, by its name.
            Acl Optional "8.1.RC1"
                fn aclrtBinaryGetFunction(binary: Binary, name: *const c_char, function: *mut KernelFunction) -> Status;
            /// Creates an empty list of arguments for a kernel.
            Acl Optional "8.1.RC1"
                fn aclrtKernelArgsInit(function: KernelFunction, args: *mut KernelArgs) -> Status;
            /// Appends an argument, which is copied.
            Acl Optional "8.1.RC1"
                fn aclrtKernelArgsAppend(args: KernelArgs, value: *mut c_void, size: usize, param: *mut KernelParam) -> Status;
            /// Finalizes the list.
            Acl Optional "8.1.RC1" fn aclrtKernelArgsFinalize(args: KernelArgs) -> Status;
            /// Runs a kernel with this number of blocks, in the order of a stream.
            Acl Optional "8.1.RC1"
                fn aclrtLaunchKernelWithConfig(function: KernelFunction, blocks: u32, stream: Stream, config: *mut c_void, args: KernelArgs, reserved: *mut c_void) -> Status;
            /// Runs a kernel whose arguments are in device memory.
            Acl Optional "8.1.RC1"
                fn aclrtLaunchKernel(function: KernelFunction, blocks: u32, args: *const c_void, size: usize, stream: Stream) -> Status;
            /// Runs a kernel whose arguments are in device memory, with a configuration.
            Acl Optional "8.5.0"
                fn aclrtLaunchKernelV2(function: KernelFunction, blocks: u32, args: *const c_void, size: usize, config: *mut c_void, stream: Stream) -> Status;
            /// Runs a kernel whose arguments are in host memory.
            Acl Optional "8.5.0"
                fn aclrtLaunchKernelWithHostArgs(function: KernelFunction, blocks: u32, stream: Stream, config: *mut c_void, args: *mut c_void, size: usize, places: *mut c_void, count: usize) -> Status;
            /// A compiled program as an object, or null.
            Acl Optional "8.1.RC1"
                fn aclrtCreateBinary(data: *const c_void, size: usize) -> BinaryData;
            /// Loads a compiled program to the device of this thread.
            Acl Optional "8.1.RC1"
                fn aclrtBinaryLoad(data: BinaryData, binary: *mut Binary) -> Status;
            /// A property of a device, selected by a value of `aclrtDevAttr`.
            Acl Optional "8.5.0"
                fn aclrtGetDeviceInfo(device: u32, attribute: i32, value: *mut i64) -> Status;
            /// The logical ID in the driver of a device of this process.
            Acl Optional "8.5.0"
                fn aclrtGetLogicDevIdByUserDevId(device: i32, logic: *mut i32) -> Status;
            /// The physical ID of a device of the driver.
            Acl Optional "8.5.0"
                fn aclrtGetPhyDevIdByLogicDevId(logic: i32, physical: *mut i32) -> Status;
            /// The physical ID of a device of this process.
            Acl Optional "9.1.0"
                fn aclrtGetPhyDevIdByUserDevId(device: i32, physical: *mut i32) -> Status;
            /// The PCI address of a device, as null-terminated text.
            Acl Optional "9.2.0-beta.2"
                fn aclrtDeviceGetPCIBusId(device: i32, address: *mut c_char, size: i32) -> Status;

            /// A view of device memory as a tensor, or null.
            Nnopbase Required "7.0.0"
                fn aclCreateTensor(sizes: *const i64, dimensions: u64, dtype: i32, strides: *const i64, offset: i64, format: i32, storage: *const i64, storage_dimensions: u64, data: *mut c_void) -> Tensor;
            /// Destroys a view.
            Nnopbase Required "7.0.0" fn aclDestroyTensor(tensor: Tensor) -> Status;
            /// A scalar for an operator, or null.
            Nnopbase Required "7.0.0" fn aclCreateScalar(value: *mut c_void, dtype: i32) -> Scalar;
            /// Destroys a scalar.
            Nnopbase Required "7.0.0" fn aclDestroyScalar(scalar: Scalar) -> Status;

            /// Plans `out = one + alpha * other`.
            Math Required "7.0.0"
                fn aclnnAddGetWorkspaceSize(one: Tensor, other: Tensor, alpha: Scalar, out: Tensor, size: *mut u64, executor: *mut Executor) -> Status;
            /// Runs the plan.
            Math Required "7.0.0"
                fn aclnnAdd(workspace: *mut c_void, size: u64, executor: Executor, stream: Stream) -> Status;

            /// Plans the product of two matrices; `cube` selects the allowed type conversions.
            Nn Required "7.0.0"
                fn aclnnMatmulGetWorkspaceSize(left: Tensor, right: Tensor, out: Tensor, cube: i8, size: *mut u64, executor: *mut Executor) -> Status;
            /// Runs the plan.
            Nn Required "7.0.0"
                fn aclnnMatmul(workspace: *mut c_void, size: u64, executor: Executor, stream: Stream) -> Status;

            /// A program to compile: its source, its name, and headers by name.
            Rtc Optional "8.3.RC1"
                fn aclrtcCreateProg(program: *mut RtcProgram, source: *const c_char, name: *const c_char, headers: i32, texts: *mut *const c_char, names: *mut *const c_char) -> Status;
            /// Compiles a program.
            Rtc Optional "8.3.RC1"
                fn aclrtcCompileProg(program: RtcProgram, options: i32, list: *mut *const c_char) -> Status;
            /// Bytes of the compiled program.
            Rtc Optional "8.3.RC1"
                fn aclrtcGetBinDataSize(program: RtcProgram, size: *mut usize) -> Status;
            /// The compiled program, into memory that is large enough.
            Rtc Optional "8.3.RC1"
                fn aclrtcGetBinData(program: RtcProgram, data: *mut c_char) -> Status;
            /// The size of the compiler log in bytes.
            Rtc Optional "8.3.RC1"
                fn aclrtcGetCompileLogSize(program: RtcProgram, size: *mut usize) -> Status;
            /// The compiler log, into memory that is large enough.
            Rtc Optional "8.3.RC1"
                fn aclrtcGetCompileLog(program: RtcProgram, log: *mut c_char) -> Status;
            /// Destroys a program.
            Rtc Optional "8.3.RC1" fn aclrtcDestroyProg(program: *mut RtcProgram) -> Status;

            /// The information that all ranks of a communicator need.
            Hccl Required "6.0.1" fn HcclGetRootInfo(info: *mut RootInfo) -> Status;
            /// Joins a communicator, and waits until all ranks have joined.
            Hccl Required "6.0.1"
                fn HcclCommInitRootInfo(ranks: u32, info: *const RootInfo, rank: u32, communicator: *mut Communicator) -> Status;
            /// Sums over all ranks, in the order of a stream.
            Hccl Required "6.0.1"
                fn HcclAllReduce(from: *mut c_void, to: *mut c_void, count: u64, dtype: i32, operation: i32, communicator: Communicator, stream: Stream) -> Status;
            /// Leaves a communicator.
            Hccl Required "6.0.1" fn HcclCommDestroy(communicator: Communicator) -> Status;

            /// Initializes DCMI.
            Dcmi Optional "8.5.0" fn dcmi_init() -> Status;
            /// The version of the driver, as null-terminated text.
            Dcmi Optional "8.5.0" fn dcmi_get_driver_version(version: *mut c_char, size: u32) -> Status;
            /// The numbers of the cards.
            Dcmi Optional "8.5.0"
                fn dcmi_get_card_list(count: *mut i32, cards: *mut i32, room: i32) -> Status;
            /// The number of devices of a card.
            Dcmi Optional "8.5.0" fn dcmi_get_device_num_in_card(card: i32, count: *mut i32) -> Status;
            /// The type of a device: an NPU, a controller, a CPU.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_type(card: i32, device: i32, kind: *mut i32) -> Status;
            /// The chip of a device.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_chip_info(card: i32, device: i32, info: *mut ChipInfo) -> Status;
            /// The PCI address of a device.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_pcie_info_v2(card: i32, device: i32, info: *mut PcieInfo) -> Status;
            /// The board of a device.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_board_info(card: i32, device: i32, info: *mut BoardInfo) -> Status;
            /// The label of a device.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_elabel_info(card: i32, device: i32, info: *mut ElabelInfo) -> Status;
            /// The label of a card.
            Dcmi Optional "8.5.0" fn dcmi_get_card_elabel_v2(card: i32, info: *mut ElabelInfo) -> Status;
            /// The power of a device in tenths of a watt.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_power_info(card: i32, device: i32, power: *mut i32) -> Status;
            /// The temperature of a device in degrees Celsius.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_temperature(card: i32, device: i32, temperature: *mut i32) -> Status;
            /// The health of a device: 0 is normal.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_health(card: i32, device: i32, health: *mut u32) -> Status;
            /// The memory errors of a device.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_ecc_info(card: i32, device: i32, kind: i32, info: *mut EccInfo) -> Status;
            /// A frequency of a device in MHz.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_frequency(card: i32, device: i32, kind: i32, frequency: *mut u32) -> Status;
            /// The memory of a device.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_hbm_info(card: i32, device: i32, info: *mut HbmInfo) -> Status;
            /// The state of the network port of a device: 0 is normal.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_network_health(card: i32, device: i32, result: *mut i32) -> Status;
            /// The logical ID of a device in the driver.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_logic_id(logic: *mut i32, card: i32, device: i32) -> Status;
            /// The physical ID of a device of the driver.
            Dcmi Optional "8.5.0"
                fn dcmi_get_device_phyid_from_logicid(logic: u32, physical: *mut u32) -> Status;
        }
    };
}
