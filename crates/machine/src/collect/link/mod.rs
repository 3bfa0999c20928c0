//! Simulates a dynamic linker with the Ascend-linked libraries.

mod examine;
mod objects;
#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use rayon::prelude::*;

use crate::elf::{machine_code, machine_name};
use crate::link::{Closure, Loader, TORCH_CHECK_FAIL, library_class};
use crate::sysroot::Sysroot;
use examine::Examiner;
use facts::{Facts, Link, LinkedObject, ResolvedLibrary};
use objects::Candidate;

/// Libraries that checks look up by name.
const PROBES: &[&str] = &[
    "libascend_hal.so",
    "libascendcl.so",
    "libatb.so",
    "libc.so.6",
    "libdcmi.so",
    "libdrvdsmi_host.so",
    "libhccl.so",
    "libstdc++.so.6",
];

/// Maximum number of names whose locations are kept. A large stack has some thousand.
const MAX_LOADS: usize = 20_000;

/// Examines all objects; needs the facts about Python, CANN, NNAL and the driver.
pub(super) fn collect(sysroot: &Sysroot, facts: &Facts) -> Link {
    let candidates = objects::candidates(sysroot, facts);
    let abi = torch_abi(sysroot, facts);
    let machine = machine(sysroot, facts, &candidates);
    let known = facts.env.known;
    let mut link = Link { env_known: known, torch_abi: abi, ..Link::default() };
    let Some(machine) = machine else { return link };
    let arch = machine_name(machine);
    let assumed = if known { Vec::new() } else { objects::assumed_directories(facts, &arch, abi) };

    let mut loader = Loader::new(sysroot, machine, assumed);
    loader.set_processor(facts.host.glibc.as_deref(), facts.host.cpu.as_ref());
    link.preload_refused = preload(sysroot, facts, &mut loader);

    let examiner = Examiner::new(sysroot, facts, &loader);
    let mut results: Vec<(LinkedObject, Option<Closure>)> =
        candidates.par_iter().map(|candidate| examiner.examine(candidate)).collect();
    examine::resolve_in_loaders(&mut results);
    link.probes = probes(&loader, &results);
    link.not_in_copy = examiner.not_in_copy();
    link.loads = loads(&results);
    link.objects = with_broken_dependencies(results, &loader);
    link.objects.retain(concerns_ascend);
    let gomp = loader.find("libgomp.so.1").map(|found| found.real);
    link.libgomp = objects::libgomp(sysroot, facts, gomp.as_deref());
    link
}

/// Returns whether an object is relevant to the Ascend stack. In packages that are only possibly
/// related, only Ascend-linked objects are relevant, not pure CPU extensions.
fn concerns_ascend(object: &LinkedObject) -> bool {
    !object.is_extension_of_others()
        || object
            .needed
            .iter()
            .any(|name| matches!(library_class(name), "cann" | "atb" | "torch_npu" | "driver"))
}

/// The machine to load for: that of the host, else of the interpreter, else of the first object.
fn machine(sysroot: &Sysroot, facts: &Facts, candidates: &[Candidate]) -> Option<u16> {
    let named = facts.host.arch.as_deref().and_then(machine_code);
    let python = || machine_code(facts.python.interpreter.as_ref()?.arch.as_deref()?);
    let first = || {
        candidates
            .iter()
            .filter_map(|candidate| sysroot.open(&candidate.path).ok())
            .find_map(|file| crate::elf::machine_of(&file).ok().flatten())
    };
    named.or_else(python).or_else(first)
}

/// Loads the objects that precede any Ascend library: the interpreter, the entries of `LD_PRELOAD`,
/// and torch. Returns the entries of `LD_PRELOAD` that cannot be loaded.
fn preload(sysroot: &Sysroot, facts: &Facts, loader: &mut Loader<'_>) -> Vec<String> {
    let mut refused = None;
    if let Some(interpreter) = &facts.python.interpreter {
        // A wrapper script or a file for another machine is not a program for this linker.
        let usable = loader.open(&interpreter.real).is_ok_and(|library| {
            library.object.as_ref().is_ok_and(|object| object.machine == loader.machine())
        });
        if usable {
            refused = loader.set_program(&interpreter.real).ok();
        }
    }
    let refused = refused.unwrap_or_else(|| loader.preload_environment());
    if let Some(dir) = facts.python.torch.dirs.get("torch") {
        for path in objects::libraries(sysroot, dir) {
            if path.contains("/_C.") {
                let _ = loader.preload(&path);
            }
        }
        let bundled = dir.strip_suffix("/torch").map(|site| format!("{site}/torch.libs"));
        for dir in [Some(format!("{dir}/lib")), bundled].into_iter().flatten() {
            for path in objects::libraries(sysroot, &dir) {
                let name = path.rsplit('/').next().unwrap_or_default().to_owned();
                loader.preload_name(&name, &path);
            }
        }
    }
    // `import torch_npu` has loaded its libraries before its graph engine or vllm-ascend needs
    // them.
    if let Some(dir) = facts.python.torch.dirs.get("torch_npu") {
        for path in objects::libraries(sysroot, &format!("{dir}/lib")) {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            loader.preload_name(&name, &path);
        }
    }
    if let Some(dir) = &facts.python.mindspore.dir {
        for path in objects::libraries(sysroot, &format!("{dir}/lib")) {
            let name = path.rsplit('/').next().unwrap_or_default().to_owned();
            loader.preload_name(&name, &path);
        }
    }
    refused
}

/// The location of every name that the objects and their dependencies need.
fn loads(
    results: &[(LinkedObject, Option<Closure>)],
) -> BTreeMap<String, BTreeMap<String, ResolvedLibrary>> {
    let mut out: BTreeMap<String, BTreeMap<String, ResolvedLibrary>> = BTreeMap::new();
    let mut count = 0;
    for closure in results.iter().filter_map(|(_, closure)| closure.as_ref()) {
        for load in &closure.loads {
            let asker = &closure.members[load.asker].found.path;
            let known = out.entry(asker.clone()).or_default();
            if count < MAX_LOADS && !known.contains_key(&load.name) {
                count += 1;
                known.insert(load.name.clone(), load.found.clone());
            }
        }
    }
    out
}

/// The C++ ABI, by the form in which `libc10.so` defines `torchCheckFail`.
fn torch_abi(sysroot: &Sysroot, facts: &Facts) -> Option<u8> {
    let path = format!("{}/lib/libc10.so", facts.python.torch.dirs.get("torch")?);
    let file = sysroot.open(&path).ok()?;
    let object = crate::elf::Object::read(&file).ok()?;
    let defines = |abi: u8| {
        let name = TORCH_CHECK_FAIL[usize::from(abi)];
        object.defines(&file, name).ok().flatten() == Some(true)
    };
    [0, 1].into_iter().find(|abi| defines(*abi))
}

/// The location of each probed library: as `import torch_npu` or another examined object loads it,
/// else as the program would.
fn probes(
    loader: &Loader<'_>,
    results: &[(LinkedObject, Option<Closure>)],
) -> BTreeMap<String, Option<ResolvedLibrary>> {
    let (first, others): (Vec<_>, Vec<_>) = results.iter().partition(|(object, _)| {
        object.owner == "torch-npu" && object.path.contains("/torch_npu/_C.")
    });
    let closures = || first.iter().chain(&others).filter_map(|(_, closure)| closure.as_ref());
    PROBES
        .iter()
        .map(|name| {
            let loaded = closures().find_map(|closure| Some(closure.get(name)?.found.clone()));
            ((*name).to_owned(), loaded.or_else(|| loader.find(name)))
        })
        .collect()
}

/// Adds loaded libraries that are broken, so that the file itself is reported.
fn with_broken_dependencies(
    results: Vec<(LinkedObject, Option<Closure>)>,
    loader: &Loader<'_>,
) -> Vec<LinkedObject> {
    let mut reals = BTreeSet::new();
    for (object, _) in &results {
        reals.extend(loader.open(&object.path).ok().map(|library| library.real.clone()));
    }
    let mut broken = BTreeMap::new();
    for closure in results.iter().filter_map(|(_, closure)| closure.as_ref()) {
        for member in closure.members.iter().skip(1) {
            if let Some(defect) = member.defect()
                && !reals.contains(&member.library.real)
            {
                let class = library_class(&member.name);
                let owner = if class == "torch_npu" { "torch-npu" } else { class };
                broken.entry(member.library.real.clone()).or_insert_with(|| LinkedObject {
                    path: member.found.path.clone(),
                    owner: owner.to_owned(),
                    defect: Some(defect.clone()),
                    ..LinkedObject::default()
                });
            }
        }
    }
    results.into_iter().map(|(object, _)| object).chain(broken.into_values()).collect()
}
