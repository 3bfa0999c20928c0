//! The Python environment that would run the workload, found without running Python.

mod builds;
mod dists;
mod index;
mod interp;
pub use interp::python_version;
pub mod metadata;
mod pyenv;
mod pyvenv;
mod shadow;
mod site;
#[cfg(test)]
mod tests;

use super::Options;
use crate::sysroot::Sysroot;
use facts::{Interpreter, Python};

/// Reads the interpreter, `sys.path`, the installed distributions, and facts about the packages of
/// the stack that are not in their metadata.
pub(super) fn collect(sysroot: &Sysroot, options: &Options) -> Python {
    let mut python = Python::default();
    (python.interpreter, python.missing_interpreter) = interp::choose(sysroot, options);
    if options.python.is_some() {
        // If the user named another program, the Python in its directory was not requested.
        let is_other = |found: &mut Interpreter| !interp::may_be_python(sysroot, found);
        python.not_python = python.interpreter.take_if(is_other).map(|other| other.path);
    }
    site::read(sysroot, &mut python);
    python.dists = dists::read(sysroot, &python.site_dirs);
    python.others = interp::others(sysroot, python.interpreter.as_ref());
    python.torch = builds::torch(sysroot, &python);
    python.vllm = builds::vllm(sysroot, &python, options.hash);
    python.mindspore = builds::mindspore(sysroot, &python);
    python.cuda_extensions = builds::cuda_extensions(sysroot, &python);
    python.modules = builds::modules(sysroot, &python);
    python.shadows = shadow::read(sysroot, &python);
    python
}

/// Version and directory of a distribution, in the order of `sys.path`.
pub(super) fn find_installed(sysroot: &Sysroot, name: &str) -> Option<(String, String)> {
    let mut python = Python::default();
    (python.interpreter, _) = interp::choose(sysroot, &Options::default());
    site::read(sysroot, &mut python);
    python.site_dirs.iter().find_map(|dir| Some((dists::version(sysroot, dir, name)?, dir.clone())))
}

/// The package indexes that pip would use: the source of each, and its address.
pub(super) fn pip_indexes(sysroot: &Sysroot, python: &Python) -> Vec<facts::PipIndex> {
    index::read(sysroot, python.interpreter.as_ref())
}

/// The parent directory of `path`; `/` for entries of the root.
fn parent(path: &str) -> &str {
    match path.trim_end_matches('/').rfind('/') {
        Some(0) | None => "/",
        Some(at) => &path[..at],
    }
}

/// The last component of a path.
fn base_name(path: &str) -> &str {
    let path = path.trim_end_matches('/');
    path.rfind('/').map_or(path, |at| &path[at + 1..])
}
