//! The registrations of an installed torch_npu or of a wheel: read from its files instead of the
//! built-in tables.

mod files;
mod reader;
mod registrations;
pub mod yaml;

pub use files::{Generic, Kernels, native_functions};
pub use reader::{FoundInstallation, find_site, read_site, read_wheel};
pub use registrations::{Installed, KernelSource, kernels_of_library, missing_in_library};
