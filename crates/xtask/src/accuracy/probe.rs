//! The measured program, started in a fixed environment.

use std::path::PathBuf;
use std::process::Command;
use std::time::Duration;

use anyhow::Result;
use serde_json::Value;

use crate::process::{self, Limits, Status};

/// The number of bytes kept of each output stream.
const STREAM_BYTES: usize = 64 << 20;

/// A build of `ascend-doctor`.
#[derive(Debug)]
pub(super) struct Probe {
    program: PathBuf,
    limits: Limits,
}

impl Probe {
    pub(super) fn new(program: PathBuf, time: Duration) -> Self {
        Self { program, limits: Limits { time, bytes: STREAM_BYTES } }
    }

    /// Runs a command line and returns the JSON document that it prints. A failed run counts as a
    /// wrong result of the sample, so its reason is the inner error.
    pub(super) fn json(&self, args: &[&str]) -> Result<Result<Value, String>> {
        self.json_of(args, b"")
    }

    /// Runs [`Self::json`] with standard input.
    pub(super) fn json_of(&self, args: &[&str], input: &[u8]) -> Result<Result<Value, String>> {
        let mut command = Command::new(&self.program);
        command.env_clear().env("LANG", "C.UTF-8").env("TZ", "UTC").args(args);
        let output = process::run(&mut command, input, self.limits)?;
        let parsed = serde_json::from_slice(&output.stdout.bytes);
        Ok(match (output.status, parsed) {
            (Status::Exited(0 | 1 | 3), Ok(value)) => Ok(value),
            (status, _) => {
                let error = String::from_utf8_lossy(&output.stderr.bytes).trim().to_owned();
                Err(format!("{status} {error}"))
            }
        })
    }
}
