//! Streams: each has a thread that runs its work in order. The first failure is kept and reported
//! at the next wait, as on a device.

use std::cell::Cell;
use std::ffi::c_void;
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex};
use std::time::{Duration, Instant};

use acl_abi::values::{ACL_ERROR_RT_PARAM_INVALID, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT};
use acl_abi::{Event, Status, Stream};
use sim_core::objects::{STREAM, StreamHead, Work};

/// The time at which an event was reached, by the clock of the device.
pub type Moment = Mutex<Option<Duration>>;

thread_local! {
    /// The device clock of this stream: the duration of its work. A device does not wait for the
    /// processors of the host, so pure computation takes its processor time.
    static CLOCK: Cell<Duration> = const { Cell::new(Duration::ZERO) };
}

/// The time that hosts need for work of the size of a timed product, and the time that the device
/// needs for it. Some hosts become twice as slow from one moment to the next; a device does not.
const PRODUCT: std::ops::RangeInclusive<Duration> =
    Duration::from_millis(1)..=Duration::from_millis(12);
const COMPUTED: Duration = Duration::from_micros(2_500);

/// `struct rusage`: two times, and numbers, one of which counts how often a thread went to sleep.
#[repr(C)]
#[derive(Default)]
struct Usage {
    user: [i64; 2],
    system: [i64; 2],
    numbers: [i64; 14],
}

/// `struct timespec`.
#[repr(C)]
#[derive(Default)]
struct Time {
    seconds: i64,
    nanoseconds: i64,
}

unsafe extern "C" {
    fn getrusage(who: i32, usage: *mut Usage) -> i32;
    fn clock_gettime(clock: i32, time: *mut Time) -> i32;
}

/// The number of times that this thread went to sleep.
fn sleeps() -> i64 {
    const THREAD: i32 = 1;
    let mut usage = Usage::default();
    // SAFETY: a valid pointer for the result.
    unsafe { getrusage(THREAD, &raw mut usage) };
    usage.numbers[12]
}

/// The processor time of this thread. The times of `getrusage` are ticks of 4 ms on some kernels;
/// this clock is exact on all.
fn processor_time() -> Duration {
    const THREAD_CPUTIME: i32 = 3;
    let mut time = Time::default();
    // SAFETY: a valid pointer for the result.
    unsafe { clock_gettime(THREAD_CPUTIME, &raw mut time) };
    let seconds = Duration::from_secs(u64::try_from(time.seconds).unwrap_or_default());
    seconds + Duration::from_nanos(u64::try_from(time.nanoseconds).unwrap_or_default())
}

/// Runs work, and advances the clock by its duration.
fn run_timed(work: impl FnOnce() -> i32) -> i32 {
    let (start, slept, before) = (Instant::now(), sleeps(), processor_time());
    let code = work();
    let ran = processor_time().saturating_sub(before);
    let computed = if PRODUCT.contains(&ran) { COMPUTED } else { ran };
    let waited =
        if sleeps() == slept { Duration::ZERO } else { start.elapsed().saturating_sub(ran) };
    CLOCK.set(CLOCK.get() + computed + waited);
    code
}

#[derive(Default)]
struct Progress {
    pending: usize,
    failure: Status,
}

#[repr(C)]
struct StreamObject {
    head: StreamHead,
    work: Sender<(Work, usize)>,
    progress: Arc<(Mutex<Progress>, Condvar)>,
}

pub fn create() -> Stream {
    let (work, todo) = channel::<(Work, usize)>();
    let progress = Arc::new((Mutex::new(Progress::default()), Condvar::new()));
    let mine = Arc::clone(&progress);
    std::thread::spawn(move || {
        for (work, argument) in todo {
            // SAFETY: the enqueuing code passed the argument that the work takes.
            let code = run_timed(|| unsafe { work(argument as *mut c_void) });
            let mut progress = mine.0.lock().unwrap();
            progress.pending -= 1;
            if progress.failure == 0 {
                progress.failure = code;
            }
            mine.1.notify_all();
        }
    });
    let head = StreamHead { magic: STREAM, enqueue };
    Stream(Box::into_raw(Box::new(StreamObject { head, work, progress })).cast())
}

/// # Safety
/// `stream` is null or a stream of this library that was not destroyed.
unsafe fn object<'a>(stream: *mut c_void) -> Result<&'a StreamObject, Status> {
    // SAFETY: by contract; the mark shows misuse.
    let object = unsafe { stream.cast::<StreamObject>().as_ref() };
    object.filter(|object| object.head.magic == STREAM).ok_or(ACL_ERROR_RT_PARAM_INVALID)
}

/// # Safety
/// `stream` is a stream of this library, and `argument` is the one that `work` takes.
pub unsafe extern "C" fn enqueue(stream: *mut c_void, work: Work, argument: *mut c_void) -> i32 {
    // SAFETY: by contract.
    let object = match unsafe { object(stream) } {
        Ok(object) => object,
        Err(code) => return code,
    };
    object.progress.0.lock().unwrap().pending += 1;
    match object.work.send((work, argument as usize)) {
        Ok(()) => 0,
        Err(_) => ACL_ERROR_RT_PARAM_INVALID,
    }
}

/// # Safety
/// `stream` is a stream of this library, and is not used again.
pub unsafe fn destroy(stream: Stream) -> Status {
    // SAFETY: by contract.
    unsafe {
        if object(stream.0).is_err() {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
        let object = stream.0.cast::<StreamObject>();
        (*object).head.magic = 0;
        drop(Box::from_raw(object));
    }
    0
}

/// # Safety
/// `stream` is a stream of this library.
pub unsafe fn wait(stream: Stream, milliseconds: Option<u64>) -> Status {
    // SAFETY: by contract.
    let object = match unsafe { object(stream.0) } {
        Ok(object) => object,
        Err(code) => return code,
    };
    let limit = Duration::from_millis(milliseconds.unwrap_or(u64::from(u32::MAX)));
    let progress = object.progress.0.lock().unwrap();
    let (progress, out) = object
        .progress
        .1
        .wait_timeout_while(progress, limit, |progress| progress.pending > 0)
        .unwrap();
    if out.timed_out() { ACL_ERROR_RT_STREAM_SYNC_TIMEOUT } else { progress.failure }
}

/// # Safety
/// A live event and a live stream of this library.
pub unsafe fn record(event: Event, stream: Stream) -> Status {
    unsafe extern "C" fn reach(event: *mut c_void) -> i32 {
        // SAFETY: the caller keeps the event until the stream has reached this point.
        let moment = unsafe { &*event.cast::<Moment>() };
        *moment.lock().unwrap() = Some(CLOCK.get());
        0
    }
    if event.0.is_null() {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    // SAFETY: by contract.
    unsafe { enqueue(stream.0, reach, event.0) }
}

/// # Safety
/// Live events, and a valid pointer for the result.
pub unsafe fn elapsed(milliseconds: *mut f32, start: Event, end: Event) -> Status {
    // SAFETY: by contract.
    let (start, end) = unsafe { (&*start.0.cast::<Moment>(), &*end.0.cast::<Moment>()) };
    let (Some(start), Some(end)) = (*start.lock().unwrap(), *end.lock().unwrap()) else {
        return ACL_ERROR_RT_PARAM_INVALID;
    };
    // SAFETY: by contract.
    unsafe { milliseconds.write(end.saturating_sub(start).as_secs_f32() * 1e3) };
    0
}
