//! A machine as a tree of files in memory, with the data that a copied tree cannot contain.

use std::collections::{BTreeMap, BTreeSet};
use std::os::unix::fs::symlink;
use std::path::Path;
use std::sync::Arc;

use serde_json::{Map, Value, json};

/// The entry at a path.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Entry {
    /// A regular file.
    File(Arc<[u8]>),
    /// A symbolic link, target as written.
    Link(String),
    /// An empty directory; others need no entry.
    Dir,
    /// A sparse file of this size without data.
    Sparse(u64),
}

/// A complete machine.
#[derive(Debug, Clone, Default)]
pub struct Tree {
    /// Files by absolute path.
    pub entries: BTreeMap<String, Entry>,
    /// `.rootmeta.json`.
    pub nodes: BTreeMap<String, Value>,
    /// `.env.json`; absent if the environment is unknown.
    pub env: Option<BTreeMap<String, String>>,
    /// `.process.json`.
    pub process: Map<String, Value>,
    /// `.space.json`: size and free bytes by path.
    pub space: BTreeMap<String, (u64, u64)>,
    /// `.commands.json`: output by command line.
    pub commands: BTreeMap<String, String>,
    /// Names for paths, for recipes: `site`, `cann`, `prefix`, `python`, `nnal`.
    pub places: BTreeMap<String, String>,
}

impl Tree {
    /// Adds or replaces a file.
    pub fn file(&mut self, path: &str, content: impl AsRef<[u8]>) {
        self.entries.insert(path.to_owned(), Entry::File(content.as_ref().into()));
    }

    /// Adds or replaces a link.
    pub fn link(&mut self, path: &str, target: &str) {
        self.entries.insert(path.to_owned(), Entry::Link(target.to_owned()));
    }

    /// Adds an empty directory.
    pub fn dir(&mut self, path: &str) {
        self.entries.insert(path.to_owned(), Entry::Dir);
    }

    /// Removes an existing path and everything below it.
    pub fn remove(&mut self, path: &str) {
        let below = format!("{}/", path.trim_end_matches('/'));
        let before = self.entries.len() + self.nodes.len();
        self.entries.retain(|at, _| at != path && !at.starts_with(&below));
        self.nodes.retain(|at, _| at != path && !at.starts_with(&below));
        let after = self.entries.len() + self.nodes.len();
        assert!(after < before, "nothing at {path} to remove");
    }

    /// The bytes of an existing file.
    pub fn bytes(&self, path: &str) -> &[u8] {
        match self.entries.get(path) {
            Some(Entry::File(bytes)) => bytes,
            other => panic!("{path} is no file but {other:?}"),
        }
    }

    /// The text of an existing file.
    pub fn text(&self, path: &str) -> String {
        String::from_utf8(self.bytes(path).to_vec()).unwrap()
    }

    /// The paths below `dir`.
    pub fn below<'a>(&'a self, dir: &'a str) -> impl Iterator<Item = &'a String> {
        self.entries
            .keys()
            .filter(move |path| path.strip_prefix(dir).is_some_and(|rest| rest.starts_with('/')))
    }

    /// Copies everything below `from` to `to`.
    pub fn copy(&mut self, from: &str, to: &str) {
        let copies: Vec<(String, Entry)> = self
            .entries
            .iter()
            .filter_map(|(path, entry)| {
                let rest = path.strip_prefix(from)?;
                (rest.is_empty() || rest.starts_with('/'))
                    .then(|| (format!("{to}{rest}"), entry.clone()))
            })
            .collect();
        assert!(!copies.is_empty(), "nothing at {from} to copy");
        self.entries.extend(copies);
    }

    /// Adds a device node or an owner.
    pub fn node(&mut self, path: &str, meta: Value) {
        self.nodes.insert(path.to_owned(), meta);
    }

    /// Sets a variable.
    pub fn set_env(&mut self, name: &str, value: &str) {
        self.env.get_or_insert_default().insert(name.to_owned(), value.to_owned());
    }

    /// Prepends entries to a `:`-separated variable, like `set_env.sh` and image files.
    pub fn prepend_env(&mut self, name: &str, entries: &[String]) {
        let env = self.env.get_or_insert_default();
        let mut value = entries.join(":");
        if let Some(old) = env.get(name).filter(|old| !old.is_empty()) {
            value = format!("{value}:{old}");
        }
        env.insert(name.to_owned(), value);
    }

    /// Replaces `${site}` and the like by their paths.
    pub fn expand(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (name, path) in &self.places {
            text = text.replace(&format!("${{{name}}}"), path);
        }
        assert!(!text.contains("${"), "unknown place in {text}; known: {:?}", self.places);
        text
    }

    /// Writes the tree into the existing directory `root`.
    pub fn write(&self, root: &Path) {
        self.update(root, &Self::default());
    }

    /// Updates `root`, which contains `old`, to this tree: with far fewer file operations than
    /// writing all of it.
    pub fn update(&self, root: &Path, old: &Self) {
        for (path, entry) in &old.entries {
            if self.entries.get(path) != Some(entry) {
                remove(root, path, entry);
            }
        }
        let mut made = BTreeSet::new();
        for (path, entry) in &self.entries {
            if old.entries.get(path) == Some(entry) && !matches!(entry, Entry::Dir) {
                continue;
            }
            let at = root.join(path.trim_start_matches('/'));
            if let Some(parent) = at.parent()
                && made.insert(parent.to_owned())
            {
                std::fs::create_dir_all(parent).unwrap();
            }
            match entry {
                Entry::File(bytes) => std::fs::write(&at, bytes).unwrap(),
                Entry::Link(target) => {
                    symlink(target, &at).unwrap_or_else(|error| panic!("{path}: {error}"));
                }
                Entry::Dir => std::fs::create_dir_all(&at).unwrap(),
                Entry::Sparse(size) => std::fs::File::create(&at).unwrap().set_len(*size).unwrap(),
            }
        }
        for name in [".env.json", ".space.json", ".commands.json"] {
            let _ = std::fs::remove_file(root.join(name));
        }
        self.write_sidecars(root);
    }

    /// Writes only the sidecar files.
    pub fn write_sidecars(&self, root: &Path) {
        let write = |name: &str, value: Value| {
            std::fs::write(root.join(name), serde_json::to_vec_pretty(&value).unwrap()).unwrap();
        };
        write(".rootmeta.json", json!(self.nodes));
        write(".process.json", json!(self.process));
        if let Some(env) = &self.env {
            write(".env.json", json!(env));
        }
        if !self.space.is_empty() {
            let paths: Map<String, Value> = self
                .space
                .iter()
                .map(|(path, (total, available))| {
                    (path.clone(), json!({ "total": total, "available": available }))
                })
                .collect();
            write(".space.json", json!({ "paths": paths }));
        }
        if !self.commands.is_empty() {
            let commands: Map<String, Value> = self
                .commands
                .iter()
                .map(|(line, text)| (line.clone(), json!({ "status": 0, "text": text })))
                .collect();
            write(".commands.json", json!(commands));
        }
    }
}

/// Removes an entry, and the directories that it leaves empty.
fn remove(root: &Path, path: &str, entry: &Entry) {
    let at = root.join(path.trim_start_matches('/'));
    if *entry == Entry::Dir {
        let _ = std::fs::remove_dir(&at);
    } else {
        std::fs::remove_file(&at).unwrap_or_else(|error| panic!("{path}: {error}"));
    }
    for dir in at.ancestors().skip(1).take_while(|dir| *dir != root) {
        if std::fs::remove_dir(dir).is_err() {
            break;
        }
    }
}
