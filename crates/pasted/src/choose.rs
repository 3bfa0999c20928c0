//! Chooses at most one value for each name.

use std::collections::BTreeMap;

use crate::candidate::{Candidate, Rank, Reason};
use crate::forms::Found;
use crate::labels::ORDER;
use crate::{Conflict, Other, Pasted, Stated};

/// Derives facts from candidates.
pub(crate) fn choose(found: Found) -> Pasted {
    let mut pasted = Pasted { chips: found.chips, forms: found.forms, ..Pasted::default() };
    pasted.forms.sort_unstable();
    let mut names: Vec<&str> = Vec::new();
    let mut groups: BTreeMap<&str, Vec<&Candidate>> = BTreeMap::new();
    for candidate in &found.candidates {
        let group = groups.entry(candidate.name.as_str()).or_default();
        if group.is_empty() {
            names.push(&candidate.name);
        }
        group.push(candidate);
    }
    names.sort_by_key(|name| ORDER.iter().position(|known| known == name).unwrap_or(ORDER.len()));
    for name in names {
        if let Some(group) = groups.get(name) {
            group_facts(name, group, &mut pasted);
        }
    }
    pasted
}

fn group_facts(name: &str, group: &[&Candidate], pasted: &mut Pasted) {
    let free = || group.iter().copied().filter(|candidate| candidate.doubt.is_none());
    let chosen = free().map(|candidate| candidate.rank).max().and_then(|rank| {
        let best: Vec<&Candidate> = free().filter(|candidate| candidate.rank == rank).collect();
        if rank == Rank::Installed {
            // Each installation replaces the previous one.
            return best.last().copied();
        }
        let first = *best.first()?;
        // The most detailed of several compatible values.
        let longest = best.iter().copied().fold(first, |longest, one| {
            if one.value.len() > longest.value.len() && extends(name, &one.value, &longest.value) {
                one
            } else {
                longest
            }
        });
        if !best.iter().all(|one| extends(name, &longest.value, &one.value)) {
            let mut values: Vec<Stated> = Vec::new();
            for one in best {
                if !values.iter().any(|value| same(&value.value, &one.value)) {
                    values.push(stated(one));
                }
            }
            pasted.conflicts.push(Conflict { name: name.to_owned(), values });
            return None;
        }
        if rank > Rank::Written {
            return Some(longest);
        }
        // Authors often shorten values. A path or a file name contains the rest.
        let detail = free()
            .filter(|one| one.rank >= Rank::Derived && matches!(name, "python" | "cann" | "npu"))
            .find(|one| {
                one.value.len() > longest.value.len() && extends(name, &one.value, &longest.value)
            });
        Some(detail.unwrap_or(longest))
    });
    let mut told: Vec<(&str, Option<Reason>)> = Vec::new();
    for candidate in group {
        if chosen.is_some_and(|chosen| same(&chosen.value, &candidate.value)) {
            continue;
        }
        let reason = match (candidate.doubt, chosen) {
            (Some(reason), _) => reason,
            (None, Some(_)) => Reason::Weaker,
            (None, None) => Reason::Conflicting,
        };
        if told.iter().any(|(value, seen)| *value == candidate.value && *seen == Some(reason)) {
            continue;
        }
        told.push((&candidate.value, Some(reason)));
        pasted.other.push(Other { stated: stated(candidate), reason });
    }
    if let Some(chosen) = chosen {
        pasted.facts.push(stated(chosen));
    }
}

fn stated(candidate: &Candidate) -> Stated {
    Stated {
        name: candidate.name.clone(),
        value: candidate.value.clone(),
        line: candidate.line,
        form: candidate.form,
    }
}

fn same(one: &str, other: &str) -> bool {
    one.eq_ignore_ascii_case(other)
}

/// Returns whether `long` is `short` with more detail: `3.10.16` of `3.10`, `910B3` of `Ascend
/// 910B`.
fn extends(name: &str, long: &str, short: &str) -> bool {
    if name.starts_with("env.") {
        return long == short;
    }
    if name == "image" {
        return long == short || is_image_of(long, short);
    }
    let (long, short) = (comparable(name, long), comparable(name, short));
    let Some(rest) = long.strip_prefix(short.as_str()) else { return false };
    match name {
        "npu" | "os" | "server" | "kernels" => true,
        _ => rest.is_empty() || rest.starts_with(['.', '+']),
    }
}

/// Returns whether `short` is the image `long` without its registry: `vllm-ascend:v0.9.1` of
/// `quay.io/ascend/vllm-ascend:v0.9.1-openeuler`.
fn is_image_of(long: &str, short: &str) -> bool {
    if short.contains('/') {
        return false;
    }
    let rest = long.rsplit_once('/').and_then(|(_, image)| image.strip_prefix(short));
    rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('-'))
}

fn comparable(name: &str, value: &str) -> String {
    let value = value.to_ascii_lowercase();
    match name {
        "npu" => value.replace("ascend", "").replace("atlas", "").replace([' ', '_', '-'], ""),
        "server" => value.replace("atlas", "").replace(' ', ""),
        "os" => value.replace([' ', '(', ')'], ""),
        _ => value.trim_start_matches('v').to_owned(),
    }
}
