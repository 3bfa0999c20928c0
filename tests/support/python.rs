//! Interpreters and installed distributions, with correct RECORD files.

use std::fmt::Write as _;

use sha2::Digest as _;

use super::elf::{ElfBuilder, Machine};
use super::machine::Spec;
use super::tree::{Entry, Tree};

/// An interpreter of a tree.
#[derive(Debug, Clone)]
pub struct Python {
    /// `3.11`.
    pub version: String,
    /// `sys.prefix`.
    pub prefix: String,
    /// Its site-packages.
    pub site: String,
}

impl Python {
    /// `cp311`.
    pub fn tag(&self) -> String {
        format!("cp{}", self.version.replace('.', ""))
    }

    /// `cpython-311-aarch64-linux-gnu`.
    pub fn extension(&self, arch: &str) -> String {
        format!("cpython-{}-{arch}-linux-gnu", self.version.replace('.', ""))
    }
}

/// Adds the interpreter that `spec` requires, with the packages that CANN's compiler needs.
pub fn interpreter(tree: &mut Tree, spec: &Spec) -> Python {
    let (arch, version) = (spec.arch.as_str(), spec.python.as_str());
    let elf = |needed: &[&str]| {
        ElfBuilder::new(Machine::of(arch))
            .needed(needed)
            .needed(["libm.so.6", "libc.so.6"])
            .require_versions("libc.so.6", ["GLIBC_2.17"])
            .define(["PyObject_Call", "PyExc_RuntimeError"])
            .build()
    };
    let path = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";
    tree.set_env("PATH", path);
    tree.set_env("HOME", "/root");
    tree.set_env("PWD", "/root");
    let system = format!("/usr/bin/python{version}");
    let (prefix, site) = match spec.env.as_str() {
        "system" => {
            tree.file(&system, elf(&[]));
            tree.link("/usr/bin/python3", &format!("python{version}"));
            let packages =
                if spec.os.starts_with("ubuntu") { "dist-packages" } else { "site-packages" };
            ("/usr".to_owned(), format!("/usr/local/lib/python{version}/{packages}"))
        }
        "venv" => {
            let prefix = "/root/venv".to_owned();
            tree.file(&system, elf(&[]));
            tree.link("/usr/bin/python3", &format!("python{version}"));
            tree.link(&format!("{prefix}/bin/python3"), "/usr/bin/python3");
            tree.link(&format!("{prefix}/bin/python"), "python3");
            tree.link(&format!("{prefix}/bin/python{version}"), "python3");
            tree.file(
                &format!("{prefix}/pyvenv.cfg"),
                format!("home = /usr/bin\ninclude-system-site-packages = false\nversion = {version}.12\nexecutable = {system}\ncommand = /usr/bin/python3 -m venv {prefix}\n"),
            );
            tree.set_env("VIRTUAL_ENV", &prefix);
            tree.prepend_env("PATH", &[format!("{prefix}/bin")]);
            (prefix.clone(), format!("{prefix}/lib/python{version}/site-packages"))
        }
        "conda" => {
            let prefix = "/root/miniconda3/envs/npu".to_owned();
            tree.file(&format!("{prefix}/bin/python{version}"), elf(&[]));
            tree.link(&format!("{prefix}/bin/python3"), &format!("python{version}"));
            tree.link(&format!("{prefix}/bin/python"), &format!("python{version}"));
            tree.file(
                &format!("{prefix}/conda-meta/python-{version}.14-h955ad1f_1.json"),
                format!("{{\"name\": \"python\", \"version\": \"{version}.14\"}}"),
            );
            tree.file(&format!("{prefix}/conda-meta/history"), "");
            tree.file(
                &format!("{prefix}/lib/libstdc++.so.6.0.29"),
                super::host::libstdcxx(arch, 29),
            );
            tree.link(&format!("{prefix}/lib/libstdc++.so.6"), "libstdc++.so.6.0.29");
            tree.set_env("CONDA_PREFIX", &prefix);
            tree.set_env("CONDA_DEFAULT_ENV", "npu");
            tree.prepend_env(
                "PATH",
                &[format!("{prefix}/bin"), "/root/miniconda3/condabin".to_owned()],
            );
            (prefix.clone(), format!("{prefix}/lib/python{version}/site-packages"))
        }
        "image" => {
            let prefix = format!("/usr/local/python{version}.14");
            tree.file(&format!("{prefix}/bin/python{version}"), elf(&[]));
            tree.link(&format!("{prefix}/bin/python3"), &format!("python{version}"));
            tree.link(&format!("{prefix}/bin/python"), &format!("python{version}"));
            tree.prepend_env("PATH", &[format!("{prefix}/bin")]);
            (prefix.clone(), format!("{prefix}/lib/python{version}/site-packages"))
        }
        other => panic!("unknown kind of Python environment: {other}"),
    };
    tree.file(&format!("{prefix}/lib/python{version}/os.py"), "# standard library\n");
    let python = Python { version: version.to_owned(), prefix, site };
    for (name, version) in base_packages(spec) {
        // Omits unused files of such a package, because thousands of trees are written.
        Dist { bare: true, ..Dist::new(name, version) }.write(tree, &python.site);
    }
    python
}

/// The packages that pip installs with torch, and those that CANN's compiler imports.
fn base_packages(spec: &Spec) -> Vec<(&'static str, &'static str)> {
    let old = super::versions::numbers(&spec.python)[1] < 9;
    let numpy = if old { "1.24.4" } else { "1.26.4" };
    vec![
        ("pip", "24.0"),
        ("setuptools", "75.3.2"),
        ("wheel", "0.45.1"),
        ("numpy", numpy),
        ("decorator", "5.1.1"),
        ("sympy", "1.13.3"),
        ("mpmath", "1.3.0"),
        ("cffi", "1.17.1"),
        ("pycparser", "2.22"),
        ("PyYAML", "6.0.2"),
        ("pathlib2", "2.3.7.post1"),
        ("six", "1.17.0"),
        ("psutil", "6.1.1"),
        ("protobuf", "3.20.3"),
        ("scipy", "1.10.1"),
        ("requests", "2.32.3"),
        ("urllib3", "2.2.3"),
        ("idna", "3.10"),
        ("certifi", "2025.1.31"),
        ("charset-normalizer", "3.4.1"),
        ("absl-py", "2.1.0"),
        ("attrs", "25.1.0"),
        ("cloudpickle", "3.1.1"),
        ("ml_dtypes", "0.5.1"),
        ("tornado", "6.4.2"),
        ("filelock", "3.16.1"),
        ("typing_extensions", "4.12.2"),
        ("networkx", "3.1"),
        ("Jinja2", "3.1.5"),
        ("MarkupSafe", "2.1.5"),
        ("fsspec", "2025.3.0"),
    ]
}

/// A distribution to install.
#[derive(Debug, Clone, Default)]
pub struct Dist {
    /// Name as written.
    pub name: String,
    /// Version.
    pub version: String,
    /// `Requires-Dist`.
    pub requires: Vec<String>,
    /// `Requires-Python`.
    pub requires_python: Option<String>,
    /// `Tag` lines.
    pub tags: Vec<String>,
    /// `entry_points.txt`.
    pub entry_points: String,
    /// Files below site-packages.
    pub files: Vec<(String, Vec<u8>)>,
    /// Directory of an editable install.
    pub editable: Option<String>,
    /// Whether to write only METADATA, RECORD and one module.
    pub bare: bool,
}

impl Dist {
    /// A pure-Python package with one module.
    pub fn new(name: &str, version: &str) -> Self {
        let module = name.to_lowercase().replace('-', "_");
        Self {
            name: name.to_owned(),
            version: version.to_owned(),
            tags: vec!["py3-none-any".to_owned()],
            files: vec![(
                format!("{module}/__init__.py"),
                format!("__version__ = '{version}'\n").into_bytes(),
            )],
            ..Self::default()
        }
    }

    /// Adds requirements.
    #[must_use]
    pub fn requires<S: AsRef<str>>(mut self, lines: impl IntoIterator<Item = S>) -> Self {
        self.requires.extend(lines.into_iter().map(|line| line.as_ref().to_owned()));
        self
    }

    /// Adds a file below site-packages.
    #[must_use]
    pub fn file(mut self, path: &str, content: impl AsRef<[u8]>) -> Self {
        self.files.push((path.to_owned(), content.as_ref().to_vec()));
        self
    }

    /// The `dist-info` directory's name.
    pub fn info_dir(&self) -> String {
        format!("{}-{}.dist-info", self.name.replace('-', "_"), self.version)
    }

    /// Writes it into `site` like pip, without replacing existing files.
    pub fn write(&self, tree: &mut Tree, site: &str) {
        let info = self.info_dir();
        let mut metadata = format!(
            "Metadata-Version: 2.1\nName: {}\nVersion: {}\nSummary: fixture\n",
            self.name, self.version
        );
        if let Some(python) = &self.requires_python {
            let _ = writeln!(metadata, "Requires-Python: {python}");
        }
        for line in &self.requires {
            let _ = writeln!(metadata, "Requires-Dist: {line}");
        }
        metadata.push_str("\n# A description\n\nName: not a field any more\n");
        let tags: String = self.tags.iter().map(|tag| format!("Tag: {tag}\n")).collect();
        let mut files = self.files.clone();
        if self.editable.is_some() {
            files = vec![(
                format!("__editable__.{}-{}.pth", self.name.replace('-', "_"), self.version),
                format!("{}\n", self.editable.as_deref().unwrap_or_default()).into_bytes(),
            )];
        }
        files.push((format!("{info}/METADATA"), metadata.into_bytes()));
        if !self.bare {
            files.push((
            format!("{info}/WHEEL"),
            format!(
                "Wheel-Version: 1.0\nGenerator: setuptools (75.3.2)\nRoot-Is-Purelib: {}\n{tags}\n",
                self.tags.iter().all(|tag| tag.ends_with("any"))
            )
            .into_bytes(),
        ));
            files.push((format!("{info}/INSTALLER"), b"pip\n".to_vec()));
            files.push((format!("{info}/REQUESTED"), Vec::new()));
        }
        if !self.entry_points.is_empty() {
            files
                .push((format!("{info}/entry_points.txt"), self.entry_points.clone().into_bytes()));
        }
        if let Some(dir) = &self.editable {
            let url =
                format!("{{\"dir_info\": {{\"editable\": true}}, \"url\": \"file://{dir}\"}}");
            files.push((format!("{info}/direct_url.json"), url.into_bytes()));
        }
        let record: String = files
            .iter()
            .map(|(path, bytes)| record_row(path, bytes))
            .chain([format!("{info}/RECORD,,\n")])
            .collect();
        for (path, bytes) in files {
            tree.file(&format!("{site}/{path}"), bytes);
        }
        tree.file(&format!("{site}/{info}/RECORD"), record);
    }
}

/// A row of RECORD; a name with a comma or a quote is quoted as in CSV.
pub fn record_row(path: &str, bytes: &[u8]) -> String {
    let name = if path.contains([',', '"']) {
        format!("\"{}\"", path.replace('"', "\"\""))
    } else {
        path.to_owned()
    };
    format!("{name},sha256={},{}\n", base64url(&sha2::Sha256::digest(bytes)), bytes.len())
}

/// Base64 with the URL alphabet and no padding, as in RECORD.
fn base64url(bytes: &[u8]) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
    let mut out = String::new();
    for chunk in bytes.chunks(3) {
        let mut word = 0_u32;
        for at in 0..3 {
            word = word << 8 | u32::from(chunk.get(at).copied().unwrap_or(0));
        }
        for at in 0..=chunk.len() {
            out.push(char::from(ALPHABET[(word >> (18 - 6 * at) & 63) as usize]));
        }
    }
    out
}

/// Removes a distribution with all files that its RECORD names.
pub fn uninstall(tree: &mut Tree, site: &str, name: &str) {
    let wanted = name.to_lowercase().replace(['-', '.'], "_");
    let info = tree
        .below(site)
        .filter_map(|path| {
            path.strip_prefix(site)?.trim_start_matches('/').strip_suffix(".dist-info/RECORD")
        })
        .find(|stem| stem.rsplit_once('-').is_some_and(|(stem, _)| stem.to_lowercase() == wanted))
        .unwrap_or_else(|| panic!("{name} is not installed in {site}"))
        .to_owned();
    let record = tree.text(&format!("{site}/{info}.dist-info/RECORD"));
    for row in record.lines() {
        if let Some((path, _)) = row.split_once(',')
            && let Some(Entry::File(_)) = tree.entries.get(&format!("{site}/{path}"))
        {
            tree.entries.remove(&format!("{site}/{path}"));
        }
    }
}
