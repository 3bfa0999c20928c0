//! The only code that writes, starts programs or prepares threads: every subcommand uses it.
//!
//! Must not touch: the meaning of a file. It depends on no other crate of the program.
//!
//! - [`dir`] holds open directories: each is opened by its name in its parent, never through a
//!   link, and files are created, renamed and removed in it by name.
//! - [`named`] opens the paths of the command line, the only ones whose links are followed.
//! - [`tree`] finds directories below a root again without opening each twice.
//! - [`mod@file`] opens regular files and nothing else.
//! - [`process`] starts programs.
//! - [`threads`] prepares the threads, or does without.

pub mod dir;
pub mod file;
pub mod named;
pub mod process;
pub mod threads;
pub mod tree;
