//! The torch_npu, chip and CANN that operators are classified for.

use base::chip::ChipFamily;

use crate::ops::dispatch::Registrations;
use crate::ops::{Tables, Target};

/// The aclnn functions of a CANN.
pub trait CannFunctions: Sync {
    /// Returns whether the CANN has a function; `None` if that is unknown.
    fn has(&self, function: &str) -> Option<bool>;
}

/// The registrations, chip, CANN and data type that operators are classified for.
#[derive(Clone, Copy)]
pub struct TargetEnvironment<'a> {
    /// The registrations, from the tables or from an installation.
    pub registered: &'a dyn Registrations,
    /// The tables.
    pub tables: &'a Tables,
    /// The target in the tables that equals the torch_npu, or is nearest to it.
    pub target: &'a Target,
    /// The chip, if it is known.
    pub chip: Option<ChipFamily>,
    /// The CANN, if it is known.
    pub cann: Option<&'a dyn CannFunctions>,
    /// The data type that the user names for operators whose input contains none.
    pub dtype: Option<&'a str>,
}
