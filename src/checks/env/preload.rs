//! `LD_PRELOAD` entries without effect.

use super::value;
use crate::Context;
use base::report::Evidence;
use data::{Outcome, Reason, findings::env_preload};

const FILE: &str = "/etc/ld.so.preload";

/// Reports the entries that the linker cannot load. It prints an error for each and continues:
/// `ld.so(8)`.
pub(super) fn preload(ctx: &Context<'_>) -> Outcome {
    let link = &ctx.facts.link;
    let value = value(ctx, "LD_PRELOAD");
    let named = |entry: &str| {
        value.as_ref().is_ok_and(|value| value.split([' ', ':']).any(|part| part == entry))
    };
    let of_file = link.preload_refused.iter().any(|entry| !named(entry));
    if let (Err(outcome), false) = (&value, of_file) {
        return outcome.clone();
    }
    // A copied tree without the system's libraries does not contain the preloaded ones.
    if link.probe("libc.so.6").is_none() {
        return Outcome::NotChecked(Reason::NotHere { what: "libc.so.6".to_owned() });
    }
    let found = |entry: &String| match &value {
        Ok(value) if named(entry) => env_preload::Refused { entry }
            .warning()
            .evidence(Evidence::env("LD_PRELOAD").value(*value)),
        _ => env_preload::RefusedByFile { entry }
            .warning()
            .evidence(Evidence::file(FILE).value(entry)),
    };
    link.preload_refused.iter().map(found).collect::<Vec<_>>().into()
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
        let outcome = judged(None, &["/of/the/file"], true);
        assert!(matches!(outcome, Outcome::Found(found) if found.len() == 1));
        assert!(matches!(judged(value, &[], true), Outcome::Passed));
        assert!(matches!(judged(value, &["/a/libx.so"], false), Outcome::NotChecked(_)));
        let Outcome::Found(found) = judged(value, &["/a/libx.so", "/of/the/file"], true) else {
            panic!("nothing is found");
        };
        assert_eq!(found.len(), 2);
    }
}
