//! `LD_PRELOAD` that has no effect.

use super::value;
use crate::Context;
use base::report::Evidence;
use data::{Outcome, Reason, findings::env_preload};

/// What the linker says of each entry that it cannot load, and goes on without: `ld.so(8)`.
pub(super) fn preload(ctx: &Context<'_>) -> Outcome {
    let value = match value(ctx, "LD_PRELOAD") {
        Ok(value) => value,
        Err(outcome) => return outcome,
    };
    let link = &ctx.facts.link;
    // A copied tree without the system's libraries does not hold those that are preloaded.
    if link.probe("libc.so.6").is_none() {
        return Outcome::NotChecked(Reason::NotHere { what: "libc.so.6".to_owned() });
    }
    let found = |entry: &String| {
        env_preload::Refused { entry }.warning().evidence(Evidence::env("LD_PRELOAD").value(value))
    };
    let named = |entry: &&String| value.split([' ', ':']).any(|part| part == entry.as_str());
    link.preload_refused.iter().filter(named).map(found).collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;
    use crate::Profile;
    use data::Matrix;
    use facts::{Facts, ResolvedLibrary};

    fn judged(variable: Option<&str>, refused: &[&str], libc: bool) -> Outcome {
        let mut facts = Facts::default();
        facts.env.known = true;
        facts.env.vars.extend(variable.map(|value| ("LD_PRELOAD".to_owned(), value.to_owned())));
        facts.link.preload_refused = refused.iter().map(|&entry| entry.to_owned()).collect();
        let libc = libc.then(ResolvedLibrary::default);
        facts.link.probes = BTreeMap::from([("libc.so.6".to_owned(), libc)]);
        let matrix = Matrix::builtin();
        let profile = Profile::default();
        preload(&Context { matrix, ..Context::of(&facts, profile) })
    }

    #[test]
    fn only_what_the_variable_names_and_the_linker_refuses() {
        let value = Some("/a/libx.so libgomp.so.1");
        assert!(matches!(judged(None, &[], true), Outcome::NotApplicable(_)));
        assert!(matches!(judged(value, &[], true), Outcome::Passed));
        assert!(matches!(judged(value, &["/a/libx.so"], false), Outcome::NotChecked(_)));
        let Outcome::Found(found) = judged(value, &["/a/libx.so", "/of/the/file"], true) else {
            panic!("nothing is found");
        };
        assert_eq!(found.len(), 1);
    }
}
