//! Faults by environment variable: `ASCSIM_FAULT="function[@n[+]][#device]:action;..."`.
//!
//! `@n` is the n-th call in this process (from 1), with `+` that and all later ones; without, all.
//! `#device` is the device that the process opened last, `#none` a process that has opened none.
//!
//! Actions on a call: `ret=N`, `null`, `segv`, `abort`, `exit=N`, `hang`, `sleep=MS`, `say=N` (N
//! bytes on standard output and as many on standard error), `print=N` (N bytes by C's `printf`,
//! without a flush), `daemon` (starts a process that leaves session, group and parent), `leak`
//! (memory is freed and stays allocated).
//!
//! Actions on data: `flip` (lowest bit of one element), `flipmsb`, `nan`, `zero`, `tail` (the end
//! is not written), `scale` (all doubled), `stale` (nothing is written), `stripe` (a wrong block),
//! `swap` (two blocks exchanged), `over` (bytes behind the end), `poison` (one element is the
//! previous content from the probe), `lowbits` (the lowest bit of every element), `inf` (bfloat16
//! and single floats).
//!
//! `ecc=N` adds corrected errors to the memory of the card, in the directory ASCSIM_STATE.
//!
//! The function `kernel` is work on a stream; `core#N` is block N of a bundled kernel, `link#A-B` a
//! copy from device A to device B, `sum` the result of a sum in a rank, `part` its contribution:
//! for these, `#` is not a device.

use std::collections::HashMap;
use std::ffi::{CString, c_char, c_int};
use std::io::Write as _;
use std::sync::{LazyLock, Mutex};
use std::time::Duration;

use acl_abi::{BinaryData, Executor, Scalar, Tensor};

/// The fill byte of results in the probe.
const POISON: u8 = 0xa5;

/// The effect on a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Effect {
    /// It runs, and damages the data that it writes.
    Go(Option<Corruption>),
    /// It fails with this code, if it returns one.
    Return(i32),
}

/// A corruption of data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Corruption {
    Flip,
    FlipMsb,
    Nan,
    Zero,
    Tail,
    Scale,
    Stale,
    Stripe,
    Swap,
    Over,
    Leak,
    Poison,
    LowBits,
    Inf,
}

/// The return value of a failing function.
pub trait Failing {
    fn failing(code: i32) -> Self;
}

impl Failing for i32 {
    fn failing(code: i32) -> Self {
        note(code);
        code
    }
}

impl<T> Failing for *const T {
    fn failing(_: i32) -> Self {
        std::ptr::null()
    }
}

macro_rules! failing_handles {
    ($($name:ident),*) => {$(impl Failing for $name {
        fn failing(_: i32) -> Self { Self::NULL }
    })*};
}
failing_handles!(Tensor, Scalar, Executor, BinaryData);

#[derive(Debug, Clone)]
struct Rule {
    function: String,
    first: Option<u64>,
    onward: bool,
    device: Option<String>,
    action: Action,
}

#[derive(Debug, Clone, Copy)]
enum Action {
    Return(i32),
    Segv,
    Abort,
    Exit(i32),
    Hang,
    Sleep(u64),
    Say(usize),
    Print(usize),
    Daemon,
    Ecc(u64),
    Data(Corruption),
}

static RULES: LazyLock<Vec<Rule>> = LazyLock::new(|| {
    let text = std::env::var("ASCSIM_FAULT").unwrap_or_default();
    text.split(';').filter(|rule| !rule.trim().is_empty()).map(parse).collect()
});
static CALLS: LazyLock<Mutex<HashMap<String, u64>>> = LazyLock::new(Mutex::default);

/// Parses a rule. An invalid rule is a defect of a test: it must not pass as "no fault".
fn parse(rule: &str) -> Rule {
    let (place, action) = rule.trim().split_once(':').expect("a fault is `function:action`");
    let (place, device) = match place.split_once('#') {
        Some((place, device)) => (place, Some(device.to_owned())),
        None => (place, None),
    };
    let (function, count) = match place.split_once('@') {
        Some((function, count)) => (function, Some(count)),
        None => (place, None),
    };
    let onward = count.is_some_and(|count| count.ends_with('+'));
    let first = count.map(|count| count.trim_end_matches('+').parse().expect("`@` takes a number"));
    let (word, number) = action.split_once('=').unwrap_or((action, "0"));
    let number: i64 = number.parse().expect("an action takes a number");
    let action = match word {
        "ret" => Action::Return(number as i32),
        "null" => Action::Return(0),
        "segv" => Action::Segv,
        "abort" => Action::Abort,
        "exit" => Action::Exit(number as i32),
        "hang" => Action::Hang,
        "sleep" => Action::Sleep(number as u64),
        "say" => Action::Say(number as usize),
        "print" => Action::Print(number as usize),
        "daemon" => Action::Daemon,
        "leak" => Action::Data(Corruption::Leak),
        "flip" => Action::Data(Corruption::Flip),
        "flipmsb" => Action::Data(Corruption::FlipMsb),
        "nan" => Action::Data(Corruption::Nan),
        "zero" => Action::Data(Corruption::Zero),
        "tail" => Action::Data(Corruption::Tail),
        "scale" => Action::Data(Corruption::Scale),
        "stale" => Action::Data(Corruption::Stale),
        "stripe" => Action::Data(Corruption::Stripe),
        "swap" => Action::Data(Corruption::Swap),
        "over" => Action::Data(Corruption::Over),
        "poison" => Action::Data(Corruption::Poison),
        "lowbits" => Action::Data(Corruption::LowBits),
        "inf" => Action::Data(Corruption::Inf),
        "ecc" => Action::Ecc(number.max(1) as u64),
        other => panic!("there is no action `{other}`"),
    };
    Rule { function: function.to_owned(), first, onward, device, action }
}

/// Stores the device that this process opened last, for all libraries: they share only the
/// environment.
pub fn opened(device: i32) {
    // SAFETY: the probe opens a device before it has threads that read the environment.
    unsafe { std::env::set_var("ASCSIM_CURRENT", device.to_string()) };
}

/// Applies the faults of `function`.
pub fn strike(function: &str) -> Effect {
    if RULES.is_empty() {
        return Effect::Go(None);
    }
    strike_at(function, std::env::var("ASCSIM_CURRENT").ok())
}

/// Applies the faults of `function` at this place, which is not a device.
pub fn strike_at(function: &str, current: Option<String>) -> Effect {
    if RULES.is_empty() {
        return Effect::Go(None);
    }
    let call = {
        let mut calls = CALLS.lock().unwrap();
        let call = calls.entry(function.to_owned()).or_default();
        *call += 1;
        *call
    };
    let mut corruption = None;
    for rule in RULES.iter() {
        let now = match rule.first {
            None => true,
            Some(first) => call == first || (rule.onward && call > first),
        };
        let here = match rule.device.as_deref() {
            None => true,
            // A process without an open device.
            Some("none") => current.is_none(),
            device => device == current.as_deref(),
        };
        if rule.function != function || !now || !here {
            continue;
        }
        match rule.action {
            Action::Return(code) => return Effect::Return(code),
            Action::Segv => {
                // SAFETY: none; this is meant to be fatal.
                unsafe { std::ptr::null_mut::<u8>().write_volatile(1) };
            }
            Action::Abort => std::process::abort(),
            Action::Exit(code) => std::process::exit(code),
            Action::Hang => loop {
                std::thread::sleep(Duration::from_secs(3600));
            },
            Action::Sleep(milliseconds) => std::thread::sleep(Duration::from_millis(milliseconds)),
            Action::Say(bytes) => {
                let text = chatter(bytes);
                let _ = std::io::stdout().write_all(text.as_bytes());
                let _ = std::io::stdout().flush();
                let _ = std::io::stderr().write_all(text.as_bytes());
            }
            Action::Print(bytes) => {
                let text = CString::new(chatter(bytes)).expect("there is no zero in it");
                // SAFETY: the format takes one string, which is null-terminated.
                unsafe { printf(c"%s".as_ptr(), text.as_ptr()) };
            }
            Action::Daemon => daemon(),
            Action::Ecc(count) => crate::state::add_ecc(count),
            Action::Data(what) => corruption = Some(what),
        }
    }
    Effect::Go(corruption)
}

unsafe extern "C" {
    fn printf(format: *const c_char, ...) -> c_int;
    fn fork() -> c_int;
    fn setsid() -> c_int;
    fn pause() -> c_int;
    fn _exit(status: c_int) -> !;
}

/// Returns text of `bytes` bytes.
fn chatter(bytes: usize) -> String {
    "simulated chatter\n".chars().cycle().take(bytes).collect()
}

/// Starts a detached process that does nothing forever.
fn daemon() {
    // SAFETY: the code in the new processes is async-signal-safe, and never returns.
    unsafe {
        if fork() == 0 {
            setsid();
            if fork() > 0 {
                _exit(0);
            }
            loop {
                pause();
            }
        }
    }
}

/// Logs a failure to the log of the process, as CANN does (`plog-<pid>_<time>.log`).
fn note(code: i32) {
    let Ok(dir) = std::env::var("ASCEND_PROCESS_LOG_PATH") else { return };
    let dir = std::path::Path::new(&dir).join("debug/plog");
    if std::fs::create_dir_all(&dir).is_err() {
        return;
    }
    let path = dir.join(format!("plog-{}_20260101000000000.log", std::process::id()));
    if let Ok(mut file) = std::fs::OpenOptions::new().create(true).append(true).open(path) {
        let _ = writeln!(
            file,
            "[ERROR] RUNTIME({},ascsim):2026-01-01-00:00:00.000.000 [sim.cc:1] simulated failure, \
             ret={code}",
            std::process::id()
        );
    }
}

impl Corruption {
    /// Damages `data`, elements of `width` bytes.
    pub fn apply(self, data: &mut [u8], width: usize) {
        let count = data.len() / width.max(1);
        if count == 0 {
            return;
        }
        let middle = count / 3 * width;
        let last = middle + width - 1;
        let size = data.len();
        match self {
            Self::Flip => data[middle] ^= 1,
            Self::FlipMsb => data[last] ^= 0x40,
            Self::Nan => {
                data[middle..middle + width].fill(0xff);
                data[last] = 0x7f;
            }
            Self::Zero => data.fill(0),
            Self::Scale => {
                for element in data.chunks_exact_mut(width) {
                    // The same for integers and floats: another, plausible number.
                    element[width - 1] ^= 0x01;
                }
            }
            Self::Stripe => {
                let block = (count / 20).max(1) * width;
                let end = (middle + block).min(size);
                data[middle..end].iter_mut().step_by(width).for_each(|byte| *byte ^= 0x10);
            }
            Self::Swap => {
                let block = (count / 8).max(1) * width;
                if 2 * block <= size {
                    let (one, other) = data.split_at_mut(block);
                    one.swap_with_slice(&mut other[..block]);
                }
            }
            Self::Poison => data[middle..middle + width].fill(POISON),
            Self::LowBits => data.iter_mut().step_by(width).for_each(|byte| *byte ^= 1),
            Self::Inf => {
                // In the byte order of a float: the exponent is all ones, the rest zero.
                data[middle..middle + width].fill(0);
                data[last] = 0x7f;
                data[last - 1] = 0x80;
            }
            // The writing code handles data that is not written.
            Self::Tail | Self::Stale | Self::Over | Self::Leak => {}
        }
    }

    /// The number of written bytes of `size`.
    pub fn written(self, size: usize) -> usize {
        match self {
            Self::Tail => size - size / 16,
            Self::Stale => 0,
            _ => size,
        }
    }
}
