//! `--matrix FILE`: the built-in matrix, or one with a newer file over it.

use data::{OrFault as _, faults};
use std::borrow::Cow;
use std::path::Path;

use super::argument_file::read_argument;
use data::Matrix;

/// The most that is read of a matrix file, in bytes; the built-in one has 0.1 MB.
const MATRIX_LIMIT: u64 = 16 << 20;

/// The matrix to judge by. A file that cannot be used is an error that names its line.
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
