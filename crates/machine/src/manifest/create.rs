//! Creates a manifest of all files that RECORD lists, if they agree with RECORD.

use super::format::Manifest;
use super::record::{self, Record};
use crate::sysroot::Sysroot;
use base::hash::Sha256;
use base::text::Text;
use data::{Fault, faults};
use data::{is_of_package, record_digest};
use facts::normalize_name;

/// The reason why no manifest can be created from a wheel or directory.
#[derive(Debug)]
pub enum CreateError {
    /// It is not a wheel, or not a directory with an installed package.
    NoWheel(Text),
    /// A malicious or damaged archive.
    Entry {
        /// The entry.
        name: String,
        /// The defect of the entry.
        reason: Text,
    },
    /// A file differs from its RECORD; a manifest would make the damage look right.
    Differs {
        /// Path in the wheel.
        path: String,
        /// The kind of difference.
        reason: Text,
    },
}

impl CreateError {
    /// The error as a text for users.
    pub fn fault(&self) -> Fault {
        match self {
            Self::NoWheel(why) => faults::Plain { why }.fault(),
            Self::Entry { name, reason } => faults::ArchiveEntry { name, why: reason }.fault(),
            Self::Differs { path, reason } => {
                faults::DiffersFromRecord { path, why: reason }.fault()
            }
        }
    }
}

data::impl_fault!(CreateError);

/// The distribution of a dist-info directory, by its METADATA.
pub(super) struct Identity {
    pub(super) package: String,
    pub(super) version: String,
}

impl Identity {
    pub(super) fn parse(metadata: &str) -> Result<Self, CreateError> {
        let header = |key: &str| {
            let mut lines = metadata.lines().take_while(|line| !line.is_empty());
            lines.find_map(|line| line.strip_prefix(key)?.strip_prefix(':').map(str::trim))
        };
        match (header("Name"), header("Version")) {
            (Some(name), Some(version)) => {
                Ok(Self { package: normalize_name(name), version: version.to_owned() })
            }
            _ => Err(CreateError::NoWheel(faults::MetadataIncomplete.value())),
        }
    }
}

/// The manifest of all files that an installer does not change. `content` returns size and hash of
/// a file by its path in RECORD.
pub(super) fn build(
    origin: &str,
    wheel: Option<&str>,
    identity: Identity,
    record: &Record,
    mut content: impl FnMut(&str) -> Result<(u64, Sha256), CreateError>,
) -> Result<Manifest, CreateError> {
    if let Some((line, reason)) = record.bad.first() {
        return Err(CreateError::NoWheel(faults::RecordLine { line: *line, why: reason }.value()));
    }
    if record.truncated {
        return Err(CreateError::NoWheel(faults::RecordTooLong.value()));
    }
    let mut files = Vec::new();
    for row in record.rows.iter().filter(|row| is_of_package(&row.path)) {
        let fail = |reason: Text| Err(CreateError::Differs { path: row.path.clone(), reason });
        let (size, hash) = content(&row.path)?;
        match (row.size, row.sha256) {
            (Some(listed), _) if listed != size => {
                return fail(faults::OtherSize { size, n: listed }.value());
            }
            (_, Some(listed)) if listed != hash => {
                return fail(
                    faults::OtherHash { found: &hash.hex(), listed: &listed.hex() }.value(),
                );
            }
            _ => files.push((row.path.clone(), size, hash)),
        }
    }
    if files.is_empty() {
        return Err(CreateError::NoWheel(faults::RecordWithoutPackage.value()));
    }
    files.sort();
    let rows = record.rows.iter();
    Ok(Manifest {
        origin: origin.to_owned(),
        package: identity.package,
        version: identity.version,
        wheel: wheel.map(str::to_owned),
        record: Some(record_digest(rows.map(|row| (row.path.as_str(), row.sha256, row.size)))),
        files,
    })
}

/// Creates a manifest of the package in a directory: an unpacked wheel or a `site-packages`, opened
/// as a tree. If it contains several distributions, the one of `torch_npu` is used.
pub fn from_tree(tree: &Sysroot) -> Result<Manifest, CreateError> {
    let origin = tree.root().display().to_string();
    let read = |path: &str, limit| {
        tree.read(path, limit).map_err(|error| {
            CreateError::NoWheel(faults::CannotReadBecause { path, why: &error }.value())
        })
    };
    let names = tree.list("/").map_err(|error| {
        CreateError::NoWheel(faults::CannotListBecause { path: &origin, why: &error }.value())
    })?;
    let infos: Vec<&String> = names.iter().filter(|name| name.ends_with(".dist-info")).collect();
    let ours: Vec<&String> = match infos.len() {
        1 => infos,
        _ => infos.into_iter().filter(|name| name.starts_with("torch_npu-")).collect(),
    };
    let [info] = ours[..] else {
        let why = if ours.is_empty() {
            faults::NoDistInfo { path: &origin }.value()
        } else {
            faults::SeveralDistInfos { path: &origin }.value()
        };
        return Err(CreateError::NoWheel(why));
    };
    let metadata = read(&format!("/{info}/METADATA"), crate::sysroot::TEXT_LIMIT)?;
    let identity = Identity::parse(&String::from_utf8_lossy(&metadata))?;
    let record = record::parse(&read(&format!("/{info}/RECORD"), record::RECORD_LIMIT)?);
    build(&origin, None, identity, &record, |path| {
        let fail = |error: crate::sysroot::ReadError| CreateError::Differs {
            path: path.to_owned(),
            reason: error.text(),
        };
        let inside = format!("/{path}");
        let size = tree.stat(&inside).map_err(fail)?.size;
        Ok((size, tree.sha256(&inside, &|_| ()).map_err(fail)?))
    })
}
