//! The options of a `convert` run that the planning of a file needs.

use std::collections::BTreeMap;

use pep440_rs::Version;

use super::selection::Selection;

/// Files that get `import torch_npu`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, clap::ValueEnum)]
#[clap(rename_all = "lower")]
pub enum Import {
    /// Launch scripts, and files that use a name from torch_npu.
    #[default]
    Need,
    /// All changed files that import torch.
    Each,
    /// Launch scripts only.
    Entry,
    /// No file.
    None,
}

/// The default options.
pub static DEFAULT: Options = Options {
    target: None,
    packages: BTreeMap::new(),
    installed: BTreeMap::new(),
    transfer: false,
    messages: false,
    mark: false,
    import: Import::Need,
    selection: Selection::ALL,
};

/// The options for the planners of all kinds of files.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The torch_npu version that the result must run with; `None` for any version.
    pub target: Option<Version>,
    /// Versions of other packages that the user names. They precede those that the tree pins.
    pub packages: BTreeMap<String, Version>,
    /// Versions of other packages on this machine. Those that the tree pins precede them.
    pub installed: BTreeMap<String, Version>,
    /// Let torch_npu's own `transfer_to_npu` patch names at run time instead of rewriting them.
    pub transfer: bool,
    /// Also rewrite messages, help texts and comments that mention CUDA.
    pub messages: bool,
    /// Add a comment at every place that needs manual work.
    pub mark: bool,
    /// Where to add the import.
    pub import: Import,
    /// The rules whose changes are applied.
    pub selection: Selection,
}
