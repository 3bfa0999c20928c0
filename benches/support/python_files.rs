//! The scope of the benchmarks that read Python sources.

use std::path::Path;

use treeedit::kind::FileKind;
use treeedit::walk::Scope;

/// All Python files below a directory.
pub(crate) fn below(root: &Path) -> Scope {
    Scope {
        roots: vec![root.to_owned()],
        launch: Vec::new(),
        exclude: Vec::new(),
        kinds: vec![FileKind::Python],
        ignore_files: true,
        linked_files: false,
        max_size: 32 << 20,
    }
}
