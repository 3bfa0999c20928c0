//! What seems to be absent or broken, but may lie behind a directory that may not be looked into.
//!
//! Collectors ask whether something is there; behind a closed directory nothing is. A rule that
//! finds it missing would blame an installation for a permission. So a finding that what is closed
//! could explain is none: the rule gave no verdict.

use std::collections::{BTreeMap, BTreeSet};

use super::check::Area;
use super::scan::READ;
use super::{Check, Context, Family};
use base::report::{EvidenceKind, Found, Outcome};
use facts::{Closed, Facts, Problem, ProblemKind};

/// What a rule would have spoken about, by the reason why it does not apply.
fn absent(key: &str) -> &'static [Area] {
    match key {
        "no_cann" => &[Area::AnyCann],
        "no_nnal" => &[Area::Nnal],
        "no_driver" => &[Area::Driver],
        "no_libraries" => &[Area::Libraries],
        "no_package" | "no_torch" | "no_torch_npu" | "no_python" => &[Area::Packages],
        _ => &[],
    }
}

/// The outcome of a check without findings that what is closed could explain, and the places
/// that could.
fn without_doubtful(check: &Check, outcome: Outcome, facts: &Facts) -> (Outcome, Vec<String>) {
    if facts.closed.is_empty() || check.family == Family::Scan {
        return (outcome, Vec::new());
    }
    let mut places: Vec<String> = Vec::new();
    let mut blame = |closed: Option<&Closed>| -> bool {
        let Some(Closed { real: place, .. }) = closed else { return false };
        if !places.contains(place) {
            places.push(place.clone());
        }
        true
    };
    let outcome = match outcome {
        Outcome::Found(mut found) => {
            found.retain(|one| !blame(explanation(check, one, facts)));
            match (found.is_empty(), places.first()) {
                (true, Some(place)) => Outcome::blocked("unreadable", place),
                _ => Outcome::from_found(found),
            }
        }
        Outcome::NotApplicable(reason) => {
            let hidden = absent(reason.key).iter().find_map(|area| closed_in(*area, facts));
            if blame(hidden) {
                Outcome::blocked("unreadable", places.concat())
            } else {
                Outcome::NotApplicable(reason)
            }
        }
        Outcome::NotChecked(reason) => {
            let hidden = facts.closed.iter().find(|closed| closed.is_above(&reason.what));
            if reason.what.starts_with('/') && blame(hidden) {
                Outcome::blocked("unreadable", places.concat())
            } else {
                Outcome::NotChecked(reason)
            }
        }
        other @ (Outcome::Passed | Outcome::Blocked(_)) => other,
    };
    (outcome, places)
}

/// What a place that hid something amounts to, where nothing was said of it yet.
fn as_problem(place: &str) -> Problem {
    Problem {
        path: place.to_owned(),
        kind: ProblemKind::Denied,
        detail: "permission denied".to_owned(),
        barrier: Some(place.to_owned()),
        line: None,
    }
}

/// What is closed and could be why a rule found this.
fn explanation<'f>(check: &Check, found: &Found, facts: &'f Facts) -> Option<&'f Closed> {
    // Of the machine that the program runs on, what its user may not read is a finding by itself.
    if check.reports_access && facts.source == "live" {
        return None;
    }
    let files = found.evidence.iter().filter(|evidence| evidence.kind == EvidenceKind::File);
    let shown = files
        .filter(|evidence| evidence.source.trim_matches('/').contains('/'))
        .find_map(|evidence| facts.closed.iter().find(|closed| closed.hides(&evidence.source)));
    shown.or_else(|| check.areas.iter().find_map(|area| closed_in(*area, facts)))
}

fn closed_in(area: Area, facts: &Facts) -> Option<&Closed> {
    let cann = || facts.cann.active().or_else(|| facts.cann.newest());
    let paths: Vec<&str> = match area {
        Area::AnyCann => return facts.closed.iter().find(|closed| hides_a_cann(closed, facts)),
        Area::Cann if cann().is_none() => return closed_in(Area::AnyCann, facts),
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
            let hides = |closed: &Closed| packages.clone().any(|path| closed.hides(&path));
            if let Some(closed) = facts.closed.iter().find(|closed| hides(closed)) {
                return Some(closed);
            }
            all
        }
        Area::Record => {
            facts.python.dist("torch-npu").map(|dist| dist.path.as_str()).into_iter().collect()
        }
        // What is inside of one package hides no other.
        Area::Packages => {
            let dirs = &facts.python.site_dirs;
            return facts.closed.iter().find(|closed| dirs.iter().any(|dir| closed.is_above(dir)));
        }
    };
    facts.closed.iter().find(|closed| paths.iter().any(|path| closed.hides(path)))
}

/// Whether an installation of CANN may be there, or beside the driver and the like.
fn hides_a_cann(closed: &Closed, facts: &Facts) -> bool {
    const OTHERS: [&str; 4] = ["driver", "firmware", "develop", "nnal"];
    let named = facts.cann.env_paths.iter().filter(|path| path.real.is_none());
    let bases = facts.cann.bases.iter().map(String::as_str).chain(["/usr/local/Ascend"]);
    named.into_iter().any(|path| closed.hides(&path.entry))
        || bases.into_iter().any(|base| {
            closed.hides(base)
                && !OTHERS.iter().any(|other| closed.is_below(&format!("{base}/{other}")))
        })
}

/// What checks said, by their ids, and what is closed and hid from them what they looked for.
#[derive(Debug, Default)]
pub struct Answers {
    /// By id.
    pub outcomes: BTreeMap<&'static str, Outcome>,
    /// Places that may not be looked into.
    pub places: Vec<String>,
}

/// Runs the selected checks.
///
/// Where something is closed, the others run too: `SCAN-READ` tells what hid anything from any.
pub fn answers(context: &Context<'_>, selected: &[&'static Check]) -> Answers {
    let mut answers = Answers::default();
    let mut hidden = BTreeSet::new();
    let is_selected = |check: &Check| selected.iter().any(|one| one.id == check.id);
    let closed = !context.facts.closed.is_empty();
    for check in super::all().filter(|check| closed || is_selected(check)) {
        let (outcome, places) = without_doubtful(check, (check.run)(context), context.facts);
        if is_selected(check) {
            answers.outcomes.insert(check.id, outcome);
            let new = places.iter().filter(|place| !answers.places.contains(place));
            let new: Vec<String> = new.cloned().collect();
            answers.places.extend(new);
        }
        hidden.extend(places);
    }
    hidden.retain(|place| !context.facts.problems.iter().any(|known| known.place() == place));
    if !hidden.is_empty() && selected.iter().any(|check| check.id == READ.id) {
        let mut facts = context.facts.clone();
        facts.problems.extend(hidden.iter().map(|place| as_problem(place)));
        let outcome = (READ.run)(&Context { facts: &facts, ..*context });
        answers.outcomes.insert(READ.id, outcome);
        answers.places = hidden.into_iter().collect();
    }
    answers
}
