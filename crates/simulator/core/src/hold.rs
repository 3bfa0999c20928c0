//! A process that stays after SIGKILL, for the tests of `verify`: one that a tracer stops on its
//! way out, with all that it has open. To whoever waits for it, it is as one that waits in a
//! driver for a device that does not answer.

use std::ffi::{c_int, c_long, c_void};

unsafe extern "C" {
    fn ptrace(request: c_long, ...) -> c_long;
}

const SEIZE: c_long = 0x4206;
const DETACH: c_long = 17;
const TRACE_EXIT: usize = 1 << 6;

/// Holds a process for as long as this lives. The thread that made it is its tracer: it has to
/// stay as well.
#[derive(Debug)]
pub struct Held(c_int);

impl Held {
    /// Holds the process; an error where the system does not let this user trace it.
    pub fn seize(pid: u32) -> std::io::Result<Self> {
        let pid = pid as c_int;
        let nothing = std::ptr::null_mut::<c_void>();
        // SAFETY: takes a process, and no memory of this one.
        let done = unsafe { ptrace(SEIZE, pid, nothing, TRACE_EXIT) };
        if done == 0 { Ok(Self(pid)) } else { Err(std::io::Error::last_os_error()) }
    }
}

impl Drop for Held {
    fn drop(&mut self) {
        let nothing = std::ptr::null_mut::<c_void>();
        // SAFETY: as above; it lets the process go, if it is there.
        unsafe { ptrace(DETACH, self.0, nothing, nothing) };
    }
}
