//! The evidence of a run in one file: all calls with their codes and times, versions, the
//! environment, and what is needed to judge the run again elsewhere.
//!
//! The first line is the head, each further line an event of a process, and the last line the
//! result. Whoever passes the file on has redacted it: see `cmd::verify`.

use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::identity::MachineIdentity;
use super::protocol::{Event, Stage};
use super::run::RunResult;

/// The name of the format.
pub const SCHEMA: &str = "ascend-doctor/verify-evidence/1";
/// The most events that are kept; a run of all stages on 16 devices has some ten thousands.
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
    /// What `npu-smi info` printed.
    pub npu_smi: Option<String>,
    /// Files with versions, and their text.
    pub files: Vec<(String, String)>,
}

/// A line of the middle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TimedEvent {
    /// Since the run began, in milliseconds.
    #[serde(serialize_with = "base::number::significant")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub at_ms: f64,
    /// The device that its process is for.
    pub device: Option<i32>,
    /// What it reported.
    #[serde(flatten)]
    pub event: Event,
}

/// The last line: what the judgement starts from.
#[derive(Debug, Serialize, Deserialize)]
pub struct Recorded {
    /// What the processes did.
    pub result: RunResult,
    /// The stages that were asked for.
    pub stages: Vec<Stage>,
    /// What is known of the machine.
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
    /// Keeps an event.
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
    /// Something cannot be written as JSON, such as a number that is none.
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

/// Reads the result in a file. `None` if it is not whole or of another format.
pub fn read(text: &str) -> Option<(Head, Recorded)> {
    let mut lines = text.lines();
    let head: Head = serde_json::from_str(lines.next()?).ok()?;
    let recorded = serde_json::from_str(lines.next_back()?).ok()?;
    (head.schema == SCHEMA).then_some((head, recorded))
}
