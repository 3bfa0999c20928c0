//! `ASCEND_RT_VISIBLE_DEVICES`.
//!
//! The rules are those of `Runtime::GetVisibleDevices` (hicann/runtime, `runtime.cc`): the list
//! is split at commas; the first part that is no number or beyond the last device ends it; what
//! remains must ascend without repetition, and must not be empty.

use super::value;
use crate::checks::Context;
use crate::report::{Evidence, Found, Outcome};

const NAME: &str = "ASCEND_RT_VISIBLE_DEVICES";

pub(super) fn visible(ctx: &Context<'_>) -> Outcome {
    let list = match value(ctx, NAME) {
        Ok(list) => list,
        Err(outcome) => return outcome,
    };
    let evidence = Evidence::env(NAME).value(list);
    if list.is_empty() {
        // Some set it on purpose, to keep a process off the devices.
        let found = if ctx.profile.needs_npu() || ctx.require_npu {
            Found::error("ENV-VISIBLE", "none")
        } else {
            Found::info("ENV-VISIBLE", "none")
        };
        return vec![found.evidence(evidence)].into();
    }
    let devices = &ctx.facts.devices;
    let count = devices.davinci_ids().len();
    let known = devices.dev_listed && count > 0;
    match judge(list, known.then_some(count)) {
        None if known => Outcome::Passed,
        None => Outcome::not_checked("no_npu", ""),
        Some(Fault { message, part }) => {
            let in_container = ctx.facts.host.container.is_inside()
                || ctx.facts.env.non_empty("ASCEND_VISIBLE_DEVICES").is_some();
            let message =
                if message == "range" && in_container { "range_container" } else { message };
            let mut found = Found::error("ENV-VISIBLE", message)
                .arg("value", list)
                .arg("part", part)
                .arg("count", count.to_string())
                .arg("last", count.saturating_sub(1).to_string())
                .arg("sorted", sorted(list))
                .evidence(evidence);
            if known {
                found = found.evidence(
                    Evidence::file("/dev").says("seen_devices", &[("count", count.to_string())]),
                );
            }
            if let Some(value) = ctx.facts.env.non_empty("ASCEND_VISIBLE_DEVICES") {
                found = found.evidence(Evidence::env("ASCEND_VISIBLE_DEVICES").value(value));
            }
            vec![found].into()
        }
    }
}

/// What is wrong with a list, and the part that shows it.
struct Fault {
    message: &'static str,
    part: String,
}

fn judge(list: &str, count: Option<usize>) -> Option<Fault> {
    let fault = |message, part: &str| Some(Fault { message, part: part.to_owned() });
    let mut taken: Vec<usize> = Vec::new();
    for part in list.split(',') {
        let digits = !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
        let Some(id) = digits.then(|| part.parse::<usize>().unwrap_or(usize::MAX)) else {
            return fault("syntax", part);
        };
        if count.is_some_and(|count| id >= count) {
            return fault("range", part);
        }
        if taken.contains(&id) {
            return fault("duplicate", part);
        }
        if taken.last().is_some_and(|last| id < *last) {
            return fault("order", part);
        }
        taken.push(id);
    }
    None
}

/// The numbers of the list as the runtime wants them.
fn sorted(list: &str) -> String {
    let mut ids: Vec<usize> = list.split(',').filter_map(|part| part.trim().parse().ok()).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.iter().map(usize::to_string).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn message(list: &str, count: Option<usize>) -> Option<&'static str> {
        judge(list, count).map(|fault| fault.message)
    }

    #[test]
    fn lists_are_judged_as_the_runtime_does() {
        let cases = [
            ("0", Some(8), None),
            ("0,1,7", Some(8), None),
            ("2,5", None, None),
            ("0,8", Some(8), Some("range")),
            ("99999999999999999999999", Some(8), Some("range")),
            ("1, 2", Some(8), Some("syntax")),
            ("0-3", Some(8), Some("syntax")),
            ("-1", Some(8), Some("syntax")),
            ("0,1,", Some(8), Some("syntax")),
            ("1,0", Some(8), Some("order")),
            ("1,1", Some(8), Some("duplicate")),
            ("npu:0", None, Some("syntax")),
        ];
        for (list, count, expected) in cases {
            assert_eq!(message(list, count), expected, "{list}");
        }
        assert_eq!(sorted("3, 1,1"), "1,3");
    }

    proptest! {
        #[test]
        fn judging_never_panics(list in "\\PC*", count in prop::option::of(0_usize..64)) {
            judge(&list, count);
            sorted(&list);
        }
    }
}
