//! The list of visible devices, where the runtime did not take it whole.

use super::{DeviceFinding, JudgeContext};
use crate::run::RunResult;
use base::report::Severity;
use base::visible::judge_taken;

/// Adds what is wrong with the list, and names it as the cause of devices that are missing.
///
/// Devices that were left out were not examined: where some remain that is an error, and where
/// none remains there is no verdict, as for other machines without a device.
pub(super) fn explain(items: &mut Vec<DeviceFinding>, done: &RunResult, around: &JudgeContext) {
    let Some(list) = &around.visible else { return };
    let nobody = items.iter().any(|item| item.found.message == "no_device");
    let Some(count) = done.count.or(nobody.then_some(0)) else { return };
    let count = usize::try_from(count).unwrap_or(usize::MAX);
    let Some(fault) = judge_taken(list, count) else { return };
    let mut found = fault.found(list).arg("taken", count.to_string());
    if count == 0 {
        found.severity = Severity::Warning;
    }
    let named = list.split(',').count();
    for item in items.iter_mut().filter(|item| item.found.id == "VERIFY-RUNTIME") {
        let device = item.found.args.get("device").and_then(|number| number.parse().ok());
        let left_out = match item.found.message {
            "no_device" => true,
            "no_such_device" => device.is_some_and(|device: usize| device < named),
            _ => false,
        };
        if left_out {
            item.found.because = vec!["ENV-VISIBLE"];
        }
    }
    items.push(DeviceFinding { found, device: None, code: None, child: done.first.name.clone() });
}
