//! Evaluates the ranks. Ranks wait for each other: a failing one makes all others fail, and only
//! that one is to be named.

use super::super::parent::{ChildEnd, ChildResult};
use super::super::protocol::{Event, Fault, Outcome};
use super::{DeviceFinding, JudgeContext, judge_child};
use base::report::Evidence;
use data::{Reason, ui};

/// Codes of a vain wait for a rank: the limits of HCCL, and a connection closed by the peer.
const WAITED: [i32; 4] = [9, 11, 13, 21];
/// Our own limit for a stream.
const STREAM_TIMEOUT: i32 = 507_046;

/// The role of a rank in a common failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum RankRole {
    /// It completed.
    Whole,
    /// It stopped waiting.
    Waited,
    /// It did not return from a call.
    Silent,
    /// It failed on its own.
    Failed,
}

fn classify_rank(ran: &ChildResult) -> RankRole {
    if ran.is_whole() {
        return RankRole::Whole;
    }
    if matches!(ran.end, ChildEnd::Silent(_)) {
        return RankRole::Silent;
    }
    let fault = ran.events.iter().find_map(|event| match event {
        Event::StepEnd { outcome: Outcome::Failed { fault }, .. } => Some(fault),
        _ => None,
    });
    match fault {
        Some(Fault::Hccl { code, .. }) if WAITED.contains(code) => RankRole::Waited,
        Some(Fault::Call { code: STREAM_TIMEOUT, .. }) => RankRole::Waited,
        _ => RankRole::Failed,
    }
}

/// Selects the ranks to report: those that failed; else, if some are silent and others stopped
/// waiting, the silent ones that made the least progress; else all that stopped waiting.
pub(super) fn judge_ranks(
    ranks: &[ChildResult],
    around: &JudgeContext,
    reasons: &mut Vec<Reason>,
) -> Vec<DeviceFinding> {
    let parts: Vec<RankRole> = ranks.iter().map(classify_rank).collect();
    let guilty = [RankRole::Failed, RankRole::Silent, RankRole::Waited]
        .into_iter()
        .find(|part| parts.contains(part))
        .unwrap_or(RankRole::Whole);
    if guilty == RankRole::Whole {
        return Vec::new();
    }
    let of_guilty = || ranks.iter().zip(&parts).filter(|(_, part)| **part == guilty);
    let least = of_guilty().map(|(ran, _)| ran.calls).min();
    let (mut items, mut waited) = (Vec::new(), Vec::new());
    for (ran, part) in ranks.iter().zip(&parts) {
        if *part == guilty && (guilty != RankRole::Silent || Some(ran.calls) == least) {
            items.extend(judge_child(ran, ranks, around, reasons));
        } else if *part != RankRole::Whole {
            waited.push(ran.device);
        }
    }
    for item in &mut items {
        if !waited.is_empty() {
            let who = ui::VerifyWaited { devices: around.names.join(&waited) }.text();
            item.found.evidence.push(Evidence::command("HCCL").says(who));
        }
    }
    items
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::protocol::Stage;
    use crate::protocol::VendorOutput;

    fn ran(rank: i32, calls: u64, end: ChildEnd, fault: Option<Fault>) -> ChildResult {
        let whole = end == ChildEnd::Reported && fault.is_none();
        let step = fault.map(|fault| Event::StepEnd {
            stage: Stage::Fabric,
            step: "join".to_owned(),
            host_ms: 1.0,
            device_ms: None,
            gb_per_s: None,
            relative_error: None,
            outcome: Outcome::Failed { fault },
        });
        ChildResult {
            name: format!("rank-{rank}"),
            device: Some(rank + 4),
            events: step.into_iter().chain(whole.then_some(Event::Done)).collect(),
            last_call: Some("HcclCommInitRootInfo".to_owned()),
            calls,
            end,
            chatter: VendorOutput::default(),
            took: Duration::ZERO,
        }
    }

    fn hccl(code: i32) -> Fault {
        let function = "HcclCommInitRootInfo".to_owned();
        Fault::Hccl { function, code, message: None }
    }

    #[test]
    fn the_one_that_fails_is_named_and_not_those_that_wait() {
        let silent = ChildEnd::Silent(Duration::from_secs(1));
        let named = |ranks: &[ChildResult]| -> Vec<i32> {
            judge_ranks(ranks, &JudgeContext::default(), &mut Vec::new())
                .iter()
                .filter_map(|item| item.device)
                .collect()
        };
        let reported = || ChildEnd::Reported;
        // All completed.
        assert_eq!(named(&[ran(0, 9, reported(), None), ran(1, 9, reported(), None)]), [0; 0]);
        // One crashed, the others stopped waiting.
        let ranks = [
            ran(0, 9, reported(), Some(hccl(9))),
            ran(1, 5, ChildEnd::Crashed(11), None),
            ran(2, 9, silent.clone(), None),
        ];
        assert_eq!(named(&ranks), [5]);
        // One is silent, the others stopped waiting.
        let ranks = [
            ran(0, 9, reported(), Some(hccl(9))),
            ran(1, 9, silent.clone(), None),
            ran(2, 9, reported(), Some(hccl(21))),
        ];
        assert_eq!(named(&ranks), [5]);
        // All are silent, and one made less progress.
        let ranks = [
            ran(0, 9, silent.clone(), None),
            ran(1, 9, silent.clone(), None),
            ran(2, 8, silent.clone(), None),
        ];
        assert_eq!(named(&ranks), [6]);
        // No rank differs from the others.
        assert_eq!(named(&[ran(0, 9, silent.clone(), None), ran(1, 9, silent, None)]), [4, 5]);
        let ranks = [ran(0, 9, reported(), Some(hccl(9))), ran(1, 9, reported(), Some(hccl(9)))];
        assert_eq!(named(&ranks), [4, 5]);
        // An error other than a vain wait.
        let ranks = [ran(0, 9, reported(), Some(hccl(9))), ran(1, 9, reported(), Some(hccl(4)))];
        assert_eq!(named(&ranks), [5]);
    }
}
