//! Facts for tests of checks, built in a few words.

use data::Outcome;
use facts::{Dist, Facts, Interpreter};

/// An interpreter of this version in `/opt/py`, on aarch64.
pub(super) fn python(version: &str) -> Interpreter {
    Interpreter {
        path: "/opt/py/bin/python3".to_owned(),
        real: "/opt/py/bin/python3".to_owned(),
        version: Some(version.to_owned()),
        kind: "system".to_owned(),
        arch: Some("aarch64".to_owned()),
        prefix: "/opt/py".to_owned(),
        ..Interpreter::default()
    }
}

/// A complete distribution in the interpreter's site-packages; the name is normalized.
pub(super) fn dist(name: &str, version: &str) -> Dist {
    let site = "/opt/py/lib/python3.11/site-packages";
    Dist {
        name: name.to_owned(),
        version: version.to_owned(),
        path: format!("{site}/{}-{version}.dist-info", name.replace('-', "_")),
        site_dir: site.to_owned(),
        metadata_ok: true,
        has_record: true,
        ..Dist::default()
    }
}

/// An aarch64 machine with this interpreter and these distributions.
pub(super) fn facts_with(interpreter: Interpreter, dists: Vec<Dist>) -> Facts {
    let mut facts = Facts::default();
    facts.host.arch = Some("aarch64".to_owned());
    facts.python.site_dirs = vec!["/opt/py/lib/python3.11/site-packages".to_owned()];
    facts.python.interpreter = Some(interpreter);
    facts.python.dists = dists;
    facts
}

/// `severity ID message` of every finding; empty for a check that passed, and the key of the reason
/// for one that did not run.
pub(super) fn ids(outcome: Outcome) -> Vec<String> {
    match outcome {
        Outcome::Passed => Vec::new(),
        Outcome::Found(found) => found
            .iter()
            .map(|one| format!("{} {} {}", one.severity.as_str(), one.id, one.message))
            .collect(),
        Outcome::FoundInPart(found, reason) => {
            let mut all = ids(Outcome::Found(found));
            all.push(format!("blocked: {}", reason.key()));
            all
        }
        Outcome::NotApplicable(reason) => vec![format!("not applicable: {}", reason.key())],
        Outcome::NotChecked(reason) => vec![format!("not checked: {}", reason.key())],
        Outcome::Blocked(reason) => vec![format!("blocked: {}", reason.key())],
    }
}
