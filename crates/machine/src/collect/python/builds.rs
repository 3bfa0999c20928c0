//! Facts about individual packages that are not in their metadata: the build of torch, the chip
//! that vllm-ascend was built for, the owners of the files in `triton/`.

use std::collections::BTreeMap;

use crate::elf::Object;
use crate::manifest::record::{self, RECORD_LIMIT};
use crate::sysroot::Sysroot;
use base::hash::Sha256;
use facts::FileKind;
use facts::{CudaExtension, Dist, MindSporeBuild, Python, TorchBuild, VllmBuild};

/// Files of `triton/` above this size, in bytes, are compared only by size: the compiler library
/// has hundreds of megabytes.
const HASH_LIMIT: u64 = 1 << 20;
/// Maximum number of listed overwritten files.
const SAMPLE: usize = 20;

/// The first directory of a package that `import` would find.
pub(super) fn package_dir(sysroot: &Sysroot, python: &Python, name: &str) -> Option<String> {
    let on_path = python
        .site_dirs
        .iter()
        .map(|dir| format!("{dir}/{name}"))
        .find(|dir| is_package(sysroot, dir));
    on_path
        .or_else(|| python.editable_packages.get(name).filter(|dir| sysroot.is_dir(dir)).cloned())
}

/// The modules of CANN's operator compiler (`te`, `tbe`) and its imports: the module names of the
/// packages that the installation guides of CANN and vllm-ascend list.
const COMPILER_MODULES: &[&str] = &[
    "absl",
    "attr",
    "cffi",
    "decorator",
    "google/protobuf",
    "numpy",
    "psutil",
    "requests",
    "scipy",
    "sympy",
    "tbe",
    "te",
    "yaml",
];

/// The existing members of [`COMPILER_MODULES`], and their locations.
pub(super) fn modules(sysroot: &Sysroot, python: &Python) -> BTreeMap<String, String> {
    let find = |module: &str| {
        python.site_dirs.iter().find_map(|dir| {
            let path = format!("{dir}/{module}");
            let file = format!("{path}.py");
            [path, file].into_iter().find(|path| sysroot.exists(path))
        })
    };
    COMPILER_MODULES.iter().filter_map(|&module| Some((module.to_owned(), find(module)?))).collect()
}

/// Returns whether a directory contains something importable. A namespace of leftover files does
/// not count.
fn is_package(sysroot: &Sysroot, dir: &str) -> bool {
    sysroot.is_dir(dir)
        && sysroot
            .list(dir)
            .is_ok_and(|names| names.iter().any(|name| name != "__pycache__" && name != "lib"))
}

/// Reads `torch/version.py` and `torch_npu/version.py`.
pub(super) fn torch(sysroot: &Sysroot, python: &Python) -> TorchBuild {
    let mut build = TorchBuild::default();
    for name in ["torch", "torch_npu"] {
        if let Some(dir) = package_dir(sysroot, python, name) {
            build.dirs.insert(name.to_owned(), dir);
        }
    }
    if let Some(dir) = build.dirs.get("torch_npu") {
        build.extensions = extensions(sysroot, dir);
    }
    let values = |name: &str| {
        let dir = build.dirs.get(name)?;
        sysroot.read_text_if_exists(&format!("{dir}/version.py")).map(|text| assignments(&text))
    };
    if let Some(values) = values("torch") {
        let value = |name: &str| values.get(name).map(|(value, _)| value.clone());
        (build.cuda, build.version_py) =
            (value("cuda").map(Option::unwrap_or_default), value("__version__").flatten());
        build.version_lines = values
            .into_iter()
            .filter(|(name, _)| name == "cuda" || name == "__version__")
            .map(|(name, (_, line))| (name, line))
            .collect();
    }
    if let Some(values) = values("torch_npu") {
        build.torch_npu_version_py = values.get("__version__").and_then(|(value, _)| value.clone());
    }
    build
}

/// Reads vLLM, its Ascend plugin, and triton.
pub(super) fn vllm(sysroot: &Sysroot, python: &Python, hash: bool) -> VllmBuild {
    let mut build = VllmBuild::default();
    if let Some(dir) = package_dir(sysroot, python, "vllm_ascend") {
        let path = format!("{dir}/_build_info.py");
        if let Some(text) = sysroot.read_text_if_exists(&path) {
            for (name, (value, line)) in assignments(&text) {
                build.build_info_lines.insert(name.clone(), line);
                build.build_info.insert(name, value.unwrap_or_default());
            }
            build.build_info_path = Some(path);
        }
    }
    if let Some(dir) = package_dir(sysroot, python, "vllm") {
        build.extensions = extensions(sysroot, &dir);
        build.cuda_needed = build
            .extensions
            .iter()
            .filter_map(|path| Some((path.clone(), cuda_library(sysroot, path)?)))
            .collect();
    }
    build.triton_owners = python
        .dists
        .iter()
        .filter(|dist| dist.top_level.iter().any(|top| top == "triton"))
        .map(|dist| (dist.name.clone(), dist.version.clone()))
        .collect();
    if !python.dists.iter().any(|dist| dist.name.contains("triton")) {
        let dirs: Vec<_> = python.site_dirs.iter().map(|dir| format!("{dir}/triton")).collect();
        // Python finds a package before a directory without `__init__.py`, regardless of their
        // locations.
        let is_package = |dir: &String| sysroot.is_file(&format!("{dir}/__init__.py"));
        build.triton_remains = (!dirs.iter().any(is_package))
            .then(|| dirs.into_iter().find(|dir| sysroot.is_dir(dir)))
            .flatten();
    }
    if let Some(dir) = package_dir(sysroot, python, "triton") {
        build.triton_has_ascend = Some(sysroot.is_dir(&format!("{dir}/backends/ascend")));
    }
    if let Some(dist) = python.dist("triton-ascend") {
        (build.triton_compared, build.triton_overwritten) = overwritten(sysroot, dist, hash);
    }
    build
}

/// Packages whose published wheels, or usual builds, are for CUDA, and the prefixes of their module
/// names.
const CUDA_PACKAGES: &[(&str, &str)] = &[
    ("causal-conv1d", "causal_conv1d"),
    ("deep-ep", "deep_ep"),
    ("deep-gemm", "deep_gemm"),
    ("flash-attn", "flash_attn"),
    ("flashinfer-python", "flashinfer"),
    ("mamba-ssm", "selective_scan_cuda"),
    ("mooncake-transfer-engine", "mooncake"),
    ("sgl-kernel", "sgl_kernel"),
    ("torchaudio", "torchaudio"),
    ("torchvision", "torchvision"),
    ("transformer-engine", "transformer_engine"),
    ("xformers", "xformers"),
];
/// Maximum number of shared objects read from one package.
const MAX_EXTENSIONS: usize = 16;

/// Extensions of installed packages that need a CUDA library, one per package.
pub(super) fn cuda_extensions(sysroot: &Sysroot, python: &Python) -> Vec<CudaExtension> {
    let of_package = |(package, start): &(&str, &str)| {
        let dist = python.dist(package)?;
        let site = &dist.site_dir;
        let is_object = |name: &String| name.ends_with(".so");
        let own = sysroot.list(site).unwrap_or_default().into_iter();
        let objects = own.filter(|name| name.starts_with(start)).flat_map(|name| {
            let path = format!("{site}/{name}");
            if is_object(&name) {
                return vec![path];
            }
            let inner = sysroot.list(&path).unwrap_or_default();
            inner.into_iter().filter(is_object).map(|name| format!("{path}/{name}")).collect()
        });
        let mut objects = objects.take(MAX_EXTENSIONS);
        objects.find_map(|path| {
            let library = cuda_library(sysroot, &path)?;
            Some(CudaExtension { package: (*package).to_owned(), path, library })
        })
    };
    CUDA_PACKAGES.iter().filter_map(of_package).collect()
}

/// The first CUDA library that a shared object needs. The link checks examine whether the file is
/// sound.
fn cuda_library(sysroot: &Sysroot, path: &str) -> Option<String> {
    let file = sysroot.open(path).ok()?;
    let object = Object::read(&file).ok()?;
    let cuda = |name: &String| {
        ["libcudart.so", "libcuda.so", "libtorch_cuda.so", "libc10_cuda.so"]
            .iter()
            .any(|library| name.starts_with(library))
    };
    object.dynamic.needed.into_iter().find(cuda)
}

/// The `_C*.so` files of a package.
fn extensions(sysroot: &Sysroot, dir: &str) -> Vec<String> {
    let names = sysroot.list(dir).unwrap_or_default();
    let found = names
        .into_iter()
        .filter(|name| name.starts_with("_C") && super::site::has_extension(name, "so"));
    found.map(|name| format!("{dir}/{name}")).collect()
}

/// The number of files below `triton/` that were compared with those that the distribution
/// installed, and the differing ones.
fn overwritten(sysroot: &Sysroot, dist: &Dist, hash: bool) -> (u32, Vec<String>) {
    let path = format!("{}/RECORD", dist.path);
    let Ok(bytes) = sysroot.read(&path, RECORD_LIMIT) else { return (0, Vec::new()) };
    let rows = record::parse(&bytes).rows;
    drop(bytes);
    let rows = rows.iter().filter(|row| {
        row.path.starts_with("triton/") && !super::site::has_extension(&row.path, "pyc")
    });
    let mut compared = 0;
    let mut differing = Vec::new();
    for row in rows {
        let path = format!("{}/{}", dist.site_dir, row.path);
        if let Some(same) = is_as_recorded(sysroot, row, &path, hash) {
            compared += 1;
            if !same && differing.len() < SAMPLE {
                differing.push(path);
            }
        }
    }
    (compared, differing)
}

/// Returns whether a file agrees with its row; `None` if there are no values to compare.
fn is_as_recorded(sysroot: &Sysroot, row: &record::Row, path: &str, hash: bool) -> Option<bool> {
    let stat = sysroot.stat(path).ok()?;
    if stat.kind != FileKind::File {
        return None;
    }
    match (row.size, row.sha256) {
        (Some(size), _) if size != stat.size => Some(false),
        (_, Some(want)) if hash && stat.size <= HASH_LIMIT => {
            Some(Sha256::of(&sysroot.read(path, HASH_LIMIT).ok()?) == want)
        }
        (size, _) => size.map(|_| true),
    }
}

/// Reads `MindSpore`'s plug-in libraries for Ascend.
pub(super) fn mindspore(sysroot: &Sysroot, python: &Python) -> MindSporeBuild {
    let Some(dir) = package_dir(sysroot, python, "mindspore") else {
        return MindSporeBuild::default();
    };
    // The directory differs between releases.
    let plugins = ["plugin", "lib/plugin"]
        .iter()
        .map(|place| format!("{dir}/{place}"))
        .flat_map(|place| {
            let names = sysroot.list(&place).unwrap_or_default();
            names.into_iter().map(move |name| format!("{place}/{name}"))
        })
        .filter(|path| {
            let name = super::base_name(path);
            name.starts_with("lib") && name.contains(".so")
        })
        .collect();
    MindSporeBuild { dir: Some(dir), plugins }
}

/// The top-level lines `NAME = literal` of a generated Python file, and their one-based line
/// numbers. Strings are unquoted, `None` is `None`, and other literals are text. The last assignment
/// of a name wins.
pub(super) fn assignments(text: &str) -> BTreeMap<String, (Option<String>, u32)> {
    let mut out = BTreeMap::new();
    for (number, line) in (1..).zip(text.lines()) {
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
        out.insert(name.to_owned(), (value, number));
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
        let value = |name: &str| (values[name].0.as_deref(), values[name].1);
        assert_eq!(value("__version__"), (Some("2.9.0+cpu"), 4));
        assert_eq!(value("cuda"), (None, 6));
        assert_eq!(value("hip"), (Some("x"), 7));
        assert_eq!(value("debug"), (Some("False"), 5));
    }

    proptest! {
        #[test]
        fn any_text_is_parsed(text in "\\PC{0,200}", line in "[a-z_]{1,4}[:= '\"#]{0,6}[a-z'\"]{0,6}") {
            assignments(&text);
            assignments(&line);
        }
    }
}
