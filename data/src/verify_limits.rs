//! The reference values of `verify`: `data/verify.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError};

static TABLE: LazyLock<VerifyLimits> = LazyLock::new(|| super::table("verify"));

/// Time limits, chip figures, owners of libraries.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyLimits {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    /// Libraries of the driver package.
    pub driver_libraries: Vec<String>,
    /// Prefixes of the names of operating system libraries.
    pub system_prefixes: Vec<String>,
    /// The time limits, by measure.
    pub time: Vec<TimeLimit>,
    /// The figures, by chip.
    pub chip: Vec<ChipFigures>,
}

/// The maximum deviation of a device from the median of its peers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeLimit {
    /// The timed operation.
    pub measure: String,
    /// The minimum factor.
    pub factor: f64,
    /// The minimum difference, in milliseconds.
    pub least_ms: f64,
}

/// Official figures of a chip.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipFigures {
    /// The chip name in the runtime.
    pub soc: String,
    /// The number of Cube Cores.
    pub cube_cores: u32,
    /// The number of Vector Cores.
    pub vector_cores: u32,
    /// The frequency of the Cube Cores, in MHz.
    pub cube_mhz: u32,
}

impl ChipFigures {
    /// Returns the peak half-precision performance in TFLOPS: 16 x 16 x 16 multiply-adds per Cube
    /// Core and cycle.
    pub fn peak_tflops(&self) -> f64 {
        f64::from(self.cube_cores) * f64::from(self.cube_mhz) * 8192.0 / 1e6
    }
}

impl VerifyLimits {
    /// Returns the built-in table.
    pub fn builtin() -> &'static Self {
        &TABLE
    }

    /// Returns the figures of a chip.
    pub fn chip(&self, soc: &str) -> Option<&ChipFigures> {
        self.chip.iter().find(|chip| chip.soc == soc)
    }

    /// Returns the limits of a measure.
    pub fn time(&self, measure: &str) -> Option<&TimeLimit> {
        self.time.iter().find(|limit| limit.measure == measure)
    }
}

/// Decodes the table of a pack.
pub(crate) fn check(pack: &'static Pack) -> Result<(), PackError> {
    pack.table::<VerifyLimits>("verify").map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_are_sound() {
        let table = VerifyLimits::builtin();
        for limit in &table.time {
            assert!(limit.factor >= 1.5 && limit.least_ms > 0.0, "{}", limit.measure);
        }
        let peak = table.chip("Ascend910B3").unwrap().peak_tflops();
        assert!((peak - 294.912).abs() < 1e-9, "{peak}");
        for chip in &table.chip {
            assert!(chip.cube_cores > 0 && chip.vector_cores >= chip.cube_cores, "{}", chip.soc);
        }
        let mut socs: Vec<&str> = table.chip.iter().map(|chip| chip.soc.as_str()).collect();
        socs.sort_unstable();
        socs.dedup();
        assert_eq!(socs.len(), table.chip.len());
    }
}
