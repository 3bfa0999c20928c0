//! What the simulated Ascend libraries share: injected faults, the shapes of their objects,
//! arithmetic in the types of the device.
//!
//! Every shared object has its own copy of this crate with its own statics. What has to be one
//! over all of them goes through objects: a stream carries the function that puts work on it.

pub mod fault;
pub mod float;
pub mod hold;
pub mod objects;
pub mod state;

pub use fault::{Corruption, Effect, strike, strike_at};

/// Defines a function of the table with the type that the table declares, and the simulator's
/// faults in front of it. The body gets the corruption to apply to data, if one was asked for.
#[macro_export]
macro_rules! export {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty |$corruption:pat_param| $body:block)*) => {$(
        const _: ::acl_abi::sig::$name = $name;

        /// # Safety
        /// As the function of the same name in CANN.
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

/// Marks a library as simulated: the product refuses it unless told otherwise.
#[macro_export]
macro_rules! identify {
    () => {
        /// Says that this library is no real one.
        #[unsafe(no_mangle)]
        pub extern "C" fn ascsim_version() -> *const ::std::ffi::c_char {
            c"ascsim 1".as_ptr()
        }
    };
}

/// A number of the environment, or `default`.
pub fn setting(name: &str, default: u64) -> u64 {
    std::env::var(name).ok().and_then(|text| text.trim().parse().ok()).unwrap_or(default)
}

/// The chip that is simulated: `ASCSIM_SOC`.
pub fn soc() -> String {
    std::env::var("ASCSIM_SOC").unwrap_or_else(|_| "Ascend910B3".to_owned())
}
