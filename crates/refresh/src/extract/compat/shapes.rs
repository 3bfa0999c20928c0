//! The arrays of `compat_matrix.toml`: names, keys and fields. The product reads them with the
//! types of `data/src/matrix/rows.rs`.

use super::versions;
use crate::document::Shape;

pub(super) const GENERATED_FROM: Shape = Shape {
    name: "generated_from",
    title: "Sources of the rows.",
    key: &["name"],
    fields: &["name", "revision", "date"],
    order: versions::by_name,
};
pub(super) const TORCH_NPU: Shape = Shape {
    name: "torch_npu",
    title: "torch_npu: its torch, its release, the CANN it is recommended with, its wheels.",
    key: &["version"],
    fields: &[
        "version",
        "torch",
        "release",
        "cann",
        "level",
        "wheels",
        "glibc",
        "abi",
        "python_documented",
        "triton_ascend",
        "built",
        "commit",
        "note",
        "source",
    ],
    order: versions::newest_package,
};
pub(super) const WINDOW: Shape = Shape {
    name: "window",
    title: "The CANN versions that a release of torch_npu accepts.",
    key: &["release"],
    fields: &["release", "cann", "level", "note", "source"],
    order: versions::newest_release,
};
pub(super) const CANN: Shape = Shape {
    name: "cann",
    title: "CANN: internal code, accepted driver codes, images.",
    key: &["version"],
    fields: &[
        "version",
        "level",
        "ccode",
        "innerversion",
        "compatible",
        "chips",
        "image_python",
        "image_os",
        "atb_abi_default",
        "note",
        "source",
    ],
    order: versions::newest_cann,
};
pub(super) const PAIR: Shape = Shape {
    name: "pair",
    title: "CANN with the driver package (HDK) that it was released or reported with.",
    key: &["cann", "hdk", "chip", "product"],
    fields: &["cann", "hdk", "chip", "product", "firmware", "level", "note", "source"],
    order: versions::newest_pair,
};
pub(super) const HDK_WINDOW: Shape = Shape {
    name: "hdk_window",
    title: "The driver packages (HDK) that a CANN accepts, by its release notes.",
    key: &["cann"],
    fields: &["cann", "hdk", "incompatible", "level", "note", "source"],
    order: versions::newest_pair,
};
pub(super) const MINDCLUSTER: Shape = Shape {
    name: "mindcluster",
    title: "CANN and driver lines that a MindCluster release supports side by side.",
    key: &["version"],
    fields: &[
        "version",
        "cann",
        "hdk",
        "hdk_950",
        "torch_npu",
        "mindspore",
        "level",
        "note",
        "source",
    ],
    order: versions::as_listed,
};
pub(super) const DRIVER: Shape = Shape {
    name: "driver",
    title: "Drivers: internal code, accepted CANN codes and firmware.",
    key: &["version"],
    fields: &["version", "innerversion", "compatible", "compatible_fw", "level", "note", "source"],
    order: versions::as_listed,
};
pub(super) const FIRMWARE: Shape = Shape {
    name: "firmware",
    title: "Firmware and the drivers that it accepts.",
    key: &["version"],
    fields: &["version", "package_version", "compatible_drv", "level", "note", "source"],
    order: versions::as_listed,
};
pub(super) const VLLM_ASCEND: Shape = Shape {
    name: "vllm_ascend",
    title: "vllm-ascend and what its tag was built and tested with.",
    key: &["version"],
    fields: &[
        "version",
        "vllm",
        "level",
        "python",
        "cann",
        "torch",
        "torch_npu",
        "triton_ascend",
        "mooncake",
        "image_python",
        "pins",
        "note",
        "source",
    ],
    order: versions::newest_package,
};
pub(super) const MINDSPORE: Shape = Shape {
    name: "mindspore",
    title: "MindSpore and the CANN that it accepts.",
    key: &["version"],
    fields: &[
        "version",
        "level",
        "cann",
        "cann_internal",
        "python",
        "python_documented",
        "numpy",
        "note",
        "source",
    ],
    order: versions::newest_numbers,
};
pub(super) const GATE: Shape = Shape {
    name: "gate",
    title: "Features that need a driver or CANN of some version.",
    key: &["feature"],
    fields: &[
        "feature",
        "min_driver",
        "min_cann",
        "except_chip",
        "env",
        "env_contains",
        "level",
        "note",
        "source",
    ],
    order: versions::as_listed,
};
pub(super) const SOC: Shape = Shape {
    name: "soc",
    title: "Chip names, the family, and the chip that ops packages are named after.",
    key: &["name"],
    fields: &[
        "name",
        "family",
        "chip",
        "enum",
        "vllm_ascend_device",
        "since_cann",
        "level",
        "note",
        "source",
    ],
    order: versions::as_listed,
};
pub(super) const PCI: Shape = Shape {
    name: "pci",
    title: "PCI ids.",
    key: &["vendor", "device"],
    fields: &["vendor", "device", "chip", "level", "note", "source"],
    order: versions::as_listed,
};
pub(super) const OS: Shape = Shape {
    name: "os",
    title: "Operating systems that the product documents list.",
    key: &["family", "product"],
    fields: &["family", "product", "os", "level", "note", "source"],
    order: versions::as_listed,
};
pub(super) const CONSTRAINT: Shape = Shape {
    name: "constraint",
    title: "Packages that CANN or MindSpore need or refuse.",
    key: &["package", "cann_min", "cann_max", "mindspore_max"],
    fields: &[
        "package",
        "spec",
        "cann_min",
        "cann_max",
        "mindspore_max",
        "severity",
        "level",
        "note",
        "source",
    ],
    order: versions::as_listed,
};
pub(super) const IMPORT: Shape = Shape {
    name: "import",
    title: "Distributions without which a package cannot be imported.",
    key: &["package", "versions"],
    fields: &[
        "package",
        "versions",
        "needs",
        "beside",
        "elsewhere",
        "extras",
        "level",
        "note",
        "source",
    ],
    order: versions::as_listed,
};

/// Key fields by array, in the order of the file.
pub(super) const KEYS: &[(&str, &[&str])] = &[
    GENERATED_FROM.keyed(),
    TORCH_NPU.keyed(),
    WINDOW.keyed(),
    CANN.keyed(),
    PAIR.keyed(),
    HDK_WINDOW.keyed(),
    MINDCLUSTER.keyed(),
    DRIVER.keyed(),
    FIRMWARE.keyed(),
    VLLM_ASCEND.keyed(),
    MINDSPORE.keyed(),
    GATE.keyed(),
    SOC.keyed(),
    PCI.keyed(),
    OS.keyed(),
    CONSTRAINT.keyed(),
    IMPORT.keyed(),
];
