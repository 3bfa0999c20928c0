//! The byte source that the readers of this crate share.

use std::io::{Read, Seek};

/// A seekable source of bytes, such as a file.
pub trait Source: Read + Seek {}

impl<T: Read + Seek> Source for T {}
