//! The interpreter, the installed packages, and files that would be imported instead.

mod constraints;
mod cuda;
mod framework;
mod imports;
mod installed;
mod interp;
mod requirements;
mod sources;
mod tbe;

use super::{Check, Family};
use data::findings::{
    py_constraints, py_cuda, py_dup, py_framework, py_index, py_interp, py_record, py_shadow,
    py_tbedeps,
};

/// The checks of this family.
pub(super) const CHECKS: &[Check] = &[
    Check::new(Family::Python, py_interp::ID, interp::check),
    Check::new(Family::Python, py_framework::ID, framework::check),
    Check::new(Family::Python, py_tbedeps::ID, tbe::check),
    Check::new(Family::Python, py_dup::ID, installed::check),
    Check::new(Family::Python, py_constraints::ID, constraints::check),
    Check::new(Family::Python, py_cuda::ID, cuda::check),
    Check::new(Family::Python, py_record::ID, super::integrity::others::check),
    Check::new(Family::Python, py_shadow::ID, sources::shadow),
    Check::new(Family::Python, py_index::ID, sources::index),
];
