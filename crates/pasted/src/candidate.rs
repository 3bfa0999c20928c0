//! Values with the reliability of their source, before one is chosen for each name.

use serde::Serialize;

/// The format that contains a value.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Form {
    /// `label: value`, printed by a collect_env script or written by hand.
    KeyValue,
    /// `MindSpore version (2.2.0)`: the value replaced the example of a template.
    Template,
    /// A table in Markdown or HTML.
    Table,
    /// Rows of `pip list`.
    PipList,
    /// `name==version` lines.
    PipFreeze,
    /// Messages of `pip install`.
    PipLog,
    /// A command with package versions, or a checkout of a tag.
    InstallCommand,
    /// `npu-smi info`.
    NpuSmi,
    /// `npu-smi info -t board`.
    NpuSmiBoard,
    /// `ascend_*_install.info` or `version.info`.
    InfoFile,
    /// The name of a wheel or of a `.run` package.
    PackageFile,
    /// A container image.
    ImageTag,
    /// An environment variable.
    Variable,
    /// The greeting of the Python interpreter.
    PythonBanner,
    /// A value that an interpreter printed below `__version__`.
    PrintedVersion,
    /// A directory in a path.
    Path,
    /// `Linux-5.10.0-…-aarch64-with-glibc2.35`.
    Platform,
    /// `uname -a`, `/etc/os-release`, `lscpu`, `ldd --version`.
    SystemTool,
    /// A line of a log.
    Log,
    /// A sentence.
    Prose,
}

/// Why a value does not count as a fact.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
#[serde(rename_all = "snake_case")]
pub enum Reason {
    /// A version that was replaced.
    Earlier,
    /// Required, supported, recommended or requested, not installed.
    Requirement,
    /// Part of a question or of a condition.
    Hypothetical,
    /// Text written by another author.
    Quoted,
    /// Another layer, for example the version that a package was built for.
    OtherLayer,
    /// A better source in the same text has another value.
    Weaker,
    /// Another value of equal weight.
    Conflicting,
}

/// The reliability of a source, in the order of preference.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Rank {
    /// A command that the author entered: an intention, not a result.
    Intended,
    /// Part of a path, a file name or an image tag.
    Derived,
    /// A sentence.
    Prose,
    /// A line that the author wrote about the machine.
    Written,
    /// Output that shows a change: `Successfully installed`.
    Installed,
    /// Output of a program that examined the machine.
    Measured,
}

/// A value that may become a fact.
#[derive(Debug, Clone)]
pub(crate) struct Candidate {
    pub(crate) name: String,
    pub(crate) value: String,
    pub(crate) line: u32,
    pub(crate) form: Form,
    pub(crate) rank: Rank,
    /// Set if the value cannot become a fact.
    pub(crate) doubt: Option<Reason>,
}
