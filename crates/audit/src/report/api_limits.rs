//! Findings and a table about documented limits of called APIs.

use std::collections::BTreeMap;

use base::chip::ChipFamily;
use base::report::{Evidence, Report, Table};
use base::text::Text;
use data::{Catalog, RawFinding, findings::ops_api, ui, words};

use super::input::{AuditedInput, evidence_at};
use crate::documented_limits::{DocumentationPoint, LimitedApi};
use crate::place::Place;

/// Places that one finding shows.
const MOST_PLACES: usize = 8;
/// APIs that are named in one sentence.
const MOST_NAMES: usize = 12;

/// Adds findings about the documented limits of one release.
pub(super) fn findings(
    report: &mut Report,
    read: &[AuditedInput],
    documents: &str,
    chip: Option<ChipFamily>,
) {
    let mut by_point: BTreeMap<(&'static str, &str), Vec<&LimitedApi>> = BTreeMap::new();
    let mut found: Vec<RawFinding> = Vec::new();
    for one in read.iter().flat_map(|input| &input.documented) {
        for point in &one.points {
            let (message, detail) = match point {
                DocumentationPoint::Agreed => continue,
                DocumentationPoint::Unsupported => ("unsupported", ""),
                DocumentationPoint::Registered => ("registered", ""),
                DocumentationPoint::MayFallBack => ("fallback", ""),
                DocumentationPoint::Chip => ("chip", chip.map_or("", ChipFamily::label)),
                DocumentationPoint::Dtype { dtype, listed_by_cann: true } => {
                    ("dtype_listed", dtype.as_str())
                }
                DocumentationPoint::Dtype { dtype, listed_by_cann: false } => {
                    ("dtype", dtype.as_str())
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
            by_point.entry((message, detail)).or_default().push(one);
        }
    }
    for ((message, detail), mut apis) in by_point {
        apis.sort_by_key(|one| one.api);
        let mut names: Vec<&str> = apis.iter().map(|one| one.api).collect();
        names.dedup();
        let mut said = names.iter().take(MOST_NAMES).copied().collect::<Vec<_>>().join(", ");
        if names.len() > MOST_NAMES {
            said.push_str(", …");
        }
        let mut about = RawFinding::info("OPS-API", message)
            .arg("names", said)
            .arg("count", names.len().to_string())
            .arg("documents", documents);
        match message {
            "chip" => about = about.arg("chip", detail),
            "dtype" | "dtype_listed" => about = about.arg("dtype", detail),
            _ => {}
        }
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
                one.registered.map_or_else(|| Text::same("–"), |class| words(class.word())),
                Text::same(one.places.first().map_or_else(String::new, Place::to_string)),
            ]
        })
        .collect();
    let head = ["ops_head_api", "ops_head_documents", "ops_head_registered", "ops_head_place"];
    (!rows.is_empty()).then(|| Table {
        title: ui::OPS_TABLE_DOCUMENTS.text(),
        head: head.map(words).to_vec(),
        rows,
    })
}

/// The limits of an API in one line.
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
        let args = [("chips", one.not_listed.join(", "))];
        add(data::sentence("ops_documents_chips", &args));
    }
    for (en, zh) in one.limits.iter().zip(&one.limits_zh) {
        add(Text { en: (*en).to_owned(), zh: (*zh).to_owned() });
    }
    both
}
