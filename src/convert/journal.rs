//! What undoes a run: the original bytes, kept beside the tree.

/// The directory below a root in which journals are kept.
pub const DIRECTORY: &str = ".ascend-doctor";
