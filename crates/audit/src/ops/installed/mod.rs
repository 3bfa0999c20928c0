//! What an installed torch_npu, or a wheel of it, registers itself: its own files instead of the
//! tables of the program.

mod files;
mod reader;
mod registrations;
pub mod yaml;

pub use files::{Generic, Kernels, native_functions};
pub use reader::{FoundInstallation, find_site, read_site, read_wheel};
pub use registrations::{Installed, KernelSource, kernels_of_library, missing_in_library};
