//! The classes of operator support on an NPU.

use data::ui;
use serde::Serialize;

/// The execution of an operator on an NPU, from the best to the worst.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[cfg_attr(feature = "schema", derive(schemars::JsonSchema))]
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
    /// Its name.
    pub fn label(self) -> ui::Label {
        match self {
            Self::Native => ui::OPS_NATIVE,
            Self::Composed => ui::OPS_COMPOSED,
            Self::Unknown => ui::OPS_UNKNOWN,
            Self::PartlyKnown => ui::OPS_PARTLY_KNOWN,
            Self::Host => ui::OPS_HOST,
            Self::AiCpu => ui::OPS_AI_CPU,
            Self::Observed => ui::OPS_OBSERVED,
            Self::Restricted => ui::OPS_RESTRICTED,
            Self::NeedsCann => ui::OPS_NEEDS_CANN,
            Self::Setup => ui::OPS_SETUP,
            Self::Depends => ui::OPS_DEPENDS,
            Self::Fallback => ui::OPS_FALLBACK,
            Self::Unsupported => ui::OPS_UNSUPPORTED,
        }
    }
}
