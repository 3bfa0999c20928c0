//! `PY-SHADOW`: source trees that are imported instead of installed packages. `PY-INDEX`: whether
//! pip's indexes offer the versions that the stack pins.

use data::{
    Outcome, Reason,
    findings::{py_index, py_shadow},
};
use pep440_rs::{Operator, VersionSpecifiers};

use crate::Context;
use crate::goal;
use crate::pep::{self, not_installed};
use base::report::{Evidence, Severity};
use facts::{PipIndex, normalize_name};

/// The common part of the addresses of the vendor's mirrors.
const VENDOR_MIRROR: &str = "huaweicloud.com/ascend";
/// Packages with builds that are only on the vendor's mirror.
const MIRRORED: &[&str] = &["torch-npu", "triton-ascend"];

pub(super) fn shadow(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let python = &facts.python;
    if python.interpreter.is_none() {
        return Outcome::NotApplicable(Reason::NoPython);
    }
    let cwd = facts.process.cwd.as_deref().map(|cwd| cwd.trim_end_matches('/'));
    let found = python.shadows.iter().filter_map(|(package, dir)| {
        let holder = dir.strip_suffix(&format!("/{package}")).unwrap_or(dir);
        let by_cwd = cwd == Some(holder);
        let installed = python.dist(&normalize_name(package)).is_some();
        // Building a package requires its source tree as working directory, which is not a mistake
        // by itself.
        if by_cwd && !installed {
            return None;
        }
        // vllm works from its source tree on an NPU. torch does not, and neither does the plug-in
        // of vLLM.
        let breaks =
            package.starts_with("torch") || package == "vllm_ascend" && goal::select(ctx) == "vllm";
        let severity = if breaks { Severity::Error } else { Severity::Warning };
        let evidence = if by_cwd {
            Evidence::option("working directory").value(holder)
        } else {
            Evidence::env("PYTHONPATH").value(facts.env.get("PYTHONPATH").unwrap_or_default())
        };
        let found = if by_cwd {
            py_shadow::Cwd { dir, package }.at(severity)
        } else {
            py_shadow::Pythonpath { dir, holder, package }.at(severity)
        };
        Some(found.evidence(Evidence::file(dir)).evidence(evidence))
    });
    found.collect::<Vec<_>>().into()
}

pub(super) fn index(ctx: &Context<'_>) -> Outcome {
    let facts = ctx.facts;
    let python = &facts.python;
    let Some(plugin) = python.dist("vllm-ascend") else {
        return not_installed("vllm-ascend");
    };
    let Some(env) = pep::environment(facts) else {
        return Outcome::NotChecked(Reason::VersionUnknown { what: "Python".to_owned() });
    };
    let mut pins: Vec<(String, VersionSpecifiers, Evidence)> = plugin
        .requires
        .iter()
        .filter_map(|line| pep::requirement(line, &env))
        .map(|requirement| {
            let source = plugin.requirement(&requirement.declared);
            (requirement.name, requirement.spec, source.value(requirement.text))
        })
        .collect();
    if let Some(version) = pep::version(&plugin.version) {
        for (name, spec) in ctx.matrix.vllm_ascend_pins(&version) {
            if pins.iter().all(|(known, ..)| known != name) {
                let source = Evidence::data(format!("vllm_ascend {version}"));
                pins.push((name.to_owned(), spec.clone(), source.value(format!("{name}{spec}"))));
            }
        }
    }
    if facts.host.pip_indexes.iter().any(|index| index.url.contains(VENDOR_MIRROR)) {
        return Outcome::Passed;
    }
    let found = pins.into_iter().filter(|(name, ..)| MIRRORED.contains(&name.as_str())).filter_map(
        |(name, spec, source)| {
            let pin = spec.iter().find(|one| *one.operator() == Operator::Equal)?.version().clone();
            let installed = python.dist(&name).and_then(|dist| pep::version(&dist.version));
            if installed.is_some_and(|installed| installed.without_local() == pin) {
                return None;
            }
            // Releases of torch-npu are on PyPI; its development builds are not.
            if name == "torch-npu" && !pin.is_dev() {
                return None;
            }
            let mut one = py_index::Mirror {
                package: &name,
                pin,
                vllm_ascend: &plugin.version,
                interpreter: python.command(),
            }
            .info()
            .evidence(source);
            for PipIndex { source, url, line } in facts.host.pip_indexes.iter().take(5) {
                one = one.evidence(if source.starts_with('/') {
                    Evidence::file(source).line_if(*line).value(url)
                } else {
                    Evidence::env(source).value(url)
                });
            }
            Some(one)
        },
    );
    found.collect::<Vec<_>>().into()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};
    use facts::{Dist, Facts};

    fn plugin(version: &str, requires: &str) -> Dist {
        let mut plugin = dist("vllm-ascend", version);
        plugin.requires = vec![requires.to_owned()];
        plugin
    }

    fn run(check: fn(&Context<'_>) -> Outcome, facts: &Facts) -> Vec<String> {
        ids(check(&Context::of(facts, Profile::General)))
    }

    #[test]
    fn a_development_build_needs_the_vendors_mirror() {
        let dists = vec![plugin("0.0.1", "torch-npu==2.7.1.dev20250724")];
        let mut facts = facts_with(python("3.11"), dists);
        assert_eq!(run(index, &facts), ["info PY-INDEX mirror"]);
        facts.python.dists.push(dist("torch-npu", "2.7.1.dev20250724"));
        assert_eq!(run(index, &facts), [""; 0]);
        facts.python.dists.pop();
        let url = "https://mirrors.huaweicloud.com/ascend/repos/pypi".to_owned();
        facts.host.pip_indexes =
            vec![PipIndex { source: "/etc/pip.conf".to_owned(), url, line: Some(2) }];
        assert_eq!(run(index, &facts), [""; 0]);
        let release = facts_with(python("3.11"), vec![plugin("0.0.1", "torch-npu==2.7.1")]);
        assert_eq!(run(index, &release), [""; 0]);
    }

    #[test]
    fn bare_sources_before_an_installed_package() {
        let mut facts = facts_with(python("3.11"), vec![]);
        facts.process.cwd = Some("/w".to_owned());
        let tree = |package: &str| (package.to_owned(), format!("/w/{package}"));
        facts.python.shadows = vec![tree("torch_npu"), tree("vllm")];
        assert_eq!(run(shadow, &facts), [""; 0], "somebody who builds them");
        facts.python.dists = vec![dist("torch-npu", "2.7.1"), dist("vllm", "0.11.0")];
        assert_eq!(run(shadow, &facts), ["error PY-SHADOW cwd", "warning PY-SHADOW cwd"]);
        facts.process.cwd = Some("/".to_owned());
        facts.python.dists.clear();
        assert_eq!(
            run(shadow, &facts),
            ["error PY-SHADOW pythonpath", "warning PY-SHADOW pythonpath"]
        );
    }
}
