//! Reads back what another run wrote in JSON.

use serde::Deserialize as _;
use serde_json::Value;

use super::document::Document;
use super::items;

/// Why something is no report.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
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
pub(crate) fn read(bytes: &[u8]) -> Result<Document, ReadError> {
    let value = match serde_json::from_slice::<Value>(bytes) {
        Ok(value) => value,
        Err(error) => {
            let last = bytes.trim_ascii_end().rsplit(|&byte| byte == b'\n').next();
            let last = last.filter(|last| last.len() < bytes.trim_ascii_end().len());
            let line = last.and_then(|last| serde_json::from_slice(last).ok());
            line.ok_or(ReadError::Json(error))?
        }
    };
    let Some(schema) = value["schema"].as_str() else { return Err(ReadError::Foreign) };
    let Some((command, version)) =
        schema.strip_prefix("ascend-doctor/").and_then(|rest| rest.split_once('/'))
    else {
        return Err(ReadError::Foreign);
    };
    if command == "facts" {
        return Err(ReadError::Facts);
    }
    if version != "1" {
        return Err(ReadError::Newer(schema.to_owned()));
    }
    if let Some(list) = value.get("items") {
        return items::document(command, list.clone()).map_err(ReadError::Form);
    }
    if value.get("findings").is_none() {
        return Err(ReadError::Foreign);
    }
    let answer = matches!(command, "explain" | "compat");
    let mut document = Document::deserialize(value).map_err(ReadError::Form)?;
    document.answer = answer;
    Ok(document)
}
