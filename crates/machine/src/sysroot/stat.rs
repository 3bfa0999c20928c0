//! The status of a file: its kind, owner and permissions.

use rustix::fs::FileType;

use super::nodes::Node;
use facts::FileKind;

/// The kind in a listing; `None` if the listing has none.
pub(super) fn kind_of_type(kind: FileType) -> Option<FileKind> {
    Some(match kind {
        FileType::RegularFile => FileKind::File,
        FileType::Directory => FileKind::Directory,
        FileType::Symlink => FileKind::Link,
        FileType::CharacterDevice => FileKind::Char,
        FileType::BlockDevice => FileKind::Block,
        FileType::Fifo => FileKind::Fifo,
        FileType::Socket => FileKind::Socket,
        FileType::Unknown => return None,
    })
}

/// Status of a file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stat {
    /// Its kind.
    pub kind: FileKind,
    /// Size in bytes.
    pub size: u64,
    /// Permission bits.
    pub mode: u32,
    /// Owner.
    pub uid: u32,
    /// Group.
    pub gid: u32,
    /// Major and minor number of a device node, where known.
    pub device: Option<(u32, u32)>,
    /// The time of the last change of the content, in seconds since 1970; a copied tree may have
    /// lost it.
    pub modified: Option<i64>,
    /// Whether mode and owner are those of the examined machine; a copied tree has lost them.
    pub owner_known: bool,
}

impl Stat {
    pub(super) fn from_raw(raw: &rustix::fs::Stat) -> Self {
        let kind = kind_of_type(FileType::from_raw_mode(raw.st_mode)).unwrap_or(FileKind::Other);
        let device = matches!(kind, FileKind::Char | FileKind::Block)
            .then(|| (rustix::fs::major(raw.st_rdev), rustix::fs::minor(raw.st_rdev)));
        Self {
            kind,
            size: u64::try_from(raw.st_size).unwrap_or(0),
            mode: raw.st_mode & 0o7777,
            uid: raw.st_uid,
            gid: raw.st_gid,
            device,
            modified: Some(raw.st_mtime),
            owner_known: true,
        }
    }

    /// The status in a copied tree, corrected by its sidecar.
    pub(super) fn overlaid(mut self, node: Option<&Node>) -> Self {
        self.owner_known = false;
        let Some(node) = node else { return self };
        self.kind = node.kind.unwrap_or(self.kind);
        if let Some(mode) = node.mode {
            self.mode = mode.into();
            (self.uid, self.gid) = (0, 0);
            self.owner_known = true;
        }
        if let Some(owner) = node.owner {
            (self.uid, self.gid) = owner;
            self.owner_known = true;
        }
        self.device = node.device.or(self.device);
        self
    }

    /// A node that exists only as a sidecar entry.
    pub(super) fn virtual_node(node: &Node) -> Self {
        let bare = Self {
            kind: FileKind::Other,
            size: 0,
            mode: 0o600,
            uid: 0,
            gid: 0,
            device: None,
            modified: None,
            owner_known: false,
        };
        bare.overlaid(Some(node))
    }
}
