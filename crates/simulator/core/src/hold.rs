//! A process that survives SIGKILL, for the tests of `verify`: a tracer stops it during its exit,
//! with everything that it has open. For a waiting process, it looks like one that waits in a
//! driver for a device that does not respond.

use std::ffi::{c_int, c_long, c_void};

unsafe extern "C" {
    fn ptrace(request: c_long, ...) -> c_long;
}

const SEIZE: c_long = 0x4206;
const DETACH: c_long = 17;
const TRACE_EXIT: usize = 1 << 6;

/// Holds a process during its lifetime. The creating thread is the tracer, so it has to stay as
/// well.
#[derive(Debug)]
pub struct Held(c_int);

impl Held {
    /// Holds the process; an error if the system does not allow this user to trace it.
    pub fn seize(pid: u32) -> std::io::Result<Self> {
        let pid = pid as c_int;
        let nothing = std::ptr::null_mut::<c_void>();
        // SAFETY: affects another process, and no memory of this one.
        let done = unsafe { ptrace(SEIZE, pid, nothing, TRACE_EXIT) };
        if done == 0 { Ok(Self(pid)) } else { Err(std::io::Error::last_os_error()) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let nothing = std::ptr::null_mut::<c_void>();
        // SAFETY: as above; it releases the process, if it exists.
        unsafe { ptrace(DETACH, self.0, nothing, nothing) };
    }
}
