//! `--transfer`: torch_npu's `transfer_to_npu` patches torch at run time. What it cannot reach is
//! reported.

use ruff_python_ast::Stmt;

use super::engine::Engine;
use crate::rules::{Match, Place, Rule, Rules};
use crate::site::{Decision, Planner};

/// Places that no patch of a function reaches: comparisons of strings, and what is asked of the
/// device itself.
const PLACES: &[Place] = &[
    Place::BackendComparison,
    Place::DeviceTypeComparison,
    Place::DeviceTypeMembership,
    Place::DeviceStartswith,
    Place::DeviceStringMethod,
    Place::OutOfMemoryText,
    Place::TorchJit,
];

/// Names that it gives another meaning: float64 becomes float32.
const NAMES: &[&str] = &["torch.cuda.DoubleTensor"];

impl<'a> Engine<'a> {
    /// Inserts the import into a launch file; of what was planned stays what a person has to do.
    pub(super) fn transfer(&mut self, body: &'a [Stmt]) {
        let empty = Planner::of(self.text, self.context.options, self.context.project);
        let planned = std::mem::replace(&mut self.planner, empty).finish();
        if self.context.launch {
            self.insert_transfer(body);
        }
        for site in planned.sites {
            let flagged = site.decision == Decision::Flagged || is_out_of_reach(site.rule);
            if flagged && site.rule.name != Place::InsertTorchNpu.name() {
                self.planner.flag(site.rule, site.range, site.detail);
            }
        }
    }
}

fn is_out_of_reach(rule: &Rule) -> bool {
    rule.how == Match::Env
        || PLACES.iter().any(|place| Rules::builtin().site(*place).id == rule.id)
        || rule.names().any(|name| NAMES.contains(&name))
}
