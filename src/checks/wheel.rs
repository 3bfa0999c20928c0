//! `TNPU-WHEELTAG`: the installed wheel is for this interpreter and machine.

use super::{Check, Context, Family, pep};
use base::report::Evidence;
use data::{
    Outcome, RawFinding, Reason,
    findings::{py_interp, tnpu_wheeltag},
};
use facts::{Dist, Python};

/// The checks of this file.
pub(super) const CHECKS: &[Check] = &[Check::new(Family::TorchNpu, tnpu_wheeltag::ID, check)];

/// The packages of the stack with compiled parts.
const PACKAGES: &[&str] = &["torch-npu", "torch"];

fn check(ctx: &Context<'_>) -> Outcome {
    let python = &ctx.facts.python;
    let Some(npu) = python.dist("torch-npu") else {
        return Outcome::NotApplicable(Reason::NoTorchNpu);
    };
    if npu.tags.is_empty() && python.torch.extensions.is_empty() {
        return Outcome::NotChecked(Reason::NoFile { what: format!("{}/WHEEL", npu.path) });
    }
    let mut found: Vec<RawFinding> = PACKAGES
        .iter()
        .filter_map(|name| python.dist(name))
        .flat_map(|dist| [wrong_python(python, dist), wrong_machine(ctx, dist)])
        .flatten()
        .collect();
    if found.is_empty() {
        found.extend(wrong_extension(python));
    }
    found.into()
}

/// Returns whether a tag (`cp311-cp311-manylinux_2_28_aarch64`) is for Python `major.minor`.
pub(super) fn fits_python(tag: &str, major: u32, minor: u32) -> bool {
    let mut parts = tag.split('-');
    let (python, abi) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
    python.split('.').any(|one| {
        let generic = format!("py{major}");
        if one == generic || one == format!("{generic}{minor}") {
            return true;
        }
        let Some(first) = one.strip_prefix(&format!("cp{major}")).map(str::parse::<u32>) else {
            return false;
        };
        // The stable ABI is valid from its version on.
        first.is_ok_and(|first| first == minor || (abi == "abi3" && first <= minor))
    })
}

/// Returns whether a tag is for this architecture; `any` is for all.
fn fits_machine(tag: &str, arch: &str) -> bool {
    tag.rsplit('-').next().unwrap_or_default().split('.').any(|platform| {
        platform == "any" || platform.strip_suffix(arch).is_some_and(|rest| rest.ends_with('_'))
    })
}

fn wrong_python(python: &Python, dist: &Dist) -> Option<RawFinding> {
    let interpreter = python.interpreter.as_ref()?;
    let (major, minor) = pep::minor(interpreter)?;
    let first = dist.tags.first()?;
    (!dist.tags.iter().any(|tag| fits_python(tag, major, minor))).then(|| {
        tnpu_wheeltag::Python {
            interpreter: &interpreter.path,
            package: &dist.name,
            python: format!("{major}.{minor}"),
            tag: first,
            version: &dist.version,
        }
        .error()
        .evidence(Evidence::file(format!("{}/WHEEL", dist.path)).value(format!("Tag: {first}")))
        .evidence(Evidence::file(&interpreter.path).value(format!("{major}.{minor}")))
        .because(&[py_interp::ID])
    })
}

fn wrong_machine(ctx: &Context<'_>, dist: &Dist) -> Option<RawFinding> {
    let interpreter = ctx.facts.python.interpreter.as_ref();
    let arch = interpreter.and_then(|interpreter| interpreter.arch.as_ref()).or(ctx
        .facts
        .host
        .arch
        .as_ref())?;
    let first = dist.tags.first()?;
    (!dist.tags.iter().any(|tag| fits_machine(tag, arch))).then(|| {
        tnpu_wheeltag::Arch {
            package: &dist.name,
            version: &dist.version,
            tag: first,
            arch,
            interpreter: ctx.facts.python.command(),
        }
        .error()
        .evidence(Evidence::file(format!("{}/WHEEL", dist.path)).value(format!("Tag: {first}")))
    })
}

/// Finds `_C.cpython-311-….so` next to an interpreter of another version: files that were copied.
fn wrong_extension(python: &Python) -> Option<RawFinding> {
    let interpreter = python.interpreter.as_ref()?;
    let (major, minor) = pep::minor(interpreter)?;
    let wanted = format!("{major}{minor}");
    let version_of = |path: &str| {
        let name = path.rsplit('/').next()?;
        let rest = name.split_once(".cpython-")?.1;
        Some(rest.split('-').next()?.to_owned())
    };
    let mut versions = Vec::new();
    for path in &python.torch.extensions {
        versions.push((path, version_of(path)?));
    }
    let (path, version) = versions.first()?;
    (!versions.iter().any(|(_, version)| *version == wanted)).then(|| {
        tnpu_wheeltag::Extension {
            built: version,
            interpreter: &interpreter.path,
            path: *path,
            python: format!("{major}.{minor}"),
        }
        .error()
        .evidence(Evidence::file(*path))
        .because(&[py_interp::ID])
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Profile;
    use crate::testing::{dist, facts_with, ids, python};

    #[test]
    fn tags() {
        assert!(fits_python("cp311-cp311-manylinux_2_28_aarch64", 3, 11));
        assert!(!fits_python("cp311-cp311-manylinux_2_28_aarch64", 3, 1));
        assert!(!fits_python("cp311-cp311-linux_aarch64", 3, 12));
        assert!(fits_python("cp38-abi3-linux_aarch64", 3, 12));
        assert!(fits_python("py2.py3-none-any", 3, 9));
        assert!(fits_machine("cp39-cp39-manylinux_2_17_x86_64.manylinux2014_x86_64", "x86_64"));
        assert!(!fits_machine("cp39-cp39-linux_aarch64", "x86_64"));
        assert!(fits_machine("py3-none-any", "aarch64"));
    }

    fn run(tag: &str, extension: &str) -> Vec<String> {
        let mut npu = dist("torch-npu", "2.7.1");
        npu.tags = if tag.is_empty() { vec![] } else { vec![tag.to_owned()] };
        let mut facts = facts_with(python("3.11.13"), vec![npu]);
        if !extension.is_empty() {
            facts.python.torch.extensions = vec![extension.to_owned()];
        }
        ids(check(&Context::of(&facts, Profile::General)))
    }

    #[test]
    fn python_and_machine_have_to_fit() {
        assert_eq!(run("cp311-cp311-manylinux_2_28_aarch64", ""), [""; 0]);
        assert_eq!(run("cp310-cp310-manylinux_2_28_aarch64", ""), ["error TNPU-WHEELTAG python"]);
        assert_eq!(run("cp311-cp311-manylinux_2_28_x86_64", ""), ["error TNPU-WHEELTAG arch"]);
        assert_eq!(run("", ""), ["not checked: no_file"]);
        assert_eq!(run("", "/s/_C.cpython-311-aarch64-linux-gnu.so"), [""; 0]);
        let other = run("", "/s/_C.cpython-310-aarch64-linux-gnu.so");
        assert_eq!(other, ["error TNPU-WHEELTAG extension"]);
    }
}
