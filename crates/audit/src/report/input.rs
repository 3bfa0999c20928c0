//! The inputs and the target of one audit, shared by all parts of the report.

use base::chip::ChipFamily;
use base::report::Evidence;

use super::members::TargetMember;
use crate::cann::Cann;
use crate::class::SupportClass;
use crate::classify::ClassifiedOperator;
use crate::documented_limits::LimitedApi;
use crate::model::Model;
use crate::ops::documents::Documents;
use crate::ops::tables::Column;
use crate::place::Place;
use crate::release::SelectedRelease;

/// The target of the audit.
pub(super) struct AuditTarget<'a> {
    pub(super) release: &'a SelectedRelease,
    pub(super) chip: Option<ChipFamily>,
    pub(super) cann: Option<&'a Cann>,
    /// The torch_npu documents for this release.
    pub(super) documents: Option<Documents>,
}

impl AuditTarget<'_> {
    pub(super) fn member<'a>(&'a self, column: &'a Column) -> TargetMember<'a> {
        TargetMember {
            soc: self.chip.map(ChipFamily::as_str),
            cann: self.cann.map(Cann::member),
            documents: self.documents.map(|documents| documents.name),
            ..self.release.member(column)
        }
    }
}

/// An input with its classified operators.
pub(super) struct AuditedInput {
    pub(super) path: String,
    pub(super) model: Model,
    pub(super) judged: Vec<ClassifiedOperator>,
    /// The called APIs with limits in the torch_npu documents.
    pub(super) documented: Vec<LimitedApi>,
}

/// Returns the operators that are not known to run on the device.
pub(super) fn attention(read: &[AuditedInput]) -> impl Iterator<Item = &ClassifiedOperator> {
    read.iter()
        .flat_map(|input| &input.judged)
        .filter(|judged| judged.class > SupportClass::PartlyKnown)
}

/// Converts a place such as `model.py:12` to evidence.
pub(super) fn evidence_at(place: &Place) -> Evidence {
    match place {
        Place::Line(path, line) => Evidence::file(&**path).line(*line),
        Place::Named(name) => Evidence::file(name.as_str()),
    }
}
