//! Why a file of a kind that is not Python is left alone.

pub use pysyntax::UnparsableText;
