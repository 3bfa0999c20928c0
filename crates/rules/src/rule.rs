//! One rule: how it is recognized in a source, and the action for its places.

use serde::{Deserialize, Serialize};

use data::ui;

/// The files of the rules below `data/convert/`, by field.
pub(super) const FILES: &[&str] = &[
    "torch_cuda",
    "torch",
    "distributed",
    "build",
    "environment",
    "libraries",
    "callees",
    "files",
    "formats",
];

/// The names of [`FILES`].
pub(super) const FIELDS: [ui::Label; FILES.len()] = [
    ui::RULES_TORCH_CUDA,
    ui::RULES_TORCH,
    ui::RULES_DISTRIBUTED,
    ui::RULES_BUILD,
    ui::RULES_ENVIRONMENT,
    ui::RULES_LIBRARIES,
    ui::RULES_CALLEES,
    ui::RULES_FILES,
    ui::RULES_FORMATS,
];

/// How a rule is recognized in a source.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Match {
    /// A dotted Python name, after imports and aliases are resolved.
    Api,
    /// All dotted Python names with this prefix.
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
    /// A parameter of a function: `package.function(parameter:position)`, or its calls:
    /// `package.function()`.
    Call,
    /// A setting of a program: an option of its command line, or a key of a configuration.
    Option,
    /// A place that the code recognizes by its shape.
    Site,
    /// Something of a file that is not Python.
    File,
}

impl Match {
    /// Its name.
    pub fn label(self) -> ui::Label {
        match self {
            Self::Api => ui::RULE_API,
            Self::Prefix => ui::RULE_PREFIX,
            Self::Method => ui::RULE_METHOD,
            Self::Attribute => ui::RULE_ATTRIBUTE,
            Self::Env => ui::RULE_ENV,
            Self::Library => ui::RULE_LIBRARY,
            Self::Package => ui::RULE_PACKAGE,
            Self::Provider => ui::RULE_PROVIDER,
            Self::Call => ui::RULE_CALL,
            Self::Option => ui::RULE_OPTION,
            Self::Site => ui::RULE_SITE,
            Self::File => ui::RULE_FILE,
        }
    }
}

/// The relation between the replacement and the original.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Class {
    /// The same name with the same meaning.
    Direct,
    /// Another name.
    Renamed,
    /// It exists, but means or returns something else.
    Semantics,
    /// Must stay unchanged.
    Keep,
    /// There is no equivalent.
    Missing,
    /// Text to add.
    Insert,
}

impl Class {
    /// Its name.
    pub fn label(self) -> ui::Label {
        match self {
            Self::Direct => ui::RULE_DIRECT,
            Self::Renamed => ui::RULE_RENAMED,
            Self::Semantics => ui::RULE_SEMANTICS,
            Self::Keep => ui::RULE_STAYS,
            Self::Missing => ui::RULE_MISSING,
            Self::Insert => ui::RULE_ADDED,
        }
    }
}

/// The action of `convert`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum Action {
    /// Replace it.
    Rewrite,
    /// Add to it: in a call, an argument that it omits.
    Insert,
    /// Remove it: in a call, an argument.
    Remove,
    /// Report it for manual work.
    Flag,
    /// Report it as information.
    Note,
    /// Leave it unchanged.
    Keep,
}

impl Action {
    /// Its name.
    pub fn label(self) -> ui::Label {
        match self {
            Self::Rewrite => ui::RULE_REWRITE,
            Self::Insert => ui::RULE_INSERT,
            Self::Remove => ui::RULE_REMOVE,
            Self::Flag => ui::RULE_FLAG,
            Self::Note => ui::RULE_NOTE,
            Self::Keep => ui::RULE_KEEP,
        }
    }
}

/// One row of the table, as far as planning needs it; the rest is in [`Rule::text`]. Its texts are
/// borrowed from the binary, so that hundreds of rules need no copies.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// `CVnnnn`, never reused.
    pub id: &'static str,
    /// How it is recognized.
    #[serde(rename = "match")]
    pub how: Match,
    /// The name to match; `|` separates alternatives.
    pub name: &'static str,
    /// The replacement.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub to: Option<&'static str>,
    /// The relation between the replacement and the original.
    pub class: Class,
    /// The action.
    pub action: Action,
    /// The versions of torch_npu in whose sources `to` was found.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub torch_npu: Option<Vec<&'static str>>,
    /// The values of a parameter, variable or setting to which the rule applies; all but `None` if
    /// absent. `#` means indices, `True` the constant, `module.NAME` a name and `module.Class()` a
    /// call.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub values: Option<Vec<&'static str>>,
    /// The versions of a package with which the replacement works (`ultralytics>=8.4.120`). If
    /// another version is known, the place is reported instead.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub needs: Option<&'static str>,
    /// Whether the rule also applies to calls that omit the parameter. Rules that insert an
    /// argument apply only to such calls.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub omitted: bool,
    /// The versions of a package to which the rule applies (`diffusers<0.34`). If another version
    /// is known, the rule is ignored.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub applies_to: Option<&'static str>,
    /// The rule that reports places of this one if they have no distinct shape: `Module.cuda()`
    /// looks like `Tensor.cuda()`.
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
