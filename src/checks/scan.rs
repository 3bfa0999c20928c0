//! Problems of the scan itself: files that could not be read or parsed.

use std::collections::BTreeMap;

use data::{
    Outcome, Reason,
    findings::{cann_owner, scan_data, scan_format, scan_read},
};

use super::{Check, Context, Family};
use base::report::Evidence;
use facts::{Problem, ProblemKind, is_below};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    READ,
    Check::new(Family::Scan, scan_format::ID, format),
    Check::new(Family::Scan, scan_data::ID, data_age),
];

/// The age in days above which the tables are reported.
const OLD: u64 = 120;

/// Reports unreadable files and directories, also for the other checks.
pub(super) const READ: Check = Check::new(Family::Scan, scan_read::ID, read);

/// Creates one finding for each unreadable directory, regardless of the number of hidden files.
fn read(ctx: &Context<'_>) -> Outcome {
    let mut places: BTreeMap<&str, Vec<&Problem>> = BTreeMap::new();
    for problem in &ctx.facts.problems {
        if problem.kind != ProblemKind::Malformed {
            places.entry(problem.place()).or_default().push(problem);
        }
    }
    let found = places.into_iter().map(|(place, problems)| {
        let first = problems[0];
        let found = if problems.iter().any(|problem| problem.barrier.is_some()) {
            scan_read::Closed { path: place }.warning()
        } else if first.kind == ProblemKind::Denied {
            scan_read::Denied { path: place }.warning()
        } else {
            scan_read::Unreadable { path: place, detail: first.detail.clone() }.warning()
        };
        // If the workload cannot read it either, that is the finding.
        let known = ctx.facts.cann.installs.iter().flat_map(|install| &install.unreadable);
        let owner = known.into_iter().any(|path| is_below(path, place) || is_below(place, path));
        let found = if owner { found.because(&[cann_owner::ID]) } else { found };
        problems.into_iter().fold(found, |found, problem| {
            found.evidence(
                Evidence::file(&problem.path).line_if(problem.line).says(problem.detail.clone()),
            )
        })
    });
    found.collect::<Vec<_>>().into()
}

fn format(ctx: &Context<'_>) -> Outcome {
    let found = ctx.facts.problems.iter().filter(|problem| problem.kind == ProblemKind::Malformed);
    found
        .map(|problem| {
            scan_format::Malformed { detail: problem.detail.clone(), path: &problem.path }
                .warning()
                .evidence(
                    Evidence::file(&problem.path)
                        .line_if(problem.line)
                        .says(problem.detail.clone()),
                )
        })
        .collect::<Vec<_>>()
        .into()
}

/// Newer releases are missing in old tables, which then report them as "not listed".
fn data_age(ctx: &Context<'_>) -> Outcome {
    let Some(days) = ctx.data_age else { return Outcome::NotChecked(Reason::NoClock) };
    if days <= OLD {
        return Outcome::Passed;
    }
    let found = scan_data::Old { date: data::as_of(), days }
        .info()
        .evidence(Evidence::data("sources.toml: as_of").value(data::as_of()));
    vec![found].into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use facts::Facts;

    #[test]
    fn data_is_old_after_120_days() {
        let facts = Facts::default();
        let context = Context::of(&facts, Profile::General);
        for (age, found) in [(None, 0), (Some(0), 0), (Some(120), 0), (Some(121), 1)] {
            let outcome = data_age(&Context { data_age: age, ..context });
            let count = match outcome {
                Outcome::Found(found) => found.len(),
                _ => 0,
            };
            assert_eq!(count, found, "{age:?}");
        }
    }

    #[test]
    fn what_a_closed_directory_hides_is_one_finding() {
        let problem = |path: &str, barrier: Option<&str>| Problem {
            path: path.to_owned(),
            kind: ProblemKind::Denied,
            detail: base::text::Text::same("permission denied"),
            barrier: barrier.map(str::to_owned),
            line: None,
        };
        let facts = Facts {
            problems: vec![
                problem("/etc/hccn.conf", None),
                problem("/usr/local/Ascend/driver/version.info", Some("/usr/local/Ascend")),
                problem("/usr/local/Ascend/nnal/atb", Some("/usr/local/Ascend")),
            ],
            ..Facts::default()
        };
        let Outcome::Found(found) = read(&Context::of(&facts, Profile::General)) else { panic!() };
        let shown: Vec<(&str, usize)> =
            found.iter().map(|found| (found.message, found.evidence.len())).collect();
        assert_eq!(shown, [("denied", 1), ("closed", 2)]);
    }
}
