//! Search paths that let other users place code into a process.

use data::{Outcome, Reason, findings::env_pathsec};
use std::collections::BTreeSet;

use crate::Context;
use base::report::Evidence;
use facts::SearchEntry;

/// The sticky bit prevents others from replacing files, but not from adding them.
const OTHERS_WRITE: u32 = 0o002;

pub(super) fn paths(ctx: &Context<'_>) -> Outcome {
    let env = &ctx.facts.env;
    if !env.known {
        return Outcome::NotChecked(Reason::EnvUnknown);
    }
    let mut out = Vec::new();
    let mut seen = BTreeSet::new();
    for entry in env.entries.iter().filter(|entry| seen.insert((&entry.variable, &entry.entry))) {
        let value = env.get(&entry.variable).unwrap_or_default();
        let evidence = Evidence::env(&entry.variable).value(value);
        let (variable, place) = (&entry.variable, &entry.entry);
        let found = match fault(entry) {
            // set_env.sh leaves an empty entry at the end if the variable was not set before. Only
            // an entry between two others was set by a user.
            Some("empty") if !value.trim_matches(':').contains("::") => continue,
            Some("empty") => env_pathsec::Empty { variable, entry: place }.info(),
            // Common during development, and only modules imported by name are loaded from there.
            Some("relative") if entry.variable == "PYTHONPATH" => {
                env_pathsec::Relative { variable, entry: place }.info()
            }
            Some("relative") => env_pathsec::Relative { variable, entry: place }.warning(),
            Some(_) => env_pathsec::Writable { variable, entry: place }.warning(),
            None => continue,
        };
        out.push(match entry.owner {
            Some(owner) => found.evidence(
                Evidence::file(&entry.entry)
                    .value(format!("mode {:04o}, uid {}", owner.mode, owner.uid)),
            ),
            None => found.evidence(evidence),
        });
    }
    out.into()
}

fn fault(entry: &SearchEntry) -> Option<&'static str> {
    if entry.entry.is_empty() {
        // An empty entry of PYTHONPATH or LD_PRELOAD has no effect; in LD_LIBRARY_PATH it is the
        // working directory.
        return (entry.variable == "LD_LIBRARY_PATH").then_some("empty");
    }
    if !entry.entry.starts_with('/') {
        // ld.so searches a bare name of LD_PRELOAD on the search path.
        let bare = entry.variable == "LD_PRELOAD" && !entry.entry.contains('/');
        let origin = entry.entry.starts_with("$ORIGIN") || entry.entry.starts_with("${ORIGIN}");
        return (!bare && !origin).then_some("relative");
    }
    let loose = entry.owner.is_some_and(|owner| owner.mode & OTHERS_WRITE != 0);
    loose.then_some("writable")
}

#[cfg(test)]
mod tests {
    use super::*;
    use facts::NodeOwner;

    fn entry(variable: &str, entry: &str, mode: Option<u32>) -> SearchEntry {
        SearchEntry {
            variable: variable.to_owned(),
            entry: entry.to_owned(),
            exists: mode.is_some(),
            owner: mode.map(|mode| NodeOwner { mode, uid: 0, gid: 0 }),
        }
    }

    #[test]
    fn entries_are_judged() {
        let cases = [
            (entry("LD_LIBRARY_PATH", "/usr/lib", Some(0o755)), None),
            (entry("LD_LIBRARY_PATH", "/tmp", Some(0o1777)), Some("writable")),
            (entry("LD_LIBRARY_PATH", "", None), Some("empty")),
            (entry("PYTHONPATH", "", None), None),
            (entry("PYTHONPATH", "src", None), Some("relative")),
            (entry("LD_PRELOAD", "libgomp.so.1", None), None),
            (entry("LD_PRELOAD", "./x.so", None), Some("relative")),
        ];
        for (entry, expected) in cases {
            assert_eq!(fault(&entry), expected, "{entry:?}");
        }
    }
}
