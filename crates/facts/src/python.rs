//! The interpreter and its packages, found without running Python.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Lines, place};
use base::report::Evidence;

/// The Python environment under examination, and other environments that were found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Python {
    /// The interpreter that would run the workload.
    pub interpreter: Option<Interpreter>,
    /// Other interpreters that have their own `torch_npu`.
    pub others: Vec<Interpreter>,
    /// Directories on `sys.path` that contain packages, in order.
    pub site_dirs: Vec<String>,
    /// Installed distributions, in search order.
    pub dists: Vec<Dist>,
    /// Lines of `.pth` files that run code (`import …`).
    pub pth_imports: Vec<PthCode>,
    /// Source trees that shadow an installed package: package and directory.
    pub shadows: Vec<(String, String)>,
    /// An interpreter that was requested (`--python`, `.process.json`, `VIRTUAL_ENV`, …) but is
    /// missing: the source of the request, and the path.
    pub missing_interpreter: Option<(String, String)>,
    /// The file named by `--python`, if it is not a Python interpreter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_python: Option<String>,
    /// Modules that CANN's operator compiler consists of or imports, and their locations, as far as
    /// `import` would find them: `te`, `decorator`, …
    pub modules: BTreeMap<String, String>,
    /// Package directories that editable installs map by a finder: package and directory.
    pub editable_packages: BTreeMap<String, String>,
    /// Facts about individual packages that are not in any metadata.
    pub torch: TorchBuild,
    /// vLLM and vllm-ascend.
    pub vllm: VllmBuild,
    /// `MindSpore`.
    pub mindspore: MindSporeBuild,
    /// Packages with an extension that needs a CUDA library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub cuda_extensions: Vec<CudaExtension>,
}

/// An extension that needs a CUDA library.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct CudaExtension {
    /// The normalized name of the distribution.
    pub package: String,
    /// The first shared object.
    pub path: String,
    /// The first CUDA library that it needs.
    pub library: String,
}

/// A Python interpreter.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Interpreter {
    /// Path as found.
    pub path: String,
    /// Path without links.
    pub real: String,
    /// `X.Y` or `X.Y.Z`.
    pub version: Option<String>,
    /// `venv`, `conda` or `system`.
    pub kind: String,
    /// The reason for choosing it: `--python`, `VIRTUAL_ENV`, `CONDA_PREFIX`, `PATH`, …
    pub chosen_by: String,
    /// Architecture in the ELF header.
    pub arch: Option<String>,
    /// `sys.prefix`.
    pub prefix: String,
    /// `sys.base_prefix` of a virtual environment: the installation that it was created from.
    pub base_prefix: Option<String>,
    /// `include-system-site-packages` of a virtual environment.
    pub system_site: bool,
    /// The missing target of the path: a link of a virtual environment to an interpreter that was
    /// removed.
    pub dangling: Option<String>,
    /// Why `path` cannot be started, if known. The environment around it was found by its library
    /// directory or its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub unusable: Option<Unusable>,
}

/// The reason why the file of an interpreter cannot be started.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unusable {
    /// It does not exist, or is a broken link.
    Absent,
    /// It is neither an ELF program nor a script, for example empty after a full disk.
    NotAProgram,
    /// `PYTHONHOME` names a directory without the standard library of this version, so Python stops
    /// before it runs a line.
    NoHome,
}

/// An installed distribution (`*.dist-info`, `*.egg-info`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dist {
    /// Name, normalized (PEP 503: lower case, runs of `-_.` become `-`).
    pub name: String,
    /// Version, as written.
    pub version: String,
    /// The `dist-info` directory.
    pub path: String,
    /// The directory on `sys.path` that contains it.
    pub site_dir: String,
    /// `Requires-Dist` lines.
    pub requires: Vec<String>,
    /// `Requires-Python`.
    pub requires_python: Option<String>,
    /// `Tag` lines of `WHEEL`.
    pub tags: Vec<String>,
    /// Lines of `entry_points.txt`.
    pub entry_points: Vec<EntryPoint>,
    /// The source of name, version and requirements: `METADATA` or `PKG-INFO` in the directory, or
    /// an `egg-info` that is a file. Empty if there is none.
    #[serde(default)]
    pub metadata: String,
    /// Lines of that file: `Version`, `Requires-Python`, and `Requires-Dist: …` with its value.
    #[serde(default)]
    pub lines: Lines,
    /// Directory of an editable install (`direct_url.json`).
    pub editable: Option<String>,
    /// Whether `METADATA` exists and has name and version.
    pub metadata_ok: bool,
    /// Whether `RECORD` exists.
    pub has_record: bool,
    /// Number of `.py` and `.so` files in RECORD (only counted for the packages of the stack).
    pub listed_files: u32,
    /// Number of missing files among them.
    pub missing_files: u32,
    /// The first missing files, as paths on the machine.
    pub missing_sample: Vec<String>,
    /// The lines of RECORD, counted from 1, that list the first missing files.
    #[serde(default)]
    pub missing_lines: Vec<u32>,
    /// The top-level directories into which its RECORD installs files (packages of the stack).
    pub top_level: Vec<String>,
}

impl Dist {
    /// The place of a field of its metadata. A field without a line was taken from the name of the
    /// `dist-info` directory.
    pub fn place(&self, field: &str) -> Evidence {
        match (self.lines.contains_key(field), self.metadata.is_empty()) {
            (true, _) => place(&self.metadata, &self.lines, field),
            (false, false) if self.metadata_ok => Evidence::file(&self.metadata),
            _ => Evidence::file(&self.path),
        }
    }

    /// The place of one of its requirements.
    pub fn requirement(&self, text: &str) -> Evidence {
        self.place(&format!("Requires-Dist: {text}")).value(text)
    }

    /// The place of its version, and the version.
    pub fn version_place(&self) -> Evidence {
        self.place("Version").value(&self.version)
    }

    /// The `entry_points.txt` of its directory.
    pub fn entry_points_path(&self) -> String {
        format!("{}/entry_points.txt", self.path)
    }

    /// Its missing files, each with the place where RECORD lists it.
    pub fn missing_places(&self, most: usize) -> Vec<Evidence> {
        let mut out = Vec::new();
        for (index, path) in self.missing_sample.iter().take(most).enumerate() {
            out.push(Evidence::file(path).value("missing"));
            if let Some(line) = self.missing_lines.get(index) {
                out.push(Evidence::file(format!("{}/RECORD", self.path)).line(*line));
            }
        }
        out
    }
}

/// A line of an `entry_points.txt`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct EntryPoint {
    /// The heading above it, for example `vllm.platform_plugins`.
    pub group: String,
    /// Left of `=`.
    pub name: String,
    /// Right of `=`: `module` or `module:attribute`.
    pub value: String,
    /// The line, counted from 1, where known.
    #[serde(default)]
    pub line: Option<u32>,
}

/// A line of a `.pth` file that Python runs at startup.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PthCode {
    /// The `.pth` file.
    pub path: String,
    /// The code, truncated to the limit of a report.
    pub code: String,
    /// The line, counted from 1, where known.
    #[serde(default)]
    pub line: Option<u32>,
}

/// Facts about `torch` and `torch_npu` that are not in their metadata.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct TorchBuild {
    /// `cuda` in `torch/version.py`: `None` if the file or the line is absent, empty for `None`.
    pub cuda: Option<String>,
    /// `__version__` in `torch/version.py`.
    pub version_py: Option<String>,
    /// `__version__` in `torch_npu/version.py`.
    pub torch_npu_version_py: Option<String>,
    /// `torch_npu/_C*.so` files.
    pub extensions: Vec<String>,
    /// The existing package directories: `torch`, `torch_npu`.
    pub dirs: BTreeMap<String, String>,
    /// Lines of `torch/version.py`: `__version__`, `cuda`.
    #[serde(default)]
    pub version_lines: Lines,
}

impl TorchBuild {
    /// The place of a name in `torch/version.py`, if torch was found.
    pub fn version_place(&self, name: &str) -> Option<Evidence> {
        let dir = self.dirs.get("torch")?;
        Some(place(&format!("{dir}/version.py"), &self.version_lines, name))
    }
}

/// vLLM and its Ascend plugin.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct VllmBuild {
    /// `vllm_ascend/_build_info.py`: keys and values.
    pub build_info: BTreeMap<String, String>,
    /// Path of that file.
    pub build_info_path: Option<String>,
    /// Lines of its keys.
    #[serde(default)]
    pub build_info_lines: Lines,
    /// `vllm/_C*.so` files.
    pub extensions: Vec<String>,
    /// The subset of these files that needs a CUDA library: file and library.
    pub cuda_needed: Vec<(String, String)>,
    /// Distributions whose RECORD lists files below `triton/`: name and version.
    pub triton_owners: Vec<(String, String)>,
    /// Number of files of `triton/` that were compared with triton-ascend's RECORD.
    pub triton_compared: u32,
    /// Files of `triton/` whose size or hash differs from triton-ascend's RECORD.
    pub triton_overwritten: Vec<String>,
    /// A directory `triton` that no distribution owns and that is not a package. Uninstalling
    /// distributions that share it in the wrong order leaves it behind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub triton_remains: Option<String>,
    /// Whether `triton/backends/ascend` exists (`None` without any triton).
    pub triton_has_ascend: Option<bool>,
}

/// `MindSpore`'s plug-in libraries.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct MindSporeBuild {
    /// Package directory.
    pub dir: Option<String>,
    /// `libmindspore_ascend.so.*` and other plug-ins below `plugin/`.
    pub plugins: Vec<String>,
}

impl Python {
    /// The command that runs the interpreter: its path, or `python3` if none was found.
    pub fn command(&self) -> &str {
        let found = self.interpreter.as_ref().map(|interpreter| interpreter.path.as_str());
        found.filter(|path| !path.is_empty()).unwrap_or("python3")
    }

    /// The distribution that `import` would find: the first of that name on `sys.path`. If torch or
    /// `torch_npu` has several metadata directories, it is the one whose version is in
    /// `version.py`, because its files are installed. `name` is normalized, for example
    /// `torch-npu`.
    pub fn dist(&self, name: &str) -> Option<&Dist> {
        let of_files = self.version_of_files(name).and_then(|version| {
            self.dists
                .iter()
                .find(|dist| dist.name == name && public(&dist.version) == public(version))
        });
        of_files.or_else(|| self.dists.iter().find(|dist| dist.name == name))
    }

    /// The version that `import` gives. If the metadata belongs to other files, this is the version
    /// of the files.
    pub fn imported_version<'a>(&'a self, dist: &'a Dist) -> &'a str {
        let files = self.version_of_files(&dist.name);
        files.filter(|files| public(files) != public(&dist.version)).unwrap_or(&dist.version)
    }

    /// The version in `version.py` of torch or `torch_npu`.
    fn version_of_files(&self, name: &str) -> Option<&str> {
        match name {
            "torch" => self.torch.version_py.as_deref(),
            "torch-npu" => self.torch.torch_npu_version_py.as_deref(),
            _ => None,
        }
    }

    /// All distributions with that normalized name.
    pub fn all_dists<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Dist> {
        self.dists.iter().filter(move |dist| dist.name == name)
    }
}

/// A version without its local part (`+cpu`, `+gitabc`).
fn public(version: &str) -> &str {
    version.split('+').next().unwrap_or(version)
}

/// Returns whether a file belongs to the tests of a package, which no program imports.
pub fn is_of_tests(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "test" | "tests"))
}

/// The normalized form of a distribution name (PEP 503).
pub fn normalize_name(name: &str) -> String {
    let mut out = String::with_capacity(name.len());
    for part in name.split(['-', '_', '.']).filter(|part| !part.is_empty()) {
        if !out.is_empty() {
            out.push('-');
        }
        out.push_str(&part.to_ascii_lowercase());
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn metadata_next_to_files_wins() {
        let dist = |version: &str| Dist {
            name: "torch-npu".to_owned(),
            version: version.to_owned(),
            ..Dist::default()
        };
        let mut python = Python { dists: vec![dist("2.6.0"), dist("2.7.1")], ..Python::default() };
        assert_eq!(python.dist("torch-npu").unwrap().version, "2.6.0");
        python.torch.torch_npu_version_py = Some("2.7.1+gitabc".to_owned());
        assert_eq!(python.dist("torch-npu").unwrap().version, "2.7.1");
    }

    #[test]
    fn files_of_another_version_than_the_metadata_are_what_is_imported() {
        let dist =
            Dist { name: "torch".to_owned(), version: "2.9.0rc1".to_owned(), ..Dist::default() };
        let mut python = Python::default();
        assert_eq!(python.imported_version(&dist), "2.9.0rc1");
        python.torch.version_py = Some("2.8.0+cpu".to_owned());
        assert_eq!(python.imported_version(&dist), "2.8.0+cpu");
        // A local part does not make a different version.
        python.torch.version_py = Some("2.9.0rc1+cpu".to_owned());
        assert_eq!(python.imported_version(&dist), "2.9.0rc1");
    }

    #[test]
    fn names_are_normalized() {
        assert_eq!(normalize_name("torch_npu"), "torch-npu");
        assert_eq!(normalize_name("Foo.-_Bar"), "foo-bar");
    }
}
