//! Rewriting sources from CUDA to Ascend NPU.
//!
//! What exists so far is the ground that `convert` will stand on: [`encoding`] turns the bytes of
//! a source file into text and back so that no byte outside an edit changes. The subcommand
//! itself is not there yet, and the command line does not offer it.

pub mod encoding;
