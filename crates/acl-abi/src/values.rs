//! Values of enumerations and the like, by the names of the headers.

macro_rules! values {
    ($($name:ident = $value:literal;)*) => {
        $(#[doc = concat!("`", stringify!($name), "`.")] pub const $name: i32 = $value;)*
        /// All of them, by name.
        pub const ALL: &[(&str, i32)] = &[$((stringify!($name), $name)),*];
    };
}

values! {
    ACL_SUCCESS = 0;
    ACL_ERROR_INVALID_PARAM = 100_000;
    ACL_ERROR_UNINITIALIZE = 100_001;
    ACL_ERROR_REPEAT_INITIALIZE = 100_002;
    ACL_ERROR_RT_PARAM_INVALID = 107_000;
    ACL_ERROR_RT_INVALID_DEVICEID = 107_001;
    ACL_ERROR_RT_CONTEXT_NULL = 107_002;
    ACL_ERROR_RT_FEATURE_NOT_SUPPORT = 207_000;
    ACL_ERROR_RT_MEMORY_ALLOCATION = 207_001;
    ACL_ERROR_RT_NO_DEVICE = 207_004;
    ACL_ERROR_RT_AICORE_TIMEOUT = 507_014;
    ACL_ERROR_RT_AICORE_EXCEPTION = 507_015;
    ACL_ERROR_RT_STREAM_SYNC_TIMEOUT = 507_046;
    ACL_FLOAT = 0;
    ACL_FLOAT16 = 1;
    ACL_INT32 = 3;
    ACL_INT64 = 9;
    ACL_BF16 = 27;
    ACL_FORMAT_ND = 2;
    ACL_MEM_MALLOC_HUGE_FIRST = 0;
    ACL_MEMCPY_HOST_TO_DEVICE = 1;
    ACL_MEMCPY_DEVICE_TO_HOST = 2;
    ACL_MEMCPY_DEVICE_TO_DEVICE = 3;
    ACL_DDR_MEM = 0;
    ACL_HBM_MEM = 1;
    ACL_EVENT_TIME_LINE = 8;
    ACL_MEM_MALLOC_HUGE_FIRST_P2P = 3;
    ACL_DEVICE_INFO_VECTOR_CORE_NUM = 1;
    ACL_PKG_NAME_CANN = 0;
    ACL_RT_BINARY_LOAD_OPT_MAGIC = 2;
    ACL_RT_BINARY_MAGIC_ELF_AICORE = 0x4355_4245;
    HCCL_DATA_TYPE_INT32 = 2;
    HCCL_DATA_TYPE_FP32 = 4;
    HCCL_REDUCE_SUM = 0;
    HCCL_E_TIMEOUT = 9;
}
