//! What `verify` compares with: `data/verify.toml`.

use std::sync::LazyLock;

use serde::Deserialize;

use crate::data_pack::{Pack, PackError};

static TABLE: LazyLock<VerifyLimits> = LazyLock::new(|| super::table("verify"));

/// Limits of times, figures of chips, owners of libraries.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VerifyLimits {
    #[expect(dead_code, reason = "read so that the file may carry it")]
    schema: u32,
    /// Libraries of the driver package.
    pub driver_libraries: Vec<String>,
    /// How the names of libraries of the operating system begin.
    pub system_prefixes: Vec<String>,
    /// By measure.
    pub time: Vec<TimeLimit>,
    /// By chip.
    pub chip: Vec<ChipFigures>,
}

/// How far a device may be from the median of its peers.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TimeLimit {
    /// What is timed.
    pub measure: String,
    /// The least factor.
    pub factor: f64,
    /// The least difference, in milliseconds.
    pub least_ms: f64,
}

/// Official figures of a chip.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChipFigures {
    /// Its name, as the runtime has it.
    pub soc: String,
    /// Cores for matrices.
    pub cube_cores: u32,
    /// Cores for vectors.
    pub vector_cores: u32,
    /// Frequency of the former, in MHz.
    pub cube_mhz: u32,
}

impl ChipFigures {
    /// Trillion operations in half precision a second: 16 x 16 x 16 products and sums in each cycle.
    pub fn peak_tflops(&self) -> f64 {
        f64::from(self.cube_cores) * f64::from(self.cube_mhz) * 8192.0 / 1e6
    }
}

impl VerifyLimits {
    /// The table.
    pub fn builtin() -> &'static Self {
        &TABLE
    }

    /// The figures of a chip.
    pub fn chip(&self, soc: &str) -> Option<&ChipFigures> {
        self.chip.iter().find(|chip| chip.soc == soc)
    }

    /// The limits of a measure.
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
