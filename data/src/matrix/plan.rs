//! The versions to install, for any framework.

use base::text::Text;

use super::{Advice, MindSporeAdvice};
use crate::InstallStep;

/// The versions to install.
#[derive(Debug, Clone)]
pub enum Plan {
    /// PyTorch and torch_npu.
    Torch(Advice),
    /// MindSpore.
    MindSpore(MindSporeAdvice),
}

impl Plan {
    /// Returns the versions with the names of the packages.
    pub fn versions(&self) -> Vec<String> {
        match self {
            Self::Torch(advice) => vec![
                format!("torch {}", advice.torch),
                format!("torch_npu {}", advice.torch_npu),
                format!("CANN {}", advice.cann),
            ],
            Self::MindSpore(advice) => {
                vec![format!("MindSpore {}", advice.mindspore), format!("CANN {}", advice.cann)]
            }
        }
    }

    /// Returns the CANN version.
    pub fn cann(&self) -> &str {
        match self {
            Self::Torch(advice) => &advice.cann,
            Self::MindSpore(advice) => &advice.cann,
        }
    }

    /// Returns `recommended` or `compatible`.
    pub fn level(&self) -> &'static str {
        match self {
            Self::Torch(advice) => advice.level,
            Self::MindSpore(advice) => advice.level,
        }
    }

    /// Returns the commands, in order.
    pub fn commands(&self) -> &[String] {
        match self {
            Self::Torch(advice) => &advice.commands,
            Self::MindSpore(advice) => &advice.commands,
        }
    }

    /// Returns the commands with the components that they install.
    pub fn steps(&self) -> &[InstallStep] {
        match self {
            Self::Torch(advice) => &advice.steps,
            Self::MindSpore(advice) => &advice.steps,
        }
    }

    /// Returns the reasons for these versions.
    pub fn reasons(&self) -> &[Text] {
        match self {
            Self::Torch(advice) => &advice.reasons,
            Self::MindSpore(advice) => &advice.reasons,
        }
    }

    /// Returns the sources of the versions.
    pub fn sources(&self) -> &[String] {
        match self {
            Self::Torch(advice) => &advice.sources,
            Self::MindSpore(advice) => &advice.sources,
        }
    }
}
