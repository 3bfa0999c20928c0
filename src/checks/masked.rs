//! Turns "missing" findings into "not checked" if an unreadable directory could mask the file.
//!
//! Collectors find no files below an unreadable directory, and a check that reports a missing file
//! would blame the installation for a permission. A finding that an unreadable directory could
//! explain is therefore replaced by the reason "unreadable".

use data::{Outcome, RawFinding, Reason};
use std::collections::{BTreeMap, BTreeSet};

use super::check::Area;
use super::scan::READ;
use super::{Check, Context, Family};
use base::report::EvidenceKind;
use facts::{Facts, Problem, ProblemKind, UnreadablePath};

/// Returns the places that a check searched, by the reason why it does not apply.
fn areas_of_reason(reason: &Reason) -> &'static [Area] {
    match reason {
        Reason::NoCann => &[Area::AnyCann],
        Reason::NoNnal => &[Area::Nnal],
        Reason::NoDriver => &[Area::Driver],
        Reason::NoLibraries => &[Area::Libraries],
        Reason::NoPackage { .. } | Reason::NoTorch | Reason::NoTorchNpu | Reason::NoPython => {
            &[Area::Packages]
        }
        _ => &[],
    }
}

/// Removes findings that an unreadable directory could explain. Returns the outcome and the
/// directories that could.
fn remove_doubtful(check: &Check, outcome: Outcome, facts: &Facts) -> (Outcome, Vec<String>) {
    if facts.unreadable.is_empty() || check.family == Family::Scan {
        return (outcome, Vec::new());
    }
    let mut places: Vec<String> = Vec::new();
    let mut blame = |closed: Option<&UnreadablePath>| -> bool {
        let Some(UnreadablePath { real: place, .. }) = closed else { return false };
        if !places.contains(place) {
            places.push(place.clone());
        }
        true
    };
    let outcome = match outcome {
        Outcome::Found(mut found) => {
            found.retain(|one| !blame(find_explanation(check, one, facts)));
            match (found.is_empty(), places.first()) {
                (true, Some(place)) => Outcome::Blocked(Reason::Unreadable { what: place.into() }),
                _ => Outcome::from_found(found),
            }
        }
        Outcome::FoundInPart(mut found, reason) => {
            found.retain(|one| !blame(find_explanation(check, one, facts)));
            Outcome::from_partial(found, Some(reason))
        }
        Outcome::NotApplicable(reason) => {
            let masking =
                areas_of_reason(&reason).iter().find_map(|area| find_unreadable(*area, facts));
            if blame(masking) {
                Outcome::Blocked(Reason::Unreadable { what: places.concat() })
            } else {
                Outcome::NotApplicable(reason)
            }
        }
        Outcome::NotChecked(reason) => {
            let path = reason.what().filter(|what| what.starts_with('/'));
            let masking =
                path.and_then(|path| facts.unreadable.iter().find(|one| one.is_above(path)));
            if blame(masking) {
                Outcome::Blocked(Reason::Unreadable { what: places.concat() })
            } else {
                Outcome::NotChecked(reason)
            }
        }
        other @ (Outcome::Passed | Outcome::Blocked(_)) => other,
    };
    (outcome, places)
}

/// Returns the problem to report for a directory that masked files.
fn problem_of_directory(place: &str) -> Problem {
    let denied = data::faults::Denied.value();
    Problem {
        path: place.to_owned(),
        kind: ProblemKind::Denied,
        detail: denied,
        barrier: Some(place.to_owned()),
        line: None,
    }
}

/// Returns the unreadable directory that could explain a finding.
fn find_explanation<'f>(
    check: &Check,
    found: &RawFinding,
    facts: &'f Facts,
) -> Option<&'f UnreadablePath> {
    // On a live machine, missing access of its user is the finding.
    if check.reports_access && facts.source == "live" {
        return None;
    }
    let files = found.evidence.iter().filter(|evidence| evidence.kind == EvidenceKind::File);
    let shown = files
        .filter(|evidence| evidence.source.trim_matches('/').contains('/'))
        .find_map(|evidence| facts.unreadable.iter().find(|closed| closed.hides(&evidence.source)));
    shown.or_else(|| check.areas.iter().find_map(|area| find_unreadable(*area, facts)))
}

/// Returns an unreadable directory that could mask content of `area`.
fn find_unreadable(area: Area, facts: &Facts) -> Option<&UnreadablePath> {
    let cann = || facts.cann.active().or_else(|| facts.cann.newest());
    let paths: Vec<&str> = match area {
        Area::AnyCann => {
            return facts.unreadable.iter().find(|closed| may_contain_cann(closed, facts));
        }
        Area::Cann if cann().is_none() => return find_unreadable(Area::AnyCann, facts),
        Area::Cann => cann().map(|install| install.path.as_str()).into_iter().collect(),
        Area::Nnal => {
            let home = ["ATB_HOME_PATH", "ASCEND_NNAL_HOME"];
            let mut all: Vec<&str> =
                home.iter().filter_map(|name| facts.env.non_empty(name)).collect();
            all.push("/usr/local/Ascend/nnal");
            all
        }
        Area::Driver => vec!["/usr/local/Ascend/driver", "/etc/ascend_install.info"],
        Area::Libraries => {
            let searched = facts.env.non_empty("LD_LIBRARY_PATH").unwrap_or_default();
            let mut all: Vec<&str> = searched.split(':').filter(|dir| dir.len() > 1).collect();
            all.extend(["/lib", "/lib64", "/usr/lib", "/usr/lib64", "/etc/ld.so.cache"]);
            all.extend(["/usr/local/Ascend/driver/lib64", "/usr/local/Ascend/nnal"]);
            all.extend(cann().map(|install| install.path.as_str()));
            let packages = facts.python.site_dirs.iter().flat_map(|dir| {
                ["torch", "torch_npu", "torch_npu.libs"].map(|package| format!("{dir}/{package}"))
            });
            let hides = |closed: &UnreadablePath| packages.clone().any(|path| closed.hides(&path));
            if let Some(closed) = facts.unreadable.iter().find(|closed| hides(closed)) {
                return Some(closed);
            }
            all
        }
        Area::Record => {
            facts.python.dist("torch-npu").map(|dist| dist.path.as_str()).into_iter().collect()
        }
        // A directory inside a package masks no other package.
        Area::Packages => {
            let dirs = &facts.python.site_dirs;
            return facts
                .unreadable
                .iter()
                .find(|closed| dirs.iter().any(|dir| closed.is_above(dir)));
        }
    };
    facts.unreadable.iter().find(|closed| paths.iter().any(|path| closed.hides(path)))
}

/// Returns whether `closed` could contain a CANN installation.
fn may_contain_cann(closed: &UnreadablePath, facts: &Facts) -> bool {
    const OTHERS: [&str; 4] = ["driver", "firmware", "develop", "nnal"];
    let named = facts.cann.env_paths.iter().filter(|path| path.real.is_none());
    let bases = facts.cann.bases.iter().map(String::as_str).chain(["/usr/local/Ascend"]);
    named.into_iter().any(|path| closed.hides(&path.entry))
        || bases.into_iter().any(|base| {
            closed.hides(base)
                && !OTHERS.iter().any(|other| closed.is_below(&format!("{base}/{other}")))
        })
}

/// Outcomes of checks, with those masked by unreadable directories removed.
#[derive(Debug, Default)]
pub(super) struct Outcomes {
    /// The outcomes by the ID of their check.
    pub(super) by_id: BTreeMap<&'static str, Outcome>,
    /// The directories that masked files, each with the affected check.
    pub(super) masking: Vec<(&'static Check, String)>,
}

/// Runs the selected checks.
///
/// If a directory is unreadable, the other checks run too, because `SCAN-READ` reports every
/// directory that masked files from any check.
pub(super) fn run_unmasked(context: &Context<'_>, selected: &[&'static Check]) -> Outcomes {
    let mut outcomes = Outcomes::default();
    let mut masking = BTreeSet::new();
    let is_selected = |check: &Check| selected.iter().any(|one| one.id == check.id);
    let closed = !context.facts.unreadable.is_empty();
    for check in super::all().filter(|check| closed || is_selected(check)) {
        let (outcome, places) = remove_doubtful(check, (check.run)(context), context.facts);
        if is_selected(check) {
            outcomes.by_id.insert(check.id.as_str(), outcome);
        }
        outcomes.masking.extend(places.iter().map(|place| (check, place.clone())));
        masking.extend(places);
    }
    masking.retain(|place| !context.facts.problems.iter().any(|known| known.place() == place));
    if !masking.is_empty() && selected.iter().any(|check| check.id == READ.id) {
        let mut facts = context.facts.clone();
        facts.problems.extend(masking.iter().map(|place| problem_of_directory(place)));
        let outcome = (READ.run)(&Context { facts: &facts, ..*context });
        outcomes.by_id.insert(READ.id.as_str(), outcome);
    }
    outcomes
}
