//! Shared parts of the simulated Ascend libraries: injected faults, the shapes of their objects,
//! arithmetic in the types of the device.
//!
//! Every shared object has its own copy of this crate with its own statics. State shared by all of
//! them is passed through objects: a stream contains the function that puts work on it.

pub mod fault;
pub mod float;
pub mod hold;
pub mod objects;
pub mod state;

pub use fault::{Corruption, Effect, strike, strike_at};

/// Defines a function of the table with the type that the table declares, and applies the
/// simulator's faults before it. The body gets the requested corruption of data, if any.
#[macro_export]
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty |$corruption:pat_param| $body:block)*) => {$(
        const _: ::acl_abi::sig::$name = $name;

        /// # Safety
        /// As for the function of the same name in CANN.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> $result {
            let $corruption = match $crate::strike(stringify!($name)) {
                $crate::Effect::Go(corruption) => corruption,
                $crate::Effect::Return(code) => {
                    return <$result as $crate::fault::Failing>::failing(code);
                }
            };
            $body
        }
    )*};
}

/// Marks a library as simulated: the product rejects it by default.
#[macro_export]
macro_rules! identify {
    () => {
        /// Identifies this library as a simulation.
        #[unsafe(no_mangle)]
        pub extern "C" fn ascsim_version() -> *const ::std::ffi::c_char {
            c"ascsim 1".as_ptr()
        }
    };
}

/// A numeric environment variable, or `default`.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}

/// The simulated chip: `ASCSIM_SOC`.
pub fn soc() -> String {
    std::env::var("ASCSIM_SOC").unwrap_or_else(|_| "Ascend910B3".to_owned())
}
