//! Reads back what another run wrote in JSON.

use serde::Deserialize;
use serde::de::IgnoredAny;

use super::document::Document;
use super::items::{self, Item};

/// Why something is no report.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// It is no JSON.
    #[error("it is no JSON of ascend-doctor (`--json`): {0}")]
    Json(serde_json::Error),
    /// It is JSON of something else.
    #[error("it is JSON, but no report of ascend-doctor (`--json`)")]
    Foreign,
    /// It is what was read of a machine, and not judged yet.
    #[error("these are facts; `ascend-doctor check --facts FILE --json` makes a report of them")]
    Facts,
    /// It is of a version that is not known.
    #[error("it is of the schema `{0}`, which this version does not know")]
    Newer(String),
    /// A member has another form.
    #[error("it is no report of ascend-doctor: {0}")]
    Form(serde_json::Error),
}

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
