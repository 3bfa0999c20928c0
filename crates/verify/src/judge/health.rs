//! The state of the cards before, during and after the tests. A counter that rose is reported with
//! the stage in which it rose.

use super::{DeviceFinding, JudgeContext};
use crate::protocol::Stage;
use crate::run::RunResult;
use crate::timeline::HealthSample;
use base::report::Evidence;
use base::text::Later;
use data::RawFinding;
use data::findings::verify_health;

/// The functions of DCMI that return the values.
const ECC: &str = "dcmi_get_device_ecc_info";
const HEALTH: &str = "dcmi_get_device_health";

/// The rise of a counter.
struct Rise {
    count: u32,
    before: f64,
    after: f64,
    stage: String,
}

/// Evaluates the state of the cards.
pub(super) fn judge_health(done: &RunResult, around: &JudgeContext) -> Vec<DeviceFinding> {
    let mut items = Vec::new();
    for known in &around.names.0 {
        let (Some(card), Some(chip)) = (known.card, known.chip) else { continue };
        let samples: Vec<&HealthSample> = done.history.of_card(card, chip).collect();
        let device = Some(known.device);
        let mut push = |found: RawFinding| {
            let child = format!("device-{}", known.device);
            items.push(DeviceFinding { found, device, code: None, child });
        };
        let rise =
            |value: fn(&HealthSample) -> Option<u32>| find_rise(&samples, value, device, done);
        if let Some(rise) = rise(|sample| sample.health.ecc_double) {
            let (count, stage) = (rise.count, &rise.stage);
            let found = verify_health::Double { card: Later, count, stage, r#where: Later };
            push(found.error().evidence(evidence(ECC, &rise, done)));
        }
        if let Some(rise) = rise(|sample| sample.health.ecc_single) {
            let (count, stage) = (rise.count, &rise.stage);
            let found = verify_health::Single { card: Later, count, stage, r#where: Later };
            push(found.warning().evidence(evidence(ECC, &rise, done)));
        }
        if let Some(rise) = rise(|sample| sample.health.isolated_pages) {
            let (count, stage) = (rise.count, &rise.stage);
            let found = verify_health::Isolated { card: Later, count, stage, r#where: Later };
            push(found.warning().evidence(evidence(ECC, &rise, done)));
        }
        if let Some(rise) = rise(|sample| sample.health.health) {
            let count = samples.iter().rev().find_map(|sample| sample.health.health);
            let (count, stage) = (count.unwrap_or_default(), &rise.stage);
            let found = verify_health::Unhealthy { card: Later, count, stage, r#where: Later };
            push(found.warning().evidence(evidence(HEALTH, &rise, done)));
        }
        if let Some((before, after, stage)) = find_link_change(&samples, device, done) {
            let found = verify_health::Link { after, before, stage, r#where: Later }.warning();
            push(found.evidence(Evidence::file("/sys/bus/pci/devices").value(after)));
        }
    }
    items
}

fn evidence(function: &str, rise: &Rise, done: &RunResult) -> Evidence {
    let Rise { count, before, after, .. } = rise;
    // DCMI also describes the cards.
    let by_dcmi = !done.history.cards.is_empty();
    let page = if function == HEALTH { "npu-smi info" } else { "npu-smi info -t ecc" };
    Evidence::command(if by_dcmi { function } else { page })
        .value(format!("+{count}, {before:.1} s - {after:.1} s"))
}

/// The total rise of a value, and the times between which it first rose.
fn find_rise(
    samples: &[&HealthSample],
    value: fn(&HealthSample) -> Option<u32>,
    device: Option<i32>,
    done: &RunResult,
) -> Option<Rise> {
    let known: Vec<(f64, u32)> =
        samples.iter().filter_map(|sample| Some((sample.seconds, value(sample)?))).collect();
    let (first, last) = (known.first()?.1, known.last()?.1);
    let step = known.windows(2).find(|pair| pair[1].1 > pair[0].1)?;
    let (before, after) = (step[0].0, step[1].0);
    let count = last.checked_sub(first).filter(|count| *count > 0)?;
    Some(Rise { count, before, after, stage: name_stages(device, before, after, done) })
}

/// A link that is slower or narrower at the end than at the beginning. Links power down when idle,
/// so the fastest state of each half counts.
fn find_link_change<'a>(
    samples: &[&'a HealthSample],
    device: Option<i32>,
    done: &RunResult,
) -> Option<(&'a str, &'a str, String)> {
    let links: Vec<(f64, &str)> = samples
        .iter()
        .filter_map(|sample| Some((sample.seconds, sample.health.pci_link.as_deref()?)))
        .collect();
    let width = |link: &str| -> Option<u32> { link.rsplit_once('x')?.1.parse().ok() };
    let (first, last) = (links.first()?, links.last()?);
    // The speed changes with the load; the width of a healthy link does not.
    (width(last.1)? < width(first.1)?)
        .then(|| (first.1, last.1, name_stages(device, first.0, last.0, done)))
}

/// The stages that ran on a device in this interval.
fn name_stages(device: Option<i32>, from: f64, until: f64, done: &RunResult) -> String {
    let stages = done.history.stages_between(device, from, until);
    let names: Vec<&str> = stages.iter().copied().map(Stage::as_str).collect();
    if names.is_empty() { "-".to_owned() } else { names.join(", ") }
}
