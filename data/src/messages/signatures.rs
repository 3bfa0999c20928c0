//! Written by `cargo xtask messages` from `data/errors/signatures/*.toml`; do not edit.

#![allow(missing_docs, reason = "each name is the ID that it stands for")]

pub const CHILD: &str = "child";
pub const DEVMIX: &str = "devmix";
pub const FORK: &str = "fork";
pub const GLIBC: &str = "glibc";
pub const INPLACE: &str = "inplace";
pub const NONCONTIG: &str = "noncontig";
pub const NOSPACE: &str = "nospace";
pub const SEGV: &str = "segv";
pub const SHM: &str = "shm";
pub const UCE: &str = "uce";
pub const VISIBLE: &str = "visible";
pub const WATCHDOG: &str = "watchdog";

pub mod accelerate {
    pub const BACKEND: &str = "accelerate.backend";
}

pub mod acl {
    pub const ENV_INIT: &str = "acl.env_init";
    pub const FUNCTION_ABSENT: &str = "acl.function_absent";
    pub const INIT: &str = "acl.init";
    pub const INIT_TWICE: &str = "acl.init_twice";
    pub const LOAD_FROM_FILE_RET: &str = "acl.load_from_file_ret";
}

pub mod acllite {
    pub const COPY_CTX: &str = "acllite.copy_ctx";
}

pub mod aclnn {
    pub const ARG_DTYPE: &str = "aclnn.arg_dtype";
}

pub mod aicore {
    pub const CCU_BUS: &str = "aicore.ccu_bus";
    pub const DDR: &str = "aicore.ddr";
    pub const ECC: &str = "aicore.ecc";
    pub const EXEC: &str = "aicore.exec";
    pub const EXTEND: &str = "aicore.extend";
    pub const MPU: &str = "aicore.mpu";
    pub const SMMU: &str = "aicore.smmu";
    pub const TASK: &str = "aicore.task";
    pub const TIMEOUT: &str = "aicore.timeout";
    pub const UB: &str = "aicore.ub";
    pub const UB_ALIGN: &str = "aicore.ub_align";
    pub const VEC_CFG: &str = "aicore.vec_cfg";
    pub const VEC_MASK: &str = "aicore.vec_mask";
    pub const VTIMEOUT: &str = "aicore.vtimeout";
}

pub mod aicpu {
    pub const EXEC: &str = "aicpu.exec";
    pub const PKG: &str = "aicpu.pkg";
    pub const QUEUE_EMPTY: &str = "aicpu.queue_empty";
    pub const TASK: &str = "aicpu.task";
}

pub mod atb {
    pub const COMBINATION: &str = "atb.combination";
    pub const CREATE: &str = "atb.create";
    pub const EXEC_NODE: &str = "atb.exec_node";
    pub const EXECUTE: &str = "atb.execute";
    pub const MODEL_TYPE: &str = "atb.model_type";
    pub const RANK_SIZE: &str = "atb.rank_size";
    pub const SETUP: &str = "atb.setup";
    pub const STATUS: &str = "atb.status";
}

pub mod atc {
    pub const AIPP: &str = "atc.aipp";
    pub const CHECK: &str = "atc.check";
    pub const MODEL: &str = "atc.model";
    pub const PRECHECK: &str = "atc.precheck";
}

pub mod bisheng {
    pub const PIPELINE: &str = "bisheng.pipeline";
}

pub mod blame {
    pub const ASYNC: &str = "blame.async";
}

pub mod build {
    pub const ABI: &str = "build.abi";
    pub const CMAKE_NOTFOUND: &str = "build.cmake_notfound";
    pub const CMAKE_PACKAGE: &str = "build.cmake_package";
    pub const COMPILER: &str = "build.compiler";
    pub const EXTENSION: &str = "build.extension";
    pub const FAILED: &str = "build.failed";
    pub const HEADER: &str = "build.header";
    pub const HEADER_CANN: &str = "build.header_cann";
    pub const HEADER_TORCH_NPU: &str = "build.header_torch_npu";
    pub const KILLED: &str = "build.killed";
    pub const LLVM: &str = "build.llvm";
    pub const NO_COMPILER: &str = "build.no_compiler";
    pub const SOC_LIST: &str = "build.soc_list";
    pub const SOC_TYPE: &str = "build.soc_type";
    pub const UNDEFINED_ACL: &str = "build.undefined_acl";
}

pub mod c10 {
    pub const RAISED: &str = "c10.raised";
}

pub mod c10d {
    pub const DIFFERS: &str = "c10d.differs";
    pub const NOT_SUPPORTED: &str = "c10d.not_supported";
    pub const STORE_WAIT: &str = "c10d.store_wait";
}

pub mod cann {
    pub const ATB_HOME: &str = "cann.atb_home";
    pub const DLOPEN: &str = "cann.dlopen";
    pub const DLOPEN_WORDS: &str = "cann.dlopen_words";
    pub const DRIVER_DLOPEN: &str = "cann.driver_dlopen";
    pub const ENV_PATH: &str = "cann.env_path";
    pub const INTERFACE_MISSING: &str = "cann.interface_missing";
    pub const UNSET: &str = "cann.unset";
}

pub mod child {
    pub const RAY: &str = "child.ray";
    pub const SIGNAL: &str = "child.signal";
}

pub mod ckpt {
    pub const BROKEN: &str = "ckpt.broken";
}

pub mod core {
    pub const NO_BIT: &str = "core.no_bit";
    pub const UB_WORDS: &str = "core.ub_words";
}

pub mod crash {
    pub const SHELL: &str = "crash.shell";
}

pub mod ctr {
    pub const ASCEND_RUNTIME: &str = "ctr.ascend_runtime";
    pub const DAEMON: &str = "ctr.daemon";
    pub const SOCKET_DENIED: &str = "ctr.socket_denied";
    pub const VISIBLE_DEVICES: &str = "ctr.visible_devices";
}

pub mod ctx {
    pub const NULL: &str = "ctx.null";
}

pub mod custom {
    pub const OPS: &str = "custom.ops";
    pub const OPS_ASCEND: &str = "custom.ops_ascend";
}

pub mod datadist {
    pub const LINK: &str = "datadist.link";
    pub const OOM: &str = "datadist.oom";
}

pub mod dcmi {
    pub const ABSENT: &str = "dcmi.absent";
    pub const CODE: &str = "dcmi.code";
    pub const CONTAINER: &str = "dcmi.container";
    pub const DEVICE_ID: &str = "dcmi.device_id";
    pub const LIBRARY: &str = "dcmi.library";
    pub const OCCUPIED: &str = "dcmi.occupied";
    pub const OTHER: &str = "dcmi.other";
    pub const PERMISSION: &str = "dcmi.permission";
    pub const UNSUPPORTED: &str = "dcmi.unsupported";
    pub const UPGRADING: &str = "dcmi.upgrading";
}

pub mod dev {
    pub const USED: &str = "dev.used";
}

pub mod device {
    pub const ID: &str = "device.id";
    pub const PHY_ID: &str = "device.phy_id";
    pub const UNAVAILABLE: &str = "device.unavailable";
}

pub mod devmix {
    pub const NPU: &str = "devmix.npu";
}

pub mod devplugin {
    pub const ALLOCATE: &str = "devplugin.allocate";
    pub const ARGS: &str = "devplugin.args";
    pub const DCMI: &str = "devplugin.dcmi";
    pub const HEALTH: &str = "devplugin.health";
    pub const KUBELET: &str = "devplugin.kubelet";
    pub const NO_LIST: &str = "devplugin.no_list";
    pub const UNSUPPORTED: &str = "devplugin.unsupported";
}

pub mod dlinfer {
    pub const NOT_SUPPORT: &str = "dlinfer.not_support";
    pub const TORCH: &str = "dlinfer.torch";
}

pub mod docker {
    pub const LAYER: &str = "docker.layer";
}

pub mod docker_runtime {
    pub const EMPTY: &str = "docker_runtime.empty";
    pub const VDEV: &str = "docker_runtime.vdev";
    pub const WORDS: &str = "docker_runtime.words";
}

pub mod driver {
    pub const DKMS: &str = "driver.dkms";
}

pub mod drv {
    pub const BOARD: &str = "drv.board";
    pub const CLUSTER_PLUGIN: &str = "drv.cluster_plugin";
    pub const CONSOLE: &str = "drv.console";
    pub const CONTAINER_WORDS: &str = "drv.container_words";
    pub const DKMS_WORDS: &str = "drv.dkms_words";
    pub const DMESG: &str = "drv.dmesg";
    pub const DMP: &str = "drv.dmp";
    pub const FAIL: &str = "drv.fail";
    pub const HEARTBEAT: &str = "drv.heartbeat";
    pub const NODE_MISSING: &str = "drv.node_missing";
    pub const NODEV: &str = "drv.nodev";
    pub const NPU_SMI: &str = "drv.npu_smi";
    pub const SCHEDULE: &str = "drv.schedule";
    pub const SOC_INIT: &str = "drv.soc_init";
    pub const SVM_MEMORY: &str = "drv.svm_memory";
    pub const UDA: &str = "drv.uda";
    pub const WORDS: &str = "drv.words";
}

pub mod dvpp {
    pub const ARGUMENT: &str = "dvpp.argument";
    pub const CHANNEL: &str = "dvpp.channel";
    pub const DECODE: &str = "dvpp.decode";
}

pub mod engine {
    pub const WITHOUT_BACKEND: &str = "engine.without_backend";
}

pub mod env {
    pub const UNSET: &str = "env.unset";
}

pub mod event {
    pub const RES: &str = "event.res";
    pub const WAIT: &str = "event.wait";
}

pub mod force {
    pub const STOP: &str = "force.stop";
}

pub mod ge {
    pub const INFER: &str = "ge.infer";
    pub const IR_CHANGED: &str = "ge.ir_changed";
    pub const NO_ENGINE: &str = "ge.no_engine";
    pub const PATH_PERMISSION: &str = "ge.path_permission";
}

pub mod ggml {
    pub const ARCHITECTURE: &str = "ggml.architecture";
    pub const ASSERT: &str = "ggml.assert";
    pub const BUFFER: &str = "ggml.buffer";
    pub const CANN_ASSERT: &str = "ggml.cann_assert";
    pub const FILE: &str = "ggml.file";
}

pub mod git {
    pub const SUBMODULE: &str = "git.submodule";
}

pub mod gloo {
    pub const ADDRESS: &str = "gloo.address";
    pub const INTERFACE: &str = "gloo.interface";
}

pub mod graph {
    pub const CAPTURE: &str = "graph.capture";
}

pub mod hccl {
    pub const AICPU_LAUNCH: &str = "hccl.aicpu_launch";
    pub const BIND_WORDS: &str = "hccl.bind_words";
    pub const BUF: &str = "hccl.buf";
    pub const BUF_NEED: &str = "hccl.buf_need";
    pub const BUF_WIN: &str = "hccl.buf_win";
    pub const BUF_WORDS: &str = "hccl.buf_words";
    pub const BUSY: &str = "hccl.busy";
    pub const COMM_PREPARE: &str = "hccl.comm_prepare";
    pub const CONNECT: &str = "hccl.connect";
    pub const CQE: &str = "hccl.cqe";
    pub const DETECT: &str = "hccl.detect";
    pub const DEVICE_IP: &str = "hccl.device_ip";
    pub const DTYPE_WORDS: &str = "hccl.dtype_words";
    pub const ENV: &str = "hccl.env";
    pub const ENV_WORDS: &str = "hccl.env_words";
    pub const EXCEPTION: &str = "hccl.exception";
    pub const GROUP_INFO: &str = "hccl.group_info";
    pub const HOSTIP: &str = "hccl.hostip";
    pub const INIT: &str = "hccl.init";
    pub const INIT_INFO: &str = "hccl.init_info";
    pub const INIT_WORDS: &str = "hccl.init_words";
    pub const IPCMEM: &str = "hccl.ipcmem";
    pub const IPFAM: &str = "hccl.ipfam";
    pub const LINKTABLE: &str = "hccl.linktable";
    pub const LOST: &str = "hccl.lost";
    pub const NEGO_AGENT: &str = "hccl.nego.agent";
    pub const NEGO_CONNECTED: &str = "hccl.nego.connected";
    pub const NEGO_NEED: &str = "hccl.nego.need";
    pub const NEGO_SERVER: &str = "hccl.nego.server";
    pub const NIC: &str = "hccl.nic";
    pub const NOTIFY: &str = "hccl.notify";
    pub const OPDATA: &str = "hccl.opdata";
    pub const P2P: &str = "hccl.p2p";
    pub const P2P_LINK: &str = "hccl.p2p_link";
    pub const PARAM: &str = "hccl.param";
    pub const PORT: &str = "hccl.port";
    pub const RANKINFO: &str = "hccl.rankinfo";
    pub const RECV_TIMEOUT: &str = "hccl.recv_timeout";
    pub const RES: &str = "hccl.res";
    pub const RTIP: &str = "hccl.rtip";
    pub const RTPATH: &str = "hccl.rtpath";
    pub const SDMA: &str = "hccl.sdma";
    pub const SOCK: &str = "hccl.sock";
    pub const STAGE: &str = "hccl.stage";
    pub const STAGE_DETECT: &str = "hccl.stage.detect";
    pub const STAGE_ENV: &str = "hccl.stage.env";
    pub const STAGE_HEARTBEAT: &str = "hccl.stage.heartbeat";
    pub const STAGE_LINK: &str = "hccl.stage.link";
    pub const STAGE_PARAMETERS: &str = "hccl.stage.parameters";
    pub const STAGE_RANKTABLE_CHECK: &str = "hccl.stage.ranktable_check";
    pub const STAGE_RANKTABLE_CONFIG: &str = "hccl.stage.ranktable_config";
    pub const STAGE_RESOURCE: &str = "hccl.stage.resource";
    pub const STAGE_VERSION: &str = "hccl.stage.version";
    pub const STUCK: &str = "hccl.stuck";
    pub const STUCK_NOTIFY: &str = "hccl.stuck_notify";
    pub const SUPERPOD: &str = "hccl.superpod";
    pub const TASK_NOTIFY: &str = "hccl.task_notify";
    pub const TASK_SDMA: &str = "hccl.task_sdma";
    pub const TASKRUN: &str = "hccl.taskrun";
    pub const TLS: &str = "hccl.tls";
    pub const TRANSPORT: &str = "hccl.transport";
    pub const VERSION: &str = "hccl.version";
    pub const WHERE: &str = "hccl.where";
}

pub mod hccltest {
    pub const UNAVAILABLE: &str = "hccltest.unavailable";
}

pub mod hccn {
    pub const NET: &str = "hccn.net";
}

pub mod hdc {
    pub const LOST: &str = "hdc.lost";
}

pub mod http {
    pub const REFUSED: &str = "http.refused";
    pub const SERVER_ERROR: &str = "http.server_error";
}

pub mod hw {
    pub const LINK: &str = "hw.link";
}

pub mod infershape {
    pub const K_AXIS: &str = "infershape.k_axis";
}

pub mod inst {
    pub const CANN: &str = "inst.cann";
    pub const DRIVER: &str = "inst.driver";
    pub const ERR_NO: &str = "inst.err_no";
    pub const KERNEL_MODULE: &str = "inst.kernel_module";
    pub const RIGHTS: &str = "inst.rights";
    pub const USER_HEADERS: &str = "inst.user_headers";
}

pub mod k8s {
    pub const EVICTED: &str = "k8s.evicted";
    pub const FORBIDDEN: &str = "k8s.forbidden";
    pub const GRPC_PINGS: &str = "k8s.grpc_pings";
    pub const IMAGE: &str = "k8s.image";
    pub const MOUNT: &str = "k8s.mount";
    pub const NO_SUCH_RESOURCE: &str = "k8s.no_such_resource";
    pub const RESOURCE_SUB: &str = "k8s.resource_sub";
    pub const RESTARTS: &str = "k8s.restarts";
    pub const RUNTIME_SOCKET: &str = "k8s.runtime_socket";
    pub const UNSCHEDULABLE: &str = "k8s.unschedulable";
}

pub mod kern {
    pub const CONTAINER: &str = "kern.container";
    pub const HEARTBEAT: &str = "kern.heartbeat";
    pub const NO_DEVICE: &str = "kern.no_device";
    pub const NOT_READY: &str = "kern.not_ready";
    pub const PCIE: &str = "kern.pcie";
    pub const PERMISSION: &str = "kern.permission";
    pub const VNPU: &str = "kern.vnpu";
    pub const VNPU_TEMPLATE: &str = "kern.vnpu_template";
}

pub mod kernel {
    pub const CHIP: &str = "kernel.chip";
    pub const NONE: &str = "kernel.none";
}

pub mod kv {
    pub const ACK: &str = "kv.ack";
    pub const TRANSFER: &str = "kv.transfer";
    pub const TRANSFER_FAILED: &str = "kv.transfer_failed";
}

pub mod launch {
    pub const HOST_IP: &str = "launch.host_ip";
    pub const TOO_FEW: &str = "launch.too_few";
}

pub mod lib {
    pub const CANN: &str = "lib.cann";
    pub const CUDA: &str = "lib.cuda";
    pub const DRIVER: &str = "lib.driver";
    pub const ELF: &str = "lib.elf";
    pub const FLAG_TWICE: &str = "lib.flag_twice";
    pub const LIBTORCH_NPU: &str = "lib.libtorch_npu";
    pub const LINK: &str = "lib.link";
    pub const NNAL: &str = "lib.nnal";
    pub const OTHER: &str = "lib.other";
    pub const PROTO_TWICE: &str = "lib.proto_twice";
    pub const REGISTERED_TWICE: &str = "lib.registered_twice";
    pub const SYSTEM: &str = "lib.system";
    pub const TORCH: &str = "lib.torch";
    pub const TRANSFER: &str = "lib.transfer";
    pub const VLLM_ASCEND_KERNELS: &str = "lib.vllm_ascend_kernels";
}

pub mod limit {
    pub const HOST: &str = "limit.host";
}

pub mod lite {
    pub const NO_DEVICE: &str = "lite.no_device";
}

pub mod lmcache {
    pub const HOST_REGISTER: &str = "lmcache.host_register";
}

pub mod lmdeploy {
    pub const DLINFER: &str = "lmdeploy.dlinfer";
}

pub mod log {
    pub const SIGNAL: &str = "log.signal";
}

pub mod mc {
    pub const CHIP_CONFIG: &str = "mc.chip_config";
    pub const DEVICE_IP: &str = "mc.device_ip";
    pub const DRIVER_LIB: &str = "mc.driver_lib";
    pub const DRIVER_LIB_MODE: &str = "mc.driver_lib_mode";
    pub const NPU_BUSY: &str = "mc.npu_busy";
    pub const PARAM_INVALID: &str = "mc.param_invalid";
    pub const RUNTIME_CLIENT: &str = "mc.runtime_client";
    pub const VNPU_NOT_SUPPORTED: &str = "mc.vnpu_not_supported";
}

pub mod md {
    pub const GETNEXT: &str = "md.getnext";
    pub const KERNEL: &str = "md.kernel";
    pub const QUEUE: &str = "md.queue";
}

pub mod mdl {
    pub const SIZES: &str = "mdl.sizes";
}

pub mod mem {
    pub const ANY: &str = "mem.any";
    pub const EXIT_CODE: &str = "mem.exit_code";
    pub const HOST_WORDS: &str = "mem.host_words";
    pub const KV_WORDS: &str = "mem.kv_words";
    pub const MORE_THAN: &str = "mem.more_than";
    pub const WORDS: &str = "mem.words";
}

pub mod memfabric {
    pub const INIT: &str = "memfabric.init";
}

pub mod mie {
    pub const CHILD: &str = "mie.child";
    pub const ENGINE: &str = "mie.engine";
    pub const PERMISSION: &str = "mie.permission";
    pub const START: &str = "mie.start";
}

pub mod mindie {
    pub const CONFIG: &str = "mindie.config";
    pub const CONFIG_LEN: &str = "mindie.config_len";
    pub const DEVICES: &str = "mindie.devices";
    pub const KILLED: &str = "mindie.killed";
    pub const OWNER: &str = "mindie.owner";
    pub const PERMISSION: &str = "mindie.permission";
    pub const PERMISSION_LEVEL: &str = "mindie.permission_level";
    pub const SHM_SIZE: &str = "mindie.shm_size";
    pub const TOKENIZER_FROM_PRETRAINED: &str = "mindie.tokenizer_from_pretrained";
    pub const WRAP: &str = "mindie.wrap";
}

pub mod mlir {
    pub const DIAGNOSTICS: &str = "mlir.diagnostics";
}

pub mod model {
    pub const PARSE_CALL: &str = "model.parse_call";
    pub const WEIGHTS_DIFFER: &str = "model.weights_differ";
}

pub mod mooncake {
    pub const ASCEND_CONNECT: &str = "mooncake.ascend_connect";
    pub const ASCEND_DIRECT: &str = "mooncake.ascend_direct";
    pub const FABRIC: &str = "mooncake.fabric";
    pub const FABRIC_MEM: &str = "mooncake.fabric_mem";
    pub const HCCN_CONF: &str = "mooncake.hccn_conf";
    pub const REGIONS: &str = "mooncake.regions";
}

pub mod mount {
    pub const OCI: &str = "mount.oci";
}

pub mod mpi {
    pub const COMMAND: &str = "mpi.command";
    pub const DIED: &str = "mpi.died";
    pub const HOSTS: &str = "mpi.hosts";
    pub const LIBRARY: &str = "mpi.library";
    pub const SLOTS: &str = "mpi.slots";
}

pub mod ms {
    pub const ADDRESS_TYPE: &str = "ms.address_type";
    pub const BUILD_SERVER: &str = "ms.build_server";
    pub const BUILD_SERVER_TEXT: &str = "ms.build_server_text";
    pub const CANN_PATH: &str = "ms.cann_path";
    pub const CLUSTER_ENV: &str = "ms.cluster_env";
    pub const CLUSTER_WAIT: &str = "ms.cluster_wait";
    pub const COLLECTIVE_INIT: &str = "ms.collective_init";
    pub const DATA_FILES: &str = "ms.data_files";
    pub const DATA_SHM: &str = "ms.data_shm";
    pub const DATA_SLOW: &str = "ms.data_slow";
    pub const DEVICE_TARGET: &str = "ms.device_target";
    pub const FORK_DVPP: &str = "ms.fork_dvpp";
    pub const FRONTEND: &str = "ms.frontend";
    pub const GE_ADAPTER: &str = "ms.ge_adapter";
    pub const INPLACE: &str = "ms.inplace";
    pub const KERNEL_MEMORY: &str = "ms.kernel_memory";
    pub const MINDRECORD: &str = "ms.mindrecord";
    pub const MINDRECORD_USE: &str = "ms.mindrecord_use";
    pub const NO_OP_INFO: &str = "ms.no_op_info";
    pub const NO_RANK_INFO: &str = "ms.no_rank_info";
    pub const OOM: &str = "ms.oom";
    pub const PARALLEL: &str = "ms.parallel";
    pub const RANK_TABLE: &str = "ms.rank_table";
    pub const REPEATED_REGISTRATION: &str = "ms.repeated_registration";
    pub const RUNTIME_INIT: &str = "ms.runtime_init";
    pub const SELECT_KERNEL: &str = "ms.select_kernel";
    pub const SET_DEVICE: &str = "ms.set_device";
    pub const SYNTAX: &str = "ms.syntax";
    pub const VERSION_WARNING: &str = "ms.version_warning";
    pub const WHEEL_HCCL: &str = "ms.wheel_hccl";
    pub const WORDS: &str = "ms.words";
    pub const WORKER_EXIT: &str = "ms.worker_exit";
}

pub mod mslite {
    pub const CONVERTER: &str = "mslite.converter";
    pub const INPUT_NAME: &str = "mslite.input_name";
    pub const KERNEL: &str = "mslite.kernel";
    pub const MODEL: &str = "mslite.model";
    pub const SHAPE: &str = "mslite.shape";
}

pub mod mx {
    pub const ARGUMENT: &str = "mx.argument";
    pub const CONFIG: &str = "mx.config";
    pub const DEVICE: &str = "mx.device";
    pub const ENVIRONMENT: &str = "mx.environment";
    pub const FILES: &str = "mx.files";
    pub const GENERAL: &str = "mx.general";
    pub const INFER: &str = "mx.infer";
    pub const KERNELS: &str = "mx.kernels";
    pub const MEMORY: &str = "mx.memory";
    pub const MODEL: &str = "mx.model";
    pub const UNSUPPORTED: &str = "mx.unsupported";
}

pub mod nca {
    pub const NO_GROUP: &str = "nca.no_group";
}

pub mod net {
    pub const CANNOT_ASSIGN: &str = "net.cannot_assign";
    pub const CLIENT: &str = "net.client";
    pub const INTERFACE: &str = "net.interface";
    pub const LISTEN: &str = "net.listen";
    pub const RETRY: &str = "net.retry";
    pub const UNREACHABLE: &str = "net.unreachable";
}

pub mod notify {
    pub const RES: &str = "notify.res";
}

pub mod np {
    pub const INCOMPAT: &str = "np.incompat";
}

pub mod npu {
    pub const BIN_PACKAGE_SOC: &str = "npu.bin_package_soc";
    pub const CALL: &str = "npu.call";
    pub const HCCL_CALL: &str = "npu.hccl_call";
}

pub mod oom {
    pub const FRAMEWORKS: &str = "oom.frameworks";
    pub const HAL: &str = "oom.hal";
    pub const HOST: &str = "oom.host";
    pub const KILLED: &str = "oom.killed";
    pub const KV: &str = "oom.kv";
    pub const KV_NEGATIVE: &str = "oom.kv_negative";
    pub const KV_REQUEST: &str = "oom.kv_request";
    pub const LAUNCHER: &str = "oom.launcher";
    pub const PINNED: &str = "oom.pinned";
    pub const PYTHON: &str = "oom.python";
    pub const SIGKILL: &str = "oom.sigkill";
    pub const SIZE_CORRUPT: &str = "oom.size_corrupt";
    pub const TEXT: &str = "oom.text";
    pub const TORCH: &str = "oom.torch";
    pub const WORDS: &str = "oom.words";
    pub const WORKSPACE: &str = "oom.workspace";
}

pub mod op {
    pub const ACLNN: &str = "op.aclnn";
    pub const ACLNN_BARE: &str = "op.aclnn_bare";
    pub const ATTENTION_ARGS: &str = "op.attention_args";
    pub const ATTENTION_MASK: &str = "op.attention_mask";
    pub const ATTR_CURRENT_ONLY: &str = "op.attr_current_only";
    pub const ATTR_WORDS: &str = "op.attr_words";
    pub const BUFFER_OVERFLOW: &str = "op.buffer_overflow";
    pub const CHECK: &str = "op.check";
    pub const COMPILE: &str = "op.compile";
    pub const COMPILE_SUBGRAPH: &str = "op.compile_subgraph";
    pub const CONTIGUOUS: &str = "op.contiguous";
    pub const DIMENSIONS: &str = "op.dimensions";
    pub const EXTENSION_CPU: &str = "op.extension_cpu";
    pub const FALLBACK: &str = "op.fallback";
    pub const FUSED_WORDS: &str = "op.fused_words";
    pub const GRAPH: &str = "op.graph";
    pub const HCCL_RESOURCE: &str = "op.hccl_resource";
    pub const INFERSHAPE: &str = "op.infershape";
    pub const INNER_CHECK: &str = "op.inner_check";
    pub const KERNELFILE: &str = "op.kernelfile";
    pub const NAMED: &str = "op.named";
    pub const NO_TILING: &str = "op.no_tiling";
    pub const NOBIN: &str = "op.nobin";
    pub const NOBIN_ANY: &str = "op.nobin_any";
    pub const NORUN: &str = "op.norun";
    pub const NOT_IMPLEMENTED: &str = "op.not_implemented";
    pub const NULL_TENSOR: &str = "op.null_tensor";
    pub const REQUIREMENT: &str = "op.requirement";
    pub const RESIZE_COPY: &str = "op.resize_copy";
    pub const SCALAR_TYPE: &str = "op.scalar_type";
    pub const SET_TILING_FAILED: &str = "op.set_tiling_failed";
    pub const SHOULD_BE: &str = "op.should_be";
    pub const SOC_OF_BINARY: &str = "op.soc_of_binary";
    pub const SOC_VERSION: &str = "op.soc_version";
    pub const STATIC_ASSERT: &str = "op.static_assert";
    pub const TBE_CHECK: &str = "op.tbe_check";
    pub const TILING: &str = "op.tiling";
    pub const TILING_DATA: &str = "op.tiling_data";
    pub const VALUE_FOR_OP: &str = "op.value_for_op";
}

pub mod opencv {
    pub const CANN_GRAPH: &str = "opencv.cann_graph";
}

pub mod opp {
    pub const VERSION: &str = "opp.version";
}

pub mod ops {
    pub const SEQ_LENGTHS: &str = "ops.seq_lengths";
}

pub mod ort {
    pub const COMPILE_EXECUTE: &str = "ort.compile_execute";
}

pub mod paddle {
    pub const CANN_VERSION: &str = "paddle.cann_version";
    pub const CHECK: &str = "paddle.check";
    pub const CORE: &str = "paddle.core";
    pub const DEVICE_ID: &str = "paddle.device_id";
    pub const KERNEL: &str = "paddle.kernel";
    pub const NO_DEVICE: &str = "paddle.no_device";
    pub const PLACE: &str = "paddle.place";
}

pub mod perm {
    pub const DEVICE: &str = "perm.device";
    pub const FILE: &str = "perm.file";
    pub const SHELL: &str = "perm.shell";
}

pub mod pip {
    pub const CONFLICT: &str = "pip.conflict";
    pub const NONE: &str = "pip.none";
    pub const RESOLVER: &str = "pip.resolver";
    pub const TORCH: &str = "pip.torch";
    pub const WHEEL: &str = "pip.wheel";
}

pub mod pkg {
    pub const SYSTEM: &str = "pkg.system";
}

pub mod place {
    pub const ACLNN: &str = "place.aclnn";
    pub const AICORE: &str = "place.aicore";
    pub const AICPU: &str = "place.aicpu";
    pub const AICPU_PACKAGE: &str = "place.aicpu_package";
    pub const AMCT: &str = "place.amct";
    pub const COMPILE: &str = "place.compile";
    pub const CONSISTENCY: &str = "place.consistency";
    pub const DRV_CHANNEL: &str = "place.drv_channel";
    pub const DRV_MANAGER: &str = "place.drv_manager";
    pub const DRV_MEMORY: &str = "place.drv_memory";
    pub const DRV_TASKS: &str = "place.drv_tasks";
    pub const ENGINE: &str = "place.engine";
    pub const HCCL_ENV: &str = "place.hccl_env";
    pub const HEARTBEAT: &str = "place.heartbeat";
    pub const INFERSHAPE: &str = "place.infershape";
    pub const MS_COLLECTIVE: &str = "place.ms_collective";
    pub const MS_MEMORY: &str = "place.ms_memory";
    pub const MS_OTHER: &str = "place.ms_other";
    pub const NEGOTIATION: &str = "place.negotiation";
    pub const P2P: &str = "place.p2p";
    pub const PARSER: &str = "place.parser";
    pub const PORT: &str = "place.port";
    pub const PYTHON: &str = "place.python";
    pub const RANKTABLE: &str = "place.ranktable";
    pub const RESOURCES: &str = "place.resources";
    pub const SOCKET: &str = "place.socket";
    pub const TASKS: &str = "place.tasks";
    pub const TILING: &str = "place.tiling";
    pub const TRANSPORT: &str = "place.transport";
    pub const TSD: &str = "place.tsd";
}

pub mod plog {
    pub const ERROR: &str = "plog.error";
}

pub mod plugin {
    pub const FAIL: &str = "plugin.fail";
}

pub mod prof {
    pub const PATH: &str = "prof.path";
    pub const WORDS: &str = "prof.words";
}

pub mod pta {
    pub const CAPTURE: &str = "pta.capture";
    pub const COMM_STATE: &str = "pta.comm_state";
    pub const DEVICE_COUNT: &str = "pta.device_count";
    pub const DRIVER_FIRMWARE_PAIR: &str = "pta.driver_firmware_pair";
    pub const NO_CONFIG_COMPILES: &str = "pta.no_config_compiles";
    pub const PLACE: &str = "pta.place";
    pub const SETTING: &str = "pta.setting";
    pub const STORE: &str = "pta.store";
    pub const TOO_OLD: &str = "pta.too_old";
    pub const TWO_BACKENDS: &str = "pta.two_backends";
    pub const UNINITIALISED: &str = "pta.uninitialised";
    pub const UNSUPPORTED: &str = "pta.unsupported";
}

pub mod py {
    pub const ANY: &str = "py.any";
    pub const ARG: &str = "py.arg";
    pub const ARGUMENTS: &str = "py.arguments";
    pub const BAD_ALLOC: &str = "py.bad_alloc";
    pub const BAD_VARIABLE: &str = "py.bad_variable";
    pub const BARE: &str = "py.bare";
    pub const CHIP_UNSUPPORTED: &str = "py.chip_unsupported";
    pub const CIRCULAR: &str = "py.circular";
    pub const COMPILER: &str = "py.compiler";
    pub const COMPILER_FRAMES: &str = "py.compiler_frames";
    pub const CONFIG_UNKNOWN: &str = "py.config_unknown";
    pub const CUDA: &str = "py.cuda";
    pub const CUDA_ONLY: &str = "py.cuda_only";
    pub const DATA: &str = "py.data";
    pub const DEP_WORDS: &str = "py.dep_words";
    pub const DOWNLOAD: &str = "py.download";
    pub const DRIFT_ARGUMENT: &str = "py.drift_argument";
    pub const DRIFT_ATTRIBUTE: &str = "py.drift_attribute";
    pub const DRIFT_SUBMODULE: &str = "py.drift_submodule";
    pub const DTYPE_COLL: &str = "py.dtype_coll";
    pub const ERROR: &str = "py.error";
    pub const FILE_NOT_FOUND: &str = "py.file_not_found";
    pub const FILES: &str = "py.files";
    pub const FLAG_PACKAGE: &str = "py.flag_package";
    pub const HANDLES: &str = "py.handles";
    pub const HTTP: &str = "py.http";
    pub const HUB_FRAMES: &str = "py.hub_frames";
    pub const IMPORT_ANY: &str = "py.import_any";
    pub const IMPORT_FAILED: &str = "py.import_failed";
    pub const IMPORT_NAME: &str = "py.import_name";
    pub const IMPORT_WORDS: &str = "py.import_words";
    pub const INVALID_VERSION: &str = "py.invalid_version";
    pub const KNOWN_DRIFT: &str = "py.known_drift";
    pub const KNOWN_MODULES: &str = "py.known_modules";
    pub const LOADER_DIED: &str = "py.loader_died";
    pub const METADATA_FRAME: &str = "py.metadata_frame";
    pub const MODEL_TYPE: &str = "py.model_type";
    pub const MODULE_ATTRIBUTE: &str = "py.module_attribute";
    pub const NAMESPACE: &str = "py.namespace";
    pub const NEWER_WORDS: &str = "py.newer_words";
    pub const NO_HCCL: &str = "py.no_hccl";
    pub const NO_PASSWD: &str = "py.no_passwd";
    pub const NOT_IMPLEMENTED_WORDS: &str = "py.not_implemented_words";
    pub const NOT_SUPPORTED_WORDS: &str = "py.not_supported_words";
    pub const NPU_CLASS: &str = "py.npu_class";
    pub const OSERROR: &str = "py.oserror";
    pub const OTHER_DEP: &str = "py.other_dep";
    pub const PROTOBUF: &str = "py.protobuf";
    pub const RDZV_VARIABLE: &str = "py.rdzv_variable";
    pub const REFUSED: &str = "py.refused";
    pub const REPR_DRIFT: &str = "py.repr_drift";
    pub const REQUIRED: &str = "py.required";
    pub const REQUIREMENT: &str = "py.requirement";
    pub const SHAPE: &str = "py.shape";
    pub const START_METHOD: &str = "py.start_method";
    pub const SYNTAX_OF_LATER: &str = "py.syntax_of_later";
    pub const TBE_DEP: &str = "py.tbe_dep";
    pub const UNKNOWN_MODEL: &str = "py.unknown_model";
    pub const VERSION: &str = "py.version";
    pub const VERSION_WORDS: &str = "py.version_words";
}

pub mod quant {
    pub const LAYER_MISSING: &str = "quant.layer_missing";
}

pub mod rank {
    pub const SDID: &str = "rank.sdid";
}

pub mod ranktable {
    pub const IP: &str = "ranktable.ip";
}

pub mod ray {
    pub const GRAPH_TIMEOUT: &str = "ray.graph_timeout";
    pub const NODE_LOST: &str = "ray.node_lost";
    pub const NOT_THERE: &str = "ray.not_there";
    pub const RESOURCES: &str = "ray.resources";
    pub const TOO_FEW: &str = "ray.too_few";
    pub const WORKER_LOST: &str = "ray.worker_lost";
}

pub mod rdzv {
    pub const PORT: &str = "rdzv.port";
}

pub mod rt {
    pub const ABORT: &str = "rt.abort";
    pub const AICORE_LATE: &str = "rt.aicore_late";
    pub const AICORE_WORDS: &str = "rt.aicore_words";
    pub const AICPU_PACKAGE: &str = "rt.aicpu_package";
    pub const AICPU_WORDS: &str = "rt.aicpu_words";
    pub const BINARY: &str = "rt.binary";
    pub const CAPTURE_MODE: &str = "rt.capture_mode";
    pub const DEVICE_WORDS: &str = "rt.device_words";
    pub const FEATURE: &str = "rt.feature";
    pub const INVALID: &str = "rt.invalid";
    pub const KERNEL_LAUNCH_WORDS: &str = "rt.kernel_launch_words";
    pub const NOT_SUPPORTED: &str = "rt.not_supported";
    pub const VECTOR_CORE_TIMEOUT: &str = "rt.vector_core_timeout";
    pub const VECTOR_TIMEOUT_WORDS: &str = "rt.vector_timeout_words";
    pub const VISIBLE_DEVICE_WORDS: &str = "rt.visible_device_words";
    pub const WAIT_OTHER: &str = "rt.wait_other";
    pub const WAIT_TEXTS: &str = "rt.wait_texts";
}

pub mod samples {
    pub const MALLOC: &str = "samples.malloc";
    pub const MODEL_EXEC: &str = "samples.model_exec";
    pub const MODEL_MISSING: &str = "samples.model_missing";
}

pub mod segv {
    pub const PROCESS: &str = "segv.process";
}

pub mod sglang {
    pub const KV: &str = "sglang.kv";
    pub const UNBALANCED: &str = "sglang.unbalanced";
}

pub mod sh {
    pub const CANN_COMMAND: &str = "sh.cann_command";
    pub const COMMAND: &str = "sh.command";
    pub const FILES: &str = "sh.files";
    pub const MUST_EXPORT: &str = "sh.must_export";
    pub const PYTHON_COMMAND: &str = "sh.python_command";
    pub const SYNTAX: &str = "sh.syntax";
    pub const SYSTEM_COMMAND: &str = "sh.system_command";
}

pub mod shape {
    pub const USER: &str = "shape.user";
}

pub mod shell {
    pub const CRLF: &str = "shell.crlf";
    pub const DENIED: &str = "shell.denied";
}

pub mod shm {
    pub const WORDS: &str = "shm.words";
}

pub mod smi {
    pub const ALARM: &str = "smi.alarm";
    pub const PARAMETER: &str = "smi.parameter";
    pub const UNSUPPORTED: &str = "smi.unsupported";
}

pub mod soc {
    pub const EE1001_INVALID: &str = "soc.ee1001_invalid";
    pub const NOT_FOUND: &str = "soc.not_found";
    pub const READ: &str = "soc.read";
    pub const SUPPORT_FOR: &str = "soc.support_for";
    pub const TARGET: &str = "soc.target";
    pub const UNSUPPORTED: &str = "soc.unsupported";
    pub const WORDS: &str = "soc.words";
}

pub mod ssh {
    pub const DENIED: &str = "ssh.denied";
}

pub mod store {
    pub const REFUSED: &str = "store.refused";
    pub const TIMEOUT: &str = "store.timeout";
    pub const WAIT: &str = "store.wait";
}

pub mod stream {
    pub const CAPTURE: &str = "stream.capture";
    pub const RES: &str = "stream.res";
}

pub mod swap {
    pub const MODEL_FILES: &str = "swap.model_files";
}

pub mod sym {
    pub const FUNCTION: &str = "sym.function";
    pub const LOOKUP: &str = "sym.lookup";
    pub const UNDEFINED: &str = "sym.undefined";
}

pub mod sync {
    pub const TIMEOUT: &str = "sync.timeout";
}

pub mod tbe {
    pub const IMPORT: &str = "tbe.import";
    pub const PY_MACRO: &str = "tbe.py_macro";
}

pub mod te {
    pub const CUDA_FRAMES: &str = "te.cuda_frames";
}

pub mod tf {
    pub const GEOP: &str = "tf.geop";
    pub const UNINITIALIZED: &str = "tf.uninitialized";
}

pub mod tilelang {
    pub const BISHENG: &str = "tilelang.bisheng";
    pub const NO_CONFIG: &str = "tilelang.no_config";
}

pub mod tls {
    pub const BLOCK: &str = "tls.block";
    pub const CERTIFICATE: &str = "tls.certificate";
}

pub mod tool {
    pub const ATC_WORDS: &str = "tool.atc_words";
    pub const INSECURE_PATH: &str = "tool.insecure_path";
}

pub mod torch {
    pub const ARCHIVE: &str = "torch.archive";
    pub const ATTRIBUTE: &str = "torch.attribute";
    pub const AUTOLOAD: &str = "torch.autoload";
    pub const BACKEND_DTYPE: &str = "torch.backend_dtype";
    pub const CONFIG: &str = "torch.config";
    pub const CUDA_ONLY_WORDS: &str = "torch.cuda_only_words";
    pub const DEVICE_NOT_TAKEN: &str = "torch.device_not_taken";
    pub const DEVICE_STRING: &str = "torch.device_string";
    pub const DEVICE_WORDS: &str = "torch.device_words";
    pub const DISPATCH_TIMEOUT: &str = "torch.dispatch_timeout";
    pub const HCCL_UNKNOWN: &str = "torch.hccl_unknown";
    pub const INNER_MODULE: &str = "torch.inner_module";
    pub const LOAD_LIBRARY: &str = "torch.load_library";
    pub const META_TENSOR: &str = "torch.meta_tensor";
    pub const MISMATCH: &str = "torch.mismatch";
    pub const NO_ACLNN: &str = "torch.no_aclnn";
    pub const NO_BACKEND_FOR: &str = "torch.no_backend_for";
    pub const NO_KERNEL_FOR_TYPE: &str = "torch.no_kernel_for_type";
    pub const NO_NPU: &str = "torch.no_npu";
    pub const NPU_ASSERT: &str = "torch.npu_assert";
    pub const NPU_DEVICE_WORDS: &str = "torch.npu_device_words";
    pub const NPU_DTYPE: &str = "torch.npu_dtype";
    pub const NPU_UNKNOWN: &str = "torch.npu_unknown";
    pub const ORDINAL_WORDS: &str = "torch.ordinal_words";
    pub const TOO_OLD_WORDS: &str = "torch.too_old_words";
    pub const VISION: &str = "torch.vision";
}

pub mod torch_npu {
    pub const FILES: &str = "torch_npu.files";
    pub const INNER_ERROR: &str = "torch_npu.inner_error";
    pub const NO_OPERATOR: &str = "torch_npu.no_operator";
    pub const SETTINGS: &str = "torch_npu.settings";
    pub const SHMEM: &str = "torch_npu.shmem";
    pub const SOURCE_DIR: &str = "torch_npu.source_dir";
}

pub mod torchair {
    pub const BUILD: &str = "torchair.build";
    pub const CHANNEL: &str = "torchair.channel";
    pub const CONVERTER: &str = "torchair.converter";
    pub const MALLOC: &str = "torchair.malloc";
    pub const NAIVE_NPU: &str = "torchair.naive_npu";
}

pub mod train {
    pub const ADAPTER_FILES: &str = "train.adapter_files";
    pub const ATTR_GONE: &str = "train.attr_gone";
    pub const BUILD_OOM: &str = "train.build_oom";
    pub const CKPT_FILES: &str = "train.ckpt_files";
    pub const CONFIG: &str = "train.config";
    pub const DAEMON: &str = "train.daemon";
    pub const DATA: &str = "train.data";
    pub const DEATH_SIGNAL: &str = "train.death_signal";
    pub const DIVISIBLE: &str = "train.divisible";
    pub const ENV_CONNECTIONS: &str = "train.env_connections";
    pub const FILES: &str = "train.files";
    pub const GIT_URLOPEN: &str = "train.git_urlopen";
    pub const GLOO: &str = "train.gloo";
    pub const GPU_ONLY_QUANT: &str = "train.gpu_only_quant";
    pub const HCCL_METADATA: &str = "train.hccl_metadata";
    pub const HELP_ACL: &str = "train.help_acl";
    pub const HUB_REACH: &str = "train.hub_reach";
    pub const JSON: &str = "train.json";
    pub const LAST_DIM: &str = "train.last_dim";
    pub const MS_HUB: &str = "train.ms_hub";
    pub const MS_PRIMS: &str = "train.ms_prims";
    pub const NATIVE_ABSENT: &str = "train.native_absent";
    pub const NOT_AVAILABLE_OP: &str = "train.not_available_op";
    pub const PCOMPILE: &str = "train.pcompile";
    pub const PKG_CONFLICT: &str = "train.pkg_conflict";
    pub const PLAIN_MISSING: &str = "train.plain_missing";
    pub const QUOTED_MODULE: &str = "train.quoted_module";
    pub const RAYLET: &str = "train.raylet";
    pub const SSH: &str = "train.ssh";
    pub const WORKER_SEGV: &str = "train.worker_segv";
    pub const WRONG_ARCH: &str = "train.wrong_arch";
    pub const ZERO3_FLAG: &str = "train.zero3_flag";
}

pub mod trainer {
    pub const NO_ACCELERATOR: &str = "trainer.no_accelerator";
}

pub mod transfer {
    pub const ENGINE: &str = "transfer.engine";
    pub const WORDS: &str = "transfer.words";
}

pub mod transformers {
    pub const CONFIG_TAKEN: &str = "transformers.config_taken";
    pub const MODEL_TYPE: &str = "transformers.model_type";
    pub const TOKENIZER_ATTRIBUTE: &str = "transformers.tokenizer_attribute";
}

pub mod triton {
    pub const ARCH_ENV: &str = "triton.arch_env";
    pub const ASCEND_STAGE: &str = "triton.ascend_stage";
    pub const GRID: &str = "triton.grid";
    pub const HOST_COMPILE: &str = "triton.host_compile";
    pub const HOST_COMPILER: &str = "triton.host_compiler";
    pub const NO_DRIVER: &str = "triton.no_driver";
    pub const NPU_COMPILER: &str = "triton.npu_compiler";
}

pub mod triton_ascend {
    pub const CONFIG: &str = "triton_ascend.config";
    pub const TARGET: &str = "triton_ascend.target";
    pub const TOOLS: &str = "triton_ascend.tools";
}

pub mod tsd {
    pub const OPEN: &str = "tsd.open";
}

pub mod uce {
    pub const WORDS: &str = "uce.words";
}

pub mod value {
    pub const PARAMETER: &str = "value.parameter";
}

pub mod verl {
    pub const PLATFORM: &str = "verl.platform";
}

pub mod vllm {
    pub const ATTENTION_BACKEND: &str = "vllm.attention_backend";
    pub const CONFIG: &str = "vllm.config";
    pub const ENGINES_WAIT: &str = "vllm.engines_wait";
    pub const FRONT_END: &str = "vllm.front_end";
    pub const MODEL: &str = "vllm.model";
    pub const MODEL_PATH: &str = "vllm.model_path";
    pub const NO_QUANTIZER: &str = "vllm.no_quantizer";
    pub const NODEVICE: &str = "vllm.nodevice";
    pub const OPTION_NPU: &str = "vllm.option_npu";
    pub const QUANTIZATION_NPU: &str = "vllm.quantization_npu";
    pub const QUANTIZATION_UNKNOWN: &str = "vllm.quantization_unknown";
    pub const REPLY_TIMEOUT: &str = "vllm.reply_timeout";
    pub const STARTUP_MEMORY: &str = "vllm.startup_memory";
    pub const TOO_FEW: &str = "vllm.too_few";
    pub const UNSPECIFIED: &str = "vllm.unspecified";
    pub const WEIGHTS: &str = "vllm.weights";
}

pub mod vllm_ascend {
    pub const BUILD_STEP: &str = "vllm_ascend.build_step";
    pub const CAMEM: &str = "vllm_ascend.camem";
    pub const CHIP_BY_SMI: &str = "vllm_ascend.chip_by_smi";
    pub const CPUS: &str = "vllm_ascend.cpus";
    pub const DIVIDE: &str = "vllm_ascend.divide";
    pub const EXPANDABLE_POOL: &str = "vllm_ascend.expandable_pool";
    pub const HCCL_LIB: &str = "vllm_ascend.hccl_lib";
    pub const LAUNCH_BLOCKING: &str = "vllm_ascend.launch_blocking";
    pub const LOCAL_RANK: &str = "vllm_ascend.local_rank";
    pub const MAX_LEN: &str = "vllm_ascend.max_len";
    pub const MODELSLIM: &str = "vllm_ascend.modelslim";
    pub const NPU_HEALTH: &str = "vllm_ascend.npu_health";
    pub const NPU_SMI_CALL: &str = "vllm_ascend.npu_smi_call";
    pub const OPTION_NEEDS: &str = "vllm_ascend.option_needs";
    pub const QUERY_NPU: &str = "vllm_ascend.query_npu";
    pub const REQUIRES_VERSION: &str = "vllm_ascend.requires_version";
    pub const SOC_NUMBER: &str = "vllm_ascend.soc_number";
    pub const SOC_UNKNOWN: &str = "vllm_ascend.soc_unknown";
    pub const STREAM_CAPTURE: &str = "vllm_ascend.stream_capture";
    pub const TRANSFER_REGISTER: &str = "vllm_ascend.transfer_register";
    pub const VISIBLE_COUNT: &str = "vllm_ascend.visible_count";
    pub const VLLM_VERSION: &str = "vllm_ascend.vllm_version";
    pub const WHEEL_DEVICE: &str = "vllm_ascend.wheel_device";
    pub const WORLD_SIZE: &str = "vllm_ascend.world_size";
}

pub mod volcano {
    pub const NPU_SHORT: &str = "volcano.npu_short";
}

pub mod xinference {
    pub const CLOSED: &str = "xinference.closed";
    pub const SLOT: &str = "xinference.slot";
}
