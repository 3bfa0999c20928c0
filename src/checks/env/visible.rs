//! `ASCEND_RT_VISIBLE_DEVICES`. The rules are in [`base::visible`].

use super::value;
use crate::{Context, goal};
use base::report::Evidence;
use base::visible::{FaultKind, NAME, judge, sorted};
use data::{Outcome, Reason, findings::env_visible, ui};

pub(super) fn visible(ctx: &Context<'_>) -> Outcome {
    let list = match value(ctx, NAME) {
        Ok(list) => list,
        Err(outcome) => return outcome,
    };
    let evidence = Evidence::env(NAME).value(list);
    if list.is_empty() {
        // Some users set it on purpose, to keep a process off the devices.
        let found = if goal::needs_devices(ctx) || ctx.require_npu {
            env_visible::None.error()
        } else {
            env_visible::None.info()
        };
        return vec![found.evidence(evidence)].into();
    }
    let devices = &ctx.facts.devices;
    let count = devices.davinci_ids().len();
    let known = devices.dev_listed && count > 0;
    match judge(list, known.then_some(count)) {
        None if known => Outcome::Passed,
        None => Outcome::NotChecked(Reason::DevicesUnknown),
        Some(fault) => {
            let in_container = ctx.facts.host.container.is_inside()
                || ctx.facts.env.non_empty("ASCEND_VISIBLE_DEVICES").is_some();
            let (value, part) = (list, &fault.part);
            let (sorted, last) = (sorted(list), count.saturating_sub(1));
            let found = match fault.kind {
                FaultKind::Empty => env_visible::None.error(),
                FaultKind::Syntax => env_visible::Syntax { part, value }.error(),
                FaultKind::Range if in_container => {
                    env_visible::RangeContainer { count, last, part, value }.error()
                }
                FaultKind::Range => env_visible::Range { count, last, part, value }.error(),
                FaultKind::Duplicate => env_visible::Duplicate { part, sorted, value }.error(),
                FaultKind::Order => env_visible::Order { part, sorted, value }.error(),
                // Only a runtime cuts a list short.
                FaultKind::Cut => return Outcome::Passed,
            };
            let mut found = found.evidence(evidence);
            if known {
                found =
                    found.evidence(Evidence::file("/dev").says(ui::SeenDevices { count }.text()));
            }
            if let Some(value) = ctx.facts.env.non_empty("ASCEND_VISIBLE_DEVICES") {
                found = found.evidence(Evidence::env("ASCEND_VISIBLE_DEVICES").value(value));
            }
            vec![found].into()
        }
    }
}
