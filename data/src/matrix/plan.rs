//! What to install, for whichever framework.

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
    /// The versions with the names of the packages.
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

    /// The CANN.
    pub fn cann(&self) -> &str {
        match self {
            Self::Torch(advice) => &advice.cann,
            Self::MindSpore(advice) => &advice.cann,
        }
    }

    /// `recommended` or `compatible`.
    pub fn level(&self) -> &'static str {
        match self {
            Self::Torch(advice) => advice.level,
            Self::MindSpore(advice) => advice.level,
        }
    }

    /// The commands, in order.
    pub fn commands(&self) -> &[String] {
        match self {
            Self::Torch(advice) => &advice.commands,
            Self::MindSpore(advice) => &advice.commands,
        }
    }

    /// The commands with what they install.
    pub fn steps(&self) -> &[InstallStep] {
        match self {
            Self::Torch(advice) => &advice.steps,
            Self::MindSpore(advice) => &advice.steps,
        }
    }

    /// Why these versions.
    pub fn reasons(&self) -> &[Text] {
        match self {
            Self::Torch(advice) => &advice.reasons,
            Self::MindSpore(advice) => &advice.reasons,
        }
    }

    /// Where that is written.
    pub fn sources(&self) -> &[String] {
        match self {
            Self::Torch(advice) => &advice.sources,
            Self::MindSpore(advice) => &advice.sources,
        }
    }
}
