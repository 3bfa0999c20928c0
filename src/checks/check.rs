//! The row of a check in the registry: its id, its decision, and what may be hidden from it.

use base::report::Outcome;
use data::Matrix;
use facts::Facts;

use super::Profile;

/// What a check may look at.
#[derive(Debug, Clone, Copy)]
pub struct Context<'a> {
    /// What was read of the machine.
    pub facts: &'a Facts,
    /// Which versions fit together.
    pub matrix: &'a Matrix,
    /// What the machine is meant for.
    pub profile: Profile,
    /// Whether a missing NPU or stack is an error (`--require-npu`).
    pub require_npu: bool,
}

impl<'a> Context<'a> {
    /// A context with the shipped data.
    pub fn of(facts: &'a Facts, profile: Profile) -> Self {
        Self { facts, matrix: Matrix::builtin(), profile, require_npu: false }
    }
}

/// A check: an id of the catalogue and the function that decides.
#[derive(Debug, Clone, Copy)]
pub struct Check {
    /// The finding id that it reports under.
    pub id: &'static str,
    /// The decision.
    pub run: fn(&Context<'_>) -> Outcome,
}

/// What a rule looks for beside what it shows as evidence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Area {
    /// Any CANN.
    AnyCann,
    /// The CANN in use, or any where none is.
    Cann,
    Nnal,
    Driver,
    /// All that a dynamic linker would search.
    Libraries,
    /// Which packages there are.
    Packages,
    /// What pip wrote down of torch_npu: it tells a build of one's own from a damaged one.
    Record,
}
