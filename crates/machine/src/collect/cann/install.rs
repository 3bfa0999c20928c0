//! Reads the contents of one installation.

use std::collections::BTreeMap;

use super::discover::{KINDS, parent};
use super::listing::names;
use crate::collect::info_file::read_info;
use crate::sysroot::{ReadError, Stat, Sysroot};
use base::report::Evidence;
use base::version::CannVersion;
use facts::FileKind;
use facts::{Access, CannInstall, InfoFile, NodeOwner};

/// Libraries that frameworks link: the `NEEDED` entries of `torch_npu` in 14 published wheels (2.1
/// to 2.14). A toolkit contains all of them.
pub(super) const LIBRARIES: &[&str] = &[
    "libascendcl.so",
    "libhccl.so",
    "libge_runner.so",
    "libgraph.so",
    "libacl_op_compiler.so",
    "libacl_tdt_channel.so",
    "libascend_protobuf.so",
    "libfmk_parser.so",
];

/// Libraries of some versions or packages; listed if they exist.
const OPTIONAL: &[&str] = &[
    "libruntime.so",
    "libopapi.so",
    "libopapi_math.so",
    "libopapi_nn.so",
    "libnnopbase.so",
    "libacl_rt.so",
    "libhcomm.so",
];

/// Modules of the operator compiler below `python/site-packages`.
const PYTHON: &[&str] = &["te", "tbe"];

/// Precompiled kernels, one directory per `SoC`.
const KERNELS: &str = "opp/built-in/op_impl/ai_core/tbe/kernel";

/// Maximum number of components.
const MAX_COMPONENTS: usize = 256;

/// Reads the installation with this root.
pub(super) fn read(sysroot: &Sysroot, root: &str) -> CannInstall {
    let mut install = CannInstall { path: root.to_owned(), ..CannInstall::default() };
    read_infos(sysroot, &mut install);
    read_components(sysroot, &mut install);
    if let Some((version, place)) = version(sysroot, &install) {
        install.version = Some(version);
        (install.version_source, install.version_line) = (place.source, place.line);
    } else {
        root.clone_into(&mut install.version_source);
    }
    if install.arch.is_none() {
        let mut archs = ["aarch64", "x86_64"].into_iter();
        let own = archs.find(|arch| sysroot.is_dir(&format!("{root}/{arch}-linux/lib64")));
        install.arch = own.map(str::to_owned);
    }
    install.set_env = set_env(sysroot, root);
    read_libraries(sysroot, &mut install);
    for module in PYTHON {
        let path = format!("{root}/python/site-packages/{module}");
        let there = sysroot.exists(&path).then_some(path);
        install.python.insert((*module).to_owned(), there);
    }
    let kernels = names(sysroot, &format!("{root}/{KERNELS}"));
    let is_soc = |name: &String| name.starts_with("ascend") || name.starts_with("Ascend");
    install.kernel_socs = kernels.into_iter().filter(is_soc).take(MAX_COMPONENTS).collect();
    (install.custom_opp, install.custom_opp_line) = custom_opp(sysroot, root);
    install.owner = sysroot.stat(root).ok().and_then(|stat| owner(&stat));
    install.unreadable = unreadable(sysroot, &install);
    install
}

fn owner(stat: &Stat) -> Option<NodeOwner> {
    stat.owner_known.then_some(NodeOwner { mode: stat.mode, uid: stat.uid, gid: stat.gid })
}

/// `ascend_<package>_install.info` in the root or in `<arch>-linux`: the installation's own,
/// and those of ops and kernels packages.
fn read_infos(sysroot: &Sysroot, install: &mut CannInstall) {
    let host = sysroot.machine().arch.as_deref();
    let mut archs = ["aarch64", "x86_64"];
    if host == Some("x86_64") {
        archs.reverse();
    }
    let root = &install.path;
    let places =
        std::iter::once(root.clone()).chain(archs.map(|arch| format!("{root}/{arch}-linux")));
    for place in places {
        for name in names(sysroot, &place) {
            let package =
                name.strip_prefix("ascend_").and_then(|name| name.strip_suffix("_install.info"));
            let Some(package) = package else { continue };
            let is_whole = KINDS.contains(&package);
            if is_whole && install.info.is_some() {
                continue;
            }
            let Some(info) = read_info(sysroot, &format!("{place}/{name}")) else { continue };
            if is_whole {
                package.clone_into(&mut install.kind);
                install.arch = info.get("arch").map(str::to_owned);
                install.info = Some(info);
            } else if is_ops(package, &info) && install.ops.len() < MAX_COMPONENTS {
                install.ops.push(info);
            }
        }
    }
    if install.kind.is_empty() {
        let by_name = KINDS.iter().find(|kind| install.path.contains(&format!("/{kind}/")));
        install.kind = (*by_name.unwrap_or(&KINDS[0])).to_owned();
    }
}

/// Returns whether a package contains operators or their kernels.
fn is_ops(package: &str, info: &InfoFile) -> bool {
    let name = info.get("package_name").unwrap_or_default();
    package.starts_with("ops")
        || package.starts_with("kernels")
        || name.ends_with("-ops")
        || name.contains("-kernels")
}

/// `<component>/version.info`, and `share/info/<component>/version.info` from 8.5 on.
fn read_components(sysroot: &Sysroot, install: &mut CannInstall) {
    let root = install.path.clone();
    let is_link = |path: &str| sysroot.lstat(path).is_ok_and(|stat| stat.kind == FileKind::Link);
    for (dir, prefix) in [(root.clone(), ""), (format!("{root}/tools"), "tools/")] {
        for name in names(sysroot, &dir).into_iter().take(MAX_COMPONENTS) {
            let path = format!("{dir}/{name}");
            if is_link(&path) || is_link(&format!("{path}/version.info")) {
                continue;
            }
            read_component(sysroot, install, &path, &format!("{prefix}{name}"));
        }
    }
    let dir = format!("{root}/share/info");
    for name in names(sysroot, &dir).into_iter().take(MAX_COMPONENTS) {
        read_component(sysroot, install, &format!("{dir}/{name}"), &name);
    }
}

fn read_component(sysroot: &Sysroot, install: &mut CannInstall, path: &str, name: &str) {
    if let Some(info) = read_info(sysroot, &format!("{path}/version.info")) {
        install.components.insert(name.to_owned(), info);
        return;
    }
    // Installers put `ascend_install.info` into components; other directories have no version.
    let there = |file: &str| sysroot.is_file(&format!("{path}/{file}"));
    if there("ascend_install.info") && !sysroot.exists(&format!("{path}/version.info")) {
        install.unversioned.push(path.to_owned());
    }
}

/// The version and its source: info file, `version.cfg`, components, directory name.
fn version(sysroot: &Sysroot, install: &CannInstall) -> Option<(String, Evidence)> {
    if let Some(info) = &install.info
        && let Some(version) = info.get("version")
    {
        return Some((version.to_owned(), info.place("version")));
    }
    let cfg = read_info(sysroot, &format!("{}/version.cfg", install.path));
    if let Some(found) = cfg.and_then(|cfg| version_of_cfg(&cfg)) {
        return Some(found);
    }
    for name in ["runtime", "compiler", "toolkit", "opp"] {
        let Some(info) = install.components.get(name) else { continue };
        if let Some(version) = info.get("version_dir") {
            return Some((version.to_owned(), info.place("version_dir")));
        }
    }
    let name = install.path.rsplit('/').next().unwrap_or_default();
    let name = name.strip_prefix("cann-").unwrap_or(name);
    let named = name.parse::<CannVersion>().is_ok();
    named.then(|| (name.to_owned(), Evidence::file(&install.path)))
}

/// `runtime_running_version=[7.7.0.1.238:8.1.RC1]`
fn version_of_cfg(cfg: &InfoFile) -> Option<(String, Evidence)> {
    let keys = ["runtime_running_version", "toolkit_running_version"];
    let (key, value) = keys.iter().find_map(|key| Some((*key, cfg.get(key)?)))?;
    let (_, version) = value.trim_matches(['[', ']']).split_once(':')?;
    Some((version.to_owned(), cfg.place(key)))
}

/// `<root>/set_env.sh`, or `ascend-toolkit/set_env.sh` above the root.
fn set_env(sysroot: &Sysroot, root: &str) -> Option<String> {
    let own = format!("{root}/set_env.sh");
    let above = parent(root).map(|up| format!("{up}/set_env.sh"));
    [Some(own), above].into_iter().flatten().find(|path| sysroot.is_file(path))
}

fn read_libraries(sysroot: &Sysroot, install: &mut CannInstall) {
    let root = &install.path;
    let arch = install.arch.as_deref().unwrap_or("aarch64");
    let places = [format!("{root}/lib64"), format!("{root}/{arch}-linux/lib64")];
    let mut libraries = BTreeMap::new();
    for name in LIBRARIES.iter().chain(OPTIONAL) {
        let mut paths = places.iter().map(|place| format!("{place}/{name}"));
        let path = paths.find(|path| sysroot.is_file(path));
        if path.is_some() || LIBRARIES.contains(name) {
            libraries.insert((*name).to_owned(), path);
        }
    }
    install.libraries = libraries;
}

/// `load_priority=a,b` of `opp/vendors/config.ini`.
fn custom_opp(sysroot: &Sysroot, root: &str) -> (Vec<(String, bool)>, Option<u32>) {
    let vendors = format!("{root}/opp/vendors");
    let Some(config) = read_info(sysroot, &format!("{vendors}/config.ini")) else {
        return (Vec::new(), None);
    };
    let list = config.get("load_priority").unwrap_or_default();
    let names = list
        .split(',')
        .map(str::trim)
        .filter(|name| !name.is_empty() && !name.contains('/'))
        .take(MAX_COMPONENTS)
        .map(|name| (name.to_owned(), sysroot.is_dir(&format!("{vendors}/{name}"))))
        .collect();
    (names, config.lines.get("load_priority").copied())
}

/// The essential paths that the process cannot read.
fn unreadable(sysroot: &Sysroot, install: &CannInstall) -> Vec<String> {
    let root = &install.path;
    let mut paths: Vec<String> = Vec::new();
    let mut above = parent(root);
    while let Some(dir) = above {
        paths.push(dir.to_owned());
        above = parent(dir);
    }
    paths.reverse();
    paths.push(root.clone());
    for part in ["lib64", "opp", "python/site-packages"] {
        paths.push(format!("{root}/{part}"));
    }
    paths.extend(install.libraries.values().flatten().cloned());
    let process = sysroot.process();
    paths.retain(|path| match sysroot.stat(path) {
        Ok(stat) if stat.owner_known => {
            let is_dir = stat.kind == FileKind::Directory;
            let access = if is_dir { Access::Search } else { Access::Read };
            process.may(access, stat.mode, stat.uid, stat.gid) == Some(false)
        }
        Ok(_) => false,
        Err(error) => error == ReadError::Denied,
    });
    paths
}
