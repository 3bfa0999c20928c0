//! Version facts of real releases, as the machines themselves state them.
//!
//! Sources: `compat_driver.json` (version files found in public reports), `compat_torch_npu.json`
//! (COMPATIBILITY.md, release notes and tags of Ascend/pytorch; tags of the published wheels),
//! `compat_vllm_ascend.json` (versioning policy and requirements of vllm-ascend),
//! `compat_soc.json`. They are repeated here rather than taken from `data/`, so that a wrong row
//! there is detected.

/// The versions that a CANN release writes into its files.
#[derive(Debug)]
pub struct Cann {
    /// Version of the release.
    pub version: &'static str,
    /// `innerversion`.
    pub inner: &'static str,
    /// `compatible_version`; 9.0 and later have none.
    pub compatible: Option<&'static str>,
    /// `Version` of its components.
    pub component: &'static str,
    /// Whether it is installed in `cann-<version>`.
    pub new_layout: bool,
}

const OLD_LIST: &str =
    "[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21],[V100R001C23]";

/// Releases. The inner version of 8.5.1 is not in any public report; its form is.
pub const CANN: &[Cann] = &[
    cann("7.0.0", "V100R001C15SPC001B220", Some("[V100R001C13],[V100R001C15]"), "7.1.0.3.220"),
    cann(
        "8.0.RC2",
        "V100R001C18SPC001B241",
        Some("[V100R001C13],[V100R001C15],[V100R001C17],[V100R001C18]"),
        "7.3.0.1.241",
    ),
    cann(
        "8.0.RC3",
        "V100R001C19SPC001B137",
        Some("[V100R001C13,V100R001C19],[V100R001C30]"),
        "7.5.0.1.137",
    ),
    cann(
        "8.0.0",
        "V100R001C20SPC001B251",
        Some("[V100R001C15],[V100R001C17],[V100R001C18],[V100R001C19],[V100R001C20]"),
        "7.6.0.1.251",
    ),
    cann(
        "8.1.RC1",
        "V100R001C21SPC001B238",
        Some("[V100R001C15],[V100R001C18],[V100R001C19],[V100R001C20],[V100R001C21]"),
        "7.7.0.1.238",
    ),
    cann("8.2.RC1", "V100R001C22SPC001B231", Some(OLD_LIST), "8.2.0.0.201"),
    cann("8.3.RC1", "V100R001C23SPC001B235", Some(OLD_LIST), "8.3.0.1.235"),
    cann("8.3.RC2", "V100R001C23SPC002B210", Some(OLD_LIST), "8.3.0.2.210"),
    Cann {
        new_layout: true,
        ..cann("8.5.0", "V100R001C25SPC001B212", Some(OLD_LIST), "8.5.0.2.220")
    },
    Cann {
        new_layout: true,
        ..cann("8.5.1", "V100R001C25SPC002B220", Some(OLD_LIST), "8.5.0.3.220")
    },
    Cann { new_layout: true, ..cann("9.0.0", "V100R001C10SPC001B250", None, "9.0.0") },
    Cann { new_layout: true, ..cann("9.1.0", "V100R001C11B063", None, "9.1.0") },
    // Not released: represents versions unknown to the current tables.
    Cann { new_layout: true, ..cann("11.0.0", "V100R001C31B001", None, "11.0.0") },
];

const fn cann(
    version: &'static str,
    inner: &'static str,
    compatible: Option<&'static str>,
    component: &'static str,
) -> Cann {
    Cann { version, inner, compatible, component, new_layout: false }
}

/// The versions that a driver and its firmware write into their files.
#[derive(Debug)]
pub struct Driver {
    /// Version of the driver.
    pub version: &'static str,
    /// `Innerversion`.
    pub inner: &'static str,
    /// `compatible_version`, as the numbers of the C codes.
    pub compatible: &'static [u32],
    /// `compatible_version_fw`.
    pub firmware_range: &'static str,
    /// Version of the firmware.
    pub firmware: &'static str,
    /// `compatible_version_drv` of the firmware.
    pub firmware_drivers: &'static str,
}

const FW_DRIVERS: &str = "[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.],[25.0,25.0.]";

/// Drivers. Lists without a public report are those of the nearest release.
pub const DRIVERS: &[Driver] = &[
    Driver {
        version: "23.0.7",
        inner: "V100R001C15SPC012B220",
        compatible: &[29, 30, 13, 15],
        firmware_range: "[7.0.0,7.1.99]",
        firmware: "7.1.0.11.220",
        firmware_drivers: "[23.0.rc3,23.0.rc3.],[23.0.0,23.0.0.]",
    },
    Driver {
        version: "24.1.rc2.2",
        inner: "V100R001C18SPC001B233",
        compatible: &[30, 13, 15, 17, 18],
        firmware_range: "[7.0.0,7.2.99]",
        firmware: "7.1.0.6.220",
        firmware_drivers: FW_DRIVERS,
    },
    Driver {
        version: "24.1.rc3",
        inner: "V100R001C19SPC001B124",
        compatible: &[13, 15, 17, 18, 19],
        firmware_range: "[7.0.0,7.5.99]",
        firmware: "7.5.0.1.129",
        firmware_drivers: "[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]",
    },
    Driver {
        version: "24.1.0",
        inner: "V100R001C19SPC002B226",
        compatible: &[13, 15, 17, 18, 19],
        firmware_range: "[7.0.0,7.6.99]",
        firmware: "7.5.0.1.129",
        firmware_drivers: "[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.]",
    },
    Driver {
        version: "25.0.rc1.1",
        inner: "V100R001C21SPC002B220",
        compatible: &[17, 18, 19, 20, 21],
        firmware_range: "[6.4.0,6.4.99],[7.0.0,7.7.99]",
        firmware: "7.7.0.1.231",
        firmware_drivers: "[23.0.rc2,23.0.rc2.],[23.0.rc3,23.0.rc3.],[23.0.0,23.0.0.],[24.0,24.0.],[24.1,24.1.],[25.0,25.0.]",
    },
    Driver {
        version: "25.3.rc1",
        inner: "V100R001C23SPC002B212",
        compatible: &[19, 20, 21, 22, 23],
        firmware_range: "[6.4.0,6.4.99],[7.0.0,8.9.9]",
        firmware: "7.8.0.2.212",
        firmware_drivers: FW_DRIVERS,
    },
    Driver {
        version: "25.5.1",
        inner: "V100R001C23SPC006B220",
        compatible: &[19, 20, 21, 22, 23],
        firmware_range: "[6.4.0,6.4.99],[7.0.0,8.9.9]",
        firmware: "7.8.0.6.201",
        firmware_drivers: FW_DRIVERS,
    },
    Driver {
        version: "26.0.rc1",
        inner: "V100R001C10SPC001B257",
        compatible: &[21, 22, 23, 25, 10],
        firmware_range: "[7.0.0,8.9.9]",
        firmware: "8.0.0.1.257",
        firmware_drivers: FW_DRIVERS,
    },
    Driver {
        version: "26.1.0",
        inner: "V100R001C11SPC001B061",
        compatible: &[21, 22, 23, 25, 10],
        firmware_range: "[7.0.0,8.9.9]",
        firmware: "8.1.0.1.061",
        firmware_drivers: FW_DRIVERS,
    },
    Driver {
        version: "28.0.0",
        inner: "V100R001C31SPC001B001",
        compatible: &[10, 11, 12, 31],
        firmware_range: "[7.0.0,9.9.9]",
        firmware: "9.0.0.1.001",
        firmware_drivers: "[28.0,28.0.]",
    },
    // Ascend 950: another release train with separate numbers.
    Driver {
        version: "25.1.rc2",
        inner: "V100R001C10SPC100B203",
        compatible: &[21, 22, 23, 25, 10],
        firmware_range: "[9.0.0,9.9.9]",
        firmware: "9.0.0.1.203",
        firmware_drivers: "[25.1,25.1.]",
    },
];

/// Compatible pairs of CANN and driver: the C code of one is in the list of the other, or the
/// release notes recommend the pair.
pub const CANN_DRIVERS: &[(&str, &[&str])] = &[
    ("8.0.RC3", &["24.1.rc2.2", "24.1.rc3", "24.1.0", "25.0.rc1.1"]),
    ("8.0.0", &["24.1.rc2.2", "24.1.rc3", "24.1.0", "25.0.rc1.1", "25.3.rc1"]),
    ("8.1.RC1", &["24.1.rc2.2", "24.1.0", "25.0.rc1.1", "25.3.rc1"]),
    ("8.2.RC1", &["24.1.rc3", "24.1.0", "25.0.rc1.1", "25.3.rc1"]),
    ("8.3.RC1", &["24.1.0", "25.0.rc1.1", "25.3.rc1", "25.5.1"]),
    ("8.3.RC2", &["25.0.rc1.1", "25.3.rc1", "25.5.1"]),
    ("8.5.0", &["24.1.0", "25.0.rc1.1", "25.3.rc1", "25.5.1", "26.0.rc1"]),
    ("9.0.0", &["26.0.rc1"]),
    ("9.1.0", &["26.1.0"]),
];

/// A published `torch_npu`.
#[derive(Debug)]
pub struct TorchNpu {
    /// Version.
    pub version: &'static str,
    /// Its torch.
    pub torch: &'static str,
    /// The compatible CANN releases, the recommended one first.
    pub cann: &'static [&'static str],
    /// Pythons with wheels.
    pub python: &'static [&'static str],
}

const W70: &[&str] = &["8.1.RC1", "8.3.RC1", "8.2.RC1", "8.0.0", "8.0.RC3"];
const W71: &[&str] = &["8.2.RC1", "8.3.RC1", "8.1.RC1", "8.0.0", "8.0.RC3"];
const W72: &[&str] = &["8.3.RC1", "8.2.RC1", "8.1.RC1", "8.0.0", "8.0.RC3"];
const W73: &[&str] = &["8.5.0", "8.3.RC1", "8.2.RC1", "8.1.RC1", "8.0.0", "9.0.0", "9.1.0"];
const W260: &[&str] = &["9.0.0", "8.5.0", "8.3.RC1", "8.2.RC1", "8.1.RC1", "9.1.0"];
const W261: &[&str] = &["9.1.0", "9.0.0", "8.5.0"];

const P9_11: &[&str] = &["3.9", "3.10", "3.11"];
const P9_12: &[&str] = &["3.9", "3.10", "3.11", "3.12"];
const P9_13: &[&str] = &["3.9", "3.10", "3.11", "3.12", "3.13"];
const P10_13: &[&str] = &["3.10", "3.11", "3.12", "3.13"];
const P8_11: &[&str] = &["3.8", "3.9", "3.10", "3.11"];

/// `torch_npu` releases with documented CANN versions.
pub const TORCH_NPU: &[TorchNpu] = &[
    TorchNpu { version: "2.1.0.post12", torch: "2.1.0", cann: W70, python: P8_11 },
    TorchNpu { version: "2.1.0.post13", torch: "2.1.0", cann: W71, python: P8_11 },
    TorchNpu { version: "2.1.0.post17", torch: "2.1.0", cann: W72, python: P8_11 },
    TorchNpu { version: "2.3.1.post6", torch: "2.3.1", cann: W70, python: P8_11 },
    TorchNpu { version: "2.4.0.post4", torch: "2.4.0", cann: W70, python: P8_11 },
    TorchNpu { version: "2.5.1", torch: "2.5.1", cann: W70, python: P9_11 },
    TorchNpu { version: "2.5.1.post1", torch: "2.5.1", cann: W71, python: P9_11 },
    TorchNpu { version: "2.6.0", torch: "2.6.0", cann: W71, python: P9_11 },
    TorchNpu { version: "2.6.0.post3", torch: "2.6.0", cann: W72, python: P9_11 },
    TorchNpu { version: "2.6.0.post5", torch: "2.6.0", cann: W73, python: P9_12 },
    TorchNpu { version: "2.7.1", torch: "2.7.1", cann: W72, python: P9_11 },
    TorchNpu { version: "2.7.1.post2", torch: "2.7.1", cann: W73, python: P9_12 },
    TorchNpu { version: "2.7.1.post4", torch: "2.7.1", cann: W260, python: P9_13 },
    TorchNpu { version: "2.7.1.post8", torch: "2.7.1", cann: W261, python: P9_13 },
    TorchNpu { version: "2.8.0", torch: "2.8.0", cann: W72, python: P9_11 },
    TorchNpu { version: "2.8.0.post2", torch: "2.8.0", cann: W73, python: P9_12 },
    TorchNpu { version: "2.8.0.post4", torch: "2.8.0", cann: W260, python: P9_13 },
    TorchNpu { version: "2.9.0", torch: "2.9.0", cann: W73, python: &["3.10", "3.11", "3.12"] },
    TorchNpu { version: "2.9.0.post2", torch: "2.9.0", cann: W260, python: P10_13 },
    TorchNpu { version: "2.9.0.post6", torch: "2.9.0", cann: W261, python: P10_13 },
    TorchNpu { version: "2.10.0", torch: "2.10.0", cann: W260, python: P10_13 },
    TorchNpu { version: "2.10.0.post4", torch: "2.10.0", cann: W261, python: P10_13 },
    TorchNpu { version: "2.11.0", torch: "2.11.0", cann: W261, python: P10_13 },
    TorchNpu { version: "2.12.0", torch: "2.12.0", cann: W261, python: P10_13 },
];

/// Numbers of a version, for comparisons between releases: `2.10.0.post4` is `[2, 10, 0, 4]`.
pub fn numbers(version: &str) -> Vec<u32> {
    version.split(|c: char| !c.is_ascii_digit()).filter_map(|part| part.parse().ok()).collect()
}

/// Whether the wheel of this version uses the C++11 ABI (`compat_abi.json`, measured).
pub fn cxx11(torch: &str, arch: &str) -> bool {
    let at = numbers(torch);
    if at[..2] == [2, 6] { arch == "aarch64" } else { at[..2] >= [2, 7][..] }
}

/// A `vllm-ascend` release with its dependencies.
#[derive(Debug)]
pub struct VllmAscend {
    /// Version.
    pub version: &'static str,
    /// `vllm`.
    pub vllm: &'static str,
    /// `torch_npu`.
    pub torch_npu: &'static str,
    /// CANN of its images.
    pub cann: &'static str,
    /// `triton-ascend`, if required.
    pub triton: Option<&'static str>,
    /// Further `Requires-Dist` lines.
    pub requires: &'static [&'static str],
    /// Versions of other packages that satisfy them.
    pub packages: &'static [(&'static str, &'static str)],
    /// The torch requirement of the plain `vllm` of that version, which vllm-ascend overrides.
    pub vllm_torch: &'static str,
}

/// Releases of vllm-ascend.
pub const VLLM_ASCEND: &[VllmAscend] = &[
    VllmAscend {
        version: "0.9.1",
        vllm: "0.9.1",
        torch_npu: "2.5.1.post1",
        cann: "8.2.RC1",
        triton: None,
        requires: &["numpy<2.0.0", "torch-npu==2.5.1.post1", "torch>=2.5.1", "transformers<4.53.0"],
        packages: &[("transformers", "4.52.4")],
        vllm_torch: "2.7.0",
    },
    VllmAscend {
        version: "0.11.0",
        vllm: "0.11.0",
        torch_npu: "2.7.1",
        cann: "8.3.RC2",
        triton: None,
        requires: &[
            "numpy<2.0.0",
            "torch==2.7.1",
            "torch-npu==2.7.1",
            "transformers<=4.57.1",
            "fastapi<0.124.0",
            "opencv-python-headless<=4.11.0.86",
        ],
        packages: &[
            ("transformers", "4.57.1"),
            ("fastapi", "0.116.1"),
            ("opencv-python-headless", "4.11.0.86"),
        ],
        vllm_torch: "2.8.0",
    },
    VllmAscend {
        version: "0.13.0",
        vllm: "0.13.0",
        torch_npu: "2.8.0.post2",
        cann: "8.5.0",
        triton: Some("3.2.0"),
        requires: &[
            "numpy<2.0.0",
            "torch==2.8.0",
            "torch-npu==2.8.0.post2",
            "transformers>=4.57.4,<5",
            "fastapi<0.124.0",
            "triton-ascend==3.2.0",
        ],
        packages: &[("transformers", "4.57.6"), ("fastapi", "0.123.0")],
        vllm_torch: "2.9.0",
    },
    VllmAscend {
        version: "0.18.0",
        vllm: "0.18.0",
        torch_npu: "2.9.0",
        cann: "8.5.1",
        triton: Some("3.2.0"),
        requires: &[
            "numpy<2.0.0",
            "torch==2.9.0",
            "torch-npu==2.9.0",
            "transformers>=4.57.4",
            "fastapi<0.124.0",
            "triton-ascend==3.2.0",
        ],
        packages: &[("transformers", "4.57.6"), ("fastapi", "0.123.0")],
        vllm_torch: "2.10.0",
    },
    VllmAscend {
        version: "0.21.0rc1",
        vllm: "0.21.0",
        torch_npu: "2.10.0",
        cann: "9.0.0",
        triton: Some("3.2.1"),
        requires: &[
            "numpy",
            "torch==2.10.0",
            "torch-npu==2.10.0",
            "transformers==5.5.4",
            "fastapi<0.124.0",
            "triton-ascend==3.2.1",
        ],
        packages: &[("transformers", "5.5.4"), ("fastapi", "0.123.0")],
        vllm_torch: "2.11.0",
    },
];

/// A chip family.
#[derive(Debug)]
pub struct Chip {
    /// Name as in image tags.
    pub name: &'static str,
    /// PCI device id.
    pub pci: &'static str,
    /// Whether a PCI function represents two dies (`subsystem_device` 0x0110).
    pub dual: bool,
    /// Directory of its kernels.
    pub kernels: &'static str,
    /// `__device_type__` of vllm-ascend, if it supports the chip.
    pub vllm: Option<&'static str>,
    /// Device nodes in addition to `davinciN`.
    pub nodes: &'static [&'static str],
}

const USUAL_NODES: &[&str] =
    &["davinci_manager", "devmm_svm", "devmm_svm_agent", "dvpp_cmdlist", "hisi_hdc"];

/// Chip families.
pub const CHIPS: &[Chip] = &[
    Chip {
        name: "910",
        pci: "0xd801",
        dual: false,
        kernels: "ascend910",
        vllm: None,
        nodes: USUAL_NODES,
    },
    Chip {
        name: "910b",
        pci: "0xd802",
        dual: false,
        kernels: "ascend910b",
        vllm: Some("A2"),
        nodes: USUAL_NODES,
    },
    Chip {
        name: "a3",
        pci: "0xd803",
        dual: true,
        kernels: "ascend910_93",
        vllm: Some("A3"),
        nodes: USUAL_NODES,
    },
    Chip {
        name: "310p",
        pci: "0xd500",
        dual: false,
        kernels: "ascend310p",
        vllm: Some("_310P"),
        nodes: USUAL_NODES,
    },
    Chip {
        name: "950",
        pci: "0xd806",
        dual: false,
        kernels: "ascend950",
        vllm: Some("A5"),
        nodes: &["davinci_manager", "asdrv_svm", "dvpp_cmdlist", "hisi_hdc"],
    },
];

/// The row with a name; an unknown name is an error of the test.
pub fn find<'a, T: std::fmt::Debug>(
    rows: &'a [T],
    name: &str,
    key: impl Fn(&'a T) -> &'static str,
) -> &'a T {
    rows.iter().find(|row| key(row) == name).unwrap_or_else(|| panic!("no row {name}"))
}

/// The packages that vllm 0.7.3 to 0.26.0 or sglang 0.4.9 to 0.5.23 imports when it starts (from
/// their sources), in versions compatible with the releases of vllm-ascend that pin nothing.
pub const SERVING_IMPORTS: &[(&str, &str)] = &[
    ("aiohttp", "3.11.11"),
    ("blake3", "1.0.4"),
    ("cachetools", "5.5.0"),
    ("cbor2", "5.6.5"),
    ("cloudpickle", "3.1.1"),
    ("compressed-tensors", "0.12.2"),
    ("dill", "0.3.9"),
    ("diskcache", "5.6.3"),
    ("einops", "0.8.0"),
    ("fastapi", "0.115.6"),
    ("filelock", "3.16.1"),
    ("gguf", "0.17.0"),
    ("huggingface-hub", "0.34.4"),
    ("ipython", "8.31.0"),
    ("jinja2", "3.1.5"),
    ("jsonschema", "4.23.0"),
    ("model-hosting-container-standards", "0.1.9"),
    ("msgspec", "0.19.0"),
    ("numpy", "1.26.4"),
    ("openai", "1.99.1"),
    ("openai-harmony", "0.0.4"),
    ("orjson", "3.10.14"),
    ("packaging", "24.2"),
    ("partial-json-parser", "0.2.1.1"),
    ("pillow", "11.1.0"),
    ("prometheus-client", "0.21.1"),
    ("psutil", "6.1.1"),
    ("py-cpuinfo", "9.0.0"),
    ("pybase64", "1.4.0"),
    ("pydantic", "2.12.0"),
    ("pydantic-core", "2.41.1"),
    ("pyyaml", "6.0.2"),
    ("pyzmq", "26.2.0"),
    ("regex", "2024.11.6"),
    ("requests", "2.32.3"),
    ("safetensors", "0.5.2"),
    ("sentencepiece", "0.2.0"),
    ("setproctitle", "1.3.4"),
    ("starlette", "0.41.3"),
    ("tqdm", "4.67.1"),
    ("transformers", "4.57.1"),
    ("typing-extensions", "4.12.2"),
    ("urllib3", "2.2.3"),
    ("uvicorn", "0.34.0"),
    ("uvloop", "0.21.0"),
    ("watchfiles", "1.0.4"),
];
