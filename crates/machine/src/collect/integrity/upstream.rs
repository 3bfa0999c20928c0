//! Comparison with the published wheel, or with the manifest of the user.

use super::compare::{Comparison, State, Target, below, compare_one, difference};
use super::{Options, count, listed};
use crate::sysroot::Sysroot;
use base::hash::Sha256;
use data::KnownWheels;
use facts::{Dist, FileDifference, Upstream};

/// The expected files.
#[derive(Debug, Default)]
struct Reference {
    wheel: String,
    record: Option<Sha256>,
    files: Vec<(String, u64, Sha256)>,
}

/// Compares with the manifest if there is one, else with the published wheel of this version,
/// interpreter and architecture. `record` is the digest of the installation's RECORD.
pub(super) fn compare(
    sysroot: &Sysroot,
    dist: &Dist,
    options: &Options,
    compared: &Comparison,
    record: Option<Sha256>,
) -> Upstream {
    let mut facts = Upstream { manifest: "built-in".to_owned(), ..Upstream::default() };
    let references = match &options.manifest {
        None => published(dist),
        Some(manifest) => {
            facts.manifest.clone_from(&manifest.origin);
            if manifest.version != dist.version {
                facts.wheel = Some(manifest.label());
                facts.verdict = "other_version".to_owned();
                return facts;
            }
            vec![Reference {
                wheel: manifest.label(),
                record: manifest.record,
                files: manifest.files.clone(),
            }]
        }
    };
    if references.is_empty() {
        facts.verdict = "unknown_version".to_owned();
        return facts;
    }
    if !options.hash {
        facts.verdict = "not_checked".to_owned();
        return facts;
    }
    let best = references
        .iter()
        .map(|reference| (reference, Result::new(sysroot, dist, reference, compared)))
        .min_by_key(|(_, result)| result.differing.len());
    let Some((reference, result)) = best else { return facts };
    facts.wheel = Some(reference.wheel.clone());
    facts.compared = count(reference.files.len());
    facts.record_matches =
        reference.record.and_then(|published| record.map(|mine| mine == published));
    facts.verdict = result.verdict(options.manifest.is_none(), facts.record_matches).to_owned();
    (facts.differing, facts.differing_total) = listed(result.differing);
    facts
}

/// The published wheels that this installation may come from.
fn published(dist: &Dist) -> Vec<Reference> {
    let mut found: Vec<Reference> = Vec::new();
    for tag in &dist.tags {
        let mut parts = tag.split('-');
        let (Some(python), Some(platform)) = (parts.next(), parts.nth(1)) else { continue };
        let Some(arch) = ["aarch64", "x86_64"].into_iter().find(|arch| platform.ends_with(arch))
        else {
            continue;
        };
        for wheel in KnownWheels::builtin().find(&dist.version, python, arch) {
            if found.iter().all(|known| known.wheel != wheel.name) {
                let (wheel, record, files) = (wheel.name, Some(wheel.record), wheel.files);
                found.push(Reference { wheel, record, files });
            }
        }
    }
    found
}

/// The result of the comparison with one reference.
#[derive(Debug, Default)]
struct Result {
    differing: Vec<FileDifference>,
    /// Number of libraries that equal the published ones.
    same_libraries: u32,
    /// Number of libraries that differ or are absent in agreement with the installation's RECORD.
    rebuilt_libraries: u32,
    partial: bool,
}

impl Result {
    fn new(sysroot: &Sysroot, dist: &Dist, reference: &Reference, compared: &Comparison) -> Self {
        let mut result = Self::default();
        for (path, size, hash) in &reference.files {
            let Some(path) = below(&dist.site_dir, path) else { continue };
            let target = Target { path, size: Some(*size), hash: Some(*hash), line: None };
            let (state, own) = match compared.get(&target.path) {
                Some(own) => (against(&target, own), Some(own)),
                None => (None, None),
            };
            let state = state.unwrap_or_else(|| compare_one(sysroot, &target));
            let library = is_library(&target.path);
            match (&state, own) {
                (State::Fine(..), _) => result.same_libraries += u32::from(library),
                (State::Partial(_), _) => result.partial = true,
                (State::Size(_) | State::Content(..), Some(State::Fine(..)))
                | (State::Missing, None) => result.rebuilt_libraries += u32::from(library),
                _ => {}
            }
            result.differing.extend(difference(&target, &state));
        }
        result
    }

    /// A manifest of the user describes the required build, so another build is a difference like
    /// any other.
    fn verdict(&self, published: bool, record_matches: Option<bool>) -> &'static str {
        if self.differing.is_empty() {
            return match (self.partial, record_matches) {
                (true, _) => "not_checked",
                (false, Some(false)) => "differs",
                (false, _) => "match",
            };
        }
        // Changing a published wheel leaves most of its libraries unchanged. A local build with the
        // same version number has no library in common with it.
        let rebuilt = self.same_libraries == 0 && self.rebuilt_libraries > 0;
        if published && rebuilt { "other_build" } else { "differs" }
    }
}

/// Derives the result of the comparison with `target` from that with RECORD; `None` if the content
/// was not hashed.
fn against(target: &Target, own: &State) -> Option<State> {
    let judge = |size: u64, hash: Sha256| {
        if target.size != Some(size) {
            State::Size(size)
        } else if target.hash != Some(hash) {
            State::Content(size, hash)
        } else {
            State::Fine(size, Some(hash))
        }
    };
    match own {
        State::Fine(size, Some(hash)) | State::Content(size, hash) => Some(judge(*size, *hash)),
        State::Fine(size, None) | State::Size(size) if target.size != Some(*size) => {
            Some(State::Size(*size))
        }
        State::Fine(_, None) | State::Size(_) => None,
        other => Some(other.clone()),
    }
}

fn is_library(path: &str) -> bool {
    path.ends_with(".so") || path.contains(".so.")
}
