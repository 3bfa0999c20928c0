//! What parent and child say to each other.
//!
//! The child gets one [`Order`] as an argument and writes one [`Event`] per line into a pipe.
//! Before every call into the vendor's code it writes [`Event::Call`]: whatever happens next,
//! the parent knows which function did it. The same goes as a [`vendor_output::make_marker`] into the pipe
//! that is its standard output and error, so that what the vendor's code prints has a name.
//!
//! - [`invocation`] names the argument or variable with the [`order`];
//! - [`event`] is what it says, [`fault`] why something failed, [`measure`] what is timed, [`card`]
//!   what the driver knows of a card;
//! - [`event_reader`] reads that, and [`vendor_output`] what the vendor's code says beside it.

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
