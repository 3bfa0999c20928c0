//! The measuring machine, without which times cannot be compared.

use std::process::Command;

use anyhow::{Context as _, Result};

/// Load average above which a machine is not idle.
const IDLE: f64 = 0.5;

/// Properties of the machine.
#[derive(Debug)]
pub(super) struct Machine {
    pub(super) cores: usize,
    pub(super) rustc: String,
    /// Load average of the last minute, before measuring.
    pub(super) load: Option<f64>,
}

impl Machine {
    /// Reads the properties of this machine.
    pub(super) fn look() -> Result<Self> {
        let rustc =
            Command::new("rustc").arg("--version").output().context("cannot start rustc")?;
        Ok(Self {
            cores: std::thread::available_parallelism()?.get(),
            rustc: String::from_utf8_lossy(&rustc.stdout).trim().to_owned(),
            load: std::fs::read_to_string("/proc/loadavg").ok().as_deref().and_then(parse_load),
        })
    }

    /// Returns reasons to doubt the measurement.
    pub(super) fn warnings(&self) -> Vec<String> {
        match self.load {
            Some(load) if load > IDLE => {
                vec![format!("the load average is {load}: times are of a busy machine")]
            }
            Some(_) => Vec::new(),
            None => vec!["the load average is unknown".to_owned()],
        }
    }
}

fn parse_load(text: &str) -> Option<f64> {
    text.split_whitespace().next()?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_busy_machine_is_reported() {
        assert_eq!(parse_load("0.45 2.47 2.81 1/234 5678\n"), Some(0.45));
        let of = |load| Machine { cores: 2, rustc: String::new(), load }.warnings().len();
        assert_eq!([of(Some(0.4)), of(Some(3.0)), of(None)], [0, 1, 1]);
    }
}
