//! How long people will need for what is left: an estimate, by a formula that is written down.
//!
//! Hours = 0.05 for each change that is only likely (somebody looks at it)
//!       + for each flagged rule its weight once, and a quarter of it for each further place;
//!         of a library an eightieth, since what replaces it is found once
//!       + 0.5 for each file that was left alone.
//! The weight of a rule is 16 for a CUDA kernel or a C++ extension, 4 for a library, 1 for
//! something without equivalent, 0.5 for something with another meaning.

use std::collections::BTreeMap;

use serde::Serialize;

use super::kind::FileKind;
use super::plan::Plan;
use super::rules::{Class, Match, Rule};
use super::site::{Certainty, Decision};

/// Hours, and what they are for.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub struct Effort {
    /// All of it, in hours.
    pub hours: f64,
    /// For looking at changes that are only likely.
    pub review: f64,
    /// For what is flagged.
    pub flagged: f64,
    /// For files that were left alone.
    pub files: f64,
}

/// Estimates what is left to do after `plan`.
pub fn effort(plan: &Plan) -> Effort {
    let mut likely = 0_u32;
    let mut left = 0_u32;
    let mut flagged: BTreeMap<&str, (f64, f64, u32)> = BTreeMap::new();
    for file in &plan.files {
        left += u32::from(file.problem.is_some());
        for site in &file.plan.sites {
            match site.decision {
                Decision::Changed => likely += u32::from(site.certainty == Certainty::Likely),
                Decision::Flagged => {
                    let weight = weight(site.rule, file.file.kind);
                    let further = weight / if site.rule.how == Match::Library { 80. } else { 4. };
                    flagged.entry(site.rule.id).or_insert((weight - further, further, 0)).2 += 1;
                }
                Decision::Noted => {}
            }
        }
    }
    let review = f64::from(likely) * 0.05;
    let files = f64::from(left) * 0.5;
    let flagged =
        flagged.values().map(|&(first, further, places)| first + further * f64::from(places)).sum();
    Effort { hours: review + flagged + files, review, flagged, files }
}

fn weight(rule: &Rule, kind: FileKind) -> f64 {
    match (rule.how, rule.class) {
        _ if kind == FileKind::Native => 16.0,
        (Match::Library, _) => 4.0,
        (_, Class::Missing) => 1.0,
        _ => 0.5,
    }
}
