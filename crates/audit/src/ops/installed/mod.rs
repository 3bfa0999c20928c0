//! What an installed torch_npu, or a wheel of it, registers itself: its own files instead of the
//! tables of the program.

mod files;
mod reader;
mod registrations;
mod yaml;

pub use files::{Generic, Kernels, native_functions};
pub use reader::{Found, find_site, read_site, read_wheel};
pub use registrations::{Evidence, Installed, missing_in_library, of_library};
