//! One token with its class, its reason and the witness of the reason.

use std::sync::Arc;

use super::blocker::Blocker;
use super::tokens::Token;

/// The reason for which a token stays unchanged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Reason {
    /// A comment. The witness is the line itself.
    Comment,
    /// Documentation or a message. The witness is the line that makes it one.
    Prose,
    /// An identifier of the project. The witness is its definition.
    OwnName,
    /// An NPU is handled next to it. The witness is a line that names the NPU.
    NpuSibling,
    /// Selects what to build. The witness is the line that builds.
    BuildGuard,
    /// Runs only where CUDA exists. The witness is the line of the test in front of it.
    CudaOnlyGuard,
    /// Replaces CUDA by another vendor. The witness is the line that does so.
    VendorShim,
    /// A key of a table. The witness is the table.
    TableKey,
    /// Text that a test expects. The witness is the assertion.
    TestText,
    /// A rule keeps it. The witness is the rule.
    Rule,
    /// The address of something outside the project. The witness is the line itself.
    Address,
    /// A comment exempts it. The witness is that comment.
    SwitchedOff,
    /// The user excludes the change by an option or an answer. The witness is the rule.
    LeftOut,
    /// Output that a notebook recorded. The witness is the line itself.
    Output,
}

impl Reason {
    /// Its name in files.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Comment => "comment",
            Self::Prose => "prose",
            Self::OwnName => "own_name",
            Self::NpuSibling => "npu_sibling",
            Self::BuildGuard => "build_guard",
            Self::CudaOnlyGuard => "cuda_only_guard",
            Self::VendorShim => "vendor_shim",
            Self::TableKey => "table_key",
            Self::TestText => "test_text",
            Self::Rule => "rule",
            Self::Address => "address",
            Self::SwitchedOff => "switched_off",
            Self::LeftOut => "left_out",
            Self::Output => "output",
        }
    }
}

/// The proof of a reason.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Witness {
    /// A line of the same file, from 1.
    Line(u32),
    /// A line of another file, from 1; 0 for the file as a whole.
    Place(Arc<str>, u32),
    /// A rule of the table.
    Rule(&'static str),
}

/// The class of a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Class {
    /// It is rewritten.
    Changed {
        /// The rule.
        rule: &'static str,
    },
    /// It needs manual work.
    Manual {
        /// The rule that reports it.
        rule: &'static str,
        /// The effect on the program until the work is done.
        blocker: Blocker,
    },
    /// It stays.
    Kept {
        /// The reason.
        reason: Reason,
        /// The proof of the reason.
        witness: Witness,
    },
    /// No rule and no reason accounts for it.
    Unexplained,
}

impl Class {
    /// Its name in files.
    pub const fn as_str(&self) -> &'static str {
        match self {
            Self::Changed { .. } => "changed",
            Self::Manual { .. } => "manual",
            Self::Kept { .. } => "kept",
            Self::Unexplained => "unexplained",
        }
    }

    /// Kept, with a line of the same file as witness.
    pub(crate) const fn kept(reason: Reason, line: u32) -> Self {
        Self::Kept { reason, witness: Witness::Line(line) }
    }
}

/// How a name has to be defined in the tree for a token to be part of the project's own name.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Wanted {
    /// In any way.
    Any,
    /// As a parameter, a field or a key: a keyword argument.
    Parameter,
    /// As an attribute, an option or a key, not only as a variable.
    Member,
    /// As a file or directory.
    Path,
    /// By code, not by a configuration: a key of a configuration.
    Code,
    /// As a variable of the same file.
    Variable,
}

/// The class of a token as far as one file shows it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Claim {
    /// It has its class.
    Is(Class),
    /// Part of this name: kept if the tree defines it.
    Own(String, Wanted),
    /// The same, and of this class if the tree does not define it.
    OwnOr(String, Wanted, Class),
    /// Nothing in the file accounts for it.
    Open,
}

/// How a name is defined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum DefinitionKind {
    /// A variable, function or class.
    Name,
    /// A parameter of a function.
    Parameter,
    /// An attribute or a method.
    Member,
    /// A key of a dictionary, an option of a command line.
    Key,
    /// A key of a configuration file.
    Setting,
}

/// A definition of a name that contains a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Definition {
    pub name: String,
    pub kind: DefinitionKind,
    pub line: u32,
}

/// A token with its place and its class.
#[derive(Debug, Clone)]
pub struct Entry {
    /// The token.
    pub token: Token,
    /// Line, from 1.
    pub line: u32,
    /// Column in characters, from 1.
    pub column: u32,
    /// Its class.
    pub class: Class,
}
