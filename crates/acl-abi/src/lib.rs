//! The functions of the Ascend Computing Language (ACL) that `ascend-doctor verify` calls,
//! declared once: for the loader, which looks the symbols up, and for the simulator, which
//! defines them. A simulator function whose type differs from [`sig`] does not compile.
//!
//! Must not touch: anything. It only declares types, values and names.
//!
//! Types and values are those of 16 official sets of headers, CANN 6.0.1 to 9.2.0-beta.2, in which
//! they are all equal; `data/acl_abi/` contains them as text, and a test compares. Only the library
//! of a symbol ([`Group::libraries`]) and its existence ([`Function::since`]) differ between
//! versions.

mod canon;
mod structs;
mod table;
pub mod values;

pub use canon::Canon;
pub use structs::{
    BinaryLoadOption, BinaryLoadOptions, BoardInfo, ChipInfo, EccInfo, ElabelInfo, HbmInfo, Layout,
    PackageVersion, PcieInfo, RootInfo, layouts,
};

use std::ffi::c_void;

/// The return value of every function of the runtime: 0, or an error code.
pub type Status = i32;

macro_rules! handles {
    ($($(#[$doc:meta])* $name:ident;)*) => {$(
        $(#[$doc])*
        #[repr(transparent)]
        #[derive(Debug, Clone, Copy, PartialEq, Eq)]
        pub struct $name(pub *mut c_void);

        impl $name {
            /// The null object.
            pub const NULL: Self = Self(std::ptr::null_mut());
        }

        impl Canon for $name {
            const LETTER: &'static str = "p";
        }
    )*};
}

handles! {
    /// `aclrtStream`.
    Stream;
    /// `aclrtEvent`.
    Event;
    /// `aclTensor *`.
    Tensor;
    /// `aclScalar *`.
    Scalar;
    /// `aclOpExecutor *`.
    Executor;
    /// `aclrtcProg`.
    RtcProgram;
    /// `aclrtBinary`.
    BinaryData;
    /// `aclrtBinHandle`.
    Binary;
    /// `aclrtFuncHandle`.
    KernelFunction;
    /// `aclrtArgsHandle`.
    KernelArgs;
    /// `aclrtParamHandle`.
    KernelParam;
    /// `HcclComm`.
    Communicator;
}

/// Functions in the same library.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Group {
    /// The runtime.
    Acl,
    /// Tensors and executors of the single-operator API.
    Nnopbase,
    /// Elementwise operators.
    Math,
    /// Matrix multiplication.
    Nn,
    /// The run-time compiler of kernels.
    Rtc,
    /// Collective communication.
    Hccl,
    /// The device management of the driver.
    Dcmi,
}

impl Group {
    /// All groups, in loading order.
    pub const ALL: [Self; 7] =
        [Self::Acl, Self::Nnopbase, Self::Math, Self::Nn, Self::Rtc, Self::Hccl, Self::Dcmi];

    /// The libraries that may contain the functions, the preferred one first.
    ///
    /// From CANN 8.5 on the runtime is in `libacl_rt.so` (with `libascendcl.so` next to it for
    /// compatibility) and the operators are split by repository; `libopapi.so` must not be used
    /// together with `libopapi_<repository>.so`. CANN 8.1 has `libaclnn_*.so` as well. From 9.0 on
    /// the communicators are declared in hcomm; `libhccl.so` depends on it.
    pub const fn libraries(self) -> &'static [&'static str] {
        match self {
            Self::Acl => &["libascendcl.so", "libacl_rt.so"],
            Self::Nnopbase => &["libnnopbase.so"],
            Self::Math => &["libopapi_math.so", "libopapi.so", "libaclnn_math.so"],
            Self::Nn => &["libopapi_nn.so", "libopapi.so", "libaclnn_ops_infer.so"],
            Self::Rtc => &["libacl_rtc.so"],
            Self::Hccl => &["libhccl.so", "libhcomm.so"],
            // Programs load it by its path, because no set_env.sh adds it to the search path.
            Self::Dcmi => &[
                "libdcmi.so",
                "/usr/local/dcmi/libdcmi.so",
                "/usr/local/Ascend/driver/lib64/driver/libdcmi.so",
                "/usr/local/Ascend/driver/lib64/libdcmi.so",
            ],
        }
    }
}

/// Whether the probe requires a function.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Need {
    /// Every installation of CANN 7.0 and later has it.
    Required,
    /// Only later versions have it; features that need it are skipped if it is absent.
    Optional,
}

/// A declared function.
#[derive(Debug, Clone)]
pub struct Function {
    /// The symbol.
    pub name: &'static str,
    /// Its library group.
    pub group: Group,
    /// Whether the probe requires it.
    pub need: Need,
    /// The first CANN version whose headers declare it, as far as known.
    pub since: &'static str,
    /// Its type in the notation of `data/acl_abi/functions.tsv`, derived from the Rust declaration.
    pub canonical: String,
}

macro_rules! declare {
    ($($(#[$doc:meta])* $group:ident $need:ident $since:literal
        fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $result:ty;)*) => {
        /// The types of the functions, each under the name of its symbol.
        #[expect(non_camel_case_types, reason = "the names of the symbols")]
        pub mod sig {
            #[allow(clippy::wildcard_imports, reason = "the types of the table")]
            use super::{*, table::*};
            $($(#[$doc])* pub type $name = unsafe extern "C" fn($($arg: $type),*) -> $result;)*
        }

        /// All declared functions, in the order of the table.
        pub fn functions() -> Vec<Function> {
            #[allow(clippy::wildcard_imports, reason = "the types of the table")]
            use table::*;
            vec![$(Function {
                name: stringify!($name),
                group: Group::$group,
                need: Need::$need,
                since: $since,
                canonical: canon::signature(
                    <$result as Canon>::LETTER,
                    &[$(<$type as Canon>::LETTER),*],
                ),
            }),*]
        }
    };
}

acl_functions!(declare);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_unique_and_spelled_like_the_headers() {
        let functions = functions();
        let mut names: Vec<_> = functions.iter().map(|function| function.name).collect();
        names.sort_unstable();
        names.dedup();
        assert_eq!(names.len(), functions.len());
        let add = functions.iter().find(|function| function.name == "aclnnAddGetWorkspaceSize");
        assert_eq!(add.unwrap().canonical, "w32(p,p,p,p,p,p)");
        let mm = functions.iter().find(|function| function.name == "aclnnMatmulGetWorkspaceSize");
        assert_eq!(mm.unwrap().canonical, "w32(p,p,p,i8,p,p)");
    }
}
