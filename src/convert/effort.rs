//! Estimate of the hours of manual work that remain, by a fixed formula.
//!
//! The unit is one rule in one file, regardless of its number of places: understanding the first
//! place of a file is most of the work for the others.
//!
//! Hours = 0.05 for each rule in a file with changes that are only likely (for their review)
//!       + for each flagged rule its weight once, and a quarter of it for each further file;
//!         of a library an eightieth, since its replacement is found once
//!       + 16 for the first CUDA or C++ source with something flagged, and 4 for each further one,
//!         regardless of the rules: it is rewritten completely
//!       + 0.5 for each file that was left unchanged because of a problem.
//! The weight of a rule is 4 for a library, 1 for something without equivalent, 0.5 for something
//! with another meaning.

use std::collections::{BTreeMap, BTreeSet};

use serde::Serialize;

use super::plan::Plan;
use super::rules::{Class, Match, Rule};
use super::site::{Certainty, Decision};
use treeedit::kind::FileKind;

/// Hours in total and by kind of work.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Effort {
    /// The total, in hours.
    #[serde(serialize_with = "base::number::significant")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub hours: f64,
    /// For reviewing changes that are only likely.
    #[serde(serialize_with = "base::number::significant")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub review: f64,
    /// For flagged places.
    #[serde(serialize_with = "base::number::significant")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub flagged: f64,
    /// For files that were left unchanged because of a problem.
    #[serde(serialize_with = "base::number::significant")]
    #[cfg_attr(feature = "schema", schemars(with = "f64"))]
    pub files: f64,
}

/// Estimates the work that remains after `plan`.
pub fn effort(plan: &Plan) -> Effort {
    let mut likely = 0_u32;
    let mut left = 0_u32;
    let mut native = 0_u32;
    let mut met = BTreeSet::new();
    let mut flagged = 0.0;
    for file in &plan.files {
        left += u32::from(file.problem.is_some());
        // The rules of this file, with the work that their places need.
        let mut rules: BTreeMap<&str, (&Rule, bool, bool)> = BTreeMap::new();
        for site in &file.plan.sites {
            let (_, looked_at, worked_on) =
                rules.entry(site.rule.id).or_insert((site.rule, false, false));
            match site.decision {
                Decision::Changed => *looked_at |= site.certainty == Certainty::Likely,
                Decision::Flagged => *worked_on = true,
                Decision::Noted => {}
            }
        }
        likely += rules.values().map(|&(_, looked_at, _)| u32::from(looked_at)).sum::<u32>();
        let worked_on = rules.values().filter(|(_, _, worked_on)| *worked_on);
        if file.file.kind == FileKind::Native {
            native += u32::from(worked_on.count() > 0);
            continue;
        }
        for (rule, ..) in worked_on {
            let first = met.insert(rule.id);
            flagged += if first { weight(rule) } else { weight(rule) * further(rule) };
        }
    }
    let review = f64::from(likely) * 0.05;
    let files = f64::from(left) * 0.5;
    if native > 0 {
        flagged += 12.0 + 4.0 * f64::from(native);
    }
    Effort { hours: review + flagged + files, review, flagged, files }
}

fn weight(rule: &Rule) -> f64 {
    match (rule.how, rule.class) {
        (Match::Library, _) => 4.0,
        (_, Class::Missing) => 1.0,
        _ => 0.5,
    }
}

/// The share of its weight that a rule costs in each file after the first one.
fn further(rule: &Rule) -> f64 {
    if rule.how == Match::Library { 1.0 / 80.0 } else { 0.25 }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;
    use std::sync::Arc;

    use super::super::options::Options;
    use super::super::plan::plan_bytes;
    use super::super::python::Project;
    use super::*;
    use treeedit::walk::{Root, SourceFile};

    fn of(files: &[(&str, &str)]) -> Effort {
        let planned = files.iter().filter_map(|(name, text)| {
            let root = Arc::new(Root::new(".", "/", true));
            let file = SourceFile {
                path: PathBuf::from(name),
                relative: PathBuf::from(name),
                root,
                kind: FileKind::of_name(name)?,
                size: text.len() as u64,
                launch: false,
            };
            plan_bytes(&file, text.as_bytes().to_vec(), &Options::default(), &Project::default())
        });
        effort(&Plan { files: planned.collect(), ..Plan::default() })
    }

    #[test]
    fn many_places_in_a_file_do_not_make_a_year() {
        let kernel = "__global__ void add(float *x) { cudaMalloc(0, 1); x[0] += 1; }\n";
        let one = of(&[("a.cu", kernel)]);
        assert!((one.hours - 16.0).abs() < 1e-9, "{one:?}");
        assert_eq!(of(&[("a.cu", &kernel.repeat(500))]), one);
        let three = of(&[("a.cu", kernel), ("b.cu", kernel), ("c.cu", kernel)]);
        assert!((three.hours - 24.0).abs() < 1e-9, "{three:?}");
    }
}
