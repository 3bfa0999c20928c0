//! The rows of the matrix, as in the file.

use std::collections::BTreeMap;

use pep440_rs::{Version, VersionSpecifiers};
use serde::{Deserialize, Serialize};

use super::parsed::{Parsed, Pattern, Release};
use base::report::Severity;
use base::version::{CannVersion, DottedVersion, InnerVersion, RangeList};

/// The reliability of a row.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// The vendor's own table recommends it.
    Recommended,
    /// The vendor's own documents list it as working.
    Compatible,
    /// Derived from a tag of the vendor's repository.
    DerivedFromTag,
    /// Read from files of the version itself.
    Measured,
    /// Published, but in no table.
    Published,
    /// Used in public third-party instructions.
    Reported,
    /// An alpha, beta or development build.
    Prerelease,
}

impl Level {
    /// Returns the word in files and reports.
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

/// The common interface of all rows.
pub trait Row {
    /// The name of the table in the file.
    const TABLE: &'static str;
    /// Returns the key that identifies the row. An overlay replaces the row with the same key.
    fn key(&self) -> String;
    /// Returns the source of the row.
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
            /// The reliability of the row.
            pub level: Level,
            /// A remark, for example on sources that differ.
            #[serde(default, skip_serializing_if = "Option::is_none")]
            pub note: Option<String>,
            /// The source of the row.
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
    /// A torch_npu version.
    TorchNpu = "torch_npu", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<Version>,
        /// The torch version that it is built for.
        torch: Parsed<Version>,
        /// The vendor release that it belongs to.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        release: Option<Parsed<Release>>,
        /// The CANN that is recommended for it, or that its release is based on.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cann: Option<Parsed<CannVersion>>,
        /// Published wheels: architecture and Python versions.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        wheels: BTreeMap<String, Vec<String>>,
        /// The minimum glibc version of its wheels, by architecture.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        glibc: BTreeMap<String, Parsed<DottedVersion>>,
        /// `_GLIBCXX_USE_CXX11_ABI` of its wheels, by architecture.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        abi: BTreeMap<String, u8>,
        /// Documented Python versions for its torch.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        python_documented: Vec<String>,
        /// The triton-ascend in the release notes for it.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        triton_ascend: Option<Parsed<Version>>,
        /// The build day of its wheels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        built: Option<String>,
        /// The source commit of its wheels.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        commit: Option<String>,
    }

    /// The CANN versions that a torch_npu release accepts.
    Window = "window", |row| row.release.to_string(); {
        /// The release, or a line of releases (`26.0.X`).
        release: Parsed<Pattern<Release>>,
        /// The CANN versions.
        cann: Vec<Parsed<Pattern<CannVersion>>>,
    }

    /// A CANN version.
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
        /// Chips with container images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        chips: Vec<String>,
        /// Python versions of the images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        image_python: Vec<String>,
        /// Operating systems of the images.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        image_os: Vec<String>,
        /// The `cxx_abi_<n>` of ATB that most of its images select.
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
        /// The only chip that the pair is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        chip: Option<String>,
        /// The only product that the pair is for.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        product: Option<String>,
        /// The firmware of the driver.
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

    /// A driver version.
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

    /// A firmware version.
    FirmwareRow = "firmware", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<DottedVersion>,
        /// The package that contained it.
        package_version: String,
        /// `compatible_version_drv`: the drivers it accepts.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        compatible_drv: Option<String>,
    }

    /// A vllm-ascend version.
    VllmAscend = "vllm_ascend", |row| row.version.to_string(); {
        /// The version.
        version: Parsed<Version>,
        /// The compatible vLLM versions.
        vllm: Vec<Parsed<Version>>,
        /// Python versions.
        python: Parsed<VersionSpecifiers>,
        /// The CANN of its images.
        cann: Parsed<CannVersion>,
        /// torch.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        torch: Option<Parsed<Version>>,
        /// torch_npu: first the pin of the tag, then the documented version.
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

    /// A MindSpore version, or a line of versions (`2.3`).
    MindSpore = "mindspore", |row| row.version.clone(); {
        /// The version.
        version: String,
        /// The documented CANN.
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
        /// The numpy requirement in its metadata.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        numpy: Option<Parsed<VersionSpecifiers>>,
    }

    /// A feature with a minimum driver or CANN.
    Gate = "gate", |row| row.feature.clone(); {
        /// The feature.
        feature: String,
        /// The minimum driver.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_driver: Option<Parsed<DottedVersion>>,
        /// The minimum CANN.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        min_cann: Option<Parsed<CannVersion>>,
        /// A chip with other minimums.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        except_chip: Option<String>,
        /// The variable that enables the feature.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env: Option<String>,
        /// The text in the variable if the feature is enabled.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        env_contains: Option<String>,
    }

    /// A chip.
    Soc = "soc", |row| row.name.clone(); {
        /// The `SoC` name.
        name: String,
        /// The family.
        family: String,
        /// The name in packages and images.
        chip: String,
        /// The number in torch_npu.
        #[serde(default, rename = "enum", skip_serializing_if = "Option::is_none")]
        number: Option<u32>,
        /// The device type in vllm-ascend.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        vllm_ascend_device: Option<String>,
        /// The first CANN with packages for the chip.
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
        /// Product family.
        family: String,
        /// Product.
        product: String,
        /// Systems, with architecture.
        os: Vec<String>,
    }

    /// A package that CANN or MindSpore requires or excludes.
    Constraint = "constraint", |row| format!(
        "{} {} {} {}",
        row.package,
        row.cann_min.as_deref().unwrap_or("-"),
        row.cann_max.as_deref().unwrap_or("-"),
        row.mindspore_max.as_ref().map_or("-".to_owned(), ToString::to_string)
    ); {
        /// Normalized name.
        package: String,
        /// Accepted versions; empty for any.
        spec: Parsed<VersionSpecifiers>,
        /// First affected CANN line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cann_min: Option<String>,
        /// Last affected CANN line.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        cann_max: Option<String>,
        /// Last affected MindSpore.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        mindspore_max: Option<Parsed<Version>>,
        /// The severity of a violation.
        severity: Severity,
    }

    /// The distributions that a package imports. Without one of them, its import fails.
    Import = "import", |row| format!("{} {}", row.package, row.versions.0); {
        /// Normalized name.
        package: String,
        /// The affected versions.
        versions: Parsed<VersionSpecifiers>,
        /// Normalized names of the distributions.
        needs: Vec<String>,
        /// Additional imports if another distribution is installed, by the name of that
        /// distribution.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        beside: BTreeMap<String, Vec<String>>,
        /// The pages of distributions that are on no package index, by name.
        #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
        elsewhere: BTreeMap<String, String>,
        /// Normalized names of the extras whose requirements a start on an NPU needs.
        #[serde(default, skip_serializing_if = "Vec::is_empty")]
        extras: Vec<String>,
    }
}

impl TorchNpu {
    /// Returns whether there is a wheel for this architecture and Python (`3.11`); `None` if its
    /// wheels are unknown.
    pub fn has_wheel(&self, arch: &str, python: &str) -> Option<bool> {
        (!self.wheels.is_empty())
            .then(|| self.wheels.get(arch).is_some_and(|list| list.iter().any(|p| p == python)))
    }

    /// Returns whether there is a wheel for this machine, as far as it is known. For a version that
    /// is not on the index, the documented Python versions count.
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

    /// Returns the Python versions of its wheels, over all architectures, in order.
    pub fn pythons(&self) -> Vec<&str> {
        let mut all: Vec<&str> = self.wheels.values().flatten().map(String::as_str).collect();
        all.sort_by_key(|version| minor(version));
        all.dedup();
        all
    }
}

/// Parses `3.11` as a pair that sorts.
pub(super) fn minor(python: &str) -> (u32, u32) {
    let mut parts = python.split('.').map(|part| part.parse().unwrap_or(0));
    (parts.next().unwrap_or(0), parts.next().unwrap_or(0))
}

/// Parses a list in the notation of version files, which the loader has validated.
pub(super) fn range_list(text: Option<&str>) -> Option<RangeList> {
    text.and_then(|text| text.parse().ok())
}
