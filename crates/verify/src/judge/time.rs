//! Times as evidence: compares each device with its peers, and with an earlier report.

use std::collections::{BTreeMap, BTreeSet};

use super::{DeviceFinding, JudgeContext};
use crate::parent::ChildResult;
use crate::protocol::{Event, Measure, Stage};
use crate::run::RunResult;
use base::report::{Evidence, Severity};
use base::text::Later;
use data::findings::verify_time;
use data::{Reason, TimeLimit, VerifyLimits, ui};

/// The factor beyond which a slow device is an error.
const FAILS: f64 = 4.0;
/// The allowed deviation of a device, in multiples of the spread of its peers.
const SPREADS: f64 = 5.0;
/// The standard deviation of a normal distribution, in median absolute deviations.
const NORMAL: f64 = 1.4826;
/// The minimum number of peers for a spread.
const FEW: usize = 2;

/// A device that is slower than its peers.
#[derive(Debug, Clone, PartialEq)]
struct Slow {
    device: i32,
    measure: Measure,
    time: f64,
    peers: Vec<f64>,
    median: f64,
    allowed: f64,
}

impl Slow {
    fn factor(&self) -> f64 {
        if self.median > 0.0 { self.time / self.median } else { f64::INFINITY }
    }
}

/// The shortest time of each device, by measure. A device that was timed again ran separately.
type Times = BTreeMap<Measure, BTreeMap<i32, f64>>;

fn collect<'a>(children: impl Iterator<Item = &'a ChildResult>) -> Times {
    let mut times = Times::new();
    for ran in children {
        let Some(device) = ran.device else { continue };
        for event in &ran.events {
            let Event::Time { measure, best_ms, .. } = event else { continue };
            let best = times.entry(*measure).or_default().entry(device).or_insert(f64::INFINITY);
            *best = best.min(*best_ms);
        }
    }
    times
}

/// The median of the numbers.
fn median(numbers: &[f64]) -> f64 {
    let mut sorted = numbers.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => 0.0,
        count if count % 2 == 1 => sorted[middle],
        _ => f64::midpoint(sorted[middle - 1], sorted[middle]),
    }
}

/// Devices beyond the limit and the spread of their peers.
fn compare(measure: Measure, times: &BTreeMap<i32, f64>, limit: &TimeLimit) -> Vec<Slow> {
    let slow = |(device, time): (&i32, &f64)| {
        let others = times.iter().filter(|(other, _)| *other != device);
        let peers: Vec<f64> = others.map(|(_, time)| *time).collect();
        if peers.is_empty() {
            return None;
        }
        let middle = median(&peers);
        let off: Vec<f64> = peers.iter().map(|peer| (peer - middle).abs()).collect();
        let spread =
            if peers.len() < FEW || middle <= 0.0 { 0.0 } else { NORMAL * median(&off) / middle };
        let found = Slow {
            device: *device,
            measure,
            time: *time,
            peers,
            median: middle,
            allowed: limit.factor.max(1.0 + SPREADS * spread),
        };
        let far = found.time - found.median >= limit.least_ms;
        (far && found.factor() > found.allowed).then_some(found)
    };
    times.iter().filter_map(slow).collect()
}

fn find(times: &Times) -> Vec<Slow> {
    let limits = VerifyLimits::builtin();
    let of = |(measure, times): (&Measure, &BTreeMap<i32, f64>)| {
        let limit = limits.time(measure.as_str())?;
        Some(compare(*measure, times, limit))
    };
    times.iter().filter_map(of).flatten().collect()
}

/// The devices to time again, with the stages in which they are slow.
pub fn find_slow<'a>(
    children: impl Iterator<Item = &'a ChildResult>,
) -> BTreeMap<i32, BTreeSet<Stage>> {
    let mut found: BTreeMap<i32, BTreeSet<Stage>> = BTreeMap::new();
    for slow in find(&collect(children)) {
        found.entry(slow.device).or_default().insert(slow.measure.stage());
    }
    found
}

/// Whether there was anything to compare times with.
pub(super) fn is_compared(done: &RunResult, around: &JudgeContext) -> bool {
    let times = collect(done.devices.iter());
    times.values().any(|times| times.len() > 1) || !around.baseline_times.is_empty()
}

/// Evaluates the times. For a device that is slow in several ways, the worst is in the title and
/// all are in the evidence.
pub(super) fn judge_times(
    done: &RunResult,
    around: &JudgeContext,
    reasons: &mut Vec<Reason>,
) -> Vec<DeviceFinding> {
    let times = collect(done.devices.iter().chain(&done.retimed));
    let mut by_device: BTreeMap<i32, Vec<Slow>> = BTreeMap::new();
    for slow in find(&times) {
        by_device.entry(slow.device).or_default().push(slow);
    }
    let mut items = Vec::new();
    for (device, mut slow) in by_device {
        slow.sort_by(|one, other| other.factor().total_cmp(&one.factor()));
        items.push(describe(device, &slow, false, done, around, reasons));
    }
    let limits = VerifyLimits::builtin();
    let mut later: BTreeMap<i32, Vec<Slow>> = BTreeMap::new();
    for (measure, times) in &times {
        let Some(limit) = limits.time(measure.as_str()) else { continue };
        // If the report has speeds, copies are compared by speed.
        if !around.baseline.is_empty() && measure.stage() == Stage::Memory {
            continue;
        }
        for (device, time) in times {
            let Some(before) = around.baseline_times.get(&(*device, *measure)) else { continue };
            let (before, allowed) = (*before, limit.factor);
            let slow = Slow {
                device: *device,
                measure: *measure,
                time: *time,
                peers: vec![before],
                median: before,
                allowed,
            };
            if slow.time - before >= limit.least_ms && slow.factor() > allowed {
                later.entry(*device).or_default().push(slow);
            }
        }
    }
    for (device, mut slow) in later {
        slow.sort_by(|one, other| other.factor().total_cmp(&one.factor()));
        items.push(describe(device, &slow, true, done, around, reasons));
    }
    items
}

fn describe(
    device: i32,
    slow: &[Slow],
    earlier: bool,
    done: &RunResult,
    around: &JudgeContext,
    reasons: &mut Vec<Reason>,
) -> DeviceFinding {
    let worst = &slow[0];
    let figure = |number: f64| base::number::format_significant(number);
    let (time, median) = (figure(worst.time), figure(worst.median));
    let factor = format!("{:.1}", worst.factor());
    let measure = worst.measure.as_str();
    let (card, r#where) = (Later, Later);
    let in_use = done.in_use.is_used();
    let severity = match worst.factor() > FAILS {
        // Other processes use the devices, which is an equally likely reason.
        _ if in_use => Severity::Info,
        true => Severity::Error,
        false => Severity::Warning,
    };
    if in_use {
        reasons.push(Reason::VerifySpeedBusy);
    } else if severity == Severity::Warning {
        reasons.push(Reason::VerifySlow { what: around.names.join(&[Some(device)]) });
    }
    let mut found = if earlier {
        verify_time::Baseline { card, factor, measure, median, time, r#where }.at(severity)
    } else {
        verify_time::Peers { card, factor, measure, median, time, r#where }.at(severity)
    };
    for slow in slow {
        let peers: Vec<String> = slow.peers.iter().map(|peer| figure(*peer)).collect();
        let text = ui::VerifyTimePeers {
            allowed: format!("{:.2}", slow.allowed),
            measure: slow.measure.as_str(),
            median: figure(slow.median),
            peers: peers.join(", "),
            time: figure(slow.time),
        };
        let stage = slow.measure.stage().as_str();
        found = found.evidence(Evidence::command(stage).says(text.text()));
    }
    DeviceFinding { found, device: Some(device), code: None, child: format!("device-{device}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slow(times: &[f64], factor: f64) -> Vec<(i32, bool)> {
        let limit = TimeLimit { measure: "kernel".to_owned(), factor, least_ms: 0.5 };
        let times = (0..).zip(times.iter().copied()).collect();
        compare(Measure::Kernel, &times, &limit)
            .iter()
            .map(|slow| (slow.device, slow.factor() > FAILS))
            .collect()
    }

    #[test]
    fn one_slow_device_stands_out() {
        assert_eq!(slow(&[1.0, 1.1, 0.9, 1.0, 1.0, 301.0, 1.0, 1.0], 1.5), [(5, true)]);
        assert_eq!(slow(&[10.0, 10.1, 9.9, 10.0, 16.0], 1.5), [(4, false)]);
        assert_eq!(slow(&[10.0, 10.1, 9.9, 10.0, 14.0], 1.5), []);
        // With one peer there is no spread, and the factor decides.
        assert_eq!(slow(&[10.0, 16.0], 1.5), [(1, false)]);
        assert_eq!(slow(&[10.0], 1.5), []);
    }

    #[test]
    fn spread_of_peers_and_small_times_excuse() {
        // Peers that differ by half of their time allow twice as much.
        assert_eq!(slow(&[5.0, 10.0, 15.0, 8.0, 12.0, 20.0], 1.5), []);
        // Differences below half a millisecond are within clock noise.
        assert_eq!(slow(&[0.01, 0.01, 0.01, 0.4], 1.5), []);
    }
}
