//! The rows of the matrix, as they are in the file.

use std::collections::BTreeMap;

use pep440_rs::{Version, VersionSpecifiers};
use serde::{Deserialize, Serialize};

use super::parsed::{Parsed, Pattern, Release};
use base::report::Severity;
use base::version::{CannVersion, DottedVersion, InnerVersion, RangeList};

/// How far a row can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The maker's own table recommends it.
    Recommended,
    /// The maker's own documents say that it works.
    Compatible,
    /// Concluded from a tag of the maker's repository.
    DerivedFromTag,
    /// Read from files of the version itself.
    Measured,
    /// Published, but in no table.
    Published,
    /// Used by somebody's public instructions.
    Reported,
    /// An alpha, beta or development build.
    Prerelease,
}

impl Level {
    /// The word in files and reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Recommended => "recommended",
            Self::Compatible => "compatible",
            Self::DerivedFromTag => "derived-from-tag",
            Self::Measured => "measured",
            Self::Published => "published",
            Self::Reported => "reported",
            Self::Prerelease => "prerelease",
        }
    }
}

/// What all rows have.
pub trait Row {
    /// The name of the table in the file.
    const TABLE: &'static str;
    /// What makes the row this row; an overlay replaces by it.
    fn key(&self) -> String;
    /// Where it comes from.
    fn source(&self) -> &str;
}

macro_rules! rows {
    ($($(#[$doc:meta])* $name:ident = $table:literal, |$row:ident| $key:expr; {
        $($(#[$field_doc:meta])* $field:ident: $type:ty,)*
    })*) => {$(
        $(#[$doc])*
        #[derive(Debug, Clone, Serialize, Deserialize)]
        #[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            $($(#[$field_doc])* pub $field: $type,)*
            /// How far the row can be relied on.
            pub level: Level,
            /// A remark, for example on sources that differ.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub note: Option<String>,
            /// Where it comes from.
            pub source: String,
        }

        impl Row for $name {
            const TABLE: &'static str = $table;

            fn key(&self) -> String {
                let $row = self;
                $key
            }

            fn source(&self) -> &str {
                &self.source
            }
        }
    )*};
}

rows! {
    /// A version of torch_npu.
    TorchNpu = "torch_npu", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<Version>,
        /// The torch that it is built for.
        torch: Parsed<Version>,
        /// The release of the vendor that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        release: Option<Parsed<Release>>,
        /// The CANN that it is recommended with, or that its release is based on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cann: Option<Parsed<CannVersion>>,
        /// Published wheels: architecture and Python versions.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        wheels: BTreeMap<String, Vec<String>>,
        /// The oldest C library that its wheels accept, by architecture.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        glibc: BTreeMap<String, Parsed<DottedVersion>>,
        /// `_GLIBCXX_USE_CXX11_ABI` of its wheels, by architecture.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        abi: BTreeMap<String, u8>,
        /// Python versions that the documentation names for its torch.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        python_documented: Vec<String>,
        /// The triton-ascend that the release notes pair with it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        triton_ascend: Option<Parsed<Version>>,
        /// The day its wheels were built.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        built: Option<String>,
        /// The commit its wheels were built from.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    }

    /// The CANN versions that a release of torch_npu accepts.
    Window = "window", |row| row.release.to_string(); {
        /// The release, or a line of them (`26.0.X`).
        release: Parsed<Pattern<Release>>,
        /// The CANN versions.
        cann: Vec<Parsed<Pattern<CannVersion>>>,
    }

    /// A version of CANN.
    Cann = "cann", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<CannVersion>,
        /// Its C code.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        ccode: Option<String>,
        /// `innerversion` of its install file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        innerversion: Option<Parsed<InnerVersion>>,
        /// `compatible_version` of its install file: the drivers it accepts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compatible: Option<String>,
        /// Chips for which there are container images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        chips: Vec<String>,
        /// Python versions of the images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        image_python: Vec<String>,
        /// Operating systems of the images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        image_os: Vec<String>,
        /// The `cxx_abi_<n>` of ATB that most of its images choose.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        atb_abi_default: Option<u8>,
    }

    /// CANN with a driver package.
    Pair = "pair", |row| format!(
        "{} {} {} {}",
        row.cann, row.hdk, row.chip.as_deref().unwrap_or("-"), row.product.as_deref().unwrap_or("-")
    ); {
        /// CANN.
        cann: Parsed<CannVersion>,
        /// The driver package (HDK).
        hdk: Parsed<DottedVersion>,
        /// Only for this chip.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chip: Option<String>,
        /// Only for this product.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        product: Option<String>,
        /// The firmware that belongs to the driver.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        firmware: Option<String>,
    }

    /// The driver packages that a CANN accepts.
    HdkWindow = "hdk_window", |row| row.cann.to_string(); {
        /// CANN, or a line of it (`9.1.X`).
        cann: Parsed<Pattern<CannVersion>>,
        /// Driver packages (HDK).
        hdk: Vec<Parsed<Pattern<DottedVersion>>>,
        /// Driver packages that the release notes exclude.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        incompatible: Vec<Parsed<Pattern<DottedVersion>>>,
    }

    /// CANN and driver lines that a MindCluster release supports.
    MindCluster = "mindcluster", |row| row.version.clone(); {
        /// MindCluster.
        version: String,
        /// CANN lines.
        cann: Vec<Parsed<Pattern<CannVersion>>>,
        /// Driver lines.
        hdk: Vec<Parsed<Pattern<DottedVersion>>>,
        /// Driver lines of the Ascend 950 products.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        hdk_950: Vec<Parsed<Pattern<DottedVersion>>>,
        /// torch_npu releases.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        torch_npu: Vec<Parsed<Pattern<Release>>>,
        /// MindSpore versions and lines.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        mindspore: Vec<String>,
    }

    /// A version of the driver.
    DriverRow = "driver", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<DottedVersion>,
        /// `Innerversion` of its version file.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        innerversion: Option<Parsed<InnerVersion>>,
        /// `compatible_version`: the CANN codes it accepts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compatible: Option<String>,
        /// `compatible_version_fw`: the firmware it accepts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compatible_fw: Option<String>,
    }

    /// A version of the firmware.
    FirmwareRow = "firmware", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<DottedVersion>,
        /// The package that it came in.
        package_version: String,
        /// `compatible_version_drv`: the drivers it accepts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compatible_drv: Option<String>,
    }

    /// A version of vllm-ascend.
    VllmAscend = "vllm_ascend", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<Version>,
        /// The vLLM versions that it works with.
        vllm: Vec<Parsed<Version>>,
        /// Python versions.
        python: Parsed<VersionSpecifiers>,
        /// The CANN of its images.
        cann: Parsed<CannVersion>,
        /// torch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        torch: Option<Parsed<Version>>,
        /// torch_npu: the pin of the tag first, then what the documentation says.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        torch_npu: Vec<Parsed<Version>>,
        /// triton-ascend, in the same order.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        triton_ascend: Vec<Parsed<Version>>,
        /// mooncake.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mooncake: Option<Parsed<Version>>,
        /// The Python of its images.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        image_python: Option<String>,
        /// The pins of its requirements: package and specifiers.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        pins: BTreeMap<String, Parsed<VersionSpecifiers>>,
    }

    /// A version of MindSpore, or a line of them (`2.3`).
    MindSpore = "mindspore", |row| row.version.clone(); {
        /// The version.
        version: String,
        /// The CANN that it is documented with.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cann: Option<Parsed<CannVersion>>,
        /// The versions of CANN's compiler component that its wheel accepts.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        cann_internal: Vec<String>,
        /// Python versions of its wheels.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        python: Vec<String>,
        /// Python versions in its documentation.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        python_documented: Option<String>,
        /// numpy, as its metadata demands it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        numpy: Option<Parsed<VersionSpecifiers>>,
    }

    /// A feature that needs a driver or CANN of some version.
    Gate = "gate", |row| row.feature.clone(); {
        /// The feature.
        feature: String,
        /// The first driver.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_driver: Option<Parsed<DottedVersion>>,
        /// The first CANN.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_cann: Option<Parsed<CannVersion>>,
        /// A chip that has other numbers.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        except_chip: Option<String>,
        /// The variable that shows that the feature is in use.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env: Option<String>,
        /// What that variable then contains.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env_contains: Option<String>,
    }

    /// A chip.
    Soc = "soc", |row| row.name.clone(); {
        /// Its `SoC` name.
        name: String,
        /// Its family.
        family: String,
        /// The name in packages and images.
        chip: String,
        /// Its number in torch_npu.
        #[serde(default, rename = "enum", skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        /// Its device type in vllm-ascend.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vllm_ascend_device: Option<String>,
        /// The first CANN with packages for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        since_cann: Option<Parsed<CannVersion>>,
    }

    /// A PCI id.
    Pci = "pci", |row| format!("{}:{}", row.vendor, row.device); {
        /// Vendor.
        vendor: String,
        /// Device.
        device: String,
        /// Chip.
        chip: String,
    }

    /// The operating systems of a product.
    Os = "os", |row| format!("{} {}", row.family, row.product); {
        /// Family of products.
        family: String,
        /// Product.
        product: String,
        /// Systems, with architecture.
        os: Vec<String>,
    }

    /// A package that CANN or MindSpore needs or refuses.
    Constraint = "constraint", |row| format!(
        "{} {} {} {}",
        row.package,
        row.cann_min.as_deref().unwrap_or("-"),
        row.cann_max.as_deref().unwrap_or("-"),
        row.mindspore_max.as_ref().map_or("-".to_owned(), ToString::to_string)
    ); {
        /// Normalised name.
        package: String,
        /// Accepted versions; empty for any.
        spec: Parsed<VersionSpecifiers>,
        /// First CANN line that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cann_min: Option<String>,
        /// Last CANN line that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cann_max: Option<String>,
        /// Last MindSpore that it is about.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mindspore_max: Option<Parsed<Version>>,
        /// How grave it is to violate it.
        severity: Severity,
    }

    /// What `import` of a package imports in its turn: without one of these it fails.
    Import = "import", |row| format!("{} {}", row.package, row.versions.0); {
        /// Normalised name.
        package: String,
        /// The versions that it is about.
        versions: Parsed<VersionSpecifiers>,
        /// Normalised names of the distributions.
        needs: Vec<String>,
        /// What it also imports where another distribution is installed, by the name of that one.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        beside: BTreeMap<String, Vec<String>>,
        /// The pages of those that no package index has, by their names.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        elsewhere: BTreeMap<String, String>,
        /// Normalised names of the extras whose requirements a start on an NPU has.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extras: Vec<String>,
    }
}

impl TorchNpu {
    /// Whether there is a wheel for this architecture and Python (`3.11`). `None` where nothing
    /// is known of its wheels.
    pub fn has_wheel(&self, arch: &str, python: &str) -> Option<bool> {
        (!self.wheels.is_empty())
            .then(|| self.wheels.get(arch).is_some_and(|list| list.iter().any(|p| p == python)))
    }

    /// Whether there is a wheel for this machine, as far as it is known. Of a version that the index
    /// does not have, the documented Python versions count.
    pub fn runs_on(&self, arch: Option<&str>, python: Option<&str>) -> bool {
        if self.wheels.is_empty() {
            let documented = &self.python_documented;
            return python.is_none_or(|python| {
                documented.is_empty() || documented.iter().any(|known| known == python)
            });
        }
        match (arch, python) {
            (Some(arch), Some(python)) => self.has_wheel(arch, python) == Some(true),
            (None, Some(python)) => self.pythons().contains(&python),
            (Some(arch), None) => self.wheels.contains_key(arch),
            (None, None) => true,
        }
    }

    /// The Python versions of its wheels, over all architectures, in order.
    pub fn pythons(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.wheels.values().flatten().map(String::as_str).collect();
        all.sort_by_key(|version| minor(version));
        all.dedup();
        all
    }
}

/// `3.11` as a pair that sorts.
pub(super) fn minor(python: &str) -> (u32, u32) {
    let mut parts = python.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// Reads a list of the notation of version files; the loader has proved that it is one.
pub(super) fn range_list(text: Option<&str>) -> Option<RangeList> {
    text.and_then(|text| text.parse().ok())
}
