//! `--matrix FILE`: the built-in matrix, overlaid by a newer file.

use data::{OrFault as _, faults};
use std::borrow::Cow;
use std::path::Path;

use super::argument_file::read_argument;
use data::Matrix;

/// Maximum size of a matrix file, in bytes; the built-in one has 0.1 MB.
const MATRIX_LIMIT: u64 = 16 << 20;

/// Returns the matrix of the run. The error for an unusable file names its line.
pub(super) fn load_matrix(file: Option<&Path>) -> anyhow::Result<Cow<'static, Matrix>> {
    let Some(file) = file else { return Ok(Cow::Borrowed(Matrix::builtin())) };
    let shown = file.display().to_string();
    let bytes = read_argument(file, MATRIX_LIMIT)?;
    let text =
        std::str::from_utf8(&bytes).or_fault(|| faults::MatrixNotUtf8 { path: &shown }.fault())?;
    let matrix = Matrix::apply_overlay(text, &shown)
        .or_fault(|| faults::MatrixUnusable { path: &shown }.fault())?;
    Ok(Cow::Owned(matrix))
}
