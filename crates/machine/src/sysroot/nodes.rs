//! Device nodes and owners in the sidecar of a copied tree, by path.

use std::collections::BTreeMap;
use std::ops::Bound;

use serde::Deserialize;

use super::sidecar::NodeMeta;
use facts::FileKind;

/// An entry of the sidecar, as small as possible: a recording has one for every file that was
/// accessed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(from = "NodeMeta")]
pub(super) struct Node {
    pub(super) kind: Option<FileKind>,
    pub(super) mode: Option<u16>,
    /// User and group; a missing one is 0.
    pub(super) owner: Option<(u32, u32)>,
    pub(super) device: Option<(u32, u32)>,
    pub(super) denied: bool,
}

impl From<NodeMeta> for Node {
    fn from(meta: NodeMeta) -> Self {
        let owned = meta.uid.is_some() || meta.gid.is_some();
        Self {
            kind: meta.kind.as_deref().map(kind_of_word),
            mode: meta.mode.as_deref().and_then(octal),
            owner: owned.then(|| (meta.uid.unwrap_or(0), meta.gid.unwrap_or(0))),
            device: meta.major.zip(meta.minor),
            denied: meta.denied.unwrap_or(false),
        }
    }
}

/// The kind for a word in a sidecar.
fn kind_of_word(word: &str) -> FileKind {
    match word {
        "char" => FileKind::Char,
        "block" => FileKind::Block,
        "file" => FileKind::File,
        "dir" | "directory" => FileKind::Directory,
        "fifo" => FileKind::Fifo,
        "socket" => FileKind::Socket,
        _ => FileKind::Other,
    }
}

fn octal(text: &str) -> Option<u16> {
    u32::from_str_radix(text.trim_start_matches("0o"), 8)
        .ok()
        .and_then(|mode| u16::try_from(mode & 0o7777).ok())
}

/// All entries of the sidecar.
#[derive(Debug, Default, Deserialize)]
#[serde(transparent)]
pub(super) struct Nodes(BTreeMap<Box<str>, Node>);

impl Nodes {
    pub(super) fn get(&self, path: &str) -> Option<&Node> {
        self.0.get(path)
    }

    /// Returns whether `path`, or a directory above it, was unreadable.
    pub(super) fn denies(&self, path: &str) -> bool {
        let ends = path.match_indices('/').map(|(at, _)| at).skip(1).chain([path.len()]);
        ends.into_iter().any(|end| self.get(&path[..end]).is_some_and(|node| node.denied))
    }

    /// Names and kinds of the entries of `dir` in the sidecar, even if the tree does not contain
    /// them.
    pub(super) fn children(&self, dir: &str) -> Vec<(&str, FileKind)> {
        let prefix = format!("{}/", dir.trim_end_matches('/'));
        let mut found = Vec::new();
        let mut from = prefix.clone();
        loop {
            let range = (Bound::Included(from.as_str()), Bound::Unbounded);
            let mut deeper = None;
            for (path, node) in self.0.range::<str, _>(range) {
                let Some(name) = path.strip_prefix(&*prefix) else { break };
                if let Some((directory, _)) = name.split_once('/') {
                    deeper = Some(directory);
                    break;
                }
                found.extend(node.kind.filter(|_| !name.is_empty()).map(|kind| (name, kind)));
            }
            // Skips everything in that directory: `0` is the character after `/`.
            match deeper {
                Some(directory) => from = format!("{prefix}{directory}0"),
                None => return found,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn children_skip_content_of_subdirectories() {
        let nodes: Nodes = serde_json::from_str(
            r#"{"/dev": {"type": "dir"}, "/dev/a": {"type": "char"}, "/dev/a/x": {"type": "file"},
                "/dev/a.b": {"type": "fifo"}, "/dev//x": {"type": "file"}, "/dev/-": {"type": "dir"},
                "/dev/b/y/z": {"type": "file"}, "/dev/b0": {"type": "block"}, "/dev/c": {"uid": 0},
                "/dev0": {"type": "file"}, "/devx/q": {"type": "file"}}"#,
        )
        .unwrap();
        let want = [
            ("-", FileKind::Directory),
            ("a", FileKind::Char),
            ("a.b", FileKind::Fifo),
            ("b0", FileKind::Block),
        ];
        assert_eq!(nodes.children("/dev"), want);
        assert_eq!(nodes.children("/dev/"), want);
        assert_eq!(nodes.children("/dev/b/y"), [("z", FileKind::File)]);
        assert_eq!(nodes.children("/dev/c"), []);
        let top: Vec<&str> = nodes.children("/").into_iter().map(|(name, _)| name).collect();
        assert_eq!(top, ["dev", "dev0"]);
    }

    #[test]
    fn node_keeps_known_fields() {
        let node = |text: &str| serde_json::from_str::<Node>(text).unwrap();
        let full = node(r#"{"type":"char","mode":"0660","uid":1,"gid":2,"major":3,"minor":4}"#);
        assert_eq!((full.kind, full.mode), (Some(FileKind::Char), Some(0o660)));
        assert_eq!((full.owner, full.device), (Some((1, 2)), Some((3, 4))));
        let odd = node(r#"{"type":"door","mode":"rw","gid":7,"major":3,"more":[]}"#);
        assert_eq!((odd.kind, odd.mode), (Some(FileKind::Other), None));
        assert_eq!((odd.owner, odd.device), (Some((0, 7)), None));
    }
}
