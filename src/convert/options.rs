//! What a run of `convert` was asked for, as far as the planning of a file needs it.

use std::collections::BTreeMap;

use pep440_rs::Version;

use super::selection::Selection;

/// Where `import torch_npu` is written.
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

/// What is asked for when nothing is said.
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

/// What the planners of all kinds of files are told.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The torch_npu that the result has to run with; any, if unknown.
    pub target: Option<Version>,
    /// Versions of other packages that the user names. They precede those that the tree pins.
    pub packages: BTreeMap<String, Version>,
    /// Versions of other packages on this machine. Those that the tree pins precede them.
    pub installed: BTreeMap<String, Version>,
    /// Instead of rewriting names, let torch_npu's own `transfer_to_npu` patch them at run time.
    pub transfer: bool,
    /// Also rewrite messages, help texts and comments that speak of CUDA.
    pub messages: bool,
    /// Put a comment at every place that a person has to look at.
    pub mark: bool,
    /// Where the import goes.
    pub import: Import,
    /// The rules whose changes are made.
    pub selection: Selection,
}
