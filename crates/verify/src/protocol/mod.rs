//! What parent and child say to each other.
//!
//! The child gets one [`Order`] as an argument and writes one [`Event`] per line into a pipe.
//! Before every call into the vendor's code it writes [`Event::Call`]: whatever happens next,
//! the parent knows which function did it. The same goes as a [`chatter::marker`] into the pipe
//! that is its standard output and error, so that what the vendor's code prints has a name.
//!
//! - [`order`] is what the child is told;
//! - [`event`] is what it says, [`fault`] why something failed;
//! - [`hearing`] reads that, and [`chatter`] what the vendor's code says beside it.

pub mod chatter;
pub mod event;
pub mod fault;
pub mod hearing;
pub mod order;

pub use chatter::{Chatter, Part};
pub use event::{Event, LoadedLibrary, Outcome};
pub use fault::{Again, Fault, Place, Wrong};
pub use hearing::Hearing;
pub use order::{Level, Order, Rung, Task};
pub use probe_numbers::{Dtype, Pattern};
