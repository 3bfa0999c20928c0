//! The byte source that the readers of this crate share.

use std::io::{Read, Seek};

/// Bytes that can be read from any place: a file.
pub trait Source: Read + Seek {}

impl<T: Read + Seek> Source for T {}
