//! Reads JSON reports of other runs.

use data::{Fault, faults};
use serde::Deserialize;
use serde::de::IgnoredAny;

use super::document::Document;
use super::items::{self, Item};

/// The reason why a file is not a report.
#[derive(Debug)]
pub enum ReadError {
    /// It is not JSON.
    Json(serde_json::Error),
    /// It is another kind of JSON document.
    Foreign,
    /// It contains the facts of a machine, without an evaluation.
    Facts,
    /// Its version is unknown.
    Newer(String),
    /// A member has an unexpected form.
    Form(serde_json::Error),
}

impl ReadError {
    /// The error message for users.
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

/// Reads a report; in lines of JSON (`verify --json`), the last one is the report.
pub fn read(bytes: &[u8]) -> Result<Document, ReadError> {
    // First the kind of document is determined, then the parts that a page shows are read. All else
    // is dropped: a report contains many members for programs, and as a tree of values it would
    // take forty times its size.
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
        // Lookups have a separate ID: logs are reports of the same subcommand.
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

/// The members that distinguish kinds of documents.
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
