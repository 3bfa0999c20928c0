//! Reads back what another run wrote in JSON.

use data::{Fault, faults};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::document::Document;
use super::items::{self, Item};

/// Why something is no report.
#[derive(Debug)]
pub enum ReadError {
    /// It is no JSON.
    Json(serde_json::Error),
    /// It is JSON of something else.
    Foreign,
    /// It is what was read of a machine, and not judged yet.
    Facts,
    /// It is of a version that is not known.
    Newer(String),
    /// A member has another form.
    Form(serde_json::Error),
}

impl ReadError {
    /// The error as users read it.
    pub fn fault(&self) -> Fault {
        match self {
            Self::Json(why) => faults::NotJson { why }.fault(),
            Self::Foreign => faults::JsonNotReport.fault(),
            Self::Facts => faults::TheseAreFacts.fault(),
            Self::Newer(schema) => faults::UnknownSchema { schema }.fault(),
            Self::Form(why) => faults::NotAReport { why }.fault(),
        }
    }
}

data::impl_fault!(ReadError);

/// Reads a report; of lines of JSON (`verify --json`) the last one is the report.
pub fn read(bytes: &[u8]) -> Result<Document, ReadError> {
    // First what it is, then what a page shows of it. Nothing else is kept: a report holds much
    // that is for programs, and as a tree of values it would take forty times its size.
    let (head, bytes): (Head, _) = match serde_json::from_slice(bytes) {
        Ok(head) => (head, bytes),
        Err(error) if error.is_data() => return Err(ReadError::Foreign),
        Err(error) => {
            let last = bytes.trim_ascii_end().rsplit(|&byte| byte == b'\n').next();
            let last = last.filter(|last| last.len() < bytes.trim_ascii_end().len());
            let line = last.and_then(|last| Some((serde_json::from_slice(last).ok()?, last)));
            line.ok_or(ReadError::Json(error))?
        }
    };
    let Some(schema) = head.schema else { return Err(ReadError::Foreign) };
    let Some((command, version)) =
        schema.strip_prefix("ascend-doctor/").and_then(|rest| rest.split_once('/'))
    else {
        return Err(ReadError::Foreign);
    };
    if command == "facts" {
        return Err(ReadError::Facts);
    }
    if !matches!(version, "1" | "2") {
        return Err(ReadError::Newer(schema.clone()));
    }
    if head.items.is_some() {
        let list: Answers = serde_json::from_slice(bytes).map_err(ReadError::Form)?;
        // Lookups have an ID of their own: logs are reports of the same subcommand.
        let command = if command == "codes" { "translate-error" } else { command };
        return Ok(items::to_document(command, list.items));
    }
    if head.findings.is_none() {
        return Err(ReadError::Foreign);
    }
    let answer = matches!(command, "explain" | "compat");
    let mut document: Document = serde_json::from_slice(bytes).map_err(ReadError::Form)?;
    document.answer = answer;
    Ok(document)
}

/// What tells one kind of document from another.
#[derive(Deserialize)]
struct Head {
    schema: Option<String>,
    items: Option<IgnoredAny>,
    findings: Option<IgnoredAny>,
}

/// The answers of `translate-error` and `explain`.
#[derive(Deserialize)]
struct Answers {
    items: Vec<Item>,
}
