//! A broken (or healthy but unusual) machine as a file: a specification, the changes to it, and the
//! expected report. See `tests/fixtures/hosts/README.md`.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use serde::Deserialize;
use serde_json::Value;

use super::elf::{ElfBuilder, Machine};
use super::machine::Spec;
use super::python::{self, Dist};
use super::tree::{Entry, Tree};
use super::{cann, host, torch};

/// A file of `tests/fixtures/hosts/`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Recipe {
    /// The machine and its history, in one or two sentences.
    pub story: String,
    /// The failure of `check_failures_40.json` that it represents.
    #[serde(default)]
    pub failure: Option<String>,
    /// Threads and documents that it is based on.
    #[serde(default)]
    pub sources: Vec<String>,
    /// The machine before the changes.
    #[serde(default)]
    pub machine: Spec,
    /// The changes, in order.
    #[serde(default)]
    pub steps: Vec<Step>,
    /// The expected report.
    pub expect: Expect,
}

/// The expected content of a report.
#[derive(Debug, Default, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Expect {
    /// Arguments of the run.
    pub args: Vec<String>,
    /// The ids of the errors at the top: exactly these.
    pub errors: Vec<String>,
    /// The ids of the warnings at the top: exactly these.
    pub warnings: Vec<String>,
    /// Infos that must be reported; others may be.
    pub infos: Vec<String>,
    /// Findings that must be folded under another one; others may be.
    pub folded: Vec<String>,
    /// Ids that may not occur at all, not even folded.
    pub must_not: Vec<String>,
    /// Texts that the titles, evidence or fixes must contain.
    pub says: Vec<String>,
    /// Exit status.
    pub code: u8,
}

/// One change of the machine. `${site}`, `${cann}`, `${home}`, `${prefix}`, `${nnal}` in paths
/// stand for paths of the machine.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case", deny_unknown_fields)]
pub enum Step {
    /// Removes paths and everything below.
    Remove {
        /// Paths.
        paths: Vec<String>,
    },
    /// Writes a file.
    Write {
        /// Path.
        path: String,
        /// Content.
        text: String,
    },
    /// Replaces a text in a file.
    Replace {
        /// Path.
        path: String,
        /// The existing text.
        from: String,
        /// The new text.
        to: String,
    },
    /// Cuts a file.
    Truncate {
        /// Path.
        path: String,
        /// The remaining part, in percent.
        percent: usize,
    },
    /// Changes one byte in the middle of a file and keeps its size.
    Flip {
        /// Path.
        path: String,
    },
    /// Creates a symbolic link, replacing an existing entry.
    Link {
        /// Path.
        path: String,
        /// Target.
        to: String,
    },
    /// Creates an empty directory, replacing an existing entry.
    Dir {
        /// Path.
        path: String,
    },
    /// Copies a file or a directory.
    Copy {
        /// From.
        from: String,
        /// To.
        to: String,
    },
    /// Sets variables.
    Env {
        /// Names and values.
        set: BTreeMap<String, String>,
    },
    /// Removes variables.
    Unset {
        /// Names; one that ends with `*` matches all with this prefix.
        names: Vec<String>,
    },
    /// Prepends to a `:`-separated variable.
    Prepend {
        /// Variable.
        name: String,
        /// Entries.
        entries: Vec<String>,
    },
    /// Sets device nodes and owners.
    Node {
        /// Paths.
        paths: Vec<String>,
        /// Fields of `.rootmeta.json`; absent ones are kept.
        meta: BTreeMap<String, Value>,
    },
    /// Sets fields of `.process.json`.
    Process {
        /// Fields.
        set: BTreeMap<String, Value>,
    },
    /// Sets the size and the free space of a file system, in MB.
    Space {
        /// Path.
        path: String,
        /// Size.
        total_mb: u64,
        /// Free.
        free_mb: u64,
    },
    /// Sets the output of a command.
    Command {
        /// Command line.
        line: String,
        /// Output.
        text: String,
    },
    /// Installs a distribution; known ones (`torch`, `torch_npu`, `triton`, …) with their real
    /// content.
    Install {
        /// Name.
        name: String,
        /// Version.
        version: String,
        /// `Requires-Dist` of unknown ones.
        #[serde(default)]
        requires: Vec<String>,
        /// Files of unknown ones.
        #[serde(default)]
        files: BTreeMap<String, String>,
        /// Directory of an editable install.
        #[serde(default)]
        editable: Option<String>,
        /// Another site directory.
        #[serde(default)]
        site: Option<String>,
        /// A Python other than the machine's, for wheels with a tag.
        #[serde(default)]
        python: Option<String>,
        /// Another architecture.
        #[serde(default)]
        arch: Option<String>,
    },
    /// Rewrites the RECORD of a distribution, as in a custom build.
    Record {
        /// Path of the RECORD.
        path: String,
    },
    /// Removes a distribution like pip.
    Uninstall {
        /// Name.
        name: String,
    },
    /// Adds another toolkit.
    Toolkit {
        /// Release.
        version: String,
        /// Prefix.
        prefix: String,
        /// Architecture, if another one.
        #[serde(default)]
        arch: Option<String>,
        /// Whether its `set_env.sh` is also sourced, after the others.
        #[serde(default)]
        source: bool,
    },
    /// Adds NNAL.
    Nnal {
        /// Release.
        version: String,
        /// Prefix.
        prefix: String,
        /// Whether its `set_env.sh` is also sourced.
        #[serde(default)]
        source: Option<u8>,
    },
    /// Replaces the ops (kernels) package by that of another chip.
    Ops {
        /// Chip as in image tags.
        chip: String,
        /// Release, if another one.
        #[serde(default)]
        version: Option<String>,
    },
    /// Replaces the driver's files by those of another release, keeping the rest.
    Driver {
        /// Release.
        version: String,
    },
    /// Writes a shared object.
    Elf {
        /// Path.
        path: String,
        /// `DT_NEEDED`.
        #[serde(default)]
        needed: Vec<String>,
        /// Undefined symbols.
        #[serde(default)]
        undefined: Vec<String>,
        /// Defined symbols.
        #[serde(default)]
        define: Vec<String>,
        /// Architecture, if another one.
        #[serde(default)]
        arch: Option<String>,
        /// `DT_RPATH`.
        #[serde(default)]
        rpath: Option<String>,
    },
    /// Replaces a `libstdc++.so.6` by one up to `GLIBCXX_3.4.<minor>`.
    Stdcxx {
        /// Path.
        path: String,
        /// Minor version.
        minor: u32,
    },
}

/// A directory with the machine of a recipe in `machine`.
pub fn beside(recipe: &str) -> tempfile::TempDir {
    let dir = tempfile::tempdir().unwrap();
    let tree = dir.path().join("machine");
    std::fs::create_dir(&tree).unwrap();
    all().remove(recipe).unwrap().build().write(&tree);
    dir
}

/// All recipes, by name.
pub fn all() -> BTreeMap<String, Recipe> {
    let dir = dir();
    let mut recipes = BTreeMap::new();
    for entry in std::fs::read_dir(&dir).unwrap_or_else(|e| panic!("{}: {e}", dir.display())) {
        let path = entry.unwrap().path();
        if path.extension().is_some_and(|ext| ext == "toml") {
            recipes.insert(path.file_stem().unwrap().to_string_lossy().into_owned(), read(&path));
        }
    }
    recipes
}

/// The directory of the recipes.
pub fn dir() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/fixtures/hosts")
}

fn read(path: &Path) -> Recipe {
    let text = std::fs::read_to_string(path).unwrap();
    toml::from_str(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
}

impl Recipe {
    /// Builds the machine and applies the changes.
    pub fn build(&self) -> Tree {
        let mut tree = self.machine.build();
        for step in &self.steps {
            self.apply(step, &mut tree);
        }
        tree
    }

    fn python(&self, tree: &Tree, site: Option<&str>, version: Option<&str>) -> python::Python {
        python::Python {
            version: version.unwrap_or(&self.machine.python).to_owned(),
            prefix: tree.places["prefix"].clone(),
            site: site.map_or_else(|| tree.places["site"].clone(), |site| tree.expand(site)),
        }
    }

    fn apply(&self, step: &Step, tree: &mut Tree) {
        let arch = |other: &Option<String>| other.clone().unwrap_or(self.machine.arch.clone());
        match step {
            Step::Remove { paths } => {
                for path in paths {
                    tree.remove(&tree.expand(path));
                }
            }
            Step::Write { path, text } => {
                let text = tree.expand(text);
                tree.file(&tree.expand(path), text);
            }
            Step::Replace { path, from, to } => {
                let path = tree.expand(path);
                let text = tree.text(&path);
                assert!(text.contains(from.as_str()), "{path} does not hold {from}:\n{text}");
                tree.file(&path, text.replace(from.as_str(), to));
            }
            Step::Truncate { path, percent } => {
                let path = tree.expand(path);
                let bytes = tree.bytes(&path);
                let bytes = bytes[..bytes.len() * percent / 100].to_vec();
                tree.file(&path, bytes);
            }
            Step::Flip { path } => {
                let path = tree.expand(path);
                let mut bytes = tree.bytes(&path).to_vec();
                // In the padding, so that the headers do not change.
                let padding = bytes.windows(16).position(|window| window == [0x5a; 16]);
                let at = padding.unwrap_or(bytes.len() / 2);
                bytes[at] ^= 1;
                tree.file(&path, bytes);
            }
            Step::Link { path, to } => {
                let (path, to) = (tree.expand(path), tree.expand(to));
                if tree.entries.contains_key(&path) || tree.below(&path).next().is_some() {
                    tree.remove(&path);
                }
                tree.link(&path, &to);
            }
            Step::Dir { path } => {
                let path = tree.expand(path);
                if tree.entries.contains_key(&path) || tree.nodes.contains_key(&path) {
                    tree.remove(&path);
                }
                tree.dir(&path);
            }
            Step::Copy { from, to } => tree.copy(&tree.expand(from), &tree.expand(to)),
            Step::Env { set } => {
                for (name, value) in set {
                    tree.set_env(name, &tree.expand(value));
                }
            }
            Step::Unset { names } => {
                let env = tree.env.get_or_insert_default();
                for name in names {
                    let before = env.len();
                    match name.strip_suffix('*') {
                        Some(prefix) => env.retain(|key, _| !key.starts_with(prefix)),
                        None => env.retain(|key, _| key != name),
                    }
                    assert!(env.len() < before, "{name} is not set");
                }
            }
            Step::Prepend { name, entries } => {
                let entries: Vec<String> = entries.iter().map(|at| tree.expand(at)).collect();
                tree.prepend_env(name, &entries);
            }
            Step::Node { paths, meta } => {
                for path in paths {
                    let node = tree
                        .nodes
                        .entry(tree.expand(path))
                        .or_insert_with(|| Value::Object(serde_json::Map::new()));
                    for (key, value) in meta {
                        node[key] = value.clone();
                    }
                }
            }
            Step::Process { set } => {
                for (key, value) in set {
                    let value = match value {
                        Value::String(text) => Value::String(tree.expand(text)),
                        other => other.clone(),
                    };
                    tree.process.insert(key.clone(), value);
                }
            }
            Step::Space { path, total_mb, free_mb } => {
                tree.space.insert(path.clone(), (total_mb << 20, free_mb << 20));
            }
            Step::Command { line, text } => {
                tree.commands.insert(line.clone(), text.clone());
            }
            Step::Install {
                name,
                version,
                requires,
                files,
                editable,
                site,
                python,
                arch: other,
            } => {
                let at = self.python(tree, site.as_deref(), python.as_deref());
                let arch = arch(other);
                let dist = match name.as_str() {
                    "torch" => torch::torch(&arch, &at, version),
                    "torch_npu" => torch::torch_npu(&arch, &at, version),
                    "triton" => torch::triton(&at, &arch, version),
                    "triton_ascend" => torch::triton_ascend(&at, &arch, version),
                    _ => Dist::new(name, version),
                };
                let mut dist = dist.requires(requires);
                for (path, text) in files {
                    dist = dist.file(path, text);
                }
                dist.editable.clone_from(editable);
                dist.write(tree, &at.site);
                if matches!(name.as_str(), "vllm" | "sglang") {
                    let later = self.steps.iter().filter_map(|step| match step {
                        Step::Install { name, .. } => Some(name.as_str()),
                        _ => None,
                    });
                    torch::serving_imports(tree, &at, version, &later.collect::<Vec<_>>());
                }
            }
            Step::Record { path } => {
                let path = tree.expand(path);
                let site = tree.places["site"].clone();
                let rows: String = tree
                    .text(&path)
                    .lines()
                    .filter_map(|row| row.split_once(','))
                    .map(|(name, _)| match tree.entries.get(&format!("{site}/{name}")) {
                        Some(Entry::File(bytes)) if !name.ends_with("RECORD") => {
                            python::record_row(name, bytes)
                        }
                        _ => format!("{name},,\n"),
                    })
                    .collect();
                tree.file(&path, rows);
            }
            Step::Uninstall { name } => {
                let site = tree.places["site"].clone();
                python::uninstall(tree, &site, name);
            }
            Step::Toolkit { version, prefix, arch: other, source } => {
                let spec = Spec { arch: arch(other), ..self.machine.clone() };
                let install = cann::toolkit(tree, &spec, version, prefix);
                if *source {
                    cann::source_set_env(tree, &spec.arch, &install.home, true);
                }
            }
            Step::Nnal { version, prefix, source } => {
                cann::nnal(tree, &self.machine.arch, version, prefix);
                if let Some(abi) = source {
                    cann::source_nnal(tree, prefix, *abi);
                }
            }
            Step::Ops { chip, version } => self.replace_ops(tree, chip, version.as_deref()),
            Step::Driver { version } => {
                let mut other = Tree::default();
                host::driver(&mut other, &self.machine, version);
                tree.entries.extend(
                    other.entries.into_iter().filter(|(path, _)| path.contains("/driver/")),
                );
            }
            Step::Elf { path, needed, undefined, define, arch: other, rpath } => {
                let path = tree.expand(path);
                let mut object = ElfBuilder::new(Machine::of(&arch(other)))
                    .needed(needed)
                    .undefined(undefined)
                    .define(define);
                if path.contains(".so") {
                    object = object.soname(path.rsplit('/').next().unwrap());
                }
                if let Some(rpath) = rpath {
                    object = object.rpath(rpath);
                }
                tree.file(&path, object.build());
            }
            Step::Stdcxx { path, minor } => {
                let bytes = host::libstdcxx(&self.machine.arch, *minor);
                tree.file(&tree.expand(path), bytes);
            }
        }
    }

    fn replace_ops(&self, tree: &mut Tree, chip: &str, version: Option<&str>) {
        let root = tree.places["cann"].clone();
        let kernel = format!("{root}/opp/built-in/op_impl/ai_core/tbe/kernel");
        tree.entries.retain(|path, _| {
            !path.starts_with(&kernel)
                && !path.contains("/ascend_kernels_")
                && !path.ends_with("/ascend_ops_install.info")
        });
        let release = super::versions::find(
            super::versions::CANN,
            version.unwrap_or(&self.machine.cann),
            |row| row.version,
        );
        // The files of an old release keep the old names even if the toolkit has the new layout.
        cann::ops(tree, release, &self.machine.arch, &root, chip);
    }
}

impl Tree {
    /// The kind of entry at a path, for messages.
    pub fn kind(&self, path: &str) -> &'static str {
        match self.entries.get(path) {
            Some(Entry::File(_)) => "file",
            Some(Entry::Link(_)) => "link",
            Some(Entry::Dir) => "directory",
            Some(Entry::Sparse(_)) => "sparse file",
            None => "nothing",
        }
    }
}
