//! Loads and calls the vendor's libraries. The only module with `unsafe`.
//!
//! A function pointer is created from a symbol and used with the type that `acl_abi` declares,
//! which a test compares with the official headers. Everything else is designed so that a call
//! cannot be wrong on our side: lengths come from slices, objects from the library that receives
//! them. The library itself may still fail in any way, so this runs in a child process, and nothing
//! here frees in `Drop`: after a failure the process makes no further call.
#![expect(unsafe_code, reason = "calls functions that are looked up at run time")]

use std::cell::RefCell;
use std::ffi::{CStr, c_char, c_int, c_void};
use std::mem::ManuallyDrop;
use std::time::{Duration, Instant};

use acl_abi::{Group, Need, sig};
use libloading::os::unix::{Library, RTLD_GLOBAL, RTLD_LAZY, RTLD_LOCAL};

use super::protocol::{Fault, LoadedLibrary};

/// The maximum length of the runtime's message about a failure, in bytes.
const MAX_MESSAGE: usize = 2000;
/// A symbol that the libraries of the simulator export.
const SIMULATION: &CStr = c"ascsim_version";

macro_rules! table {
    ($($(#[$doc:meta])* $group:ident $need:ident $since:literal
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        /// The functions that were found.
        #[derive(Debug, Default)]
        struct Table {
            $($name: Option<sig::$name>,)*
        }

        impl Table {
            /// Adds functions of `group` that are missing so far from `library`. Returns the
            /// required and the optional functions that are still missing.
            fn fill(&mut self, group: Group, library: &Library) -> [Vec<String>; 2] {
                let mut missing = [Vec::new(), Vec::new()];
                $(if group == Group::$group && self.$name.is_none() {
                    // SAFETY: the symbol of this name is a function of this type in every
                    // version of the library: `data/acl_abi/functions.tsv`.
                    let found = unsafe {
                        library.get::<sig::$name>(concat!(stringify!($name), "\0"))
                    };
                    match found {
                        Ok(symbol) => self.$name = Some(*symbol),
                        Err(_) => missing[match Need::$need {
                            Need::Required => 0,
                            Need::Optional => 1,
                        }].push(stringify!($name).to_owned()),
                    }
                })*
                missing
            }
        }
    };
}

acl_abi::acl_functions!(table);

/// Announces a function, then calls it. A function that was not found is a fault.
macro_rules! call {
    ($vendor:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let vendor: &Vendor = $vendor;
        let Some(function) = vendor.table.$name else {
            return Err(Fault::MissingSymbols {
                library: String::new(),
                symbols: vec![stringify!($name).to_owned()],
            });
        };
        vendor.announce(stringify!($name));
        let start = ::std::time::Instant::now();
        // SAFETY: the type is the declared one; the wrappers below pass live objects of the same
        // library, and pointers with the lengths of their buffers.
        let returned = unsafe { function($($arg),*) };
        vendor.note_return($crate::vendor::Returned::status(&returned), start);
        returned
    }};
}

/// As `call!`, for functions that return a status.
macro_rules! try_call {
    ($vendor:expr, $name:ident($($arg:expr),* $(,)?)) => {{
        let code = call!($vendor, $name($($arg),*));
        if code != ACL_SUCCESS {
            return Err(Fault::Call {
                function: stringify!($name).to_owned(),
                code,
                message: $vendor.last_error(),
            });
        }
    }};
}

mod dcmi;
mod fabric;
mod kernel;
mod operators;
mod runtime;

pub use kernel::{Kernel, MAX_BINARY};
pub use operators::{Operator, Plan};
pub use runtime::Buffer;

/// The return value of a function, as evidence: its status, if it is one.
pub(crate) trait Returned {
    fn status(&self) -> Option<i32> {
        None
    }
}

impl Returned for i32 {
    fn status(&self) -> Option<i32> {
        Some(*self)
    }
}

impl Returned for *const c_char {}
impl Returned for acl_abi::Tensor {}
impl Returned for acl_abi::Scalar {}
impl Returned for acl_abi::BinaryData {}

/// Receives the next function, and the result of the last one.
type Announce = Box<dyn FnMut(VendorCall<'_>)>;

/// An event of a call.
#[derive(Debug, Clone, Copy)]
pub enum VendorCall<'a> {
    /// This function is called next.
    Next(&'a str),
    /// The last one returned this status, if it returns one, after this time.
    Returned(Option<i32>, Duration),
}

/// The loaded libraries.
pub struct Vendor {
    table: Table,
    /// Never unloaded, not even at the end: threads of the libraries may still run in them, and
    /// crashes during unloading are no evidence about a device.
    libraries: Vec<(&'static str, ManuallyDrop<Library>)>,
    announce: RefCell<Announce>,
    /// Whether any of them is a simulation.
    pub simulated: bool,
    /// The loaded libraries, for the report.
    pub loaded: Vec<LoadedLibrary>,
}

impl Vendor {
    /// Creates a value without loaded libraries. `announce` receives the name of every function
    /// before the call, and its return.
    pub fn new(announce: impl FnMut(VendorCall<'_>) + 'static) -> Self {
        Self {
            table: Table::default(),
            libraries: Vec::new(),
            announce: RefCell::new(Box::new(announce)),
            simulated: false,
            loaded: Vec::new(),
        }
    }

    fn announce(&self, function: &str) {
        (self.announce.borrow_mut())(VendorCall::Next(function));
    }

    fn note_return(&self, status: Option<i32>, start: Instant) {
        (self.announce.borrow_mut())(VendorCall::Returned(status, start.elapsed()));
    }

    /// Loads the libraries of `group`: the first one found, and the next one if the first does not
    /// contain a required function.
    pub fn load(&mut self, group: Group, allow_simulated: bool) -> Result<(), Fault> {
        if cfg!(target_env = "musl") {
            return Err(Fault::Static);
        }
        let mut lacking = None;
        for name in group.libraries() {
            let library = match self.open(name, group) {
                Ok(Some(library)) => library,
                Ok(None) => continue,
                Err(error) => {
                    return Err(Fault::BrokenLibrary { library: (*name).to_owned(), error });
                }
            };
            // SAFETY: only the existence of the address is checked.
            let marked =
                unsafe { library.get::<*const c_void>(SIMULATION.to_bytes_with_nul()).is_ok() };
            if marked && !allow_simulated {
                return Err(Fault::Simulated { library: (*name).to_owned() });
            }
            self.simulated |= marked;
            let [required, absent] = self.table.fill(group, library_of(&self.libraries, name));
            match self.loaded.iter_mut().find(|loaded| loaded.name == *name) {
                Some(loaded) => loaded.absent.extend(absent),
                None => self.loaded.push(LoadedLibrary { name: (*name).to_owned(), absent }),
            }
            if required.is_empty() {
                return Ok(());
            }
            lacking.get_or_insert(Fault::MissingSymbols {
                library: (*name).to_owned(),
                symbols: required,
            });
        }
        Err(lacking.unwrap_or_else(|| Fault::NoLibrary {
            tried: group.libraries().iter().map(|name| (*name).to_owned()).collect(),
        }))
    }

    /// Opens a library once: `None` if it does not exist, an error if it cannot be loaded.
    fn open(&mut self, name: &'static str, group: Group) -> Result<Option<&Library>, String> {
        if !self.libraries.iter().any(|(open, _)| *open == name) {
            self.announce(&format!("dlopen {name}"));
            // Programs link the runtime, and other libraries expect to find it, so it is visible to
            // all. Lazily, as frameworks do: an unused function must not matter.
            let shared = matches!(group, Group::Acl | Group::Nnopbase);
            let flags = RTLD_LAZY | if shared { RTLD_GLOBAL } else { RTLD_LOCAL };
            // SAFETY: the library's constructors run; this process exists for that.
            match unsafe { Library::open(Some(name), flags) } {
                Ok(library) => self.libraries.push((name, ManuallyDrop::new(library))),
                Err(error) => {
                    let error = std::error::Error::source(&error)
                        .map_or_else(|| error.to_string(), ToString::to_string);
                    let absent = error.starts_with(&format!("{name}: cannot open"))
                        && error.contains("No such file");
                    return if absent { Ok(None) } else { Err(error) };
                }
            }
        }
        Ok(Some(library_of(&self.libraries, name)))
    }

    /// The message of the runtime about the last failure.
    fn last_error(&self) -> Option<String> {
        let function = self.table.aclGetRecentErrMsg?;
        self.announce("aclGetRecentErrMsg");
        // SAFETY: the declared type.
        read_text(unsafe { function() })
    }

    fn null_fault(&self, function: &str) -> Fault {
        Fault::Null { function: function.to_owned(), message: self.last_error() }
    }
}

fn library_of<'a>(
    libraries: &'a [(&'static str, ManuallyDrop<Library>)],
    name: &str,
) -> &'a Library {
    let found = libraries.iter().find(|(open, _)| *open == name);
    &found.expect("it was opened before").1
}

/// A text of the library.
fn read_text(pointer: *const c_char) -> Option<String> {
    if pointer.is_null() {
        return None;
    }
    // SAFETY: the functions that return text return it with a terminating zero.
    let bytes = unsafe { CStr::from_ptr(pointer) }.to_bytes();
    let bytes = &bytes[..bytes.len().min(MAX_MESSAGE)];
    let text = String::from_utf8_lossy(bytes).trim().to_owned();
    (!text.is_empty()).then_some(text)
}

/// Disables the buffering of C code: its output would stay in a buffer until the buffer is full,
/// and be attributed to another function, or get lost, because this process ends without flushing
/// it.
pub fn disable_buffering() {
    /// `_IONBF` of `stdio.h`, the same in all C libraries for Linux.
    const UNBUFFERED: c_int = 2;
    unsafe extern "C" {
        static stdout: *mut c_void;
        fn setvbuf(stream: *mut c_void, buffer: *mut c_char, mode: c_int, size: usize) -> c_int;
    }
    // SAFETY: the stream of the C library, to which nothing was written yet; it needs no buffer.
    unsafe { setvbuf(stdout, std::ptr::null_mut(), UNBUFFERED, 0) };
}

/// Ends this process at once: the exit handlers of the vendor's libraries are known to crash, which
/// is no evidence about a device.
pub fn exit_process(status: i32) -> ! {
    unsafe extern "C" {
        safe fn _exit(status: i32) -> !;
    }
    _exit(status)
}
