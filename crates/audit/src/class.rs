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
    /// Composed of operators that all have kernels.
    Composed,
    /// It has no kernel, but is used only while the model is built or data is prepared.
    Setup,
    /// An operator that is not in the tables, or belongs to another library. Its support is
    /// unknown.
    Unknown,
    /// Composed of other operators, some of which are unknown.
    PartlyKnown,
    /// The kernel of torch_npu works on the host.
    Host,
    /// It runs on AI CPU, the scalar cores of the device.
    AiCpu,
    /// It fell back in the recorded run, but has a kernel in the selected torch_npu.
    Observed,
    /// Some of the overloads that the input may refer to fall back.
    Depends,
    /// There is a kernel, but the CANN documents do not list this data type or chip for it.
    Restricted,
    /// There is a kernel, but the selected CANN does not have the functions that it calls.
    NeedsCann,
    /// The CPU computes it, and tensors are copied in both directions.
    Fallback,
    /// It raises an error.
    Unsupported,
}

impl SupportClass {
    /// Returns the label of the class.
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
