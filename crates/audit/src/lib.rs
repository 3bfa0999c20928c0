//! `audit-ops`: from a model, a trace, a log or sources to operators, and from an operator to the
//! path that it takes on an NPU.
//!
//! Must not touch: the network, processes, the terminal; nothing is unpickled or run. Each reader
//! takes any source that can seek and extracts only the operators: the cost follows the graph, not
//! the weights. The content selects the reader, not the file name.
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
