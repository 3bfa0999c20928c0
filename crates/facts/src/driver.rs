//! Driver, firmware, npu-smi.

use base::chip::ChipFamily;
use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Lines, place};
use base::report::Evidence;

/// A `key=value` file such as `version.info`, with its path.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct InfoFile {
    /// Path.
    pub path: String,
    /// Fields, with keys as written.
    pub fields: BTreeMap<String, String>,
    /// Lines of the fields, counted from 1, where known.
    #[serde(default)]
    pub lines: Lines,
}

impl InfoFile {
    /// The place of a field: the file, and its line where known.
    pub fn place(&self, key: &str) -> Evidence {
        place(&self.path, &self.lines, key)
    }

    /// A field's value.
    pub fn get(&self, key: &str) -> Option<&str> {
        self.fields.get(key).map(String::as_str)
    }
}

/// The kernel driver's user-space side, the firmware package and npu-smi.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Driver {
    /// `/etc/ascend_install.info`.
    pub install_info: Option<InfoFile>,
    /// Directory of the driver, normally `/usr/local/Ascend/driver`; `None` if it is missing.
    pub dir: Option<String>,
    /// `<driver>/version.info`: `Version`, `Innerversion`, `compatible_version`, …
    pub version: Option<InfoFile>,
    /// `/usr/local/Ascend/firmware/version.info`.
    pub firmware: Option<InfoFile>,
    /// Paths of the found libraries, by file name.
    pub libraries: BTreeMap<String, String>,
    /// Other driver paths that a container must contain, and whether they exist.
    pub paths: BTreeMap<String, bool>,
    /// Path of npu-smi.
    pub npu_smi_path: Option<String>,
    /// The output of npu-smi.
    pub npu_smi: Option<NpuSmi>,
}

impl Driver {
    /// The directory in which the driver is installed or would be: from `/etc/ascend_install.info`,
    /// else the default.
    pub fn home(&self) -> String {
        self.install_dir("Driver_Install_Path_Param", "driver")
    }

    /// The directory in which the firmware package is installed or would be.
    pub fn firmware_home(&self) -> String {
        self.install_dir("Firmware_Install_Path_Param", "firmware")
    }

    fn install_dir(&self, key: &str, name: &str) -> String {
        let base = self.install_info.as_ref().and_then(|info| info.get(key));
        // The file may be damaged, so only absolute paths are accepted.
        let base = base.filter(|path| path.starts_with('/')).unwrap_or("/usr/local/Ascend");
        format!("{}/{name}", base.trim_end_matches('/'))
    }
}

/// Parsed output of `npu-smi info`.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NpuSmi {
    /// The command line or file of the output.
    pub source: String,
    /// Version in the header.
    pub version: Option<String>,
    /// One row per chip.
    pub chips: Vec<NpuChip>,
    /// A negative code such as `-8005`, if it failed.
    pub error_code: Option<i32>,
    /// The line with the error; without a code and a table, the first line.
    pub error_line: Option<String>,
    /// Whether it was stopped because it took too long.
    pub timed_out: bool,
    /// Exit status; `None` if it was killed, or if the output came from a file.
    pub status: Option<i32>,
    /// `Compatibility` of `npu-smi info -t board`: `OK`, `NOK`, `UNKNOWN`.
    pub compatibility: Option<String>,
    /// `Software Version` of that page: the driver's.
    pub software: Option<String>,
    /// `Firmware Version` of that page.
    pub firmware: Option<String>,
}

/// One chip in the table of npu-smi.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct NpuChip {
    /// NPU id.
    pub npu: u32,
    /// Chip id.
    pub chip: u32,
    /// Physical or logical device ID, if the table has that column.
    pub device: Option<u32>,
    /// Name, for example `910B2C`.
    pub name: String,
    /// Health, for example `OK`, `Warning`, `Alarm`.
    pub health: String,
    /// PCI address.
    pub bus_id: Option<String>,
    /// HBM use and size in MB, where given.
    pub hbm_mb: Option<(u64, u64)>,
}

impl NpuChip {
    /// The generation of the chip, if its name identifies one.
    pub fn family(&self) -> Option<ChipFamily> {
        // Only the table of A3 has a column of physical IDs next to such a name.
        if self.device.is_some() && self.name.eq_ignore_ascii_case("Ascend910") {
            return Some(ChipFamily::A3);
        }
        ChipFamily::from_soc(&self.name)
    }
}
