//! The evidence of a run in one file: all calls with their codes and times, versions, the
//! environment, and the data needed to evaluate the run again elsewhere.
//!
//! The first line is the head, each further line an event of a process, and the last line the
//! result. `cmd::verify` redacts it before it is passed on.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::identity::MachineIdentity;
use super::protocol::{Event, Stage};
use super::run::RunResult;

/// The name of the format.
pub const SCHEMA: &str = "ascend-doctor/verify-evidence/1";
/// The maximum number of recorded events; a run of all stages on 16 devices has some ten thousands.
const MAX_EVENTS: usize = 1_000_000;

/// The first line.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Head {
    /// [`SCHEMA`].
    pub schema: String,
    /// The version of this program.
    pub program: String,
    /// The arguments.
    pub arguments: Vec<String>,
    /// The variables that CANN, the driver and the dynamic linker read.
    pub environment: Vec<(String, String)>,
    /// The kernel of the operating system.
    pub system: Option<String>,
    /// The output of `npu-smi info`.
    pub npu_smi: Option<String>,
    /// Files with versions, and their text.
    pub files: Vec<(String, String)>,
}

/// A line between the first and the last.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimedEvent {
    /// Since the run began, in milliseconds.
    #[serde(serialize_with = "base::number::significant")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at_ms: f64,
    /// The device of its process.
    pub device: Option<i32>,
    /// The reported event.
    #[serde(flatten)]
    pub event: Event,
}

/// The last line: the input of the evaluation.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// The results of the processes.
    pub result: RunResult,
    /// The requested stages.
    pub stages: Vec<Stage>,
    /// Facts about the machine.
    pub machine: MachineIdentity,
}

/// Collects events.
#[derive(Debug)]
pub struct Recorder {
    start: Instant,
    events: Mutex<Vec<TimedEvent>>,
}

impl Default for Recorder {
    fn default() -> Self {
        Self { start: Instant::now(), events: Mutex::default() }
    }
}

impl Recorder {
    /// Records an event.
    pub fn note(&self, device: Option<i32>, event: &Event) {
        let at_ms = self.start.elapsed().as_secs_f64() * 1e3;
        let mut events = self.events.lock().unwrap_or_else(PoisonError::into_inner);
        if events.len() < MAX_EVENTS {
            events.push(TimedEvent { at_ms, device, event: event.clone() });
        }
    }

    /// The lines of the file.
    ///
    /// # Errors
    /// A value cannot be written as JSON, such as NaN.
    pub fn lines(
        self,
        head: &Head,
        recorded: &Recorded,
    ) -> serde_json::Result<Vec<serde_json::Value>> {
        let events = self.events.into_inner().unwrap_or_else(PoisonError::into_inner);
        let mut lines = vec![serde_json::to_value(head)?];
        for event in events {
            lines.push(serde_json::to_value(event)?);
        }
        lines.push(serde_json::to_value(recorded)?);
        Ok(lines)
    }
}

/// Reads the result in a file. `None` if the file is incomplete or has another format.
pub fn read(text: &str) -> Option<(Head, Recorded)> {
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next()?).ok()?;
    let recorded = serde_json::from_str(lines.next_back()?).ok()?;
    (head.schema == SCHEMA).then_some((head, recorded))
}
