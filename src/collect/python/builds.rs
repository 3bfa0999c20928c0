//! What single packages say of themselves outside their metadata: how torch was built, for
//! which chip vllm-ascend was built, whose files lie in `triton/`.

use std::collections::BTreeMap;

use sha2::{Digest as _, Sha256};

use super::record::{self, RECORD_LIMIT};
use crate::facts::{Dist, MindSporeBuild, Python, TorchBuild, VllmBuild};
use crate::sysroot::{FileKind, Sysroot};

/// Files of `triton/` above this size are compared by size only, in bytes: its compiler
/// library alone has hundreds of megabytes.
const HASH_LIMIT: u64 = 1 << 20;
/// How many overwritten files are named.
const SAMPLE: usize = 20;

/// The directory of a package, where `import` would find it first.
pub(super) fn package_dir(sysroot: &Sysroot, python: &Python, name: &str) -> Option<String> {
    let on_path = python
        .site_dirs
        .iter()
        .map(|dir| format!("{dir}/{name}"))
        .find(|dir| is_package(sysroot, dir));
    on_path
        .or_else(|| python.editable_packages.get(name).filter(|dir| sysroot.is_dir(dir)).cloned())
}

/// A directory with something importable in it; a namespace of leftovers is none.
fn is_package(sysroot: &Sysroot, dir: &str) -> bool {
    sysroot.is_dir(dir)
        && sysroot
            .list(dir)
            .is_ok_and(|names| names.iter().any(|name| name != "__pycache__" && name != "lib"))
}

/// `torch/version.py` and `torch_npu/version.py`.
pub(super) fn torch(sysroot: &Sysroot, python: &Python) -> TorchBuild {
    let mut build = TorchBuild::default();
    for name in ["torch", "torch_npu"] {
        if let Some(dir) = package_dir(sysroot, python, name) {
            build.dirs.insert(name.to_owned(), dir);
        }
    }
    let values = |name: &str| {
        let dir = build.dirs.get(name)?;
        Some(assignments(&sysroot.text_if_there(&format!("{dir}/version.py"))?))
    };
    if let Some(values) = values("torch") {
        build.cuda = values.get("cuda").map(|value| value.clone().unwrap_or_default());
        build.version_py = values.get("__version__").cloned().flatten();
    }
    if let Some(values) = values("torch_npu") {
        build.torch_npu_version_py = values.get("__version__").cloned().flatten();
    }
    build
}

/// vLLM, its Ascend plugin, and triton.
pub(super) fn vllm(sysroot: &Sysroot, python: &Python, hash: bool) -> VllmBuild {
    let mut build = VllmBuild::default();
    if let Some(dir) = package_dir(sysroot, python, "vllm_ascend") {
        let path = format!("{dir}/_build_info.py");
        if let Some(text) = sysroot.text_if_there(&path) {
            build.build_info = assignments(&text)
                .into_iter()
                .map(|(name, value)| (name, value.unwrap_or_default()))
                .collect();
            build.build_info_path = Some(path);
        }
    }
    if let Some(dir) = package_dir(sysroot, python, "vllm") {
        build.extensions = sysroot
            .list(&dir)
            .unwrap_or_default()
            .iter()
            .filter(|name| name.starts_with("_C") && super::site::has_extension(name, "so"))
            .map(|name| format!("{dir}/{name}"))
            .collect();
    }
    build.triton_owners = python
        .dists
        .iter()
        .filter(|dist| dist.top_level.iter().any(|top| top == "triton"))
        .map(|dist| (dist.name.clone(), dist.version.clone()))
        .collect();
    if let Some(dir) = package_dir(sysroot, python, "triton") {
        build.triton_has_ascend = Some(sysroot.is_dir(&format!("{dir}/backends/ascend")));
    }
    if let Some(dist) = python.dist("triton-ascend") {
        build.triton_overwritten = overwritten(sysroot, dist, hash);
    }
    build
}

/// Files below `triton/` that are not what the distribution installed.
fn overwritten(sysroot: &Sysroot, dist: &Dist, hash: bool) -> Vec<String> {
    let path = format!("{}/RECORD", dist.path);
    let Ok(bytes) = sysroot.read(&path, RECORD_LIMIT) else { return Vec::new() };
    let rows = record::parse(&bytes).rows;
    let rows = rows.iter().filter(|row| {
        row.path.starts_with("triton/") && !super::site::has_extension(&row.path, "pyc")
    });
    rows.filter_map(|row| {
        let path = format!("{}/{}", dist.site_dir, row.path);
        let stat = sysroot.stat(&path).ok()?;
        if stat.kind != FileKind::File {
            return None;
        }
        let differs = match (row.size, row.sha256) {
            (Some(size), _) if size != stat.size => true,
            (_, Some(want)) if hash && stat.size <= HASH_LIMIT => {
                let content = sysroot.read(&path, HASH_LIMIT).ok()?;
                Sha256::digest(&content).as_slice() != want.as_slice()
            }
            _ => false,
        };
        differs.then_some(path)
    })
    .take(SAMPLE)
    .collect()
}

/// `MindSpore`'s plug-in libraries for Ascend.
pub(super) fn mindspore(sysroot: &Sysroot, python: &Python) -> MindSporeBuild {
    let Some(dir) = package_dir(sysroot, python, "mindspore") else {
        return MindSporeBuild::default();
    };
    let plugin = format!("{dir}/plugin");
    let plugins = sysroot
        .list(&plugin)
        .unwrap_or_default()
        .into_iter()
        .filter(|name| name.starts_with("lib") && name.contains(".so"))
        .map(|name| format!("{plugin}/{name}"))
        .collect();
    MindSporeBuild { dir: Some(dir), plugins }
}

/// The top-level lines `NAME = literal` of a Python file that a build wrote: strings as they
/// are, `None` as `None`, other literals as text. The last assignment of a name wins.
pub(super) fn assignments(text: &str) -> BTreeMap<String, Option<String>> {
    let mut out = BTreeMap::new();
    for line in text.lines() {
        if line.starts_with([' ', '\t', '#']) {
            continue;
        }
        let Some((left, value)) = line.split_once('=') else { continue };
        // `name: annotation = value`
        let name = left.split(':').next().unwrap_or(left).trim();
        let is_name =
            !name.is_empty() && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
        let value = value.trim();
        if !is_name || value.starts_with('=') || out.len() >= 1000 {
            continue;
        }
        let value = if let Some(quote @ ('\'' | '"')) = value.chars().next() {
            let inner = &value[1..];
            Some(inner.split(quote).next().unwrap_or(inner).to_owned())
        } else {
            let bare = value.split('#').next().unwrap_or(value).trim();
            (bare != "None").then(|| bare.to_owned())
        };
        out.insert(name.to_owned(), value);
    }
    out
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn literals_are_read_and_code_is_not() {
        let text = "from typing import Optional\n\n__all__ = ['a']\n\
                    __version__ = '2.9.0+cpu'\ndebug = False\ncuda: Optional[str] = None\n\
                    hip = \"x\"  # c\nif a == 'b':\n    cuda = '1'\n";
        let values = assignments(text);
        assert_eq!(values["__version__"].as_deref(), Some("2.9.0+cpu"));
        assert_eq!(values["cuda"], None);
        assert_eq!(values["hip"].as_deref(), Some("x"));
        assert_eq!(values["debug"].as_deref(), Some("False"));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed(text in "\\PC{0,200}", line in "[a-z_]{1,4}[:= '\"#]{0,6}[a-z'\"]{0,6}") {
            assignments(&text);
            assignments(&line);
        }
    }
}
