//! The functions that the page calls. Requests and answers are in two buffers of this module, so
//! that no function takes or returns memory of the caller.
#![expect(
    unsafe_code,
    reason = "functions that JavaScript calls keep their names; there is no unsafe block"
)]

use std::sync::{Mutex, MutexGuard, PoisonError};

static REQUEST: Mutex<Vec<u8>> = Mutex::new(Vec::new());
static ANSWER: Mutex<String> = Mutex::new(String::new());

fn lock<T>(buffer: &Mutex<T>) -> MutexGuard<'_, T> {
    buffer.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Makes room for a request of `length` bytes and returns its address.
#[unsafe(no_mangle)]
pub extern "C" fn request(length: usize) -> usize {
    let mut request = lock(&REQUEST);
    *request = vec![0; length];
    request.as_mut_ptr().expose_provenance()
}

/// Answers the request and returns the length of the answer.
#[unsafe(no_mangle)]
pub extern "C" fn run() -> usize {
    let request = std::mem::take(&mut *lock(&REQUEST));
    let mut answer = lock(&ANSWER);
    *answer = crate::answer(request);
    answer.len()
}

/// The address of the answer, which stays until the next call of [`run`].
#[unsafe(no_mangle)]
pub extern "C" fn answer() -> usize {
    lock(&ANSWER).as_ptr().expose_provenance()
}

/// The most bytes of all files of a request.
#[unsafe(no_mangle)]
pub extern "C" fn limit() -> usize {
    crate::LIMIT
}
