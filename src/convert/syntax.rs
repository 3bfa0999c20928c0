//! The error for an unparsable file of a kind other than Python.

pub use pysyntax::UnparsableText;
