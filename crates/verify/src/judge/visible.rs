//! Evaluates the list of visible devices if the runtime did not accept all of it.

use super::{DeviceFinding, JudgeContext};
use crate::run::RunResult;
use base::report::{Evidence, Severity};
use base::visible::{FaultKind, NAME, judge_taken, sorted};
use data::findings::{env_visible, verify_runtime};

/// Adds the defect of the list, and names it as the cause of missing devices.
///
/// Omitted devices were not examined. If some devices remain, that is an error; if none remains,
/// the result is inconclusive, as on other machines without a device.
pub(super) fn explain(items: &mut Vec<DeviceFinding>, done: &RunResult, around: &JudgeContext) {
    let Some(list) = &around.visible else { return };
    let nobody = items.iter().any(|item| item.found.message == "no_device");
    let Some(count) = done.count.or(nobody.then_some(0)) else { return };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let Some(fault) = judge_taken(list, count) else { return };
    let (value, part, sorted) = (list, &fault.part, sorted(list));
    let found = match fault.kind {
        FaultKind::Empty => env_visible::None.error(),
        FaultKind::Syntax => env_visible::Syntax { part, value }.error(),
        FaultKind::Range => {
            env_visible::Range { value, part, count, last: count.saturating_sub(1) }.error()
        }
        FaultKind::Duplicate => env_visible::Duplicate { part, sorted, value }.error(),
        FaultKind::Order => env_visible::Order { part, sorted, value }.error(),
        FaultKind::Cut => env_visible::Cut { value, part, taken: count }.error(),
    };
    let mut found = found.evidence(Evidence::env(NAME).value(list));
    if count == 0 {
        found.severity = Severity::Warning;
    }
    let named = list.split(',').count();
    for item in items.iter_mut().filter(|item| item.found.id == verify_runtime::ID) {
        let device = item.found.args.get("device").and_then(|number| number.parse().ok());
        let left_out = match item.found.message {
            "no_device" => true,
            "no_such_device" => device.is_some_and(|device: usize| device < named),
            _ => false,
        };
        if left_out {
            item.found.because = vec![env_visible::ID];
        }
    }
    items.push(DeviceFinding { found, device: None, code: None, child: done.first.name.clone() });
}
