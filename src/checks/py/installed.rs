//! `PY-DUP`: packages are installed once, and completely.

use data::{
    FindingId, Outcome, RawFinding, Reason,
    findings::{py_dup, tnpu_record, triton_conflict},
};
use std::collections::BTreeMap;

use crate::{Context, pep};
use base::report::{Evidence, Severity};
use facts::{Dist, Facts, is_of_tests};

/// Distributions whose shadowing matters. Other distributions often exist several times without
/// harm.
const STACK: &[&str] = &[
    "mindspore",
    "numpy",
    "torch",
    "torch-npu",
    "transformers",
    "triton-ascend",
    "vllm",
    "vllm-ascend",
];

pub(super) fn check(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    if python.interpreter.is_none() && python.dists.is_empty() {
        return Outcome::NotApplicable(Reason::NoPython);
    }
    let mut by_name: BTreeMap<&str, Vec<&Dist>> = BTreeMap::new();
    for dist in &python.dists {
        by_name.entry(&dist.name).or_default().push(dist);
    }
    let mut found = Vec::new();
    for (name, dists) in &by_name {
        found.extend(twice(ctx.facts, dists));
        if STACK.contains(name) {
            found.extend(hidden(ctx.facts, dists));
        }
    }
    for dist in &python.dists {
        found.extend(broken(ctx.facts, dist));
    }
    found.extend(remains(ctx.facts));
    for name in ["torch", "torch-npu"] {
        found.extend(python.dist(name).and_then(|dist| gone(ctx.facts, dist)));
    }
    found.into()
}

/// Two `dist-info` of one name in one directory: an interrupted upgrade.
fn twice(facts: &Facts, dists: &[&Dist]) -> Option<RawFinding> {
    let is_info = |dist: &&&Dist| dist.path.ends_with(".dist-info");
    let first = dists.iter().find(is_info)?;
    let same: Vec<&&Dist> =
        dists.iter().filter(is_info).filter(|dist| dist.site_dir == first.site_dir).collect();
    if same.len() < 2 {
        return None;
    }
    let versions: Vec<&str> = same.iter().map(|dist| dist.version.as_str()).collect();
    let mut one = py_dup::Twice {
        name: &first.name,
        versions: versions.join(", "),
        site: &first.site_dir,
        paths: same.iter().map(|dist| dist.path.as_str()).collect::<Vec<_>>().join(" "),
        interpreter: facts.python.command(),
    }
    .warning();
    for dist in same {
        one = one.evidence(dist.version_place());
    }
    Some(one)
}

/// Finds a package in the user's own directory, or in `PYTHONPATH`, before another version of it.
fn hidden(facts: &Facts, dists: &[&Dist]) -> Option<RawFinding> {
    let interpreter = facts.python.interpreter.as_ref()?;
    let (first, rest) = dists.split_first()?;
    let other = rest
        .iter()
        .find(|dist| dist.site_dir != first.site_dir && dist.version != first.version)?;
    let inside = |dir: &str| {
        dir.strip_prefix(interpreter.prefix.as_str()).is_some_and(|rest| rest.starts_with('/'))
    };
    // Packages in the interpreter's own prefix are meant to be found first.
    let own = inside(&first.site_dir) || interpreter.kind == "venv" && inside(&first.site_dir);
    let intruder = !own
        && !first.site_dir.starts_with("/usr/")
        && first.editable.is_none()
        && other.editable.is_none()
        && first.path.ends_with(".dist-info");
    // A torch that a user installed over that of an image, next to the image's torch_npu.
    let breaks = first.name == "torch" && crate::torch::is_right_one(facts, &other.version);
    let severity = if breaks { Severity::Error } else { Severity::Warning };
    intruder.then(|| {
        py_dup::Hidden {
            hidden: &other.version,
            hidden_dir: &other.site_dir,
            name: &first.name,
            used: &first.version,
            used_dir: &first.site_dir,
        }
        .at(severity)
        .evidence(first.version_place())
        .evidence(other.version_place())
    })
}

/// Finds an incomplete distribution.
fn broken(facts: &Facts, dist: &Dist) -> Option<RawFinding> {
    let because: &[FindingId] = match dist.name.as_str() {
        "torch-npu" => &[tnpu_record::ID],
        name if name.contains("triton") => &[triton_conflict::ID],
        _ => &[],
    };
    if dist.name.starts_with('~') || dist.path.rsplit('/').next()?.starts_with('~') {
        return Some(
            py_dup::Leftover { path: &dist.path }.info().evidence(Evidence::file(&dist.path)),
        );
    }
    if !dist.metadata_ok {
        return Some(
            py_dup::NoMetadata { name: &dist.name, path: &dist.path }
                .warning()
                .evidence(Evidence::file(&dist.path))
                .because(because),
        );
    }
    if dist.missing_files == 0 {
        return None;
    }
    // Images often omit tests. Other missing files fail on import, and most of the stack is
    // imported at startup.
    let breaks = dist.missing_sample.iter().any(|path| !is_of_tests(path));
    let severity = match (breaks, STACK.contains(&dist.name.as_str())) {
        (false, _) => Severity::Info,
        (true, true) => Severity::Error,
        (true, false) => Severity::Warning,
    };
    let one = py_dup::Incomplete {
        name: &dist.name,
        version: &dist.version,
        missing: dist.missing_files,
        listed: dist.listed_files,
        first: dist.missing_sample.first().map_or("", String::as_str),
        interpreter: facts.python.command(),
    }
    .at(severity)
    .because(because);
    Some(dist.missing_places(dist.missing_sample.len()).into_iter().fold(one, RawFinding::evidence))
}

/// Finds a directory of triton without triton. It can be imported as a namespace, so torch treats
/// triton as installed. torch_npu 2.8 and later then import a module of it and fail (measured with
/// 2.8.0.post2; vllm-ascend PR#9249 with 2.10.0).
fn remains(facts: &Facts) -> Option<RawFinding> {
    let dir = facts.python.vllm.triton_remains.as_ref()?;
    let npu = pep::version(&facts.python.dist("torch-npu")?.version)?;
    let severity =
        if npu.release() >= [2, 8].as_slice() { Severity::Error } else { Severity::Warning };
    let found = py_dup::Remains { dir, version: npu.to_string() };
    Some(found.at(severity).evidence(Evidence::file(dir)))
}

/// Finds metadata without a package next to it, and without a RECORD that could list its files.
fn gone(facts: &Facts, dist: &Dist) -> Option<RawFinding> {
    let module = dist.name.replace('-', "_");
    let there = facts.python.torch.dirs.contains_key(&module);
    (!there && dist.listed_files == 0 && dist.editable.is_none() && dist.metadata_ok).then(|| {
        py_dup::Gone {
            name: &dist.name,
            version: &dist.version,
            package: format!("{}/{module}", dist.site_dir),
            interpreter: facts.python.command(),
        }
        .warning()
        .evidence(Evidence::file(&dist.path))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};

    fn run(dists: Vec<Dist>) -> Vec<String> {
        let mut facts = facts_with(python("3.11"), dists);
        for name in ["torch", "torch_npu"] {
            facts.python.torch.dirs.insert(name.to_owned(), format!("/s/{name}"));
        }
        ids(check(&Context::of(&facts, Profile::General)))
    }

    fn elsewhere(mut dist: Dist, dir: &str) -> Dist {
        dist.path = format!("{dir}/{}", dist.path.rsplit('/').next().unwrap());
        dir.clone_into(&mut dist.site_dir);
        dist
    }

    #[test]
    fn two_dist_infos_of_one_name() {
        let two = vec![dist("torch-npu", "2.7.1"), dist("torch-npu", "2.6.0")];
        assert_eq!(run(two), ["warning PY-DUP twice"]);
        assert_eq!(run(vec![dist("torch", "2.7.1"), dist("torch-npu", "2.7.1")]), [""; 0]);
    }

    #[test]
    fn the_users_directory_hides_another_version() {
        let user = "/home/u/.local/lib/python3.11/site-packages";
        let mine = || elsewhere(dist("torch", "2.9.0"), user);
        assert_eq!(run(vec![mine(), dist("torch", "2.7.1")]), ["warning PY-DUP hidden"]);
        assert_eq!(run(vec![mine(), dist("torch", "2.9.0")]), [""; 0], "the same version");
        assert_eq!(run(vec![mine()]), [""; 0]);
        let base = elsewhere(dist("torch", "2.1.0"), "/usr/lib/python3/dist-packages");
        assert_eq!(run(vec![dist("torch", "2.7.1"), base]), [""; 0], "as a venv hides its base");
    }

    #[test]
    fn half_installed_packages_are_named() {
        let mut bare = dist("vllm", "0.11.0");
        bare.metadata_ok = false;
        assert_eq!(run(vec![bare]), ["warning PY-DUP no_metadata"]);
        let mut thin = dist("scipy", "1.11");
        (thin.listed_files, thin.missing_files) = (100, 2);
        thin.missing_sample = vec!["/s/scipy/tests/a.py".to_owned()];
        assert_eq!(run(vec![thin.clone()]), ["info PY-DUP incomplete"]);
        thin.missing_sample = vec!["/s/scipy/a.so".to_owned()];
        assert_eq!(run(vec![thin.clone()]), ["warning PY-DUP incomplete"]);
        "torch".clone_into(&mut thin.name);
        assert_eq!(run(vec![thin]), ["error PY-DUP incomplete"]);
        let gone = facts_with(python("3.11"), vec![dist("torch-npu", "2.7.1")]);
        let outcome = check(&Context::of(&gone, Profile::General));
        assert_eq!(ids(outcome), ["warning PY-DUP gone"]);
    }
}
