//! Selects the shared objects to examine, and directories that may contain copies of missing ones.

use crate::link::library_class;
use crate::manifest::record;
use crate::sysroot::Sysroot;
use facts::FileKind;
use facts::{Dist, Facts, normalize_name};

/// Maximum depth of the search for extensions in `torch_npu`, and maximum number of listed
/// directories.
const MAX_DEPTH: usize = 5;
const MAX_DIRS: usize = 600;
/// Maximum depth of the search in other packages.
const EXTENSION_DEPTH: usize = 2;
/// Maximum number of examined objects.
const MAX_OBJECTS: usize = 400;

/// An object to examine.
#[derive(Debug, Clone)]
pub(super) struct Candidate {
    pub(super) path: String,
    pub(super) owner: String,
    /// Whether it is loaded on demand.
    pub(super) lazy: bool,
    /// Whether its dependencies are followed. Otherwise only the file itself is examined.
    pub(super) follow: bool,
}

/// All objects to examine, sorted by owner and path.
pub(super) fn candidates(sysroot: &Sysroot, facts: &Facts) -> Vec<Candidate> {
    let mut out = Vec::new();
    let mut add = |owner: &str, path: String, lazy, follow| {
        if sysroot.stat(&path).is_ok_and(|stat| stat.kind != FileKind::Directory) {
            out.push(Candidate { path, owner: owner.to_owned(), lazy, follow });
        }
    };
    if let Some(dir) = facts.python.torch.dirs.get("torch_npu") {
        let mut found = Vec::new();
        walk(sysroot, dir, 0, &mut 0, &mut found);
        for path in found {
            // `torch_npu` catches the failure of its ATB plug-in until an ATB operator is called;
            // its graph engine is loaded with the first compiled graph.
            let inner = path.strip_prefix(dir.as_str()).unwrap_or(&path);
            let eager = inner.starts_with("/_C.") || inner.starts_with("/lib/");
            let lazy = !eager || inner.starts_with("/lib/libop_plugin_atb");
            add("torch-npu", path, lazy, true);
        }
    }
    if let Some(dir) = facts.python.torch.dirs.get("torch") {
        for path in libraries(sysroot, &format!("{dir}/lib")) {
            let name = path.rsplit('/').next().unwrap_or_default();
            if library_class(name) == "torch" {
                add("torch", path, false, false);
            }
        }
        for path in libraries(sysroot, dir) {
            add("torch", path, false, false);
        }
    }
    for site in &facts.python.site_dirs {
        for (owner, dir) in [
            ("vllm-ascend", "vllm_ascend"),
            ("vllm-ascend", "vllm_ascend/lib"),
            // Extensions that pass strings to ATB (vllm-project/vllm-ascend#1144).
            ("mooncake", "mooncake"),
        ] {
            for path in libraries(sysroot, &format!("{site}/{dir}")) {
                add(owner, path, false, true);
            }
        }
    }
    for dist in extension_packages(facts) {
        let mut found = recorded(sysroot, dist);
        let dir = format!("{}/{}", dist.site_dir, dist.name.replace('-', "_"));
        walk(sysroot, &dir, MAX_DEPTH - EXTENSION_DEPTH, &mut 0, &mut found);
        for path in found {
            // Loaded when that package is imported, which a workload may never do.
            add(&dist.name, path, true, true);
        }
    }
    for path in &facts.python.mindspore.plugins {
        if path.rsplit('/').next().is_some_and(|name| name.contains("ascend")) {
            add("mindspore", path.clone(), false, true);
        }
    }
    for path in facts.driver.libraries.values() {
        add("driver", path.clone(), false, false);
    }
    for install in &facts.cann.installs {
        for path in install.libraries.values().flatten() {
            add("cann", path.clone(), false, false);
        }
    }
    for path in facts.cann.nnal.iter().flat_map(|nnal| nnal.abis.values()) {
        add("atb", path.clone(), false, false);
    }
    out.sort_by(|a, b| (&a.owner, &a.path).cmp(&(&b.owner, &b.path)));
    out.dedup_by(|a, b| a.path == b.path);
    out.truncate(MAX_OBJECTS);
    out
}

/// Further packages that may contain Ascend-linked extensions, in addition to those that are always
/// examined: packages that require `torch_npu`, packages named after the hardware, and packages
/// that users build on `torch_npu`.
fn extension_packages(facts: &Facts) -> impl Iterator<Item = &Dist> {
    const KNOWN: &[&str] = &["torch", "torch-npu", "vllm", "vllm-ascend", "mindspore"];
    const NAMED: &[&str] = &["ascend", "npu", "mindie", "cann", "atb"];
    // Their installation guides for Ascend build them on the machine.
    const BUILT: &[&str] = &["apex", "mmcv", "mmcv-full", "mmdet3d"];
    let wanted = |dist: &&Dist| {
        !KNOWN.contains(&dist.name.as_str())
            && !dist.name.contains("mooncake")
            && !dist.name.starts_with("triton")
            && (dist.name.split('-').any(|part| NAMED.contains(&part))
                || BUILT.contains(&dist.name.as_str())
                || dist.requires.iter().any(|line| {
                    let end = line.find(|c: char| !(c.is_alphanumeric() || "-_.".contains(c)));
                    normalize_name(&line[..end.unwrap_or(line.len())]) == "torch-npu"
                }))
    };
    facts.python.dists.iter().filter(wanted)
}

/// The shared objects that RECORD lists, because the name of a distribution may differ from that of
/// its module.
fn recorded(sysroot: &Sysroot, dist: &Dist) -> Vec<String> {
    let path = format!("{}/RECORD", dist.path);
    let Ok(bytes) = sysroot.read(&path, record::RECORD_LIMIT) else { return Vec::new() };
    let rows = record::parse(&bytes).rows.into_iter();
    let inside = rows.filter(|row| row.path.ends_with(".so") && !row.path.starts_with(['/', '.']));
    inside.map(|row| format!("{}/{}", dist.site_dir, row.path)).take(MAX_OBJECTS).collect()
}

/// Files named like shared objects directly in a directory.
pub(super) fn libraries(sysroot: &Sysroot, dir: &str) -> Vec<String> {
    let names = sysroot.list(dir).unwrap_or_default();
    let named = |name: &String| name.ends_with(".so") || name.contains(".so.");
    names.into_iter().filter(named).map(|name| format!("{dir}/{name}")).collect()
}

fn walk(sysroot: &Sysroot, dir: &str, depth: usize, listed: &mut usize, out: &mut Vec<String>) {
    *listed += 1;
    if depth > MAX_DEPTH || *listed > MAX_DIRS {
        return;
    }
    for (name, kind) in sysroot.entries(dir).unwrap_or_default() {
        let path = format!("{dir}/{name}");
        if name.ends_with(".so") || name.contains(".so.") {
            out.push(path);
        } else if !name.contains('.')
            && name != "__pycache__"
            && name != "include"
            && kind == FileKind::Directory
        {
            walk(sysroot, &path, depth + 1, listed, out);
        }
    }
}

/// Installation directories of the Ascend stack's libraries, whether or not they are on the search
/// path.
pub(super) fn known_directories(facts: &Facts, arch: &str) -> Vec<String> {
    let mut out = Vec::new();
    for install in &facts.cann.installs {
        let root = &install.path;
        for part in [
            "lib64",
            "runtime/lib64",
            "compiler/lib64",
            "hccl/lib64",
            "fwkacllib/lib64",
            "lib64/plugin/opskernel",
            "lib64/plugin/nnengine",
            "opp/lib64",
            "devlib",
            "runtime/lib64/stub",
        ] {
            out.push(format!("{root}/{part}"));
        }
        out.push(format!("{root}/{arch}-linux/lib64"));
        out.push(format!("{root}/{arch}-linux/devlib"));
    }
    for library in facts.cann.nnal.iter().flat_map(|nnal| nnal.abis.values()) {
        out.extend(library.rsplit_once('/').map(|(dir, _)| dir.to_owned()));
    }
    out.extend(driver_directories(facts));
    for dir in ["/usr/local/dcmi", "/usr/local/lib", "/usr/local/lib64", "/usr/local/Ascend"] {
        out.push(dir.to_owned());
    }
    out
}

fn driver_directories(facts: &Facts) -> Vec<String> {
    let home = facts.driver.home();
    ["lib64", "lib64/common", "lib64/driver"].map(|part| format!("{home}/{part}")).to_vec()
}

/// The directories that `set_env.sh` of the CANN and NNAL in use adds to the path, for a tree with
/// an unknown environment. `abi` is the C++ ABI of torch.
pub(super) fn assumed_directories(facts: &Facts, arch: &str, abi: Option<u8>) -> Vec<String> {
    let mut out = driver_directories(facts);
    if let Some(install) = facts.cann.active() {
        let root = &install.path;
        for part in ["lib64", "lib64/plugin/opskernel", "lib64/plugin/nnengine"] {
            out.push(format!("{root}/{part}"));
        }
        out.push(format!("{root}/{arch}-linux/lib64"));
        let tiling = "opp/built-in/op_impl/ai_core/tbe/op_tiling";
        out.push(format!("{root}/{tiling}/lib/linux/{arch}"));
    }
    if let Some(nnal) = facts.cann.nnal.last() {
        let library = abi.and_then(|abi| nnal.abis.get(&abi)).or_else(|| nnal.abis.values().last());
        out.extend(library.and_then(|path| path.rsplit_once('/')).map(|(dir, _)| dir.to_owned()));
    }
    out.extend(["/usr/local/dcmi".to_owned(), "/usr/local/lib".to_owned()]);
    // `set_env.sh` adds the stubs if it finds no driver.
    if !facts.driver.libraries.contains_key("libascend_hal.so")
        && let Some(install) = facts.cann.active()
    {
        for part in ["devlib", "runtime/lib64/stub"] {
            out.push(format!("{}/{part}", install.path));
        }
        out.push(format!("{}/{arch}-linux/devlib", install.path));
    }
    out
}

/// Copies of GNU OpenMP in Python packages, and that of the system.
pub(super) fn libgomp(sysroot: &Sysroot, facts: &Facts, system: Option<&str>) -> Vec<String> {
    let mut dirs = Vec::new();
    for site in &facts.python.site_dirs {
        let names = sysroot.list(site).unwrap_or_default();
        dirs.extend(
            names
                .iter()
                .filter(|name| name.strip_suffix(".libs").is_some())
                .map(|name| format!("{site}/{name}")),
        );
        dirs.push(format!("{site}/torch/lib"));
    }
    if let Some(interpreter) = &facts.python.interpreter {
        dirs.push(format!("{}/lib", interpreter.prefix.trim_end_matches('/')));
    }
    let mut out: Vec<String> = system.map(str::to_owned).into_iter().collect();
    for dir in dirs {
        for path in libraries(sysroot, &dir) {
            let is_gomp = path.rsplit('/').next().is_some_and(|name| name.starts_with("libgomp"));
            let real = sysroot.real(&path).ok().filter(|_| is_gomp);
            out.extend(real.filter(|real| !out.contains(real)));
        }
    }
    out.sort_unstable();
    out.dedup();
    out
}
