//! The torch_npu, chip and CANN that operators are classified for.

use base::chip::ChipFamily;

use crate::ops::dispatch::Registrations;
use crate::ops::{Tables, Target};

/// The aclnn functions of a CANN.
pub trait CannFunctions: Sync {
    /// Returns whether it has a function; nothing if that is unknown.
    fn has(&self, function: &str) -> Option<bool>;
}

/// The registrations, chip, CANN and data type that operators are classified for.
#[derive(Clone, Copy)]
pub struct TargetEnvironment<'a> {
    /// What is registered, by the tables or by an installation.
    pub registered: &'a dyn Registrations,
    /// The tables.
    pub tables: &'a Tables,
    /// The torch_npu, or the one of the tables that is nearest to it.
    pub target: &'a Target,
    /// The chip, where it is known.
    pub chip: Option<ChipFamily>,
    /// The CANN, where it is known.
    pub cann: Option<&'a dyn CannFunctions>,
    /// The data type that the user names for what the input does not say.
    pub dtype: Option<&'a str>,
}
