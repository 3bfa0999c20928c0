//! One rule: how it is recognized in a source, and what becomes of the place.

use serde::{Deserialize, Serialize};

/// The files of the rules below `data/convert/`, by field.
pub(super) const FILES: &[&str] = &[
    "torch_cuda",
    "torch",
    "distributed",
    "build",
    "environment",
    "libraries",
    "files",
    "formats",
];

/// How a rule is recognized in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// A dotted Python name, after imports and aliases are resolved.
    Api,
    /// All dotted Python names that begin so.
    Prefix,
    /// A method of tensors, modules and storages.
    Method,
    /// An attribute of tensors, modules, streams and events.
    Attribute,
    /// Environment variables.
    Env,
    /// Python packages that are imported.
    Library,
    /// Names in requirement files.
    Package,
    /// An execution provider of onnxruntime.
    Provider,
    /// A place that the code recognizes by its shape.
    Site,
    /// Something of a file that is not Python.
    File,
}

impl Match {
    /// The key of its name in `data/ui.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Api => "rule_api",
            Self::Prefix => "rule_prefix",
            Self::Method => "rule_method",
            Self::Attribute => "rule_attribute",
            Self::Env => "rule_env",
            Self::Library => "rule_library",
            Self::Package => "rule_package",
            Self::Provider => "rule_provider",
            Self::Site => "rule_site",
            Self::File => "rule_file",
        }
    }
}

/// How what is written relates to what stood there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The same name with the same meaning.
    Direct,
    /// Another name.
    Renamed,
    /// It exists, but means or returns something else.
    Semantics,
    /// Must stay as it is.
    Keep,
    /// There is no equivalent.
    Missing,
    /// Text to add.
    Insert,
}

impl Class {
    /// The key of its name in `data/ui.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Direct => "rule_direct",
            Self::Renamed => "rule_renamed",
            Self::Semantics => "rule_semantics",
            Self::Keep => "rule_stays",
            Self::Missing => "rule_missing",
            Self::Insert => "rule_added",
        }
    }
}

/// What `convert` does about it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Replace it.
    Rewrite,
    /// Add to it.
    Insert,
    /// Report it: a person has to act.
    Flag,
    /// Report it as information.
    Note,
    /// Leave it.
    Keep,
}

impl Action {
    /// The key of its name in `data/ui.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Rewrite => "rule_rewrite",
            Self::Insert => "rule_insert",
            Self::Flag => "rule_flag",
            Self::Note => "rule_note",
            Self::Keep => "rule_keep",
        }
    }
}

/// One row of the table, as far as planning needs it; the rest is in [`Rule::text`]. Its texts are
/// those of the binary itself: nothing of some hundred rules is copied before it is said.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `CVnnnn`, never reused.
    pub id: &'static str,
    /// How it is recognized.
    #[serde(rename = "match")]
    pub how: Match,
    /// What is matched; alternatives are separated by `|`.
    pub name: &'static str,
    /// What is written instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<&'static str>,
    /// How that relates to what stood there.
    pub class: Class,
    /// What is done.
    pub action: Action,
    /// The versions of torch_npu in whose sources `to` was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch_npu: Option<Vec<&'static str>>,
    /// The rule under which places of this one are reported, where its shape is no place of
    /// its own: `Module.cuda()` looks like `Tensor.cuda()`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reported_as: Option<&'static str>,
    /// The field that it belongs to: the stem of its file.
    #[serde(default, skip_deserializing)]
    pub field: &'static str,
}

impl Rule {
    /// The names that this rule matches.
    pub fn names(&self) -> impl Iterator<Item = &'static str> + use<> {
        self.name.split('|')
    }
}
