//! Written by `cargo xtask messages` from `data/findings/*.toml`; do not edit.

mod cann;
mod convert;
mod dev;
mod drv;
mod env;
mod fleet;
mod host;
mod ms;
mod net;
mod nnal;
mod ops;
mod proc;
mod py;
mod scan;
mod tnpu;
mod torch;
mod verify;
mod vllm;

pub use cann::*;
pub use convert::*;
pub use dev::*;
pub use drv::*;
pub use env::*;
pub use fleet::*;
pub use host::*;
pub use ms::*;
pub use net::*;
pub use nnal::*;
pub use ops::*;
pub use proc::*;
pub use py::*;
pub use scan::*;
pub use tnpu::*;
pub use torch::*;
pub use verify::*;
pub use vllm::*;
