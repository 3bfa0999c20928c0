//! Findings and a table about documented limits of called APIs.

use std::collections::BTreeMap;

use base::chip::ChipFamily;
use base::report::{Evidence, Report, Table};
use base::text::Text;
use data::{Catalog, RawFinding, findings::ops_api, ui};

use super::input::{AuditedInput, evidence_at};
use crate::documented_limits::{DocumentationPoint, LimitedApi};
use crate::place::Place;

/// The maximum number of places in one finding.
const MOST_PLACES: usize = 8;
/// The maximum number of APIs in one sentence.
const MOST_NAMES: usize = 12;

/// A documented limit that several APIs share, in the order of the report.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Limit {
    Chip,
    Dtype,
    DtypeListed,
    Fallback,
    Registered,
    Unsupported,
}

/// Adds findings about the documented limits of one release.
pub(super) fn findings(
    report: &mut Report,
    read: &[AuditedInput],
    documents: &str,
    chip: Option<ChipFamily>,
) {
    let mut by_point: BTreeMap<(Limit, &str), Vec<&LimitedApi>> = BTreeMap::new();
    let mut found: Vec<RawFinding> = Vec::new();
    for one in read.iter().flat_map(|input| &input.documented) {
        for point in &one.points {
            let (limit, detail) = match point {
                DocumentationPoint::Agreed => continue,
                DocumentationPoint::Unsupported => (Limit::Unsupported, ""),
                DocumentationPoint::Registered => (Limit::Registered, ""),
                DocumentationPoint::MayFallBack => (Limit::Fallback, ""),
                DocumentationPoint::Chip => (Limit::Chip, chip.map_or("", ChipFamily::label)),
                DocumentationPoint::Dtype { dtype, listed_by_cann: true } => {
                    (Limit::DtypeListed, dtype.as_str())
                }
                DocumentationPoint::Dtype { dtype, listed_by_cann: false } => {
                    (Limit::Dtype, dtype.as_str())
                }
                DocumentationPoint::Argument { name, value, allowed, places } => {
                    let about = ops_api::Argument {
                        allowed: allowed.join(", "),
                        api: one.api,
                        documents,
                        given: format!("{name}={value}"),
                    }
                    .info();
                    found.push(
                        places
                            .iter()
                            .take(MOST_PLACES)
                            .fold(about, |found, place| found.evidence(evidence_at(place))),
                    );
                    continue;
                }
            };
            by_point.entry((limit, detail)).or_default().push(one);
        }
    }
    for ((limit, detail), mut apis) in by_point {
        apis.sort_by_key(|one| one.api);
        let mut names: Vec<&str> = apis.iter().map(|one| one.api).collect();
        names.dedup();
        let mut listed = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
        if names.len() > MOST_NAMES {
            listed.push_str(", …");
        }
        let (count, names) = (names.len(), listed);
        let mut about = match limit {
            Limit::Chip => ops_api::Chip { chip: detail, count, documents, names }.info(),
            Limit::Dtype => ops_api::Dtype { count, documents, dtype: detail, names }.info(),
            Limit::DtypeListed => {
                ops_api::DtypeListed { count, documents, dtype: detail, names }.info()
            }
            Limit::Fallback => ops_api::Fallback { count, documents, names }.info(),
            Limit::Registered => ops_api::Registered { count, documents, names }.info(),
            Limit::Unsupported => ops_api::Unsupported { count, documents, names }.info(),
        };
        let places = apis.iter().filter_map(|one| Some((one.places.first()?, one.api)));
        for (place, api) in places.take(MOST_PLACES) {
            let evidence: Evidence = evidence_at(place);
            about = about.evidence(evidence.value(api));
        }
        found.push(about);
    }
    report.findings.extend(found.into_iter().map(|found| Catalog::builtin().resolve(found)));
}

/// Returns the documented support of each API, next to the class of its operators.
pub(super) fn table(read: &[AuditedInput]) -> Option<Table> {
    let rows: Vec<Vec<Text>> = read
        .iter()
        .flat_map(|input| &input.documented)
        .map(|one| {
            vec![
                Text::same(one.api),
                said(one),
                one.registered.map_or_else(|| Text::same("–"), |class| class.label().text()),
                Text::same(one.places.first().map_or_else(String::new, Place::to_string)),
            ]
        })
        .collect();
    let head =
        [ui::OPS_HEAD_API, ui::OPS_HEAD_DOCUMENTS, ui::OPS_HEAD_REGISTERED, ui::OPS_HEAD_PLACE];
    (!rows.is_empty()).then(|| Table {
        title: ui::OPS_TABLE_DOCUMENTS.text(),
        head: head.map(ui::Label::text).to_vec(),
        rows,
    })
}

/// Describes the limits of an API in one line.
fn said(one: &LimitedApi) -> Text {
    if !one.supported {
        return ui::OPS_DOCUMENTS_NO.text();
    }
    let mut plain: Vec<String> = Vec::new();
    for (argument, types) in &one.dtypes {
        let types = types.join(" ");
        plain.push(if *argument == "*" { types } else { format!("{argument}: {types}") });
    }
    let mut both = Text::same(plain.join("; "));
    let mut add = |more: Text| {
        let glue = |text: &mut String, more: &str, between: &str| {
            if !text.is_empty() {
                text.push_str(between);
            }
            text.push_str(more);
        };
        glue(&mut both.en, &more.en, "; ");
        glue(&mut both.zh, &more.zh, "；");
    };
    if !one.not_listed.is_empty() {
        add(ui::OpsDocumentsChips { chips: one.not_listed.join(", ") }.text());
    }
    one.limits.iter().for_each(|words| add(Text::from(*words)));
    both
}
