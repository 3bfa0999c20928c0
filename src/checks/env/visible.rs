//! `ASCEND_RT_VISIBLE_DEVICES`; the rules are in [`base::visible`].

use super::value;
use crate::Context;
use base::report::{Evidence, Outcome, RawFinding};
use base::visible::{NAME, judge};
use data::sentence;

pub(super) fn visible(ctx: &Context<'_>) -> Outcome {
    let list = match value(ctx, NAME) {
        Ok(list) => list,
        Err(outcome) => return outcome,
    };
    let evidence = Evidence::env(NAME).value(list);
    if list.is_empty() {
        // Some set it on purpose, to keep a process off the devices.
        let found = if ctx.profile.needs_npu() || ctx.require_npu {
            RawFinding::error("ENV-VISIBLE", "none")
        } else {
            RawFinding::info("ENV-VISIBLE", "none")
        };
        return vec![found.evidence(evidence)].into();
    }
    let devices = &ctx.facts.devices;
    let count = devices.davinci_ids().len();
    let known = devices.dev_listed && count > 0;
    match judge(list, known.then_some(count)) {
        None if known => Outcome::Passed,
        None => Outcome::not_checked("no_npu", ""),
        Some(mut fault) => {
            let in_container = ctx.facts.host.container.is_inside()
                || ctx.facts.env.non_empty("ASCEND_VISIBLE_DEVICES").is_some();
            if fault.message == "range" && in_container {
                fault.message = "range_container";
            }
            let mut found = fault
                .found(list)
                .arg("count", count.to_string())
                .arg("last", count.saturating_sub(1).to_string());
            if known {
                found = found.evidence(
                    Evidence::file("/dev")
                        .says(sentence("seen_devices", &[("count", count.to_string())])),
                );
            }
            if let Some(value) = ctx.facts.env.non_empty("ASCEND_VISIBLE_DEVICES") {
                found = found.evidence(Evidence::env("ASCEND_VISIBLE_DEVICES").value(value));
            }
            vec![found].into()
        }
    }
}
