//! The messages between parent and child.
//!
//! The child gets one [`Order`] as an argument and writes one [`Event`] per line into a pipe.
//! Before every call into the vendor's code it writes [`Event::Call`], so that the parent can
//! attribute any later failure to a function. It also writes a [`vendor_output::make_marker`] into
//! the pipe that is its standard output and error, so that output of the vendor's code can be
//! attributed to a function.
//!
//! - [`invocation`] names the argument or variable with the [`order`];
//! - [`event`] defines its events, [`fault`] the reasons of failures, [`measure`] the timed
//!   operations, [`card`] the driver's data about a card;
//! - [`event_reader`] parses the events, and [`vendor_output`] the other output of the vendor's
//!   code.

pub mod card;
pub mod event;
pub mod event_reader;
pub mod fault;
pub mod invocation;
pub mod measure;
pub mod order;
pub mod vendor_output;

pub use card::{Card, Health};
pub use event::{CoreKind, Event, LoadedLibrary, Outcome};
pub use event_reader::EventReader;
pub use fault::{DataError, DataLocation, Fault, RetryResult};
pub use measure::Measure;
pub use order::{Level, Order, Stage, Task};
pub use probe_numbers::{Dtype, Pattern};
pub use vendor_output::{FunctionOutput, VendorOutput};
