//! The interpreter and its packages, found without running Python.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::{Lines, place};
use base::report::Evidence;

/// The Python environment under examination, and others that were seen.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Python {
    /// The interpreter that would run the workload.
    pub interpreter: Option<Interpreter>,
    /// Other interpreters with a `torch_npu` of their own.
    pub others: Vec<Interpreter>,
    /// Directories on `sys.path` that hold packages, in order.
    pub site_dirs: Vec<String>,
    /// Installed distributions, in the order in which they are found.
    pub dists: Vec<Dist>,
    /// Lines of `.pth` files that run code (`import …`).
    pub pth_imports: Vec<PthCode>,
    /// Source trees that shadow an installed package: package and directory.
    pub shadows: Vec<(String, String)>,
    /// An interpreter that was asked for (`--python`, `.process.json`, `VIRTUAL_ENV`, …) and is
    /// not there: who asked, and its path.
    pub missing_interpreter: Option<(String, String)>,
    /// What `--python` names where that is a file which is no Python.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_python: Option<String>,
    /// Modules that CANN's operator compiler consists of or imports, as far as `import` would
    /// find them, and where: `te`, `decorator`, …
    pub modules: BTreeMap<String, String>,
    /// Package directories that editable installs map by a finder: package and directory.
    pub editable_packages: BTreeMap<String, String>,
    /// Facts about single packages that no metadata holds.
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
    /// The distribution, normalised.
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
    /// Path as it was found.
    pub path: String,
    /// Path without links.
    pub real: String,
    /// `X.Y` or `X.Y.Z`.
    pub version: Option<String>,
    /// `venv`, `conda` or `system`.
    pub kind: String,
    /// Why it was taken: `--python`, `VIRTUAL_ENV`, `CONDA_PREFIX`, `PATH`, …
    pub chosen_by: String,
    /// Architecture in the ELF header.
    pub arch: Option<String>,
    /// `sys.prefix`.
    pub prefix: String,
    /// `sys.base_prefix` of a virtual environment: where it was made from.
    pub base_prefix: Option<String>,
    /// `include-system-site-packages` of a virtual environment.
    pub system_site: bool,
    /// Where the path leads if that does not exist: a link of a virtual environment to an
    /// interpreter that was removed.
    pub dangling: Option<String>,
    /// Why `path` starts nothing, where that is known: the environment around it was found by its
    /// library directory or its configuration.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    #[cfg_attr(feature = "schema", schemars(default))]
    pub unusable: Option<Unusable>,
}

/// Why the file of an interpreter starts nothing.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Unusable {
    /// It is not there, or a link to it leads nowhere.
    Absent,
    /// It is neither an ELF program nor a script, for example empty after a full disk.
    NotAProgram,
    /// `PYTHONHOME` names a directory without the standard library of this version: Python stops
    /// before it runs a line.
    NoHome,
}

/// An installed distribution (`*.dist-info`, `*.egg-info`).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct Dist {
    /// Name, normalised (PEP 503: lower case, runs of `-_.` become `-`).
    pub name: String,
    /// Version, as written.
    pub version: String,
    /// The `dist-info` directory.
    pub path: String,
    /// The directory on `sys.path` that it lies in.
    pub site_dir: String,
    /// `Requires-Dist` lines.
    pub requires: Vec<String>,
    /// `Requires-Python`.
    pub requires_python: Option<String>,
    /// `Tag` lines of `WHEEL`.
    pub tags: Vec<String>,
    /// Lines of `entry_points.txt`.
    pub entry_points: Vec<EntryPoint>,
    /// The file that name, version and requirements were read from: `METADATA` or `PKG-INFO` in
    /// the directory, or an `egg-info` that is a file. Empty if there is none.
    #[serde(default)]
    pub metadata: String,
    /// Lines of that file: `Version`, `Requires-Python`, and `Requires-Dist: …` with its value.
    #[serde(default)]
    pub lines: Lines,
    /// Directory of an editable install (`direct_url.json`).
    pub editable: Option<String>,
    /// Whether `METADATA` is there and has name and version.
    pub metadata_ok: bool,
    /// Whether `RECORD` is there.
    pub has_record: bool,
    /// How many `.py` and `.so` files RECORD lists (only counted for the packages of the stack).
    pub listed_files: u32,
    /// How many of those are missing.
    pub missing_files: u32,
    /// The first of those, as paths on the machine.
    pub missing_sample: Vec<String>,
    /// The lines of RECORD, counted from 1, that list these.
    #[serde(default)]
    pub missing_lines: Vec<u32>,
    /// The top-level directories that its RECORD installs files into (packages of the stack).
    pub top_level: Vec<String>,
}

impl Dist {
    /// The place of a field of its metadata. What has no line there was taken from the name of
    /// the `dist-info` directory.
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
    /// The heading that it stands under, for example `vllm.platform_plugins`.
    pub group: String,
    /// Left of `=`.
    pub name: String,
    /// Right of `=`: `module` or `module:attribute`.
    pub value: String,
    /// The line, counted from 1, where known.
    #[serde(default)]
    pub line: Option<u32>,
}

/// A line of a `.pth` file that Python runs at its start.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
pub struct PthCode {
    /// The `.pth` file.
    pub path: String,
    /// The code, cut to what a report can hold.
    pub code: String,
    /// The line, counted from 1, where known.
    #[serde(default)]
    pub line: Option<u32>,
}

/// What `torch` and `torch_npu` say outside their metadata.
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
    /// The package directories that were found: `torch`, `torch_npu`.
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
    /// Of those, the ones that need a CUDA library: file and library.
    pub cuda_needed: Vec<(String, String)>,
    /// Distributions whose RECORD lists files below `triton/`: name and version.
    pub triton_owners: Vec<(String, String)>,
    /// How many files of `triton/` were compared with triton-ascend's RECORD.
    pub triton_compared: u32,
    /// Files of `triton/` whose size or hash differs from triton-ascend's RECORD.
    pub triton_overwritten: Vec<String>,
    /// A directory `triton` that no distribution owns and that is no package: what is left when
    /// distributions that share it are uninstalled in the wrong order.
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
    /// What to type to run the interpreter: its path, or `python3` if none was found.
    pub fn command(&self) -> &str {
        let found = self.interpreter.as_ref().map(|interpreter| interpreter.path.as_str());
        found.filter(|path| !path.is_empty()).unwrap_or("python3")
    }

    /// The distribution that `import` would find: the first of that name on `sys.path`; of
    /// several metadata directories of torch or `torch_npu`, the one whose files are there, as
    /// their `version.py` tells. `name` is normalised, for example `torch-npu`.
    pub fn dist(&self, name: &str) -> Option<&Dist> {
        let of_files = self.version_of_files(name).and_then(|version| {
            self.dists
                .iter()
                .find(|dist| dist.name == name && public(&dist.version) == public(version))
        });
        of_files.or_else(|| self.dists.iter().find(|dist| dist.name == name))
    }

    /// The version that `import` gives: that of the files, should the metadata be of others.
    pub fn imported_version<'a>(&'a self, dist: &'a Dist) -> &'a str {
        let files = self.version_of_files(&dist.name);
        files.filter(|files| public(files) != public(&dist.version)).unwrap_or(&dist.version)
    }

    /// What `version.py` of torch or `torch_npu` says.
    fn version_of_files(&self, name: &str) -> Option<&str> {
        match name {
            "torch" => self.torch.version_py.as_deref(),
            "torch-npu" => self.torch.torch_npu_version_py.as_deref(),
            _ => None,
        }
    }

    /// All distributions of that normalised name.
    pub fn all_dists<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Dist> {
        self.dists.iter().filter(move |dist| dist.name == name)
    }
}

/// A version without its local part (`+cpu`, `+gitabc`).
fn public(version: &str) -> &str {
    version.split('+').next().unwrap_or(version)
}

/// Whether a file belongs to the tests of a package, which no program imports.
pub fn is_of_tests(path: &str) -> bool {
    path.split('/').any(|part| matches!(part, "test" | "tests"))
}

/// The normalised form of a distribution name (PEP 503).
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
        // A local part is no other version.
        python.torch.version_py = Some("2.9.0rc1+cpu".to_owned());
        assert_eq!(python.imported_version(&dist), "2.9.0rc1");
    }

    #[test]
    fn names_are_normalized() {
        assert_eq!(normalize_name("torch_npu"), "torch-npu");
        assert_eq!(normalize_name("Foo.-_Bar"), "foo-bar");
    }
}
