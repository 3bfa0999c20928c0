//! The inputs and the target of one audit, shared by all parts of the report.

use serde_json::json;

use crate::cann::Cann;
use crate::class::SupportClass;
use crate::classify::ClassifiedOperator;
use crate::documented_limits::LimitedApi;
use crate::model::Model;
use crate::ops::documents::Documents;
use crate::ops::tables::Column;
use crate::place::Place;
use crate::release::SelectedRelease;
use base::chip::ChipFamily;
use base::report::Evidence;

/// What is judged for.
pub(super) struct AuditTarget<'a> {
    pub(super) release: &'a SelectedRelease,
    pub(super) chip: Option<ChipFamily>,
    pub(super) cann: Option<&'a Cann>,
    /// The documents of torch_npu that speak for it.
    pub(super) documents: Option<Documents>,
}

impl AuditTarget<'_> {
    pub(super) fn json(&self, column: &Column) -> serde_json::Value {
        let mut target = self.release.json(column);
        target["soc"] = json!(self.chip.map(ChipFamily::as_str));
        target["cann"] = json!(self.cann.map(Cann::json));
        target["documents"] = json!(self.documents.map(|documents| documents.name));
        target
    }
}

/// An input that was read, with what was found out.
pub(super) struct AuditedInput {
    pub(super) path: String,
    pub(super) model: Model,
    pub(super) judged: Vec<ClassifiedOperator>,
    /// What the documents of torch_npu limit of what it calls.
    pub(super) documented: Vec<LimitedApi>,
}

/// Operators that are worth a row: what does not run on the device for all that is known.
pub(super) fn attention(read: &[AuditedInput]) -> impl Iterator<Item = &ClassifiedOperator> {
    read.iter()
        .flat_map(|input| &input.judged)
        .filter(|judged| judged.class > SupportClass::PartlyKnown)
}

/// `model.py:12` as a place in a file.
pub(super) fn evidence_at(place: &Place) -> Evidence {
    match place {
        Place::Line(path, line) => Evidence::file(&**path).line(*line),
        Place::Named(name) => Evidence::file(name.as_str()),
    }
}
