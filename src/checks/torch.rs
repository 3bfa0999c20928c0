//! torch: its version compared with the one that torch_npu was built for, its build, and backends
//! that conflict with torch_npu.

use data::{
    Outcome, Reason,
    findings::{py_dup, torch_backends, torch_cuda, torch_version},
};
use pep440_rs::Version;

use super::{Check, Context, Family, pep};
use base::report::Evidence;
use facts::{Dist, EntryPoint, Facts};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Torch, torch_version::ID, version),
    Check::new(Family::Torch, torch_cuda::ID, cuda),
    Check::new(Family::Torch, torch_backends::ID, backends),
];

/// Backends that, like torch_npu, use the single device slot of PyTorch for external backends
/// (`PrivateUse1`): two of them cannot be loaded together.
const PRIVATE_USE: &[&str] = &["torch_mlu", "torch_musa"];

/// The torch that torch_npu requires, as text, and whether the installed torch matches.
struct Wanted {
    text: String,
    met: bool,
}

fn wanted(facts: &Facts, npu: &Dist, torch: &Version) -> Option<Wanted> {
    let env = pep::environment(facts);
    let declared = env.as_ref().and_then(|env| {
        let mut all = npu.requires.iter().filter_map(|line| pep::requirement(line, env));
        all.find(|requirement| requirement.name == "torch" && !requirement.spec.is_empty())
    });
    if let Some(requirement) = declared {
        // A nightly of torch_npu is built for a nightly of torch, and a torch built from its
        // sources has a version such as 2.7.1a0+gitabc. A release candidate is another version.
        let is_nightly = || pep::version(&npu.version).is_some_and(|npu| npu.any_prerelease());
        let is_own =
            || torch.local().first().is_some_and(|part| part.to_string().starts_with("git"));
        let met = pep::satisfies_without_local(&requirement.spec, torch)
            || pep::same_release(&requirement.spec, torch)
                && (!torch.any_prerelease() || is_own() || is_nightly());
        return Some(Wanted { text: requirement.spec.to_string(), met });
    }
    // Without a declaration, the version identifies the torch: 2.7.1.post2 is built for torch
    // 2.7.1.
    let base = pep::version(&npu.version)?.only_release();
    let met = pep::release(&base) == pep::release(torch);
    Some(Wanted { text: format!("=={base}"), met })
}

/// Returns whether a torch of this version would match torch_npu, if the installed one does not.
pub(super) fn is_right_one(facts: &Facts, other: &str) -> bool {
    let npu = facts.python.dist("torch-npu");
    let met = |version: &str| wanted(facts, npu?, &pep::version(version)?).map(|wanted| wanted.met);
    let installed = facts.python.dist("torch").and_then(|torch| met(&torch.version));
    installed == Some(false) && met(other) == Some(true)
}

fn version(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let Some(npu) = python.dist("torch-npu") else {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    };
    let npu_evidence = || {
        let requires = npu.requires.iter().find(|line| line.starts_with("torch"));
        requires.map_or_else(
            || npu.place("Version").value(format!("Version: {}", npu.version)),
            |line| npu.requirement(line).value(format!("Requires-Dist: {line}")),
        )
    };
    let base = pep::version(&npu.version).map(|version| version.only_release().to_string());
    let Some(torch) = python.dist("torch") else {
        if python.torch.dirs.contains_key("torch") {
            return Outcome::NotChecked(Reason::VersionUnknown { what: "torch".to_owned() });
        }
        return vec![
            torch_version::Missing {
                torch_npu: &npu.version,
                base: base.unwrap_or_default(),
                interpreter: python.command(),
            }
            .error()
            .evidence(npu_evidence()),
        ]
        .into();
    };
    // The package's own file is more reliable than its metadata, because one package may have
    // overwritten another.
    let imported = python.torch.version_py.as_deref().filter(|text| pep::version(text).is_some());
    let installed = imported.unwrap_or(&torch.version);
    let Some(parsed) = pep::version(installed) else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "torch".to_owned() });
    };
    let Some(wanted) = wanted(ctx.facts, npu, &parsed) else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "torch_npu".to_owned() });
    };
    if wanted.met {
        return Outcome::Passed;
    }
    let source = imported
        .and_then(|_| python.torch.version_place("__version__"))
        .unwrap_or_else(|| torch.place("Version"));
    let found = torch_version::Differs {
        torch: installed,
        torch_npu: &npu.version,
        wanted: &wanted.text,
        base: base.unwrap_or_default(),
        interpreter: python.command(),
    }
    .error()
    .evidence(npu_evidence())
    .evidence(source.value(installed));
    // The matching torch is installed but hidden.
    let hidden = python.all_dists("torch").any(|dist| is_right_one(ctx.facts, &dist.version));
    vec![if hidden { found.because(&[py_dup::ID]) } else { found }].into()
}

fn cuda(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    if python.dist("torch-npu").is_none() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let Some(torch) = python.dist("torch") else { return Outcome::NotApplicable(Reason::NoTorch) };
    let nvidia: Vec<&Dist> = python
        .dists
        .iter()
        .filter(|dist| dist.name.starts_with("nvidia-") && dist.name.contains("-cu"))
        .collect();
    let built = python.torch.cuda.as_deref().filter(|cuda| !cuda.is_empty());
    let by_name = || {
        pep::version(&torch.version)?.local().iter().map(ToString::to_string).find(|part| {
            part.strip_prefix("cu")
                .is_some_and(|rest| rest.starts_with(|c: char| c.is_ascii_digit()))
        })
    };
    if let Some(cuda) = built.map(str::to_owned).or_else(by_name) {
        let release = pep::version(&torch.version)
            .map_or_else(|| torch.version.clone(), |version| version.only_release().to_string());
        let interpreter = python.command();
        let mut found =
            torch_cuda::Build { torch: &torch.version, cuda: &cuda, release, interpreter }
                .warning()
                .evidence(match python.torch.version_place("cuda") {
                    Some(place) if built.is_some() => place.value(format!("cuda = '{cuda}'")),
                    _ => torch.version_place(),
                });
        for dist in nvidia.iter().take(3) {
            found = found.evidence(dist.version_place());
        }
        return vec![found].into();
    }
    let Some(first) = nvidia.first() else { return Outcome::Passed };
    vec![
        torch_cuda::Leftover { count: nvidia.len(), first: &first.name }
            .info()
            .evidence(first.version_place()),
    ]
    .into()
}

fn backends(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    if python.dist("torch-npu").is_none() {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    }
    let mut found = Vec::new();
    for dist in &python.dists {
        for EntryPoint { group, name, value, line } in &dist.entry_points {
            let module = value.split([':', '.']).next().unwrap_or(value).trim();
            if group != "torch.backends" || module == "torch_npu" {
                continue;
            }
            let (package, interpreter) = (&dist.name, python.command());
            let one = if PRIVATE_USE.contains(&module) {
                torch_backends::Rival { interpreter, name, package }.warning()
            } else {
                torch_backends::Other { name, package }.info()
            };
            found.push(
                one.evidence(
                    Evidence::file(dist.entry_points_path())
                        .line_if(*line)
                        .value(format!("{name} = {value}")),
                ),
            );
        }
    }
    if ctx.facts.env.get("TORCH_DEVICE_BACKEND_AUTOLOAD") == Some("0") {
        found.push(
            torch_backends::Autoload
                .info()
                .evidence(Evidence::env("TORCH_DEVICE_BACKEND_AUTOLOAD").value("0")),
        );
    }
    found.into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};

    fn run(check: fn(&Context<'_>) -> Outcome, facts: &Facts) -> Vec<String> {
        ids(check(&Context::of(facts, Profile::General)))
    }

    fn pair(torch: &str, npu: &str, requires: &[&str]) -> Facts {
        let mut npu = dist("torch-npu", npu);
        npu.requires = requires.iter().map(|&line| line.to_owned()).collect();
        facts_with(python("3.11.13"), vec![dist("torch", torch), npu])
    }

    #[test]
    fn the_declared_torch_decides() {
        let good = vec![
            pair("2.9.0", "2.9.0", &["torch==2.9.0+cpu"]),
            pair("2.9.0+cpu", "2.9.0", &["torch ==2.9.0"]),
            pair("2.9.0+cu128", "2.9.0.post1", &["torch==2.9.0"]),
            pair("2.14.0", "2.14.0", &["torch==2.14.0.*", "numpy"]),
            pair("2.7.1.dev20250701+cpu", "2.7.1.dev20250724", &["torch==2.7.1"]),
            pair("2.7.1a0+git123", "2.7.1", &["torch==2.7.1"]),
        ];
        for facts in &good {
            assert_eq!(run(version, facts), [""; 0], "{:?}", facts.python.dists);
        }
        // A release candidate is not the release, nor is a nightly for a torch_npu that is a
        // release.
        for torch in ["2.9.0", "2.7.1rc1", "2.7.1.dev20250701"] {
            let bad = pair(torch, "2.7.1.post1", &["torch==2.7.1"]);
            assert_eq!(run(version, &bad), ["error TORCH-VERSION differs"], "{torch}");
        }
    }

    #[test]
    fn without_a_declaration_the_version_decides() {
        assert_eq!(run(version, &pair("2.7.1", "2.7.1.post2", &[])), [""; 0]);
        let bad = pair("2.8.0", "2.7.1.post2", &["numpy"]);
        assert_eq!(run(version, &bad), ["error TORCH-VERSION differs"]);
    }

    #[test]
    fn torch_npu_without_torch() {
        let facts = facts_with(python("3.11"), vec![dist("torch-npu", "2.7.1")]);
        assert_eq!(run(version, &facts), ["error TORCH-VERSION missing"]);
    }

    #[test]
    fn what_is_imported_counts() {
        let mut facts = pair("2.7.1", "2.7.1", &["torch==2.7.1"]);
        facts.python.torch.version_py = Some("2.9.0".to_owned());
        assert_eq!(run(version, &facts), ["error TORCH-VERSION differs"]);
    }

    #[test]
    fn cuda_builds_and_leftovers() {
        let mut facts = pair("2.9.0", "2.9.0", &[]);
        assert_eq!(run(cuda, &facts), [""; 0]);
        facts.python.torch.cuda = Some(String::new());
        facts.python.dists.push(dist("nvidia-cublas-cu12", "12.8"));
        assert_eq!(run(cuda, &facts), ["info TORCH-CUDA leftover"]);
        facts.python.torch.cuda = Some("12.8".to_owned());
        assert_eq!(run(cuda, &facts), ["warning TORCH-CUDA build"]);
        let by_name = pair("2.9.0+cu128", "2.9.0", &[]);
        assert_eq!(run(cuda, &by_name), ["warning TORCH-CUDA build"]);
    }

    #[test]
    fn other_backends() {
        let mut facts = pair("2.9.0", "2.9.0", &[]);
        let mut point = |name: &str, module: &str| {
            let mut other = dist(name, "1");
            let value = format!("{module}:_autoload");
            let (group, name) = ("torch.backends".to_owned(), module.to_owned());
            other.entry_points = vec![EntryPoint { group, name, value, line: None }];
            facts.python.dists.push(other);
        };
        point("torch-npu-extra", "torch_npu");
        point("torch-musa", "torch_musa");
        point("intel-extension", "ipex");
        facts.env.known = true;
        facts.env.vars.insert("TORCH_DEVICE_BACKEND_AUTOLOAD".to_owned(), "0".to_owned());
        assert_eq!(
            run(backends, &facts),
            [
                "warning TORCH-BACKENDS rival",
                "info TORCH-BACKENDS other",
                "info TORCH-BACKENDS autoload"
            ]
        );
    }
}
