//! The documents for programs that hold answers.

use serde::Serialize;

use base::report::{DataInUse, ExitStatus};

use crate::{Item, Topic};

/// The answer of `explain`.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct ExplainDocument<'a> {
    schema: &'static str,
    /// The tables that were used.
    data: &'a DataInUse,
    /// What the names stand for.
    items: Vec<Item<'a>>,
}

impl<'a> ExplainDocument<'a> {
    /// The document of `items`.
    pub fn new(data: &'a DataInUse, items: Vec<Item<'a>>) -> Self {
        Self { schema: "ascend-doctor/explain/1", data, items }
    }
}

/// The answer of `translate-error` about codes.
#[derive(Debug, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CodesDocument<'a> {
    schema: &'static str,
    /// The tables that were used.
    data: &'a DataInUse,
    /// The codes, causes and families.
    items: Vec<Item<'a>>,
}

impl<'a> CodesDocument<'a> {
    /// The document of `items`.
    pub fn new(data: &'a DataInUse, items: Vec<Item<'a>>) -> Self {
        Self { schema: "ascend-doctor/codes/1", data, items }
    }
}

/// The exit status of topics: values and versions may contradict a table.
pub fn judge(topics: &[Topic]) -> ExitStatus {
    let sheets = || {
        topics.iter().filter_map(|topic| match topic {
            Topic::Sheet(sheet) => Some(sheet),
            _ => None,
        })
    };
    if sheets().any(|sheet| sheet.is_conflict()) {
        ExitStatus::Findings
    } else if sheets().any(|sheet| sheet.is_undecided()) {
        ExitStatus::Inconclusive
    } else {
        ExitStatus::Clean
    }
}
