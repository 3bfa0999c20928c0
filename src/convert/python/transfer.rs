//! `--transfer`: torch_npu's `transfer_to_npu` patches torch at run time. Places that it cannot
//! patch are reported.

use ruff_python_ast::Stmt;

use super::edits::Edits;
use super::import_insertion::ImportInsertion;
use super::source::Source;
use crate::rules::{Match, Place, Rule, Rules};
use crate::site::{Decision, FilePlan, Planner};

/// Places that no patch of a function reaches: comparisons of strings, and attributes of the device
/// itself.
const PLACES: &[Place] = &[
    Place::BackendComparison,
    Place::DeviceTypeComparison,
    Place::DeviceTypeMembership,
    Place::DeviceStartswith,
    Place::DeviceStringMethod,
    Place::OutOfMemoryText,
    Place::TorchJit,
];

/// Names that `transfer_to_npu` gives another meaning: float64 becomes float32.
const NAMES: &[&str] = &["torch.cuda.DoubleTensor"];

/// Reduces a plan to the places that need manual work, and inserts the import into a launch file.
pub(super) fn plan_transfer(source: &Source<'_>, edits: Edits<'_>, body: &[Stmt]) -> FilePlan {
    let mut planner = Planner::of(source.text, source.context.options, source.context.project);
    if source.context.launch {
        ImportInsertion { source, needs: &edits.needs, planner: &mut planner }
            .insert_transfer(body);
    }
    for site in edits.planner.finish().sites {
        let flagged = site.decision == Decision::Flagged || is_out_of_reach(site.rule);
        if flagged && site.rule.name != Place::InsertTorchNpu.name() {
            planner.flag(site.rule, site.range, site.detail);
        }
    }
    planner.finish()
}

fn is_out_of_reach(rule: &Rule) -> bool {
    rule.how == Match::Env
        || PLACES.iter().any(|place| Rules::builtin().site(*place).id == rule.id)
        || rule.names().any(|name| NAMES.contains(&name))
}
