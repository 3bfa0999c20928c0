//! Identifies the provider of a symbol or a library by its name.

/// The expected provider of a symbol: `torch`, `torch_npu`, `cann`, `atb`, `driver`, `python`,
/// `other`.
pub fn symbol_class(name: &str) -> &'static str {
    if let Some(namespace) = namespace(name) {
        return match namespace {
            "c10" | "at" | "torch" | "caffe2" => "torch",
            "c10_npu" | "at_npu" | "torch_npu" | "op_plugin" => "torch_npu",
            "ge" | "gert" | "acl" | "hccl" | "domi" => "cann",
            "atb" | "AsdOps" | "Mki" => "atb",
            _ => "other",
        };
    }
    // C functions: a prefix followed by the naming style of that library.
    let camel = |prefix: &str| {
        name.strip_prefix(prefix).is_some_and(|rest| rest.starts_with(|c: char| c.is_uppercase()))
    };
    if name.starts_with("aclnn") || name.starts_with("acl") || camel("Hccl") || camel("rt") {
        "cann"
    } else if name.starts_with("Py") || name.starts_with("_Py") {
        "python"
    } else if name.starts_with("THP") {
        "torch"
    } else if camel("drv") || camel("hal") || name.starts_with("dcmi_") || name.starts_with("dsmi_")
    {
        "driver"
    } else {
        "other"
    }
}

/// The outermost namespace of a mangled C++ name (Itanium ABI).
fn namespace(name: &str) -> Option<&str> {
    let rest = name.strip_prefix("_Z")?;
    // Tables and type information: `_ZTVN…`, `_ZTIN…`; guard variables: `_ZGVN…`.
    let rest = ["TV", "TI", "TS", "TT", "GV"]
        .iter()
        .find_map(|prefix| rest.strip_prefix(prefix))
        .unwrap_or(rest);
    let rest = rest.strip_prefix('N')?;
    let rest = rest.trim_start_matches(['r', 'V', 'K', 'R', 'O']);
    let digits = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
    let length: usize = rest[..digits].parse().ok()?;
    rest.get(digits..digits.checked_add(length)?)
}

/// The user-space libraries of the driver package that other libraries link against.
const DRIVER: &[&str] = &["libascend_hal", "libdrvdsmi_host", "libdcmi", "libdevmmap", "libdrv"];
/// Libraries of NNAL.
const ATB: &[&str] = &["libatb", "libasdops", "liblcal", "libmki", "libtbe_adapter"];
/// CANN libraries without a common stem in their names.
const CANN: &[&str] = &[
    "libacl",
    "libascend",
    "libge_",
    "libgraph",
    "libhccl",
    "libhcomm",
    "libfmk_",
    "libruntime",
    "libopapi",
    "libop",
    "libregister",
    "libexe_graph",
    "libmsprofiler",
    "libprofapi",
    "liberror_manager",
    "libplatform",
    "libtiling_api",
    "liblowering",
    "libnnopbase",
    "libalog",
    "libunified_dlog",
    "libslog",
    "libc_sec",
    "libmmpa",
    "libte_fusion",
    "libtvm",
    "libaicore_utils",
    "libaicpu",
    "libcompress",
    "libqos_manager",
    "libtsdclient",
    "libmetadef",
    "libparser_common",
    "libflow_graph",
    "libhybrid_executor",
    "libdavinci_executor",
    "libmemory_graph",
    "libtdt",
    "libdatatransfer",
    "libindextransform",
    "libcce",
    "libgert",
    "librt_extern",
    "libawatchdog",
];
/// C and C++ runtime, and libraries that every distribution has; a copied tree often contains none
/// of them.
const BASE: &[&str] = &[
    "libc.so",
    "libm.so",
    "libdl.so",
    "libpthread.so",
    "librt.so",
    "libutil.so",
    "libresolv.so",
    "libcrypt.so",
    "libnsl.so",
    "libgcc_s.so",
    "libstdc++.so",
    "libgomp.so",
    "libatomic.so",
    "libz.so",
    "libmvec.so",
    "ld-linux",
    "linux-vdso",
];

/// The provider of a library: the classes of [`symbol_class`], `cuda`, and `system`.
pub fn library_class(name: &str) -> &'static str {
    let name = name.rsplit('/').next().unwrap_or(name);
    let one_of = |stems: &[&str]| stems.iter().any(|stem| name.starts_with(stem));
    if one_of(BASE) {
        "system"
    } else if one_of(&[
        "libtorch_cuda",
        "libc10_cuda",
        "libcu",
        "libnv",
        "libnccl",
        "libtorch_hip",
        "libc10_hip",
    ]) {
        "cuda"
    } else if one_of(&[
        "libtorch_npu",
        "libop_plugin",
        "libnpu_profiler",
        "libtensorpipe",
        "_torchair",
    ]) {
        "torch_npu"
    } else if one_of(&["libtorch", "libc10", "libshm.so", "libcaffe2"]) {
        "torch"
    } else if one_of(&["libpython"]) {
        "python"
    } else if one_of(DRIVER) {
        "driver"
    } else if one_of(ATB) {
        "atb"
    } else if one_of(CANN) {
        "cann"
    } else {
        "other"
    }
}

/// The C++ ABI that a symbol of `torch` shows: 1 with `std::__cxx11::string`, 0 without. Only for
/// `c10::detail::torchCheckFail`, whose signature with a string every extension uses.
pub fn abi_of(symbol: &str) -> Option<u8> {
    let rest = symbol.strip_prefix("_ZN3c106detail14torchCheckFailEPKcS2_jRK")?;
    match rest {
        "Ss" => Some(0),
        _ if rest.starts_with("NSt7__cxx1112basic_string") => Some(1),
        _ => None,
    }
}

/// The two forms of `c10::detail::torchCheckFail(char const*, char const*, unsigned, string)`,
/// by ABI.
pub const TORCH_CHECK_FAIL: [&str; 2] = [
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKSs",
    "_ZN3c106detail14torchCheckFailEPKcS2_jRKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEE",
];

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn symbols_belong_to_their_owner() {
        for (name, class) in [
            ("aclrtMallocPhysical", "cann"),
            ("rtGetC2cCtrlAddr", "cann"),
            ("HcclAllReduce", "cann"),
            ("_ZNK2ge5Shape6GetDimEm", "cann"),
            ("_ZN3c106detail14torchCheckFailEPKcS2_jRKSs", "torch"),
            ("_ZTVN2at10TensorBaseE", "torch"),
            ("_ZN3atb15CreateOperationINS_5infer14GroupTopkParamEEEiRKT_PPNS_9OperationE", "atb"),
            ("_ZN3Mki2DlC1ERKNSt7__cxx1112basic_stringIcSt11char_traitsIcESaIcEEEb", "atb"),
            ("PyObject_Call", "python"),
            ("_Py_NoneStruct", "python"),
            ("halMemAlloc", "driver"),
            ("dcmi_init", "driver"),
            ("rtld_fini", "other"),
            ("malloc", "other"),
            ("_ZN9c10_weird1fEv", "other"),
            ("_ZN99999999999999999999x", "other"),
            ("_ZN5at", "other"),
        ] {
            assert_eq!(symbol_class(name), class, "{name}");
        }
    }

    #[test]
    fn libraries_belong_to_their_owner() {
        for (name, class) in [
            ("libascend_hal.so", "driver"),
            ("libascendcl.so", "cann"),
            ("libatb.so", "atb"),
            ("libc10.so", "torch"),
            ("libc.so.6", "system"),
            ("libc_sec.so", "cann"),
            ("ld-linux-aarch64.so.1", "system"),
            ("libcudart.so.12", "cuda"),
            ("libpython3.11.so.1.0", "python"),
            ("libtorch_npu.so", "torch_npu"),
            ("libfoo.so", "other"),
        ] {
            assert_eq!(library_class(name), class, "{name}");
        }
    }

    #[test]
    fn check_function_identifies_abi() {
        assert_eq!(TORCH_CHECK_FAIL.map(abi_of), [Some(0), Some(1)]);
        assert_eq!(abi_of("_ZN3c106detail14torchCheckFailEPKcS2_jS2_"), None);
    }
}
