//! `audit-ops`: extracts operators from a model, trace, log or sources, and determines the path
//! that each operator takes on an NPU.
//!
//! Must not touch: the network, processes, the terminal. Nothing is unpickled or run. Each reader
//! takes any seekable source and extracts only the operators, so the cost depends on the graph and
//! not on the weights. The content selects the reader, not the file name.
//!
//! [`ops`] holds the registrations of torch_npu releases and the dispatch rule of PyTorch.

mod archive;
mod archive_format;
mod bounded;
pub mod cann;
pub mod class;
pub mod classify;
mod config;
pub mod documented_limits;
pub mod dtype;
pub mod environment;
mod export;
mod input_format;
pub mod inputs;
pub mod kernel_limits;
mod list;
mod log;
mod model;
mod onnx;
pub mod ops;
mod pickle;
mod place;
pub mod python;
pub mod release;
pub mod report;
mod safetensors;
mod source;
pub mod source_notes;
mod strings;
mod torchscript;
mod trace;
mod unreadable;

pub use input_format::read;
pub use model::{Calls, Format, Model, Note, Op, Use};
pub use ops::check_pack;
pub use place::Place;
pub use source::Source;
pub use unreadable::Unreadable;
