//! One expectation of a site: a subject and a condition.

use pep440_rs::VersionSpecifiers;
use toml::{Table, Value};

use base::report::Severity;
use base::text::Text;
use data::{Fault, WithLine, faults};

use super::range::Range;
use super::read::{Words, read_entry};

/// Tables of `[expect]` whose keys are names of the machine.
pub const GROUPS: [&str; 6] = ["packages", "env", "files", "mounts", "limits", "network"];

/// The greatest limit: `unlimited`.
pub(super) const UNLIMITED: u64 = u64::MAX;

/// The expectations of a site, in the order of the file.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Expectations {
    /// The display name of the file.
    pub file: String,
    /// Its entries; never empty.
    pub entries: Vec<Expectation>,
}

/// A condition on one subject.
#[derive(Debug, Clone, PartialEq)]
pub struct Expectation {
    /// The subject.
    pub(super) subject: Subject,
    /// The condition.
    pub(super) condition: Condition,
    /// The severity of a violation.
    pub(super) severity: Severity,
    /// The message of the site for a violation.
    pub(super) message: Option<Text>,
    /// Its key in the file, such as `limits.nofile`.
    pub(super) key: String,
    /// Its line in the file.
    pub(super) line: usize,
}

/// The subject of an expectation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Subject {
    Npus,
    Dies,
    Chip,
    Driver,
    Firmware,
    Cann,
    Kernel,
    Os,
    /// A package, by its normalized name.
    Package(String),
    Env(String),
    File(String),
    Mount(String),
    Limit(String),
    Hugepages,
    TransparentHugepages,
    CpuGovernor,
    /// The size of `/dev/shm`.
    Shm,
    Interface(String),
    DefaultRoute,
    Nameserver(String),
    Host(String),
}

/// A condition.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Condition {
    Absent,
    Present,
    /// One of these values. Case is ignored if the subject has none.
    OneOf(Vec<String>),
    Contains(String),
    /// Inclusive bounds.
    Amount(u64, u64),
    Range(Range, String),
    Specifiers(VersionSpecifiers),
    File(FileCondition),
    Mount(MountCondition),
}

/// A condition on a file.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct FileCondition {
    pub(super) mode: Option<u32>,
    pub(super) uid: Option<u32>,
    pub(super) gid: Option<u32>,
    pub(super) sha256: Option<String>,
    pub(super) directory: Option<bool>,
}

/// A condition on a mount.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct MountCondition {
    pub(super) fstype: Option<String>,
    pub(super) options: Vec<String>,
}

/// An entry of the file: group, name, value.
pub type Entry = (Option<String>, String, Value);

impl Expectations {
    /// Reads the entries of `[expect]`. `file` is the display name of the file.
    ///
    /// # Errors
    ///
    /// With the line of the first invalid entry, or of the table if the entry has none.
    pub fn read(
        entries: Vec<WithLine<Entry>>,
        line: usize,
        file: &str,
    ) -> Result<Self, (usize, Fault)> {
        let mut all = Words::default();
        let mut own = Vec::new();
        for WithLine { line, value: (group, name, value) } in entries {
            if group.is_none() && matches!(name.as_str(), "level" | "message") {
                let mut table = Table::from_iter([(name, value)]);
                let words = Words::take(&mut table).map_err(|what| (line, what))?;
                all.severity = all.severity.or(words.severity);
                all.message = all.message.or(words.message);
            } else {
                own.push((line, group, name, value));
            }
        }
        let mut expectations = Self { file: file.to_owned(), entries: Vec::new() };
        for (line, group, name, value) in own {
            let read = read_entry(group.as_deref(), &name, value).map_err(|what| (line, what))?;
            let key = group.map_or_else(|| name.clone(), |group| format!("{group}.{name}"));
            for (subject, condition, words) in read {
                expectations.entries.push(Expectation {
                    key: key.clone(),
                    subject,
                    condition,
                    severity: words.severity.or(all.severity).unwrap_or(Severity::Error),
                    message: words.message.or_else(|| all.message.clone()),
                    line,
                });
            }
        }
        if expectations.entries.is_empty() {
            return Err((line, faults::ExpectNothing.fault()));
        }
        Ok(expectations)
    }

    /// Files, and whether their hash is needed.
    pub fn files(&self) -> impl Iterator<Item = (&str, bool)> {
        self.entries.iter().filter_map(|entry| match (&entry.subject, &entry.condition) {
            (Subject::File(path), Condition::File(file)) => {
                Some((path.as_str(), file.sha256.is_some()))
            }
            (Subject::File(path), _) => Some((path.as_str(), false)),
            _ => None,
        })
    }

    /// Mount points.
    pub fn mounts(&self) -> impl Iterator<Item = &str> {
        self.named(|subject| match subject {
            Subject::Mount(point) => Some(point),
            _ => None,
        })
    }

    /// Name servers.
    pub fn nameservers(&self) -> impl Iterator<Item = &str> {
        self.named(|subject| match subject {
            Subject::Nameserver(address) => Some(address),
            _ => None,
        })
    }

    /// Host names.
    pub fn hosts(&self) -> impl Iterator<Item = &str> {
        self.named(|subject| match subject {
            Subject::Host(name) => Some(name),
            _ => None,
        })
    }

    /// Environment variables, each with its line.
    pub fn variables(&self) -> impl Iterator<Item = (&str, usize)> {
        self.entries.iter().filter_map(|entry| match &entry.subject {
            Subject::Env(name) => Some((name.as_str(), entry.line)),
            _ => None,
        })
    }

    fn named(&self, name: fn(&Subject) -> Option<&String>) -> impl Iterator<Item = &str> {
        self.entries.iter().filter_map(move |entry| name(&entry.subject).map(String::as_str))
    }
}
