//! The classes of operator support on an NPU.

use serde::Serialize;

/// The execution of an operator on an NPU, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum SupportClass {
    /// A kernel of torch_npu runs on the device.
    Native,
    /// It is made of operators that all have kernels.
    Composed,
    /// It has no kernel, and is used only while the model is built or data is prepared.
    Setup,
    /// It is an operator of a library of its own, or of none of the tables: nothing is known.
    Unknown,
    /// It is made of other operators, not all of which are known.
    PartlyKnown,
    /// The kernel of torch_npu works on the host.
    Host,
    /// It runs on AI CPU, the scalar cores of the device.
    AiCpu,
    /// It fell back where the input was recorded, and has a kernel in the torch_npu at hand.
    Observed,
    /// Of the overloads that the input may mean, some fall back.
    Depends,
    /// There is a kernel, and the documents of CANN do not list this data type or chip for it.
    Restricted,
    /// There is a kernel, and the CANN at hand does not have what it calls.
    NeedsCann,
    /// The CPU computes it, with copies there and back.
    Fallback,
    /// It raises an error.
    Unsupported,
}

impl SupportClass {
    /// The key of its word in `data/ui.toml`.
    pub fn word(self) -> &'static str {
        match self {
            Self::Native => "ops_native",
            Self::Composed => "ops_composed",
            Self::Unknown => "ops_unknown",
            Self::PartlyKnown => "ops_partly_known",
            Self::Host => "ops_host",
            Self::AiCpu => "ops_ai_cpu",
            Self::Observed => "ops_observed",
            Self::Restricted => "ops_restricted",
            Self::NeedsCann => "ops_needs_cann",
            Self::Setup => "ops_setup",
            Self::Depends => "ops_depends",
            Self::Fallback => "ops_fallback",
            Self::Unsupported => "ops_unsupported",
        }
    }
}
