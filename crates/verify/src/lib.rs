//! `verify`: runs the vendor's libraries in child processes and reports which step fails.
//!
//! Must not touch: the collectors, the terminal, the network. Only [`vendor`] is `unsafe`, and it
//! runs in child processes only.
//!
//! ```text
//! parent: order -> child process -> events -> run -> judge -> findings
//! child:  order -> vendor (dlopen) -> stages -> events
//! ```
//!
//! - [`protocol`] defines their messages: an order for the child, lines of JSON from it.
//! - [`parent`] starts, watches and ends one child; [`run`] decides which children to start.
//! - [`child`] is the child process. Only children call [`vendor`], the only module with `unsafe`,
//!   so that no vendor library is mapped into the parent.
//! - [`reporter`] writes the events of the child, step by step.
//! - [`stage`] contains the tests of a device, [`probe_numbers`] their expected results, [`cache`]
//!   the compiled kernels.
//! - [`judge`] turns a run into findings, and [`report`] those into the report; [`baseline`] reads
//!   the speeds of an earlier one.
//! - [`identity`] finds the card of a device, [`timeline`] records the stages and states over time,
//!   and [`evidence`] writes a complete run into a file.
//! - [`libraries`] returns variables for an installation that the dynamic linker does not find.
//!
//! The functions are declared in the crate `acl_abi`, for this loader and for the simulator
//! (`crates/simulator`), which assigns each of its functions to a constant of the declared type:
//!
//! ```
//! use acl_abi::{Event, Status, sig};
//!
//! unsafe extern "C" fn elapsed(_: *mut f32, _: Event, _: Event) -> Status {
//!     0
//! }
//! const _: sig::aclrtEventElapsedTime = elapsed;
//! ```
//!
//! A function of another type does not compile; this one takes a number instead of a pointer to
//! one:
//!
//! ```compile_fail,E0308
//! use acl_abi::{Event, Status, sig};
//!
//! unsafe extern "C" fn elapsed(_: f32, _: Event, _: Event) -> Status {
//!     0
//! }
//! const _: sig::aclrtEventElapsedTime = elapsed;
//! ```

pub mod baseline;
pub mod cache;
pub mod child;
pub mod evidence;
pub mod identity;
pub mod judge;
pub mod libraries;
pub mod members;
pub mod parent;
pub mod plog;
pub mod protocol;
pub mod report;
pub mod reporter;
pub mod run;
pub mod soc;
pub mod stage;
pub mod timeline;
pub mod vendor;
