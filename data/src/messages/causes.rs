//! Written by `cargo xtask messages` from `data/errors/causes/*.toml`; do not edit.

#![allow(missing_docs, reason = "each name is the ID that it stands for")]

pub mod aicore {
    pub const BUFFER_CONFLICT: &str = "aicore.buffer_conflict";
    pub const CCU_BUS_ERROR: &str = "aicore.ccu_bus_error";
    pub const ECC: &str = "aicore.ecc";
    pub const ILLEGAL_GM_ACCESS: &str = "aicore.illegal_gm_access";
    pub const ILLEGAL_INSTRUCTION: &str = "aicore.illegal_instruction";
    pub const INSTR_PARAM_INVALID: &str = "aicore.instr_param_invalid";
    pub const KERNEL_EXCEPTION: &str = "aicore.kernel_exception";
    pub const NUMERIC_FAULT: &str = "aicore.numeric_fault";
    pub const ONCHIP_BUFFER_OOB: &str = "aicore.onchip_buffer_oob";
    pub const TIMEOUT_OR_TRAP: &str = "aicore.timeout_or_trap";
    pub const VEC_ILLEGAL_INSTR_CFG: &str = "aicore.vec_illegal_instr_cfg";
    pub const VEC_ILLEGAL_MASK: &str = "aicore.vec_illegal_mask";
    pub const VECTOR_TIMEOUT: &str = "aicore.vector_timeout";
}

pub mod aicpu {
    pub const KERNEL_FAILED: &str = "aicpu.kernel_failed";
    pub const OPP_VERIFY_FAILED: &str = "aicpu.opp_verify_failed";
}

pub mod driver {
    pub const DCMI_ERROR: &str = "driver.dcmi_error";
    pub const DCMI_IN_CONTAINER: &str = "driver.dcmi_in_container";
    pub const DCMI_UNSUPPORTED: &str = "driver.dcmi_unsupported";
    pub const DEVICE_OCCUPIED_OR_NO_ACCESS: &str = "driver.device_occupied_or_no_access";
    pub const DEVICE_UNREACHABLE: &str = "driver.device_unreachable";
    pub const EVENT_SCHED_STATE: &str = "driver.event_sched_state";
    pub const FIRMWARE_UPGRADING: &str = "driver.firmware_upgrading";
    pub const NO_DEVICE: &str = "driver.no_device";
    pub const PCIE_DMA_ERROR: &str = "driver.pcie_dma_error";
    pub const RESOURCE_LEAK: &str = "driver.resource_leak";
    pub const UB_ERROR: &str = "driver.ub_error";
}

pub mod env {
    pub const ACL_INIT_FAILED: &str = "env.acl_init_failed";
    pub const ACL_INIT_TWICE: &str = "env.acl_init_twice";
    pub const CANN_LIB_MISSING: &str = "env.cann_lib_missing";
    pub const CONTAINER_RUNTIME: &str = "env.container_runtime";
    pub const CUDA_CODE: &str = "env.cuda_code";
    pub const DRIVER_LIB_MISSING: &str = "env.driver_lib_missing";
    pub const DRIVER_NOT_READY: &str = "env.driver_not_ready";
    pub const ENV_VAR_INVALID: &str = "env.env_var_invalid";
    pub const EXTENSION_MISSING: &str = "env.extension_missing";
    pub const HCCL_ENV_INVALID: &str = "env.hccl_env_invalid";
    pub const INSTALL_FAILED: &str = "env.install_failed";
    pub const K8S_COMPONENT_MISSING: &str = "env.k8s_component_missing";
    pub const K8S_UNSCHEDULABLE: &str = "env.k8s_unschedulable";
    pub const KERNELS_PACKAGE_MISSING: &str = "env.kernels_package_missing";
    pub const LIB_PATH_MISSING: &str = "env.lib_path_missing";
    pub const NNAL_MISSING: &str = "env.nnal_missing";
    pub const PERMISSION: &str = "env.permission";
    pub const PLATFORM_PLUGIN_MISSING: &str = "env.platform_plugin_missing";
    pub const PYTHON_DEPS_MISSING: &str = "env.python_deps_missing";
    pub const PYTHON_VERSION_UNSUPPORTED: &str = "env.python_version_unsupported";
    pub const SOC_UNSUPPORTED: &str = "env.soc_unsupported";
    pub const STATIC_TLS: &str = "env.static_tls";
    pub const SYSTEM_LIB_MISSING: &str = "env.system_lib_missing";
    pub const SYSTEM_TOO_OLD: &str = "env.system_too_old";
    pub const TORCH_NPU_MISSING: &str = "env.torch_npu_missing";
    pub const TORCH_NPU_SOURCE_DIR: &str = "env.torch_npu_source_dir";
    pub const VERSION_MISMATCH_ABI: &str = "env.version_mismatch_abi";
    pub const VERSION_MISMATCH_CANN_BETWEEN_NODES: &str = "env.version_mismatch_cann_between_nodes";
    pub const VERSION_MISMATCH_TORCH: &str = "env.version_mismatch_torch";
    pub const VISIBLE_DEVICES_OUT_OF_RANGE: &str = "env.visible_devices_out_of_range";
}

pub mod framework {
    pub const COLLECTIVE_WATCHDOG: &str = "framework.collective_watchdog";
    pub const CONTEXT_NULL: &str = "framework.context_null";
    pub const DATA_QUEUE_TYPE_ERROR: &str = "framework.data_queue_type_error";
    pub const DATA_STARVATION: &str = "framework.data_starvation";
    pub const DEVICE_MISMATCH: &str = "framework.device_mismatch";
    pub const FOREIGN_EXCEPTION: &str = "framework.foreign_exception";
    pub const FORK_AFTER_NPU_INIT: &str = "framework.fork_after_npu_init";
    pub const GE_SESSION_MISUSE: &str = "framework.ge_session_misuse";
    pub const NATIVE_CRASH: &str = "framework.native_crash";
    pub const NO_RESOURCES: &str = "framework.no_resources";
    pub const NONCONTIGUOUS_COLLECTIVE: &str = "framework.noncontiguous_collective";
    pub const PROGRAM_ERROR: &str = "framework.program_error";
    pub const RDZV_PORT_IN_USE: &str = "framework.rdzv_port_in_use";
    pub const STORE_TIMEOUT: &str = "framework.store_timeout";
    pub const USER_SCRIPT_ERROR: &str = "framework.user_script_error";
    pub const WORKER_DIED: &str = "framework.worker_died";
}

pub mod hccl {
    pub const BUFFSIZE_TOO_SMALL: &str = "hccl.buffsize_too_small";
    pub const CLUSTER_NEGOTIATION_TIMEOUT: &str = "hccl.cluster_negotiation_timeout";
    pub const ERROR_CQE: &str = "hccl.error_cqe";
    pub const HCCP_INIT_DEVICE_BUSY: &str = "hccl.hccp_init_device_busy";
    pub const IP_FAMILY_MISMATCH: &str = "hccl.ip_family_mismatch";
    pub const NIC_DOWN: &str = "hccl.nic_down";
    pub const NOTIFY_WAIT_TIMEOUT: &str = "hccl.notify_wait_timeout";
    pub const OP_SEQUENCE_MISMATCH: &str = "hccl.op_sequence_mismatch";
    pub const P2P_TIMEOUT: &str = "hccl.p2p_timeout";
    pub const PARAM_MISMATCH: &str = "hccl.param_mismatch";
    pub const PEER_LOST: &str = "hccl.peer_lost";
    pub const PEER_STUCK: &str = "hccl.peer_stuck";
    pub const PORT_IN_USE: &str = "hccl.port_in_use";
    pub const RANKTABLE_INVALID: &str = "hccl.ranktable_invalid";
    pub const RESOURCE_EXHAUSTED: &str = "hccl.resource_exhausted";
    pub const SDMA_ERROR: &str = "hccl.sdma_error";
    pub const SLOW_RANK: &str = "hccl.slow_rank";
    pub const SOCKET_TIMEOUT: &str = "hccl.socket_timeout";
    pub const TLS_INCONSISTENT: &str = "hccl.tls_inconsistent";
    pub const TRANSPORT_INIT_ERROR: &str = "hccl.transport_init_error";
}

pub mod host {
    pub const CLOCK_CHANGED: &str = "host.clock_changed";
    pub const CONNTRACK_FULL: &str = "host.conntrack_full";
    pub const CPU_LOCKUP: &str = "host.cpu_lockup";
    pub const DISK_ERROR: &str = "host.disk_error";
    pub const FILESYSTEM_ERROR: &str = "host.filesystem_error";
    pub const KERNEL_CRASH: &str = "host.kernel_crash";
    pub const MEMORY_ERROR: &str = "host.memory_error";
    pub const MEMORY_FRAGMENTED: &str = "host.memory_fragmented";
    pub const SERVICE_DOWN: &str = "host.service_down";
    pub const TASK_HUNG: &str = "host.task_hung";
}

pub mod hw {
    pub const DEVICE_EVENT: &str = "hw.device_event";
    pub const FORCE_STOP: &str = "hw.force_stop";
    pub const HBM_UCE: &str = "hw.hbm_uce";
    pub const LINK_FAULT: &str = "hw.link_fault";
}

pub mod memory {
    pub const DEVICE_OOM: &str = "memory.device_oom";
    pub const HOST_OOM: &str = "memory.host_oom";
    pub const KV_CACHE_TOO_SMALL: &str = "memory.kv_cache_too_small";
    pub const SHM_TOO_SMALL: &str = "memory.shm_too_small";
    pub const SIZE_CORRUPT: &str = "memory.size_corrupt";
}

pub mod model {
    pub const CONVERTER_OPTION_INVALID: &str = "model.converter_option_invalid";
    pub const INVALID_FOR_CONVERTER: &str = "model.invalid_for_converter";
    pub const WEIGHTS_MISMATCH: &str = "model.weights_mismatch";
}

pub mod op {
    pub const COMPILE_FAILED: &str = "op.compile_failed";
    pub const INFERSHAPE_FAILED: &str = "op.infershape_failed";
    pub const NOT_SUPPORTED_ON_NPU: &str = "op.not_supported_on_npu";
    pub const TILING_FAILED: &str = "op.tiling_failed";
    pub const UNSUPPORTED_ATTR_OR_SHAPE: &str = "op.unsupported_attr_or_shape";
}

pub mod runtime {
    pub const DEVICE_ID_INVALID: &str = "runtime.device_id_invalid";
    pub const EVENT_RESOURCE_EXHAUSTED: &str = "runtime.event_resource_exhausted";
    pub const GRAPH_CAPTURE: &str = "runtime.graph_capture";
    pub const INVALID_ARGUMENT: &str = "runtime.invalid_argument";
    pub const MODEL_EXECUTE_FAILED: &str = "runtime.model_execute_failed";
    pub const NOT_SUPPORTED: &str = "runtime.not_supported";
    pub const NOTIFY_RESOURCE_EXHAUSTED: &str = "runtime.notify_resource_exhausted";
    pub const RESOURCE_EXHAUSTED: &str = "runtime.resource_exhausted";
    pub const STREAM_RESOURCE_EXHAUSTED: &str = "runtime.stream_resource_exhausted";
    pub const STREAM_SYNC_TIMEOUT: &str = "runtime.stream_sync_timeout";
}

pub mod service {
    pub const ADDRESS_IN_USE: &str = "service.address_in_use";
    pub const BACKEND_INIT_FAILED: &str = "service.backend_init_failed";
    pub const CLUSTER_STATE: &str = "service.cluster_state";
    pub const NOT_READY: &str = "service.not_ready";
    pub const OVERLOAD: &str = "service.overload";
    pub const REMOTE_ERROR: &str = "service.remote_error";
    pub const REQUEST_INVALID: &str = "service.request_invalid";
}

pub mod tool {
    pub const CONFIG_INVALID: &str = "tool.config_invalid";
    pub const DOWNLOAD_FAILED: &str = "tool.download_failed";
    pub const FILE_OR_PATH_INVALID: &str = "tool.file_or_path_invalid";
    pub const PROFILING_PATH_INVALID: &str = "tool.profiling_path_invalid";
}

pub mod vague {
    pub const ACL_INTERNAL: &str = "vague.acl_internal";
    pub const ACLNN_INNER: &str = "vague.aclnn_inner";
    pub const INNER: &str = "vague.inner";
    pub const TORCH_NPU_ACL: &str = "vague.torch_npu_acl";
    pub const TORCH_NPU_HCCL: &str = "vague.torch_npu_hccl";
    pub const UNKNOWN_ERROR: &str = "vague.unknown_error";
}
